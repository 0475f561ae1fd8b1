/** Entries by their ids, with their texts. */

import { h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { hrefOf } from "../../lib/address.js";
import { t, tValue } from "../../lib/i18n.js";
import { tag } from "../../lib/widgets.js";

/** @typedef {import("../../pages.js").View} View */

const PATHS = /** @type {const} */ ({ mem: "memories", epi: "episodes", pro: "procedures" });
const READ = 20;

/**
 * @param {View} view
 * @param {readonly {id: string, space: string}[]} entries
 * @param {{links: boolean}} more Whether each leads to its place among the memories.
 */
export async function entryList(view, entries, { links }) {
  const items = await Promise.all(entries.slice(0, READ).map(async ({ id, space }) => {
    const tier = PATHS[/** @type {keyof typeof PATHS} */ (id.slice(0, 3))];
    const entry = await read(view, tier, id);
    return h(
      "li",
      { "data-id": id },
      tag(tValue("talks_tier", tier), tier),
      entry && entry.status !== "active" && tag(tValue("talks_status", entry.status), "warn"),
      h("p", { class: "entry-of", dir: "auto" }, entry?.text ?? t("result.no_text")),
      links && h("a", { href: hrefOf("memory", { space, id }) }, t("talks.open_entry")),
    );
  }));
  const rest = entries.length - items.length;
  return h("ul", { class: "entries-of" }, items, rest > 0 && h("li", { class: "muted" }, t("talks.more", { count: rest })));
}

/** @param {View} view @param {string} tier @param {string} id @returns {Promise<Api.MemoryReply | Api.EpisodeReply | null>} Null if it cannot be read. */
async function read(view, tier, id) {
  try {
    return await view.api.get(`/${tier}/${id}`, { signal: view.signal });
  } catch (error) {
    if (isAbort(error)) throw error;
    return null;
  }
}
