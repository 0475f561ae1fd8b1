"""An agent with a memory: ask for the prompt, answer, remember. Run it with the service's URL and a key.

.venv/bin/python examples/agent.py http://127.0.0.1:8080 "$(cat data/api_key)"
"""

import sys
from collections.abc import Mapping

import httpx

SPACE = "user:grace"
PERSONA = "agent:librarian"


def answer(system_prompt: str, conversation: list[dict[str, str]]) -> str:
    """Stands for any language model: give it the prompt as the system message, and the conversation."""
    known = system_prompt.count("<memory ")
    return f"(an answer to “{conversation[-1]['text']}” from a prompt with {known} facts)"


class Memory:
    """The four calls that an agent needs."""

    def __init__(self, url: str, key: str) -> None:
        """Nothing is asked yet."""
        self._http = httpx.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=5)

    def prompt(self, message: str, history: list[dict[str, str]]) -> str:
        """The system prompt for answering a message; recent messages outrank what is remembered."""
        body = {"space": SPACE, "persona": PERSONA, "query": message, "history": history}
        return str(self._post("/context/assemble", body)["prompt"])

    def remember(self, text: str, **more: object) -> None:
        """Keep a fact. What contradicts it is superseded, and the reply says so."""
        written = self._post("/memories", {"space": SPACE, "text": text, "author": {"name": "Grace"}, **more})
        for replaced in written["superseded"]:
            print(f"  (replaces {replaced})")

    def happened(self, text: str) -> None:
        """Keep an episode."""
        self._post("/episodes", {"space": SPACE, "text": text})

    def introduce(self, name: str, text: str) -> None:
        """Give the agent a soul block, unless it has one of that name (409)."""
        block = {"space": PERSONA, "name": name, "text": text}
        if self._http.post("/soul", json=block).status_code != httpx.codes.CONFLICT:
            print(f"  (the agent has a new {name})")

    def _post(self, path: str, body: Mapping[str, object]) -> dict[str, list[str]]:
        reply = self._http.post(path, json=body)
        reply.raise_for_status()
        content: dict[str, list[str]] = reply.json()
        return content


def main(url: str, key: str) -> None:
    """Two turns of a conversation."""
    memory = Memory(url, key)
    memory.introduce("persona", "You are a librarian. You recommend one book at a time.")
    memory.remember("Answer in one sentence.", category="output_preference", importance=0.9)
    memory.remember("I live in Genoa")
    memory.remember("I have moved, I live in Trieste now")
    history: list[dict[str, str]] = []
    for message in ("Which city do I live in?", "Which novel set in my city should I read?"):
        prompt = memory.prompt(message, history)
        print(f"\n{prompt}")
        history.append({"author": "Grace", "text": message})
        reply = answer(prompt, history)
        print(f"Grace: {message}\nAgent: {reply}")
        history.append({"author": "assistant", "text": reply})
    memory.happened("Grace asked for a novel set in Trieste.")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
