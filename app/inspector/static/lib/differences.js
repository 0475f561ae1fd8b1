/** What changed between two texts: line by line, or word by word, as a line is often all that prose has. */

import { h } from "./dom.js";
import { t } from "./i18n.js";

/** @typedef {" " | "-" | "+"} Mark Stayed, went or came. */

const PIECES = 1500;
const NAMES = { " ": "same", "-": "gone", "+": "new" };

/**
 * Two prompts as one, line by line.
 * @param {string} before
 * @param {string} after
 * @param {string} label Read aloud.
 */
export function changedLines(before, after, label) {
  const lines = diff(before.split("\n"), after.split("\n"));
  return h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": label }, lines.map(({ mark, piece }) => h("pre", { class: NAMES[mark] }, `${mark} ${piece}`)));
}

/** The words of both texts: what went is struck out, what came is underlined. @param {string} before @param {string} after */
export function changedWords(before, after) {
  return merged(before, after).map(({ mark, text }) => (mark === " " ? text : h(mark === "-" ? "del" : "ins", {}, text)));
}

/**
 * The same in a box of its own.
 * @param {string} before
 * @param {string} after
 * @param {string} label Read aloud.
 */
export function changedProse(before, after, label) {
  return h(
    "div",
    { class: "prose-diff", role: "group", tabindex: 0, "aria-label": label, dir: "auto" },
    before === after ? h("span", { class: "muted" }, t("state.same_text")) : changedWords(before, after),
  );
}

/** Runs of words that stayed, went or came. @param {string} before @param {string} after @returns {{mark: Mark, text: string}[]} */
function merged(before, after) {
  const pieces = (/** @type {string} */ text) => `${text} `.split(/(?<=\s)(?=\S)/); // the last word ends like the others
  const [old, now] = [pieces(before), pieces(after)];
  if (Math.max(old.length, now.length) > PIECES) return [{ mark: "-", text: before }, { mark: "+", text: `\n${after}` }];
  /** @type {{mark: Mark, text: string}[]} */
  const found = [];
  for (const { mark, piece } of diff(old, now)) {
    const last = found.at(-1);
    if (last?.mark === mark) last.text += piece;
    else found.push({ mark, text: piece });
  }
  return found;
}

/**
 * The lines or words of both, by their longest common subsequence; of very long texts only the first.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {{mark: Mark, piece: string}[]}
 */
function diff(before, after) {
  const [a, b] = [before.slice(0, PIECES), after.slice(0, PIECES)];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {{mark: Mark, piece: string}[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ mark: " ", piece: a[i] ?? "" });
      [i, j] = [i + 1, j + 1];
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      found.push({ mark: "-", piece: a[i] ?? "" });
      i += 1;
    } else {
      found.push({ mark: "+", piece: b[j] ?? "" });
      j += 1;
    }
  }
  return found;
}
