"""Episodes: what happened."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, EpisodeId, Idempotency, IfMatch, RuntimeDep
from app.api.v1.entry_replies import (
    batch_response,
    created_response,
    effect_response,
    entries_response,
    entry_response,
    erased_response,
    versions_response,
)
from app.api.v1.entry_sources import sources_response
from app.domain.entries import Tier
from app.schemas.common import Page, VersionsQuery
from app.schemas.entries import (
    BatchReply,
    EntryQuery,
    EpisodeBatch,
    EpisodeBody,
    EpisodePatch,
    EpisodeReply,
    ErasedReply,
    Rejected,
)
from app.schemas.turns import SourcesReply

router = APIRouter(prefix="/episodes", tags=["episodes"])


@router.post("", status_code=201, summary="Remember something that happened", response_model=EpisodeReply)
async def create_episode(
    body: EpisodeBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency
) -> Response:
    (effect,) = await runtime.entries.create(caller, body.space, Tier.EPISODES, [body.to_content()], idempotency)
    return created_response(effect)


@router.post("/batch", status_code=207, summary="Create up to 500 episodes", response_model=BatchReply[EpisodeReply])
async def create_episodes(
    body: EpisodeBatch, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency
) -> Response:
    """Entries that cannot be accepted are refused one by one; all others are written together."""
    contents = [fields.to_content() for fields in body.entries if not isinstance(fields, Rejected)]
    effects = await runtime.entries.create(caller, body.space, Tier.EPISODES, contents, idempotency)
    return batch_response(body.entries, effects)


@router.get("", summary="List the episodes of a space, newest first", response_model=Page[EpisodeReply])
async def list_episodes(query: Annotated[EntryQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    found = await runtime.entries.listing(query.to_listing(caller.space(query.space), Tier.EPISODES))
    return entries_response(found, query)


@router.get("/{id}", summary="Read an episode", response_model=EpisodeReply)
async def read_episode(episode_id: EpisodeId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return entry_response(await runtime.entries.get(caller, episode_id))


@router.patch("/{id}", summary="Edit an episode", response_model=EpisodeReply)
async def edit_episode(
    body: EpisodePatch,
    episode_id: EpisodeId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Writes a new version. Fields that are absent stay as they are; null clears."""
    effect = await runtime.entries.edit(caller, episode_id, body.apply, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)


@router.delete("/{id}", summary="Erase an episode for good, all versions and traces", response_model=ErasedReply)
async def delete_episode(
    episode_id: EpisodeId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch
) -> Response:
    return erased_response(await runtime.entries.delete(caller, episode_id, if_version=if_version))


@router.get(
    "/{id}/versions", summary="List the versions of an episode, newest first", response_model=Page[EpisodeReply]
)
async def list_episode_versions(
    query: Annotated[VersionsQuery, Query()], episode_id: EpisodeId, runtime: RuntimeDep, caller: CallerDep
) -> Response:
    found = await runtime.entries.history(caller, episode_id, limit=query.limit + 1, before=query.cursor)
    return versions_response(found, query)


@router.get("/{id}/sources", summary="List the messages that an episode comes of", response_model=SourcesReply)
async def list_episode_sources(episode_id: EpisodeId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return await sources_response(runtime, caller, episode_id)


@router.post("/{id}/undo", summary="Undo the last change of an episode", response_model=EpisodeReply)
async def undo_episode(
    episode_id: EpisodeId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch, idempotency: Idempotency
) -> Response:
    """Writes a new version with the content of the one before; undoing twice redoes."""
    effect = await runtime.entries.undo(caller, episode_id, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)


@router.post("/{id}/restore", summary="Bring an archived episode back", response_model=EpisodeReply)
async def restore_episode(
    episode_id: EpisodeId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch, idempotency: Idempotency
) -> Response:
    """Writes a new version that is active and confirmed now."""
    effect = await runtime.entries.restore(caller, episode_id, if_version=if_version, idempotency=idempotency)
    return effect_response(effect)
