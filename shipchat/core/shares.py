"""When older turns are summarised and how much of the newest is kept, unless the config says otherwise."""

from typing import Final

DEFAULT_SHARE: Final = 0.75
"""The share of a model's real input budget beyond which older turns are summarised."""

DEFAULT_KEEP: Final = 0.25
"""The share of that budget which the newest turns may take and are kept word for word."""
