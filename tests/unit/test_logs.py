"""What goes wrong beside the requests is logged, and quotes nothing."""

import asyncio
import gc
import json

from app.logs import log_failures_of
from tests.logged import logged


async def test_a_task_that_nobody_waits_for_is_logged_without_its_message():
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()

    async def fail():
        raise KeyError("narwhal")

    with logged() as log:
        log_failures_of(loop)
        try:
            asyncio.create_task(fail())  # noqa: RUF006 - nobody keeps it
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            gc.collect()
        finally:
            loop.set_exception_handler(before)
    told = json.loads(log.getvalue())
    assert (told["event"], told["exception"][0]["type"]) == ("something failed beside", "KeyError")
    assert "narwhal" not in log.getvalue()
