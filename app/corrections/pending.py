"""What was wanted, kept in JSON while a question is open. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.corrections.records import Option, Origin, Wanted
from app.domain.entries import Author, Cardinality, Category, Claim
from app.domain.evidence import MessageVersion
from app.domain.ids import parse_id
from app.domain.spaces import SpaceKey


def wanted_json(wanted: Wanted) -> dict[str, Any]:
    """As it is kept; the space is that of the row."""
    claim, actor = wanted.claim, wanted.actor
    return {
        "scopes": list(wanted.scopes),
        "said": wanted.said,
        "entry_id": wanted.entry_id and str(wanted.entry_id),
        "wrong": wanted.wrong,
        "text": wanted.text,
        "claim": claim and [claim.subject, claim.attribute, claim.value, claim.cardinality.value],
        "scope": wanted.scope,
        "lasting": wanted.lasting,
        "category": wanted.category and wanted.category.value,
        "valid_from": wanted.valid_from and wanted.valid_from.isoformat(),
        "actor": actor and [actor.name, actor.platform, actor.id],
        "session": wanted.session,
        "source": wanted.source,
        "origin": wanted.origin and _origin_json(wanted.origin),
    }


def wanted_from(kept: Mapping[str, Any], space: SpaceKey) -> Wanted:
    """What was wanted."""
    claim, actor, since = kept["claim"], kept["actor"], kept["valid_from"]
    return Wanted(
        space=space,
        scopes=tuple(kept["scopes"]),
        said=kept["said"],
        entry_id=kept["entry_id"] and parse_id(kept["entry_id"]),
        wrong=kept["wrong"],
        text=kept["text"],
        claim=claim and Claim(claim[0], claim[1], claim[2], Cardinality(claim[3])),
        scope=kept["scope"],
        lasting=kept["lasting"],
        category=kept["category"] and Category(kept["category"]),
        valid_from=since and datetime.fromisoformat(since),
        actor=actor and Author(*actor),
        session=kept["session"],
        source=kept["source"],
        origin=origin_from(kept["origin"]) if kept.get("origin") else None,
    )


def _origin_json(origin: Origin) -> dict[str, Any]:
    return {
        "turn": str(origin.turn),
        "message": str(origin.message.message),
        "version": origin.message.version,
        "key": origin.key.hex(),
        "said_at": origin.said_at.isoformat(),
    }


def origin_from(kept: Mapping[str, Any]) -> Origin:
    """Where it was said."""
    message = MessageVersion(UUID(kept["message"]), kept["version"])
    return Origin(parse_id(kept["turn"]), message, bytes.fromhex(kept["key"]), datetime.fromisoformat(kept["said_at"]))


def chosen(wanted: Wanted, option: Option) -> Wanted:
    """What is wanted once a question is answered."""
    answered = replace(wanted, scope=option.scope)
    if option.whole or option.erase is not None:
        return replace(wanted, erase=option.erase or (), whole=option.whole)
    if option.entry_id is None:
        return answered
    return replace(answered, entry_id=option.entry_id, wrong=None, text=option.text)
