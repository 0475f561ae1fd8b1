"""Memories that mem0 exports: what its `get_all` answers, a list or `{"results": […]}`."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.entries import Category
from app.domain.spaces import check_space
from app.importing.items import Bad, Choices, Fact, Item, RowError, mark_of
from app.importing.scanning import Scanner, rows
from app.importing.values import first, given, label, moment, tags, text, wire


def read(scanner: Scanner, choices: Choices) -> Iterator[Item]:
    """The memories of a file; one that makes no sense is bad, and the next is read.

    Raises:
        BrokenFileError: If the file breaks off.
    """
    for line, one in rows(scanner, "results", "memories"):
        try:
            yield _fact(f"line {line}", one, choices)
        except ValueError as error:
            yield Bad(f"line {line}", str(error))


def _fact(where: str, one: Any, choices: Choices) -> Fact:
    if not isinstance(one, dict):
        raise RowError("it is no memory")
    said = text(first((one.get("memory"), one.get("text"), one.get("data"))), "memory")
    space = choices.space or _space(one)
    learnt = moment(one.get("updated_at"), choices.zone) or moment(one.get("created_at"), choices.zone)
    metadata: Any = one.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    categories = first((one.get("categories"), metadata.get("category"), metadata.get("categories")))
    known = [name for name in tags(categories) if name in frozenset(Category)]
    session = one.get("run_id")
    return Fact(
        where=where,
        space=space,
        mark=mark_of("mem0", one.get("id") or said),
        learnt_at=learnt,
        body={"text": said}
        | given(
            category=known[0] if known else None,
            tags=tags(categories, [f"{name}:{value}" for name, value in metadata.items() if _is_plain(name, value)]),
            valid_from=wire(learnt),
            valid_to=wire(moment(one.get("expiration_date"), choices.zone)),
            session=label(session) if isinstance(session, str) else None,
            source=label(f"mem0:{one['id']}") if isinstance(one.get("id"), (str, int)) else "mem0",
        ),
    )


def _is_plain(name: str, value: Any) -> bool:
    return not name.startswith("categor") and isinstance(value, (str, int, float))


def _space(one: Mapping[str, Any]) -> str:
    """Whose memory it is.

    Raises:
        RowError: If it is nobody's.
    """
    for kind, name in (("user", "user_id"), ("agent", "agent_id")):
        owner = one.get(name)
        if isinstance(owner, (str, int)) and str(owner).strip():
            try:
                return check_space(f"{kind}:{str(owner).strip()}")
            except ValueError as error:
                raise RowError(f"{name}: no space can have this name ({error}); give --space") from error
    raise RowError("it has neither user_id nor agent_id; give --space")
