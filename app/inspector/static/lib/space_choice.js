/** Choosing a space, and knowing what the key may do there: what pages about one space begin with. */

import { h, fill, freshId } from "./dom.js";
import { t, tValue } from "./i18n.js";
import { field } from "./widgets.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {Api.KeyReply["role"]} Role */

/** @type {readonly Role[]} Each may do all that the ones before it may. */
const ROLES = ["reader", "writer", "editor", "administrator"];

/** The names of the first spaces that the key reaches. @param {View} view @returns {Promise<string[]>} */
export async function spaceNames(view) {
  /** @type {Api.Page_SpaceReply_} */
  const page = await view.api.get("/spaces", { query: { limit: 200 }, signal: view.signal });
  return page.items.map((space) => space.name);
}

/**
 * The space that the address names; without one, that in which the page most likely has something to show.
 * @param {View} view
 * @param {readonly string[]} names
 * @param {readonly string[]} kinds Those that are preferred, such as `agent`.
 */
export function chosenSpace(view, names, kinds) {
  const named = view.params.get("space");
  if (named) return named;
  for (const kind of kinds) {
    const found = names.find((name) => name.startsWith(`${kind}:`));
    if (found) return found;
  }
  return names[0] ?? "";
}

/** What a page about one space begins with. The names come first: they are what a key is asked for. @param {View} view */
export async function spacesAndKey(view) {
  const names = await spaceNames(view);
  return { names, whose: await view.api.whose() };
}

/**
 * Whether a key may do what needs a role. Of a key that nobody knows all is offered: the service refuses what it may not.
 * @param {Api.KeyReply | null} whose @param {Role} needed
 */
export function isAtLeast(whose, needed) {
  return whose === null || ROLES.indexOf(whose.role) >= ROLES.indexOf(needed);
}

/** Says what a key may not do, by the name of its role. @param {import("./i18n.js").TextKey} text @param {Api.KeyReply | null} whose */
export function readOnlyNotice(text, whose) {
  return h("p", { class: "notice", "data-tone": "plain" }, t(text, { role: tValue("role_name", whose?.role ?? "") }));
}

/**
 * The field in which a space is named, with those to choose from.
 * @param {readonly string[]} names
 * @param {string} chosen
 * @param {(name: string) => void} onchoose
 */
export function spaceField(names, chosen, onchoose) {
  const list = h("datalist", { id: freshId() });
  fill(list, names.map((value) => h("option", { value })));
  const input = h("input", { type: "text", list: list.id, value: chosen, autocomplete: "off", spellcheck: "false", onchange: () => onchoose(input.value.trim()) });
  const around = field(t("field.space"), input, { name: "space" });
  around.append(list);
  return around;
}
