/** The parts that pages are made of. Each is a function from what it shows to an element. */

import { freshId, h } from "./dom.js";
import { number, t, tValue } from "./i18n.js";
import { Problem } from "./api.js";

/** @typedef {import("./dom.js").Children} Children */

/**
 * A titled box.
 * @param {string} title
 * @param {Children} content
 * @param {{actions?: Children, note?: Children}} [more]
 */
export function panel(title, content, { actions, note } = {}) {
  const id = freshId();
  return h(
    "section",
    { class: "panel", "aria-labelledby": id },
    h("header", { class: "panel-head" }, h("h2", { id }, title), note && h("p", { class: "muted" }, note), actions && h("div", { class: "actions" }, actions)),
    h("div", { class: "panel-body" }, content),
  );
}

/**
 * A part that is folded at first.
 * @param {Children} title
 * @param {Children} content
 * @param {{open?: boolean, ontoggle?: (event: Event) => void}} [more]
 */
export function folded(title, content, { open = false, ontoggle } = {}) {
  return h("details", { class: "folded", open, ontoggle }, h("summary", {}, title), h("div", { class: "folded-body" }, content));
}

/** @param {string} text @param {string} [tone] `soul`, `memories`, `good`, `bad`, `warn`… (styles.css) */
export function tag(text, tone = "plain") {
  return h("span", { class: "tag", "data-tone": tone }, text);
}

/**
 * @param {Children} label
 * @param {(event: Event) => void} onclick
 * @param {{kind?: "primary" | "plain" | "quiet" | "danger", title?: string, disabled?: boolean, label?: string}} [more]
 */
export function button(label, onclick, { kind = "plain", title, disabled, label: spoken } = {}) {
  return h("button", { type: "button", class: "button", "data-kind": kind, title, disabled, "aria-label": spoken, onclick }, label);
}

/**
 * A labelled control, with room for what is wrong with it.
 * @param {string} label
 * @param {HTMLElement} control
 * @param {{hint?: string, name?: string}} [more] `name` is the API's name of the field, by which `showErrors` finds it.
 */
export function field(label, control, { hint, name } = {}) {
  const id = control.id || freshId();
  const hintId = freshId();
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", hintId);
  return h(
    "div",
    { class: "field", "data-field": name },
    h("label", { for: id }, label),
    control,
    hint && h("p", { class: "hint", id: hintId }, hint),
    h("p", { class: "error", hidden: true }),
  );
}

/**
 * A checkbox with its label beside it.
 * @param {string} label
 * @param {boolean} checked
 * @param {(checked: boolean) => void} onchange
 * @param {{hint?: string, name?: string}} [more]
 */
export function check(label, checked, onchange, { hint, name } = {}) {
  const box = h("input", { type: "checkbox", id: freshId(), checked, onchange: () => onchange(box.checked) });
  return h(
    "div",
    { class: "field check", "data-field": name },
    h("label", {}, box, h("span", {}, label)),
    hint && h("p", { class: "hint" }, hint),
    h("p", { class: "error", hidden: true }),
  );
}

/**
 * Mark the fields that an answer names; what no field stands for is returned.
 * @param {Element} form
 * @param {readonly Api.FieldError[]} errors
 */
export function showErrors(form, errors) {
  for (const old of form.querySelectorAll("[data-field]")) mark(old, "");
  return errors.filter((error) => {
    const nameOf = (/** @type {Element} */ candidate) => candidate.getAttribute("data-field") ?? "";
    const found = [...form.querySelectorAll("[data-field]")].filter((candidate) => {
      const name = nameOf(candidate);
      return error.field === name || (name !== "" && /^[[.]/.test(error.field.slice(name.length)) && error.field.startsWith(name));
    }).sort((a, b) => nameOf(b).length - nameOf(a).length)[0];
    if (found) mark(found, error.message);
    return !found;
  });
}

/** @param {Element} element @param {string} message */
function mark(element, message) {
  const place = element.querySelector(":scope > .error");
  const control = element.matches("fieldset") ? null : element.querySelector("input, textarea, select");
  if (!(place instanceof HTMLElement)) return;
  place.textContent = message;
  place.hidden = !message;
  place.id ||= freshId();
  control?.toggleAttribute("aria-invalid", Boolean(message));
  if (message) {
    control?.setAttribute("aria-invalid", "true");
    control?.setAttribute("aria-errormessage", place.id);
    for (let around = element.closest("details"); around; around = around.parentElement?.closest("details") ?? null) around.open = true;
  }
}

/**
 * What went wrong: the status, and each field with what is wrong with it.
 * @param {unknown} error
 * @param {() => void} [retry]
 */
export function errorPanel(error, retry) {
  const problem = error instanceof Problem ? error : new Problem(-1, t("error.page"), String(error));
  const titles = new Map([[0, t("error.offline")], [401, t("error.signed_out")]]);
  const title = titles.get(problem.status) ?? problem.title;
  return h(
    "div",
    { class: "notice", "data-tone": "bad", role: "alert" },
    h("strong", {}, problem.status > 0 ? `${problem.status} · ${title}` : title),
    problem.errors.length > 0
      ? h("ul", {}, problem.errors.map((one) => h("li", {}, h("code", {}, one.field), " ", one.message)))
      : problem.detail && h("p", {}, problem.detail),
    retry && h("p", {}, button(t("action.retry"), retry)),
  );
}

/** Says which parts a prompt is without; null if it has all. @param {readonly string[]} parts */
export function degradedNotice(parts) {
  if (parts.length === 0) return null;
  return h("div", { class: "notice", "data-tone": "warn" }, h("strong", {}, t("result.degraded")), h("p", {}, parts.map((part) => tValue("source", part)).join(", ")));
}

/** @param {string} text @param {Children} [more] */
export function empty(text, more) {
  return h("div", { class: "empty" }, h("p", {}, text), more);
}

/** @param {string} [text] */
export function loading(text = t("state.loading")) {
  return h("div", { class: "loading", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), text);
}

/**
 * @typedef {object} Share
 * @property {string} name
 * @property {number} value
 * @property {string} tone
 * @property {string} [said] The value in words.
 */

/**
 * Shares of a whole, side by side; read aloud as a sentence.
 * @param {readonly Share[]} shares
 * @param {{whole?: number, label: string}} more `whole` is the length of the bar; by default the sum.
 */
export function stackedBar(shares, { whole, label }) {
  const sum = shares.reduce((total, share) => total + share.value, 0);
  const length = Math.max(whole ?? sum, 1e-9);
  const words = shares.map((share) => `${share.name} ${share.said ?? number(share.value, 2)}`).join(", ");
  const bar = h("div", { class: "bar", role: "img", "aria-label": `${label}: ${words}` });
  for (const share of shares) {
    const part = h("span", { class: "bar-part", "data-tone": share.tone, title: `${share.name}: ${share.said ?? number(share.value, 3)}` });
    part.style.width = `${Math.min(100, Math.max(0, (100 * share.value) / length))}%`;
    bar.append(part);
  }
  return bar;
}

/** What the colours of a bar stand for. @param {readonly {name: string, tone: string}[]} shares */
export function legend(shares) {
  return h("ul", { class: "legend" }, shares.map((share) => h("li", {}, h("span", { class: "dot", "data-tone": share.tone }), share.name)));
}

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Children} cell
 * @property {string} [kind] `number` for figures, `grow` for the widest
 */

/**
 * @template Row
 * @param {string} caption Read aloud.
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
export function table(caption, columns, rows) {
  return h(
    "div",
    { class: "table-around", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "spoken" }, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col", "data-kind": column.kind }, column.title)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => h("td", { "data-kind": column.kind, "data-title": column.title }, column.cell(row)))))),
    ),
  );
}

/** On a phone each row of the table is a block of its own. @param {HTMLElement} made By `table`. */
export function stacked(made) {
  made.classList.add("stacked");
  return made;
}

/** The part of an id that tells it from its neighbours: before it is the time, after it the space. @param {string} id @param {string} [href] */
export function shortId(id, href) {
  const code = h("code", { title: id }, `${id.slice(0, 4)}…${id.slice(22, 30)}`);
  return href ? h("a", { href }, code) : code;
}

/** An id with a button that copies it. @param {string} title @param {string} id */
export function idLine(title, id) {
  return h("p", { class: "id-line" }, h("code", {}, id), button(t("action.copy"), () => void copy(title, id), { kind: "quiet" }));
}

/** Names and values. @param {readonly (readonly [string, Children])[]} pairs */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/**
 * The next page of a list.
 * @param {string | null} cursor
 * @param {(cursor: string) => void} onmore
 */
export function pager(cursor, onmore) {
  return cursor && h("div", { class: "pager" }, button(t("action.more"), () => onmore(cursor)));
}

/** To the list, where it is not beside. @param {() => void} onback */
export function backTo(onback) {
  return h("p", { class: "back" }, button(["← ", t("action.back")], onback, { kind: "quiet" }));
}

/**
 * A modal dialog. The focus goes back to where it was when it closes.
 * @param {string} title
 * @param {Children} content
 * @param {{actions?: Children, onclose?: () => void}} [more]
 */
export function dialog(title, content, { actions, onclose } = {}) {
  const id = freshId();
  const element = h(
    "dialog",
    { "aria-labelledby": id, onclose: () => (element.remove(), onclose?.()) },
    h("header", { class: "dialog-head" }, h("h2", { id }, title), button("×", () => element.close(), { kind: "quiet", label: t("action.close") })),
    h("div", { class: "dialog-body" }, content),
    actions && h("footer", { class: "dialog-foot" }, actions),
  );
  document.body.append(element);
  element.showModal();
  return element;
}

/**
 * Ask before something is done that cannot be taken back.
 * @param {string} title
 * @param {Children} content
 * @param {string} yes
 * @returns {Promise<boolean>}
 */
export function confirm(title, content, yes) {
  return new Promise((resolve) => {
    let agreed = false;
    const element = dialog(title, content, {
      actions: [
        button(t("action.cancel"), () => element.close()),
        button(yes, () => ((agreed = true), element.close()), { kind: "danger" }),
      ],
      onclose: () => resolve(agreed),
    });
  });
}

/** Said in a corner for a while, and aloud. @param {string} text */
export function toast(text) {
  const place = document.getElementById("toasts");
  const note = h("div", { class: "toast" }, text);
  place?.append(note);
  setTimeout(() => note.remove(), 4000);
}

/**
 * Copy a text; where the browser does not let the page, show it to be copied by hand.
 * @param {string} title
 * @param {string} text
 */
export async function copy(title, text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("state.copied"));
  } catch {
    dialog(title, h("pre", { class: "code", tabindex: 0 }, text));
  }
}

/** Keys as on the keyboard. @param {...string} keys */
export function keys(...keys) {
  return h("span", { class: "keys" }, keys.map((one) => h("kbd", {}, one)));
}
