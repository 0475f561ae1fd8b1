/** Forgetting for good: what would go is shown before anything goes, and the receipt is checked afterwards. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { moment, number, t, tValue } from "../../lib/i18n.js";
import { button, confirm, copy, errorPanel, facts, loading, panel } from "../../lib/widgets.js";
import { backTo, pathOf } from "./words.js";

/** @typedef {import("../memory.js").Place} Place */
/** @typedef {import("./words.js").Entry} Entry */

const MENTIONS = 5;
const FIRST = ["messages", "versions"];

/**
 * Asks whether an entry shall go, and has it go.
 * @param {Place} place @param {Entry} entry @param {Element} trouble @param {(receipt: Api.ReceiptReply) => void} done
 */
export async function forget({ view, space }, entry, trouble, done) {
  const body = { space, ids: [entry.id] };
  try {
    /** @type {Api.ForgetReply} */
    const would = await view.api.post("/forget", { ...body, dry_run: true }, { signal: view.signal });
    const gone = would.receipt;
    const mentions = await Promise.all(would.mentioned_in.slice(0, MENTIONS).map((id) => view.api.get(pathOf(id), { signal: view.signal })));
    const what = [
      h("p", { class: "memory-text", dir: "auto" }, entry.text),
      h("h3", {}, t("forget.would")),
      gone && removed(gone),
      would.mentioned_in.length > 0 &&
        h("div", { class: "notice", "data-tone": "warn" }, h("p", {}, t("forget.mentioned", { count: would.mentioned_in.length })), h("ul", {}, mentions.map((one) => h("li", { class: "memory-line" }, one.text)))),
      h("p", { class: "muted" }, t("forget.for_good")),
    ];
    if (!(await confirm(t("forget.title"), what, t("memory.forget")))) return;
    /** @type {Api.ForgetReply} */
    const forgotten = await view.api.post("/forget", body, { signal: view.signal });
    if (forgotten.receipt) done(forgotten.receipt);
  } catch (error) {
    if (!isAbort(error)) fill(trouble, errorPanel(error));
  }
}

/**
 * A receipt, and whether what it says holds.
 * @param {Place} place @param {Element} root @param {string} id @param {() => void} back
 */
export async function receipt({ view }, root, id, back) {
  const path = `/receipts/${encodeURIComponent(id)}`;
  const checked = h("div", { class: "memory-answer", "aria-live": "polite" });
  const verify = async () => {
    fill(checked, loading());
    try {
      fill(checked, verdict(await view.api.get(`${path}/verify`, { signal: view.signal })));
    } catch (error) {
      if (!isAbort(error)) fill(checked, errorPanel(error));
    }
  };
  fill(root, loading());
  try {
    /** @type {Api.ReceiptReply} */
    const found = await view.api.get(path, { signal: view.signal });
    const shown = panel(t("forget.receipt"), [
      h("p", {}, t("forget.done", { when: moment(found.created_at) })),
      checked,
      removed(found),
      h("p", { class: "memory-id" }, h("code", {}, found.id), button(t("action.copy"), () => void copy(t("forget.receipt"), found.id), { kind: "quiet" })),
      h("p", { class: "hint" }, t("forget.digest"), " ", h("code", {}, found.digest)),
    ], { actions: button(t("forget.verify"), () => void verify()) });
    const head = shown.querySelector("h2");
    head?.setAttribute("tabindex", "-1");
    fill(root, h("div", { class: "results" }, backTo(back), shown));
    head?.focus();
    await verify();
  } catch (error) {
    if (!isAbort(error)) fill(root, backTo(back), errorPanel(error));
  }
}

/** @param {Api.VerifyReply} verified */
function verdict({ valid, sealed, remaining }) {
  const left = Object.entries(remaining).filter(([, count]) => count > 0);
  const tone = valid ? "good" : sealed && left.every(([name]) => name === "jobs") ? "warn" : "bad";
  const said = { good: t("forget.verified"), warn: t("forget.still_working"), bad: t("forget.not_verified") }[tone];
  return h("div", { class: "notice", "data-tone": tone }, h("strong", {}, said), !sealed && h("p", {}, t("forget.unsealed")), left.length > 0 && h("ul", {}, left.map(([name, count]) => h("li", {}, `${tValue("removed", name)}: ${number(count)}`))));
}

/** What an erasure takes away, the parts that it touches first. @param {Api.ReceiptReply} receipt */
function removed({ entries, derived, removed: rows, turns }) {
  const order = (/** @type {string} */ name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const parts = Object.entries(rows).filter(([name, count]) => count > 0 && name !== "tombstones").sort(([a], [b]) => order(a) - order(b));
  return facts([
    [t("forget.entries"), number(entries ?? 0)],
    ...(derived > 0 ? [/** @type {const} */ ([t("forget.derived"), number(derived)])] : []),
    ...parts.map(([name, count]) => /** @type {const} */ ([tValue("removed", name), number(count)])),
    ...(turns.length > 0 ? [/** @type {const} */ ([t("forget.turns"), number(turns.length)])] : []),
  ]);
}
