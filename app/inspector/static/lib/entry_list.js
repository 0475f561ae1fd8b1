/** Entries by their ids, with their texts. */

import { h } from "./dom.js";
import { isAbort } from "./api.js";
import { t } from "./i18n.js";
import { tag } from "./widgets.js";
import { hrefOfEntry, pathOf, standingOf, standingTag, tierOf } from "./words.js";

/** @typedef {import("../pages.js").View} View */

const READ = 20;

/**
 * @param {View} view
 * @param {readonly {id: string, space: string}[]} entries
 * @param {{links: boolean}} more Whether each leads to its place among the memories.
 */
export async function entryList(view, entries, { links }) {
  const items = await Promise.all(entries.slice(0, READ).map(async ({ id, space }) => {
    const tier = tierOf(id) ?? "memories";
    const entry = await read(view, id);
    return h(
      "li",
      { "data-id": id },
      tag(t(`memory.one.${tier}`), tier),
      entry && standingOf(entry) !== "current" && standingTag(entry),
      h("p", { class: "entry-of", dir: "auto" }, entry?.text ?? t("result.no_text")),
      links && h("a", { href: hrefOfEntry(space, id) }, t("memory.open")),
    );
  }));
  const rest = entries.length - items.length;
  return h("ul", { class: "entries-of" }, items, rest > 0 && h("li", { class: "muted" }, t("memory.more", { count: rest })));
}

/** @param {View} view @param {string} id @returns {Promise<import("./words.js").Entry | null>} Null if it cannot be read. */
async function read(view, id) {
  try {
    return await view.api.get(pathOf(id), { signal: view.signal });
  } catch (error) {
    if (isAbort(error)) throw error;
    return null;
  }
}
