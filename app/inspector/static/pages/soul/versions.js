/** The versions of a block: two of them compared, and an earlier one brought back. */

import { changedProse } from "../../lib/differences.js";
import { fill, freshId, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { moment, number, t, tValue } from "../../lib/i18n.js";
import { button, errorPanel, loading, pager, table, tag } from "../../lib/widgets.js";

/** @typedef {import("../../pages.js").View} View */
/** @typedef {{from: number, to: number}} Pair Version numbers. */

const PAGE = 20;

/**
 * @param {View} view
 * @param {Api.SoulReply} block
 * @param {Pair | null} compared None: the current version with the one before.
 * @param {{oncompare: (pair: Pair) => void, onrestore: ((version: number) => void) | null}} more Null: the key may not.
 */
export function versions(view, block, compared, { oncompare, onrestore }) {
  const [list, comparison] = [h("div", {}), h("div", {})];
  const group = freshId();
  /** @type {Api.SoulReply[]} */
  let found = [];
  let pair = compared ?? { from: Math.max(1, block.version - 1), to: block.version };

  /** @param {string | null} cursor */
  const load = async (cursor) => {
    try {
      /** @type {Api.Page_SoulReply_} */
      const page = await view.api.get(`/soul/${block.id}/versions`, { query: { limit: PAGE, cursor }, signal: view.signal });
      found = [...found, ...page.items];
      const oldest = found.at(-1)?.version ?? 1;
      if (pair.from < oldest && page.next_cursor) return load(page.next_cursor);
      draw(page.next_cursor);
    } catch (error) {
      if (!isAbort(error)) fill(list, errorPanel(error, () => void load(cursor)));
    }
  };

  /** @param {string | null} cursor */
  const draw = (cursor) => {
    const label = t("soul.versions_of", { name: block.name });
    fill(list, table(label, [
      { title: t("soul.older"), cell: (one) => choice("from", one) },
      { title: t("soul.newer"), cell: (one) => choice("to", one) },
      { title: t("soul.version"), kind: "number", cell: (one) => number(one.version) },
      { title: t("soul.what"), cell: (one) => [tValue("soul_reason", one.reason), " ", !one.active && tag(t("soul.inactive"))] },
      { title: t("soul.when"), cell: (one) => moment(one.recorded_at) },
      ...(onrestore
        ? [{
            title: t("soul.do"),
            cell: (/** @type {Api.SoulReply} */ one) =>
              one.version === block.version ? h("span", { class: "muted" }, t("soul.current")) : button(t("action.restore"), () => onrestore(one.version), { label: t("soul.restore_label", { version: one.version }) }),
          }]
        : []),
    ], found), pager(cursor, (next) => void load(next)));
    compare();
  };

  /** @param {"from" | "to"} end @param {Api.SoulReply} one */
  const choice = (end, one) =>
    h("input", {
      type: "radio",
      name: `${group}-${end}`,
      checked: pair[end] === one.version,
      "aria-label": t(end === "from" ? "soul.choose_older" : "soul.choose_newer", { version: one.version }),
      onchange: () => {
        pair = { ...pair, [end]: one.version };
        oncompare(pair);
        compare();
      },
    });

  const compare = () => {
    const before = found.find((one) => one.version === pair.from);
    const after = found.find((one) => one.version === pair.to);
    if (!before || !after || before === after) return fill(comparison);
    const label = t("soul.compared", { from: before.version, to: after.version });
    fill(comparison, h("h4", {}, label), besideText(before, after), changedProse(before.text, after.text, label));
  };

  fill(list, loading());
  void load(null);
  return h("section", { class: "versions", "aria-label": t("soul.versions_of", { name: block.name }) }, list, comparison);
}

/** What else than the text differs. @param {Api.SoulReply} before @param {Api.SoulReply} after */
function besideText(before, after) {
  const state = (/** @type {Api.SoulReply} */ one) => t(one.active ? "soul.active" : "soul.inactive");
  const pairs = /** @type {const} */ ([
    [t("soul.name"), before.name, after.name],
    [t("soul.state"), state(before), state(after)],
    [t("soul.place"), number(before.position + 1), number(after.position + 1)],
  ]);
  const changed = pairs.filter(([, old, now]) => old !== now);
  return changed.length > 0 && h("ul", { class: "beside-text" }, changed.map(([name, old, now]) => h("li", {}, h("span", { class: "muted" }, `${name}: `), h("del", {}, old), " → ", h("ins", {}, now))));
}
