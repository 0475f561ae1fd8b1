"""The whole service over bge-m3: a memory in, a prompt out."""

from pathlib import Path

import httpx

from app.main import create_app
from app.runtime import first_key, open_runtime
from app.settings import Settings


async def test_a_memory_written_over_http_stands_in_the_prompt(folder: Path, tmp_path: Path):
    calibration = {"dimensions": 1_024, "band": [0.75, 0.92], "scale": 1.0, "shift": 0.0}
    fields = {"embedder": "bge-m3", "embedder_model": str(folder), "embedder_calibration": calibration}
    settings = Settings.model_validate({"data_dir": tmp_path / "data", "database_connections": 2, **fields})
    async with open_runtime(settings) as runtime:
        app = create_app(runtime)
        app.state.runtime = runtime
        headers = {"Authorization": f"Bearer {first_key(settings.data_dir)}"}
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test/api/v1", headers=headers) as client:
            written = await client.post("/memories", json={"space": "user:1", "text": "I live in Turin."})
            assert written.status_code == 201
            reply = await client.post("/context/assemble", json={"space": "user:1", "query": "Where do I live?"})
    assert "I live in Turin." in reply.json()["prompt"]
    assert reply.json()["degraded"] == []
