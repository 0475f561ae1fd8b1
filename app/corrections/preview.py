"""What a correction would change in what an assembly brings up. Pure."""

from dataclasses import replace

from app.assembly.log import candidate_from
from app.assembly.records import Notice, Retrieved
from app.corrections.records import Correction
from app.domain.entries import Status


def amended(retrieved: Retrieved, correction: Correction) -> Retrieved:
    """What would be brought up once a correction were made: what it says, without what gave way, and its notice."""
    touched = {entry.id for entry in (*correction.before, *correction.after)}
    stay = [candidate for candidate in retrieved.candidates if candidate.id not in touched]
    new = [candidate_from(entry) for entry in correction.after if entry.status is Status.ACTIVE]
    said = [replace(one, cosine_similarity=1.0, is_preference=one.may_be_preference) for one in new]
    told = (*retrieved.notices, Notice(correction.id, correction.told))
    return replace(retrieved, candidates=(*stay, *said), notices=told)
