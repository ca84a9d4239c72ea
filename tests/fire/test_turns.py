from tests.fire.shim import ERRNOS, memory_directory
from tests.fire.turns import TurnFigure, prove_turns


def test_a_turn_on_a_failing_disk_loses_nothing_and_says_so() -> None:
    """Case 14: recording never stops silently."""
    figure = TurnFigure()
    with memory_directory() as base:
        prove_turns(base, ERRNOS, figure, lasting=(True, False))
    assert figure.refused > 5
    assert figure.unsaved > 5
