"""The tools that come with shipchat: such as can change nothing and ask nobody."""

import ast
import operator
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_LARGEST_POWER: Final = 10_000  # bits of a result: 9**9**9 would keep a processor busy for hours


def current_time(timezone: str = "") -> str:
    """Tell the current date and time.

    Args:
        timezone: a name such as Europe/Berlin; empty for the time zone of this machine.

    >>> len(current_time("UTC"))
    25
    """
    zone = ZoneInfo(timezone) if timezone else None
    return datetime.now(UTC).astimezone(zone).isoformat(timespec="seconds")


def calculate(expression: str) -> str:
    """Calculate an arithmetic expression exactly, with + - * / // % ** and parentheses.

    Args:
        expression: for example (3 + 4) * 12.5

    >>> calculate("(3 + 4) * 12.5")
    '87.5'
    """
    if len(expression) > 1000:
        raise ValueError("the expression is longer than 1,000 characters")
    return str(_value(ast.parse(expression.strip(), mode="eval").body))


def _value(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            result: int | float = _UNARY[type(sign)](_value(operand))
            return result
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            one, other = _value(left), _value(right)
            if isinstance(sign, ast.Pow) and isinstance(one, int) and isinstance(other, int):
                _check_power(one, other)
            combined: int | float = _BINARY[type(sign)](one, other)
            return combined
        case _:
            raise ValueError(f"{ast.unparse(node)!r:.80} is not arithmetic")


def _check_power(base: int, exponent: int) -> None:
    if exponent > 0 and base.bit_length() * exponent > _LARGEST_POWER:
        raise ValueError("the result is too large")


BUILTIN_TOOLS: Final[tuple[Callable[..., str], ...]] = (current_time, calculate)
"""What `Agent.with_builtins` adds."""
