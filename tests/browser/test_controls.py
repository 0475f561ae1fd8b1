"""Every field of the two main calls has a control in the playground: a field that is added without one fails here."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.test_playground import address, prompt_of

SET_BY_THE_PLAYGROUND = {"record", "trace"}
"""The playground records nothing and always asks for the trace."""

BATCH = '[{"author":{"platform":"chat","id":"ana","name":"Ana"},"text":"Where do I live?"}]'


@pytest.mark.parametrize(
    ("schema", "view"),
    [
        ("AssembleBody", "/playground?space=user:ada&query=x"),
        ("LiveBody", f"/playground?stream=stream:chat:x&batch={BATCH}"),
    ],
)
async def test_every_field_of_the_request_has_a_control(page, url, tenant, app, *, schema, view):
    await page.goto(address(url, view, tenant.key))
    await expect(page.get_by_role("button", name="Assemble")).to_be_visible()
    for items in ("history", ".media"):  # the second also of what was added to the first
        for add in await page.locator(f'fieldset[data-field$="{items}"] > .actions > button').all():
            await add.dispatch_event("click")
    named = await page.locator("form.asking [data-field]").evaluate_all("all => all.map(one => one.dataset.field)")
    controls = {re.sub(r"\[\d+\]", "", name) for name in named}
    wanted = set(_fields(app.openapi()["components"]["schemas"], schema)) - SET_BY_THE_PLAYGROUND
    assert wanted <= controls, sorted(wanted - controls)
    around = {name.rpartition(".")[0] for name in wanted}
    assert controls <= wanted | around, sorted(controls - wanted - around)


def _fields(schemas: Mapping[str, Any], name: str, prefix: str = "") -> Iterator[str]:
    """The dotted names of the fields that a person sets; those of a list's items as if it had one."""
    for field, schema in schemas[name]["properties"].items():
        inner = _record_in(schemas, schema)
        if inner is None:
            yield prefix + field
        else:
            yield from _fields(schemas, inner, f"{prefix}{field}.")


def _record_in(schemas: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """The name of the record that a field holds, or holds many of."""
    for one in (schema, *schema.get("anyOf", ()), schema.get("items", {})):
        found = one.get("$ref", "").rpartition("/")[2]
        if "properties" in schemas.get(found, {}):
            return found
    return None


async def test_a_fault_in_a_batch_is_named_at_its_own_control(page, url, tenant):
    batch = '[{"author":{"platform":"a:b","id":"1"},"text":"hm"},{"author":{"name":"Bob"},"at":"2026-01-01T10:00:00"}]'
    await page.goto(address(url, f"/playground?stream=stream:chat:x&batch={batch}", tenant.key))
    first = page.locator('[data-field="batch[0].author.platform"] .error, [data-field="batch[0]"] .error')
    await expect(page.locator(".results [role=alert]")).to_contain_text("422")
    await expect(page.locator('[data-field="batch[1].at"] .error')).to_contain_text("time zone")
    await expect(page.locator('[data-field="batch[1].at"]')).to_be_visible()
    assert await first.count() <= 2


async def test_more_than_a_slider_reaches_can_be_typed(page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.get_by_text("Budgets", exact=True).click()
    await page.get_by_label("Memories, typed").fill("150000")
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("of 150,000")
    await page.get_by_label("Memories, typed").fill("200001")
    await expect(page.locator('[data-field="overrides.budget_tokens.memories"] .error')).to_contain_text("200000")
    await page.get_by_role("button", name="Memories: back to the default").click()
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("of 2,000")


async def test_a_slider_on_its_way_is_one_step_of_the_history_and_few_calls(page, url, tenant, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    calls, before = [], await page.evaluate("history.length")
    page.on("request", lambda request: calls.append(request.url) if request.method == "POST" else None)
    await page.get_by_text("Budgets", exact=True).click()
    slider = page.locator('[data-field="overrides.budget_tokens.memories"] input[type=range]')
    await slider.focus()
    for _ in range(39):
        await page.keyboard.press("ArrowLeft")
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("of 50")
    await expect(slider).to_be_focused()
    for _ in range(2):
        await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("of 150")
    assert await page.evaluate("history.length") == before + 1
    assert len(calls) < 20
    await page.go_back()
    await expect(page.get_by_role("region", name="Tokens")).to_contain_text("of 2,000")


async def test_recent_messages_have_their_times(page, url, tenant, client, kitchen):
    await page.goto(address(url, key=tenant.key))
    await prompt_of(page)
    await page.get_by_text("Conversation", exact=True).click()
    history = page.locator('fieldset[data-field="history"]')
    await history.get_by_role("button", name="Add").click()
    await history.get_by_label("Author").fill("Ada")
    await history.get_by_label("Text").fill("Lucia comes too.")
    await history.get_by_text("Details").click()
    await history.get_by_label("Said at").fill("2026-03-01T12:00:00")
    await page.keyboard.press("Control+Enter")
    await expect(page).to_have_url(re.compile("history=.*2026-03-01T"))
    await expect(page.locator(".results [role=alert]")).to_have_count(0)
