/** Putting something right: what it would change is shown first; a question is answered in place. */

import { changedLines } from "../../lib/differences.js";
import { fill, h } from "../../lib/dom.js";
import { isAbort, Problem } from "../../lib/api.js";
import { t } from "../../lib/i18n.js";
import { button, errorPanel, field, folded, loading, showErrors, toast } from "../../lib/widgets.js";
import { whereOf } from "../../lib/words.js";

/** @typedef {import("../memory.js").Place} Place */
/** @typedef {{stop: () => void, done: (correction: Api.CorrectionReply) => void}} Told */

/**
 * A form to put one memory right, by its id; or, without one, anything that is said to be wrong.
 * @param {Place} place
 * @param {{id: string, text: string, scope: string} | null} memory
 * @param {Told} told
 */
export function correcting({ view, space }, memory, { stop, done }) {
  const text = h("textarea", { rows: memory ? 3 : 2, required: true, dir: "auto", value: memory?.text ?? "", placeholder: memory ? "" : t("correct.example") });
  const scope = h("input", { type: "text", value: memory?.scope ?? "", spellcheck: "false", placeholder: "chat:kitchen" });
  const answer = h("div", { class: "memory-answer", "aria-live": "polite" });

  const body = () => {
    if (!memory) return { space, said: text.value, scopes: scope.value.split(",").map((one) => one.trim()).filter(Boolean) };
    const moved = scope.value.trim() !== memory.scope;
    return { space, id: memory.id, ...(text.value.trim() !== memory.text || !moved ? { text: text.value } : {}), ...(moved ? { scope: scope.value.trim() } : {}) };
  };

  const ask = async (/** @type {() => Promise<void>} */ work) => {
    fill(answer, loading());
    try {
      await work();
      showErrors(form, []);
    } catch (error) {
      if (isAbort(error)) return;
      const others = error instanceof Problem ? showErrors(form, error.errors) : [];
      fill(answer, (!(error instanceof Problem) || error.errors.length === 0 || others.length > 0) && errorPanel(error));
    }
  };

  const preview = () => ask(async () => {
    const wanted = body();
    /** @type {Api.CorrectionReply} */
    const would = await view.api.post("/corrections", { ...wanted, dry_run: true }, { signal: view.signal });
    if (would.outcome === "needs_clarification") {
      const choose = (/** @type {string} */ choice) => ask(async () => {
        const question = await view.api.post("/corrections", wanted, { signal: view.signal });
        finish(await answered(view, question.id, choice));
      });
      fill(answer, question(would, choose));
    } else {
      const save = () => ask(async () => finish(await view.api.post("/corrections", wanted, { signal: view.signal })));
      fill(answer, outcome(would), would.outcome !== "unresolved" || would.after.length > 0 ? h("div", { class: "actions" }, button(t("correct.save"), () => void save(), { kind: "primary" })) : null);
      answer.querySelector("button")?.focus();
    }
  });

  const finish = (/** @type {Api.CorrectionReply} */ correction) => {
    if (correction.outcome === "needs_clarification") {
      const choose = (/** @type {string} */ choice) => ask(async () => finish(await answered(view, correction.id, choice)));
      fill(answer, question(correction, choose));
      return;
    }
    toast(correction.told);
    fill(answer, outcome(correction));
    done(correction);
  };

  const form = h(
    "form",
    {
      class: "controls memory-form",
      "aria-label": t("memory.correct"),
      onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void preview()),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape") stop();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void preview();
      },
    },
    field(t(memory ? "correct.right" : "correct.said"), text, { name: memory ? "text" : "said", hint: t(memory ? "correct.right_hint" : "correct.said_hint") }),
    field(t(memory ? "memory.scope" : "field.scopes"), scope, { name: memory ? "scope" : "scopes", hint: t(memory ? "memory.scope_hint" : "correct.scopes_hint") }),
    h("div", { class: "actions" }, h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("correct.preview")), memory && button(t("action.cancel"), stop)),
    answer,
  );
  return form;
}

/** @param {import("../../pages.js").View} view @param {string} id @param {string} choice @returns {Promise<Api.CorrectionReply>} */
export function answered(view, id, choice) {
  return view.api.post(`/clarifications/${encodeURIComponent(id)}`, { choice }, { signal: view.signal });
}

/**
 * What came of a correction, or would: in words, before and after, and the prompts.
 * @param {Api.CorrectionReply} correction
 */
export function outcome(correction) {
  const { before, after, effect, told } = correction;
  const tone = correction.outcome === "applied" ? "good" : "warn";
  return h(
    "div",
    { class: "notice", "data-tone": tone },
    h("strong", {}, t(correction.dry_run ? "correct.would" : `outcome.${correction.outcome}`)),
    h("p", {}, told),
    (before.length > 0 || after.length > 0) &&
      h("div", { class: "sides" }, side(t("correct.before"), before), side(t("correct.after"), after)),
    effect && effect.before !== effect.after && folded(t("correct.effect"), changedLines(effect.before, effect.after, t("correct.effect"))),
  );
}

/** @param {string} title @param {readonly Api.MemoryReply[]} memories */
function side(title, memories) {
  return h("div", { class: "side" }, h("strong", {}, title), memories.length === 0 ? h("p", { class: "muted" }, t("correct.nothing")) : memories.map((one) => h("p", {}, one.text, " ", h("span", { class: "muted" }, whereOf(one.scope)))));
}

/**
 * A question with its answers.
 * @param {Api.CorrectionReply} correction @param {(choice: string) => void} choose
 */
export function question(correction, choose) {
  return h(
    "div",
    { class: "notice", "data-tone": "warn" },
    h("strong", {}, t("correct.question")),
    h("p", {}, correction.told),
    h("div", { class: "actions" }, correction.options.map((option) => button(option.label, () => choose(option.key)))),
  );
}
