/** Plain inputs, and lists of items that have several. Each keeps its value as a text. */

import { fill, freshId, h } from "../../lib/dom.js";
import { t, tValue } from "../../lib/i18n.js";
import { button, field } from "../../lib/widgets.js";
import { putAt, valueAt, valueOf } from "./request.js";

/** @typedef {import("./request.js").Control} Control */

/**
 * @param {Control} control
 * @param {string} value
 * @param {(text: string) => void} set With every key.
 * @param {() => void} onchange What is chosen rather than typed.
 * @param {string} [list] The id of a list to choose from.
 */
export function inputOf({ kind, options = [] }, value, set, onchange, list) {
  if (kind === "choice") {
    const select = h("select", { onchange: () => (set(select.value === options[0] ? "" : select.value), onchange()) }, options.map((one) => h("option", { value: one }, tValue("choice", one))));
    select.value = value || options[0] || "";
    return select;
  }
  if (kind === "lines" || kind === "long") {
    const area = h("textarea", { rows: kind === "long" ? 3 : Math.max(1, value.split("\n").length), value, oninput: () => set(area.value), spellcheck: kind === "long" ? null : "false" });
    return area;
  }
  if (kind === "instant") {
    const input = h("input", { type: "datetime-local", step: 1, value: local(value), onchange: () => (set(input.value ? new Date(input.value).toISOString() : ""), onchange()) });
    return input;
  }
  const isNumber = kind === "whole" || kind === "score";
  const input = h("input", { type: "text", inputmode: isNumber ? "decimal" : null, list, autocomplete: "off", spellcheck: "false", value, oninput: () => set(input.value.trim()) });
  return input;
}

/**
 * Items that can be added and removed, kept as JSON. One is a row of its first fields; the others are folded below.
 * @param {Control} control
 * @param {string} value
 * @param {(text: string) => void} set
 * @param {{label: string, hint?: string, onchange: () => void, actions?: HTMLElement}} more
 */
export function itemsOf({ name, fields = [] }, value, set, { label, hint, onchange, actions }) {
  const parsed = value ? valueOf("items", value) : [];
  /** @type {Record<string, any>[]} */
  const items = Array.isArray(parsed) ? structuredClone(parsed) : [];
  const store = () => {
    const told = items.filter((item) => Object.keys(item).length > 0);
    set(told.length === 0 ? "" : JSON.stringify(told));
  };
  const list = h("ol", { class: "rows" });
  const draw = () => fill(list, items.map((item, at) => h("li", { class: "item" }, itemOf(item, fields, `${name}[${at}]`, { store, onchange, remove: () => (items.splice(at, 1), store(), draw(), add.focus(), onchange()) }))));
  const add = button(t("action.add"), () => {
    const last = items.at(-1);
    // The next message is most often from the same platform.
    items.push(last?.author?.platform ? { author: { platform: last.author.platform } } : {});
    draw();
    /** @type {HTMLElement | null} */ (list.querySelector(":scope > .item:last-child :is(input, textarea)"))?.focus();
  });
  draw();
  return h(
    "fieldset",
    { class: "field", "data-field": name },
    h("legend", {}, label),
    hint && h("p", { class: "hint" }, hint),
    list,
    h("div", { class: "actions" }, add, actions),
    h("p", { class: "error", hidden: true }),
  );
}

/**
 * @param {Record<string, any>} item Changed in place.
 * @param {readonly Control[]} fields
 * @param {string} path Of the item, as the API names it.
 * @param {{store: () => void, onchange: () => void, remove: () => void}} does
 */
function itemOf(item, fields, path, { store, onchange, remove }) {
  const summary = h("span", { class: "muted" });
  const tell = () => (summary.textContent = summaryOf(item, fields));
  const built = (/** @type {Control} */ control) => {
    const label = tValue("field", control.name);
    const value = valueAt(item, control.name);
    const set = (/** @type {string} */ text) => {
      putAt(item, control.name, text === "" ? undefined : valueOf(control.kind, text));
      prune(item);
      store();
      tell();
    };
    if (control.kind === "items") return itemsOf({ ...control, name: `${path}.${control.name}` }, JSON.stringify(value ?? []), set, { label, onchange });
    const input = inputOf(control, control.kind === "lines" ? (value ?? []).join("\n") : String(value ?? ""), set, () => {});
    if (control.group === "more") return field(label, input, { name: `${path}.${control.name}` });
    input.setAttribute("aria-label", label);
    input.setAttribute("placeholder", label);
    if (input instanceof HTMLTextAreaElement) input.rows = 1;
    return h("div", { class: "field", "data-field": `${path}.${control.name}` }, input, h("p", { class: "error", hidden: true }));
  };
  const more = fields.filter((control) => control.group === "more");
  tell();
  return [
    h("div", { class: "row" }, h("div", { class: "row-fields" }, fields.filter((control) => control.group !== "more").map(built)), button("×", remove, { kind: "quiet", label: t("action.remove") })),
    more.length > 0 && h("details", { class: "more" }, h("summary", {}, h("span", {}, t("action.details")), summary), h("div", { class: "folded-body" }, more.map(built))),
  ];
}

/** What the folded fields say. @param {Record<string, any>} item @param {readonly Control[]} fields */
function summaryOf(item, fields) {
  const said = fields.filter(({ group, name }) => group === "more" && name !== "id").map(({ name, kind, options }) => {
    const value = valueAt(item, name);
    if (value === undefined || value === null || value === options?.[0]) return "";
    if (kind === "instant") return local(value).replace("T", " ");
    return kind === "items" ? `${tValue("field", name)} ${value.length}` : String(value);
  });
  return said.filter(Boolean).join(" · ");
}

/** Without what is not set. @param {Record<string, any>} item */
function prune(item) {
  for (const [name, value] of Object.entries(item)) {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) prune(value);
    const isEmpty = value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
    if (isEmpty) delete item[name];
  }
}

/**
 * Factors of tags, kept as one JSON object.
 * @param {Control} control
 * @param {string} value
 * @param {(text: string) => void} set
 * @param {{label: string, onchange: () => void}} more
 */
export function boostsOf({ name }, value, set, { label, onchange }) {
  const parsed = value ? valueOf("boosts", value) : {};
  const items = Object.entries(typeof parsed === "object" && parsed !== null ? parsed : {}).map(([tag, factor]) => ({ tag, factor: String(factor) }));
  const store = () => {
    const told = items.filter((item) => item.tag).map((item) => [item.tag, valueOf("score", item.factor)]);
    set(told.length === 0 ? "" : JSON.stringify(Object.fromEntries(told)));
  };
  const list = h("div", { class: "rows" });
  const draw = () => fill(list, items.map((item, at) => h("div", { class: "row" }, boost(item, store, onchange), button("×", () => (items.splice(at, 1), store(), draw(), onchange()), { kind: "quiet", label: t("action.remove") }))));
  draw();
  return h(
    "fieldset",
    { class: "field", "data-field": name },
    h("legend", {}, label),
    list,
    button(t("action.add"), () => {
      items.push({ tag: "", factor: "1.5" });
      draw();
      /** @type {HTMLElement | null} */ (list.querySelector(".row:last-child input"))?.focus();
    }),
    h("p", { class: "error", hidden: true }),
  );
}

/** @param {{tag: string, factor: string}} item Changed in place. @param {() => void} store @param {() => void} onmove */
function boost(item, store, onmove) {
  const tag = h("input", { type: "text", value: item.tag, placeholder: t("field.tag"), "aria-label": t("field.tag"), oninput: () => ((item.tag = tag.value.trim()), store()) });
  const set = (/** @type {string} */ text) => {
    item.factor = text;
    store();
    onmove();
  };
  const { range, typed } = sliderOf({ value: item.factor, min: 0.1, max: 10, step: 0.1, label: t("field.factor") }, set);
  return h("div", { class: "row-fields" }, tag, range, typed);
}

/**
 * A slider and a number beside it that may go further: both say the same.
 * @param {{value: string, min?: number, max: number, step: number, limit?: number, label: string}} scale
 * @param {(text: string) => void} set
 */
export function sliderOf({ value, min = 0, max, step, limit = max, label }, set) {
  const range = h("input", { type: "range", id: freshId(), min, max, step, value, "aria-label": label, oninput: () => ((typed.value = range.value), set(range.value)) });
  const typed = h("input", { type: "number", class: "typed", min, max: limit, step: "any", value, "aria-label": t("action.exactly", { name: label }), oninput: () => (show(typed.value), set(typed.value)) });
  const show = (/** @type {string} */ text) => {
    range.value = text === "" ? String(max) : text;
    if (document.activeElement !== typed) typed.value = text;
  };
  return { range, typed, show };
}

/** A moment as `datetime-local` has it. @param {string} iso */
function local(iso) {
  const at = new Date(iso);
  if (!iso || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
