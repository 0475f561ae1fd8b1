/** One entry: what it says, how it stands, why it is known, what it said before, and what can be done with it. */

import { changedWords } from "../../lib/differences.js";
import { fill, h } from "../../lib/dom.js";
import { isAbort, Problem } from "../../lib/api.js";
import { moment, number, t, tValue } from "../../lib/i18n.js";
import { backTo, button, errorPanel, facts, idLine, loading, panel, tag, toast } from "../../lib/widgets.js";
import { forget } from "../../lib/forgetting.js";
import { correcting } from "./correcting.js";
import { editing } from "./editing.js";
import { sources } from "./sources.js";
import { categoryTag, hrefOfEntry, nameOf, pathOf, standingOf, standingTag, where, whereOf } from "../../lib/words.js";

/** @typedef {import("../memory.js").Place} Place */
/** @typedef {import("../../lib/words.js").Entry} Entry */

/**
 * What the details tell the list.
 * @typedef {object} Told
 * @property {() => void} back To the list.
 * @property {(entry: Entry) => void} changed
 * @property {(correction: Api.CorrectionReply) => void} corrected What holds now may be another entry.
 * @property {(receipt: Api.ReceiptReply) => void} forgotten
 */

const VERSIONS = 50;

/**
 * Shows an entry in a place of the page.
 * @param {Place} place @param {Element} root @param {string} id @param {Told} told
 */
export async function details(place, root, id, told) {
  const { view } = place;
  const { api, signal } = view;
  const shown = h("div", { class: "results" });
  fill(root, shown);
  fill(shown, loading());
  try {
    const [reply, versions] = await Promise.all([
      api.call("GET", pathOf(id), { signal }),
      api.get(`${pathOf(id)}/versions`, { query: { limit: VERSIONS }, signal }),
    ]);
    if (root.firstChild !== shown) return; // another one was chosen meanwhile
    draw(place, shown, { entry: reply.json, etag: reply.etag ?? "" }, versions.items, {
      ...told,
      again: (entry) => {
        if (entry) told.changed(entry);
        return details(place, root, id, told);
      },
    });
  } catch (error) {
    if (isAbort(error)) return;
    fill(shown, backTo(told.back), errorPanel(error, () => void details(place, root, id, told)));
  }
}

/**
 * @param {Place} place @param {Element} root @param {{entry: Entry, etag: string}} read @param {readonly Entry[]} versions
 * @param {Told & {again: (entry?: Entry) => Promise<void>}} told
 */
function draw(place, root, read, versions, told) {
  const { view } = place;
  const { entry, etag } = read;
  const work = h("div", { class: "memory-work" });
  const text = h("p", { class: "memory-text", dir: "auto" }, entry.text);
  const attempt = async (/** @type {() => Promise<Entry>} */ change) => {
    try {
      const changed = await change();
      toast(t("memory.saved"));
      await told.again(changed);
    } catch (error) {
      if (isAbort(error)) return;
      fill(work, errorPanel(error), error instanceof Problem && error.status === 412 && button(t("memory.reload"), () => void told.again()));
    }
  };
  const call = (/** @type {string} */ what) => attempt(() => view.api.post(`${pathOf(entry.id)}/${what}`, undefined, { ifMatch: etag, signal: view.signal }));
  const stop = () => (fill(work), (text.hidden = false));
  const take = (/** @type {Node} */ form, /** @type {boolean} */ hides) => {
    fill(work, form);
    text.hidden = hides;
    const control = work.querySelector("textarea, input, button");
    if (control instanceof HTMLElement) control.focus();
  };
  const isLive = entry.status === "active";
  const isMemory = entry.tier === "memories";
  const actions = place.mayWrite && [
    isLive && isMemory && button(t("memory.correct"), () => take(correcting(place, { id: entry.id, text: entry.text, scope: entry.scope }, { stop, done: told.corrected }), false), { kind: "primary" }),
    isLive && button(t("action.edit"), () => take(editing(place, read, { stop, done: (changed) => void told.again(changed) }), true)),
    entry.status === "archived" && button(t("action.restore"), () => void call("restore")),
    entry.version > 1 && button(t("memory.undo"), () => void call("undo"), { title: t("memory.undo_why") }),
    button(t("memory.forget"), () => void forget(view, place.space, { ids: [entry.id] }, t("forget.title")).then((receipt) => receipt && told.forgotten(receipt)), { kind: "danger" }),
  ];
  const head = panel(t(`memory.one.${entry.tier}`), [
    h("p", { class: "entry-about" }, standingTag(entry), categoryTag(entry), entry.corrected && tag(t("memory.corrected"), "good"), entry.tags.map((one) => h("span", {}, `#${one}`))),
    text,
    h("p", { class: "memory-gist" }, [whereOf(entry.scope), nameOf(entry.author), moment("occurred_at" in entry && entry.occurred_at ? entry.occurred_at : entry.last_confirmed_at)].filter(Boolean).join(" · ")),
    "trigger" in entry && entry.trigger && h("p", { class: "muted" }, t("memory.trigger", { trigger: entry.trigger })),
    h("div", { class: "actions memory-actions" }, actions || null),
    work,
  ]);
  const id = idLine(t("memory.id"), entry.id);
  head.querySelector("h2")?.setAttribute("tabindex", "-1");
  const other = h("div", {});
  fill(root, backTo(told.back), head, other, sources(place, entry), history(place, read, versions, attempt), panel(t("memory.details"), [facts(about(entry)), id]));
  void otherSide(place, entry, other);
}

/** @param {Entry} entry @returns {(readonly [string, import("../../lib/dom.js").Children])[]} */
function about(entry) {
  const figure = (/** @type {number | null} */ value) => (value === null ? t("memory.unknown") : number(value, 2));
  const [from, to] = "valid_to" in entry ? [moment(entry.valid_from), moment(entry.valid_to)] : ["", ""];
  const holds = from && to ? t("memory.from_to", { from, to }) : from ? t("memory.since", { from }) : to && t("memory.until", { to });
  const claim = "claim" in entry && entry.claim ? `${entry.claim.subject} · ${entry.claim.attribute} · ${entry.claim.value}` : "";
  /** @type {(readonly [string, import("../../lib/dom.js").Children])[]} */
  const known = [
    [t("memory.where"), where(entry.scope)],
    [t("memory.author"), nameOf(entry.author)],
    [t("memory.first_recorded"), moment(entry.first_recorded_at)],
    [t("memory.confirmed"), moment(entry.last_confirmed_at)],
    [t("memory.occurred"), "occurred_at" in entry ? moment(entry.occurred_at) : ""],
    [t("memory.participants"), "participants" in entry ? entry.participants.join(", ") : ""],
    [t("memory.valid"), holds],
    [t("signal.importance"), figure(entry.importance)],
    [t("signal.confidence"), figure(entry.confidence)],
    [t("memory.claim"), claim],
    [t("field.session"), entry.session],
    [t("memory.source"), /^(msg|trn|cnv)_/.test(entry.source ?? "") ? null : entry.source],
  ];
  return known.filter(([, value]) => value);
}

/** What holds instead of an obsolete entry, or contradicts an unresolved one, beside it. @param {Place} place @param {Entry} entry @param {Element} root */
async function otherSide({ view, space }, entry, root) {
  const side = (/** @type {Entry} */ one, /** @type {boolean} */ linked) =>
    h("div", { class: "side" }, standingTag(one), h("p", { dir: "auto" }, linked ? h("a", { href: hrefOfEntry(space, one.id) }, one.text) : one.text), h("span", { class: "muted" }, moment(one.last_confirmed_at)));
  try {
    if (entry.superseded_by) {
      const newer = await view.api.get(pathOf(entry.superseded_by), { signal: view.signal });
      fill(root, panel(t(entry.reason === "merged" ? "memory.merged_into" : "memory.replaced"), h("div", { class: "sides" }, side(entry, false), side(newer, true))));
    } else if (standingOf(entry) === "unresolved" && "claim" in entry) {
      const rivals = await unresolvedWith({ view, space }, entry);
      if (rivals.length > 0) fill(root, panel(t("memory.contradicts"), h("div", { class: "sides" }, side(entry, false), rivals.map((rival) => side(rival, true))), { note: t("memory.contradicts_why") }));
    }
  } catch (error) {
    if (!isAbort(error) && !(error instanceof Problem && error.status === 404)) fill(root, errorPanel(error));
  }
}

/** @param {{view: import("../../pages.js").View, space: string}} place @param {Api.MemoryReply} entry @returns {Promise<Api.MemoryReply[]>} */
async function unresolvedWith({ view, space }, entry) {
  /** @type {Api.Page_MemoryReply_} */
  const page = await view.api.get("/memories", { query: { space, unresolved: true, limit: 200 }, signal: view.signal });
  const key = (/** @type {Api.MemoryReply} */ one) => `${one.claim?.subject}\n${one.claim?.attribute}`.toLowerCase();
  return page.items.filter((one) => one.id !== entry.id && one.claim && key(one) === key(entry));
}

/**
 * Its versions, the latest first, each with what it changed.
 * @param {Place} place @param {{entry: Entry, etag: string}} read @param {readonly Entry[]} versions
 * @param {(change: () => Promise<Entry>) => Promise<void>} attempt
 */
function history({ view, mayWrite }, { entry, etag }, versions, attempt) {
  const items = versions.map((one, at) => {
    const before = versions[at + 1];
    const isOld = one.version !== entry.version;
    const again = () => attempt(() => view.api.patch(pathOf(entry.id), contentOf(one), { ifMatch: etag, signal: view.signal }));
    return h(
      "li",
      { class: "entry" },
      h("p", { class: "entry-about" }, h("strong", {}, t("memory.version", { version: one.version })), tag(one.version === 1 ? t("version.created") : tValue("version", one.reason)), h("time", { datetime: one.recorded_at }, moment(one.recorded_at)), !isOld && tag(t("memory.this_one"), "good")),
      h("p", { class: "memory-version", dir: "auto" }, before ? changedWords(before.text, one.text) : one.text),
      before && h("p", { class: "muted" }, otherChanges(before, one).join(" · ")),
      mayWrite && isOld && entry.status === "active" && h("p", {}, button(t("memory.bring_back"), () => void again(), { label: t("memory.bring_back_version", { version: one.version }) })),
    );
  });
  return panel(t("memory.versions"), h("ol", { class: "entries" }, items), { note: t("memory.versions_note", { count: versions.length }) });
}

/** What a version says, as a change. @param {Entry} version */
function contentOf(version) {
  const { text, tags, scope, importance, confidence } = version;
  const common = { text, tags, scope, importance, confidence };
  if ("category" in version) {
    const { category, valid_from, valid_to } = version;
    return { ...common, category, valid_from, valid_to, claim: version.claim_derived ? null : version.claim };
  }
  if ("trigger" in version) return { ...common, trigger: version.trigger };
  return { ...common, occurred_at: version.occurred_at, participants: version.participants };
}

/** What else a version changed, in words. @param {Entry} before @param {Entry} after @returns {string[]} */
function otherChanges(before, after) {
  const of = (/** @type {Entry} */ one) => ({
    [t("memory.status")]: t(`standing.${standingOf(one)}`),
    [t("memory.category")]: "category" in one && one.category ? tValue("category", one.category) : "–",
    [t("memory.scope")]: one.scope || t("scope.everywhere"),
    [t("memory.tags")]: one.tags.join(", ") || "–",
    [t("signal.importance")]: one.importance === null ? "–" : number(one.importance, 2),
    [t("signal.confidence")]: one.confidence === null ? "–" : number(one.confidence, 2),
  });
  const [old, now] = [of(before), of(after)];
  return Object.keys(now).flatMap((name) => (old[name] === now[name] ? [] : [`${name}: ${old[name]} → ${now[name]}`]));
}
