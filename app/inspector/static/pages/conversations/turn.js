/** A turn: its messages, how far the work on it is, and what came of it. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { hrefOf } from "../../lib/address.js";
import { entryList } from "../../lib/entry_list.js";
import { forgetAndTell } from "../../lib/forgetting.js";
import { moment, t, tValue } from "../../lib/i18n.js";
import { button, errorPanel, facts, loading, tag } from "../../lib/widgets.js";
import { where } from "../../lib/words.js";
import { messageItem } from "./message.js";

/** @typedef {import("../../pages.js").View} View */

/**
 * @param {View} view
 * @param {import("./reading.js").Reading} read
 * @param {string} turn
 * @param {readonly Api.MessageReply[]} messages
 */
export function turnItem(view, read, turn, messages) {
  const state = h("span", { class: "turn-state" });
  const came = h("div", { class: "came", hidden: true });
  const open = button(t("talks.what_came"), () => void toggle());
  open.setAttribute("aria-expanded", "false");

  const toggle = async () => {
    came.hidden = !came.hidden;
    open.setAttribute("aria-expanded", String(!came.hidden));
    if (!came.hidden) await load();
  };

  const load = async () => {
    fill(came, loading());
    try {
      /** @type {Api.TurnWithEntries} */
      const reply = await view.api.get(`/turns/${turn}`, { signal: view.signal });
      fill(came, await cameOf(view, reply));
    } catch (error) {
      if (!isAbort(error)) fill(came, errorPanel(error, () => void load()));
    }
  };

  const forgetIt = button(t("talks.forget_turn"), () => void forgetAndTell(view, read.space, { turn }, t("talks.forget_turn_title"), read.onforgotten), { kind: "danger" });
  const element = h(
    "li",
    { class: "turn", "data-id": turn },
    h("ol", { class: "messages" }, messages.map((message) => messageItem(message, message.id === read.message))),
    h("div", { class: "turn-foot" }, open, read.mayForget && forgetIt, state),
    came,
  );

  /** Say how far the work is; whether some is still to be done. @param {readonly Api.JobReply[]} jobs */
  const tell = (jobs) => {
    const [failed, waiting] = [jobs.filter((job) => job.state === "failed"), jobs.filter((job) => job.state === "waiting" || job.state === "running")];
    const about = [...failed, ...waiting];
    const tasks = about.map((job) => tValue("task", job.task)).join(", ");
    const [text, tone] = failed.length > 0 ? [t("talks.failed", { tasks }), "bad"] : waiting.length > 0 ? [t("talks.waiting", { tasks }), "warn"] : [t("talks.processed"), "good"];
    const reason = failed[0]?.error;
    fill(state, tag(text, tone), jobs.length > 0 && h("a", { href: hrefOf("jobs", { space: read.space, subject: turn }) }, t("page.jobs")), reason && h("span", { class: "muted" }, reason));
    if (waiting.length === 0 && !came.hidden) void load();
    return waiting.length > 0;
  };

  return { element, count: messages.length, tell };
}

/** @param {View} view @param {Api.TurnWithEntries} turn */
async function cameOf(view, turn) {
  const entries = await entryList(view, turn.entries, { links: true });
  return [
    turn.entries.length > 0 ? [h("h4", {}, t("talks.entries")), entries] : h("p", { class: "muted" }, t("talks.no_entries")),
    turn.corrections.length > 0 && [
      h("h4", {}, t("talks.corrections")),
      h("ul", { class: "entries-of" }, turn.corrections.map((one) => h("li", {}, tag(t(`outcome.${one.outcome}`)), " ", h("span", { dir: "auto" }, one.told)))),
    ],
    facts([[t("talks.turn_id"), h("code", {}, turn.given_id ?? turn.id)], [t("memory.where"), where(turn.scope)], [t("talks.recorded"), moment(turn.recorded_at)]]),
  ].flat();
}
