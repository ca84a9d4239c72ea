import pytest

from tests.fire.cuts import cut_appends, cut_the_rest
from tests.fire.power import PowerFigure
from tests.fire.shim import memory_directory


@pytest.mark.parametrize("length", [508, 509, 510, 511, 0, 100])
def test_after_a_power_cut_every_acknowledged_message_loads(length: int) -> None:
    """Case 13, and case 1 where it was an append of ours: wherever a file stands on its sectors."""
    figure = PowerFigure()
    with memory_directory() as base:
        cut_appends(base, length, figure, most=16)
    assert figure.states > 100


def test_after_a_power_cut_the_rest_is_there_as_well() -> None:
    figure = PowerFigure()
    with memory_directory() as base:
        cut_the_rest(base, figure, most=4)
    assert figure.states > 50
