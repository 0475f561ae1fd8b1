"""What must be remembered, replaced, kept apart or asked about: evals/data/corrections, step by step."""

import pytest

from evals.scripted import Script, play, scripts


@pytest.mark.parametrize("script", list(scripts()), ids=lambda script: script.title)
async def test_a_scripted_conversation_comes_out_as_it_is_written(client, runtime, script: Script):
    await play(script, client, "user:script", runtime.queue.drain)
