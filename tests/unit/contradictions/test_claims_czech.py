"""What a Czech sentence claims, and when it is wiser to say that it claims nothing."""

import pytest

from app.contradictions.claims import derive_claim, value_key
from app.domain.entries import Cardinality

ONE, MANY = Cardinality.ONE, Cardinality.MANY

CLAIMS = [
    ("Jmenuji se Ondřej", "self", "name", "ondrej", ONE),
    ("Moje jméno je Ondřej", "self", "name", "ondrej", ONE),
    ("Bydlím v Praze", "self", "residence", "praha", ONE),
    ("Žije v Ostravě", "self", "residence", "ostrava", ONE),
    ("Přestěhovala jsem se do Brna", "self", "residence", "brno", ONE),
    ("Žiju ve Francii", "self", "country of residence", "france", ONE),
    ("Moje sestra bydlí v Plzni", "self's sister", "residence", "plzen", ONE),
    ("Greta bydlí v Berlíně", "greta", "residence", "berlin", ONE),
    ("Pracuji ve Škodě", "self", "employer", "skod", ONE),
    ("Odešel z Nokie a nastoupil do Ericssonu", "self", "employer", "ericsson", ONE),
    ("Pracuji jako pekař", "self", "job", "baker", ONE),
    ("Můj manžel je instalatér", "self's husband", "job", "plumber", ONE),
    ("Je mi 29 let", "self", "age", "29", ONE),
    ("Otci je sedmdesát let", "self's father", "age", "70", ONE),
    ("Narozeniny mám 3. března", "self", "birthday", "03-03", ONE),
    ("Narodila jsem se 7. srpna 1990", "self", "birthday", "08-07", ONE),
    ("Jsem vegetarián", "self", "diet", "vegetarian", ONE),
    ("Už zase jím maso", "self", "diet", "eats meat", ONE),
    ("Je veganka", "self", "diet", "vegan", ONE),
    ("Jsem vdaná", "self", "marital status", "married", ONE),
    ("Je rozvedený", "self", "marital status", "divorced", ONE),
    ("Moje žena se jmenuje Olga", "self's wife", "name", "olga", ONE),
    ("Mluvím portugalsky", "self", "language", "portuguese", MANY),
    ("Mám papouška jménem Koko", "self", "pet", "koko", MANY),
    ("Mám rád thajskou kuchyni", "self", "attitude:thajskou kuchyni", "positive", ONE),
    ("Nesnáším karaoke", "self", "attitude:karaoke", "negative", ONE),
    ("Nemá ráda olivy", "self", "attitude:olivy", "negative", ONE),
    ("Greta má šedé oči", "greta", "eye colour", "grey", ONE),
    ("Greta má hnědé vlasy", "greta", "hair colour", "brown", ONE),
    ("Moje oblíbená barva je zelená", "self", "favourite colour", "green", ONE),
    ("Můj telefon je Pixel 9", "self", "phone", "pixel 9", ONE),
    ("Odpovídej stručně", "self", "answer length", "short", ONE),
    ("Preferuje podrobné odpovědi", "self", "answer length", "long", ONE),
    ("Odpovídej vždy anglicky", "self", "answer language", "english", ONE),
    ("Používej metrické jednotky", "self", "units", "metric", ONE),
    ("Jsem alergický na mořské plody", "self", "allergy", "morske plody", MANY),
    ("Používám Neovim", "self", "uses", "neovim", MANY),
    ("Schůzka je v úterý", "schuzka", "day", "tuesday", ONE),
    ("Schůzka je v 9:30", "schuzka", "time", "09:30", ONE),
    ("Předplatné stojí 120 korun", "predplatne", "price", "120 czk", ONE),
    ("Mám tři děti", "self", "children", "3", ONE),
    ("Přestal jsem kouřit", "self", "smoking", "no", ONE),
    ("Nikdy nepije alkohol", "self", "alcohol", "no", ONE),
    ("Měří 182 cm", "self", "height", "182 cm", ONE),
    ("Pes se jmenuje Bruno", "self's dog", "name", "bruno", ONE),
]

NOTHING = [
    "Kde bydlím?",
    "Chtěla bych žít v Paříži",
    "Kdybych bydlel v Římě, chodil bych víc pěšky",
    "Možná se přestěhuju do Berlína",
    "Už nepracuje v Siemensu",
    "Dřív bydlel v Římě",
    "Jsem unavený",
    "Jdu do obchodu",
    "Miluju tě",
    "Moc se mi to líbí",
    "On bydlí v Bostonu",
    "V květnu jel do Říma",
    "Kamarád říkal, že je vegetarián",
    "Bydlí v malém bytě",
    "Dobře, díky",
    "Koupil si elektrické kolo",
]


@pytest.mark.parametrize(("text", "subject", "attribute", "value", "cardinality"), CLAIMS)
def test_a_czech_sentence_claims(text, subject, attribute, value, cardinality):
    claim = derive_claim(text)
    assert claim is not None
    assert (claim.subject, claim.attribute, value_key(claim), claim.cardinality) == (
        subject,
        attribute,
        value,
        cardinality,
    )


@pytest.mark.parametrize("text", NOTHING)
def test_a_czech_sentence_claims_nothing_for_sure(text):
    assert derive_claim(text) is None
