"""A talking program is killed at random moments: nothing acknowledged is lost, doubled or unreadable."""

import json
import os
import random
import select
import signal
import time
from pathlib import Path

from tests.cli.program import Program, end
from tests.fire import kills

KILLS = 100


def random_kills(place: Path) -> str:
    """Kill `send --output events` 100 times; return the figure. Raises AssertionError."""
    program = Program(place)
    program.script([{"chunks": [f"word{n} " for n in range(30)], "delay": 0.02}])
    chance = random.Random(812)
    acknowledged: dict[str, str] = {}
    for number in range(KILLS):
        process = program.start("send", "-s", "k", f"prompt {number}", "--output", "events")
        assert process.stdout is not None
        output, ends = b"", time.monotonic() + chance.uniform(0.3, 1.6)
        while (left := ends - time.monotonic()) > 0:
            if select.select([process.stdout], [], [], left)[0]:
                chunk = os.read(process.stdout.fileno(), 65536)
                if not chunk:
                    break
                output += chunk
        output += end(process, signal.SIGKILL).out.encode()
        for line in output.splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue  # cut by the kill
            if event["type"] == "message_saved":
                saved = event["saved"]
                acknowledged[saved["id"]] = "".join(part.get("text", "") for part in saved["parts"])
    document = json.loads(program.file("k").read_bytes())
    stored = [entry for entry in document["entries"] if entry["type"] == "message"]
    texts = {entry["id"]: "".join(part.get("text", "") for part in entry["parts"]) for entry in stored}
    assert len(texts) == len(stored), "a message is stored twice"
    lost = [message for message, text in acknowledged.items() if texts.get(message) != text]
    assert not lost, lost
    return (
        f"{KILLS} kills: {len(acknowledged)} acknowledged messages, 0 lost, 0 doubled; the file is valid JSON"
    )


def real_use(place: Path) -> str:
    """Kill programs in real use 1,000 times: they send, stream, queue, fork, delete, restore, rename and tag."""
    return kills.random_kills(place, 1000)
