"""The typed sample runs as well."""

from shipchat.testing.scripted import ScriptedProvider
from tests.typed_sample import main


def test_the_typed_sample_says_what_it_should() -> None:
    provider = ScriptedProvider(["Six.", "Hello.", "Hello again.", "Later.", "Bye."])
    assert main(provider) == [
        "Six.", "Hello.", "Hello.", "Hello again.", "turn_completed", "id: 6", "6",
        "complete", "support-42-fork", "How many apples?", "Bye.",
    ]  # fmt: skip
    assert [spec.name for spec in provider.requests[0].tools] == ["stock"]
