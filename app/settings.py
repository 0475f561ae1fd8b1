"""The only reader of the environment."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """What an operator sets, as RICORDO_* variables. docs/settings.md lists them."""

    model_config = SettingsConfigDict(env_prefix="RICORDO_", frozen=True)

    database_url: SecretStr | None = None
    """Postgres with pgvector. None: an embedded server under `data_dir`, so that nothing need be installed."""

    data_dir: Path = Path("data")
    """Holds the embedded database and the first key."""

    host: str = "127.0.0.1"
    """Address to listen on. Loopback, because the service speaks plain HTTP."""

    port: int = Field(8080, ge=1, le=65_535)
    """Port to listen on."""

    api_key: SecretStr | None = None
    """The first administrator key. None: one is made at the first start and kept in `data_dir`."""

    embedder: Literal["bundled"] = "bundled"
    """The model that turns text into vectors. A store is filled by one model."""

    database_connections: int = Field(8, ge=2, le=100)
    """Connections per process. More than the cores of the database's machine add nothing but queueing."""

    assembly_log_days: int = Field(7, ge=1, le=365)
    """How long assemblies can be looked at and replayed."""

    tokenizer: Literal["o200k_base", "cl100k_base"] = "o200k_base"
    """Counts the tokens of budgets: that of the current OpenAI models, within a few per cent of others."""

    consolidation_seconds: float = Field(60.0, ge=1.0)
    """How often proposed supersessions are made good. They hold in assemblies at once, so this is no haste."""
