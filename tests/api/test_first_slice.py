"""From one memory written over HTTP to one prompt."""


async def test_a_memory_written_over_http_stands_in_the_prompt(client):
    written = await client.post("/memories", json={"space": "user:1", "text": "I live in Turin."})
    assert written.status_code == 201
    reply = await client.post("/context/assemble", json={"space": "user:1", "query": "Where do I live?"})
    assert reply.status_code == 200
    assert "I live in Turin." in reply.json()["prompt"]
    assert reply.json()["tokens"]["total"] > 0
