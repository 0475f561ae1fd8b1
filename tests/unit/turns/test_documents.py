"""What becomes of a turn, and what does not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.entries import Author
from app.turns.documents import episode_content, heard, personal_documents, personal_space
from app.turns.quoted import without_quoted_memory
from app.turns.records import NewMessage, Speaker
from tests.turn_builders import SPACE_ID, START, message, turn

PROMPT = (
    "<identity>\n<block>Warm.</block>\n</identity>\n<recent_context>\n<episode>Rain.</episode>\n</recent_context>\n"
)


def test_media_and_events_are_told_in_the_episode():
    shown = message("Look", 1, media=({"kind": "image", "caption": "a red bike"},))
    raid = message("", 2, event="raid", author=Author("Ben"))
    told = message("for a year", 3, event="subscription")
    text = episode_content(turn(shown, raid, told)).text
    assert text.splitlines() == ["Ana: Look [image: a red bike]", "[raid] Ben", "[subscription] Ana: for a year"]


def test_a_turn_of_which_nothing_is_left_has_no_episode():
    gone = message("", 1, deleted_at=START)
    assert episode_content(turn(gone, message("a prompt", 2, role=Speaker.SYSTEM))) is None


def test_the_turn_before_is_indexed_and_not_shown():
    content = episode_content(turn(message("Mealworms."), before=(message("Hedgehogs?", 2),)))
    assert content.context == "Ana: Hedgehogs?"
    assert "Hedgehogs" not in content.text


@pytest.mark.parametrize(
    ("author", "space"),
    [
        (Author("Ana", "twitch", "7"), "viewer:twitch:7"),
        (Author("ANA", "irc"), "viewer:irc:@ana"),
        (Author("Ana"), None),
        (Author(None, "twitch"), None),
        (Author("a/b", "irc"), "viewer:irc:@a%2fb"),
        (Author("Ana", "matrix", "@ana:example.org"), "viewer:matrix:%40ana:example.org"),
        (Author("Ana", "t" * 150, "7" * 150), None),
    ],
)
def test_whose_words_they_are(author, space):
    said = NewMessage(id=SPACE_ID, text="Hi", role=Speaker.USER, said_at=START, author=author)
    assert personal_space(said, "stream:x") == space
    assert personal_space(said, "user:ana") is None
    for other in (Speaker.ASSISTANT, Speaker.BOT, Speaker.SYSTEM, Speaker.TOOL):
        assert personal_space(replace(said, role=other), "stream:x") is None
    assert personal_space(replace(said, event="raid"), "stream:x") is None


def test_in_one_persons_space_each_author_has_a_document_of_their_own():
    said = turn(
        message("One.", 1), message("Two.", 2, name="Ben"), message("Three.", 3), message("No.", 4, role=Speaker.BOT)
    )
    assert [(d.author.name, d.text, d.space) for d in personal_documents(said)] == [
        ("Ana", "One.\nThree.", "user:ana"),
        ("Ben", "Two.", "user:ana"),
    ]


@given(st.text(max_size=50), st.text(max_size=50))
def test_quotations_of_a_prompt_are_taken_out_and_nothing_else(before, after):
    assert "Rain." not in without_quoted_memory(before + PROMPT + after)
    assert without_quoted_memory("I live in Turin <3\n## Plans\n- none") == "I live in Turin <3\n## Plans\n- none"


@given(st.text())
def test_a_text_that_quotes_nothing_stays_as_it_is(text):
    if "<" not in text and "\n-" not in text:
        assert heard(message(text)) == text
