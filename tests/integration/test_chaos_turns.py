"""`make chaos-turns` in small: one kill between each pair of named commits."""

import pytest

from loadtests.chaos import POINTS, run


@pytest.mark.slow
def test_what_was_acknowledged_is_there_once_whatever_is_killed(tmp_path):
    outcome = run(tmp_path, turns=60, kills=len(POINTS), progress=lambda _: None)
    assert sum(outcome.kills.values()) == len(POINTS)
    assert {target for target, _ in outcome.kills} == {"service", "worker", "database"}
