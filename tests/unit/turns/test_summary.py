"""The extractive summary: deterministic, word for word, never more than was said."""

from hypothesis import given
from hypothesis import strategies as st

from app.turns.records import Speaker
from app.turns.summary import SENTIMENTS, summarise, summary_content
from tests.turn_builders import START, conversation, message


def told(*texts, **fields):
    return summarise(conversation(), [message(text, n, **fields) for n, text in enumerate(texts, 1)])


def test_names_places_topics_and_sentiment_are_read_from_what_was_said():
    summary = told(
        "Yesterday Marta and I went to Genoa. The aquarium in Genoa was wonderful.",
        "I love the aquarium, and Marta is happy too.",
    )
    assert summary.people == ("Ana", "Marta")
    assert summary.places == ("Genoa",)
    assert summary.topics[0] == "aquarium"
    assert summary.sentiment == "positive"


def test_sentiments_in_three_languages():
    assert told("Sono triste, che giornata terribile.").sentiment == "negative"
    assert told("Je mi smutno, jsem unavený.").sentiment == "negative"
    assert told("È stato bello, grazie.").sentiment == "positive"
    assert told("The train leaves at nine.").sentiment == "neutral"
    assert told("I love it and I hate it.").sentiment == "mixed"


def test_of_a_long_talk_the_sentences_that_say_most_are_kept_in_their_order():
    summary = told(
        *(f"Ok number {n}." for n in range(20)), "The boiler in the cellar leaks and the plumber comes Friday."
    )
    assert "Ana: The boiler in the cellar leaks and the plumber comes Friday." in summary.text.splitlines()
    assert len(summary.text.splitlines()) <= 6


def test_prompts_and_deleted_messages_take_no_part():
    assert told("You are Nonna.", role=Speaker.SYSTEM) is None
    assert summarise(conversation(), [message("", deleted_at=START)]) is None


def test_the_episode_names_its_times_and_lists():
    content = summary_content(told("We met Marta in Genoa."), conversation())
    assert content.text.startswith("Conversation of 2026-01-05 10:00 to 10:20 UTC (people: Ana, Marta; places: Genoa")
    assert content.occurred_at == START
    assert content.tags == ("conversation", "neutral")


@given(st.lists(st.text(max_size=200), max_size=8))
def test_any_talk_has_a_summary_made_of_its_own_sentences(texts):
    summary = told(*texts)
    if summary is None:
        assert not any(texts)
        return
    assert summary.sentiment in SENTIMENTS
    assert summary == told(*texts)
    everything = "\n".join(texts)
    assert all(line.partition(": ")[2] in everything for line in summary.text.splitlines())
