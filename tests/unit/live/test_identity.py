"""Who is who: the platform's id is the person, the name a label; look-alikes stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.entries import Author
from app.domain.spaces import check_space, viewer_space
from app.live.planner import names_of
from app.live.records import Heard
from app.text.normalise import visible
from app.turns.documents import viewer_of
from app.turns.records import Speaker

IDS = st.text(min_size=1, max_size=12)


@given(one=IDS, other=IDS)
def test_two_ids_never_share_a_space(one, other):
    spaces = viewer_space("chat", one, None), viewer_space("chat", other, None)
    assert (spaces[0] == spaces[1]) == (one == other)


@given(platforms=st.tuples(IDS, IDS), ids=st.tuples(IDS, IDS))
def test_two_platforms_never_share_a_space(platforms, ids):
    spaces = [viewer_space(platform, who, None) for platform, who in zip(platforms, ids, strict=True)]
    assert (spaces[0] == spaces[1]) == (platforms[0] == platforms[1] and ids[0] == ids[1])


@given(who=IDS, name=IDS)
def test_an_id_is_never_taken_for_a_name(who, name):
    assert viewer_space("chat", who, None) != viewer_space("chat", None, name)


@given(who=IDS)
def test_every_viewers_space_is_a_space(who):
    space = viewer_space("chat", who, None)
    assert space is not None
    assert check_space(space) == space


@pytest.mark.parametrize("name", ["Ana", "ANA", "@ana", " ana ", "Ａｎａ", "@ Ana"])
def test_spellings_of_one_name_are_one_person(name):
    assert viewer_space("irc", None, name) == "viewer:irc:@ana"


@pytest.mark.parametrize(
    "name", ["Ana\u200b", "\u200dAna", "А\u043da", "An a", "Ana.", "Аna", "Ana\u00ad", "ana_", "anna"]
)
def test_look_alikes_of_a_name_are_other_people(name):
    assert viewer_space("irc", None, name) not in ("viewer:irc:@ana", None)


@pytest.mark.parametrize("name", ["", " ", "@", "@@", None])
def test_who_has_neither_id_nor_name_is_nobody(name):
    assert viewer_space("irc", None, name) is None


def test_an_id_that_is_too_long_is_nobody():
    assert viewer_space("irc", "7" * 200, None) is None


@pytest.mark.parametrize("role", [role for role in Speaker if role is not Speaker.USER])
def test_only_a_user_is_a_viewer(role):
    assert viewer_of(Author("Ana", "chat", "7"), role) is None


def test_what_is_invisible_in_a_name_is_spelt_out():
    assert visible("Ana\u200b") == "Ana\\u200b"
    assert visible("Žofie 🦜") == "Žofie 🦜"


def test_a_person_goes_by_the_last_name():
    batch = [Heard(text="x", author=Author(name, "chat", "7"), viewer="viewer:chat:7") for name in ("Old", "New")]
    assert names_of(batch) == {"viewer:chat:7": "New"}
