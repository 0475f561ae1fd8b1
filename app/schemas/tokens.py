"""Short-lived tokens on the wire."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from app.domain.callers import ROLES, Role
from app.schemas.common import Instant, SpaceName, WireModel

TOKEN_MINUTES = 60
TOKEN_MINUTES_LIMIT = 24 * 60


class TokenBody(WireModel):
    """A token to make: for one space, for a while."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"space": "user:42", "role": "reader", "minutes": 15}]})

    space: SpaceName
    role: Literal["reader", "writer"]
    minutes: Annotated[int, Field(ge=1, le=TOKEN_MINUTES_LIMIT, strict=True)] = TOKEN_MINUTES

    @property
    def to_role(self) -> Role:
        """As the domain has it."""
        return ROLES[self.role]


class KeyReply(WireModel):
    """What the key that calls may do. `spaces` are the only ones it reaches; null for all of its tenant."""

    role: Literal["reader", "writer", "editor", "administrator"]
    spaces: list[str] | None
    expires_at: Instant | None


class TokenReply(WireModel):
    """A token, shown once. Used like a key."""

    token: str
    space: str
    role: Literal["reader", "writer"]
    expires_at: Instant
