/** Entries and messages in plain words, and where they are found. */

import { h } from "./dom.js";
import { hrefOf } from "./address.js";
import { language, moment, t, tValue } from "./i18n.js";
import { tag } from "./widgets.js";

/** @typedef {Api.MemoryReply | Api.EpisodeReply | Api.ProcedureReply} Entry */
/** @typedef {"current" | "unresolved" | "superseded" | "retracted" | "archived"} Standing */

/** @type {readonly Api.Category[]} */
export const CATEGORIES = ["output_preference", "personal_preference", "assistant_preference", "knowledge", "interest", "dislike", "relationship", "work", "goal", "decision", "project", "fact"];
export const TIERS = /** @type {const} */ (["memories", "episodes", "procedures"]);
const PREFIXES = { memories: "mem_", episodes: "epi_", procedures: "pro_" };
const TONES = { current: "good", unresolved: "warn", superseded: "bad", retracted: "bad", archived: "plain" };

/** @param {string} id */
export function tierOf(id) {
  return TIERS.find((tier) => id.startsWith(PREFIXES[tier]));
}

/** Below /api/v1. @param {string} id */
export function pathOf(id) {
  return `/${tierOf(id) ?? "memories"}/${encodeURIComponent(id)}`;
}

/** The address that shows an entry. @param {string} space @param {string} id */
export function hrefOfEntry(space, id) {
  return hrefOf("memory", { space, id });
}

/** The address of why a logged prompt is what it is. @param {string} space @param {string} id */
export function hrefOfWhy(space, id) {
  return hrefOf("memory", { show: "prompts", space, assembly: id });
}

/** The address that shows where something was said. @param {Api.MessageReply} message */
export function hrefOfMessage(message) {
  return hrefOf("conversations", { space: message.space, session: message.session, message: message.id });
}

/** @param {Entry} entry @returns {Standing} */
export function standingOf(entry) {
  if (entry.status !== "active") return entry.status;
  return entry.unresolved ? "unresolved" : "current";
}

/** @param {Entry} entry */
export function standingTag(entry) {
  const standing = standingOf(entry);
  return tag(t(`standing.${standing}`), TONES[standing]);
}

/** Where something holds. @param {string} scope */
export function whereOf(scope) {
  if (!scope) return t("scope.everywhere");
  const [kind = "", ...name] = (scope.split("/").at(-1) ?? "").split(":");
  return tValue("scope", kind).replace("{name}", name.join(":"));
}

/** The same, with the path itself beside it. @param {string} scope */
export function where(scope) {
  return scope ? [whereOf(scope), " ", h("code", {}, scope)] : whereOf(scope);
}

/** The day of a moment, for lists. @param {string} iso */
export function day(iso) {
  return h("time", { datetime: iso, title: moment(iso) }, new Date(iso).toLocaleDateString(language(), { dateStyle: "medium" }));
}

/** @param {Api.AuthorBody | null | undefined} author */
export function nameOf(author) {
  return author?.name ?? author?.id ?? "";
}

/** Who said a message: by name, else by id, else by role. @param {Api.MessageReply} message */
export function authorOf(message) {
  return nameOf(message.author) || tValue("speaker", message.role);
}

/** @param {Entry} entry */
export function categoryTag(entry) {
  return "category" in entry && entry.category ? tag(tValue("category", entry.category), "memories") : null;
}
