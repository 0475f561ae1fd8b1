import pytest

from app.changing import Meter
from app.reembed.service import Progress


@pytest.mark.parametrize(
    ("progress", "seconds", "line"),
    [
        (Progress(), 0.0, "0 of 0 texts, 0 a second, estimating"),
        (Progress(total=20_000, done=5_000), 1.0, "5,000 of 20,000 texts, 0 a second, estimating"),
        (
            Progress(total=20_000, done=5_000, embedded=1_000),
            10.0,
            "5,000 of 20,000 texts, 100 a second, 2 min 30 s left",
        ),
        (Progress(total=10**6, done=0, embedded=58), 1.0, "0 of 1,000,000 texts, 58 a second, 4 h 47 min left"),
        (Progress(total=100, done=104, embedded=104), 2.0, "104 of 104 texts, 52 a second, 0 s left"),
    ],
)
def test_progress_says_how_far_how_fast_and_how_long_still(progress, seconds, line):
    assert progress.line(seconds) == line


def test_progress_is_written_now_and_then():
    lines = []
    meter = Meter(lines.append, every_s=2.0)
    for seconds in (0.0, 0.5, 1.9, 2.1, 3.0, 4.2):
        meter(Progress(total=9, done=int(seconds)), seconds)
    assert [line[0] for line in lines] == ["0", "2", "4"]
