"""The API page: complete, and true."""

import pytest
from routes import Victim, request_for

from app.api.openapi import TAGS


@pytest.fixture
def document(app):
    return app.openapi()


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_every_operation_has_a_summary_and_a_tag_that_is_described(document):
    described = [tag["name"] for tag in TAGS]
    for method, path, operation in operations(document):
        assert operation["summary"][0].isupper(), (method, path)
        assert len(operation["tags"]) == 1
        assert operation["tags"][0] in described
    assert len({operation["summary"] for _, _, operation in operations(document)}) == len(list(operations(document)))
    assert [tag["name"] for tag in document["tags"]] == described


def test_every_operation_but_health_asks_for_the_key(document):
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    for _, path, operation in operations(document):
        assert bool(operation.get("security")) == path.startswith("/api/"), path


def test_every_operation_says_which_problems_it_answers_with(document):
    for method, path, operation in operations(document):
        if path.startswith("/api/"):
            assert {"401", "403", "404", "422", "503"} <= operation["responses"].keys()
            assert ("400" in operation["responses"]) == ("requestBody" in operation)
        success = [status for status in operation["responses"] if status.startswith("2")]
        reinforces = (method, path) == ("POST", "/api/v1/memories")
        assert len(success) == 1 + reinforces
    assert "HTTPValidationError" not in document["components"]["schemas"]
    problem = document["components"]["responses"]["NotFound"]["content"]["application/problem+json"]
    assert problem["schema"]["$ref"].rpartition("/")[2] in document["components"]["schemas"]


def test_every_reference_leads_somewhere(document):
    def references(node):
        if isinstance(node, dict):
            yield from ([node["$ref"]] if isinstance(node.get("$ref"), str) else [])
            for value in node.values():
                yield from references(value)
        if isinstance(node, list):
            for value in node:
                yield from references(value)

    found = set(references(document))
    assert found
    for reference in found:
        node = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]


async def test_every_example_of_a_body_works(client, document):
    space = "user:42"
    ids = {}
    for resource in ("memories", "episodes", "procedures"):
        ids[resource] = (await client.post(f"/{resource}", json={"space": space, "text": "x"})).json()["id"]
    ids["soul"] = (await client.post("/soul", json={"space": space, "name": "x", "text": "x"})).json()["id"]
    turn = (await client.post("/turns", json={"space": space, "messages": [{"text": "x"}]})).json()
    claim = {"space": space, "subject": "Mira", "attribute": "toy", "value": "kite"}
    corrections = [await client.post("/corrections", json={**claim, "scopes": s}) for s in ([], ["story:au1"])]
    correction, question = (reply.json()["id"] for reply in corrections)
    said = {"turn": turn["id"], "message": turn["messages"][0]["id"], "session": turn["session"], "job": ""}
    victim = Victim(space, *ids.values(), "", **said, correction=correction, question=question, receipt="")
    tried = 0
    for method, path, operation in operations(document):
        if "requestBody" not in operation:
            continue
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for example in document["components"]["schemas"][reference.rpartition("/")[2]].get("examples", []):
            url, _ = request_for(method, path, victim)
            reply = await client.request(method, url, json=example)
            assert reply.status_code in (200, 201, 202, 207), (method, path, reply.text)
            assert '"status":422' not in reply.text
            tried += 1
    assert tried >= 15
