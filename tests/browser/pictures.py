"""The README's pictures, of a running service: `make pictures URL=…`, the address that `make run` prints."""

import asyncio
import sys
from pathlib import Path
from urllib.parse import urldefrag

from playwright.async_api import async_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM

PICTURES = Path(__file__).parents[2] / "docs/pictures"


async def main(address: str) -> None:
    """Make a picture of each page that the README shows."""
    url = urldefrag(address).url
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        for scheme in ("light", "dark"):
            page = await browser.new_page(
                viewport={"width": 1280, "height": 900}, locale="en-GB", color_scheme=scheme, reduced_motion="reduce"
            )
            await page.goto(address)
            await page.locator(".prompt").wait_for()
            await page.screenshot(path=PICTURES / f"playground-{scheme}.png")
            await page.close()
        await browser.close()
    sys.stdout.write(f"pictures of {url} are in {PICTURES}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
