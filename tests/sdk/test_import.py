"""Importing shipchat costs next to nothing."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys, time
began = time.perf_counter()
import shipchat
took = time.perf_counter() - began
print(json.dumps({"took": took, "modules": sorted({name.partition(".")[0] for name in sys.modules})}))
"""

HEAVY = {
    "textual",
    "prompt_toolkit",
    "anthropic",
    "openai",
    "httpx2",
    "tiktoken",
    "typer",
    "msgspec",
    "asyncio",
}


def imported() -> tuple[float, set[str]]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return answer["took"], set(answer["modules"])


def test_importing_shipchat_is_quick_and_imports_no_library() -> None:
    took, modules = min(imported() for _ in range(5))
    assert modules & HEAVY == set()
    assert took < 0.060


def test_making_an_agent_with_a_store_imports_no_sdk_and_no_screen() -> None:
    program = (
        "import sys\n"
        "from shipchat import Agent, InMemorySessionStore\n"
        "Agent(model='local/smollm2', session_store=InMemorySessionStore())\n"
        "print(*{name.partition('.')[0] for name in sys.modules})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (
        set(done.stdout.split()) & {"textual", "prompt_toolkit", "anthropic", "openai", "tiktoken", "typer"}
        == set()
    )
