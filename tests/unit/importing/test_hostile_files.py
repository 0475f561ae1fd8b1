"""Files that are broken, or made to break something: told in one line, by their line, and never a crash."""

import io
import json
import zipfile
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.importing import streams
from app.importing.formats import Format, format_of
from app.importing.items import BrokenFileError, Exchange
from app.importing.scanning import Scanner, rows
from tests.unit.importing.files import conversation, items, picture, png, zipped


def read(path, kind=Format.CHATGPT) -> list:
    return items(path, kind)


def broken(found) -> str:
    assert isinstance(found[-1], BrokenFileError), found
    return str(found[-1])


@pytest.mark.parametrize(
    ("tail", "line"),
    [
        ('{"id": ', 4),
        ('{"id": nope}]', 4),
        ("5", 4),
        ('"\n\n', 4),
        ("[" * 100_000, 4),
        ("9" * 5_000 + "]", 4),
        ("}", 4),
    ],
)
def test_broken_json_is_named_by_its_line_and_what_came_before_is_read(tmp_path, tail, line):
    path = tmp_path / "x.json"
    path.write_text("[\n" + json.dumps(conversation(("user", "hi"))) + ",\n\n" + tail)
    found = read(path)
    assert isinstance(found[0], Exchange)
    assert f"line {line}: " in broken(found)


def test_an_archive_is_read_and_its_chats_may_lie_in_several_files(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations-000.json", json.dumps([conversation(("user", "a"))]))
        archive.writestr("x/conversations-001.json", json.dumps([conversation(("user", "b"), name="c-2")]))
    assert format_of(path) is Format.CHATGPT
    assert [one.said[0].body["text"] for one in read(path)] == ["a", "b"]


def test_a_bomb_is_unpacked_no_further_than_its_bound(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + '{"mapping": {}, "id": "x"}, ' * 2_000_000)
    assert path.stat().st_size < 1 << 18
    assert "unpacks to more than" in broken(read(path))


def test_archives_that_are_none_and_damaged_ones(tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK\x03\x04 no archive")
    assert "no zip archive" in broken(read(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.json", "[]")
    assert "nothing that can be read as chatgpt" in broken(read(path))
    with pytest.raises(BrokenFileError, match="holds neither"):
        format_of(path)
    path.write_bytes(zipped(a__txt="Ana: Hi", b__txt="Ben: Ho"))
    with pytest.raises(BrokenFileError, match="nor one chat"):
        format_of(path)
    assert "nothing that can be read as mem0" in broken(read(path, Format.MEM0))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([conversation(("user", "a" * 5_000))]))
    content = bytearray(path.read_bytes())
    content[60:80] = b"\xff" * 20
    path.write_bytes(content)
    broken(read(path))


@pytest.mark.parametrize(
    "content",
    [
        png(),
        png(chara={"data": {}}),
        png(chara=[1]),
        png(chara={"data": {"name": "x"}})[:60],
        b"\x89PNG\r\n\x1a\n\xff\xff\xff\xfftEXt",
        b"\x89PNG\r\n\x1a\n",
        png().replace(b"IDAT", b"tEXt").replace(b"IDAT", b""),
        picture((b"zTXt", b"chara\0\0no zlib")),
        picture((b"zTXt", b"chara\0")),
        picture((b"iTXt", b"chara\0\1")),
        picture((b"iTXt", b"chara\0\1\0\0\0no zlib")),
        picture((b"zTXt", b"chara\0\0" + zlib.compress(bytes(1 << 27)))),
    ],
)
def test_pictures_without_a_character(tmp_path, content):
    path = tmp_path / "x.png"
    path.write_bytes(content)
    broken(read(path, Format.CARD))


@pytest.mark.parametrize("kind", [Format.LOREBOOK, Format.CARD, Format.MEM0, Format.CHATGPT])
@pytest.mark.parametrize(
    "content", ["5", '"x"', "[]", "{}", '{"entries": 5}', '{"data": []}', '{"name": 5}', '{"results": {}}']
)
def test_other_shapes_are_broken_or_empty(tmp_path, kind, content):
    path = tmp_path / "x.json"
    path.write_text(content)
    assert all(isinstance(one, BrokenFileError) for one in read(path, kind))


NAMES = [
    "mapping",
    "current_node",
    "message",
    "author",
    "role",
    "content",
    "parts",
    "id",
    "memory",
    "user_id",
    "metadata",
    "entries",
    "key",
    "comment",
    "uid",
    "data",
    "name",
    "description",
    "character_book",
    "results",
    "create_time",
]

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(document=st.lists(JSON, max_size=3) | st.dictionaries(st.text(), JSON), kind=st.sampled_from(list(Format)))
def test_whatever_json_holds_the_readers_answer(tmp_path_factory, document, kind):
    if kind is not Format.RICORDO:
        path = tmp_path_factory.getbasetemp() / "any.json"
        path.write_text(json.dumps(document))
        read(path, kind)


@given(content=st.binary(max_size=300), kind=st.sampled_from([one for one in Format if one is not Format.RICORDO]))
def test_whatever_bytes_there_are_the_readers_answer(tmp_path_factory, content, kind):
    path = tmp_path_factory.getbasetemp() / "any.bin"
    path.write_bytes(content)
    read(path, kind)
    with suppress(BrokenFileError):
        format_of(path)


@given(st.lists(JSON, max_size=6), st.integers(0, 3))
def test_an_array_is_read_as_the_library_reads_it(values, indent):
    text = json.dumps(values, indent=indent or None)
    found = list(rows(Scanner(io.StringIO(text))))
    assert json.dumps([one for _, one in found]) == json.dumps(values)
    assert [line for line, _ in found] == sorted(line for line, _ in found)


def test_a_long_file_is_read_piece_by_piece():
    """A file of any length takes the memory of its longest value."""
    row = json.dumps({"memory": "x" * 50_000})

    class Endless(io.TextIOBase):
        sent = 0

        def read(self, _size=-1):
            self.sent += 1
            return ("[" if self.sent == 1 else ", ") + row

    source = Endless()
    scanner = Scanner(source)
    for number, _ in zip(range(2_000), rows(scanner), strict=False):
        assert len(scanner._text) < 1_000_000, number


def test_a_line_without_an_end_is_bad(tmp_path, monkeypatch):
    monkeypatch.setattr("app.importing.chatlogs.LINE_CHARS", 100)
    path = tmp_path / "log.txt"
    path.write_text("Ana: Hi\nAna: " + "x" * 1_000 + "\nBen: Ho\n")
    found = items(path, Format.CHAT)
    assert [one.where for one in found if not isinstance(one, Exchange)] == ["line 2"]
    assert streams.ARCHIVE_BYTES > 1 << 30
