"""Turns as they are stored, saying only what matters."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.domain.entries import Author
from app.domain.ids import IdKind, PublicId
from app.turns.records import Conversation, Message, Speaker, Turn

SPACE_ID = UUID(int=9)
START = datetime(2026, 1, 5, 10, tzinfo=UTC)


def identity(kind, number):
    return PublicId(UUID(int=number), SPACE_ID, kind)


def message(text, number=1, name="Ana", **fields):
    at = START + timedelta(minutes=number)
    return Message(
        **{
            "id": identity(IdKind.MESSAGE, number),
            "turn": identity(IdKind.TURN, 1),
            "session": identity(IdKind.SESSION, 1),
            "space": "user:ana",
            "position": number,
            "text": text,
            "role": Speaker.USER,
            "said_at": at,
            "recorded_at": at,
            "author": Author(name),
            "given_id": None,
            "mentions": (),
            "media": (),
            "event": None,
            "personal_space": None,
            "version": 1,
            "edited_at": None,
            "deleted_at": None,
            **fields,
        }
    )


def turn(*messages, before=(), space="user:ana"):
    return Turn(
        id=identity(IdKind.TURN, 1),
        space=space,
        session=identity(IdKind.SESSION, 1),
        session_name="s",
        conversation=identity(IdKind.CONVERSATION, 1),
        given_id=None,
        said_at=START,
        recorded_at=START,
        revision=1,
        messages=messages,
        before=before,
    )


def conversation():
    return Conversation(
        id=identity(IdKind.CONVERSATION, 1),
        session=identity(IdKind.SESSION, 1),
        space="user:ana",
        started_at=START,
        last_at=START + timedelta(minutes=20),
        closed_at=START + timedelta(hours=1),
        summary=None,
    )
