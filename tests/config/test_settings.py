import os
from pathlib import Path

import pytest

from shipchat.config.compaction import CompactionSettings, ModelShares
from shipchat.config.paths import Directories
from shipchat.config.settings import (
    LocalSettings,
    ProviderSettings,
    Settings,
    load_settings,
    setting_table,
    unknown_variables,
)
from shipchat.core.errors import ConfigInvalid


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Directories:
    for name in [*os.environ]:
        if name.startswith("SHIPCHAT_"):
            monkeypatch.delenv(name)
    return Directories(tmp_path / "data", tmp_path / "cache", tmp_path)


def write(where: Directories, text: str) -> Path:
    assert where.config_file is not None
    where.config_file.write_text(text, encoding="utf-8")
    return where.config_file


def refusal(where: Directories) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        load_settings(where=where)
    return str(caught.value)


def test_without_a_file_everything_has_its_default(where: Directories) -> None:
    settings = load_settings(where=where)
    assert settings == Settings()
    assert settings.default_model == "local/smollm2"
    assert settings.origin("default_model") == "default"


def test_a_file_is_read_whole(where: Directories) -> None:
    path = write(
        where,
        """
        default_model = "ollama/llama3.2"
        system = "Be brief."
        start = "last"
        edit = "fork"
        theme = "paper"
        editing = "vi"
        motion = false
        max_tokens = 500
        overflow = "drop-oldest"
        effort = "high"
        stall_timeout = 30
        discover = false
        [local]
        context = 2048
        threads = 3
        [compaction]
        mode = "remind"
        share = 0.6
        keep = 0
        model = "openai/gpt-5-nano"
        instructions = "Keep all numbers."
        prompt_file = "summary.txt"
        timeout = 60
        [compaction.models."local/smollm2"]
        share = 0.5
        [providers.ollama]
        kind = "openai"
        base_url = "http://localhost:11434/v1"
        models = ["llama3.2", "qwen3"]
        context_window = 8192
        max_output = 1000
        [providers.work]
        kind = "anthropic"
        base_url = "https://llm.example.org"
        api_key_env = "WORK_KEY"
        """,
    )
    settings = load_settings(where=where)
    names = {row.name for row in setting_table()}
    assert settings == Settings(
        default_model="ollama/llama3.2",
        system="Be brief.",
        start="last",
        edit="fork",
        theme="paper",
        editing="vi",
        motion=False,
        max_tokens=500,
        overflow="drop-oldest",
        effort="high",
        stall_timeout=30,
        discover=False,
        local=LocalSettings(context=2048, threads=3),
        compaction=CompactionSettings(
            mode="remind",
            share=0.6,
            keep=0.0,
            model="openai/gpt-5-nano",
            instructions="Keep all numbers.",
            prompt_file="summary.txt",
            timeout=60,
            models={"local/smollm2": ModelShares(share=0.5)},
        ),
        providers={
            "ollama": ProviderSettings(
                name="ollama",
                kind="openai",
                base_url="http://localhost:11434/v1",
                models=("llama3.2", "qwen3"),
                context_window=8192,
                max_output=1000,
            ),
            "work": ProviderSettings(
                name="work",
                kind="anthropic",
                base_url="https://llm.example.org",
                api_key_env="WORK_KEY",
            ),
        },
        origins=dict.fromkeys(names, str(path)),
    )


def test_flags_beat_variables_and_variables_beat_the_file(
    where: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(where, 'theme = "file"\nmax_tokens = 1\ndefault_model = "a/file"\n[local]\nthreads = 1\n')
    monkeypatch.setenv("SHIPCHAT_MAX_TOKENS", "2")
    monkeypatch.setenv("SHIPCHAT_LOCAL_THREADS", "2")
    monkeypatch.setenv("SHIPCHAT_DEFAULT_MODEL", "a/variable")
    settings = load_settings(flags={"default_model": "a/flag", "max_tokens": None}, where=where)
    assert (settings.theme, settings.max_tokens, settings.local.threads, settings.default_model) == (
        "file",
        2,
        2,
        "a/flag",
    )
    assert dict(settings.origins) == {
        "theme": str(path),
        "max_tokens": "SHIPCHAT_MAX_TOKENS",
        "local.threads": "SHIPCHAT_LOCAL_THREADS",
        "default_model": "--model",
    }


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("YES", True), ("on", True), ("0", False), ("No", False), ("off", False)]
)
def test_variables_say_yes_and_no_in_words(
    where: Directories, monkeypatch: pytest.MonkeyPatch, text: str, value: bool
) -> None:
    monkeypatch.setenv("SHIPCHAT_MOTION", text)
    assert load_settings(where=where).motion is value


def test_unknown_keys_are_named_and_secrets_in_them_are_not_repeated(where: Directories) -> None:
    path = write(
        where,
        'colour = "red"\n[local]\nspeed = 3\n'
        '[providers.x]\nkind = "openai"\nbase_url = "https://x.example"\napi_key = "sk-CANARY"\n',
    )
    settings = load_settings(where=where)
    assert settings.warnings == (
        f"{path}: unknown setting colour",
        f"{path}: unknown setting local.speed",
        f"{path}: unknown setting providers.x.api_key",
    )


def test_unknown_variables_are_named(where: Directories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHIPCHAT_COLOUR", "red")
    monkeypatch.setenv("SHIPCHAT_THEME", "paper")
    monkeypatch.setenv("SHIPCHAT_DATA_DIR", "/somewhere")
    assert unknown_variables() == ["SHIPCHAT_COLOUR"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("theme = 3", "theme must be a string"),
        ("motion = 1", "motion must be true or false"),
        ("max_tokens = true", "max_tokens must be a whole number, at least 1"),
        ("max_tokens = 0", "max_tokens must be a whole number, at least 1"),
        ('max_tokens = "9"', "max_tokens must be a whole number, at least 1"),
        ('start = "fresher"', 'start must be one of "fresh", "last"'),
        ("[local]\ncontext = 1.5", "local.context must be a whole number, at least 512"),
        ("compaction = 3", "compaction must be a table, [compaction]"),
        ("[compaction]\nshare = 1.5", "compaction.share must be a number from 0 to 1"),
        ("[compaction]\nshare = true", "compaction.share must be a number from 0 to 1"),
        ('[compaction]\nmode = "on"', 'compaction.mode must be one of "auto", "remind", "off"'),
        (
            "[compaction.models]\nx = 3",
            'compaction.models must be tables, [compaction.models."PROVIDER/MODEL"]',
        ),
        ("local = 3", "local must be a table, [local]"),
        ("providers = 3", "providers must be tables, [providers.NAME]"),
        ("[providers]\nx = 3", "providers.x must be a table, [providers.NAME]"),
        ('[providers.x]\nkind = "openai"', "providers.x needs base_url"),
        (
            '[providers.x]\nkind = "other"\nbase_url = "https://x"',
            'providers.x.kind must be one of "openai", "anthropic"',
        ),
        (
            '[providers.x]\nkind = "openai"\nbase_url = "file:///etc/passwd"',
            "providers.x.base_url must begin with http:// or https://",
        ),
        (
            '[providers.x]\nkind = "openai"\nbase_url = "https://x"\nmodels = [1]',
            "providers.x.models must be a list of strings",
        ),
        (
            '[providers."X y"]\nkind = "openai"\nbase_url = "https://x"',
            "providers.X y: the name may hold only a-z, 0-9, '.', '_' and '-'",
        ),
    ],
)
def test_a_value_of_the_wrong_kind_names_file_and_key(where: Directories, text: str, reason: str) -> None:
    path = write(where, text)
    assert refusal(where) == f"{path}: {reason}"


def test_a_variable_of_the_wrong_kind_is_named(where: Directories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHIPCHAT_MAX_TOKENS", "many")
    assert refusal(where) == "SHIPCHAT_MAX_TOKENS: max_tokens must be a whole number, at least 1"


def test_a_default_model_without_provider_is_refused(where: Directories) -> None:
    path = write(where, 'default_model = "gpt"')
    assert refusal(where).startswith(f"{path}: default_model: 'gpt' is no model name")


def test_a_file_that_is_no_toml_is_refused_with_the_place(where: Directories) -> None:
    path = write(where, 'theme = "paper"\nmotion = maybe\n')
    assert refusal(where) == f"{path}: no valid TOML: Invalid value (at line 2, column 10)"


def test_a_file_with_a_byte_order_mark_is_read(where: Directories) -> None:
    write(where, '\ufefftheme = "paper"\n')
    assert load_settings(where=where).theme == "paper"


def test_a_file_that_is_no_utf8_is_refused(where: Directories) -> None:
    assert where.config_file is not None
    where.config_file.write_bytes(b"theme = '\xff'")
    assert refusal(where) == f"{where.config_file}: it is not UTF-8 text"
