/** Why did it say that? From a prompt that was sent, to the entries in it, to the messages that they come of. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { hrefOf } from "../../lib/address.js";
import { moment, number, t, tValue } from "../../lib/i18n.js";
import { degradedNotice, empty, errorPanel, field, folded, loading, pager, panel, tag } from "../../lib/widgets.js";
import { sourcesOf } from "./sources.js";
import { hrefOfEntry, hrefOfWhy } from "../../lib/words.js";

/** @typedef {import("../memory.js").Place} Place */

const PAGE = 30;
const AT_ONCE = 4;

/** @param {Place} place */
export async function prompts(place) {
  const { params, space } = place;
  const wanted = params.get("assembly");
  if (wanted) return assembly(place, wanted);
  const id = h("input", { type: "text", placeholder: "asm_…", spellcheck: "false", autocomplete: "off" });
  const form = h(
    "form",
    {
      class: "memory-open",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (id.value.trim()) location.hash = hrefOfWhy(space, id.value.trim());
      },
    },
    field(t("why.id"), id, { hint: t("why.id_hint") }),
    h("button", { type: "submit", class: "button" }, t("why.open")),
  );
  const list = h("div", {});
  fill(place.body, h("div", { class: "results" }, panel(t("why.title"), [form, list], { note: t("why.note") })));
  await listed(place, list);
}

/** @param {Place} place @param {Element} root */
async function listed({ view, space }, root) {
  const items = h("ul", { class: "memory-list" });
  const more = h("div", {}, loading());
  const load = async (/** @type {string | null} */ cursor) => {
    try {
      /** @type {Api.Page_AssemblySummary_} */
      const page = await view.api.get("/assemblies", { query: { space, limit: PAGE, cursor }, signal: view.signal });
      items.append(...page.items.map((one) => row(space, one)));
      fill(more, pager(page.next_cursor, (next) => void load(next)), items.childElementCount === 0 && empty(t("why.none")));
    } catch (error) {
      if (!isAbort(error)) fill(more, errorPanel(error, () => void load(cursor)));
    }
  };
  fill(root, items, more);
  await load(null);
}

/** @param {string} space @param {Api.AssemblySummary} one */
function row(space, one) {
  return h(
    "li",
    {},
    h("a", { href: hrefOfWhy(space, one.id), dir: "auto" }, one.query || t("why.no_question")),
    h("time", { datetime: one.created_at }, moment(one.created_at)),
    one.degraded.length > 0 && h("p", { class: "entry-about" }, one.degraded.map((part) => tag(tValue("source", part), "warn"))),
  );
}

/** @param {Place} place @param {string} id */
async function assembly({ view, space, body }, id) {
  const back = h("p", {}, h("a", { class: "button", "data-kind": "quiet", href: hrefOf("memory", { show: "prompts", space }) }, "← ", t("why.back")));
  fill(body, loading());
  /** @type {Api.LoggedReply} */
  let found;
  try {
    found = await view.api.get(`/assemblies/${encodeURIComponent(id)}`, { signal: view.signal });
  } catch (error) {
    if (!isAbort(error)) fill(body, h("div", { class: "results" }, back, errorPanel(error)));
    return;
  }
  const items = found.entries.map((entry) => {
    const from = h("div", { class: "memory-from" }, loading());
    return { entry, from, element: h("li", { class: "entry", "data-id": entry.id }, h("p", { class: "entry-about" }, tag(tValue("section", entry.section), entry.section), h("span", {}, t("why.score", { score: number(entry.score, 3) })), entry.space !== space && h("span", {}, entry.space)), h("p", { class: "entry-text", dir: "auto" }, h("a", { href: hrefOfEntry(entry.space, entry.id) }, entry.text)), from) };
  });
  const there = hrefOf("playground", { assembly: found.id });
  fill(
    body,
    h(
      "div",
      { class: "results" },
      back,
      panel(t("why.question"), [
        h("p", { class: "memory-text", dir: "auto" }, found.query || t("why.no_question")),
        h("p", { class: "entry-about" }, h("time", { datetime: found.created_at }, moment(found.created_at)), h("span", {}, t("result.entry_tokens", { tokens: number(found.tokens.total) })), h("code", {}, found.id)),
        found.erased > 0 && h("div", { class: "notice", "data-tone": "warn" }, h("p", {}, t("why.erased", { count: found.erased }))),
        degradedNotice(found.degraded),
        folded(t("why.prompt"), h("pre", { class: "code memory-prompt", tabindex: 0 }, found.prompt)),
      ], { actions: h("a", { class: "button", href: there }, t("why.open_there")) }),
      panel(t("why.entries"), items.length > 0 ? h("ol", { class: "entries" }, items.map(({ element }) => element)) : empty(t("why.no_entries")), { note: t("why.entries_note") }),
    ),
  );
  const waiting = [...items];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      fill(next.from, (await sourcesOf(view, next.entry.id)) ?? h("p", { class: "muted" }, t("known.none")));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
