"""The tools, as a model reads them: names, descriptions, arguments; results are short lines of text."""

from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import Field

from app.mcp_server.calls import Asking, call, space_of

_LINE_CHARS = 400
_HITS = 5
_HITS_LIMIT = 20

Space = Annotated[
    str | None,
    Field(description="Whose memory: user:<id>, viewer:<platform>:<id>, agent:<name>. Leave out for the usual one."),
]
Scopes = Annotated[
    list[str] | None,
    Field(description="Where this conversation is, such as character:mira or chat:kitchen, if it is anywhere special."),
]
Hits = Annotated[int, Field(ge=1, le=_HITS_LIMIT, description="How many at most.")]
Moment = Annotated[datetime | None, Field(description="With a time zone: 2026-01-31T00:00:00Z.")]
Category = Literal[
    "output_preference",
    "personal_preference",
    "assistant_preference",
    "knowledge",
    "interest",
    "dislike",
    "relationship",
    "work",
    "goal",
    "decision",
    "project",
    "fact",
]


async def assemble_context(
    context: Asking,
    message: Annotated[str, Field(description="The person's message that you are about to answer, word for word.")],
    space: Space = None,
    session: Annotated[str | None, Field(description="The conversation's name, if its turns are posted.")] = None,
    persona: Annotated[str | None, Field(description="The space of who you are, such as agent:nonna.")] = None,
    scopes: Scopes = None,
) -> str:
    """Get everything worth knowing before answering a message.

    Who you are, the person's preferences, the facts that matter for this message, what happened lately, and which
    workflow applies. Call it once, before you answer. What the person says now outranks what you get.
    """
    body = {"space": space_of(context, space), "query": message, "scopes": scopes or []}
    optional = {"session": session, "persona": persona}
    reply = await call(context, "POST", "/context/assemble", json={**body, **_given(optional)})
    return str(reply["prompt"]) or "Nothing is remembered that matters for this message."


async def recall(
    context: Asking,
    query: Annotated[str, Field(description="What you want to know, as a question or in keywords.")],
    space: Space = None,
    scopes: Scopes = None,
    limit: Hits = _HITS,
) -> str:
    """Look up one thing about the person, such as "diet" or "where does she work?".

    Searches facts, past events and workflows by meaning and by keyword, best first. Each line ends with its id.
    """
    body = {"space": space_of(context, space), "query": query, "scopes": scopes or [], "limit": limit}
    found = (await call(context, "POST", "/search", json=body))["items"]
    return _lines([_entry_line(entry) for entry in found], "Nothing about this is remembered. Do not guess.")


async def search_conversations(
    context: Asking,
    query: Annotated[str, Field(description="What was talked about.")],
    space: Space = None,
    since: Moment = None,
    until: Moment = None,
    limit: Hits = _HITS,
) -> str:
    """Find what was said in past conversations, as when the person says "last week we talked about X".

    Gives summaries of conversations, then single messages with their time and author.
    """
    where = space_of(context, space)
    times = _given({"from": since and since.isoformat(), "to": until and until.isoformat()})
    body = {"space": where, "query": query, "tiers": ["episodes"], "tags": ["conversation"], "limit": limit, **times}
    summaries = (await call(context, "POST", "/search", json=body))["items"]
    wanted = {"space": where, "query": query, "limit": limit, **times}
    messages = (await call(context, "GET", "/messages", params=wanted))["items"]
    said = [f"- {_day(m['at'])} {_speaker(m)}: {_short(m['text'])} ({m['id']})" for m in messages]
    return _lines([*map(_entry_line, summaries), *said], "No past conversation about this is known.")


async def remember(
    context: Asking,
    text: Annotated[
        str, Field(description='One fact in a full sentence, as the person would say it: "I live in Turin."')
    ],
    space: Space = None,
    category: Annotated[Category | None, Field(description="What kind of fact it is, if that is clear.")] = None,
    importance: Annotated[
        float | None, Field(ge=0, le=1, description="0 to 1. Preferences of 0.7 or more are in every prompt.")
    ] = None,
    scope: Annotated[
        str | None, Field(description="Where alone it holds, such as character:mira. Leave out: everywhere.")
    ] = None,
) -> str:
    """Keep a lasting fact about the person, when they ask for it or plainly state one.

    A fact that contradicts an earlier one replaces it. Say that something is remembered only after this succeeded.
    """
    body = {"space": space_of(context, space), "text": text}
    optional = {"category": category, "importance": importance, "scope": scope}
    written = await call(context, "POST", "/memories", json={**body, **_given(optional)})
    if written.get("reinforced"):
        return f"That was known already ({written['id']})."
    said = [f"Remembered in {written['space']} ({written['id']})."]
    if written["superseded"]:
        said.append(f"It replaces {', '.join(written['superseded'])}.")
    if written["unresolved_with"]:
        said.append(f"It contradicts {', '.join(written['unresolved_with'])}: ask which is true.")
    return " ".join(said)


async def correct(
    context: Asking,
    said: Annotated[str, Field(description='What the person said, word for word: "Mira\'s eyes are green, not blue."')],
    space: Space = None,
    scopes: Scopes = None,
) -> str:
    """Put right what is remembered wrongly, when the person says so.

    Answers with what was saved and what it replaced, or with a question: ask the person, then call answer_question.
    """
    body = {"space": space_of(context, space), "said": said, "scopes": scopes or []}
    return _told(await call(context, "POST", "/corrections", json=body))


async def answer_question(
    context: Asking,
    id: Annotated[str, Field(description="The id that came with the question.")],  # noqa: A002 - the API's name for it
    choice: Annotated[str, Field(description="The key of the option that the person chose.")],
) -> str:
    """Answer the question that a correction led to, once the person has chosen one of its options.

    Never choose for the person.
    """
    return _told(await call(context, "POST", f"/clarifications/{quote(id, safe='')}", json={"choice": choice}))


async def open_questions(context: Asking, space: Space = None, limit: Hits = _HITS) -> str:
    """List the questions about memory that nobody has answered yet, with their options.

    Ask the person one of them when it fits, then call answer_question.
    """
    params = {"space": space_of(context, space), "open": True, "limit": limit}
    found = (await call(context, "GET", "/corrections", params=params))["items"]
    return _lines([_told(one) for one in found], "No question is open.")


async def read_records(
    context: Asking,
    space: Space = None,
    kind: Annotated[str | None, Field(description="Only of this kind: request, relation, note, channel, joke.")] = None,
    status: Annotated[
        Literal["open", "done", "cancelled"] | None, Field(description="Only those that stand so. Leave out: all.")
    ] = "open",
    limit: Hits = _HITS,
) -> str:
    """Read the records of a space: requests that are open, relations, notes, and other state that was set outright.

    Records outrank memories. Each line ends with the id and the version.
    """
    wanted = _given({"kind": kind, "status": status})
    params = {"space": space_of(context, space), "limit": limit, **wanted}
    found = (await call(context, "GET", "/records", params=params))["items"]
    return _lines([_record_line(record) for record in found], "There is no such record.")


async def write_record(
    context: Asking,
    kind: Annotated[str, Field(description="request, relation, note, channel or joke.")],
    payload: Annotated[
        dict[str, Any], Field(description='The fields of its kind: a note has {"text": …}, a request {"what": …}.')
    ],
    space: Space = None,
    subjects: Annotated[list[str] | None, Field(description="The spaces of those it is about.")] = None,
    expires_at: Moment = None,
) -> str:
    """Set down a piece of state outright, such as a request that somebody made. It outranks what is remembered.

    What a person says of themselves is for remember.
    """
    optional = _given({"subjects": subjects, "expires_at": expires_at and expires_at.isoformat()})
    body = {"space": space_of(context, space), "kind": kind, "payload": payload, **optional}
    written = await call(context, "POST", "/records", json=body)
    return f"Recorded: {_record_line(written)[2:]}"


async def change_record(
    context: Asking,
    id: Annotated[str, Field(description="The record's id, as read_records shows it.")],  # noqa: A002 - the API's name
    version: Annotated[int, Field(ge=1, description="The version that you read: the change fails if it is another.")],
    status: Annotated[
        Literal["open", "done", "cancelled"] | None, Field(description="How it stands from now on.")
    ] = None,
    payload: Annotated[dict[str, Any] | None, Field(description="All its fields, if they change.")] = None,
) -> str:
    """Change a record, or end it: a request that was fulfilled is done.

    Fails if somebody changed it since you read it: then read it again.
    """
    changes = _given({"status": status, "payload": payload})
    headers = {"If-Match": f'"{version}"'}
    changed = await call(context, "PATCH", f"/records/{quote(id, safe='')}", json=changes, headers=headers)
    return f"Changed: {_record_line(changed)[2:]}"


async def forget(
    context: Asking,
    ids: Annotated[list[str], Field(description="Ids of what to erase, as the other tools show them.", min_length=1)],
    space: Space = None,
) -> str:
    """Erase memories for good, with every trace. Only when the person asks for it, and for exactly what they named."""
    reply = await call(context, "POST", "/forget", json={"space": space_of(context, space), "ids": ids})
    return f"Erased for good: {reply['entries']}."


TOOLS = (
    assemble_context,
    recall,
    search_conversations,
    remember,
    correct,
    open_questions,
    answer_question,
    read_records,
    write_record,
    change_record,
    forget,
)
READING = (assemble_context, recall, search_conversations, open_questions, read_records)
"""Those that change nothing."""


async def profile(context: Asking, space: str) -> str:
    """What is known of a person, whatever the question: preferences, facts, latest events."""
    body = {"space": space, "query": "", "format": "markdown", "record": False}
    reply = await call(context, "POST", "/context/assemble", json=body)
    return str(reply["prompt"])


async def soul(context: Asking, space: str) -> str:
    """Who an agent is: its active identity blocks, in their order."""
    blocks = (await call(context, "GET", "/soul", params={"space": space}))["items"]
    return "\n\n".join(f"# {block['name']}\n{block['text']}" for block in blocks if block["active"])


def _record_line(record: dict[str, Any]) -> str:
    until = f" until {_day(record['expires_at'])}" if record["expires_at"] else ""
    return f"- {_short(record['text'])} [{record['status']}{until}] ({record['id']}, version {record['version']})"


def _told(correction: dict[str, Any]) -> str:
    options = [f"- {option['key']}: {option['label']}" for option in correction["options"]]
    return "\n".join([f"{correction['told']} ({correction['id']})", *options])


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _lines(lines: list[str], otherwise: str) -> str:
    return "\n".join(lines) or otherwise


def _entry_line(entry: dict[str, Any]) -> str:
    when = entry.get("occurred_at") or entry.get("valid_from") or entry["recorded_at"]
    text = f"when {entry['trigger']}: {entry['text']}" if entry.get("trigger") else entry["text"]
    open_conflict = " [contradicted, unresolved]" if entry["unresolved"] else ""
    return f"- {_day(when)} {_short(text)}{open_conflict} ({entry['id']})"


def _speaker(message: dict[str, Any]) -> str:
    author = message.get("author") or {}
    return str(author.get("name") or author.get("id") or message["role"])


def _day(moment: str) -> str:
    return moment[:10]


def _short(text: str) -> str:
    """On one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1]}…"
