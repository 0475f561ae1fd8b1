"""The application: routers, error handlers, lifespan."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from app.api import completions, health
from app.api.authentication import Authentication
from app.api.errors import on_http_error, on_invalid_request, on_ricordo_error
from app.api.limits import BodyLimit
from app.api.observed import Observed
from app.api.openapi import DESCRIPTION, TAGS, VERSION, Api
from app.api.v1 import (
    assemblies,
    context,
    corrections,
    episodes,
    forgetting,
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
from app.inspector.door import inspector_routes
from app.logs import configure_logging
from app.mcp_server.door import PATH as MCP_PATH
from app.mcp_server.door import HttpDoor
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
    corrections,
    forgetting,
    jobs,
)


API_PATH = "/api/v1"


def create_app(runtime: Runtime | None = None) -> FastAPI:
    """The service over a runtime; without one it opens its own from the environment (uvicorn --factory)."""
    if runtime is None:
        configure_logging()  # otherwise whoever opened the runtime chose the level
    models_door = HttpDoor(lambda: app, API_PATH, VERSION)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.runtime = runtime or await stack.enter_async_context(open_runtime(Settings()))
            await stack.enter_async_context(models_door.running())
            yield

    app = Api(
        title="Ricordo",
        summary="Memory as a service: one call before each model call returns the prompt that makes an agent remember.",
        version=VERSION,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        lifespan=lifespan,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        # Its own would quote exceptions, and texts with them; app/api/observed.py has ours.
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    for module in _RESOURCES:
        app.include_router(module.router, prefix=API_PATH)
    app.include_router(health.router)
    app.include_router(completions.router)
    app.router.routes.append(Route(MCP_PATH, models_door, methods=["POST"]))
    app.router.routes.extend(inspector_routes())
    app.add_exception_handler(RicordoError, on_ricordo_error)
    app.add_exception_handler(RequestValidationError, on_invalid_request)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_middleware(Authentication)
    app.add_middleware(BodyLimit)
    app.add_middleware(Observed)
    return app
