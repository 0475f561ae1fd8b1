"""Idempotency: a write that is sent twice under one key happens once."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The caller's key for one write, and a fingerprint of what was asked."""

    key: str
    fingerprint: bytes
