"""What of talk is taken for a wish, counted; every text here is made up."""

import orjson

from evals.wishes import count, main


def talk(*texts, speaker="Ana"):
    return iter([("c", speaker, text) for text in texts])


def test_a_correction_of_what_was_said_is_counted():
    counts = count(talk("My sister is called Anna.", "Nice weather.", "No, my sister is called Ada, not Anna."))
    assert (counts.messages, counts.may_be, counts.taken) == (3, 1, {"write": 1})
    assert counts.findings == ["write: No, my sister is called Ada, not Anna"]


def test_what_nobody_is_known_to_have_said_is_none():
    assert count(talk("No, my sister is called Ada, not Anna.")).taken == {}


def test_a_wish_to_be_forgotten_is_counted():
    counts = count(talk("I live in Genoa.", "Please forget that I live in Genoa.", "Forget everything about my boat."))
    assert counts.taken == {"erase": 1, "refuse": 1}


def test_an_agent_is_heard_and_not_counted():
    said = [
        ("c", "user", "My sister is called Anna."),
        ("c", None, "Hello Anna."),
        ("c", "user", "It's Ada, not Anna."),
    ]
    counts = count(iter(said))
    assert counts.messages == 2


def test_the_findings_are_printed(tmp_path, capsys, monkeypatch):
    turns = [
        {"speaker": "Ada", "dia_id": f"D1:{n}", "text": text}
        for n, text in enumerate(["I live in Genoa.", "Please forget that I live in Genoa."])
    ]
    sample = {"sample_id": "x", "conversation": {"session_1": turns}}
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "conversations.dev.jsonl").write_bytes(orjson.dumps(sample))
    monkeypatch.setattr("sys.argv", ["wishes", "--data", str(tmp_path), "--show", "9"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "locomo: 2 messages, 1 looked into, taken: erase 1"
    assert lines[-1] == "locomo: erase: Please forget that I live in Genoa"
