/** Writing a block: a new one, or another version of one. */

import { changedProse } from "../../lib/differences.js";
import { fill, h } from "../../lib/dom.js";
import { isAbort, Problem } from "../../lib/api.js";
import { t } from "../../lib/i18n.js";
import { button, check, errorPanel, field, showErrors } from "../../lib/widgets.js";

/** @typedef {import("../../pages.js").View} View */
/** @typedef {Api.SoulReply} Block */

/**
 * @param {View} view
 * @param {string} space
 * @param {Block | null} block Null for a new one.
 * @param {{onsaved: (block: Block) => void, oncancel: () => void}} more
 */
export function blockForm(view, space, block, { onsaved, oncancel }) {
  const wanted = { name: block?.name ?? "", text: block?.text ?? "", active: true };
  let base = block;
  /** What another's version says, while it is shown beside ours. @type {Block | null} */
  let theirs = null;
  const name = h("input", { type: "text", value: wanted.name, dir: "auto", autocomplete: "off", oninput: () => (wanted.name = name.value) });
  const text = h("textarea", { rows: 6, value: wanted.text, dir: "auto", oninput: () => ((wanted.text = text.value), compare()) });
  const [trouble, compared] = [h("div", {}), h("div", {})];
  const save = h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("action.save"));

  const send = async () => {
    save.disabled = true;
    theirs = null;
    save.hidden = false;
    fill(trouble);
    try {
      onsaved(base ? await edited(base) : await view.api.post("/soul", { space, ...wanted }, { signal: view.signal }));
    } catch (error) {
      if (!isAbort(error)) await refused(error);
    }
    save.disabled = false;
  };

  /** @param {Block} of @returns {Promise<Block>} */
  const edited = (of) => view.api.patch(`/soul/${of.id}`, { name: wanted.name, text: wanted.text }, { ifMatch: `"${of.version}"`, signal: view.signal });

  /** @param {unknown} error */
  const refused = async (error) => {
    if (error instanceof Problem && error.status === 412 && base) return conflict(base);
    const others = error instanceof Problem ? showErrors(form, error.errors) : [];
    const isShown = error instanceof Problem && error.errors.length > 0 && others.length === 0;
    if (!isShown) fill(trouble, errorPanel(error));
    form.querySelector("[aria-invalid=true]")?.scrollIntoView({ block: "nearest" });
  };

  /** Somebody else wrote a version meanwhile. If only its place is another, nothing speaks against ours. @param {Block} seen */
  const conflict = async (seen) => {
    try {
      /** @type {Block} */
      const now = await view.api.get(`/soul/${seen.id}`, { signal: view.signal });
      base = now;
      if (now.name === seen.name && now.text === seen.text) return send();
      theirs = now;
      save.hidden = true;
      compare();
      fill(trouble, h(
        "div",
        { class: "notice conflict", "data-tone": "warn", role: "alert" },
        h("strong", {}, t("soul.conflict")),
        h("p", {}, t("soul.conflict_why", { version: now.version })),
        now.name !== wanted.name && h("p", {}, t("soul.conflict_name", { name: now.name })),
        compared,
        h("div", { class: "actions" }, button(t("soul.overwrite", { version: now.version + 1 }), () => void send(), { kind: "primary" }), button(t("soul.take_theirs"), () => onsaved(now))),
      ));
      trouble.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (!isAbort(error)) fill(trouble, errorPanel(error));
    }
  };

  const compare = () => theirs && fill(compared, changedProse(theirs.text, wanted.text, t("soul.conflict_changes")));

  const form = h(
    "form",
    { class: "block-form", "aria-label": block ? t("soul.edit_label", { name: block.name }) : t("soul.add"), onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void send()) },
    field(t("soul.name"), name, { name: "name", hint: t("soul.name_hint") }),
    field(t("soul.text"), text, { name: "text" }),
    !block && check(t("soul.active"), true, (checked) => (wanted.active = checked), { hint: t("soul.active_hint") }),
    trouble,
    h("div", { class: "actions" }, save, button(t("action.cancel"), oncancel)),
  );
  return { element: form, focus: () => (block ? text : name).focus() };
}
