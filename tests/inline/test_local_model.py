"""One journey with the real model of this machine."""

from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.inline.terminal import Terminal


@pytest.mark.model
def test_a_journey_with_the_local_model(program: Program, local_model_dir: Path) -> None:
    program.data.mkdir()
    (program.data / "models").symlink_to(local_model_dir, target_is_directory=True)
    env = {"SHIPCHAT_DEFAULT_MODEL": "local/smollm2", "SHIPCHAT_MAX_TOKENS": "60"}
    with Terminal(program, ("chat", "trip"), env=env, columns=100) as terminal:
        terminal.wait_for("Write a message…", "local/smollm2")
        terminal.say("Name three colours.")
        terminal.wait_for("assistant  2  smollm2", "Write a message…", "saved   ", "% of ")
        terminal.say("And two animals.")
        terminal.wait_for("assistant  4  smollm2", "Write a message…", "saved   ")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert terminal.foreign == []
    messages = program.good("show", "trip", "--json").json["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant", "user", "assistant"]
    assert all(one["text"].strip() for one in messages)
