from pathlib import Path

from tests.fire.kills import random_kills


def test_forty_kills_during_real_use_lose_nothing(tmp_path: Path) -> None:
    """Cases 13, 25, 29, 46: see `kills` for what is done and what must be found again."""
    figure = random_kills(tmp_path, 40)
    assert figure.startswith("40 kills")
