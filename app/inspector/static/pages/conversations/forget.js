/** Forgetting what was said: first what would go, then the receipt of what went. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { moment, number, t, tValue } from "../../lib/i18n.js";
import { button, dialog, errorPanel, facts, folded, loading, tag } from "../../lib/widgets.js";
import { entryList } from "./entries.js";

/** @typedef {import("../../pages.js").View} View */
/** @typedef {{turn: string} | {session: string}} Named */

/**
 * @param {View} view
 * @param {string} space
 * @param {Named} named
 * @param {string} title
 * @param {() => void} onforgotten Called once the dialog is closed, if something was forgotten.
 */
export async function forget(view, space, named, title, onforgotten) {
  const [body, foot] = [h("div", { class: "forgetting", tabindex: 0, role: "group" }, loading()), h("div", { class: "actions" })];
  let hasForgotten = false;
  const element = dialog(title, body, { actions: foot, onclose: () => hasForgotten && onforgotten() });
  const head = /** @type {HTMLElement} */ (element.querySelector("h2"));
  body.setAttribute("aria-labelledby", head.id);
  const ask = (/** @type {boolean} */ isDry) => view.api.post("/forget", { space, ...named, dry_run: isDry }, { signal: view.signal });
  const close = () => button(t(hasForgotten ? "action.close" : "action.cancel"), () => element.close());

  const failed = (/** @type {unknown} */ error) => {
    if (isAbort(error)) return;
    fill(body, errorPanel(error));
    fill(foot, close());
  };

  try {
    /** @type {Api.ForgetReply} */
    const dry = await ask(true);
    fill(body, await wouldGo(view, space, dry));
    const yes = button(t("talks.forget_yes"), () => void go(), { kind: "danger" });
    const go = async () => {
      yes.disabled = true;
      try {
        /** @type {Api.ForgetReply} */
        const done = await ask(false);
        hasForgotten = true;
        if (done.receipt) fill(body, receipt(view, done.receipt));
        fill(head, t("talks.forgotten"));
        fill(foot, close());
        body.focus();
      } catch (error) {
        failed(error);
      }
    };
    fill(foot, close(), yes);
  } catch (error) {
    failed(error);
  }
}

/** @param {View} view @param {string} space @param {Api.ForgetReply} dry */
async function wouldGo(view, space, dry) {
  const ids = dry.receipt?.ids ?? [];
  const mentioned = dry.mentioned_in.filter((id) => !ids.includes(id));
  const at = (/** @type {string} */ id) => ({ id, space });
  return [
    h("p", {}, t("talks.forget_why")),
    facts([
      [t("talks.removed.messages"), number(dry.receipt?.removed.messages ?? 0)],
      [t("talks.removed.entries"), number(dry.entries)],
      [t("talks.removed.jobs"), number(dry.receipt?.jobs ?? 0)],
    ]),
    ids.length > 0 && folded(t("talks.would_go", { count: ids.length }), await entryList(view, ids.map(at), { links: false }), { open: true }),
    mentioned.length > 0 && folded(t("talks.mentioned", { count: mentioned.length }), [h("p", { class: "hint" }, t("talks.mentioned_why")), await entryList(view, mentioned.map(at), { links: false })]),
  ];
}

/** What went, sealed; and whether it is gone. @param {View} view @param {Api.ReceiptReply} went */
function receipt(view, went) {
  const verdict = h("div", { role: "status" });
  const verify = async () => {
    try {
      /** @type {Api.VerifyReply} */
      const found = await view.api.get(`/receipts/${went.id}/verify`, { signal: view.signal });
      const left = Object.entries(found.remaining).map(([what, count]) => `${tValue("talks.removed", what)}: ${number(count)}`).join(", ");
      fill(verdict, found.valid ? tag(t("talks.verified"), "good") : !found.sealed ? tag(t("talks.not_sealed"), "bad") : h("p", {}, tag(t("talks.remaining"), "warn"), " ", left));
    } catch (error) {
      if (!isAbort(error)) fill(verdict, errorPanel(error));
    }
  };
  const removed = Object.entries(went.removed).filter(([, count]) => count > 0);
  return h(
    "div",
    { class: "receipt", "data-id": went.id },
    h("p", { class: "hint" }, t("talks.receipt_why")),
    facts([
      [t("talks.receipt"), h("code", {}, went.id)],
      [t("soul.when"), moment(went.created_at)],
      [t("talks.seal"), h("code", {}, went.digest)],
    ]),
    h("h4", {}, t("talks.what_went")),
    facts([[t("talks.removed.entries"), number(went.entries ?? 0)], ...removed.map(([what, count]) => /** @type {const} */ ([tValue("talks.removed", what), number(count)])), [t("talks.removed.jobs"), number(went.jobs)]]),
    h("div", { class: "actions" }, button(t("talks.verify"), () => void verify()), verdict),
  );
}
