/** Memory: what a space remembers, what was put right in it, and from which memories its prompts were made. */

import { fill, freshId, h } from "../lib/dom.js";
import { go, hrefOf } from "../lib/address.js";
import { t } from "../lib/i18n.js";
import { empty, field, loading, tag } from "../lib/widgets.js";
import { corrections } from "./memory/corrections.js";
import { entries } from "./memory/entries.js";
import { prompts } from "./memory/prompts.js";
import { pathOf, tierOf } from "./memory/words.js";

/** @typedef {import("../pages.js").View} View */

/**
 * The space that is looked at.
 * @typedef {object} Place
 * @property {View} view
 * @property {string} space
 * @property {boolean} mayWrite Whether the key may change what is remembered there.
 * @property {Api.EntryCounts} counts Active entries.
 * @property {URLSearchParams} params What the address says; changed by `note` alone.
 * @property {(changes: Record<string, string | null>) => void} note Changes what the address says; null takes a part out.
 * @property {Element} body Where the part that is shown goes.
 */

const PARTS = /** @type {const} */ (["entries", "corrections", "prompts"]);
const SHOW = { entries, corrections, prompts };
const WRITERS = ["writer", "editor", "administrator"];

/** @type {import("../pages.js").Page} */
export const memory = { name: "memory", title: "page.memory", show };

/** @param {View} view */
async function show(view) {
  fill(view.root, loading());
  /** @type {[Api.Page_SpaceReply_, Api.OwnKeyReply, string | null]} */
  const [{ items: spaces }, key, named] = await Promise.all([
    view.api.get("/spaces", { query: { limit: 200 }, signal: view.signal }),
    view.api.get("/tokens/own", { signal: view.signal }),
    spaceNamed(view),
  ]);
  const names = spaces.map((one) => one.name);
  const space = named ?? names.find((name) => name.startsWith("user:")) ?? names[0];
  if (!space) return fill(view.root, heading(), empty(t("memory.no_spaces")));
  const params = new URLSearchParams(view.params);
  params.set("space", space);
  const part = partOf(params);
  const body = h("div", { class: "memory-body" });
  /** @type {Place} */
  const place = {
    view,
    space,
    mayWrite: WRITERS.indexOf(key.role) >= (space.startsWith("lore:") ? WRITERS.indexOf("editor") : 0),
    counts: spaces.find((one) => one.name === space)?.entries ?? { memories: 0, episodes: 0, procedures: 0 },
    params,
    note: (changes) => {
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === "") params.delete(name);
        else params.set(name, value);
      }
      view.note(params);
    },
    body,
  };
  fill(view.root, heading(), bar(place, names, part, key), body);
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

/** The space that the address names, or that of what it names. @param {View} view @returns {Promise<string | null>} */
async function spaceNamed(view) {
  const { params, api, signal } = view;
  const [space, id, assembly] = [params.get("space"), params.get("id"), params.get("assembly")];
  if (space) return space;
  if (id && tierOf(id)) return (await api.get(pathOf(id), { signal })).space;
  return assembly ? (await api.get(`/assemblies/${encodeURIComponent(assembly)}`, { signal })).space : null;
}

/**
 * Which space, and which part of it.
 * @param {Place} place @param {readonly string[]} names @param {string} part @param {Api.OwnKeyReply} key
 */
function bar({ space, mayWrite }, names, part, key) {
  const options = h("datalist", { id: freshId() }, names.map((name) => h("option", { value: name })));
  const input = h("input", { type: "text", list: options.id, value: space, autocomplete: "off", spellcheck: "false", required: true });
  const open = (/** @type {Event} */ event) => {
    event.preventDefault();
    const wanted = input.value.trim();
    if (wanted && wanted !== space) go("memory", { space: wanted, ...(part === "entries" ? {} : { show: part }) });
  };
  input.addEventListener("change", open);
  const own = key.spaces?.length === 1;
  return h(
    "div",
    { class: "memory-bar" },
    own
      ? h("p", { class: "memory-space" }, h("span", { class: "muted" }, t("field.space")), h("strong", {}, space))
      : h("form", { class: "memory-space", onsubmit: open }, options, field(t("field.space"), input, { name: "space" })),
    !mayWrite && h("p", {}, tag(t("memory.read_only"))),
    h(
      "nav",
      { class: "memory-parts", "aria-label": t("memory.parts") },
      PARTS.map((one) => h("a", { href: hrefOf("memory", { space, ...(one === "entries" ? {} : { show: one }) }), "aria-current": one === part && "page" }, t(`memory.part.${one}`))),
    ),
  );
}
