"""`repair`: what can be read of a damaged session becomes a whole one again."""

from typing import Annotated, cast

import typer

from shipchat.cli.arguments import Json, Session, session_key
from shipchat.cli.asking import Yes, confirmed
from shipchat.cli.printing import line, note, print_json
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError
from shipchat.core.protocols import Repairs
from shipchat.core.session import session_from
from shipchat.core.summaries import RepairPlan

_SHOWN = 20
"""Notes that are printed; --json has them all."""


def repair(
    session: Session,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Only say what would be kept and what not.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Repair a damaged session.

    Shows what can be kept and what not, asks, keeps a copy of the damaged file in the trash, and writes a new one.
    Files that were edited by hand or reformatted are accepted too.

    Examples:
      shipchat repair work --dry-run   changes nothing
      shipchat repair work
      shipchat list --damaged          what there is to repair
    """
    services = open_services("repair")
    store = services.sessions.store
    if not hasattr(store, "plan_repair"):
        raise UsageError("this store has nothing that could be repaired")
    repairs = cast("Repairs", store)
    plan = repairs.plan_repair(session_key(services, session))
    if not as_json:
        _tell(plan)
    backup: str | None = None
    if plan.reason is not None and not dry_run:
        if not confirmed(f"repair {plan.key}", yes=yes):
            note("Nothing was changed.")
            raise typer.Exit(130)
        backup = repairs.repair(plan)
        if not as_json:
            note(f"{plan.key} is repaired; what it was is in {backup}")
    if as_json:
        print_json(
            {
                "key": plan.key,
                "path": plan.path,
                "reason": plan.reason,
                "messages": len(session_from(plan.record).tree),
                "notes": list(plan.notes),
                "repaired": backup is not None,
                "backup": backup,
            }
        )


def _tell(plan: RepairPlan) -> None:
    if plan.reason is None:
        note(f"Nothing is wrong with {plan.key}.")
        return
    line(f"{plan.path}: {plan.reason}")
    for text in plan.notes[:_SHOWN]:
        line(f"  {text}")
    if len(plan.notes) > _SHOWN:
        line(f"  and {len(plan.notes) - _SHOWN:,} more")
    count = len(session_from(plan.record).tree)
    line("1 message can be kept." if count == 1 else f"{count:,} messages can be kept.")
