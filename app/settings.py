"""The only reader of the environment."""

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "RICORDO_"


class MeasuredModel(BaseModel):
    """What `ricordo calibrate` measures of a model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dimensions: int = Field(ge=1, le=4_000)
    """Length of a vector."""

    band: tuple[float, float]
    """Cosines between which contradictions lie; for bge-m3 0.75 and 0.92."""

    scale: float = Field(gt=0)
    """Takes the model's centred cosines to the bundled model's, then `shift` is added."""

    shift: float
    """See `scale`."""


class Settings(BaseSettings):
    """What an operator sets, as RICORDO_* variables. docs/settings.md lists them."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, use_attribute_docstrings=True)

    database_url: SecretStr | None = None
    """Postgres with pgvector. None: an embedded server under `data_dir`, so that nothing need be installed."""

    data_dir: Path = Path("data")
    """Folder of the embedded database and of the first key. Relative to where the service is started."""

    host: str = "127.0.0.1"
    """Address to listen on. Loopback, because the service speaks plain HTTP."""

    port: int = Field(8080, ge=1, le=65_535)
    """Port to listen on."""

    api_key: SecretStr | None = None
    """The first administrator key, of 24 characters or more. None: one is made and kept in `data_dir`."""

    embedder: Literal["bundled", "e5", "bge-m3", "http"] = "bundled"
    """What turns text into vectors (docs/embedders.md). A model that the store has; `ricordo reembed` changes it."""

    embedder_model: str | None = None
    """For `bge-m3` a folder or hub name (none: BAAI/bge-m3); for `http` the server's name of the model."""

    embedder_url: str | None = None
    """For `http`: the endpoint, whose path ends in /v1/embeddings (vLLM, Ollama, Infinity, TEI) or /embed (TEI)."""

    embedder_api_key: SecretStr | None = None
    """For `http`: sent as a bearer token. None: the server asks for none."""

    other_embedder_api_key: SecretStr | None = None
    """For `http`: sent to the other model's server instead, while the store changes models (`ricordo reembed`)."""

    embedder_batch_texts: int | None = Field(None, ge=1, le=2048)
    """Texts in one batch. None: 32 for `http`, what TEI takes; for `bge-m3` what fits the machine."""

    embedder_timeout_ms: int = Field(10_000, ge=100, le=600_000)
    """For `http`: how long one batch may take. 32 windows take a server on a few cores seconds."""

    embedder_query_prefix: str = ""
    """For `http`: stands before questions. E5, nomic and others were trained with one; bge-m3 was not."""

    embedder_document_prefix: str = ""
    """For `http`: stands before documents, likewise."""

    embedder_calibration: MeasuredModel | None = None
    """What `ricordo calibrate` printed, as JSON. None: what is known of the model."""

    llm_url: str | None = None
    """An OpenAI-compatible server, such as http://127.0.0.1:11434/v1. None: no model; rules extract and summarise."""

    llm_model: str | None = None
    """The server's name of the language model. Needed with `llm_url`."""

    llm_api_key: SecretStr | None = None
    """Sent to `llm_url` as a bearer token. None: the server asks for none."""

    llm_timeout_ms: int = Field(60_000, ge=100, le=600_000)
    """How long the language model may take for one batch of messages or one summary. Nobody waits for it."""

    llm_tokens_per_day: int = Field(1_000_000, ge=0)
    """Tokens of questions and answers that each tenant may have it take in a day (UTC); then rules stand in."""

    upstream_url: str | None = None
    """The model server behind `/v1/chat/completions` (docs/agents.md), such as https://api.openai.com/v1."""

    database_connections: int = Field(8, ge=2, le=100)
    """Connections per process. More than the cores of the database's machine add nothing but queueing."""

    resident_mb: int = Field(512, ge=0, le=1_000_000)
    """Memory for the indexes of the spaces that are being talked to, in MiB; 0 keeps none. 3,000 entries take 9."""

    assembly_log_days: int = Field(7, ge=1, le=365)
    """How long assemblies can be looked at and replayed."""

    log_level: Literal["info", "warning"] = "info"
    """`info` writes a line for every request, `warning` only what went wrong (docs/operating.md)."""

    otlp_url: str | None = None
    """Collector of traces, OTLP over HTTP, such as http://127.0.0.1:4318. Needs the extra `otel`. None: no traces."""

    tokenizer: Literal["o200k_base", "cl100k_base"] = "o200k_base"
    """Counts the tokens of budgets. Choose the one that is nearer to your model's."""

    consolidation_seconds: float = Field(60.0, ge=1.0)
    """How often proposed supersessions are made good. They hold in assemblies at once, so this is no haste."""

    consolidation_hours: float = Field(24.0, ge=0.01)
    """How often a space that was written to is consolidated: repetitions, contradictions, what has faded."""

    archive_below: float = Field(0.02, ge=0, le=0.5)
    """The strength below which an entry is archived. .02 is 508 days after a memory was last confirmed; 0: never."""

    worker: Literal["embedded", "none"] = "embedded"
    """Who works on what was said: this process, or `ricordo worker` alone, which production should run."""

    worker_concurrency: int = Field(4, ge=1, le=32)
    """Jobs that a worker does at once. They wait for the database and the embedder, not for the processor."""

    working_memory_seconds: int = Field(86_400, ge=60, le=30 * 86_400)
    """How long a session's messages are its history without being sent again."""

    redis_url: SecretStr | None = None
    """Redis for working memory: redis://host/0. None: Postgres holds it."""

    history_days: int = Field(30, ge=1, le=36_500)
    """How long past messages are kept, unless a tenant's administrator chose otherwise."""

    history_archive_dir: Path | None = None
    """Folder to which history goes that has run out, as JSON lines. None: it is gone."""

    @model_validator(mode="before")
    @classmethod
    def _no_unknown_variable(cls, given: Any) -> Any:
        """Refuse a RICORDO_* variable that is no setting: a misspelt one would be ignored otherwise."""
        known = [f"{PREFIX}{name}".upper() for name in cls.model_fields]
        for name in sorted(os.environ):  # noqa: TID251 - the one reader
            if name.upper().startswith(PREFIX) and name.upper() not in known:
                likely = get_close_matches(name.upper(), known, n=1)
                meant = f"; {likely[0]} is one" if likely else ""
                raise ValueError(f"{name} is no setting of this version{meant}")
        return given
