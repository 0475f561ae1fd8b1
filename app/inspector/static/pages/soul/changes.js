/** What changed between two texts, word by word: a block is prose, of which a line is often all. */

import { h } from "../../lib/dom.js";
import { t } from "../../lib/i18n.js";
import { diff } from "../playground/compare.js";

const WORDS = 1500;

/**
 * Two texts as one, in which what went is struck out and what came is underlined.
 * @param {string} before
 * @param {string} after
 * @param {string} label Read aloud.
 */
export function changes(before, after, label) {
  const parts = merged(before, after);
  const words = parts.map(({ mark, text }) => (mark === " " ? text : h(mark === "-" ? "del" : "ins", {}, text)));
  return h(
    "div",
    { class: "prose-diff", role: "group", tabindex: 0, "aria-label": label, dir: "auto" },
    before === after ? h("span", { class: "muted" }, t("soul.same_text")) : words,
  );
}

/** Runs of words that stayed, went or came. @param {string} before @param {string} after @returns {{mark: " " | "-" | "+", text: string}[]} */
export function merged(before, after) {
  const pieces = (/** @type {string} */ text) => `${text} `.split(/(?<=\s)(?=\S)/); // the last word ends like the others
  const [old, now] = [pieces(before), pieces(after)];
  if (Math.max(old.length, now.length) > WORDS) return [{ mark: "-", text: before }, { mark: "+", text: `\n${after}` }];
  /** @type {{mark: " " | "-" | "+", text: string}[]} */
  const found = [];
  for (const { mark, line } of diff(old, now)) {
    const last = found.at(-1);
    if (last?.mark === mark) last.text += line;
    else found.push({ mark, text: line });
  }
  return found;
}
