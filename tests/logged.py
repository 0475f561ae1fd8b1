"""What is logged while a block runs: by us, and by the libraries."""

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog

from app.logs import configure_logging


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """Everything of ours, as it comes; of the libraries what a service lets through."""
    log = io.StringIO()
    configure_logging()
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(file=log), cache_logger_on_first_use=False)
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    with pytest.MonkeyPatch.context() as patched:
        for name, module in list(sys.modules.items()):
            if name.startswith("app.") and hasattr(module, "_log"):  # whose logger may be bound to another file
                patched.setattr(module, "_log", structlog.get_logger())
        try:
            yield log
        finally:
            logging.getLogger().removeHandler(handler)
            configure_logging()
