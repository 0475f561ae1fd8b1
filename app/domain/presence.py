"""Who may speak for a memory: the person whose it is, present where it was said."""

from collections.abc import Collection

from app.domain.entries import Author
from app.domain.errors import ForbiddenError
from app.domain.spaces import viewer_space


def require_presence(space: str, actor: Author | None, batch: Collection[Author] | None) -> None:
    """Check that whoever asks for a change of a memory may.

    People of a platform are known by their ids there: a name that looks the same is somebody else.

    Args:
        space: The memory's.
        actor: Who asks; None: the caller answers for it.
        batch: Who is present; None if that is not known.

    Raises:
        ForbiddenError: If the actor is not present, the memory is another person's, or it is lore.
    """
    if actor is None:
        return
    person = _person(actor)
    if batch is not None and (person is None or person not in {_person(one) for one in batch}):
        raise ForbiddenError("who asks for it is not present in the batch")
    if space.startswith("lore:"):
        raise ForbiddenError("what somebody says changes no lore")
    if space.startswith("viewer:") and person != space:
        raise ForbiddenError(f"who asks for it is not the person of {space}")


def _person(author: Author) -> str | None:
    return viewer_space(author.platform, author.id, author.name) if author.platform else None
