"""Repairing a damaged session file: a plan that changes nothing, then a backup and a new file in one step."""

from collections.abc import Callable
from datetime import UTC, datetime

from shipchat.core.errors import SessionConflict, SessionDamaged, SessionNewer
from shipchat.core.protocols import Hold
from shipchat.core.summaries import RepairPlan
from shipchat.formats.document import encode_session
from shipchat.formats.header import NewerVersion
from shipchat.formats.recovery import recover
from shipchat.stores.file.disk import close
from shipchat.stores.file.layout import Layout, not_saved, trash_id
from shipchat.stores.file.locks import Locks
from shipchat.stores.file.session_file import SessionFiles, Snapshot
from shipchat.stores.file.temporary import publish_new, publish_over


class FileRepair:
    """Repairs under one directory of sessions."""

    def __init__(
        self, layout: Layout, locks: Locks, files: SessionFiles, hold: Callable[[str, str], Hold]
    ) -> None:
        self._layout = layout
        self._locks = locks
        self._files = files
        self._hold = hold

    def plan(self, key: str) -> RepairPlan:
        """Return what a repair would write."""
        snapshot = self._files.examine(key)
        path = self._layout.session(key)
        try:
            record, notes = recover(snapshot.data, key)
        except NewerVersion as error:
            raise SessionNewer(key, path, error.version) from None
        problem = snapshot.reading.problem
        if record is None:
            reason = problem.reason if problem is not None else "nothing in it can be read"
            raise SessionDamaged(key, path, reason)
        return RepairPlan(
            key=key,
            path=path,
            reason=None if problem is None else problem.reason,
            record=record,
            notes=notes,
            fingerprint=_fingerprint(snapshot),
        )

    def apply(self, plan: RepairPlan) -> str:
        """Keep a copy of the file in the trash, write what the plan says, return the copy's path."""
        key = plan.key
        path = self._layout.session(key)
        data = encode_session(plan.record.header, plan.record.entries)
        hold = self._hold(key, "shipchat repair")
        try:
            with self._locks.writing(key):
                descriptor, status = self._files.open(key)
                try:
                    now = self._files.snapshot(key, descriptor, status)
                except OSError as error:
                    raise not_saved(error, path) from error
                finally:
                    close(descriptor)
                if _fingerprint(now) != plan.fingerprint:
                    raise SessionConflict(
                        f"session {key} has changed since the repair was planned; nothing was written",
                        advice=(f"Look again: shipchat repair {key}",),
                        details={"key": key},
                    )
                backup = self._layout.trashed(trash_id(key, datetime.now(UTC)), "damaged")
                try:
                    publish_new(self._layout.trash, key, backup, now.data)
                    publish_over(self._layout.root, key, path, data, durable=True)
                except OSError as error:
                    raise not_saved(error, path) from error
        finally:
            hold.release()
        return backup


def _fingerprint(snapshot: Snapshot) -> str:
    import hashlib

    return hashlib.sha256(snapshot.data).hexdigest()
