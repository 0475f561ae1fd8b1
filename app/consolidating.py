"""Consolidation as the operator sees it: one space now, while services go on."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime

from app.consolidation.service import ConsolidationService, Progress, Report
from app.contradictions.detect import SimilarityBand
from app.domain.spaces import SpaceKey
from app.embedding.factory import EmbedderSetupError
from app.runtime import BuildStored, ConfigurationError, build_embedder, open_database
from app.settings import Settings
from app.store.consolidation import PostgresConsolidation
from app.store.entries import Pool, PostgresEntries
from app.store.keys import find_tenant
from app.store.models import list_models
from app.store.pool import create_pool

_CONNECTIONS = 2


async def consolidate(
    settings: Settings,
    tenant: str,
    space_name: str,
    report: Callable[[Progress], None],
    *,
    dry_run: bool = False,
    build: BuildStored = build_embedder,
) -> tuple[Report, float]:
    """Consolidate a space; also how many seconds it took. It can be stopped and run again.

    Raises:
        ConfigurationError: If there is no such tenant.
        UnavailableError: If the database fails on the way.
    """
    async with open_database(settings) as url:
        tenant_id = await asyncio.to_thread(find_tenant, url, tenant)
        if tenant_id is None:
            raise ConfigurationError(f"there is no tenant {tenant}")
        async with create_pool(url, _CONNECTIONS) as pool:
            bands = await _bands(pool, settings, build)
            store = PostgresConsolidation(PostgresEntries(pool))
            service = ConsolidationService(store, bands.get, settings.archive_below)
            started = time.monotonic()
            space = SpaceKey(tenant_id, space_name)
            done = await service.run(space, datetime.now(UTC), dry_run=dry_run, report=report)  # noqa: TID251 - a door
            return done, time.monotonic() - started


async def _bands(pool: Pool, settings: Settings, build: BuildStored) -> dict[int, SimilarityBand]:
    """The similarity band of each model of the store; no model is loaded for that."""
    bands: dict[int, SimilarityBand] = {}
    for model in await list_models(pool):
        if model.kind is None:
            continue
        try:
            _, calibration = build(settings, model.kind, model.options)
        except (EmbedderSetupError, ValueError):  # without its band, texts and claims still decide
            continue
        bands[model.id] = calibration.band
    return bands
