import errno
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shipchat.cli.reports import reported
from tests.cli.program import DEADLINE, Program, end, read_until

POSIX = pytest.mark.skipif(os.name != "posix", reason="a thing of POSIX")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a thing of Linux")
ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can set this up")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_narrow_encoding_shows_replacements_and_no_traceback(program: Program, encoding: str) -> None:
    program.script([{"chunks": ["smile \U0001f600 ü\n"]}])
    env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    with program.start("send", "-s", "a", "hé \U0001f600".encode(), env=env) as process:
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out.decode(encoding)) == (
        0,
        "smile ? ?\n" if encoding == "ascii" else "smile ? ü\n",
    )
    assert b"Traceback" not in err
    assert program.texts("a") == ["hé \U0001f600", "smile \U0001f600 ü\n"]  # on disk it is UTF-8, always


def test_every_printing_command_works_in_ascii(program: Program) -> None:
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    program.good("new", "a", "--title", "hé \U0001f600")
    assert program.good("list", "--json", env=env).json[0]["title"] == "hé \U0001f600"
    assert program.good("list", "--tree", env=env).lines[1].startswith("a     h? ?")
    assert program.good("show", "hé \U0001f600".encode(), env=env).lines[0] == "h? ?"
    assert program.run("show", "\U0001f601".encode(), env=env).code == 3


@POSIX
def test_a_closed_output_ends_quietly(program: Program) -> None:
    program.good("new", "a")
    process = program.start("list")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (141, b"")


@POSIX
def test_descriptors_closed_from_the_start_do_no_harm(program: Program) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m shipchat send -s a hi <&- >&- 2>&-'],
        env=program.env,
        cwd=program.cwd,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0
    assert program.texts("a") == ["hi", "system: S\nuser: hi"]


@LINUX
def test_a_full_output_is_an_error_in_one_line(program: Program) -> None:
    program.good("new", "a")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "shipchat", "list"],
            env=program.env,
            cwd=program.cwd,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (6, "shipchat: the output: no space left on device (system)\n")


@POSIX
def test_an_interrupt_outside_a_turn_is_130(program: Program) -> None:
    process = program.start("send", stdin=subprocess.PIPE)
    time_of_waiting(process)
    result = end(process, signal.SIGINT)
    assert (result.code, result.out, result.err) == (130, "", "")


def time_of_waiting(process: "subprocess.Popen[bytes]") -> None:
    """Return once the process sleeps in a read of its standard input."""
    wchan = Path(f"/proc/{process.pid}/wchan")
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            if "pipe" in wchan.read_text():
                return
        except OSError:
            pytest.skip("no /proc to look into")
        time.sleep(0.01)
    raise AssertionError("it never came to wait for standard input")


@POSIX
@pytest.mark.parametrize("home", [None, "/", "relative", "~"])
def test_without_a_home_nothing_is_made_where_one_stands(program: Program, home: str | None) -> None:
    env = {"HOME": home, "SHIPCHAT_DATA_DIR": None, "SHIPCHAT_CONFIG_DIR": None, "XDG_DATA_HOME": None}
    if home is None:
        env |= {
            "XDG_DATA_HOME": str(program.place / "xdg")
        }  # the user database may know a home we must not touch
    result = program.run("new", "k", "--json", env=env)
    if home is None:
        assert result.json == {"key": "k"}
    else:
        assert (result.code, result.error["code"]) == (6, "store_unavailable")
    assert os.listdir(program.cwd) == []


@LINUX
def test_sessions_left_behind_are_noted_by_list(program: Program) -> None:
    env = {"SHIPCHAT_DATA_DIR": None}
    program.good("new", "old", env=env)
    moved = program.good("list", "--json", env=env | {"XDG_DATA_HOME": str(program.place / "xdg")})
    assert moved.json == []
    old = program.place / "home/.local/share/shipchat"
    assert f"1 session is in {old}" in moved.err


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_are_the_users_alone(program: Program, umask: int) -> None:
    program.good("send", "-s", "a", "one", umask=umask)
    program.good("fork", "a", umask=umask)
    program.good("delete", "a", umask=umask)
    program.script([{"chunks": ["begun", *["…"] * 1000], "delay": 0.05}])
    process = program.start("send", "-s", "b", "one", umask=umask)
    read_until(process, b"begun")
    modes = {
        str(path.relative_to(program.place)): stat.S_IMODE(path.lstat().st_mode)
        for path in [program.data, *program.data.rglob("*")]
    }
    end(process)
    assert len(modes) > 5
    assert {name: oct(mode) for name, mode in modes.items() if mode not in (0o600, 0o700)} == {}


@LINUX
@ROOT
def test_a_read_only_place_is_said_at_once(program: Program) -> None:
    place = program.cwd
    script = (
        f'mount -t tmpfs -o size=64k tmpfs "{place}" && mkdir "{place}/data" && mount -o remount,ro "{place}" && '
        f'exec "{sys.executable}" -m shipchat send -s b hi'
    )
    result = subprocess.run(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            script,
        ],
        env=program.env | {"SHIPCHAT_DATA_DIR": str(program.cwd / "data")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    if "unshare" in result.stderr or "mount:" in result.stderr:
        pytest.skip("no mounting here")
    assert (result.returncode, result.stdout) == (6, "")
    assert "(store_unavailable)" in result.stderr


@LINUX
@ROOT
def test_a_full_disk_is_said_and_the_prompt_is_not_acknowledged(program: Program) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    place = program.cwd / "disk"
    place.mkdir()
    script = (
        f'mount -t tmpfs -o size=64k tmpfs "{place}" && '
        f'"{sys.executable}" -m shipchat send -s a one >/dev/null && head -c 70000 /dev/zero >"{place}/fill"; '
        f'"{sys.executable}" -m shipchat send -s a "{"x" * 9000}"; echo "code $?"; '
        f'rm "{place}/fill"; "{sys.executable}" -m shipchat show a'
    )
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        env=program.env | {"SHIPCHAT_DATA_DIR": str(place)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE * 2,
        check=False,
    )
    if "unshare" in result.stderr or "mount:" in result.stderr:
        pytest.skip("no mounting here")
    assert "code 6" in result.stdout
    assert "NOT SAVED" in result.stderr
    assert "a · 2 messages" in result.stdout


def test_a_config_that_is_wrong_is_named(program: Program) -> None:
    (program.place / "config").mkdir()
    config = program.place / "config/config.toml"
    config.write_text("motion = 3\n")
    result = program.run("list")
    assert (result.code, result.err.splitlines()[0]) == (
        2,
        f"shipchat: {config}: motion must be true or false (config_invalid)",
    )
    config.write_text('colour = "red"\n')
    assert program.good("list").err.splitlines()[0] == f"shipchat: {config}: unknown setting colour"


def test_a_bug_is_one_line_and_a_report_without_secrets(program: Program) -> None:
    (program.cwd / "bomb.py").write_text(
        "def boom():\n    secret = 'sk-CANARY-local'\n    raise ValueError('sk-CANARY ' + secret)\n"
    )
    env = program.env | {
        "SHIPCHAT_EXTRA_PROVIDERS": "bomb=bomb:boom",
        "PYTHONPATH": f"{program.env['PYTHONPATH']}:{program.cwd}",
    }
    result = program.run("send", "-s", "a", "prompt sk-CANARY", "-m", "bomb/x", env=env)
    assert result.code == 1
    first, second = result.err.splitlines()
    assert first == "shipchat: an unexpected ValueError (a bug) (bug)"
    found = re.fullmatch(r"This is a bug in shipchat\. A report without your data: (.*)", second)
    assert found is not None
    report = Path(found[1])
    assert report.parent == program.data / "reports"
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    text = report.read_text()
    assert "builtins.ValueError" in text
    assert "bomb.py:3 in boom" in text
    assert "command: send" in text
    assert "CANARY" not in text + result.err
    as_json = program.run("send", "-s", "a", "x", "-m", "bomb/x", "-o", "json", env=env)
    assert as_json.error == {
        "code": "bug",
        "message": "an unexpected ValueError (a bug)",
        "details": {"type": "ValueError"},
    }


def test_a_bug_within_a_turn_is_told_and_reported_too(program: Program) -> None:
    (program.cwd / "bomb.py").write_text(
        "class Bomb:\n"
        "    async def info(self, model):\n"
        "        from shipchat.core.models import ModelInfo, ModelRef\n"
        "        return ModelInfo(ModelRef('bomb', model), 1000, 100)\n"
        "    async def stream(self, request):\n"
        "        raise KeyError('sk-CANARY')\n"
        "        yield\n"
        "    async def close(self):\n"
        "        pass\n"
    )
    env = program.env | {
        "SHIPCHAT_EXTRA_PROVIDERS": "bomb=bomb:Bomb",
        "PYTHONPATH": f"{program.env['PYTHONPATH']}:{program.cwd}",
    }
    result = program.run("send", "-s", "a", "prompt", "-m", "bomb/x", env=env)
    assert result.code == 1
    assert "Traceback" not in result.err
    assert "(bug)" in result.err
    (report,) = (program.data / "reports").iterdir()
    assert f"A report without your data: {report}" in result.err
    assert "bomb.py:6 in stream" in report.read_text()
    assert "CANARY" not in report.read_text() + result.err


def test_what_the_system_refuses_is_no_bug() -> None:
    error = reported(PermissionError(errno.EACCES, "Permission denied", "/a/file"), ["list"])
    assert (str(error), error.exit_code) == ("/a/file: permission denied", 6)


@POSIX
def test_colour_only_where_it_is_wanted(program: Program) -> None:
    program.good("new", "a", "--title", "t")

    def on_terminal(*arguments: str, **env: str) -> str:
        ours, theirs = pty.openpty()
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "shipchat", *arguments],
                env=program.env | {"TERM": "xterm"} | env,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
            )
            os.close(theirs)
            return drained(ours)
        finally:
            process.wait(DEADLINE)
            os.close(ours)

    assert on_terminal("list").startswith("\x1b[2mKEY")
    assert "\x1b[1mUsage:" in on_terminal("--help")
    assert "\x1b" not in on_terminal("list", TERM="dumb") + on_terminal("--help", NO_COLOR="1")
    assert "\x1b" not in program.good("list").out
    program.script([{"chunks": ["a\x1b]52;c;aGk=\x07b"]}])
    assert on_terminal("send", "-s", "a", "hi", NO_COLOR="1") == "a␛]52;c;aGk=␇b\r\n"


@POSIX
def test_a_title_gives_way_to_the_width_of_the_terminal(program: Program) -> None:
    import fcntl
    import termios

    program.good("new", "a", "--title", "日本語 " * 30)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "shipchat", "list"],
        env=program.env | {"NO_COLOR": "1", "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    lines = drained(ours).splitlines()
    os.close(ours)
    assert process.wait(DEADLINE) == 0
    from shipchat.cli.printing import width_of

    assert [width_of(line) for line in lines] == [59, 59]
    assert "…" in lines[1]


def drained(descriptor: int) -> str:
    """Return all that comes out of a terminal until its other side is closed."""
    data = b""
    while select.select([descriptor], [], [], DEADLINE)[0]:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    return data.decode()


def test_json_is_ascii_where_utf8_is_not(program: Program) -> None:
    program.good("new", "a", "--title", "x\u009b2J é")
    ascii_only = program.good("list", "--json", env={"PYTHONIOENCODING": "ascii"})
    assert ascii_only.json[0]["title"] == "x\u009b2J é"
    assert '"x\\u009b2J \\u00e9"' in ascii_only.out
    assert "é" in program.good("list", "--json").out
