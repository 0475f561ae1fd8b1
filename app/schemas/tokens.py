"""Short-lived tokens on the wire."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.domain.callers import ROLES, Caller, Role
from app.schemas.common import Instant, SpaceName, WireModel, wire_time

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


class TokenReply(WireModel):
    """A token, shown once. Used like a key."""

    token: str
    space: str
    role: Literal["reader", "writer"]
    expires_at: Instant


class OwnKeyReply(WireModel):
    """What a key or a token may do. Without limits `spaces` and `expires_at` are null."""

    role: Literal["reader", "writer", "editor", "administrator"]
    spaces: list[str] | None
    expires_at: Instant | None


def own_key_json(caller: Caller) -> dict[str, Any]:
    """What a caller may do, as JSON has it."""
    return {
        "role": caller.role.label,
        "spaces": None if caller.spaces is None else sorted(caller.spaces),
        "expires_at": caller.expires_at and wire_time(caller.expires_at),
    }
