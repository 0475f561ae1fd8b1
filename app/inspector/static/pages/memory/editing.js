/** Editing an entry as it stands: a new version, unless somebody else wrote one meanwhile. */

import { fill, h } from "../../lib/dom.js";
import { isAbort, Problem } from "../../lib/api.js";
import { t, tValue } from "../../lib/i18n.js";
import { button, errorPanel, field, showErrors, toast } from "../../lib/widgets.js";
import { CATEGORIES, pathOf } from "../../lib/words.js";

/** @typedef {import("../memory.js").Place} Place */
/** @typedef {import("../../lib/words.js").Entry} Entry */

/**
 * @param {Place} place @param {{entry: Entry, etag: string}} read
 * @param {{stop: () => void, done: (entry: Entry) => void}} told
 */
export function editing({ view }, { entry, etag }, { stop, done }) {
  const text = h("textarea", { rows: 5, required: true, dir: "auto", value: entry.text });
  const tags = h("input", { type: "text", value: entry.tags.join(", "), spellcheck: "false" });
  const scope = h("input", { type: "text", value: entry.scope, spellcheck: "false", placeholder: "chat:kitchen" });
  const category = h("select", {}, ["", ...CATEGORIES].map((one) => h("option", { value: one }, one ? tValue("category", one) : t("memory.none_of_these"))));
  if ("category" in entry) category.value = entry.category ?? "";
  const trigger = h("input", { type: "text", value: "trigger" in entry ? (entry.trigger ?? "") : "" });
  const importance = share(entry.importance);
  const confidence = share(entry.confidence);
  const trouble = h("div", {});

  const wanted = () => {
    const all = {
      text: text.value,
      tags: tags.value.split(",").map((one) => one.trim()).filter(Boolean),
      scope: scope.value.trim(),
      importance: valueOf(importance),
      confidence: valueOf(confidence),
      ...("category" in entry ? { category: category.value || null } : {}),
      ...("trigger" in entry ? { trigger: trigger.value.trim() || null } : {}),
    };
    /** @type {Record<string, unknown>} */
    const is = { ...entry };
    return Object.fromEntries(Object.entries(all).filter(([name, value]) => JSON.stringify(is[name]) !== JSON.stringify(value)));
  };

  const save = async (/** @type {string} */ version) => {
    const body = wanted();
    if (Object.keys(body).length === 0) return stop();
    fill(trouble);
    try {
      const changed = await view.api.patch(pathOf(entry.id), body, { ifMatch: version, signal: view.signal });
      toast(t("memory.saved"));
      done(changed);
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof Problem && error.status === 412) return void overtaken();
      const others = error instanceof Problem ? showErrors(form, error.errors) : [];
      if (!(error instanceof Problem) || error.errors.length === 0 || others.length > 0) fill(trouble, errorPanel(error));
    }
  };

  /** Somebody else was faster: both texts, and whose shall hold. */
  const overtaken = async () => {
    try {
      const now = await view.api.call("GET", pathOf(entry.id), { signal: view.signal });
      fill(
        trouble,
        h(
          "div",
          { class: "notice", "data-tone": "warn", role: "alert" },
          h("strong", {}, t("memory.overtaken")),
          h("p", {}, t("memory.overtaken_why", { before: entry.version, now: now.json.version })),
          h("div", { class: "sides" }, h("div", { class: "side" }, h("strong", {}, t("memory.theirs")), h("p", {}, now.json.text)), h("div", { class: "side" }, h("strong", {}, t("memory.yours")), h("p", {}, text.value))),
          h("div", { class: "actions" }, button(t("memory.keep_theirs"), () => done(now.json)), button(t("memory.keep_yours"), () => void save(now.etag ?? ""), { kind: "danger" })),
        ),
      );
    } catch (error) {
      if (!isAbort(error)) fill(trouble, errorPanel(error));
    }
  };

  const form = h(
    "form",
    {
      class: "controls memory-form",
      "aria-label": t("action.edit"),
      onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void save(etag)),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape") stop();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save(etag);
      },
    },
    field(t("field.text"), text, { name: "text" }),
    "trigger" in entry && field(t("memory.when"), trigger, { name: "trigger" }),
    h(
      "div",
      { class: "memory-pairs" },
      "category" in entry && field(t("memory.category"), category, { name: "category" }),
      field(t("memory.scope"), scope, { name: "scope", hint: t("memory.scope_hint") }),
      field(t("memory.tags"), tags, { name: "tags", hint: t("memory.tags_hint") }),
      field(t("signal.importance"), importance, { name: "importance", hint: t("memory.share_hint") }),
      field(t("signal.confidence"), confidence, { name: "confidence", hint: t("memory.share_hint") }),
    ),
    trouble,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("action.save")), button(t("action.cancel"), stop)),
  );
  return form;
}

/** @param {number | null} value */
function share(value) {
  return h("input", { type: "number", min: 0, max: 1, step: "any", value: value === null ? "" : String(value), placeholder: t("memory.unknown") });
}

/** @param {HTMLInputElement} input */
function valueOf(input) {
  return input.value === "" ? null : Number(input.value);
}
