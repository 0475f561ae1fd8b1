/** The controls of the request. They keep what they say in one record and tell of every change. */

import { fill, freshId, h } from "../../lib/dom.js";
import { number, t, tValue } from "../../lib/i18n.js";
import { button, field, folded } from "../../lib/widgets.js";
import { BUDGET_TOKENS, WEIGHTS } from "./defaults.js";
import { CONTROLS } from "./request.js";

/** @typedef {import("./request.js").Asked} Asked */
/** @typedef {import("./request.js").Control} Control */

/** @type {Record<string, number>} */
const DEFAULTS = {
  ...Object.fromEntries(Object.entries(WEIGHTS).map(([name, value]) => [`overrides.weights.${name}`, value])),
  ...Object.fromEntries(Object.entries(BUDGET_TOKENS).map(([name, value]) => [`overrides.budget_tokens.${name}`, value])),
};
const GROUPS = ["conversation", "budgets", "weights", "selection", "time", "output"];

/**
 * @param {Asked} asked Changed in place.
 * @param {() => void} onchange A control that is let go of, such as a slider.
 * @param {readonly string[]} spaces To choose from.
 */
export function controls(asked, onchange, spaces) {
  const list = h("datalist", { id: freshId() }, spaces.map((name) => h("option", { value: name })));
  const part = (/** @type {string} */ group) =>
    CONTROLS.filter((control) => control.group === group).map((control) => build(control, asked, onchange, list.id));
  const isSet = (/** @type {string} */ group) => CONTROLS.some((control) => control.group === group && asked.get(control.name));
  return h(
    "div",
    { class: "controls" },
    list,
    part("question"),
    GROUPS.map((group) => folded(h("span", {}, tValue("group", group)), [group === "weights" && h("p", { class: "hint" }, t("hint.weights")), part(group)].flat(), { open: isSet(group) })),
  );
}

/** @param {Control} control @param {Asked} asked @param {() => void} onchange @param {string} spaces */
function build({ name, kind }, asked, onchange, spaces) {
  const value = asked.get(name) ?? "";
  const set = (/** @type {string} */ text) => void (text === "" ? asked.delete(name) : asked.set(name, text));
  const label = tValue("field", name.replace(/^overrides\./, ""));
  const hint = hintOf(name);
  const isSlider = kind === "share" || name.startsWith("overrides.budget_tokens.");
  if (isSlider) return slider(name, label, asked, onchange, hint);
  if (kind === "boosts") return rows(name, label, value, set, onchange, boost, hint);
  if (kind === "messages") return rows(name, label, value, set, onchange, message, hint);
  if (kind === "format") {
    const select = h("select", { onchange: () => (set(select.value === "xml" ? "" : select.value), onchange()) }, ["xml", "markdown", "plain"].map((one) => h("option", { value: one }, one)));
    select.value = value || "xml";
    return field(label, select, { name });
  }
  if (kind === "lines" || kind === "long") {
    const area = h("textarea", { rows: kind === "long" ? 3 : Math.max(1, value.split("\n").length), value, oninput: () => set(area.value), spellcheck: kind === "long" ? null : "false" });
    return field(label, area, { name, ...hint });
  }
  if (kind === "instant") {
    const input = h("input", { type: "datetime-local", step: 1, value: local(value), onchange: () => (set(input.value ? new Date(input.value).toISOString() : ""), onchange()) });
    return field(label, input, { name, ...hint });
  }
  const isNumber = kind === "whole" || kind === "score";
  const input = h("input", {
    type: "text",
    inputmode: isNumber ? "decimal" : null,
    list: name === "space" || name === "persona" ? spaces : null,
    autocomplete: "off",
    spellcheck: "false",
    value,
    oninput: () => set(input.value.trim()),
  });
  return field(label, input, { name, ...hint });
}

/** @param {string} name @returns {{hint?: string}} */
function hintOf(name) {
  const key = `hint.${name.replace(/^overrides\./, "")}`;
  const text = tValue("hint", name.replace(/^overrides\./, ""));
  return text === key.slice(5) ? {} : { hint: text };
}

/**
 * A slider with its value beside it; back at the default by its button.
 * @param {string} name @param {string} label @param {Asked} asked @param {() => void} onchange @param {{hint?: string}} hint
 */
function slider(name, label, asked, onchange, hint) {
  const isBudget = name.includes("budget");
  const fallback = DEFAULTS[name];
  const [max, step] = isBudget ? [name.endsWith("total") ? 8000 : 4000, 50] : [1, 0.01];
  const shown = h("output", { class: "slider-value" });
  const input = h("input", {
    type: "range", min: 0, max, step,
    oninput: () => (asked.set(name, input.value), tell()),
    onchange: () => onchange(),
  });
  const back = button("↺", () => (asked.delete(name), tell(), onchange()), { kind: "quiet", label: t("action.default", { name: label }), title: t("action.default", { name: label }) });
  const tell = () => {
    const set = asked.get(name);
    const at = Number(set ?? fallback ?? (isBudget ? max : 0));
    if (Number(input.max) < at) input.max = String(at);
    input.value = String(at);
    shown.textContent = set === undefined && fallback === undefined ? t("state.default") : isBudget ? number(at) : number(at, 2);
    back.toggleAttribute("data-hidden", set === undefined);
    back.disabled = set === undefined;
  };
  tell();
  const around = field(label, input, { name, ...hint });
  around.classList.add("slider");
  around.insertBefore(shown, input);
  input.after(back);
  return around;
}

/**
 * Rows that can be added and removed, kept as JSON.
 * @param {string} name @param {string} label @param {string} value @param {(text: string) => void} set @param {() => void} onchange
 * @param {(item: any, changed: (item: any) => void) => HTMLElement} row @param {{hint?: string}} hint
 */
function rows(name, label, value, set, onchange, row, { hint }) {
  /** @type {any[]} */
  let items = [];
  try {
    const parsed = JSON.parse(value || "[]");
    items = Array.isArray(parsed) ? parsed : Object.entries(parsed).map(([tag, factor]) => ({ tag, factor }));
  } catch {
    items = [];
  }
  const isBoosts = row === boost;
  const store = () => {
    const full = items.filter((item) => item.tag || item.text);
    set(full.length === 0 ? "" : JSON.stringify(isBoosts ? Object.fromEntries(full.map((item) => [item.tag, item.factor])) : full));
  };
  const list = h("div", { class: "rows" });
  const draw = () =>
    fill(list, items.map((item, at) =>
      h("div", { class: "row" },
        row(item, (changed) => ((items[at] = changed), store())),
        button("×", () => (items.splice(at, 1), store(), draw(), onchange()), { kind: "quiet", label: t("action.remove") }))),
    );
  draw();
  return h(
    "fieldset",
    { class: "field", "data-field": name },
    h("legend", {}, label),
    hint && h("p", { class: "hint" }, hint),
    list,
    button(t("action.add"), () => {
      items.push(isBoosts ? { tag: "", factor: 1.5 } : { text: "" });
      draw();
      /** @type {HTMLElement | null} */ (list.querySelector(".row:last-child input"))?.focus();
    }),
    h("p", { class: "error", hidden: true }),
  );
}

/** @param {{tag: string, factor: number}} item @param {(item: any) => void} changed */
function boost(item, changed) {
  const shown = h("output", { class: "slider-value" }, `×${number(item.factor, 1)}`);
  const tag = h("input", { type: "text", value: item.tag, placeholder: t("field.tag"), "aria-label": t("field.tag"), oninput: () => tell() });
  const factor = h("input", { type: "range", min: 0.1, max: 10, step: 0.1, value: item.factor, "aria-label": t("field.factor"), oninput: () => tell() });
  const tell = () => {
    shown.textContent = `×${number(Number(factor.value), 1)}`;
    changed({ tag: tag.value.trim(), factor: Number(factor.value) });
  };
  return h("div", { class: "row-fields" }, tag, factor, shown);
}

/** @param {{author?: string, text: string}} item @param {(item: any) => void} changed */
function message(item, changed) {
  const author = h("input", { type: "text", value: item.author ?? "", placeholder: t("field.author"), "aria-label": t("field.author"), oninput: () => tell() });
  const text = h("input", { type: "text", value: item.text, placeholder: t("field.text"), "aria-label": t("field.text"), oninput: () => tell() });
  const tell = () => changed({ ...(author.value.trim() && { author: author.value.trim() }), text: text.value });
  return h("div", { class: "row-fields" }, author, text);
}

/** A moment as `datetime-local` has it. @param {string} iso */
function local(iso) {
  const at = new Date(iso);
  if (!iso || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

