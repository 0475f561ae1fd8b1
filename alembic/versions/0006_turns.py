"""Turns: what was said, the conversations it makes, the jobs that work on it, and the queue that they wait in."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"

_HERE = Path(__file__).parent


def upgrade() -> None:
    _run("SELECT set_config('ricordo.path', current_setting('search_path'), true)")
    _run("CREATE SCHEMA queue")
    _run("SET LOCAL search_path TO queue, public")
    _run((_HERE / "0006_queue.sql").read_text(encoding="utf-8"))
    _run("SELECT set_config('search_path', current_setting('ricordo.path'), true)")
    _run((_HERE / "0006_turns.sql").read_text(encoding="utf-8"))


def _run(sql: str) -> None:
    op.get_bind().exec_driver_sql(sql, execution_options={"no_parameters": True})


def downgrade() -> None:
    raise NotImplementedError("restore a backup instead: going back would lose what was said")
