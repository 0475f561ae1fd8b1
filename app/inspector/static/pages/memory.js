/** Memory: what a space remembers, what was put right in it, and from which memories its prompts were made. */

import { fill, h } from "../lib/dom.js";
import { go, hrefOf } from "../lib/address.js";
import { t } from "../lib/i18n.js";
import { chosenSpace, isAtLeast, readOnlyNotice, spaceField, spacesAndKey } from "../lib/space_choice.js";
import { empty, loading } from "../lib/widgets.js";
import { corrections } from "./memory/corrections.js";
import { entries } from "./memory/entries.js";
import { prompts } from "./memory/prompts.js";
import { pathOf, tierOf } from "../lib/words.js";

/** @typedef {import("../pages.js").View} View */

/**
 * The space that is looked at.
 * @typedef {object} Place
 * @property {View} view
 * @property {string} space
 * @property {boolean} mayWrite Whether the key may change what is remembered there.
 * @property {URLSearchParams} params What the address says; changed by `note` alone.
 * @property {(changes: Record<string, string | null>, isSameStep?: boolean) => void} note Changes what the address says; null
 *   takes a part out. By default that is a step of the browser's history.
 * @property {Element} body Where the part that is shown goes.
 */

const PARTS = /** @type {const} */ (["entries", "corrections", "prompts"]);
const SHOW = { entries, corrections, prompts };

/** @type {import("../pages.js").Page} */
export const memory = { name: "memory", title: "page.memory", show };

/** @param {View} view */
async function show(view) {
  fill(view.root, loading());
  const [{ names, whose }, named] = await Promise.all([spacesAndKey(view), spaceOfWhatIsNamed(view)]);
  const space = named ?? chosenSpace(view, names, ["user", "viewer", "character"]);
  if (!space) return fill(view.root, heading(), empty(t("playground.no_spaces")));
  const params = new URLSearchParams(view.params);
  params.set("space", space);
  const part = partOf(params);
  const body = h("div", { class: "memory-body" });
  /** @type {Place} */
  const place = {
    view,
    space,
    mayWrite: isAtLeast(whose, space.startsWith("lore:") ? "editor" : "writer"),
    params,
    note: (changes, isSameStep = false) => {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === "") params.delete(name);
        else params.set(name, value);
      }
      view.note(params, { replace: isSameStep });
    },
    body,
  };
  place.note({}, true);
  fill(view.root, heading(), !place.mayWrite && readOnlyNotice("memory.read_only", whose), bar(place, names, part, names.length === 1 && !isAtLeast(whose, "editor")), body);
  await SHOW[part](place);
}

function heading() {
  return h("h1", { class: "spoken" }, t("page.memory"));
}

/** @param {URLSearchParams} params */
function partOf(params) {
  const chosen = params.get("show");
  return PARTS.find((part) => part === chosen) ?? (params.has("assembly") ? "prompts" : "entries");
}

/** Where an entry or a prompt lies that the address names without its space. @param {View} view @returns {Promise<string | null>} */
async function spaceOfWhatIsNamed({ params, api, signal }) {
  const [id, assembly] = [params.get("id"), params.get("assembly")];
  if (params.has("space")) return null;
  if (id && tierOf(id)) return (await api.get(pathOf(id), { signal })).space;
  return assembly ? (await api.get(`/assemblies/${encodeURIComponent(assembly)}`, { signal })).space : null;
}

/**
 * Which space, and which part of it.
 * @param {Place} place @param {readonly string[]} names @param {string} part
 * @param {boolean} isOwn Whether it is all that somebody's token reaches, so that there is nothing to choose.
 */
function bar({ space }, names, part, isOwn) {
  const open = (/** @type {string} */ wanted) => {
    if (wanted && wanted !== space) go("memory", { space: wanted, ...(part === "entries" ? {} : { show: part }) });
  };
  return h(
    "div",
    { class: "memory-bar" },
    h("div", { class: "memory-space" }, isOwn ? h("p", {}, h("span", { class: "muted" }, t("field.space")), h("strong", {}, space)) : spaceField(names, space, open)),
    h(
      "nav",
      { class: "memory-parts", "aria-label": t("memory.parts") },
      PARTS.map((one) => h("a", { href: hrefOf("memory", { space, ...(one === "entries" ? {} : { show: one }) }), "aria-current": one === part && "page" }, t(`memory.part.${one}`))),
    ),
  );
}
