"""What is left of what was said, and of episodes made of it."""

import pytest

from app.domain.entries import Content
from app.forgetting.cutting import sentences_of, shortened, without

TOLD = Content(
    text="Ana: Hello! I have two dogs. I live in Rome.\nBen: I have two dogs.\nGiulia: So you live in Rome, Ana. Nice.",
    context="Ana: I have two dogs.",
    participants=("Ana", "Ben"),
)


@pytest.mark.parametrize(
    ("said", "erased", "left"),
    [
        ("Hello! I live in Rome. Bye.", ["i LIVE  in rome"], "Hello! Bye."),
        ("I live in Romeo.", ["I live in Rome"], "I live in Romeo."),
        ("I live in Rome!", ["I live in Rome"], ""),
        ("I live\nin Rome.", ["I live in Rome"], ""),
    ],
)
def test_a_sentence_goes_with_what_it_says(said, erased, left):
    assert without(said, erased) == left


def test_only_one_speaker_loses_words_and_the_agent_who_repeats_them():
    left = shortened(TOLD, ["I have two dogs", "I live in Rome"], ["Rome"], "Ana")
    assert left is not None
    assert left.text == "Ana: Hello!\nBen: I have two dogs.\nGiulia: Nice."
    assert left.context is None


def test_everybody_loses_them_where_no_speaker_is_meant():
    left = shortened(TOLD, ["I have two dogs"])
    assert left is not None
    assert left.text == "Ana: Hello! I live in Rome.\nGiulia: So you live in Rome, Ana. Nice."


def test_an_episode_that_does_not_say_it_stays():
    assert shortened(TOLD, ["I sail"], ["Genoa"], "Ana") == TOLD


def test_what_was_said_by_sentence():
    assert sentences_of("Hello! I live in Rome.\nYes") == ("Hello", "I live in Rome", "Yes")
