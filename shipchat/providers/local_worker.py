"""The process that runs llama.cpp: serves one model on a socket until its standard input closes.

Started by `local_server` by its path, so it imports nothing of shipchat: a small, quick child. Its settings come
as one line of JSON on standard input (never as arguments: other users can read those). It answers with one line on
standard output, `{"ready": address}` or `{"error": sentence}`, and then waits. When its parent ends in whatever way,
the pipe closes, and so does this.
"""

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any


def serve(settings: dict[str, Any]) -> tuple[Any, str]:
    """Load the model and listen; return the running server (keep it) and its address.

    `settings`: model (path), context, batch and threads (counts), cache (MiB for prompt prefixes), and either
    socket (path) or api_key (then it listens on a free port of the loopback interface).
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.n_ctx = settings["context"]
    params.n_batch = params.n_ubatch = settings["batch"]
    params.cache_ram_mib = settings["cache"]
    params.n_parallel = 1
    params.verbosity = -1
    params.ui = False
    params.cpuparams.n_threads = settings["threads"]
    params.sse_ping_interval = 5
    if settings["socket"] is not None:
        params.hostnames = [settings["socket"]]
        params.port = 1  # has no meaning for a unix socket, but zero means "choose one"
    else:
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = [settings["api_key"]]
    server = xllamacpp.Server(params)
    return server, str(server.listening_address)


def main() -> None:
    """Read the settings, serve, and end with the parent."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which decides
    # Our one line goes to the real standard output; whatever a library prints goes with the errors.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline())
    try:
        server, address = serve(settings)
    except (ImportError, OSError, RuntimeError) as error:
        answer.write(json.dumps({"error": str(error)}) + "\n")
        answer.flush()
        server = None
    else:
        answer.write(json.dumps({"ready": address}) + "\n")
        answer.flush()
        while sys.stdin.read(4096):
            pass
    if settings["socket"] is not None:
        # The parent does this too, unless it was killed.
        socket = Path(settings["socket"])
        with contextlib.suppress(OSError):
            socket.unlink(missing_ok=True)
            socket.parent.rmdir()
    os._exit(0 if server is not None else 1)  # at once: nothing here is worth an orderly end


if __name__ == "__main__":
    main()
