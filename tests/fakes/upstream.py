"""A model server on the loopback that speaks OpenAI's protocol, and can misbehave."""

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


def chunk(delta, index=0, finish=None) -> bytes:
    """One event of a stream."""
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    body = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def completion(*messages) -> dict:
    """A whole answer with one choice for each message."""
    choices = [
        {"index": index, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
        for index, message in enumerate(messages)
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


class ModelServer:
    """What it was asked, and what it answers."""

    def __init__(self) -> None:
        self.asked: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.messages = [{"content": "How nice!"}]
        self.events = [
            chunk({"role": "assistant", "content": ""}),
            chunk({"content": "How "}),
            chunk({"content": "nice!"}),
        ]
        self.refusal: Response | None = None
        self.hangs_after: int | None = None
        self.breaks_after: int | None = None
        self.thinks = False
        self.cancelled = asyncio.Event()
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        self.asked.append(json.loads(await request.body()))
        if self.refusal is not None:
            return self.refusal
        if self.thinks:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            self.cancelled.set()
        if self.asked[-1].get("stream"):
            return StreamingResponse(self._stream(), media_type="text/event-stream")
        return JSONResponse(completion(*self.messages))

    async def _stream(self) -> AsyncIterator[bytes]:
        try:
            for position, event in enumerate(self.events):
                if position == self.breaks_after:
                    raise ConnectionResetError
                if position == self.hangs_after:
                    await asyncio.Event().wait()
                yield event[:7]  # cut anywhere
                await asyncio.sleep(0)
                yield event[7:]
            yield b"data: [DONE]\n\n"
        finally:
            self.cancelled.set()
