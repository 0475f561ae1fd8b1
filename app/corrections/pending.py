"""What was wanted, kept in JSON while a question is open. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.corrections.records import Option, Wanted
from app.domain.entries import Author, Cardinality, Category, Claim
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
    )


def chosen(wanted: Wanted, option: Option) -> Wanted:
    """What is wanted once a question is answered."""
    answered = replace(wanted, scope=option.scope)
    if option.entry_id is None:
        return answered
    return replace(answered, entry_id=option.entry_id, wrong=None, text=option.text)
