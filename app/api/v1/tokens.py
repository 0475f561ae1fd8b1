"""Tokens: keys of one space that expire soon, such as for a person's own page."""

from fastapi import APIRouter, Response

from app.api.deps import CallerDep, RuntimeDep
from app.api.replies import json_response
from app.schemas.common import wire_time
from app.schemas.tokens import KeyReply, TokenBody, TokenReply

router = APIRouter(prefix="/tokens", tags=["tokens"])


@router.post("", status_code=201, summary="Make a short-lived token of one space", response_model=TokenReply)
async def create_token(body: TokenBody, runtime: RuntimeDep, caller: CallerDep) -> Response:
    """It may do no more than the key that makes it, and expires with it at the latest."""
    wanted = caller.token(body.space, body.to_role, body.minutes * 60)
    issued = await runtime.keys.issue(caller.tenant_id, wanted)
    return json_response(
        {
            "token": issued.key,
            "space": body.space,
            "role": body.role,
            "expires_at": issued.expires_at and wire_time(issued.expires_at),
        },
        201,
    )


@router.get("/current", summary="What the key that calls may do", response_model=KeyReply)
async def read_current_key(caller: CallerDep) -> Response:
    """Its role, the spaces that it is limited to, and when it expires; of keys and of tokens."""
    return json_response(
        {
            "role": caller.role.label,
            "spaces": None if caller.spaces is None else sorted(caller.spaces),
            "expires_at": caller.expires_at and wire_time(caller.expires_at),
        }
    )
