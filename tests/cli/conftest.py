from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shipchat.__main__ import main
from tests.cli.program import Program, Result


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


class Shell(Program):
    """The same program within this process: a hundred times as fast, for all that needs no process of its own."""

    monkeypatch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def run(
        self,
        *arguments: str | bytes,
        stdin: str | bytes | None = None,
        env: Mapping[str, str | None] | None = None,
        **more: Any,
    ) -> Result:
        if stdin is not None or more:
            return super().run(*arguments, stdin=stdin, env=env, **more)
        with self.monkeypatch.context() as patch:
            for name, value in {**self.env, **(env or {})}.items():
                if value is None:
                    patch.delenv(name, raising=False)
                else:
                    patch.setenv(name, value)
            patch.chdir(self.cwd)
            self.capture.readouterr()
            code = main([str(argument) for argument in arguments])
            out, err = self.capture.readouterr()
        return Result(code, out, err)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path)
    made.monkeypatch = monkeypatch
    made.capture = capsys
    return made
