"""What other programs wrote is read as they meant it."""

import json
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from app.importing.formats import Format, format_of, opened_items
from app.importing.items import Block, BrokenFileError, Exchange, Fact, LeftOut
from tests.unit.importing.files import (
    TEXT_CHUNKS,
    bad,
    card,
    choices,
    conversation,
    items,
    message,
    png,
    zipped,
)


@pytest.fixture
def written(tmp_path):
    def write(content, name="file.json"):
        path = tmp_path / name
        as_bytes = content if isinstance(content, bytes) else None
        text = content if isinstance(content, str) else None
        path.write_bytes(as_bytes if as_bytes is not None else (text or json.dumps(content)).encode())
        return path

    return write


def said(found) -> list[list[tuple[str, str]]]:
    return [[(m.body["role"], m.body["text"]) for m in one.said] for one in found if isinstance(one, Exchange)]


def test_a_chat_becomes_a_turn_for_each_answer(written):
    path = written([conversation(("user", "I moved."), ("assistant", "Where to?"), ("user", "Turin."))])
    found = items(path, Format.CHATGPT)
    assert said(found) == [[("user", "I moved."), ("assistant", "Where to?")], [("user", "Turin.")]]
    assert {one.session for one in found} == {"chatgpt:c-1"}
    assert found[0].said[0].body["at"] == "2023-11-14T22:13:21.000000Z"


def test_of_a_tree_the_branch_is_read_that_its_owner_last_saw(written):
    tree = conversation(("user", "A?"), ("assistant", "first answer"))
    tree["mapping"]["other"] = {"message": message("assistant", "second answer", "other", 1.0), "parent": "c-1-1"}
    assert said(items(written([tree]), Format.CHATGPT)) == [[("user", "A?"), ("assistant", "first answer")]]
    tree["current_node"] = "other"
    assert said(items(written([tree]), Format.CHATGPT)) == [[("user", "A?"), ("assistant", "second answer")]]
    tree["current_node"] = None  # then what was written last
    assert said(items(written([tree]), Format.CHATGPT)) == [[("user", "A?"), ("assistant", "first answer")]]


def test_what_programs_told_each_other_is_nobodys_word(written):
    chat = conversation(
        ("system", "be kind"), ("user", "Hi"), ("tool", "42"), ("assistant", "calling"), ("assistant", "Hi!")
    )
    chat["mapping"]["c-1-4"]["message"]["recipient"] = "browser"
    picture = [{"content_type": "image_asset_pointer", "asset_pointer": "x"}, "What is this?"]
    chat["mapping"]["c-1-2"]["message"]["content"] = {"content_type": "multimodal_text", "parts": picture}
    found = items(written([chat]), Format.CHATGPT)
    assert said(found) == [[("user", "What is this?"), ("assistant", "Hi!")]]
    assert found[0].said[0].body["media"] == [{"kind": "image"}]


def test_bad_conversations_are_named_and_the_next_are_read(written):
    circle = conversation(("user", "a"), name="c-2")
    circle["mapping"]["root"]["parent"] = "c-2-1"
    odd = conversation(("user", "a"), ("user", "b"), name="c-3")
    odd["mapping"]["c-3-1"]["message"]["create_time"] = "soon"
    lines = [json.dumps(one) for one in (5, {"id": "x"}, circle, odd, conversation(("user", "fine"), name="c-4"))]
    found = items(written("[" + ",\n".join(lines) + "]"), Format.CHATGPT)
    assert [where for where, _ in bad(found)] == ["line 1", "line 2", "line 3", "line 4, message c-3-1"]
    assert said(found) == [[("user", "b")], [("user", "fine")]]


def test_memories_of_mem0_keep_whose_they_are_and_since_when(written):
    one = {
        "id": "m1", "memory": "Likes tea", "user_id": "ana", "created_at": "2024-05-01T10:00:00-07:00",
        "updated_at": None, "categories": ["food", "interest"], "metadata": {"app": "chat", "deep": {}}, "run_id": "r1",
    }  # fmt: skip
    agents = {"memory": "Answers shortly", "agent_id": "bot", "created_at": "2024-05-01T10:00:00"}
    path = written({"results": [one, agents, {"memory": "whose?"}, {"id": "m4", "memory": 5, "user_id": "x"}]})
    found = items(path, Format.MEM0, space=None, zone=ZoneInfo("Europe/Rome"))
    facts = [one for one in found if isinstance(one, Fact)]
    assert [fact.space for fact in facts] == ["user:ana", "agent:bot"]
    assert facts[0].body["tags"] == ["food", "interest", "app:chat"]
    assert (facts[0].body["category"], facts[0].body["session"], facts[0].body["source"]) == (
        "interest",
        "r1",
        "mem0:m1",
    )
    assert facts[1].learnt_at == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert [why for _, why in bad(found)] == [
        "it has neither user_id nor agent_id; give --space",
        "memory is not a text",
    ]
    assert items(written([one]), Format.MEM0)[0].space == "user:ana"  # as --space says


def test_lore_has_its_keys_as_tags_and_what_is_switched_off_stays_out(written):
    book = {"name": "Harbour", "entries": {
        "0": {"uid": 0, "key": ["Calypso", "/ship/i"], "keysecondary": ["reactor"], "comment": "The ship",
              "content": "The Calypso leaks."},
        "1": {"uid": 1, "key": [], "content": "It always rains.", "constant": True},
        "2": {"uid": 2, "key": ["x"], "content": "Not yet.", "disable": True},
        "3": {"uid": 3, "key": ["x"], "content": ["?"]},
    }}  # fmt: skip
    found = items(written(book), Format.LOREBOOK, space=None)
    ship, rain = (one for one in found if isinstance(one, Fact))
    assert (ship.space, ship.body["tags"]) == ("lore:Harbour", ["Calypso", "reactor"])
    assert ship.body["context"] == "The ship, Calypso, reactor"
    assert (rain.body["tags"], rain.body["importance"]) == (["pinned"], 0.9)
    assert [one.where for one in found if isinstance(one, LeftOut)] == ["entry 2"]
    assert bad(found) == [("entry 3", "content is not a text")]


PICTURES = {kind: partial(png, kind) for kind in TEXT_CHUNKS}


def charx(ccv3, **_):
    """A card in an archive, with a picture of it."""
    return zipped(**{"card__json": ccv3, "assets/icon/main__png": b"\x89PNG"})


def charx_behind_a_picture(ccv3, **_):
    return b"\xff\xd8\xff\xe0 a photo" + charx(ccv3)


@pytest.mark.parametrize("packed", [None, *PICTURES.values(), charx, charx_behind_a_picture])
def test_a_card_is_a_soul_and_its_book_is_lore(written, packed):
    one = card(
        first_mes="Hello, {{user}}.", system_prompt="Stay in role.",
        character_book={"entries": [{"keys": ["Calypso"], "content": "{{char}}'s ship.", "enabled": True}]},
    )  # fmt: skip
    path = written(packed(chara={"data": {"name": "Old"}}, ccv3=one) if packed else one)
    assert format_of(path) is Format.CARD
    found = items(path, Format.CARD, space=None)
    blocks = [(one.space, one.name, one.text) for one in found if isinstance(one, Block)]
    assert blocks == [
        ("character:Mira", "instructions", "Stay in role."),
        ("character:Mira", "persona", "Mira is a captain."),
        ("character:Mira", "personality", "dry"),
        ("character:Mira", "greeting", "Hello, the user."),
    ]
    assert [(one.space, one.body["text"]) for one in found if isinstance(one, Fact)] == [("lore:Mira", "Mira's ship.")]


def test_of_a_card_of_the_third_version_the_nickname_speaks_and_decorators_go(written):
    book = {
        "entries": [
            {"keys": ["Calypso"], "content": "@@depth 4\n@@role user\n{{CHAR}} owns the Calypso.", "enabled": True}
        ]
    }
    one = card(nickname="Captain", character_book=book) | {"spec": "chara_card_v3"}
    found = items(written(one), Format.CARD, space=None)
    assert next(one.text for one in found if isinstance(one, Block)) == "Captain is a captain."
    assert [(one.space, one.body["text"]) for one in found if isinstance(one, Fact)] == [
        ("lore:Mira", "Captain owns the Calypso.")
    ]


WHATSAPP = """[13/05/24, 21:15:03] Ana: I moved to Turin.
It is lovely.
[13/05/24, 21:16:00] Messages and calls are end-to-end encrypted.
[13/05/24, 21:16:30] Ben: \u200eimage omitted
[13/05/24, 21:17:00] Ben: Nice: really!
"""
WITH_FILES = """[13/05/24, 21:15:03] Ana: \u200e<attached: 0001-PHOTO.jpg>
[13/05/24, 21:15:04] Ana: \u200e<allegato: 0002-AUDIO.opus>
[13/05/24, 21:15:05] Ana: My garden!
[13/05/24, 21:16:00] Ben: IMG-20240513-WA0001.jpg (file attached)
And mine: see garden.org (it is new)
"""
IRC = """--- Log opened Mon May 13 20:00:00 2024
21:15 <@ana> I moved to Turin.
21:16 -!- zoe has joined #kitchen
21:17 * ben waves
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (WHATSAPP, [("Ana", "I moved to Turin.\nIt is lovely.", "21:15:03"), ("Ben", "Nice: really!", "21:17:00")]),
        (
            "5/13/24, 9:15 PM - Ana: Hi\n5/13/24, 9:16\u202fPM - Ben: Ho\n",
            [("Ana", "Hi", "21:15"), ("Ben", "Ho", "21:16")],
        ),
        ("2024-05-13T21:15:00Z Ana: Hi\n", [("Ana", "Hi", "21:15")]),
        ("[2024-05-13 21:15:00] Ana: Hi\n", [("Ana", "Hi", "21:15")]),
        (IRC, [("ana", "I moved to Turin.", "21:15"), ("ben", "waves", "21:17")]),
        ("<ana> Hi\n<ben> Ho\n", [("ana", "Hi", None), ("ben", "Ho", None)]),
        ("Ana: Hi\nand more\nBen: Ho\n", [("Ana", "Hi\nand more", None), ("Ben", "Ho", None)]),
        ("[21:15] Ana: Hi\n", [("Ana", "Hi", None)]),
    ],
)
def test_logs_of_many_shapes(written, log, expected):
    path = written(log, "log.txt")
    assert format_of(path) is Format.CHAT
    found = [m.body for one in items(path, Format.CHAT) if isinstance(one, Exchange) for m in one.said]
    assert [(one["author"]["name"], one["text"]) for one in found] == [one[:2] for one in expected]
    for one, (_, _, clock) in zip(found, expected, strict=True):
        assert one.get("at", "").startswith(f"2024-05-13T{clock}" if clock else "")
        assert ("at" in one) == (clock is not None)


def test_of_files_that_were_sent_only_the_captions_are_read(written):
    found = items(written(WITH_FILES, "log.txt"), Format.CHAT)
    assert said(found) == [[("user", "My garden!"), ("user", "And mine: see garden.org (it is new)")]]


@pytest.mark.parametrize(
    "members",
    [
        {"_chat__txt": WHATSAPP, "0001-PHOTO__jpg": b"\xff\xd8", "notes__txt": "not this"},
        {"WhatsApp Chat mit Ana__txt": WHATSAPP, "notes__txt": "not this"},
        {"kitchen__txt": WHATSAPP},
    ],
)
def test_a_chat_is_read_out_of_its_archive(written, members):
    path = written(zipped(**members), "WhatsApp Chat with Ana.zip")
    assert format_of(path) is Format.CHAT
    found = items(path, Format.CHAT)
    assert said(found) == said(items(written(WHATSAPP, "log.txt"), Format.CHAT))


def test_how_much_of_an_archive_was_read_is_told(written):
    path = written(zipped(conversations__json=[conversation(("user", "Hi" * 50_000))]), "export.zip")
    with opened_items(path, Format.CHATGPT, choices()) as (found, progress):
        assert progress() == 0
        assert list(found)
        assert progress() == 1


def test_the_zone_the_agent_and_the_order_of_dates_can_be_said(written):
    path = written("3/4/24, 10:00 - Ana: Hi\n3/4/24, 10:01 - Bot: Ho\n3/4/24, 12:00 - Ana: Back\n", "log.txt")
    found = items(path, Format.CHAT, agent="bot", zone=ZoneInfo("Europe/Rome"), day_first=True)
    assert said(found) == [[("user", "Hi"), ("assistant", "Ho")], [("user", "Back")]]
    assert found[0].said[0].body["at"] == "2024-04-03T08:00:00.000000Z"
    other = items(path, Format.CHAT, day_first=False)
    assert other[0].said[0].body["at"].startswith("2024-03-04T10")


def test_bad_lines_of_a_log_are_named(written):
    log = b"??\n31/12/24, 10:00 - Ana: Hi\n31/31/24, 10:00 - Ana: when?\n31/12/24, 25:00 - Ana: x\n31/12/24, 10:01 - Ana: caf\xe9\n31/12/24, 10:02 - Ana: end\n"  # noqa: E501
    path = written(log, "log.txt")
    found = items(path, Format.CHAT)
    assert [where for where, _ in bad(found)] == ["line 1", "line 3", "line 4", "line 5"]
    assert said(found) == [[("user", "Hi"), ("user", "end")]]
    assert "café" in str(said(items(path, Format.CHAT, encoding="latin-1")))


def test_the_marks_of_what_was_read_stay_the_same_and_tell_repetitions_apart(written):
    path = written("Ana: Hi\nAna: Hi\n", "log.txt")
    first, again = (items(path, Format.CHAT)[0].said for _ in range(2))
    assert [one.mark for one in first] == [one.mark for one in again]
    assert len({one.mark for one in first}) == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_is_read_in_each_of_its_encodings(written, encoding):
    path = written(json.dumps([conversation(("user", "Perché no?"))], ensure_ascii=False).encode(encoding))
    assert format_of(path) is Format.CHATGPT
    assert said(items(path, Format.CHATGPT)) == [[("user", "Perché no?")]]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"ricordo": 1, "space": "user:a"}, Format.RICORDO),
        ([conversation(("user", "a"))], Format.CHATGPT),
        ({"results": []}, Format.MEM0),
        ([{"id": "1", "memory": "x"}], Format.MEM0),
        ({"name": "x", "entries": {}}, Format.LOREBOOK),
        ({"name": "x", "description": "y", "personality": ""}, Format.CARD),
    ],
)
def test_a_format_is_told_by_what_it_begins_with(written, content, kind):
    assert format_of(written(content)) is kind


@pytest.mark.parametrize("content", ["", "[]", "{}", "just a text\nwithout anybody\n", "[5]", b"\0" * 50, b"\xff" * 50])
def test_what_is_no_format_is_refused(written, content):
    with pytest.raises(BrokenFileError):
        format_of(written(content))
