"""The service under measurement: an embedded store in a temporary folder, reached as the doors reach it."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.assembly.records import AssemblyRequest
from app.assembly.service import Assembled
from app.domain.callers import Caller
from app.domain.entries import Author, Content, Tier
from app.domain.ids import PublicId
from app.entries.search import SearchRequest
from app.runtime import Runtime, first_key, open_runtime
from app.schemas.entries import BATCH_ENTRIES
from app.settings import Settings
from evals.records import Corpus, Document, Question

SEARCH_LIMIT = 50
NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""When a question is asked whose data have no dates."""

PATIENCE_S = 60.0
"""A busy machine must not change what is found."""


class DegradedError(Exception):
    """A part of the pipeline was missing, so that the figures would say nothing."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, a caller of its own tenant, and that caller's key."""

    runtime: Runtime
    caller: Caller
    key: str = ""


@dataclass(frozen=True, slots=True)
class Space:
    """A filled space: one corpus of the data."""

    service: Service
    name: str
    documents: dict[PublicId, Document] = field(default_factory=dict)

    async def write(self, documents: Sequence[Document]) -> int:
        """Remember documents, in order, as memories; at most a batch.

        Returns:
            How many entries gave way to one of them.
        """
        contents = [content_of(document) for document in documents]
        effects = await self.service.runtime.entries.create(self.service.caller, self.name, Tier.MEMORIES, contents)
        self.documents.update((e.entry.id, document) for e, document in zip(effects, documents, strict=True))
        return len({gone for effect in effects for gone in effect.written.superseded})

    async def search(self, question: Question) -> list[Document]:
        """The best documents by relevance, without a floor."""
        request = SearchRequest(
            spaces=(self.service.caller.space(self.name),),
            query=question.text,
            as_of=question.at or NO_DATE,
            min_relevance=0.0,
            limit=SEARCH_LIMIT,
        )
        found = await self.service.runtime.search.search(request)
        _whole(found.degraded)
        return [self.documents[ranked.hit.entry.id] for ranked in found.hits]

    async def assemble(self, question: Question) -> tuple[Assembled, list[Document]]:
        """The default prompt, and the documents that are in it."""
        key = self.service.caller.space(self.name)
        request = AssemblyRequest(
            space=key,
            persona=key,
            query=question.text,
            as_of=question.at or NO_DATE,
            timeout_ms=int(PATIENCE_S * 1000),
            record=False,
        )
        assembled = await self.service.runtime.assembly.assemble(request)
        _whole(assembled.degraded)
        kept = assembled.assembly.selection.entries
        return assembled, [self.documents[selected.scored.candidate.id] for selected in kept]


def content_of(document: Document) -> Content:
    """What an agent would write of a document."""
    return Content(
        text=document.text,
        valid_from=document.at,
        author=Author(document.author) if document.author else None,
        session=document.session or None,
        context=document.context or None,
    )


def batches(corpus: Corpus) -> list[tuple[Document, ...]]:
    """The documents of a corpus in as many as one request may write."""
    return [corpus.documents[i : i + BATCH_ENTRIES] for i in range(0, len(corpus.documents), BATCH_ENTRIES)]


@asynccontextmanager
async def running(**given: object) -> AsyncIterator[Service]:
    """A service with an empty store that is gone at the end; RICORDO_EMBEDDER and the like hold.

    Args:
        given: Settings by name.
    """
    with tempfile.TemporaryDirectory(prefix="ricordo-eval-") as folder:
        settings = Settings.model_validate({"data_dir": Path(folder), "database_url": None, "api_key": None, **given})
        async with open_runtime(settings) as runtime:
            key = first_key(settings.data_dir)
            yield Service(runtime, await runtime.keys.authenticate(key), key)


def _whole(degraded: Sequence[str]) -> None:
    if degraded:
        raise DegradedError(f"missing: {', '.join(degraded)}")
