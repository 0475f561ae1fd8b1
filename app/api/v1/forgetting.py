"""Erasing for good, and receipts."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.api.deps import CallerDep, ReceiptId, RuntimeDep
from app.api.replies import json_response
from app.schemas.common import SpaceName
from app.schemas.forgetting import (
    DryRunQuery,
    ForgetBody,
    ForgetReply,
    ReceiptReply,
    VerifyReply,
    forgotten_json,
    receipt_json,
    verified_json,
)

router = APIRouter(tags=["forgetting"])


@router.post("/forget", summary="Erase what is named exactly, with every trace", response_model=ForgetReply)
async def forget(body: ForgetBody, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """Nothing is erased by likeness: a text must be given exactly, and if several entries have it, they are listed."""
    await runtime.recorder.settled()
    selector = body.to_domain(caller.space(body.space))
    done = await runtime.forgetting.forget(caller, body.space, selector, dry_run=body.dry_run)
    return json_response(forgotten_json(done, dry_run=body.dry_run))


@router.delete("/spaces/{space}", summary="Erase a space and all that it holds", response_model=ReceiptReply)
async def delete_space(
    space: Annotated[SpaceName, Path()],
    query: Annotated[DryRunQuery, Query()],
    runtime: RuntimeDep,
    caller: CallerDep,
) -> Response:
    """For administrators. What was erased cannot be imported again."""
    await runtime.recorder.settled()
    receipt = await runtime.forgetting.forget_space(caller, space, dry_run=query.dry_run)
    return json_response(receipt_json(receipt, dry_run=query.dry_run))


@router.get("/receipts/{id}", summary="Read the receipt of an erasure", response_model=ReceiptReply)
async def read_receipt(receipt_id: ReceiptId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return json_response(receipt_json(await runtime.forgetting.receipt(caller, receipt_id)))


@router.get("/receipts/{id}/verify", summary="Check that what was erased is gone", response_model=VerifyReply)
async def verify_receipt(receipt_id: ReceiptId, runtime: RuntimeDep, caller: CallerDep) -> Response:
    return json_response(verified_json(await runtime.forgetting.verify(caller, receipt_id)))
