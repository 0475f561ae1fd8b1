/** A session as it was spoken: its turns with their messages, the latest at the end; earlier ones on demand. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { every } from "../../lib/every.js";
import { forgetAndTell } from "../../lib/forgetting.js";
import { moment, number, t, tValue } from "../../lib/i18n.js";
import { backTo, button, empty, errorPanel, facts, folded, loading, panel, tag } from "../../lib/widgets.js";
import { hrefOfEntry } from "../../lib/words.js";
import { sessionName } from "./found.js";
import { turnItem } from "./turn.js";

/** @typedef {import("../../pages.js").View} View */
/** @typedef {Api.MessageReply} Message */

const PAGE = 50;
const SOUGHT_PAGE = 200;
const REFRESH_MS = 3000;

/**
 * @typedef {object} Reading
 * @property {string} space
 * @property {string} session
 * @property {string | null} message To be shown among the others.
 * @property {boolean} mayForget
 * @property {(id: string) => void} onread Told our id of the session, which may be named as the platform does.
 * @property {() => void} onclose
 * @property {() => void} onforgotten
 */

/** @param {View} view @param {HTMLElement} place @param {Reading} read */
export async function reading(view, place, read) {
  const back = backTo(read.onclose);
  fill(place, panel(t("page.conversations"), loading()));
  try {
    /** @type {Api.SessionWithConversations} */
    const session = await view.api.get(`/sessions/${encodeURIComponent(read.session)}`, { query: { space: read.space }, signal: view.signal });
    const talk = new Talk(view, read);
    await talk.load();
    const count = session.messages === 0 ? t("talks.emptied") : t("talks.count", { count: number(session.messages) });
    const name = sessionName(session);
    fill(
      place,
      back,
      panel(name, [summaries(session), talk.element], {
        note: `${count}, ${moment(session.started_at)} – ${moment(session.last_at)}`,
        actions: read.mayForget && session.messages > 0 && button(t("talks.forget_session"), () => void forgetAndTell(view, read.space, { session: session.id }, t("talks.forget_session_title", { name }), read.onforgotten), { kind: "danger" }),
      }),
    );
    read.onread(session.id);
    view.announce(`${name}. ${count}`);
    if (document.activeElement === document.body) back.querySelector("button")?.focus();
    if (place.getBoundingClientRect().top < 0) place.scrollIntoView();
    talk.toSought();
  } catch (error) {
    if (!isAbort(error)) fill(place, back, errorPanel(error, () => void reading(view, place, read)));
  }
}

/** What its conversations were about. @param {Api.SessionWithConversations} session */
function summaries(session) {
  const told = session.conversations.filter((one) => one.summary !== null);
  if (told.length === 0) return null;
  return folded(t("talks.summaries", { count: told.length }), told.map(({ summary, started_at, episode }) => summary && h(
    "article",
    { class: "summary" },
    h("p", { class: "message-head" }, h("time", { datetime: started_at }, moment(started_at)), tag(tValue("sentiment", summary.sentiment)), tag(t(summary.by_model ? "talks.by_model" : "talks.by_rules"))),
    h("p", { class: "message-text", dir: "auto" }, summary.text),
    facts(/** @type {const} */ (["people", "places", "topics"]).filter((what) => summary[what].length > 0).map((what) => [tValue("about", what), summary[what].join(", ")])),
    episode && h("p", {}, h("a", { href: hrefOfEntry(session.space, episode) }, t("talks.its_episode"))),
  )));
}

/** The messages of a session, by turn. */
class Talk {
  /** @param {View} view @param {Reading} read */
  constructor(view, read) {
    this.view = view;
    this.read = read;
    /** Oldest first. @type {Message[]} */
    this.messages = [];
    /** @type {string | null} */
    this.cursor = null;
    this.turns = h("ol", { class: "turns" });
    this.earlier = h("div", { class: "pager" });
    this.element = h("div", {}, this.earlier, this.turns);
    /** The turns that are shown, by id. @type {Map<string, ReturnType<typeof turnItem>>} */
    this.items = new Map();
    /** Turns of which it is not known yet how far the work on them is. @type {Set<string>} */
    this.asked = new Set();
    this.sight = new IntersectionObserver((entries) => void this.seen(entries), { rootMargin: "300px" });
    view.signal.addEventListener("abort", () => this.sight.disconnect());
    every(REFRESH_MS, () => this.states(), view.signal);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  async seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const turn = target.getAttribute("data-id");
      if (!isIntersecting || turn === null) continue;
      this.sight.unobserve(target);
      this.asked.add(turn);
    }
    await this.states();
  }

  /** The latest messages; all up to the one that is sought, if there is one. */
  async load() {
    const { message } = this.read;
    do {
      await this.page(message ? SOUGHT_PAGE : PAGE);
    } while (message && this.cursor && !this.messages.some((one) => one.id === message));
    this.draw();
  }

  /** @param {number} limit */
  async page(limit) {
    const { space, session } = this.read;
    /** @type {Api.Page_MessageReply_} */
    const page = await this.view.api.get("/messages", { query: { space, session, limit, cursor: this.cursor }, signal: this.view.signal });
    this.messages = [...page.items.reverse(), ...this.messages];
    this.cursor = page.next_cursor;
  }

  draw() {
    const { view, read } = this;
    /** @type {Map<string, Message[]>} */
    const byTurn = new Map();
    for (const message of this.messages) byTurn.set(message.turn, [...(byTurn.get(message.turn) ?? []), message]);
    for (const [turn, messages] of byTurn) {
      if (this.items.get(turn)?.count === messages.length) continue;
      const item = turnItem(view, read, turn, messages);
      this.items.set(turn, item);
      this.sight.observe(item.element);
    }
    fill(this.turns, [...byTurn.keys()].map((turn) => this.items.get(turn)?.element));
    if (byTurn.size === 0) fill(this.turns, h("li", {}, empty(t("talks.nothing_left"))));
    fill(this.earlier, this.cursor && button(t("talks.earlier"), () => void this.more()));
  }

  async more() {
    const first = this.turns.firstElementChild;
    try {
      await this.page(PAGE);
      this.draw();
      first?.scrollIntoView({ block: "start" });
    } catch (error) {
      if (!isAbort(error)) fill(this.earlier, errorPanel(error, () => void this.more()));
    }
  }

  toSought() {
    const sought = this.turns.querySelector("[data-sought]");
    sought?.scrollIntoView({ block: "center" });
    if (sought instanceof HTMLElement) sought.focus({ preventScroll: true });
  }

  /** Say how far the work is on the turns that came into view; those on which it goes on are asked about again. */
  async states() {
    const turns = [...this.asked];
    for (let at = 0; at < turns.length; at += PAGE) {
      const part = turns.slice(at, at + PAGE);
      const jobs = await this.jobs(part);
      for (const turn of part) {
        const isGoingOn = jobs !== null && this.items.get(turn)?.tell(jobs.filter((job) => job.subject === turn));
        if (!isGoingOn) this.asked.delete(turn);
      }
    }
  }

  /** @param {string[]} subject @returns {Promise<Api.JobReply[] | null>} Null if they cannot be read. */
  async jobs(subject) {
    try {
      /** @type {Api.JobReply[]} */
      const found = [];
      /** @type {string | null} */
      let cursor = null;
      do {
        /** @type {Api.Page_JobReply_} */
        const page = await this.view.api.get("/jobs", { query: { subject, limit: 200, cursor }, signal: this.view.signal });
        found.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor);
      return found;
    } catch (error) {
      if (!isAbort(error)) this.element.prepend(errorPanel(error));
      return null;
    }
  }
}
