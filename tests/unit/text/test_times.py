"""Expressions of time in a question."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.times import MAX_CHARS, Period, period_of

WEDNESDAY = datetime(2026, 11, 25, 15, 30, tzinfo=UTC)


def days(text: str, moment: datetime = WEDNESDAY) -> tuple[str, str] | None:
    """First and last day of what a question speaks of."""
    found = period_of(text, moment)
    return found and (str(found.since.date()), str((found.until - timedelta(days=1)).date()))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did we say about the boat yesterday?", "2026-11-24", "2026-11-24"),
        ("what happened the day before yesterday", "2026-11-23", "2026-11-23"),
        ("What did we say about the boat last week?", "2026-11-16", "2026-11-22"),
        ("this week", "2026-11-23", "2026-11-25"),
        ("3 days ago", "2026-11-22", "2026-11-22"),
        ("What did I tell you two weeks ago?", "2026-11-08", "2026-11-14"),
        ("in the last three months", "2026-08-25", "2026-11-25"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("in May", "2026-05-01", "2026-05-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("on May 5, 2023", "2023-05-05", "2023-05-05"),
        ("on the 5th of June", "2026-06-05", "2026-06-05"),
        ("2023-05-05", "2023-05-05", "2023-05-05"),
        ("last Monday", "2026-11-23", "2026-11-23"),
        ("on Wednesday", "2026-11-18", "2026-11-18"),
        ("over the weekend", "2026-11-21", "2026-11-22"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("in the winter of 2021", "2021-12-01", "2022-02-28"),
        ("in 2022", "2022-01-01", "2022-12-31"),
    ],
)
def test_english(text, first, last):
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Cosa ho detto ieri?", "2026-11-24", "2026-11-24"),
        ("tre giorni fa", "2026-11-22", "2026-11-22"),
        ("Di cosa abbiamo parlato la settimana scorsa?", "2026-11-16", "2026-11-22"),
        ("nella scorsa settimana", "2026-11-16", "2026-11-22"),
        ("negli ultimi due mesi", "2026-09-25", "2026-11-25"),
        ("a maggio 2023", "2023-05-01", "2023-05-31"),
        ("il 5 maggio 2023", "2023-05-05", "2023-05-05"),
        ("lunedì scorso", "2026-11-23", "2026-11-23"),
        ("nel 2022", "2022-01-01", "2022-12-31"),
        ("quest'anno", "2026-01-01", "2026-11-25"),
        ("l'estate scorsa", "2026-06-01", "2026-08-31"),
    ],
)
def test_italian(text, first, last):
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Co jsem říkal včera?", "2026-11-24", "2026-11-24"),
        ("před třemi dny", "2026-11-22", "2026-11-22"),
        ("O čem jsme mluvili minulý týden?", "2026-11-16", "2026-11-22"),
        ("minuly tyden", "2026-11-16", "2026-11-22"),
        ("před týdnem", "2026-11-15", "2026-11-21"),
        ("v květnu 2023", "2023-05-01", "2023-05-31"),
        ("5. května 2023", "2023-05-05", "2023-05-05"),
        ("5. 5. 2023", "2023-05-05", "2023-05-05"),
        ("ve středu", "2026-11-18", "2026-11-18"),
        ("v roce 2021", "2021-01-01", "2021-12-31"),
        ("loni", "2025-01-01", "2025-12-31"),
    ],
)
def test_czech(text, first, last):
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I ask something?",
        "march on",
        "on 31 June",
        "a million years ago",
        "Where do I live?",
        "page 2023a",
        "\0\ud800",
    ],
)
def test_what_speaks_of_no_time(text):
    assert period_of(text, WEDNESDAY) is None


def test_the_longest_expression_counts():
    assert days("Today I read about May 2023") == ("2023-05-01", "2023-05-31")


def test_days_are_those_of_utc():
    late = datetime(2026, 11, 25, 23, 30, tzinfo=timezone(timedelta(hours=-3)))
    assert days("yesterday", late) == ("2026-11-25", "2026-11-25")


def test_a_period_ends_after_it_begins():
    with pytest.raises(ValueError, match="end after"):
        Period(WEDNESDAY, WEDNESDAY)


PIECES = """last this in on ago yesterday week weeks month years 3 999 31 2023 May June Monday fa giorni scorso
před dny"""


@given(
    text=st.lists(st.sampled_from(PIECES.split()), max_size=8).map(" ".join),
    day=st.dates(date(1, 1, 1), date(9999, 12, 31)),
)
def test_whatever_is_asked_gives_a_period_or_none(text, day):
    period_of(text, datetime(day.year, day.month, day.day, 12, tzinfo=UTC))


def test_a_huge_text_is_read_up_to_a_bound():
    assert period_of("x " * MAX_CHARS + "yesterday", WEDNESDAY) is None
