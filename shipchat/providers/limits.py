"""What a request may use of its model, as far as it is known: handed from the provider to its protocol."""

from dataclasses import dataclass

from shipchat.providers.catalog import KnownModel
from shipchat.providers.server import Server


@dataclass(frozen=True, slots=True)
class Limits:
    """How a request is to be written: for which server, with which longest reply (tokens), for what kind of model.

    `known` is the model's row of the catalogue, if it has one. `reasoning` says whether sealed reasoning of earlier
    replies is sent along.
    """

    server: Server
    max_output: int
    known: KnownModel | None = None
    reasoning: bool = True

    @property
    def images(self) -> bool:
        """Whether the model takes pictures; one that nothing is known of is given the chance."""
        return self.known is None or self.known.images
