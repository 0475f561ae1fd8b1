/** The entries of a space, page by page: filtered or searched; one of them beside the list. */

import { fill, freshId, h } from "../../lib/dom.js";
import { isAbort, Problem } from "../../lib/api.js";
import { hrefOf } from "../../lib/address.js";
import { receiptOf } from "../../lib/forgetting.js";
import { number, t, tValue } from "../../lib/i18n.js";
import { backTo, button, empty, errorPanel, field, loading, pager, panel, showErrors, tag } from "../../lib/widgets.js";
import { questions } from "./corrections.js";
import { details } from "./entry.js";
import { CATEGORIES, categoryTag, day, standingOf, standingTag, TIERS, tierOf, whereOf } from "../../lib/words.js";

/** @typedef {import("../../pages.js").View} View */
/** @typedef {import("../memory.js").Place} Place */
/** @typedef {import("../../lib/words.js").Entry} Entry */
/** @typedef {{items: Entry[], next_cursor: string | null}} Page */

const STATUSES = ["current", "unresolved", "superseded", "retracted", "archived", "any"];
const FILTERS = /** @type {const} */ (["status", "category", "scope", "tag"]);
const PAGE = 50;
const WAIT_MS = 350;

/** @param {Place} place */
export async function entries(place) {
  const { view, params } = place;
  const chosen = params.get("id");
  if (chosen && !params.has("tier")) params.set("tier", tierOf(chosen) ?? "memories");
  const list = h("ul", { class: "memory-list", "aria-label": t("memory.part.entries") });
  const more = h("div", {});
  const told = h("span", { class: "memory-told" });
  const beside = h("div", { class: "memory-beside" });
  const found = panel(t("memory.part.entries"), [list, more], { note: told });
  found.classList.add("memory-found");
  const split = h("div", { class: "memory-split" }, found, beside);
  let running = new AbortController();
  let hasMore = false;

  const count = () => (told.textContent = t(hasMore ? "memory.shown_more" : "memory.shown", { count: number(list.childElementCount) }));

  /** How many current entries each tier has. */
  const recount = async () => {
    try {
      figures((await view.api.get(`/spaces/${encodeURIComponent(place.space)}`, { signal: view.signal })).entries);
    } catch (error) {
      if (!isAbort(error)) fill(more, errorPanel(error));
    }
  };

  const load = async (/** @type {string | null} */ cursor) => {
    running.abort();
    running = new AbortController();
    const signal = AbortSignal.any([running.signal, view.signal]);
    if (cursor === null) fill(list);
    fill(more, loading());
    try {
      const page = await pageOf(place, cursor, signal);
      showErrors(form, []);
      list.append(...page.items.map((entry) => row(place, entry, choose)));
      fill(more, pager(page.next_cursor, (next) => void load(next)), list.childElementCount === 0 && empty(t("memory.none")));
      hasMore = page.next_cursor !== null;
      view.announce(count());
      mark(list, params.get("id"));
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof Problem) showErrors(form, error.errors);
      fill(more, errorPanel(error, () => void load(cursor)));
      told.textContent = "";
    }
  };

  const changed = (/** @type {Record<string, string | null>} */ changes, /** @type {boolean} */ isSameStep) => {
    place.note({ ...changes, id: null, receipt: null }, isSameStep);
    close();
    void load(null);
  };

  const close = () => {
    split.removeAttribute("data-open");
    fill(beside);
    mark(list, null);
  };

  const back = () => {
    const id = params.get("id");
    place.note({ id: null, receipt: null });
    close();
    const link = id && list.querySelector(`[data-id="${CSS.escape(id)}"] a`);
    if (link instanceof HTMLElement) link.focus();
  };

  const open = async (/** @type {string} */ id) => {
    split.setAttribute("data-open", "");
    mark(list, id);
    await details(place, beside, id, {
      back,
      changed: (entry) => {
        const old = list.querySelector(`[data-id="${CSS.escape(entry.id)}"]`);
        old?.replaceWith(row(place, entry, choose));
        mark(list, id);
        void recount();
      },
      corrected: ({ after }) => {
        void load(null);
        void recount();
        choose(after[0]?.id ?? id);
      },
      forgotten: (done) => {
        for (const gone of done.ids) list.querySelector(`[data-id="${CSS.escape(gone)}"]`)?.remove();
        count();
        void recount();
        place.note({ id: null, receipt: done.id });
        void receipt(view, beside, done.id, back);
      },
    });
  };

  const choose = (/** @type {string} */ id) => {
    place.note({ id, receipt: null });
    void open(id).then(() => {
      const head = beside.querySelector("h2");
      if (head instanceof HTMLElement) head.focus();
    });
  };

  const { form, figures } = filters(place, changed);
  const asked = h("div", {});
  fill(place.body, asked, form, split);
  void questions(place, asked, () => void load(null));
  const shown = params.get("id");
  const receiptId = params.get("receipt");
  if (receiptId) split.setAttribute("data-open", "");
  await Promise.all([load(null), recount(), shown ? open(shown) : receiptId && receipt(view, beside, receiptId, back)]);
}

/** @param {View} view @param {Element} root @param {string} id @param {() => void} back To the list. */
async function receipt(view, root, id, back) {
  fill(root, loading());
  try {
    const { content, again } = receiptOf(view, await view.api.get(`/receipts/${encodeURIComponent(id)}`, { signal: view.signal }));
    const shown = panel(t("forget.receipt"), content, { actions: again });
    const head = shown.querySelector("h2");
    head?.setAttribute("tabindex", "-1");
    fill(root, h("div", { class: "results" }, backTo(back), shown));
    head?.focus();
  } catch (error) {
    if (!isAbort(error)) fill(root, backTo(back), errorPanel(error));
  }
}

/** @param {Element} list @param {string | null} id */
function mark(list, id) {
  for (const item of list.querySelectorAll("[data-id] a")) item.removeAttribute("aria-current");
  if (id) list.querySelector(`[data-id="${CSS.escape(id)}"] a`)?.setAttribute("aria-current", "true");
}

/** @param {URLSearchParams} params */
function tierIn(params) {
  const wanted = params.get("tier");
  return TIERS.find((tier) => tier === wanted) ?? "memories";
}

/**
 * A page of the list; or, with words to search for, what the search finds on its one page.
 * @param {Place} place @param {string | null} cursor @param {AbortSignal} signal
 * @returns {Promise<Page>}
 */
async function pageOf({ view, space, params }, cursor, signal) {
  const tier = tierIn(params);
  const [words, status, scope, label] = [params.get("query"), params.get("status") ?? "current", params.get("scope"), params.get("tag")];
  const category = tier === "memories" ? params.get("category") : null;
  if (words) {
    const body = { space, query: words, tiers: [tier], limit: PAGE, category, tags: label ? [label] : null, scopes: scope ? [scope] : [] };
    return { items: (await view.api.post("/search", body, { signal })).items, next_cursor: null };
  }
  const standing = { current: { status: "active" }, unresolved: { status: "active", unresolved: true } }[status] ?? { status };
  return view.api.get(`/${tier}`, { query: { space, ...standing, category, tag: label, scope, limit: PAGE, cursor }, signal });
}

/** @param {Place} place @param {(changes: Record<string, string | null>, isSameStep: boolean) => void} changed */
function filters({ params }, changed) {
  const tier = tierIn(params);
  const query = h("input", { type: "search", value: params.get("query") ?? "", placeholder: t("memory.search_for"), autocomplete: "off" });
  const status = select("status", STATUSES, params.get("status") ?? "current");
  const category = select("category", ["", ...CATEGORIES], params.get("category") ?? "");
  const scope = h("input", { type: "text", value: params.get("scope") ?? "", spellcheck: "false", placeholder: "chat:kitchen" });
  const label = h("input", { type: "text", value: params.get("tag") ?? "", spellcheck: "false" });
  const name = freshId();
  const totals = { memories: h("span", { class: "figure" }), episodes: h("span", { class: "figure" }), procedures: h("span", { class: "figure" }) };
  const figures = (/** @type {Api.EntryCounts} */ now) => TIERS.forEach((one) => (totals[one].textContent = number(now[one])));
  const tiers = h(
    "fieldset",
    { class: "segments" },
    h("legend", { class: "spoken" }, t("memory.tier")),
    TIERS.map((one) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name, value: one, checked: one === tier, onchange: () => (settle(one), changed({ tier: one === "memories" ? null : one }, false)) }),
        h("span", {}, tValue("part", one), " ", totals[one]),
      ),
    ),
  );
  const settle = (/** @type {string} */ now) => {
    categories.hidden = now !== "memories";
    status.disabled = params.has("query"); // a search finds what holds now
    status.value = status.disabled ? "current" : (params.get("status") ?? "current");
    clear.hidden = !query.value && FILTERS.every((one) => !params.get(one));
  };
  const set = (/** @type {string} */ field, /** @type {string} */ value) => {
    if ((params.get(field) ?? "") === value) return;
    changed({ [field]: value || null }, field === "query" && value !== "" && params.has("query"));
    settle(tierIn(params));
  };
  let waiting = 0;
  query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => set("query", query.value.trim()), WAIT_MS);
  });
  query.addEventListener("change", () => (clearTimeout(waiting), set("query", query.value.trim())));
  status.addEventListener("change", () => set("status", status.value === "current" ? "" : status.value));
  category.addEventListener("change", () => set("category", category.value));
  scope.addEventListener("change", () => set("scope", scope.value.trim()));
  label.addEventListener("change", () => set("tag", label.value.trim()));
  const categories = field(t("memory.category"), category, { name: "category" });
  const clear = button(t("action.clear_filters"), () => {
    for (const control of [query, scope, label, category]) control.value = "";
    status.value = "current";
    changed({ query: null, status: null, category: null, scope: null, tag: null }, false);
    settle(tierIn(params));
    query.focus();
  }, { kind: "quiet" });
  const form = h(
    "form",
    { class: "memory-filters", role: "search", "aria-label": t("memory.filters"), onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    h("div", { class: "memory-search" }, tiers, field(t("memory.search"), query, { name: "query" })),
    h("div", { class: "memory-narrow" }, field(t("memory.status"), status, { name: "status" }), categories, field(t("field.tag"), label, { name: "tag" }), field(t("memory.scope"), scope, { name: "scope" }), clear),
  );
  settle(tier);
  return { form, figures };
}

/** @param {"status" | "category"} name @param {readonly string[]} values @param {string} chosen */
function select(name, values, chosen) {
  const said = (/** @type {string} */ value) => (value === "" || value === "any" ? t("memory.any") : name === "status" ? tValue("standing", value) : tValue("category", value));
  const control = h("select", {}, values.map((value) => h("option", { value }, said(value))));
  control.value = chosen;
  return control;
}

/** @param {Place} place @param {Entry} entry @param {(id: string) => void} choose */
function row({ params, space }, entry, choose) {
  const href = hrefOf("memory", { ...Object.fromEntries(params), space, id: entry.id });
  const take = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(entry.id);
  };
  const labels = [
    standingOf(entry) !== "current" && standingTag(entry),
    categoryTag(entry),
    entry.scope && tag(whereOf(entry.scope), "workflows"),
    ...entry.tags.map((one) => h("span", {}, `#${one}`)),
  ].filter(Boolean);
  return h(
    "li",
    { "data-id": entry.id, "data-standing": standingOf(entry) },
    h("a", { href, onclick: take, dir: "auto" }, entry.text),
    day("occurred_at" in entry && entry.occurred_at ? entry.occurred_at : entry.first_recorded_at),
    labels.length > 0 && h("p", { class: "entry-about" }, labels),
  );
}
