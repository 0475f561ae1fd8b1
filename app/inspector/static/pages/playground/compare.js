/** Two settings beside each other: what they change of the prompt, and of the entries in it. */

import { h } from "../../lib/dom.js";
import { number, t } from "../../lib/i18n.js";
import { panel, tag } from "../../lib/widgets.js";

/** @typedef {import("./result.js").Traced} Traced */
/** @typedef {{mark: " " | "-" | "+", line: string}} Changed */

const LINES = 1500;

/**
 * @param {Traced} before
 * @param {Traced} after
 * @param {import("../../lib/dom.js").Children} actions
 */
export function comparison(before, after, actions) {
  const entries = moved(before, after).map(({ text, tone, said }) => h("li", {}, tag(said, tone), h("span", {}, text)));
  const lines = diff(before.prompt.split("\n"), after.prompt.split("\n"));
  const names = { " ": "same", "-": "gone", "+": "new" };
  return panel(
    t("compare.title"),
    [
      entries.length > 0 ? h("ul", { class: "moves" }, entries) : h("p", { class: "muted" }, t("compare.same_entries")),
      h("h3", {}, t("compare.prompts")),
      h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": t("compare.prompts") }, lines.map(({ mark, line }) => h("pre", { class: names[mark] }, `${mark} ${line}`))),
    ],
    { note: t("compare.tokens", { before: number(before.tokens.total), after: number(after.tokens.total) }), actions },
  );
}

/**
 * Entries that came, went, or changed their place among those that are in both.
 * @param {Traced} before
 * @param {Traced} after
 */
export function moved(before, after) {
  const [old, now] = [new Map(before.entries.map((entry, at) => [entry.id, { entry, at }])), new Map(after.entries.map((entry, at) => [entry.id, { entry, at }]))];
  const came = after.entries.filter((entry) => !old.has(entry.id)).map((entry) => ({ text: entry.text, tone: "good", said: t("compare.came") }));
  const went = before.entries.filter((entry) => !now.has(entry.id)).map((entry) => ({ text: entry.text, tone: "bad", said: t("compare.went") }));
  const both = before.entries.filter((entry) => now.has(entry.id));
  const order = after.entries.filter((entry) => old.has(entry.id));
  const changed = order.flatMap((entry, at) => {
    const was = both.findIndex((other) => other.id === entry.id);
    return was === at ? [] : [{ text: entry.text, tone: "warn", said: t("compare.moved", { before: was + 1, after: at + 1 }) }];
  });
  return [...came, ...went, ...changed];
}

/**
 * The lines of both, by their longest common subsequence; of very long prompts only the first lines.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {Changed[]}
 */
export function diff(before, after) {
  const [a, b] = [before.slice(0, LINES), after.slice(0, LINES)];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Changed[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ mark: " ", line: a[i] ?? "" });
      [i, j] = [i + 1, j + 1];
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      found.push({ mark: "-", line: a[i] ?? "" });
      i += 1;
    } else {
      found.push({ mark: "+", line: b[j] ?? "" });
      j += 1;
    }
  }
  return found;
}
