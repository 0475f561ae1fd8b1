/** Prompts as they were assembled for an agent, from the log. */

import { fill, h } from "../../lib/dom.js";
import { hrefOf } from "../../lib/address.js";
import { isAbort } from "../../lib/api.js";
import { moment, t } from "../../lib/i18n.js";
import { button, empty, errorPanel, folded, loading, tag } from "../../lib/widgets.js";
import { hrefOfWhy } from "../../lib/words.js";

/** @typedef {import("../../pages.js").View} View */

const SHOWN = 20;

/** @param {View} view @param {string} id @param {AbortSignal} signal @returns {Promise<Api.LoggedReply>} */
export function logged(view, id, signal) {
  return view.api.get(`/assemblies/${encodeURIComponent(id)}`, { signal });
}

/**
 * Says that what follows was assembled before, and offers to check it and to do it again.
 * @param {View} view @param {Api.LoggedReply} found @param {() => void} onagain
 */
export function loggedNotice(view, found, onagain) {
  const said = h("span", { role: "status" });
  const check = async () => {
    try {
      /** @type {Api.ReplayReply} */
      const replayed = await view.api.post(`/assemblies/${encodeURIComponent(found.id)}/replay`, undefined, { signal: view.signal });
      fill(said, replayed.identical ? tag(t("logged.identical"), "good") : tag(t("logged.differs", { count: replayed.erased }), "warn"));
    } catch (error) {
      if (!isAbort(error)) fill(said, errorPanel(error));
    }
  };
  return h(
    "div",
    { class: "notice", "data-tone": "series-0" },
    h("strong", {}, t("logged.title", { at: moment(found.created_at) })),
    h("p", {}, h("code", {}, found.id)),
    found.erased > 0 && h("p", {}, t("logged.erased", { count: found.erased })),
    h("div", { class: "actions" }, button(t("logged.again"), onagain, { kind: "primary" }), button(t("logged.check"), () => void check(), { title: t("logged.check_title") }), h("a", { class: "button", href: hrefOfWhy(found.space, found.id) }, t("memory.part.prompts")), said),
  );
}

/** The last prompts of a space, to be opened. @param {View} view @param {() => string} spaceOf */
export function loggedPrompts(view, spaceOf) {
  const list = h("div", {});
  const load = async () => {
    fill(list, loading());
    try {
      const space = spaceOf();
      /** @type {Api.Page_AssemblySummary_} */
      const page = space ? await view.api.get("/assemblies", { query: { space, limit: SHOWN }, signal: view.signal }) : { items: [], next_cursor: null };
      fill(list, page.items.length === 0 ? empty(t("logged.none")) : h("ul", { class: "logged" }, page.items.map((one) => h("li", {}, h("a", { href: hrefOf("playground", { assembly: one.id }) }, one.query.trim() || t("logged.no_query")), h("span", { class: "muted" }, moment(one.created_at))))));
    } catch (error) {
      if (!isAbort(error)) fill(list, errorPanel(error, () => void load()));
    }
  };
  return folded(h("span", {}, t("logged.prompts")), [h("p", { class: "hint" }, t("logged.hint")), list], {
    ontoggle: (event) => {
      if (event.target instanceof HTMLDetailsElement && event.target.open) void load();
    },
  });
}
