"""What an English sentence claims, and when it is wiser to say that it claims nothing."""

import pytest

from app.contradictions.claims import claim_key, derive_claim, value_key
from app.domain.entries import Cardinality

ONE, MANY = Cardinality.ONE, Cardinality.MANY

CLAIMS = [
    ("My name is Bianca.", "self", "name", "bianca", ONE),
    ("Call me Jo", "self", "name", "jo", ONE),
    ("The user's name is Bianca", "self", "name", "bianca", ONE),
    ("I live in Naples", "self", "residence", "napoli", ONE),
    ("Lives in Oslo now", "self", "residence", "oslo", ONE),
    ("I've just moved to Lyon with my cat", "self", "residence", "lyon", ONE),
    ("The user is based in Prague", "self", "residence", "praha", ONE),
    ("I live in Norway", "self", "country of residence", "norway", ONE),
    ("Greta lives in Berlin", "greta", "residence", "berlin", ONE),
    ("My sister lives in Madrid", "self's sister", "residence", "madrid", ONE),
    ("I work at Ferrari", "self", "employer", "ferrar", ONE),
    ("Left Nokia and joined Ericsson", "self", "employer", "ericsson", ONE),
    ("I work as a baker", "self", "job", "baker", ONE),
    ("I'm a dentist", "self", "job", "dentist", ONE),
    ("My husband is a plumber", "self's husband", "job", "plumber", ONE),
    ("I'm 29 years old", "self", "age", "29", ONE),
    ("Turned forty-two in March", "self", "age", "42", ONE),
    ("My birthday is on March 3rd", "self", "birthday", "03-03", ONE),
    ("I was born on 7 August 1990", "self", "birthday", "08-07", ONE),
    ("I am vegetarian", "self", "diet", "vegetarian", ONE),
    ("I eat meat again now", "self", "diet", "eats meat", ONE),
    ("She said nothing new. I am vegan.", "self", "diet", "vegan", ONE),
    ("I'm married", "self", "marital status", "married", ONE),
    ("Got divorced last spring", "self", "marital status", "divorced", ONE),
    ("My wife's name is Olga", "self's wife", "name", "olga", ONE),
    ("I speak Portuguese", "self", "language", "portuguese", MANY),
    ("I have a parrot named Coco", "self", "pet", "coco", MANY),
    ("I love Thai food", "self", "attitude:thai food", "positive", ONE),
    ("I can't stand karaoke", "self", "attitude:karaoke", "negative", ONE),
    ("Doesn't like olives", "self", "attitude:olives", "negative", ONE),
    ("I no longer like horror films", "self", "attitude:horror films", "negative", ONE),
    ("Greta's eyes are grey", "greta", "eye colour", "grey", ONE),
    ("Greta has brown hair", "greta", "hair colour", "brown", ONE),
    ("My favourite season is autumn", "self", "favourite season", "autumn", ONE),
    ("My favorite color is dark green", "self", "favourite colour", "dark green", ONE),
    ("My phone is a Pixel 9", "self", "phone", "pixel 9", ONE),
    ("Drives a red Fiat Panda", "self", "car", "red fiat panda", ONE),
    ("Please answer briefly", "self", "answer length", "short", ONE),
    ("Prefers long, detailed answers", "self", "answer length", "long", ONE),
    ("Always answer in Italian", "self", "answer language", "italian", ONE),
    ("Use metric units", "self", "units", "metric", ONE),
    ("I'm allergic to shellfish", "self", "allergy", "shellfish", MANY),
    ("Has a pollen allergy", "self", "allergy", "pollen", MANY),
    ("I use Neovim", "self", "uses", "neovim", MANY),
    ("The meeting is on Tuesday", "meeting", "day", "tuesday", ONE),
    ("The standup is at 9:30 am", "standup", "time", "09:30", ONE),
    ("The report is due on 12 May", "report", "deadline", "05-12", ONE),
    ("The annual pass costs 120 euros", "annual pass", "price", "120 eur", ONE),
    ("The server runs version 2.4.1", "server", "version", "2.4.1", ONE),
    ("I have three children", "self", "children", "3", ONE),
    ("I quit smoking in June", "self", "smoking", "no", ONE),
    ("Never drinks alcohol", "self", "alcohol", "no", ONE),
    ("Is 1.82 m tall", "self", "height", "182 cm", ONE),
    ("The dog is called Bruno", "self's dog", "name", "bruno", ONE),
]

NOTHING = [
    "Where do I live?",
    "I wish I lived in Paris",
    "If I lived in Rome, I would walk more",
    "I might move to Berlin next year",
    "I want to work at Google",
    "I used to live in Rome",
    "No longer works at Siemens",
    "I'm tired",
    "I'm going to the shop",
    "I love you",
    "I like it a lot",
    "He lives in Boston",
    "Is that a dentist",
    "Benchmark was run with model 7B",
    "Went to Rome in May",
    "I'm fine, thanks",
    "ok",
    "",
    "My friend said that he is vegetarian",
    "Lives in a small flat near the station",
    "Someone asked me whether I am married",
    "What I like is silence",
    "\U0001f600\U0001f600",
    "Would like to see Patagonia one day",
]


@pytest.mark.parametrize(("text", "subject", "attribute", "value", "cardinality"), CLAIMS)
def test_an_english_sentence_claims(text, subject, attribute, value, cardinality):
    claim = derive_claim(text)
    assert claim is not None
    assert (claim.subject, claim.attribute, value_key(claim), claim.cardinality) == (
        subject,
        attribute,
        value,
        cardinality,
    )
    assert claim_key(claim)[0] == subject


@pytest.mark.parametrize("text", NOTHING)
def test_an_english_sentence_claims_nothing_for_sure(text):
    assert derive_claim(text) is None
