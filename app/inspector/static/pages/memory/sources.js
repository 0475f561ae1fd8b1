/** The messages that an entry comes of. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { moment, t } from "../../lib/i18n.js";
import { errorPanel, loading, panel, tag } from "../../lib/widgets.js";
import { authorOf, hrefOfMessage, pathOf } from "../../lib/words.js";

/** @typedef {import("../memory.js").Place} Place */
/** @typedef {import("../../lib/words.js").Entry} Entry */

/** Why it is known. @param {Place} place @param {Entry} entry */
export function sources({ view }, entry) {
  const list = h("div", {}, loading());
  void sourcesOf(view, entry.id).then((found) => fill(list, found ?? h("p", { class: "muted" }, t(entry.source ? "known.given" : "known.none", { source: entry.source ?? "" }))));
  return panel(t("known.title"), list);
}

/**
 * The messages of an entry; null if nobody said it, an error if they cannot be had.
 * @param {import("../../pages.js").View} view @param {string} id @returns {Promise<Element | null>}
 */
export async function sourcesOf(view, id) {
  try {
    /** @type {Api.SourcesReply} */
    const { items } = await view.api.get(`${pathOf(id)}/sources`, { signal: view.signal });
    return items.length > 0 ? h("ul", { class: "memory-sources" }, items.map(source)) : null;
  } catch (error) {
    return isAbort(error) ? null : errorPanel(error);
  }
}

/** @param {Api.EntrySourceReply} one */
function source({ at, state, message }) {
  const who = message && authorOf(message);
  return h(
    "li",
    { "data-state": state },
    h("p", { class: "entry-about" }, who && h("strong", {}, who), at && h("time", { datetime: at }, moment(at)), state !== "said" && tag(t(`said.${state}`), state === "changed" ? "warn" : "plain")),
    message ? h("blockquote", { dir: "auto" }, message.text) : h("p", { class: "muted" }, t(`said_why.${/** @type {"deleted" | "purged" | "out_of_reach"} */ (state)}`)),
    message && h("p", {}, h("a", { href: hrefOfMessage(message) }, t("known.conversation"))),
  );
}
