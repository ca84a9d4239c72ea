"""`pin` and `unpin`: which messages a compaction always keeps."""

from typing import Annotated, Any

import typer

from shipchat.cli.arguments import Json, Session, session_key
from shipchat.cli.printing import note, print_json
from shipchat.cli.startup import open_services
from shipchat.core.session import Session as SessionValue

Position = Annotated[
    str,
    typer.Argument(metavar="N", help="Position on the current path, or a message id.", show_default=False),
]


def pin(session: Session, message: Position, as_json: Json = False) -> None:
    """Pin a message, so that it is always sent.

    A compaction leaves pinned messages as they are. Refused while a turn runs.

    Examples:
      shipchat pin work 3
      shipchat unpin work 3            undoes it
    """
    from shipchat.sessions.pins import pin as pin_message

    services = open_services("pin")
    _tell(pin_message(services.sessions, session_key(services, session), message), as_json=as_json)


def unpin(session: Session, message: Position, as_json: Json = False) -> None:
    """Take the pin off a message.

    Examples:
      shipchat unpin work 3
    """
    from shipchat.sessions.pins import unpin as unpin_message

    services = open_services("unpin")
    _tell(unpin_message(services.sessions, session_key(services, session), message), as_json=as_json)


def _tell(session: SessionValue, *, as_json: bool) -> None:
    places = {one: session.position_of(one) for one in session.pins}
    ordered = sorted(places.items(), key=lambda item: (item[1] is None, item[1] or 0, item[0]))
    if as_json:
        value: dict[str, Any] = {
            "key": session.key,
            "pins": [{"message_id": one, "position": position} for one, position in ordered],
        }
        print_json(value)
        return
    shown = ", ".join(str(position) if position is not None else one for one, position in ordered)
    note(f"{session.key}: {'pinned: ' + shown if shown else 'nothing is pinned'}")
