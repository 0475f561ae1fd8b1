/** The controls of the request. They keep what they say in one record and tell of every change. */

import { fill, freshId, h } from "../../lib/dom.js";
import { t, tValue } from "../../lib/i18n.js";
import { button, field, folded } from "../../lib/widgets.js";
import { BUDGET_LIMIT, BUDGET_TOKENS, WEIGHTS } from "./defaults.js";
import { boostsOf, inputOf, itemsOf, sliderOf } from "./inputs.js";
import { callOf, isNeeded } from "./request.js";

/** @typedef {import("./request.js").Asked} Asked */
/** @typedef {import("./request.js").Control} Control */

/**
 * @typedef {object} Does
 * @property {() => void} onchange Something was chosen.
 * @property {(name: string) => void} onmove A slider is on its way.
 * @property {() => void} onsample A batch is wanted that shows something.
 */

/** @type {Record<string, number>} */
const DEFAULTS = {
  ...Object.fromEntries(Object.entries(WEIGHTS).map(([name, value]) => [`overrides.weights.${name}`, value])),
  ...Object.fromEntries(Object.entries(BUDGET_TOKENS).map(([name, value]) => [`overrides.budget_tokens.${name}`, value])),
};
const GROUPS = ["live", "conversation", "budgets", "weights", "selection", "time", "output"];
const KINDS_OF = { space: [""], stream: ["stream:"], persona: ["agent:", "character:"] };

/**
 * @param {Asked} asked Changed in place.
 * @param {Does} does
 * @param {ReadonlyMap<string, HTMLElement>} lists What is to choose from, by the control's name.
 * @param {Set<string>} unfolded The groups that are open; changed in place.
 */
export function controls(asked, does, lists, unfolded) {
  const call = callOf(asked);
  const part = (/** @type {string} */ group) => call.controls.filter((control) => control.group === group).map((control) => build(control, asked, does, lists.get(control.name)?.id));
  const isSet = (/** @type {string} */ group) => call.controls.some((control) => control.group === group && asked.get(control.name));
  const groups = GROUPS.filter((group) => call.controls.some((control) => control.group === group)).map((group) =>
    folded(h("span", {}, tValue("group", group)), [group === "weights" && h("p", { class: "hint" }, t("hint.weights")), part(group)].flat(), {
      open: unfolded.has(group) || isSet(group),
      ontoggle: (event) => {
        const isOpen = event.target instanceof HTMLDetailsElement && event.target.open;
        if (isOpen) unfolded.add(group);
        else unfolded.delete(group);
      },
    }),
  );
  return [part("question"), groups].flat();
}

/** Lists of spaces to choose from, empty at first. @returns {ReadonlyMap<string, HTMLElement>} */
export function spaceLists() {
  return new Map(Object.keys(KINDS_OF).map((name) => [name, h("datalist", { id: freshId() })]));
}

/** @param {ReadonlyMap<string, HTMLElement>} lists @param {readonly string[]} spaces */
export function fillLists(lists, spaces) {
  for (const [name, kinds] of Object.entries(KINDS_OF)) {
    const found = spaces.filter((space) => kinds.some((kind) => space.startsWith(kind)));
    fill(lists.get(name) ?? h("datalist"), found.map((value) => h("option", { value })));
  }
}

/** @param {Control} control @param {Asked} asked @param {Does} does @param {string} [list] */
function build(control, asked, { onchange, onmove, onsample }, list) {
  const { name, kind } = control;
  const value = asked.get(name) ?? "";
  const set = (/** @type {string} */ text) => void (text === "" && !isNeeded(name) ? asked.delete(name) : asked.set(name, text));
  const label = tValue("field", name.replace(/^overrides\./, ""));
  const hint = hintOf(name);
  if (kind === "share" || name.startsWith("overrides.budget_tokens.")) return slider(name, label, asked, onmove, hint);
  if (kind === "boosts") return boostsOf(control, value, set, { label, onchange: () => onmove(name) });
  if (kind === "items") return itemsOf(control, value, set, { label, ...hint, onchange, ...(name === "batch" && { actions: button(t("playground.sample"), onsample) }) });
  return field(label, inputOf(control, value, set, onchange, list), { name, ...hint });
}

/** @param {string} name @returns {{hint?: string}} */
function hintOf(name) {
  const key = name.replace(/^overrides\./, "");
  const text = tValue("hint", key);
  return text === key ? {} : { hint: text };
}

/**
 * A slider with its value beside it, where more can be typed than it reaches; back at the default by its button.
 * @param {string} name @param {string} label @param {Asked} asked @param {(name: string) => void} onmove @param {{hint?: string}} hint
 */
function slider(name, label, asked, onmove, hint) {
  const isBudget = name.includes("budget");
  const fallback = DEFAULTS[name];
  const [max, step, limit] = isBudget ? [name.endsWith("total") ? 8000 : 4000, 50, BUDGET_LIMIT] : [1, 0.01, 1];
  const value = () => asked.get(name) ?? (fallback === undefined ? "" : String(fallback));
  const parts = sliderOf({ value: value(), max, step, limit, label }, (text) => {
    if (text === "") asked.delete(name);
    else asked.set(name, text);
    tell();
    onmove(name);
  });
  const back = button("↺", () => (asked.delete(name), tell(), onmove(name)), { kind: "quiet", label: t("action.default", { name: label }), title: t("action.default", { name: label }) });
  const tell = () => {
    parts.show(value());
    back.toggleAttribute("data-hidden", !asked.has(name));
    back.disabled = !asked.has(name);
  };
  parts.typed.placeholder = t(isBudget && fallback === undefined ? "state.none" : "state.default");
  tell();
  const around = field(label, parts.range, { name, ...hint });
  parts.range.removeAttribute("aria-label");
  around.classList.add("slider");
  parts.range.before(parts.typed);
  parts.range.after(back);
  return around;
}
