"""What is logged while a block runs: by us, and by the libraries at every level."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog

from app.logs import configure_logging


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """Everything, as it comes."""
    log = io.StringIO()
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(file=log), cache_logger_on_first_use=False)
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    with pytest.MonkeyPatch.context() as patched:
        for module in ("observed", "errors"):
            patched.setattr(f"app.api.{module}._log", structlog.get_logger())
        try:
            yield log
        finally:
            logging.getLogger().removeHandler(handler)
            configure_logging()
