"""What an Italian sentence claims, and when it is wiser to say that it claims nothing."""

import pytest

from app.contradictions.claims import derive_claim, value_key
from app.domain.entries import Cardinality

ONE, MANY = Cardinality.ONE, Cardinality.MANY

CLAIMS = [
    ("Mi chiamo Lorenzo", "self", "name", "lorenzo", ONE),
    ("Il mio nome è Lorenzo", "self", "name", "lorenzo", ONE),
    ("Abito a Napoli", "self", "residence", "napoli", ONE),
    ("Vive a Bari", "self", "residence", "bari", ONE),
    ("Mi sono trasferita a Trieste", "self", "residence", "trieste", ONE),
    ("Vivo in Francia", "self", "country of residence", "france", ONE),
    ("Mia sorella vive a Genova", "self's sister", "residence", "genova", ONE),
    ("Greta abita a Pisa", "greta", "residence", "pisa", ONE),
    ("Lavoro alla Ferrari", "self", "employer", "ferrar", ONE),
    ("Ha lasciato la Nokia per la Ericsson", "self", "employer", "ericsson", ONE),
    ("Lavoro come panettiere", "self", "job", "baker", ONE),
    ("Faccio l'idraulico", "self", "job", "plumber", ONE),
    ("Mio marito fa il medico", "self's husband", "job", "doctor", ONE),
    ("Ho 29 anni", "self", "age", "29", ONE),
    ("Mio padre ha settanta anni", "self's father", "age", "70", ONE),
    ("Il mio compleanno è il 3 marzo", "self", "birthday", "03-03", ONE),
    ("Sono nata il 7 agosto 1990", "self", "birthday", "08-07", ONE),
    ("Sono vegetariano", "self", "diet", "vegetarian", ONE),
    ("Adesso mangio di nuovo carne", "self", "diet", "eats meat", ONE),
    ("È vegana", "self", "diet", "vegan", ONE),
    ("Sono sposata", "self", "marital status", "married", ONE),
    ("Ha divorziato", "self", "marital status", "divorced", ONE),
    ("Mia moglie si chiama Olga", "self's wife", "name", "olga", ONE),
    ("Parlo portoghese", "self", "language", "portuguese", MANY),
    ("Ho un pappagallo di nome Coco", "self", "pet", "coco", MANY),
    ("Mi piace la cucina thailandese", "self", "attitude:cucina thailandese", "positive", ONE),
    ("Odio il karaoke", "self", "attitude:karaoke", "negative", ONE),
    ("Non le piacciono le olive", "self", "attitude:olive", "negative", ONE),
    ("Gli occhi di Greta sono grigi", "greta", "eye colour", "grey", ONE),
    ("Greta ha i capelli castani", "greta", "hair colour", "brown", ONE),
    ("La mia stagione preferita è l'autunno", "self", "favourite season", "autunno", ONE),
    ("Il suo colore preferito è il verde", "self", "favourite colour", "green", ONE),
    ("Il mio telefono è un Pixel 9", "self", "phone", "pixel 9", ONE),
    ("Guida una Fiat Panda rossa", "self", "car", "fiat panda red", ONE),
    ("Rispondi in modo conciso", "self", "answer length", "short", ONE),
    ("Preferisce risposte dettagliate", "self", "answer length", "long", ONE),
    ("Rispondi sempre in inglese", "self", "answer language", "english", ONE),
    ("Usa le unità metriche", "self", "units", "metric", ONE),
    ("Sono allergico ai crostacei", "self", "allergy", "crostacei", MANY),
    ("Uso Neovim", "self", "uses", "neovim", MANY),
    ("La riunione è martedì", "riunione", "day", "tuesday", ONE),
    ("La riunione è alle 9:30", "riunione", "time", "09:30", ONE),
    ("L'abbonamento costa 120 euro", "abbonamento", "price", "120 eur", ONE),
    ("Ho tre figli", "self", "children", "3", ONE),
    ("Ho smesso di fumare", "self", "smoking", "no", ONE),
    ("Non beve mai alcolici", "self", "alcohol", "no", ONE),
    ("È alta 1,82 m", "self", "height", "182 cm", ONE),
    ("Il cane si chiama Bruno", "self's dog", "name", "bruno", ONE),
]

NOTHING = [
    "Dove abito?",
    "Vorrei vivere a Parigi",
    "Se vivessi a Roma camminerei di più",
    "Forse mi trasferisco a Berlino",
    "Non lavora più alla Siemens",
    "Una volta abitava a Roma",
    "Sono stanco",
    "Sto andando al mercato",
    "Ti amo",
    "Mi piace molto",
    "Lui vive a Boston",
    "È andata a Roma a maggio",
    "Il mio amico dice che è vegetariano",
    "Vive in un appartamento al terzo piano",
    "Va bene, grazie",
    "Ha comprato una bici elettrica usata",
]


@pytest.mark.parametrize(("text", "subject", "attribute", "value", "cardinality"), CLAIMS)
def test_an_italian_sentence_claims(text, subject, attribute, value, cardinality):
    claim = derive_claim(text)
    assert claim is not None
    assert (claim.subject, claim.attribute, value_key(claim), claim.cardinality) == (
        subject,
        attribute,
        value,
        cardinality,
    )


@pytest.mark.parametrize("text", NOTHING)
def test_an_italian_sentence_claims_nothing_for_sure(text):
    assert derive_claim(text) is None
