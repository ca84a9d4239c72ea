"""Our dialect of Markdown: one configured markdown-it, asked for block tokens or for the tokens of one block.

What the tokens look like on the screen is left to `render`. The dialect is GitHub's (tables, strikethrough, bare
`https://` links). Bare file names (`setup.sh`) and addresses without a scheme are never made links.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

References = Mapping[str, Mapping[str, Any]]

# Levels of quotes and lists in each other. Beyond it markdown-it leaves text out; 20, its own default, is soon met.
_NESTING: Final = 60


def _parser() -> MarkdownIt:
    parser = MarkdownIt("gfm-like", {"maxNesting": _NESTING})
    assert parser.linkify is not None  # noqa: S101 - "gfm-like" loads it; a broken install must not pass silently
    parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    parser.block.ruler.at("reference", _reference_but_no_footnote, {"alt": []})
    return parser


def _reference_but_no_footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take a link reference; but a footnote (`[^1]: word`), which we have no place for, stays text and is seen."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    return reference(state, start, end, silent)


_PARSER: Final = _parser()
_RULES: Final = {rule.name: rule.fn for rule in _PARSER.core.ruler.__rules__}


def block_tokens(text: str) -> tuple[list[Token], dict[str, Any]]:
    """Return the block tokens of `text` (inline text unparsed), and the link references defined in it by label."""
    env: dict[str, Any] = {}
    state = StateCore(text, _PARSER, env)
    _RULES["normalize"](state)
    _RULES["block"](state)
    return state.tokens, env.get("references", {})


def all_tokens(text: str, references: References) -> Sequence[Token]:
    """Return the tokens of `text`, inline text parsed too, where links may use `references` defined elsewhere."""
    return _PARSER.parse(text, {"references": dict(references)})
