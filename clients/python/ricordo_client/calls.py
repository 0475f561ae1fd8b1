"""Every call of the API as a function from its arguments to a Call. Both clients have them as methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from ricordo_client.errors import RicordoError
from ricordo_client.exchange import Call
from ricordo_client.models import (
    Assembly,
    AssemblySummary,
    Author,
    Batch,
    Claim,
    Consolidated,
    Correction,
    Ended,
    Entry,
    Erased,
    Forgotten,
    Found,
    HistorySettings,
    Job,
    Key,
    LivePlan,
    LoggedAssembly,
    Message,
    Page,
    Profile,
    Receipt,
    Recent,
    Replayed,
    Said,
    Session,
    SoulBlock,
    Sources,
    Space,
    StateRecord,
    Token,
    Turn,
    Verified,
    Viewed,
)

Tier = Literal["memories", "episodes", "procedures"]
Format = Literal["xml", "markdown", "plain"]
Json = Mapping[str, Any]

ASSEMBLE_TIMEOUT_S = 2.0
"""A chat waits for its prompt, so this is short; the service itself answers within a tenth of a second."""

_TIER_OF = {"mem": "memories", "epi": "episodes", "pro": "procedures"}


def assemble(
    space: str,
    query: str = "",
    *,
    session: str | None = None,
    history: Sequence[Said | Json] | None = None,
    also_read: Sequence[str] | None = None,
    persona: str | None = None,
    scopes: Sequence[str] | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    format: Format | None = None,  # noqa: A002 - the API's name for it
    timeout_ms: int | None = None,
    record: bool | None = None,
    trace: bool | None = None,
    overrides: Json | None = None,
    timeout: float = ASSEMBLE_TIMEOUT_S,
    fallback: str | None = None,
) -> Call[Assembly]:
    """The system prompt for one turn. `session` or `history` say what was said a moment ago.

    With a `fallback` the answer comes within `timeout` seconds, whatever the service does: when it fails, is down or
    is late, the prompt is the fallback, and `failure` says why. Without one RicordoError is raised.
    """
    body = {
        "space": space,
        "query": query,
        "session": session,
        "history": history,
        "also_read": also_read,
        "persona": persona,
        "scopes": scopes,
        "as_of": as_of,
        "known_at": known_at,
        "format": format,
        "timeout_ms": timeout_ms,
        "record": record,
        "trace": trace,
        "overrides": overrides,
    }
    return Call(
        Assembly,
        "POST",
        "/context/assemble",
        body=body,
        repeatable=True,
        deadline_field=True,
        timeout_s=timeout,
        otherwise=_otherwise(fallback),
    )


def assemble_live(
    stream: str,
    batch: Sequence[Json],
    *,
    persona: str | None = None,
    agents: Sequence[str] | None = None,
    lore: Sequence[str] | None = None,
    viewers: int | None = None,
    scopes: Sequence[str] | None = None,
    history: Sequence[Json] | None = None,
    session: str | None = None,
    as_of: datetime | None = None,
    format: Format | None = None,  # noqa: A002 - the API's name for it
    timeout_ms: int | None = None,
    record: bool | None = None,
    trace: bool | None = None,
    overrides: Json | None = None,
    timeout: float = ASSEMBLE_TIMEOUT_S,
    fallback: str | None = None,
) -> Call[Assembly]:
    """The system prompt for a batch of many people's messages, as in `post_turn`. `fallback` as in `assemble`."""
    body = {
        **_live(stream, batch, persona, agents, lore, viewers, scopes, history, session, timeout_ms),
        "as_of": as_of,
        "format": format,
        "record": record,
        "trace": trace,
        "overrides": overrides,
    }
    return Call(
        Assembly,
        "POST",
        "/context/assemble/live",
        body=body,
        repeatable=True,
        deadline_field=True,
        timeout_s=timeout,
        otherwise=_otherwise(fallback),
    )


def plan_live(
    stream: str,
    batch: Sequence[Json],
    *,
    persona: str | None = None,
    agents: Sequence[str] | None = None,
    lore: Sequence[str] | None = None,
    viewers: int | None = None,
    scopes: Sequence[str] | None = None,
    history: Sequence[Json] | None = None,
    session: str | None = None,
    timeout_ms: int | None = None,
) -> Call[LivePlan]:
    """Whose memory `assemble_live` would read for a batch, and why, without reading it."""
    body = _live(stream, batch, persona, agents, lore, viewers, scopes, history, session, timeout_ms)
    return Call(LivePlan, "POST", "/context/plan", body=body, repeatable=True)


def _live(
    stream: str,
    batch: Sequence[Json],
    persona: str | None,
    agents: Sequence[str] | None,
    lore: Sequence[str] | None,
    viewers: int | None,
    scopes: Sequence[str] | None,
    history: Sequence[Json] | None,
    session: str | None,
    timeout_ms: int | None,
) -> dict[str, Any]:
    return {
        "stream": stream,
        "batch": batch,
        "persona": persona,
        "agents": agents,
        "lore": lore,
        "viewers": viewers,
        "scopes": scopes,
        "history": history,
        "session": session,
        "timeout_ms": timeout_ms,
    }


def search(
    space: str,
    query: str = "",
    *,
    tiers: Sequence[Tier] | None = None,
    limit: int | None = None,
    also_read: Sequence[str] | None = None,
    scopes: Sequence[str] | None = None,
    category: str | None = None,
    tags: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    min_relevance: float | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> Call[Found]:
    """Memories, episodes and procedures by meaning and by keyword, best first."""
    body = {
        "space": space,
        "query": query,
        "tiers": tiers,
        "limit": limit,
        "also_read": also_read,
        "scopes": scopes,
        "category": category,
        "tags": tags,
        "from": since,
        "to": until,
        "min_relevance": min_relevance,
        "as_of": as_of,
        "known_at": known_at,
    }
    return Call(Found, "POST", "/search", body=body, repeatable=True)


def post_turn(
    messages: Sequence[Json],
    *,
    space: str | None = None,
    stream: str | None = None,
    session: str | None = None,
    id: str | None = None,  # noqa: A002 - the API's name for it
    reply: str | Json | None = None,
    scope: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Turn]:
    """Store what was said: in one person's `space`, or in a `stream` in which many speak."""
    body = {
        "messages": messages,
        "space": space,
        "stream": stream,
        "session": session,
        "id": id,
        "reply": reply,
        "scope": scope,
    }
    return _write(Turn, "POST", "/turns", body, idempotency_key)


def remember(
    space: str,
    text: str,
    *,
    category: str | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    tags: Sequence[str] | None = None,
    scope: str | None = None,
    claim: Claim | Json | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    author: Author | Json | None = None,
    session: str | None = None,
    context: str | None = None,
    source: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Keep a fact. What it replaced is in `superseded`; `reinforced` says that it was known already."""
    body = {
        "space": space,
        "text": text,
        "category": category,
        "importance": importance,
        "confidence": confidence,
        "tags": tags,
        "scope": scope,
        "claim": claim,
        "valid_from": valid_from,
        "valid_to": valid_to,
        "author": author,
        "session": session,
        "context": context,
        "source": source,
    }
    return _write(Entry, "POST", "/memories", body, idempotency_key)


def add_episode(
    space: str,
    text: str,
    *,
    occurred_at: datetime | None = None,
    participants: Sequence[str] | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    tags: Sequence[str] | None = None,
    scope: str | None = None,
    author: Author | Json | None = None,
    session: str | None = None,
    context: str | None = None,
    source: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Keep what happened."""
    body = {
        "space": space,
        "text": text,
        "occurred_at": occurred_at,
        "participants": participants,
        "importance": importance,
        "confidence": confidence,
        "tags": tags,
        "scope": scope,
        "author": author,
        "session": session,
        "context": context,
        "source": source,
    }
    return _write(Entry, "POST", "/episodes", body, idempotency_key)


def add_procedure(
    space: str,
    text: str,
    *,
    trigger: str | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    tags: Sequence[str] | None = None,
    scope: str | None = None,
    source: str | None = None,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Keep how to do something, and when it applies."""
    body = {
        "space": space,
        "text": text,
        "trigger": trigger,
        "importance": importance,
        "confidence": confidence,
        "tags": tags,
        "scope": scope,
        "source": source,
    }
    return _write(Entry, "POST", "/procedures", body, idempotency_key)


def add_all(
    space: str, entries: Sequence[Json], *, tier: Tier = "memories", idempotency_key: str | None = None
) -> Call[Batch]:
    """Create up to 500 entries; those that cannot be accepted are refused one by one."""
    return _write(Batch, "POST", f"/{tier}/batch", {"space": space, "entries": entries}, idempotency_key)


def report_outcome(
    id: str,  # noqa: A002 - the API's name for it
    outcome: Literal["success", "failure"],
    *,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Say how it went when a procedure was followed."""
    return _write(Entry, "POST", f"{_item(id)}/outcome", {"outcome": outcome}, idempotency_key)


def entry(id: str) -> Call[Entry]:  # noqa: A002 - the API's name for it
    """A memory, an episode or a procedure."""
    return _read(Entry, _item(id))


def edit_entry(
    id: str,  # noqa: A002 - the API's name for it
    changes: Json,
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Write a new version of an entry. Fields that `changes` leaves out stay; None clears."""
    return _change(Entry, "PATCH", _item(id), changes, if_version, idempotency_key)


def undo_entry(
    id: str,  # noqa: A002 - the API's name for it
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Undo the last change of an entry."""
    return _change(Entry, "POST", f"{_item(id)}/undo", None, if_version, idempotency_key)


def restore_entry(
    id: str,  # noqa: A002 - the API's name for it
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Entry]:
    """Bring an archived entry back, confirmed now."""
    return _change(Entry, "POST", f"{_item(id)}/restore", None, if_version, idempotency_key)


def erase_entry(id: str, *, if_version: int | None = None) -> Call[Erased]:  # noqa: A002 - the API's name for it
    """Erase an entry for good, all versions and traces."""
    return _change(Erased, "DELETE", _item(id), None, if_version, None, idempotent=False)


def entries(
    space: str,
    tier: Tier = "memories",
    *,
    category: str | None = None,
    tag: str | None = None,
    scope: str | None = None,
    status: str | None = None,
    unresolved: bool | None = None,
) -> Call[Page[Entry]]:
    """The entries of a tier, newest first."""
    params = {
        "space": space,
        "category": category,
        "tag": tag,
        "scope": scope,
        "status": status,
        "unresolved": unresolved,
    }
    return _read(Page[Entry], f"/{tier}", params)


def entry_versions(id: str) -> Call[Page[Entry]]:  # noqa: A002 - the API's name for it
    """The versions of an entry, newest first."""
    return _read(Page[Entry], f"{_item(id)}/versions", {})


def entry_sources(id: str) -> Call[Sources]:  # noqa: A002 - the API's name for it
    """The messages that an entry comes of."""
    return _read(Sources, f"{_item(id)}/sources")


def correct(
    space: str,
    said: str | None = None,
    *,
    scopes: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - the API's name for it
    content: str | None = None,
    text: str | None = None,
    subject: str | None = None,
    attribute: str | None = None,
    value: str | None = None,
    scope: str | None = None,
    lasting: bool | None = None,
    category: str | None = None,
    valid_from: datetime | None = None,
    actor: Author | Json | None = None,
    batch: Sequence[Author | Json] | None = None,
    session: str | None = None,
    source: str | None = None,
    dry_run: bool | None = None,
    idempotency_key: str | None = None,
) -> Call[Correction]:
    """Put something right: as it was `said`, or by what is wrong and what is right. May answer with a question."""
    body = {
        "space": space,
        "said": said,
        "scopes": scopes,
        "id": id,
        "content": content,
        "text": text,
        "subject": subject,
        "attribute": attribute,
        "value": value,
        "scope": scope,
        "lasting": lasting,
        "category": category,
        "valid_from": valid_from,
        "actor": actor,
        "batch": batch,
        "session": session,
        "source": source,
        "dry_run": dry_run,
    }
    return _write(Correction, "POST", "/corrections", body, idempotency_key)


def clarify(
    id: str,  # noqa: A002 - the API's name for it
    choice: str,
    *,
    actor: Author | Json | None = None,
    batch: Sequence[Author | Json] | None = None,
    idempotency_key: str | None = None,
) -> Call[Correction]:
    """Answer the question of a correction with the key of an option."""
    body = {"choice": choice, "actor": actor, "batch": batch}
    return _write(Correction, "POST", f"/clarifications/{_quoted(id)}", body, idempotency_key)


def correction(id: str) -> Call[Correction]:  # noqa: A002 - the API's name for it
    """A correction."""
    return _read(Correction, f"/corrections/{_quoted(id)}")


def corrections(space: str, *, open: bool | None = None) -> Call[Page[Correction]]:  # noqa: A002 - the API's name
    """The corrections of a space, newest first; `open` for the questions that nobody answered."""
    return _read(Page[Correction], "/corrections", {"space": space, "open": open})


def forget(
    space: str,
    *,
    ids: Sequence[str] | None = None,
    content: str | None = None,
    turn: str | None = None,
    session: str | None = None,
    author: Author | Json | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    actor: Author | Json | None = None,
    batch: Sequence[Author | Json] | None = None,
    dry_run: bool | None = None,
) -> Call[Forgotten]:
    """Erase for good what is named exactly in one way, with every trace. The receipt says what went."""
    body = {
        "space": space,
        "ids": ids,
        "content": content,
        "turn": turn,
        "session": session,
        "author": author,
        "since": since,
        "until": until,
        "actor": actor,
        "batch": batch,
        "dry_run": dry_run,
    }
    return Call(Forgotten, "POST", "/forget", body=body)


def erase_space(space: str, *, dry_run: bool | None = None) -> Call[Receipt]:
    """Erase a space and all that it holds; what was erased cannot be imported again."""
    return Call(Receipt, "DELETE", f"/spaces/{_quoted(space)}", params={"dry_run": dry_run})


def receipt(id: str) -> Call[Receipt]:  # noqa: A002 - the API's name for it
    """The receipt of an erasure."""
    return _read(Receipt, f"/receipts/{_quoted(id)}")


def verify_receipt(id: str) -> Call[Verified]:  # noqa: A002 - the API's name for it
    """Whether a receipt is genuine, and nothing of what it says is gone is there."""
    return _read(Verified, f"/receipts/{_quoted(id)}/verify")


def create_record(
    space: str,
    kind: str,
    payload: Json,
    *,
    subjects: Sequence[str] | None = None,
    claim: Json | None = None,
    status: str | None = None,
    expires_at: datetime | None = None,
    turn: Json | None = None,
    idempotency_key: str | None = None,
) -> Call[StateRecord]:
    """Make a record: structured state that outranks memories. `turn` names the turn that it comes from."""
    body = {
        "space": space,
        "kind": kind,
        "payload": payload,
        "subjects": subjects,
        "claim": claim,
        "status": status,
        "expires_at": expires_at,
        "turn": turn,
    }
    return _write(StateRecord, "POST", "/records", body, idempotency_key)


def records(
    space: str, *, kind: str | None = None, subject: str | None = None, status: str | None = None
) -> Call[Page[StateRecord]]:
    """The current records of a space, newest first."""
    params = {"space": space, "kind": kind, "subject": subject, "status": status}
    return _read(Page[StateRecord], "/records", params)


def record(id: str) -> Call[StateRecord]:  # noqa: A002 - the API's name for it
    """A record."""
    return _read(StateRecord, f"/records/{_quoted(id)}")


def change_record(
    id: str,  # noqa: A002 - the API's name for it
    changes: Json,
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[StateRecord]:
    """Write a new version of a record. Fields that `changes` leaves out stay; `claim` and `expires_at` can be None."""
    return _change(StateRecord, "PATCH", f"/records/{_quoted(id)}", changes, if_version, idempotency_key)


def erase_record(id: str, *, if_version: int | None = None) -> Call[Erased]:  # noqa: A002 - the API's name for it
    """Erase a record for good, all versions."""
    return _change(Erased, "DELETE", f"/records/{_quoted(id)}", None, if_version, None, idempotent=False)


def record_versions(id: str) -> Call[Page[StateRecord]]:  # noqa: A002 - the API's name for it
    """The versions of a record, newest first."""
    return _read(Page[StateRecord], f"/records/{_quoted(id)}/versions", {})


def messages(
    space: str,
    *,
    query: str | None = None,
    session: str | None = None,
    author: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Call[Page[Message]]:
    """Past messages, newest first; with a `query` those that have its words, best first."""
    times = {"from": _time(since), "to": _time(until)}
    params = {"space": space, "query": query, "session": session, "author": author, **times}
    return _read(Page[Message], "/messages", params)


def message(id: str) -> Call[Message]:  # noqa: A002 - the API's name for it
    """A past message."""
    return _read(Message, f"/messages/{_quoted(id)}")


def edit_message(
    id: str,  # noqa: A002 - the API's name for it
    text: str,
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Message]:
    """Edit a message, and all that is derived from it."""
    return _change(Message, "PATCH", f"/messages/{_quoted(id)}", {"text": text}, if_version, idempotency_key)


def delete_message(id: str, *, if_version: int | None = None) -> Call[Erased]:  # noqa: A002 - the API's name for it
    """Take a message back, also from all that is derived."""
    return _change(Erased, "DELETE", f"/messages/{_quoted(id)}", None, if_version, None, idempotent=False)


def turn(id: str) -> Call[Turn]:  # noqa: A002 - the API's name for it
    """A turn."""
    return _read(Turn, f"/turns/{_quoted(id)}")


def sessions(space: str, *, since: datetime | None = None, until: datetime | None = None) -> Call[Page[Session]]:
    """The sessions of a space, the latest first: those that went on since then, and had begun before."""
    return _read(Page[Session], "/sessions", {"space": space, "from": _time(since), "to": _time(until)})


def session(id: str, *, space: str | None = None) -> Call[Session]:  # noqa: A002 - the API's name for it
    """A session with its conversations, by our id, or by the platform's name and its `space`."""
    return _read(Session, f"/sessions/{_quoted(id)}", {"space": space})


def recent(id: str, *, space: str | None = None) -> Call[Recent]:  # noqa: A002 - the API's name for it
    """What working memory holds of a session, oldest first."""
    return _read(Recent, f"/sessions/{_quoted(id)}/messages", {"space": space})


def end_session(id: str, *, space: str | None = None) -> Call[Ended]:  # noqa: A002 - the API's name for it
    """End a session's conversation: it will be summarised."""
    return Call(Ended, "POST", f"/sessions/{_quoted(id)}/end", params={"space": space}, repeatable=True)


def delete_session(id: str, *, space: str | None = None) -> Call[Erased]:  # noqa: A002 - the API's name for it
    """Take back all that was said in a session."""
    return Call(Erased, "DELETE", f"/sessions/{_quoted(id)}", params={"space": space})


def soul(space: str) -> Call[Page[SoulBlock]]:
    """The soul blocks of a space, in their order, inactive ones too."""
    return _read(Page[SoulBlock], "/soul", {"space": space})


def add_soul_block(
    space: str,
    name: str,
    text: str,
    *,
    position: int | None = None,
    active: bool | None = None,
    idempotency_key: str | None = None,
) -> Call[SoulBlock]:
    """Give an agent another piece of identity."""
    body = {"space": space, "name": name, "text": text, "position": position, "active": active}
    return _write(SoulBlock, "POST", "/soul", body, idempotency_key)


def soul_block(id: str) -> Call[SoulBlock]:  # noqa: A002 - the API's name for it
    """A soul block."""
    return _read(SoulBlock, f"/soul/{_quoted(id)}")


def soul_block_versions(id: str) -> Call[Page[SoulBlock]]:  # noqa: A002 - the API's name for it
    """The versions of a soul block, newest first."""
    return _read(Page[SoulBlock], f"/soul/{_quoted(id)}/versions", {})


def order_soul(space: str, ids: Sequence[str], *, idempotency_key: str | None = None) -> Call[Page[SoulBlock]]:
    """Put the soul blocks of a space in an order that names each of them once."""
    return _write(Page[SoulBlock], "POST", "/soul/order", {"space": space, "ids": ids}, idempotency_key)


def restore_soul_block(
    id: str,  # noqa: A002 - the API's name for it
    version: int,
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[SoulBlock]:
    """Go back to an earlier version of a soul block."""
    path = f"/soul/{_quoted(id)}/restore"
    return _change(SoulBlock, "POST", path, {"version": version}, if_version, idempotency_key)


def edit_soul_block(
    id: str,  # noqa: A002 - the API's name for it
    changes: Json,
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[SoulBlock]:
    """Edit, activate or deactivate a soul block."""
    return _change(SoulBlock, "PATCH", f"/soul/{_quoted(id)}", changes, if_version, idempotency_key)


def erase_soul_block(id: str, *, if_version: int | None = None) -> Call[Erased]:  # noqa: A002 - the API's name
    """Erase a soul block for good, all versions."""
    return _change(Erased, "DELETE", f"/soul/{_quoted(id)}", None, if_version, None, idempotent=False)


def spaces() -> Call[Page[Space]]:
    """The spaces that the key reaches, by name."""
    return _read(Page[Space], "/spaces", {})


def space(name: str) -> Call[Space]:
    """What is in a space."""
    return _read(Space, f"/spaces/{_quoted(name)}")


def profile(space: str, *, limit: int | None = None, scopes: Sequence[str] | None = None) -> Call[Profile]:
    """Who this is, by category; `text` is ready for a system prompt."""
    return _read(Profile, f"/spaces/{_quoted(space)}/profile", {"limit": limit, "scopes": scopes})


def view(
    space: str, *, language: Literal["en", "it", "cs"] | None = None, standing: str | None = None
) -> Call[Page[Viewed]]:
    """The memories of a space in plain words, for the person whose they are, newest first."""
    return _read(Page[Viewed], f"/spaces/{_quoted(space)}/memories/view", {"language": language, "standing": standing})


def consolidate(space: str, *, dry_run: bool | None = None) -> Call[Consolidated]:
    """Merge what is said twice, supersede what no longer holds, archive what has faded."""
    return Call(Consolidated, "POST", f"/spaces/{_quoted(space)}/consolidate", body={"dry_run": dry_run})


def history_settings() -> Call[HistorySettings]:
    """How long the tenant's history is kept, and what the last purge did."""
    return _read(HistorySettings, "/history/settings")


def set_history_days(days: int | None) -> Call[HistorySettings]:
    """Keep the tenant's history for so many days; None for the service's default."""
    body = {"days": days}
    return Call(HistorySettings, "PUT", "/history/settings", body=body, repeatable=True, keep_nulls=True)


def issue_token(space: str, role: Literal["reader", "writer"], *, minutes: int | None = None) -> Call[Token]:
    """A short-lived key that reaches one space alone, for a person's own page."""
    return Call(Token, "POST", "/tokens", body={"space": space, "role": role, "minutes": minutes})


def current_key() -> Call[Key]:
    """What the key of this client may do, where, and until when."""
    return _read(Key, "/tokens/current")


def assemblies(space: str) -> Call[Page[AssemblySummary]]:
    """The log of assemblies of a space, newest first."""
    return _read(Page[AssemblySummary], "/assemblies", {"space": space})


def assembly(id: str) -> Call[LoggedAssembly]:  # noqa: A002 - the API's name for it
    """An assembly of the log: its request, its prompt and why it is so."""
    return _read(LoggedAssembly, f"/assemblies/{_quoted(id)}")


def replay(id: str) -> Call[Replayed]:  # noqa: A002 - the API's name for it
    """Render an assembly of the log again, and compare."""
    return Call(Replayed, "POST", f"/assemblies/{_quoted(id)}/replay", repeatable=True)


def job(id: str) -> Call[Job]:  # noqa: A002 - the API's name for it
    """A job."""
    return _read(Job, f"/jobs/{_quoted(id)}")


def jobs(
    *, space: str | None = None, state: str | None = None, subject: Sequence[str] | None = None
) -> Call[Page[Job]]:
    """The work on what was said, newest first; of some turns and conversations by their ids."""
    return _read(Page[Job], "/jobs", {"space": space, "state": state, "subject": subject})


def retry_job(id: str) -> Call[Job]:  # noqa: A002 - the API's name for it
    """Have a job that failed tried again."""
    return Call(Job, "POST", f"/jobs/{_quoted(id)}/retry")


def _otherwise(fallback: str | None) -> Callable[[RicordoError], Assembly] | None:
    if fallback is None:
        return None
    return lambda error: Assembly(prompt=fallback, degraded=["service"], failure=str(error))


def _read(model: type[Any], path: str, params: Json | None = None) -> Call[Any]:
    return Call(model, "GET", path, params=params, repeatable=True)


def _write(model: type[Any], method: str, path: str, body: Json | None, key: str | None) -> Call[Any]:
    headers = None if key is None else {"Idempotency-Key": key}
    return Call(model, method, path, body=body, headers=headers, idempotent=True)


def _change(
    model: type[Any],
    method: str,
    path: str,
    changes: Json | None,
    if_version: int | None,
    key: str | None,
    *,
    idempotent: bool = True,
) -> Call[Any]:
    headers = {} if if_version is None else {"If-Match": f'"{if_version}"'}
    if key is not None:
        headers["Idempotency-Key"] = key
    return Call(model, method, path, body=changes, headers=headers, idempotent=idempotent, keep_nulls=True)


def _item(entry_id: str) -> str:
    """The path of an entry, whose tier is the start of its id."""
    tier = _TIER_OF.get(entry_id.partition("_")[0])
    if tier is None:
        raise ValueError(f"{entry_id!r} is no id of a memory (mem_…), an episode (epi_…) or a procedure (pro_…)")
    return f"/{tier}/{_quoted(entry_id)}"


def _quoted(part: str) -> str:
    return quote(part, safe="")


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
