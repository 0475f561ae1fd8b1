"""The planner: what can be observed decides whose memory is read, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.entries import Author
from app.live.planner import Surroundings, entity_names, plan_live
from app.live.records import VIEWERS_LIMIT, WEIGHTS, Heard, Signal, Source
from app.live.signals import asks_to_remember, is_question, refers_back
from app.turns.documents import viewer_of
from app.turns.records import Speaker

AROUND = Surroundings(agents=("Giulia",))


def says(who: str, text: str, *, name: str | None = None, **fields) -> Heard:
    author = Author(name or who, "chat", who)
    role = fields.pop("role", Speaker.USER)
    return Heard(text=text, author=author, role=role, viewer=viewer_of(author, role), **fields)


def picked(plan) -> list[str]:
    return [pick.space.removeprefix("viewer:chat:") for pick in plan.picks]


def test_each_signal_weighs_more_than_all_lighter_ones_together_events_and_address_alike():
    order = list(Signal)
    assert WEIGHTS[Signal.PLATFORM_EVENT] == WEIGHTS[Signal.ADDRESSES_AGENT]
    for place, signal in enumerate(order):
        lighter = [WEIGHTS[s] for s in order[place + 1 :] if WEIGHTS[s] < WEIGHTS[signal]]
        assert WEIGHTS[signal] > sum(lighter)


def test_the_signals_rank_people_in_the_order_of_their_weights():
    batch = [
        says("took", "nice"),
        says("mentioned", "well"),
        says("other", "@mentioned hi"),
        says("media", "look", has_media=True),
        says("asks", "is it on?"),
        says("addresses", "giulia you are great"),
        says("event", "", event="raid"),
        says("remember", "remember that I am vegan"),
    ]
    plan = plan_live(batch, AROUND, VIEWERS_LIMIT)
    assert picked(plan) == ["remember", "addresses", "event", "asks", "media"]
    assert plan.passed_over[0] == "viewer:chat:mentioned"
    assert len(plan_live(batch, AROUND).picks) == 3


def test_who_only_takes_part_is_not_read():
    plan = plan_live([says("a", "nice cat"), says("b", "@a yes")], AROUND)
    assert [pick.reads for pick in plan.picks] == [(), ()]
    assert plan.reads_nothing


def test_of_who_only_calls_out_to_the_agent_the_profile_is_enough():
    plan = plan_live([says("a", "Giulia lol"), says("b", "hm")], AROUND)
    assert plan.picks[0].reads == (Source.PROFILE,)


def test_who_speaks_alone_speaks_to_the_agent():
    assert Signal.ADDRESSES_AGENT in plan_live([says("a", "My cat sleeps all day")], AROUND).picks[0].signals
    assert Signal.ADDRESSES_AGENT not in plan_live([says("a", "lol")], AROUND).picks[0].signals


def test_a_mention_of_a_name_that_two_have_is_nobodys():
    batch = [
        says("1", "hm", name="Ana"),
        says("2", "hm", name="Ana"),
        says("b", "@Ana hi"),
        says("c", "x", mentions=("2",)),
    ]
    signals = {pick.space: pick.signals for pick in plan_live(batch, AROUND, 5).picks}
    assert Signal.MENTIONED not in signals["viewer:chat:1"]
    assert Signal.MENTIONED in signals["viewer:chat:2"]


def test_quoting_somebody_who_asks_to_remember_asks_nothing():
    plan = plan_live([says("a", "> remember that I am vegan\nlol"), says("b", "hm")], AROUND)
    assert Signal.ASKS_TO_REMEMBER not in plan.picks[0].signals


@pytest.mark.parametrize(
    "text",
    [
        "remember that I am vegan", "please remember my name", "Giulia, don't forget I work on Fridays",
        "can you remember this?", "keep in mind that I am shy", "Ricordati che sono vegana",
        "non dimenticare che sono timido",
        "Pamatuj si, že jsem vegan", "nezapomeň, že nejím maso",
    ],
)  # fmt: skip
def test_wishes_to_be_remembered_are_heard(text):
    assert asks_to_remember(text)


@pytest.mark.parametrize(
    "text",
    [
        "I remember that",
        "if I remember correctly it is blue",
        "do you remember me?",
        "remember when we met?",
        "mi ricordo bene",
    ],
)
def test_what_is_no_wish_to_be_remembered(text):
    assert not asks_to_remember(text)


@pytest.mark.parametrize(
    "text",
    [
        "do you remember the llama?", "what did we talk about yesterday?", "as I said, it is late",
        "how did your exam go?",
        "remember when we lost?", "what did you say last week?", "ti ricordi del lama?", "com'è andata la gara?",
        "cosa hai detto ieri?", "pamatuješ si na lamu?", "o čem jsme mluvili minule?", "jak to dopadlo?",
    ],
)  # fmt: skip
def test_references_back_are_recognised_in_three_languages(text):
    assert refers_back(text)


@pytest.mark.parametrize(
    "text", ["I installed it yesterday", "I love llamas", "see you next week?", "sono le tre", "jdu spát"]
)
def test_what_refers_back_to_nothing_shared(text):
    assert not refers_back(text)


def test_a_question_in_another_language_is_left_to_similarity():
    foreign = "Kannst du dich erinnern, was letzte Woche mit dem Hund passiert ist?"
    assert plan_live([says("a", foreign)], AROUND).episodes.is_read


def test_what_recent_history_holds_needs_no_episode():
    asked = says("a", "do you remember the llama parade in Cusco?")
    told = Surroundings(agents=("Giulia",), history=("The llama parade in Cusco was cancelled",))
    assert plan_live([asked], AROUND).episodes.is_read
    plan = plan_live([asked], told)
    assert (plan.episodes.is_read, plan.episodes.why) == (False, "recent history holds what is referred to")


def test_a_link_with_a_question_mark_is_no_question():
    assert not is_question("https://example.org/?q=1")
    assert is_question("see https://example.org/ ok?")


def test_lore_is_about_the_names_in_it_and_its_labels():
    texts = ["The lighthouse keeper was Ettore Bianchi.", "On Mondays it rains.", "She met Ada, then Carlo."]
    assert entity_names(texts, ["Camogli", ""]) == ("Ada", "Camogli", "Carlo", "Ettore Bianchi", "Mondays")


MESSAGES = st.lists(
    st.builds(says, st.sampled_from("abcdefgh"), st.text(max_size=40), event=st.sampled_from([None, None, "raid"])),
    min_size=1,
    max_size=20,
)


@given(batch=MESSAGES, viewers=st.integers(1, 5))
def test_plans_are_bounded_complete_and_equal_for_equal_batches(batch, viewers):
    plan = plan_live(batch, AROUND, viewers)
    assert plan == plan_live(list(batch), AROUND, viewers)
    assert len(plan.picks) <= viewers
    spaces = [*(pick.space for pick in plan.picks), *plan.passed_over]
    assert sorted(spaces) == sorted({m.viewer for m in batch})
    weights = [pick.salience for pick in plan.picks]
    assert weights == sorted(weights, reverse=True)
    assert all(pick.why for pick in plan.picks)
