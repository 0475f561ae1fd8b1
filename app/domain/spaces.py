"""Spaces (isolated memory containers) and scopes (where in a space something holds)."""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

SPACE_KINDS = ("user", "viewer", "stream", "character", "lore", "agent")
SCOPE_KINDS = ("character", "chat", "story", "arc", "scene", "project")
SPACE_NAME_CHARS = 200
SCOPE_SEGMENTS = 4
SCOPE_SEGMENT_CHARS = 80

_NAME = re.compile(r"[^\s\x00-\x1f\x7f/]+(?: [^\s\x00-\x1f\x7f/]+)*")


def normalise_handle(name: str) -> str:
    """Normalise a display name used as an identity: NFKC, casefold, no leading @, no outer blanks."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip().lstrip("@").strip()


def check_space(name: str) -> str:
    """Return the canonical form of a space name `kind:name`.

    Only the handle of `viewer:<platform>:@<name>` is rewritten (`normalise_handle`); every
    other name is compared exactly.

    Raises:
        ValueError: If the name is malformed; the message says what is expected.
    """
    kind, separator, rest = name.partition(":")
    if not separator or kind not in SPACE_KINDS:
        raise ValueError(f"must be kind:name with a kind of {', '.join(SPACE_KINDS)}")
    if len(name) > SPACE_NAME_CHARS:
        raise ValueError(f"must have at most {SPACE_NAME_CHARS} characters")
    if not _is_name(rest):
        raise ValueError("the name after the kind must not be empty, and has no '/', control or outer blank characters")
    if kind != "viewer":
        return name
    platform, separator, identity = rest.partition(":")
    if not (separator and platform and identity):
        raise ValueError("a viewer is viewer:<platform>:<user id>, or viewer:<platform>:@<name> without an id")
    if not identity.startswith("@"):
        return name
    handle = normalise_handle(identity)
    if not _is_name(handle):
        raise ValueError("the viewer's name is empty once normalised")
    return f"viewer:{platform}:@{handle}"


_UNFIT = re.compile(r"[%/\x00-\x1f\x7f]|^@|^ | $|(?<=\s)\s|[^\S ]")
"""What a space's name cannot hold of a platform's id, and what would make an id look like a name."""


def viewer_space(platform: str, user_id: str | None, name: str | None) -> str | None:
    """The space of a viewer: by the platform's id, compared exactly, else by the normalised name.

    No two ids share a space and no id is taken for a name: what does not fit is percent-encoded.

    Returns:
        None if there is neither an id nor a name, or if it is too long.
    """
    if user_id:
        identity = _UNFIT.sub(_percent, user_id)
    else:
        handle = normalise_handle(name or "")
        identity = "@" + re.sub(r"[%/\x00-\x1f\x7f]|(?<=\s)\s|[^\S ]", _percent, handle) if handle else ""
    try:
        return check_space(f"viewer:{_UNFIT.sub(_percent, platform).replace(':', '%3a')}:{identity}")
    except ValueError:
        return None


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in found[0].encode("utf-8", "surrogatepass"))


def check_scope(scope: str) -> str:
    """Return a scope unchanged if it is `""` or a path of up to four `kind:name` segments.

    Raises:
        ValueError: If the scope is malformed; the message says what is expected.
    """
    if scope == "":
        return scope
    segments = scope.split("/")
    if len(segments) > SCOPE_SEGMENTS:
        raise ValueError(f"must have at most {SCOPE_SEGMENTS} segments")
    for segment in segments:
        kind, separator, rest = segment.partition(":")
        if not separator or kind not in SCOPE_KINDS:
            raise ValueError(f"each segment must be kind:name with a kind of {', '.join(SCOPE_KINDS)}")
        if len(segment) > SCOPE_SEGMENT_CHARS or not _is_name(rest):
            raise ValueError(f"each segment needs a name, and has at most {SCOPE_SEGMENT_CHARS} characters")
    return scope


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and not any("\ud800" <= c <= "\udfff" for c in text)


def visible_scopes(scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Every scope that is visible from the given ones: `""`, each path, and each of its prefixes.

    Order: shallow first, then by text; no duplicates.
    """
    prefixes = {""}
    for scope in scopes:
        segments = scope.split("/") if scope else []
        prefixes.update("/".join(segments[:depth]) for depth in range(1, len(segments) + 1))
    return tuple(sorted(prefixes, key=lambda scope: (scope_depth(scope), scope)))


def scope_depth(scope: str) -> int:
    """Number of segments: 0 for everywhere, at most 4."""
    return 0 if scope == "" else scope.count("/") + 1


def scope_key(scope: str) -> int:
    """A stable signed 64-bit key of a scope, for filters inside an index."""
    return int.from_bytes(blake2b(scope.encode(), digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class SpaceKey:
    """One space of one tenant, as the store addresses it."""

    tenant_id: UUID
    name: str

    @property
    def space_id(self) -> UUID:
        """The space's id: derived from tenant and name, so that no look-up is needed to find it."""
        return UUID(bytes=blake2b(self.name.encode(), digest_size=16, key=self.tenant_id.bytes).digest())
