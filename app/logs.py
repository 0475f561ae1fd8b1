"""Structured logs: one JSON object a line, never a stored text, never local variables."""

import sys

import structlog


def configure_logging() -> None:
    """Write events to standard error. Tracebacks hold code lines alone: locals would hold people's texts."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        cache_logger_on_first_use=True,
    )
