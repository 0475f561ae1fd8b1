"""Where a proxied chat takes place, as its headers say."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from app.domain.errors import FieldProblem, InvalidInputError
from app.domain.spaces import check_space
from app.schemas.assemble import ALSO_READ
from app.schemas.common import Line, ScopePath, SpaceName, WireModel
from app.schemas.problems import field_errors


class Place(WireModel):
    """Whose memory it is, and where the conversation is. Lists are separated by commas."""

    space: SpaceName = Field(alias="X-Ricordo-Space")
    session: Line | None = Field(None, alias="X-Ricordo-Session")
    persona: SpaceName | None = Field(None, alias="X-Ricordo-Persona")
    scopes: Annotated[tuple[ScopePath, ...], Field(max_length=16)] = Field((), alias="X-Ricordo-Scopes")
    also_read: Annotated[tuple[SpaceName, ...], Field(max_length=ALSO_READ)] = Field((), alias="X-Ricordo-Also-Read")


_LISTS = ("X-Ricordo-Scopes", "X-Ricordo-Also-Read")


def place_of(headers: Mapping[str, str], user: Any) -> Place:
    """The place that headers name; whose memory it is may also stand in the field `user` of a chat request.

    Raises:
        InvalidInputError: If a header breaks a rule, or nothing names a space; it names the header.
    """
    names = [str(field.alias) for field in Place.model_fields.values()]
    given: dict[str, Any] = {name: headers[name] for name in names if headers.get(name)}
    given |= {name: tuple(part.strip() for part in given[name].split(",")) for name in _LISTS if name in given}
    space = given.setdefault("X-Ricordo-Space", _space_of(user))
    if space is None:
        raise InvalidInputError(FieldProblem("X-Ricordo-Space", "name the space, or send the field user"))
    try:
        return Place.model_validate(given)
    except ValidationError as error:
        problems = (
            FieldProblem(field.field.partition("[")[0], field.message) for field in field_errors(error.errors())
        )
        raise InvalidInputError(*problems) from error


def _space_of(user: Any) -> str | None:
    """`user` may name a space, or a user in the space of that kind."""
    if not isinstance(user, str) or not user:
        return None
    try:
        return check_space(user)
    except ValueError:
        return f"user:{user}"
