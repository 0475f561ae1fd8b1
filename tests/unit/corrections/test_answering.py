"""What answers a question in plain words: only what names exactly one of its options."""

from uuid import UUID

import pytest

from app.corrections.answering import chosen_by, may_answer
from app.corrections.records import Option
from app.domain.ids import IdKind, PublicId

IDS = [PublicId(UUID(int=number), UUID(int=9), IdKind.MEMORY) for number in range(3)]
PLACES = (
    Option("story:au1/scene:ball", "in this scene (ball)", scope="story:au1/scene:ball"),
    Option("story:au1", "in this story (au1)", scope="story:au1"),
    Option("everywhere", "everywhere", scope=""),
)
TOWNS = tuple(
    Option(town, f"“I live in {town}.”", scope="", erase=(entry_id,))
    for town, entry_id in zip(("Turin", "Rome"), IDS, strict=False)
)
FORGET = (*TOWNS, Option("everything", "all of these", erase=tuple(IDS[:2])), Option("nothing", "nothing", erase=()))


@pytest.mark.parametrize(
    ("said", "options", "key"),
    [
        ("Everywhere.", PLACES, "everywhere"),
        ("Only in this story, please.", PLACES, "story:au1"),
        ("just this scene", PLACES, None),
        ("In this scene.", PLACES, "story:au1/scene:ball"),
        ("In this chat.", PLACES, None),
        ("Solo in questa storia.", PLACES, "story:au1"),
        ("Ovunque, grazie", PLACES, "everywhere"),
        ("Jen v tomto příběhu.", PLACES, "story:au1"),
        ("Všude.", PLACES, "everywhere"),
        ("The one about Turin.", FORGET, "Turin"),
        ("Rome", FORGET, "Rome"),
        ("the second one", FORGET, "Rome"),
        ("the third one", FORGET, None),
        ("All of them, please.", FORGET, "everything"),
        ("Nothing.", FORGET, "nothing"),
        ("quello su Torino", FORGET, None),
        ("Quello su Turin", FORGET, "Turin"),
        ("Ten o Turin", FORGET, "Turin"),
        ("niente", FORGET, "nothing"),
        ("všechny", FORGET, "everything"),
        ("the one about living", FORGET, None),
        ("I live in", FORGET, None),
        ("Thanks a lot", FORGET, None),
        ("Turin is lovely in autumn", FORGET, None),
        ("In this story Mira lives in Turin.", PLACES, None),
        ("yes", FORGET, None),
        ("", FORGET, None),
    ],
)
def test_only_what_names_one_option_answers(said, options, key):
    option = chosen_by(said, options)
    assert (option and option.key) == key


def test_a_question_and_a_long_message_are_no_answers():
    assert may_answer("Everywhere.")
    assert not may_answer("Everywhere?")
    assert not may_answer(" ".join(["word"] * 13))
    assert not may_answer("")
