"""The application: routers, error handlers, lifespan."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.api import health
from app.api.authentication import Authentication
from app.api.errors import on_crash, on_http_error, on_invalid_request, on_ricordo_error
from app.api.limits import BodyLimit
from app.api.openapi import DESCRIPTION, TAGS, Api
from app.api.v1 import (
    assemblies,
    context,
    episodes,
    history,
    jobs,
    live,
    memories,
    messages,
    procedures,
    records,
    search,
    sessions,
    soul,
    spaces,
    tokens,
    turns,
)
from app.domain.errors import RicordoError
from app.logs import configure_logging
from app.runtime import Runtime, open_runtime
from app.settings import Settings

_RESOURCES = (
    context,
    live,
    turns,
    messages,
    sessions,
    history,
    memories,
    episodes,
    procedures,
    records,
    soul,
    search,
    spaces,
    tokens,
    assemblies,
    jobs,
)


def create_app(runtime: Runtime | None = None) -> FastAPI:
    """The service over a runtime; without one it opens its own from the environment (uvicorn --factory)."""
    configure_logging()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if runtime is not None:
            app.state.runtime = runtime
            yield
            return
        async with open_runtime(Settings()) as opened:
            app.state.runtime = opened
            yield

    app = Api(
        title="Ricordo",
        summary="Memory as a service: one call before each model call returns the prompt that makes an agent remember.",
        version="0.1.0",
        description=DESCRIPTION,
        openapi_tags=TAGS,
        lifespan=lifespan,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
    )
    for module in _RESOURCES:
        app.include_router(module.router, prefix="/api/v1")
    app.include_router(health.router)
    app.add_exception_handler(RicordoError, on_ricordo_error)
    app.add_exception_handler(RequestValidationError, on_invalid_request)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_crash)
    app.add_middleware(Authentication)
    app.add_middleware(BodyLimit)
    return app
