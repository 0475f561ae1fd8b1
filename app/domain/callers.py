"""Who calls: the tenant, the role and the spaces that a key stands for."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from uuid import UUID

from app.domain.errors import ForbiddenError
from app.domain.spaces import SpaceKey


class Role(IntEnum):
    """What a key may do; each role may do all that the ones before it may."""

    READER = 1
    WRITER = 2
    EDITOR = 3
    ADMINISTRATOR = 4

    @property
    def label(self) -> str:
        """The role's name outside the code."""
        return self.name.lower()


ROLES = {role.label: role for role in Role}


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to be made.

    Attributes:
        spaces: The only spaces it reaches; None for all of the tenant.
        lifetime_s: Seconds until it expires; None for one that does not.
        not_after: When it expires at the latest.
    """

    name: str
    role: Role
    spaces: tuple[str, ...] | None = None
    lifetime_s: float | None = None
    not_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller who has shown a valid key.

    Attributes:
        spaces: The only spaces it may touch; None for all of the tenant.
        expires_at: When the key expires; None for one that does not.
    """

    tenant_id: UUID
    role: Role
    spaces: frozenset[str] | None = None
    expires_at: datetime | None = None

    def require(self, role: Role) -> None:
        """Raise ForbiddenError unless the key has at least this role."""
        if self.role < role:
            raise ForbiddenError(f"this needs a key with the role {role.label}; this key is a {self.role.label}")

    def may_touch(self, space: str) -> bool:
        """Whether the key reaches a space."""
        return self.spaces is None or space in self.spaces

    def space(self, name: str) -> SpaceKey:
        """Address a space of the caller's tenant.

        Raises:
            ForbiddenError: If the key is limited to other spaces.
        """
        if not self.may_touch(name):
            raise ForbiddenError(f"this key does not reach the space {name}")
        return SpaceKey(self.tenant_id, name)

    def writable_space(self, name: str) -> SpaceKey:
        """Address a space for writing: lore needs an editor, everything else a writer."""
        self.require(Role.EDITOR if name.startswith("lore:") else Role.WRITER)
        return self.space(name)

    def token(self, name: str, role: Role, lifetime_s: float) -> NewKey:
        """A short-lived key of one space, for somebody else: never more than this key may do, and never for longer.

        Raises:
            ForbiddenError: If this key is no writer's, has a lower role, or does not reach the space.
        """
        self.require(max(role, Role.WRITER))
        space = self.space(name)
        return NewKey(f"token for {space.name}", role, (space.name,), lifetime_s, self.expires_at)
