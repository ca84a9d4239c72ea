"""The settings: one table of names, kinds, defaults and help, filled from file, environment and flags, in that order.

Each value remembers where it came from. Saying which directories are used is left to `paths`.
"""

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from shipchat.config.compaction import CompactionSettings, ModelShares
from shipchat.config.paths import CONFIG_VARIABLE, DATA_VARIABLE, Directories, directories
from shipchat.core.errors import ConfigInvalid, UsageError
from shipchat.core.models import DEFAULT_MODEL, parse_model

PREFIX: Final = "SHIPCHAT_"
OTHER_VARIABLES: Final = frozenset(
    {
        DATA_VARIABLE,
        CONFIG_VARIABLE,
        "SHIPCHAT_EXTRA_PROVIDERS",
        "SHIPCHAT_TEST_MODELS",
        "SHIPCHAT_TEST_SCRIPT",
    }
)
"""Variables that are ours without being settings."""


def _setting(default: Any, about: str, *, least: int | None = None) -> Any:
    """Describe one setting; `least` is the smallest number allowed."""
    return field(default=default, metadata={"about": about, "least": least})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """The table `[local]`: how the model on this machine runs."""

    context: int | None = _setting(None, "tokens of context of the local model; unset: by memory", least=512)
    threads: int | None = _setting(None, "threads of the local model; unset: all cores but one", least=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """A table `[providers.NAME]`: a server that speaks the protocol of `kind`."""

    name: str
    kind: Literal["openai", "anthropic"]
    base_url: str
    api_key_env: str | None = None
    models: tuple[str, ...] = ()
    context_window: int | None = None
    max_output: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. A new one is one line here: the name and type, the default, and what `config show` says.

    In the environment a setting is `SHIPCHAT_` and its name in capitals (`SHIPCHAT_LOCAL_THREADS` for one of a
    table). `origins` maps a setting's dotted name to the file, variable or flag it came from; one that is not in it
    has its default. `warnings` names keys of the file that nobody knows.
    """

    default_model: str = _setting(DEFAULT_MODEL, "the model of new sessions, provider/model")
    system: str | None = _setting(None, "system prompt of sessions without one of their own")
    start: Literal["fresh", "last"] = _setting("fresh", "what a bare `shipchat` opens")
    edit: Literal["sibling", "fork"] = _setting("sibling", "what editing an earlier prompt makes")
    theme: str | None = _setting(None, "colour theme; unset: by the terminal's background")
    editing: Literal["emacs", "vi"] = _setting("emacs", "which keys edit what is typed, in `shipchat chat`")
    motion: bool = _setting(True, "whether anything on the screen may move by itself")
    max_tokens: int | None = _setting(None, "longest reply in tokens; unset: the model's own limit", least=1)
    overflow: Literal["drop-oldest", "error"] = _setting(
        "error", "what to do when a session outgrows the model's window and isn't compacted by itself"
    )
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = _setting(
        None, "how hard models think, where they can be told; unset: the model's own default"
    )
    stall_timeout: int = _setting(300, "seconds without a byte after which a reply is given up", least=1)
    discover: bool = _setting(True, "whether this machine's usual ports are asked for model servers")
    local: LocalSettings = field(default_factory=LocalSettings)
    compaction: CompactionSettings = field(default_factory=CompactionSettings)
    providers: Mapping[str, ProviderSettings] = field(default_factory=lambda: MappingProxyType({}))
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()

    def origin(self, name: str) -> str:
        """Return where the setting with this dotted name came from: a path, a variable, a flag or `default`."""
        return self.origins.get(name, "default")


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """One row of the table: dotted name, type, default, environment variable, help, smallest number."""

    name: str
    kind: Any
    default: Any
    variable: str
    about: str
    least: int | None

    @property
    def choices(self) -> tuple[str, ...]:
        """The words allowed, empty when any are."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()


_TABLES: Final[Mapping[str, Any]] = {"local": LocalSettings, "compaction": CompactionSettings}


@cache
def setting_table() -> tuple[SettingInfo, ...]:
    """Return every setting in the order of `config show`, those of tables after the top level."""
    rows = [_row(one, "", get_type_hints(Settings)) for one in fields(Settings) if one.metadata]
    for table, kind in _TABLES.items():
        hints = get_type_hints(kind)
        rows += [_row(one, f"{table}.", hints) for one in fields(kind) if one.metadata]
    return tuple(rows)


def _row(one: Field[Any], prefix: str, hints: Mapping[str, Any]) -> SettingInfo:
    name = prefix + one.name
    return SettingInfo(
        name,
        hints[one.name],
        None if one.default is MISSING else one.default,
        PREFIX + name.upper().replace(".", "_"),
        one.metadata["about"],
        one.metadata["least"],
    )


def load_settings(*, flags: Mapping[str, Any] | None = None, where: Directories | None = None) -> Settings:
    """Return the settings from the config file, then `SHIPCHAT_*` variables, then `flags`.

    `flags` maps dotted names to values given on the command line; None means not given. Raises ConfigInvalid, naming
    the file or variable and the key, for a value of the wrong kind or a file that is no TOML; StoreUnavailable when
    `where` has to be made out and can't.
    """
    where = directories() if where is None else where
    table = {row.name: row for row in setting_table()}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    warnings: list[str] = []
    providers: dict[str, ProviderSettings] = {}
    shares: dict[str, ModelShares] = {}
    path = where.config_file
    if path is not None:
        for name, value in _flat(_read(path)).items():
            if name in _TABLES:
                raise _invalid(str(path), f"{name} must be a table, [{name}]")
            if name == "compaction.models":
                shares = _shares(value, path, warnings)
            elif name == "providers":
                providers = _providers(value, path, warnings)
            elif name in table:
                values[name], origins[name] = _checked(table[name], value, str(path)), str(path)
            else:
                warnings.append(f"{path}: unknown setting {name}")
    for row in table.values():
        text = os.environ.get(row.variable)
        if text is not None and text != "":
            values[row.name] = _checked(row, _from_text(row, text), row.variable)
            origins[row.name] = row.variable
    for name, value in (flags or {}).items():
        if value is not None:
            flag = "--" + name.rpartition(".")[2].replace("_", "-").removeprefix("default-")
            values[name], origins[name] = _checked(table[name], value, flag), flag
    return _built(values, providers, shares, origins, warnings)


def unknown_variables() -> list[str]:
    """Return the names of `SHIPCHAT_*` variables that are set and mean nothing here."""
    known = {row.variable for row in setting_table()} | OTHER_VARIABLES
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def _built(
    values: Mapping[str, Any],
    providers: dict[str, ProviderSettings],
    shares: dict[str, ModelShares],
    origins: dict[str, str],
    warnings: list[str],
) -> Settings:
    top = {name: value for name, value in values.items() if "." not in name}
    tables = {
        table: {
            name.removeprefix(f"{table}."): one
            for name, one in values.items()
            if name.startswith(f"{table}.")
        }
        for table in _TABLES
    }
    return Settings(
        **top,
        local=LocalSettings(**tables["local"]),
        compaction=CompactionSettings(**tables["compaction"], models=MappingProxyType(shares)),
        providers=MappingProxyType(providers),
        origins=MappingProxyType(origins),
        warnings=tuple(warnings),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        return {}
    except UnicodeDecodeError:
        raise _invalid(str(path), "it is not UTF-8 text") from None
    except OSError as error:
        raise _invalid(str(path), error.strerror or "it can't be read") from None
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _invalid(str(path), f"no valid TOML: {error}") from None


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict) and name != "providers":
            flat |= {f"{name}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            flat[name] = value
    return flat


def _providers(value: Any, path: Path, warnings: list[str]) -> dict[str, ProviderSettings]:
    if not isinstance(value, dict):
        raise _invalid(str(path), "providers must be tables, [providers.NAME]")
    hints = get_type_hints(ProviderSettings)
    providers: dict[str, ProviderSettings] = {}
    for name, given in value.items():
        where = f"providers.{name}"
        if not isinstance(given, dict):
            raise _invalid(str(path), f"{where} must be a table, [providers.NAME]")
        known: dict[str, Any] = {}
        for key, one in given.items():
            if key == "name" or key not in hints:
                warnings.append(f"{path}: unknown setting {where}.{key}")
                continue
            row = SettingInfo(f"{where}.{key}", hints[key], None, "", "", 1)
            known[key] = _checked(row, one, str(path))
        for needed in ("kind", "base_url"):
            if needed not in known:
                raise _invalid(str(path), f"{where} needs {needed}")
        if not known["base_url"].startswith(("http://", "https://")):
            raise _invalid(str(path), f"{where}.base_url must begin with http:// or https://")
        try:
            parse_model(f"{name}/x")
        except UsageError:
            raise _invalid(str(path), f"{where}: the name may hold only a-z, 0-9, '.', '_' and '-'") from None
        providers[name] = ProviderSettings(name=name, **known)
    return providers


def _shares(value: Any, path: Path, warnings: list[str]) -> dict[str, ModelShares]:
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise _invalid(str(path), 'compaction.models must be tables, [compaction.models."PROVIDER/MODEL"]')
    shares: dict[str, ModelShares] = {}
    for name, given in value.items():
        where = f"compaction.models.{name}"
        _check_model(name, str(path), where)
        known: dict[str, Any] = {}
        for key, one in given.items():
            if key in ("share", "keep"):
                known[key] = _checked(
                    SettingInfo(f"{where}.{key}", float, None, "", "", None), one, str(path)
                )
            else:
                warnings.append(f"{path}: unknown setting {where}.{key}")
        shares[name] = ModelShares(**known)
    return shares


def _from_text(row: SettingInfo, text: str) -> Any:
    kinds = _alternatives(row.kind)
    if bool in kinds:
        return {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False}.get(
            text.casefold(), False if text.casefold() in ("no", "off") else text
        )
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                return text
    return text


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _checked(row: SettingInfo, value: Any, source: str) -> Any:
    """Return `value` as the setting's type, or raise ConfigInvalid saying what it should be."""
    wanted: list[str] = []
    for kind in _alternatives(row.kind):
        if kind is NoneType:
            continue
        if get_origin(kind) is Literal:
            if isinstance(value, str) and value in get_args(kind):
                return value
            wanted.append("one of " + ", ".join(f'"{choice}"' for choice in get_args(kind)))
        elif get_origin(kind) is tuple:
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                return tuple(value)
            wanted.append("a list of strings")
        elif kind is int:
            if isinstance(value, int) and not isinstance(value, bool) and value >= (row.least or 0):
                return value
            wanted.append(f"a whole number, at least {row.least or 0}")
        elif kind is float:
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
                return float(value)
            wanted.append("a number from 0 to 1")
        elif isinstance(value, kind):
            if row.name in ("default_model", "compaction.model"):
                _check_model(value, source, row.name)
            return value
        else:
            wanted.append({bool: "true or false", str: "a string"}.get(kind, kind.__name__))
    raise _invalid(source, f"{row.name} must be {' or '.join(wanted)}", key=row.name)


def _check_model(value: str, source: str, key: str) -> None:
    try:
        parse_model(value)
    except UsageError as error:
        raise _invalid(source, f"{key}: {error}", key=key) from None


def _invalid(source: str, reason: str, *, key: str | None = None) -> ConfigInvalid:
    return ConfigInvalid(
        f"{source}: {reason}",
        advice=("shipchat config show lists every setting.",),
        details={"source": source, "key": key, "reason": reason},
    )
