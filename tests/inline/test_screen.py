"""The installed program in a terminal: typing, sending, streaming, stopping, queueing, pasting, completing."""

import json
from typing import Any

import pytest

from tests.cli.program import Program
from tests.inline.terminal import Terminal

READY = "Write a message…"
SLOW = {"chunks": ["begun ", *["word "] * 2000], "delay": 0.02}


def roles(program: Program, key: str) -> list[tuple[str, str | None]]:
    messages = program.good("show", key, "--json").json["messages"]
    return [(one["role"], one.get("status")) for one in messages]


def only_key(program: Program) -> str:
    (key,) = program.keys()
    return key


def test_a_turn_is_told_once_and_the_session_can_be_found_again(program: Program) -> None:
    program.script(
        [
            {
                "chunks": ["Some **bold** ", "and `code`.\n\n- one\n", "- two"],
                "usage": {"input_tokens": 900, "output_tokens": 100},
            }
        ]
    )
    with Terminal(program, ("chat",)) as terminal:
        terminal.wait_for("Ask anything.", READY, "not sent yet", "scripted/echo")
        terminal.say("Hello there")
        terminal.wait_for("• two", "saved   1% of 100k", READY)
        terminal.type("\x04")
        assert terminal.end() == 0
        key = only_key(program)
        assert terminal.lines == [
            "",
            "  Ask anything.  Every message is on disk before it is sent.",
            "  / commands   @ files   Ctrl+J new line   Esc stops   Ctrl+D leaves",
            "",
            "▌ you  1",
            "▌ Hello there",
            "",
            "  assistant  2  echo",
            "  Some bold and code.",
            "",
            "  • one",
            "  • two",
            f"Go on: shipchat resume {key} --inline",
        ]
        assert terminal.foreign == []
        assert "\x1b[?2004l" in terminal.text[-200:]
    assert program.texts(key) == ["Hello there", "Some **bold** and `code`.\n\n- one\n- two"]

    with Terminal(program, ("resume", key, "--inline")) as terminal:
        terminal.wait_for("Hello there", "• two", "2 messages", READY)
        terminal.type("\x1b[A")  # the prompt of before
        terminal.wait_for("\n▌ Hello there\n  saved")


@pytest.mark.parametrize("new_line", ["\n", "\x1b\r", "\\\r"], ids=["ctrl-j", "alt-enter", "backslash"])
def test_a_prompt_of_several_lines(program: Program, new_line: str) -> None:
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.type("one")
        terminal.wait_for("▌ one")
        terminal.type(new_line)
        terminal.wait_for("▌ one\n▌")
        terminal.say("two")
        terminal.wait_for("user: one", "saved")
    assert program.texts("a")[0] == "one\ntwo"


def test_esc_stops_the_reply_and_keeps_the_draft(program: Program) -> None:
    program.script([SLOW])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("begun word", "Esc stops")
        terminal.type("my draft")
        terminal.wait_for("▌ my draft")
        terminal.type("\x1b")
        terminal.wait_for("! interrupted  what had arrived is saved", "▌ my draft", "saved")
        assert roles(program, "a") == [("user", None), ("assistant", "interrupted")]
        terminal.process.kill()
        terminal.process.wait()
    with Terminal(program, ("chat", "a")) as terminal:  # what was typed survives a kill
        terminal.wait_for("▌ my draft", "interrupted: the reply is not complete")


def test_ctrl_c_clears_then_stops_then_asks_then_leaves(program: Program) -> None:
    program.script([SLOW])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("begun word")
        terminal.type("throw away")
        terminal.wait_for("▌ throw away")
        terminal.type("\x03")
        terminal.wait_for("Enter queues")
        assert "interrupted" not in terminal.display
        terminal.type("\x03")
        terminal.wait_for("! interrupted", READY)
        terminal.type("\x1b[A")
        terminal.wait_for("▌ throw away")  # recoverable
        terminal.type("\x03")
        terminal.wait_for(READY)
        terminal.type("\x03")
        terminal.wait_for("Ctrl+C again leaves")
        terminal.type("x")
        terminal.wait_without("Ctrl+C again leaves")  # any other key takes that back
        terminal.type("\x03")
        terminal.wait_for(READY)
        terminal.type("\x03")
        terminal.wait_for("Ctrl+C again leaves")
        terminal.type("\x03")
        assert terminal.end() == 0
    assert program.texts("a")[0] == "go"
    assert len(program.texts("a")) == 2


def test_prompts_queue_while_a_reply_streams_and_up_takes_the_last_back(program: Program) -> None:
    program.script([SLOW, {"chunks": ["the second"]}])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("begun word")
        terminal.say("next")
        terminal.wait_for("queued 1  next   Up edits", "Enter queues")
        terminal.say("wrong")
        terminal.wait_for("queued 2  wrong   Up edits", "Enter queues")
        terminal.type("\x1b[A")
        terminal.wait_for("▌ wrong")
        terminal.type("\x03")
        terminal.wait_for("Enter queues")
        terminal.type("\x1b")
        terminal.wait_for("! interrupted", "1 prompt still waits")
        terminal.say("/queue")
        terminal.wait_for("the second", "saved")
        terminal.wait_without("queued 1")
    assert [text for text in program.texts("a") if "begun" not in text] == ["go", "next", "the second"]


def test_a_queued_prompt_goes_when_the_reply_is_complete(program: Program) -> None:
    program.script([{"chunks": ["begun ", *["word "] * 40], "delay": 0.02}, {"chunks": ["the second"]}])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("begun")
        terminal.say("next")
        terminal.wait_for("you  3\n▌ next", "the second", "saved")


def test_a_killed_programs_queue_is_offered(program: Program) -> None:
    program.script([SLOW])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("begun")
        terminal.say("next")
        terminal.wait_for("queued 1  next")
        terminal.process.kill()
        terminal.process.wait()
    program.script([{"chunks": ["an answer"]}])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for("1 prompt was left waiting", "A reply was cut off")
        terminal.say("other")
        terminal.wait_for("1 prompt still waits", "queued 1  next", "saved")
        terminal.say("/queue")
        terminal.wait_for("you  5\n▌ next", "saved")


# --- pasting ---


@pytest.mark.parametrize(
    "text",
    [
        "one\ntwo\n\tthree\nfour\nfive",
        "x" * 30 + "\n" + "\n".join(f"line {n} äß日本 \t end" for n in range(900)),
    ],
    ids=["5 lines", "20 kB"],
)
def test_a_paste_is_one_message_with_equal_bytes(program: Program, text: str) -> None:
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.paste(text)
        last = text.rsplit("\n", 1)[1][:8]
        terminal.wait_for(f"▌ {last}")
        terminal.type("\r")
        terminal.wait_for(f"  {last}", "saved", READY)
    assert program.texts("a")[0] == text
    assert roles(program, "a") == [("user", None), ("assistant", "complete")]


def test_a_paste_without_marks_is_not_sent_at_its_first_line(program: Program) -> None:
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.type("one\rtwo\rthree")
        terminal.wait_for("▌ one\n▌ two\n▌ three")
        terminal.type("\r")
        terminal.wait_for("assistant  2", "saved")
    assert program.texts("a")[0] == "one\ntwo\nthree"


def test_a_paste_that_holds_the_end_mark_sends_and_stops_nothing(program: Program) -> None:
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.paste("a \x1b[201~ rm -rf b \x1b[31m")
        terminal.wait_for("▌ a  rm -rf b")
        assert "you  1" not in terminal.display
        terminal.type("\x03")
        terminal.wait_for(READY)
        terminal.paste("\x1b]0;title\x07 ok\u202e")
        terminal.wait_for("▌ ␛]0;title␇ ok")
        assert terminal.foreign == []


# --- commands, completion, editing ---


def test_commands_answer_and_mistakes_are_told_in_a_line(program: Program) -> None:
    with Terminal(program, ("chat", "a"), rows=50) as terminal:
        terminal.wait_for(READY)
        terminal.say("one")
        terminal.wait_for("user: one", "saved")
        terminal.say("/rename [/b] Nightly")
        terminal.wait_for("Renamed  [/b] Nightly · /undo takes it back")
        terminal.say("/nonsense")
        terminal.wait_for("! there is no command /nonsense (usage)")
        terminal.type("\x03")
        terminal.say("/theme dark")
        terminal.wait_for("colours are the terminal's own here")
        terminal.type("\x03")
        terminal.say("/fork 1")
        terminal.wait_for("Forked at message 1")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert len(program.keys()) == 2


def test_names_sessions_and_files_are_completed(program: Program) -> None:
    (program.cwd / "notes one.txt").write_text("x")
    program.good("new", "nightly", "--title", "Nightly\x1b]0;t\x07 export")
    with Terminal(program, ("chat",)) as terminal:
        terminal.wait_for(READY)
        terminal.type("/resu")
        terminal.wait_for("/resume", "open a session")
        terminal.type("\t")
        terminal.wait_for("▌ /resume")
        terminal.type("nigh")
        terminal.wait_for("Nightly␛]0;t␇ export")
        terminal.type("\t")
        terminal.wait_for("▌ /resume nightly")
        terminal.type("\r")  # takes the completion
        terminal.wait_without("␛]0;t␇ export")
        terminal.type("\r")
        terminal.wait_for("Nightly␛]0;t␇ export", "0 messages")
        terminal.type("see @no")
        terminal.wait_for("notes one.txt")
        terminal.type("\t")
        terminal.wait_for("▌ see @notes one.txt")
        assert terminal.foreign == []


def test_a_session_is_chosen_from_a_list(program: Program) -> None:
    for key in ("alpha", "beta", "gamma"):
        program.good("send", "-s", key, f"about {key}")
    with Terminal(program, ("chat",)) as terminal:
        terminal.wait_for(READY)
        terminal.say("/resume")
        terminal.wait_for("Sessions", "about alpha", "about beta", "about gamma")
        terminal.type("bet")
        terminal.wait_without("about alpha")
        terminal.type("\r")
        terminal.wait_for("beta · 2 messages", READY)
        terminal.say("/resume")
        terminal.wait_for("about alpha", "Esc gives up")
        terminal.type("\x1b")
        terminal.wait_for(READY)


def test_vi_keys(program: Program) -> None:
    with Terminal(program, ("chat", "a"), env={"SHIPCHAT_EDITING": "vi"}) as terminal:
        terminal.wait_for(READY)
        terminal.type("wrong words")
        terminal.wait_for("▌ wrong words")
        terminal.type("\x1b")
        terminal.type("0cw")
        terminal.wait_for("▌ words")
        terminal.type("right ")
        terminal.wait_for("▌ right words")
        terminal.type("\r")
        terminal.wait_for("user: right words", "saved")
    assert program.texts("a")[0] == "right words"


# --- elsewhere, private, trouble ---


def test_a_turn_elsewhere_is_told_and_a_prompt_waits_for_it(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    program.script([SLOW])
    with Terminal(program, ("chat", "a")) as other, Terminal(program, ("chat", "a"), columns=120) as terminal:
        other.wait_for(READY)
        terminal.wait_for(READY)
        other.say("long")
        other.wait_for("begun")
        terminal.wait_for("◊ replying elsewhere (pid", "▌ long")
        terminal.say("mine")
        terminal.wait_for("A reply is being written elsewhere (pid", "wait", "fork", "go on here")
        terminal.type("\r")
        terminal.wait_for("waits  mine", "Esc takes it back")
        other.type("\x1b")
        other.wait_for("interrupted")
        terminal.wait_for("▌ mine", "begun word", "Esc stops")


def test_private_sessions_leave_nothing_behind(program: Program) -> None:
    with Terminal(program, ("chat", "--no-save")) as terminal:
        terminal.wait_for("A private session", READY)
        terminal.say("a secret word")
        terminal.wait_for("user: a secret word", "private: not kept")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert "Go on:" not in terminal.display
    left = [path for path in program.data.rglob("*") if path.is_file()]
    assert not [path for path in left if b"secret word" in path.read_bytes()]


def test_a_failing_turn_gives_one_line_and_keeps_going(program: Program) -> None:
    program.script([{"chunks": ["half "], "fails": {"code": "provider_rejected", "message": "no\x1b[2J"}}])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("half", "! no␛[2J (provider_rejected)", "/continue goes on", READY)
        assert terminal.foreign == []


def test_hostile_text_never_reaches_the_terminal(program: Program) -> None:
    hostile = "\x1b]52;c;aGk=\x1b\\ \x1b]0;t\x07 \x1b[2J\x1b[10A\x1b[6n \x9b2J \x9d \x1bc \x1bPq\x1b\\ \u202e rtl \x08\x7f"
    chunks = [*hostile, "\n```py\n", *hostile, "\n```\n| ", *hostile, " |\n|--|\n| x |\n"]
    program.script([{"chunks": chunks}])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for(READY)
        terminal.say("go")
        terminal.wait_for("␛]52;c;aGk=␛\\", "saved", READY)
        terminal.type("/rename x\x1b[201~y")
        terminal.wait_for("▌ /rename xy")
        terminal.type("\r")
        terminal.wait_for("Renamed  xy")
        terminal.say("/export")
        terminal.wait_for("Exported")
        assert terminal.foreign == []


def test_no_color_and_a_damaged_history(program: Program) -> None:
    history = program.data / "prompt-history.jsonl"
    program.good("new", "a")
    history.write_bytes(b'{"key": "z", "text": "from before"}\n\xff\xfe broken\n')
    with Terminal(program, ("chat", "a"), env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("the history of prompts was damaged", READY)
        terminal.type("\x1b[A")
        terminal.wait_for("▌ from before")
        terminal.type("\x03")
        terminal.wait_for(READY)
        terminal.say("hello")
        terminal.wait_for("user: hello", "saved")
        colours = {
            code
            for code in terminal.text.replace("\x1b[", "\n\x1b[").split("\n")
            if code[:3] in ("\x1b[3", "\x1b[9")
        }
        assert not [
            code
            for code in colours
            if code[2:].split("m")[0] in {str(n) for n in (*range(30, 38), *range(90, 98))}
        ]
        terminal.type("\x04")
        assert terminal.end() == 0
    rows: list[dict[str, Any]] = [json.loads(line) for line in history.read_text().splitlines()]
    assert [row["text"] for row in rows] == ["from before", "hello"]
    assert history.stat().st_mode & 0o777 == 0o600
    assert len(list(program.data.glob("prompt-history.jsonl.damaged-*"))) == 1
