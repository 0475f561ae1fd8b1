from concurrent.futures import ThreadPoolExecutor

import pytest

from app.text.language import LANGUAGES, detect_language, likely_languages


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What do I do for a living?", "en"),
        ("Sono allergico alle arachidi", "it"),
        ("Jsem alergický na arašídy", "cs"),
        ("Ich mag keinen Kaffee", "de"),
        ("J'aime le café au lait", "fr"),
        ("Me gusta mucho el café", "es"),
        ("Eu não gosto de café", "pt"),
        ("Ik hou van koffie", "nl"),
    ],
)
def test_a_short_sentence_is_recognised(text: str, language: str):
    assert detect_language(text) == language
    assert likely_languages(text) == (language,)


@pytest.mark.parametrize("text", ["", "ok", "ZX-4471", "日本語です", "Привет, как дела?", "😀", "\ud800", "\0"])
def test_a_text_without_evidence_has_no_language(text: str):
    assert detect_language(text) is None
    assert likely_languages(text) == ()


def test_an_unsure_text_has_several_likely_languages_the_best_first():
    likely = likely_languages("Vivo a Roma")
    assert likely[0] == "it"
    assert 1 < len(likely) < len(LANGUAGES)
    assert detect_language("Vivo a Roma") is None


def test_only_the_beginning_of_a_text_counts():
    assert detect_language("This is the beginning of a story. " * 20 + "e questa è la fine " * 1_000) == "en"


def test_threads_agree():
    texts = ["What do I do for a living?", "Sono allergico alle arachidi", "Jsem alergický na arašídy"] * 100
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(detect_language, texts)) == ["en", "it", "cs"] * 100
