"""What a message says that is worth remembering, and all that it says besides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.entries import Author, Category, Claim
from app.extraction.records import Extracted, Said, Tense, content_of
from app.extraction.rules import CONFIDENCE, HEDGED, WISHED, extract

_WORDS = (
    *("I", "my", "we", "live", "work", "love", "in", "Rome", "as", "a", "nurse", "and", "but", "because", "remember"),
    *("that", "maybe", "my", "wife", "is", "called", "vivo", "a", "Roma", "mi", "piace", "mio", "fratello", "non"),
    *("bydlím", "v", "Praze", "mám", "rád", "že", "moje", "sestra", ",", ".", "?", "!", "\n", '"', "*", "`", "(", ")"),
)


def extracted(text: str) -> Extracted:
    return extract(Said("m1", text))


@pytest.mark.parametrize(
    ("text", "category", "kept"),
    [
        ("Please always answer in French.", Category.OUTPUT_PREFERENCE, "always answer in French"),
        ("Call me Max from now on.", Category.ASSISTANT_PREFERENCE, "Call me Max from now on"),
        ("Well, I prefer trains to planes.", Category.PERSONAL_PREFERENCE, "I prefer trains to planes"),
        ("I speak German and a little Polish.", Category.KNOWLEDGE, "I speak German and a little Polish"),
        ("By the way, I love baroque music!", Category.INTEREST, "I love baroque music"),
        ("I can't stand loud restaurants.", Category.DISLIKE, "I can't stand loud restaurants"),
        ("My wife is called Nora.", Category.RELATIONSHIP, "My wife is called Nora"),
        ("I work as a nurse in Leeds.", Category.WORK, "I work as a nurse in Leeds"),
        ("My goal is to run a marathon.", Category.GOAL, "My goal is to run a marathon"),
        ("We decided to use Postgres.", Category.DECISION, "We decided to use Postgres"),
        ("I'm writing a novel about bees.", Category.PROJECT, "I'm writing a novel about bees"),
        ("I'm allergic to walnuts.", Category.FACT, "I'm allergic to walnuts"),
        ("Preferisco il tè al caffè.", Category.PERSONAL_PREFERENCE, "Preferisco il tè al caffè"),
        ("Mia sorella vive a Trento.", Category.RELATIONSHIP, "Mia sorella vive a Trento"),
        ("Abbiamo deciso di cambiare fornitore.", Category.DECISION, "Abbiamo deciso di cambiare fornitore"),
        ("Nesnáším hluk.", Category.DISLIKE, "Nesnáším hluk"),
        ("Moje sestra bydlí v Jihlavě.", Category.RELATIONSHIP, "Moje sestra bydlí v Jihlavě"),
        ("Chci se naučit plavat.", Category.GOAL, "Chci se naučit plavat"),
    ],
)
def test_what_somebody_says_of_themselves_is_proposed_in_their_own_words(text, category, kept):
    (proposal,) = extracted(text).proposals
    assert (proposal.category, proposal.text) == (category, kept)
    assert text[proposal.start : proposal.end] == kept


@pytest.mark.parametrize(
    "text",
    [
        "Do you like tea?",
        "Can you recommend a hotel in Rome?",
        "Good morning everyone!",
        "Thanks, I love it!",
        "As Bob said, I hate cheese.",
        "My friends say I live in a dream world.",
        "According to Anna I work too much.",
        "If I lived in Paris I would eat croissants.",
        "I wish I had a dog.",
        "Imagine I am a pirate. I live on an island.",
        "Let's pretend I work at NASA.",
        "I live on Mars, just kidding.",
        "*draws a sword* I live in the castle of ice.",
        '"I hate the sea," he wrote.',
        'He said: "I work as a spy"',
        "```\nI live in Rome\n```",
        "> I live in Rome",
        "<relevant_facts>\n- I live in Rome.\n</relevant_facts>\nHello!",
        "<preferences>I prefer tea.",
        "/remember I live in Rome",
        "!forget my name is Bob",
        'print("I live in Rome")',
        "Julia has three cats.",
        "The Earth goes round the Sun.",
        "I am tired.",
        "Yesterday I went to the cinema.",
        "I like these ideas.",
        "Dove vivi?",
        "Se vivessi a Roma mangerei sempre fuori.",
        "Scherzo, vivo su Marte.",
        "Kde bydlíš?",
        "Kdybych bydlel v Praze, jezdil bych tramvají.",
        "Petr říká, že bydlím moc daleko.",
    ],
)
def test_questions_greetings_jokes_play_quotes_reports_code_and_conditions_give_nothing(text):
    """Neither does a prompt that was assembled before (dup-09)."""
    assert extracted(text).proposals == ()


@pytest.mark.parametrize(
    ("text", "language"),
    [("Ich wohne in Bremen und arbeite als Lehrer.", None), ("私は東京に住んでいます。", None), ("I am hungry.", "en")],
)
def test_a_language_without_rules_is_said_to_have_none(text, language):
    assert extracted(text) == Extracted((), language)


@pytest.mark.parametrize(
    ("text", "claim", "tense", "negated"),
    [
        ("I live in Oslo.", Claim("self", "residence", "Oslo"), Tense.PRESENT, False),
        ("I used to live in Oslo.", None, Tense.PAST, False),
        ("I will move to Oslo next year.", None, Tense.FUTURE, False),
        ("I no longer eat meat.", Claim("self", "diet", "vegetarian"), Tense.PRESENT, True),
        ("Prima vivevo a Bari.", None, Tense.PAST, False),
        ("Dřív jsem bydlel v Plzni.", None, Tense.PAST, False),
        ("Non fumo più.", Claim("self", "smoking", "no"), Tense.PRESENT, True),
    ],
)
def test_tense_and_negation_are_kept_and_only_what_holds_now_is_claimed(text, claim, tense, negated):
    (proposal,) = extracted(text).proposals
    assert (proposal.claim, proposal.tense, proposal.negated) == (claim, tense, negated)


@pytest.mark.parametrize(
    ("text", "confidence", "claims"),
    [
        ("I live in Oslo.", CONFIDENCE, True),
        ("I think I live in Oslo county.", HEDGED, False),
        ("Remember that I live in Oslo.", WISHED, True),
        ("Ricordati che vivo a Oslo.", WISHED, True),
        ("Pamatuj si, že bydlím v Oslu.", WISHED, True),
    ],
)
def test_a_guess_is_less_sure_and_an_explicit_wish_more(text, confidence, claims):
    (proposal,) = extracted(text).proposals
    assert proposal.confidence == confidence
    assert (proposal.claim is not None) == claims
    assert proposal.wished == (confidence == WISHED)


def test_who_is_meant_is_the_author_and_the_authors_people():
    first, second = extracted("My brother lives in Oslo, but I live in Bergen.").proposals
    assert first.claim == Claim("self's brother", "residence", "Oslo")
    assert second.claim == Claim("self", "residence", "Bergen")
    assert second.text == "I live in Bergen"


def test_what_stands_before_a_question_counts_and_the_question_does_not():
    (proposal,) = extracted("I have two dogs, can you recommend a vet?").proposals
    assert proposal.text == "I have two dogs"


def test_a_proposal_becomes_a_memory_that_cites_its_message():
    said = Said("m7", "I live in Oslo.", Author("ana"), session="s1", scope="character:mira")
    (proposal,) = extract(said).proposals
    content = content_of(proposal, said)
    assert (content.text, content.source, content.author, content.session) == (
        "I live in Oslo",
        "m7",
        Author("ana"),
        "s1",
    )
    assert (content.scope, content.claim, content.claim_derived) == ("character:mira", proposal.claim, True)


@pytest.mark.parametrize(
    "text", ["", " ", "\n" * 50, "i " * 5000, "(" * 3000, "I live in " + "x" * 20_000, "\x00\ud800 I live"]
)
def test_any_text_is_read(text):
    assert len(extracted(text).proposals) <= 1


@given(st.text(max_size=300) | st.lists(st.sampled_from(_WORDS), max_size=40).map(" ".join))
def test_every_proposal_is_a_part_of_its_message_and_the_same_message_gives_the_same(text):
    found = extract(Said("m1", text))
    assert found == extract(Said("m1", text))
    assert all(text[one.start : one.end] == one.text for one in found.proposals)
    assert [one.start for one in found.proposals] == sorted(one.start for one in found.proposals)
