/** The identity as a model reads it: rendered by the service, with what it takes of its budget. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { number, t, tValue } from "../../lib/i18n.js";
import { button, copy, degradedNotice, empty, errorPanel, loading, panel, stackedBar } from "../../lib/widgets.js";
import { BUDGET_TOKENS } from "../playground/defaults.js";
import { sectionsOf } from "../playground/result.js";

/** @typedef {import("../../pages.js").View} View */

/**
 * A panel that shows the rendered identity, and what brings it up to date.
 * @param {View} view
 * @param {() => string} space
 */
export function identity(view, space) {
  const body = h("div", { class: "identity", "aria-live": "off" }, loading());
  let asked = new AbortController();
  let text = "";

  const update = async () => {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    body.setAttribute("aria-busy", "true");
    try {
      /** @type {Api.AssembleReply} */
      const reply = await view.api.post(
        "/context/assemble",
        { space: space(), record: false, overrides: { budget_tokens: { memories: 0, episodes: 0, procedures: 0 } } },
        { signal: AbortSignal.any([signal, view.signal]) },
      );
      text = sectionsOf(reply.prompt, "xml").find(({ section }) => section === "identity")?.text ?? "";
      fill(body, drawn(reply, text));
      body.setAttribute("aria-busy", "false");
    } catch (error) {
      if (!isAbort(error)) fill(body, errorPanel(error, () => void update()));
    }
  };

  const element = panel(t("soul.identity"), body, {
    note: t("soul.identity_note"),
    actions: button(t("action.copy"), () => void copy(t("soul.identity"), text)),
  });
  return { element, update };
}

/** @param {Api.AssembleReply} reply @param {string} text */
function drawn(reply, text) {
  const [used, budget] = [reply.tokens.soul, BUDGET_TOKENS.soul];
  const said = t("soul.tokens", { used: number(used), budget: number(budget) });
  const name = tValue("part", "soul");
  return [
    degradedNotice(reply.degraded),
    h("div", { class: "identity-tokens" }, stackedBar([{ name, value: used, tone: "soul", said }], { whole: budget, label: t("result.tokens") }), h("span", { class: "figure" }, said)),
    text
      ? h("div", { class: "prompt", tabindex: 0, role: "group", "aria-label": t("soul.identity") }, h("div", { class: "section", "data-tone": "identity" }, h("pre", {}, text)))
      : empty(t("soul.no_identity")),
  ];
}
