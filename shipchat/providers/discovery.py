"""Finds model servers on this machine by asking their usual ports for a list of models; asks nobody else.

Standard library only and in threads: a command that lists models must not wait for anything heavier.
"""

import http.client
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shipchat.providers.listing import ListedModel, read_listing
from shipchat.providers.servers import USUAL_PORTS

PROBE_SECONDS: Final = 0.25
"""How long all servers together have to answer. Loopback answers within a few milliseconds, or refuses at once."""

_MAX_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that answered, and the models it names."""

    name: str
    port: int
    models: tuple[ListedModel, ...]


def find_servers(
    ports: Mapping[str, int] = USUAL_PORTS, *, seconds: float = PROBE_SECONDS
) -> list[FoundServer]:
    """Return the servers that list models on these ports of 127.0.0.1, in the order given; takes at most `seconds`."""
    deadline = time.monotonic() + seconds
    found: dict[str, FoundServer] = {}

    def probe(name: str, port: int) -> None:
        models = _listed(port, deadline)
        if models is not None:
            found[name] = FoundServer(name, port, tuple(models))

    # Daemons: one that hangs must not keep the program from ending.
    threads = [threading.Thread(target=probe, args=pair, daemon=True) for pair in ports.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [found[name] for name in ports if name in found]


def _listed(port: int, deadline: float) -> list[ListedModel] | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=max(0.01, deadline - time.monotonic()))
    try:
        connection.request("GET", "/v1/models", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        body = answer.read(_MAX_BYTES)
        kind = answer.getheader("content-type", "")
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    if answer.status != http.client.OK or "json" not in kind:
        return None  # something else listens there: 8000 and 8080 are everybody's ports
    return read_listing(body) or None
