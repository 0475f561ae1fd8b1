/** What was said in a space: its sessions, or the messages that are looked for; one session as it was spoken. */

import { fill, h } from "../lib/dom.js";
import { t, tValue } from "../lib/i18n.js";
import { chosenSpace, isAtLeast, ownRole, spaceNames } from "../lib/space_choice.js";
import { empty, loading, panel } from "../lib/widgets.js";
import { filters } from "./conversations/filters.js";
import { found } from "./conversations/found.js";
import { reading } from "./conversations/reading.js";

/** @typedef {import("../pages.js").View} View */

/** @type {import("../pages.js").Page} */
export const conversations = { name: "conversations", title: "page.conversations", show };

/** @param {View} view */
async function show(view) {
  fill(view.root, loading());
  const [names, role] = await Promise.all([spaceNames(view), ownRole(view)]);
  const params = new URLSearchParams(view.params);
  const space = chosenSpace(view, names, ["user", "viewer", "stream"]);
  if (space) params.set("space", space);
  const mayForget = isAtLeast(role, space.startsWith("lore:") ? "editor" : "writer");
  const [list, talk] = [h("div", { class: "found" }), h("div", { class: "talk" })];
  const pages = h("div", { class: "talks" });
  let reader = new AbortController();

  const look = async () => {
    view.note(params);
    await found(view, params, list, open);
  };

  /** Read a session, from a message on if one is named. @param {string | null} session @param {string | null} message */
  const open = async (session, message) => {
    for (const [name, value] of /** @type {const} */ ([["session", session], ["message", message]])) {
      if (value) params.set(name, value);
      else params.delete(name);
    }
    view.note(params);
    pages.toggleAttribute("data-reading", session !== null);
    const before = list.querySelector("[aria-current]");
    before?.removeAttribute("aria-current");
    list.querySelector(`[data-session="${CSS.escape(session ?? "")}"][data-message="${CSS.escape(message ?? "")}"]`)?.setAttribute("aria-current", "true");
    reader.abort();
    reader = new AbortController();
    if (session === null) {
      fill(talk, panel(t("page.conversations"), empty(t("talks.choose"))));
      if (before instanceof HTMLElement) before.focus();
      return;
    }
    const signal = AbortSignal.any([view.signal, reader.signal]);
    await reading({ ...view, signal }, talk, { space, session, message, mayForget, onclose: () => void open(null, null), onforgotten: () => void look().then(() => open(session, null)) });
  };

  fill(
    pages,
    h("div", { class: "seeking" }, panel(t("talks.find"), filters(params, names, () => void look())), list),
    talk,
  );
  fill(
    view.root,
    h("h1", { class: "spoken" }, t("page.conversations")),
    !mayForget && h("p", { class: "notice", "data-tone": "plain" }, t("talks.read_only", { role: tValue("role", role) })),
    space ? pages : empty(t("playground.no_spaces")),
  );
  if (space) await Promise.all([look(), open(params.get("session"), params.get("message"))]);
}
