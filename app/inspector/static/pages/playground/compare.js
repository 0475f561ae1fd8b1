/** Two settings beside each other: what they change of the prompt, and of the entries in it. */

import { changedLines } from "../../lib/differences.js";
import { h } from "../../lib/dom.js";
import { number, t } from "../../lib/i18n.js";
import { panel, tag } from "../../lib/widgets.js";

/** @typedef {import("./result.js").Traced} Traced */

/**
 * @param {Traced} before
 * @param {Traced} after
 * @param {import("../../lib/dom.js").Children} actions
 */
export function comparison(before, after, actions) {
  const entries = moved(before, after).map(({ text, tone, said }) => h("li", {}, tag(said, tone), h("span", {}, text)));
  return panel(
    t("compare.title"),
    [
      entries.length > 0 ? h("ul", { class: "moves" }, entries) : h("p", { class: "muted" }, t("compare.same_entries")),
      h("h3", {}, t("compare.prompts")),
      changedLines(before.prompt, after.prompt, t("compare.prompts")),
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
