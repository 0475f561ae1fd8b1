/** What was said in a space: its sessions, or the messages that are looked for; one session as it was spoken. */

import { fill, h } from "../lib/dom.js";
import { t } from "../lib/i18n.js";
import { chosenSpace, isAtLeast, readOnlyNotice, spacesAndKey } from "../lib/space_choice.js";
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
  const { names, whose } = await spacesAndKey(view);
  const params = new URLSearchParams(view.params);
  const space = chosenSpace(view, names, ["user", "viewer", "stream"]);
  if (space) params.set("space", space);
  const mayForget = isAtLeast(whose, space.startsWith("lore:") ? "editor" : "writer");
  const [list, talk] = [h("div", { class: "found" }), h("div", { class: "talk" })];
  const pages = h("div", { class: "talks" });
  let reader = new AbortController();
  /** What is read: by our id of the session, once that is known. @type {string | null} */
  let current = null;

  const look = async () => {
    await found(view, params, list, open);
    mark(current, params.get("message"));
  };

  /** Show in the list what is read. @param {string | null} session @param {string | null} message */
  const mark = (session, message) => {
    list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    list.querySelector(`[data-session="${CSS.escape(session ?? "")}"][data-message="${CSS.escape(message ?? "")}"]`)?.setAttribute("aria-current", "true");
  };

  /** Read a session, and a message in it if one is named. @param {string | null} session @param {string | null} message */
  const read = async (session, message) => {
    pages.toggleAttribute("data-reading", session !== null);
    const before = list.querySelector("[aria-current]");
    current = session;
    mark(session, message);
    reader.abort();
    reader = new AbortController();
    if (session === null) {
      fill(talk, panel(t("page.conversations"), empty(t("talks.choose"))));
      if (before instanceof HTMLElement) before.focus();
      return;
    }
    const signal = AbortSignal.any([view.signal, reader.signal]);
    await reading({ ...view, signal }, talk, {
      space, session, message, mayForget,
      onread: (id) => mark((current = id), message),
      onclose: () => void open(null, null),
      onforgotten: () => void look().then(() => open(session, null)),
    });
  };

  /** @type {import("./conversations/found.js").Open} */
  const open = async (session, message) => {
    for (const [name, value] of /** @type {const} */ ([["session", session], ["message", message]])) {
      if (value) params.set(name, value);
      else params.delete(name);
    }
    view.note(params);
    await read(session, message);
  };

  const seek = () => {
    view.note(params);
    void look();
  };

  fill(
    pages,
    h("div", { class: "seeking" }, panel(t("talks.find"), filters(params, names, seek)), list),
    talk,
  );
  fill(
    view.root,
    h("h1", { class: "spoken" }, t("page.conversations")),
    !mayForget && readOnlyNotice("talks.read_only", whose),
    space ? pages : empty(t("playground.no_spaces")),
  );
  if (!space) return;
  view.note(params, { replace: true });
  await Promise.all([look(), read(params.get("session"), params.get("message"))]);
}
