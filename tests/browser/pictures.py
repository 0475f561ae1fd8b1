"""The README's pictures, of a running service: `make pictures URL=…`, the address that `make run` prints."""

import asyncio
import sys
from pathlib import Path
from urllib.parse import parse_qs, urldefrag, urljoin

import httpx
from playwright.async_api import async_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM

PICTURES = Path(__file__).parents[2] / "docs/pictures"
VIEWS = {
    "playground": ("/playground", None, ".prompt"),
    "memory": ("/memory?space=user:bruno&status=any", "I live in Alba", ".memory-sources"),
    "soul": ("/soul?space=agent:nonna", None, ".identity .prompt"),
    "conversations": ("/conversations?space=user:bruno&session=osteria", "What was remembered", ".entries-of li"),
}
"""The address of each picture's view, what is pressed in it, and what is there once it is complete."""

SAID = {
    "terrace": (
        ("I live in Alba, above the bakery.", "Then you never lack bread."),
        ("Please always answer me in English. I work as a carpenter.", "I shall."),
        ("By the way, I moved: I live in Turin now. I hate coriander.", "Welcome! No coriander, I promise."),
    ),
    "osteria": (
        (
            "We are eight on Saturday. My daughter Chiara is allergic to gluten.",
            "Then polenta it is. Shall I keep the long table?",
        ),
        ("Yes, the long table please. I love the one by the window 😊", "By the window, for eight, at eight."),
        ("תודה רבה! נתראה בשבת", "בשמחה, ברונו. שבת שלום!"),
    ),
}
"""What is said in the conversations that pictures show; each the day after the one before."""


async def tell(url: str, key: str) -> None:
    """Post the conversations, once: the sample has none. Returns when they are remembered."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=urljoin(url, "api/v1"), headers=headers, timeout=60) as client:
        for day, (session, exchanges) in enumerate(SAID.items(), 19):
            for minute, (said, reply) in enumerate(exchanges):
                at = f"2026-11-{day}T18:{minute:02}:00Z"
                turn = {
                    "space": "user:bruno",
                    "session": session,
                    "id": f"{session}-{minute}",
                    "messages": [{"author": {"id": "bruno", "name": "Bruno"}, "text": said, "at": at}],
                    "reply": {"author": {"name": "Nonna"}, "text": reply, "at": at},
                }
                (await client.post("/turns", json=turn)).raise_for_status()
        due = {"space": "user:bruno", "state": "waiting"}
        while (await client.get("/jobs", params=due)).json()["items"]:  # noqa: ASYNC110 - the API has no event for this
            await asyncio.sleep(0.2)


async def main(address: str) -> None:
    """Make a picture of each page that the README shows."""
    url, fragment = urldefrag(address)
    key = parse_qs(fragment)["key"][0]
    await tell(url.removesuffix("/"), key)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        for scheme in ("light", "dark"):
            for name, (view, pressed, complete) in VIEWS.items():
                page = await browser.new_page(
                    viewport={"width": 1280, "height": 900},
                    locale="en-GB",
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                mark = "&" if "?" in view else "?"
                await page.goto(f"{url}#{view}{mark}key={key}")
                if pressed is not None:
                    await page.get_by_text(pressed).first.click()
                await page.locator(complete).first.wait_for()
                await page.screenshot(path=PICTURES / f"{name}-{scheme}.png")
                await page.close()
        await browser.close()
    sys.stdout.write(f"pictures of {url} are in {PICTURES}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
