"""What can be wrong with an index; nobody outside this package meets these."""


class IndexUnavailable(Exception):
    """There can be no index: the message says why. Everything works without one, only slower."""


class DamagedIndex(Exception):
    """What was read from the index is not what was written."""
