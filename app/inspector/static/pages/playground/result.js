/** What an assembly gave: the prompt, and why it is what it is. */

import { fill, h } from "../../lib/dom.js";
import { hrefOf } from "../../lib/address.js";
import { number, t, tValue } from "../../lib/i18n.js";
import { button, copy, degradedNotice, empty, facts, folded, legend, loading, panel, shortId, stackedBar, tag } from "../../lib/widgets.js";
import { isAbort } from "../../lib/api.js";
import { hrefOfEntry, pathOf, tierOf } from "../../lib/words.js";
import { BUDGET_TOKENS, WEIGHTS } from "./defaults.js";

/** @typedef {import("../../pages.js").View} View */
/**
 * A prompt with its trace, assembled now or taken from the log.
 * @typedef {Omit<Api.LoggedReply, "erased" | "space" | "created_at" | "query" | "request"> & {plan?: Record<string, unknown> | null}} Traced
 */
/** Of the request's lists of ids. @typedef {{isIn: (list: "must_include" | "exclude", id: string) => boolean, toggle: (list: "must_include" | "exclude", id: string) => void}} Choose */
/** @typedef {keyof typeof WEIGHTS} Signal */

const SECTIONS = ["identity", "preferences", "relevant_facts", "recent_context", "workflows"];
const SIGNALS = /** @type {Signal[]} */ (Object.keys(WEIGHTS));
const SHOWN_TEXTS = 20;
const SHOWN_ENTRIES = 100;

/**
 * @param {View} view
 * @param {Traced} reply
 * @param {Record<string, any>} body
 * @param {Choose | null} choose Null for what cannot be changed any more.
 */
export function result(view, reply, body, choose) {
  return [
    degradedNotice(reply.degraded),
    promptPanel(reply, body.format ?? "xml"),
    tokensPanel(reply, body),
    entriesPanel(reply, body, choose),
    conflictsPanel(view, reply),
    droppedPanel(view, reply, choose),
    timesPanel(reply),
  ];
}

/**
 * The sections of a prompt, in its order.
 * @param {string} prompt
 * @param {string} format
 * @returns {{section: string, text: string}[]}
 */
export function sectionsOf(prompt, format) {
  const heads = new Map(SECTIONS.map((section) => [headOf(section, format), section]));
  /** @type {{section: string, text: string}[]} */
  const found = [];
  for (const line of prompt.split(/(?<=\n)/)) {
    const section = heads.get(line.trimEnd());
    const last = found.at(-1);
    if (section !== undefined || last === undefined) found.push({ section: section ?? "none", text: line });
    else last.text += line;
  }
  return found;
}

/** @param {string} section @param {string} format */
function headOf(section, format) {
  const title = (section[0] ?? "").toUpperCase() + section.slice(1).replaceAll("_", " ");
  return { xml: `<${section}>`, markdown: `## ${title}` }[format] ?? `${title.toUpperCase()}:`;
}

/** @param {Traced} reply @param {string} format */
function promptPanel(reply, format) {
  if (!reply.prompt) return panel(t("result.prompt"), empty(t("result.nothing")));
  const stable = new TextDecoder().decode(new TextEncoder().encode(reply.prompt).slice(0, reply.stable_prefix.bytes)).length;
  let at = 0;
  /** @type {HTMLElement[]} */
  const parts = [];
  for (const { section, text } of sectionsOf(reply.prompt, format)) {
    parts.push(h("div", { class: "section", "data-tone": section, "data-stable": at + text.length <= stable }, h("span", { class: "section-name" }, tValue("section", section)), h("pre", {}, text)));
    at += text.length;
    if (at === stable && stable > 0) {
      parts.push(h("p", { class: "stable-end" }, h("span", {}, t("result.stable_end", { bytes: number(reply.stable_prefix.bytes) }))));
    }
  }
  const note = t("result.summary", { tokens: number(reply.tokens.total), ms: number(reply.took_ms, 1), entries: reply.entries.length });
  return panel(t("result.prompt"), h("div", { class: "prompt", tabindex: 0, role: "group", "aria-label": t("result.prompt") }, parts), {
    note,
    actions: button(t("action.copy"), () => void copy(t("result.prompt"), reply.prompt)),
  });
}

/** @param {Traced} reply @param {Record<string, any>} body */
function tokensPanel(reply, body) {
  const budgets = { ...BUDGET_TOKENS, ...body.overrides?.budget_tokens };
  const parts = /** @type {const} */ (["soul", "memories", "episodes", "procedures"]);
  const lines = parts.map((part) => {
    const [used, budget] = [reply.tokens[part], Number(budgets[part])];
    const said = t("result.of_budget", { used: number(used), budget: number(budget) });
    return h("div", { class: "meter" }, h("span", {}, tValue("part", part)), stackedBar([{ name: tValue("part", part), value: used, tone: part, said }], { whole: budget, label: t("result.tokens") }), h("span", { class: "figure" }, said));
  });
  const total = budgets.total === undefined ? number(reply.tokens.total) : t("result.of_budget", { used: number(reply.tokens.total), budget: number(budgets.total) });
  return panel(t("result.tokens"), lines, { note: t("result.total", { total }) });
}

/** @param {Traced} reply @param {Record<string, any>} body @param {Choose | null} choose */
function entriesPanel(reply, body, choose) {
  if (reply.entries.length === 0) return null;
  /** @type {Record<Signal, number>} */
  const weights = body.overrides?.weights ?? WEIGHTS;
  const highest = Math.max(...reply.entries.map((entry) => entry.score), 0.01);
  const tones = SIGNALS.map((signal) => ({ name: tValue("signal", signal), tone: `signal-${signal}` }));
  const item = (/** @type {Api.KeptReply} */ entry) => {
    const sum = SIGNALS.reduce((total, signal) => total + weights[signal] * entry.signals[signal], 0);
    const factor = sum > 0 ? entry.score / sum : 0; // of tag boosts
    const shares = SIGNALS.map((signal) => ({
      name: tValue("signal", signal),
      value: weights[signal] * entry.signals[signal] * factor,
      tone: `signal-${signal}`,
      said: `${number(entry.signals[signal], 2)} × ${number(weights[signal], 2)}`,
    }));
    return h(
      "li",
      { class: "entry", "data-id": entry.id },
      h("p", { class: "entry-text" }, entry.text),
      h("div", { class: "entry-score" }, stackedBar(shares, { whole: highest, label: t("result.score") }), h("span", { class: "figure" }, number(entry.score, 3))),
      h("p", { class: "entry-about" }, tag(tValue("section", entry.section), entry.section), Math.abs(factor - 1) > 0.001 && tag(`×${number(factor, 2)}`, "warn"), h("span", {}, t("result.entry_tokens", { tokens: number(entry.tokens) })), shortId(entry.id, hrefOfEntry(entry.space, entry.id)), h("span", {}, entry.space), choose && choices(choose, entry.id)),
    );
  };
  const list = h("ol", { class: "entries" });
  const more = h("div", { class: "pager" });
  const showNext = () => {
    list.append(...reply.entries.slice(list.childElementCount, list.childElementCount + SHOWN_ENTRIES).map(item));
    const left = reply.entries.length - list.childElementCount;
    fill(more, left > 0 && button(t("result.more", { count: number(Math.min(left, SHOWN_ENTRIES)), left: number(left) }), showNext));
    more.hidden = left === 0;
  };
  showNext();
  return panel(t("result.entries"), [legend(tones), list, more], { note: t("result.entries_note") });
}

/** @param {View} view @param {Traced} reply */
function conflictsPanel(view, reply) {
  if (reply.conflicts.length === 0) return null;
  const texts = new Map(reply.entries.map((entry) => [entry.id, entry.text]));
  const side = (/** @type {string} */ id, /** @type {string} */ role, /** @type {string} */ tone) => {
    const text = h("p", {}, texts.get(id) ?? "…");
    if (!texts.has(id)) void textOf(view, id).then((found) => (text.textContent = found));
    return h("div", { class: "side" }, tag(role, tone), text, idOf(id));
  };
  const items = reply.conflicts.map((conflict) =>
    conflict.unresolved
      ? h("li", {}, h("div", { class: "sides" }, conflict.unresolved.map((id) => side(id, t("conflict.open"), "warn"))), conflict.question && h("p", {}, conflict.question))
      : h("li", {}, h("div", { class: "sides" }, side(conflict.kept ?? "", t("conflict.kept"), "good"), side(conflict.superseded ?? "", t("conflict.superseded"), "bad")), h("p", { class: "muted" }, tValue("conflict_why", conflict.why ?? ""))),
  );
  return panel(t("result.conflicts"), h("ul", { class: "conflicts" }, items));
}

/** To have an entry in the prompt whatever its score, or out of it. @param {Choose} choose @param {string} id */
function choices(choose, id) {
  const one = (/** @type {"must_include" | "exclude"} */ list) => {
    const isIn = choose.isIn(list, id);
    const made = button(t(`choice.${list}`), () => choose.toggle(list, id), { kind: "quiet", title: t(`choice_why.${list}`) });
    made.setAttribute("aria-pressed", String(isIn));
    made.setAttribute("data-does", list);
    return made;
  };
  return h("span", { class: "choices" }, one("must_include"), one("exclude"));
}

/** @param {View} view @param {Traced} reply @param {Choose | null} choose */
function droppedPanel(view, reply, choose) {
  if (reply.dropped.length === 0) return null;
  /** @type {Map<string, Api.DroppedReply[]>} */
  const groups = new Map();
  for (const one of reply.dropped) groups.set(one.reason, [...(groups.get(one.reason) ?? []), one]);
  const items = [...groups].map(([reason, dropped]) => {
    const list = h("ul", { class: "dropped" });
    const more = h("div", {});
    let isAsked = false;
    const showNext = async () => {
      const next = dropped.slice(list.childElementCount, list.childElementCount + SHOWN_TEXTS);
      fill(more, loading());
      list.append(...(await droppedItems(view, next, choose)));
      const left = dropped.length - list.childElementCount;
      fill(more, left > 0 && button(t("result.more", { count: number(Math.min(left, SHOWN_TEXTS)), left: number(left) }), () => void showNext()));
    };
    return folded([h("strong", {}, tValue("reason", reason)), tag(number(dropped.length)), h("span", { class: "muted" }, tValue("reason_why", reason))], [list, more], {
      ontoggle: () => {
        if (!isAsked) void showNext();
        isAsked = true;
      },
    });
  });
  return panel(t("result.dropped"), items, { note: t("result.dropped_note", { count: number(reply.dropped.length) }) });
}

/** @param {View} view @param {readonly Api.DroppedReply[]} dropped @param {Choose | null} choose */
async function droppedItems(view, dropped, choose) {
  const found = await Promise.all(dropped.map((one) => textOf(view, one.id)));
  return dropped.map((one, at) => h("li", { "data-id": one.id }, h("p", {}, found[at]), h("p", { class: "entry-about" }, idOf(one.id), choose && one.tier !== "soul" && choices(choose, one.id))));
}

/** The id of an entry whose space the reply does not say: the Memory page finds it. @param {string} id */
function idOf(id) {
  return shortId(id, tierOf(id) && hrefOf("memory", { id }));
}

/** The text of an entry that is not in the reply. @param {View} view @param {string} id @returns {Promise<string>} */
async function textOf(view, id) {
  try {
    return (await view.api.get(tierOf(id) ? pathOf(id) : `/soul/${encodeURIComponent(id)}`, { signal: view.signal })).text;
  } catch (error) {
    return isAbort(error) ? "" : t("result.no_text");
  }
}

/** @param {Traced} reply */
function timesPanel(reply) {
  const stages = Object.entries(reply.timings_ms).filter(([name]) => name !== "total");
  const shares = stages.map(([name, value], at) => ({ name: tValue("stage", name), value, tone: `series-${at % 8}`, said: `${number(value, 1)} ms` }));
  // The plan of a live batch has a panel of its own.
  const plan = "viewers" in (reply.plan ?? {}) ? [] : Object.entries(reply.plan ?? {}).map(([name, value]) => /** @type {const} */ ([tValue("planned", name), planned(value)]));
  return panel(t("result.times"), [
    stackedBar(shares, { label: t("result.times") }),
    legend(shares.map(({ name, tone, said }) => ({ name: `${name} ${said}`, tone }))),
    plan.length > 0 && [h("h3", {}, t("result.plan")), facts(plan)],
  ].flat(), { note: t("result.took", { ms: number(reply.took_ms, 1) }) });
}

/** @param {unknown} value @returns {string} */
function planned(value) {
  if (typeof value === "boolean") return t(value ? "plan.yes" : "plan.no");
  if (Array.isArray(value)) return value.map((one) => (one === "" ? t("scope.everywhere") : String(one))).join(", ");
  return String(value);
}

