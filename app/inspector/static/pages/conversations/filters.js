/** What is looked for among all that was said. The names are those in the address. */

import { h } from "../../lib/dom.js";
import { go, hrefOf } from "../../lib/address.js";
import { t } from "../../lib/i18n.js";
import { spaceField } from "../../lib/space_choice.js";
import { button, field, folded } from "../../lib/widgets.js";

const SOUGHT = ["query", "author", "within"];
const DAYS = ["from", "to"];

/**
 * @param {URLSearchParams} params Changed in place.
 * @param {readonly string[]} names Of spaces.
 * @param {() => void} onchange
 */
export function filters(params, names, onchange) {
  const set = (/** @type {string} */ name, /** @type {string} */ value) => {
    if (value) params.set(name, value);
    else params.delete(name);
    clear.hidden = !isFiltered();
    onchange();
  };
  const isFiltered = () => [...SOUGHT, ...DAYS].some((name) => params.has(name));
  const control = (/** @type {string} */ name, /** @type {string} */ type) => {
    const input = h("input", { type, value: params.get(name) ?? "", dir: type === "search" ? "auto" : null, autocomplete: "off", onchange: () => set(name, input.value.trim()) });
    return input;
  };
  const inputs = new Map([...SOUGHT, ...DAYS].map((name) => [name, control(name, DAYS.includes(name) ? "date" : name === "query" ? "search" : "text")]));
  const of = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (inputs.get(name));
  const clear = button(t("action.clear_filters"), () => {
    for (const [name, input] of inputs) {
      input.value = "";
      params.delete(name);
    }
    clear.hidden = true;
    onchange();
  }, { kind: "quiet" });
  clear.hidden = !isFiltered();
  return h(
    "form",
    { class: "controls", role: "search", "aria-label": t("talks.find"), onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    spaceField(names, params.get("space") ?? "", (name) => go("conversations", { space: name })),
    field(t("talks.query"), of("query"), { name: "query", hint: t("talks.query_hint") }),
    folded(h("span", {}, t("talks.more_filters")), [
      h("div", { class: "side-by-side" }, field(t("talks.from"), of("from"), { name: "from" }), field(t("talks.to"), of("to"), { name: "to" })),
      h("div", { class: "side-by-side" }, field(t("field.author"), of("author"), { name: "author", hint: t("talks.author_hint") }), field(t("field.session"), of("within"), { name: "session", hint: t("talks.session_hint") })),
    ], { open: [...DAYS, "author", "within"].some((name) => params.has(name)) }),
    clear,
  );
}

/** Whether single messages are looked for, and not sessions. @param {URLSearchParams} params */
export function areMessagesSought(params) {
  return SOUGHT.some((name) => params.has(name));
}

/** The filters as the API has them: days as moments, the last one included. @param {URLSearchParams} params */
export function queryOf(params) {
  const after = (/** @type {string | null} */ day, days = 0) => {
    const at = new Date(`${day}T00:00:00`);
    at.setDate(at.getDate() + days);
    return Number.isNaN(at.getTime()) ? day : at.toISOString();
  };
  const times = { from: after(params.get("from")), to: after(params.get("to"), 1) };
  if (!areMessagesSought(params)) return { space: params.get("space"), ...times };
  return { space: params.get("space"), query: params.get("query"), author: params.get("author"), session: params.get("within"), ...times };
}

/** The address of a session. @param {URLSearchParams} params @param {string} session @param {string | null} message */
export function hrefOfSession(params, session, message) {
  const there = new URLSearchParams(params);
  there.set("session", session);
  if (message) there.set("message", message);
  else there.delete("message");
  return hrefOf("conversations", there);
}
