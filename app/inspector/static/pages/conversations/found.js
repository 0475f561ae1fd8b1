/** What was found: the sessions of a space, the latest first; or the messages that are looked for. */

import { fill, h } from "../../lib/dom.js";
import { isAbort, Problem } from "../../lib/api.js";
import { moment, number, t } from "../../lib/i18n.js";
import { empty, errorPanel, loading, pager, panel, showErrors, tag } from "../../lib/widgets.js";
import { authorOf } from "../../lib/words.js";
import { areMessagesSought, hrefOfSession, queryOf } from "./filters.js";

/** @typedef {import("../../pages.js").View} View */
/** @typedef {(session: string | null, message: string | null) => Promise<void>} Open Null: none is read any more. */

const PAGE = 30;
/** The latest search of each list: an earlier one that answers late is not shown. @type {WeakMap<Element, object>} */
const latest = new WeakMap();

/** @param {View} view @param {URLSearchParams} params @param {HTMLElement} list @param {Open} open */
export async function found(view, params, list, open) {
  const search = {};
  latest.set(list, search);
  const isMessages = areMessagesSought(params);
  const items = h("ul", { class: "hits" });
  const more = h("div", {});

  /** @param {string | null} cursor */
  const load = async (cursor) => {
    try {
      /** @type {{items: any[], next_cursor: string | null}} */
      const page = await view.api.get(isMessages ? "/messages" : "/sessions", { query: { ...queryOf(params), limit: PAGE, cursor }, signal: view.signal });
      if (latest.get(list) !== search) return;
      showErrors(view.root, []);
      items.append(...page.items.map((one) => h("li", {}, isMessages ? messageLink(one, params, open) : sessionLink(one, params, open))));
      fill(more, pager(page.next_cursor, (next) => void load(next)));
      if (!cursor) fill(list, shown(items, more, isMessages, view, params));
    } catch (error) {
      if (isAbort(error) || latest.get(list) !== search) return;
      if (error instanceof Problem) showErrors(view.root, error.errors);
      fill(list, errorPanel(error, () => void load(cursor)));
    }
  };

  fill(list, loading());
  await load(null);
}

/** @param {HTMLElement} items @param {HTMLElement} more @param {boolean} isMessages @param {View} view @param {URLSearchParams} params */
function shown(items, more, isMessages, view, params) {
  const count = items.children.length;
  view.announce(t("talks.announced", { count }));
  if (count > 0) return panel(t(isMessages ? "talks.messages" : "talks.sessions"), [items, more], { note: t(params.has("query") ? "talks.best_first" : "talks.latest_first") });
  const isFiltered = isMessages || params.has("from") || params.has("to");
  return panel(t(isMessages ? "talks.messages" : "talks.sessions"), empty(t(isFiltered ? "talks.no_hit" : "talks.none")));
}

/** @param {Api.SessionReply} session @param {URLSearchParams} params @param {Open} open */
function sessionLink(session, params, open) {
  return link(params, open, session.id, null, [
    h("span", { class: "hit-head" }, h("strong", { dir: "auto" }, sessionName(session)), h("time", { datetime: session.last_at }, moment(session.last_at))),
    session.latest && h("span", { class: "hit-text", dir: "auto" }, session.latest),
    h("span", { class: "muted" }, session.messages === 0 ? t("talks.emptied") : t("talks.count", { count: number(session.messages) })),
  ]);
}

/** @param {Api.MessageReply} message @param {URLSearchParams} params @param {Open} open */
function messageLink(message, params, open) {
  return link(params, open, message.session, message.id, [
    h("span", { class: "hit-head" }, h("strong", { dir: "auto" }, authorOf(message)), h("time", { datetime: message.at }, moment(message.at))),
    h("span", { class: "hit-text", dir: "auto" }, message.text || (message.event ? tag(message.event) : t("talks.media"))),
  ]);
}

/**
 * A link that reads a session beside the list, and can be opened elsewhere.
 * @param {URLSearchParams} params @param {Open} open @param {string} session @param {string | null} message @param {import("../../lib/dom.js").Children} content
 */
function link(params, open, session, message, content) {
  return h("a", {
    class: "hit",
    href: hrefOfSession(params, session, message),
    "data-session": session,
    "data-message": message ?? "",
    onclick: (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void open(session, message);
    },
  }, content);
}

/** @param {Api.SessionReply} session */
export function sessionName(session) {
  return session.name ?? t("talks.unnamed", { id: `…${session.id.slice(22, 30)}` });
}
