"""Records: structured state that outranks memories."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.deps import CallerDep, Idempotency, IfMatch, RecordId, RuntimeDep
from app.api.replies import json_response, page_response, versioned_response
from app.records.ports import RecordListing
from app.schemas.common import Page, VersionsQuery
from app.schemas.entries import ErasedReply
from app.schemas.records import RecordBody, RecordPatch, RecordQuery, RecordReply, record_json

router = APIRouter(prefix="/records", tags=["records"])


@router.post("", status_code=201, summary="Create a record", response_model=RecordReply)
async def create_record(body: RecordBody, runtime: RuntimeDep, caller: CallerDep, idempotency: Idempotency) -> Response:
    """With the id of a turn, what was said in it stays out of the personal memory of those concerned."""
    source = None if body.turn is None else body.turn.to_domain()
    record = await runtime.records.create(caller, body.space, body.to_draft(), source=source, idempotency=idempotency)
    return versioned_response(record_json(record), record.version, location=f"/api/v1/records/{record.id}")


@router.get("", summary="List the current records of a space, newest first", response_model=Page[RecordReply])
async def list_records(query: Annotated[RecordQuery, Query()], runtime: RuntimeDep, caller: CallerDep) -> Response:
    listing = RecordListing(
        space=caller.space(query.space),
        limit=query.limit + 1,
        before=query.cursor,
        kind=query.kind,
        subject=query.subject,
        status=query.status,
    )
    return page_response(await runtime.records.listing(listing), query.limit, record_json, lambda r: r.id.uuid)


@router.get("/{id}", summary="Read a record", response_model=RecordReply)
async def read_record(record_id: RecordId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    record = await runtime.records.get(caller, record_id)
    return versioned_response(record_json(record), record.version)


@router.patch("/{id}", summary="Change or end a record", response_model=RecordReply)
async def change_record(
    body: RecordPatch,
    record_id: RecordId,
    *,
    runtime: RuntimeDep,
    caller: CallerDep,
    if_version: IfMatch,
    idempotency: Idempotency,
) -> Response:
    """Writes a new version. Fields that are absent stay as they are."""
    record = await runtime.records.change(
        caller,
        record_id,
        body.apply,
        source=None if body.turn is None else body.turn.to_domain(),
        if_version=if_version,
        idempotency=idempotency,
    )
    return versioned_response(record_json(record), record.version)


@router.delete("/{id}", summary="Erase a record for good, all versions", response_model=ErasedReply)
async def delete_record(record_id: RecordId, runtime: RuntimeDep, caller: CallerDep, if_version: IfMatch) -> Response:
    versions = await runtime.records.delete(caller, record_id, if_version=if_version)
    return json_response({"id": str(record_id), "removed": {"versions": versions}})


@router.get("/{id}/versions", summary="List the versions of a record, newest first", response_model=Page[RecordReply])
async def list_record_versions(
    query: Annotated[VersionsQuery, Query()], record_id: RecordId, runtime: RuntimeDep, caller: CallerDep
) -> Response:
    found = await runtime.records.history(caller, record_id, limit=query.limit + 1, before=query.cursor)
    return page_response(found, query.limit, record_json, lambda record: record.version)
