from pathlib import Path

import pytest

from tests.fire.traced import prove_traced, works


@pytest.mark.skipif(not works(), reason="no strace here, or no right to trace")
def test_real_system_calls_that_kill_or_fail_leave_old_or_new(tmp_path: Path) -> None:
    prove_traced(tmp_path, ["append"], ["signal=SIGKILL", "error=ENOSPC"])
