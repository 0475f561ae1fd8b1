/** Forgetting for good: what would go is shown before anything goes, and the receipt is checked afterwards. */

import { fill, h } from "./dom.js";
import { isAbort } from "./api.js";
import { entryList } from "./entry_list.js";
import { moment, number, t, tValue } from "./i18n.js";
import { button, dialog, errorPanel, facts, folded, idLine, loading } from "./widgets.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {{ids: string[]} | {turn: string} | {session: string}} Named What shall go. */

/**
 * Asks in a dialog whether something shall go, and has it go.
 * @param {View} view @param {string} space @param {Named} named @param {string} title
 * @returns {Promise<Api.ReceiptReply | null>} Once the dialog is closed; null if nothing went.
 */
export function forget(view, space, named, title) {
  return new Promise((resolve) => {
    /** @type {Api.ReceiptReply | null} */
    let receipt = null;
    const [body, foot] = [h("div", { class: "forgetting", tabindex: 0, role: "group", "aria-label": title }, loading()), h("div", { class: "actions" })];
    const element = dialog(title, body, { actions: foot, onclose: () => resolve(receipt) });
    const cancel = button(t("action.cancel"), () => element.close());
    /** @param {boolean} isDry @returns {Promise<Api.ForgetReply>} */
    const ask = (isDry) => view.api.post("/forget", { space, ...named, dry_run: isDry }, { signal: view.signal });
    const attempt = async (/** @type {() => Promise<void>} */ work) => {
      try {
        await work();
      } catch (error) {
        if (isAbort(error)) return;
        fill(body, errorPanel(error));
        fill(foot, cancel);
      }
    };
    const yes = button(t("forget.yes"), () => {
      yes.disabled = true;
      void attempt(async () => {
        ({ receipt } = await ask(false));
        element.close();
      });
    }, { kind: "danger" });
    fill(foot, cancel);
    void attempt(async () => {
      fill(body, await wouldGo(view, space, await ask(true)));
      fill(foot, cancel, yes);
    });
  });
}

/**
 * The same; what went is told in a dialog.
 * @param {View} view @param {string} space @param {Named} named @param {string} title
 * @param {() => void} onforgotten Called once that is closed, if something went.
 */
export async function forgetAndTell(view, space, named, title, onforgotten) {
  const receipt = await forget(view, space, named, title);
  if (receipt === null) return;
  const { content, again } = receiptOf(view, receipt);
  const element = dialog(t("forget.receipt"), content, { actions: [again, button(t("action.close"), () => element.close())], onclose: onforgotten });
}

/** @param {View} view @param {string} space @param {Api.ForgetReply} dry */
async function wouldGo(view, space, { receipt, mentioned_in }) {
  const ids = receipt?.ids ?? [];
  const staying = mentioned_in.filter((id) => !ids.includes(id));
  const listed = (/** @type {readonly string[]} */ of) => entryList(view, of.map((id) => ({ id, space })), { links: false });
  return [
    h("p", {}, t("forget.why")),
    receipt && removed(receipt),
    ids.length > 0 && folded(t("forget.would_go", { count: ids.length }), await listed(ids), { open: true }),
    staying.length > 0 && h("div", { class: "notice", "data-tone": "warn" }, h("strong", {}, t("forget.mentioned", { count: staying.length })), h("p", {}, t("forget.mentioned_why")), await listed(staying)),
  ];
}

/**
 * A receipt, and whether what it says holds: that is checked at once, and again on demand.
 * @param {View} view @param {Api.ReceiptReply} receipt
 * @returns {{content: HTMLElement, again: HTMLElement}}
 */
export function receiptOf(view, receipt) {
  const checked = h("div", { role: "status" });
  const verify = async () => {
    fill(checked, loading());
    try {
      fill(checked, verdict(await view.api.get(`/receipts/${encodeURIComponent(receipt.id)}/verify`, { signal: view.signal })));
    } catch (error) {
      if (!isAbort(error)) fill(checked, errorPanel(error));
    }
  };
  void verify();
  const content = h(
    "div",
    { class: "receipt", "data-id": receipt.id },
    h("p", {}, t("forget.done", { when: moment(receipt.created_at) })),
    checked,
    removed(receipt),
    idLine(t("forget.receipt"), receipt.id),
    h("p", { class: "hint" }, t("forget.digest"), " ", h("code", {}, receipt.digest)),
  );
  return { content, again: button(t("forget.verify"), () => void verify()) };
}

/** @param {Api.VerifyReply} verified */
function verdict({ valid, sealed, remaining }) {
  const left = Object.entries(remaining).filter(([, count]) => count > 0);
  const tone = valid ? "good" : sealed && left.every(([name]) => name === "jobs") ? "warn" : "bad";
  const said = { good: t("forget.verified"), warn: t("forget.still_working"), bad: t("forget.not_verified") }[tone];
  return h("div", { class: "notice", "data-tone": tone }, h("strong", {}, said), !sealed && h("p", {}, t("forget.unsealed")), left.length > 0 && h("ul", {}, left.map(([name, count]) => h("li", {}, `${tValue("removed", name)}: ${number(count)}`))));
}

/** What an erasure takes away, what was said first. @param {Api.ReceiptReply} receipt */
function removed({ entries, derived, removed: rows, turns, jobs }) {
  const { tombstones: _, ...gone } = rows; // those are added
  const counts = { entries: entries ?? 0, derived, messages: 0, archived_messages: 0, shortened_episodes: 0, turns: turns.length, versions: 0, ...gone, jobs };
  const told = Object.entries(counts).filter(([name, count]) => count > 0 || name === "entries");
  return facts(told.map(([name, count]) => [tValue("removed", name), number(count)]));
}
