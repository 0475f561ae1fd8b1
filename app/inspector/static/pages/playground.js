/** The playground: ask for a prompt as an agent would, and see why it is what it is. Nothing it does is recorded. */

import { fill, freshId, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { t } from "../lib/i18n.js";
import { spaceNames } from "../lib/space_choice.js";
import { button, copy, empty, errorPanel, keys, loading, panel, showErrors, toast } from "../lib/widgets.js";
import { comparison } from "./playground/compare.js";
import { controls, fillLists, spaceLists } from "./playground/controls.js";
import { logged, loggedNotice, loggedPrompts } from "./playground/logged.js";
import { livePlan } from "./playground/plan.js";
import { askedBy, askedIn, bodyOf, callOf, curlOf, isComplete, isLive, linesOf, paramsOf, planBodyOf, pythonOf } from "./playground/request.js";
import { result } from "./playground/result.js";
import { sampleBatch } from "./playground/sample.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {import("./playground/request.js").Asked} Asked */
/** @typedef {import("./playground/request.js").CallName} CallName */

const SPACES_ASKED = 8;
const SETTLED_MS = 200;
const IN_COMMON = ["persona", "scopes", "format", "as_of", "timeout_ms"];

/** @type {import("../pages.js").Page} */
export const playground = { name: "playground", title: "page.playground", show: (view) => new Playground(view).open() };

class Playground {
  /** @type {Asked} */
  asked = new Map();
  /** The settings to compare with, in the address as `against`. @type {Asked | null} */
  against = null;
  /** What the other call was asked. @type {Map<boolean, Asked>} */
  others = new Map();
  /** The first spaces that the key reaches. @type {string[]} */
  names = [];
  /** The groups of controls that are open. @type {Set<string>} */
  unfolded = new Set();
  lists = spaceLists();
  answer = h("div", { class: "results", "aria-busy": "false" });
  request = h("div", { class: "controls" });
  plan = button(t("playground.plan_only"), () => void this.planOnly(), { title: t("playground.plan_only_title") });
  running = new AbortController();
  timer = 0;
  lastMoved = "";

  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.form = this.formOf();
    view.signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** A view that is in the address does not wait for the names of spaces. */
  async open() {
    const { params, root } = this.view;
    fill(root, loading());
    const asking = this.askNames();
    asking.catch(() => {}); // Told below, where it is waited for.
    const opened = params.get("assembly");
    if (params.has("against")) this.against = askedBy(new URLSearchParams(params.get("against") ?? ""));
    if (params.size === 0) await asking;
    if (opened === null) this.asked = params.size > 0 ? askedBy(params) : await lastAsked(this.view, this.names);
    else await this.openLogged(opened);
    this.drawRequest();
    fill(root, h("h1", { class: "spoken" }, t("page.playground")), h("div", { class: "two" }, this.form, this.answer), ...this.lists.values());
    if (opened === null && isComplete(this.asked)) await this.run();
    await asking;
    if (opened === null && !isComplete(this.asked)) this.hint();
  }

  async askNames() {
    this.names = await spaceNames(this.view);
    fillLists(this.lists, this.names);
  }

  /** @param {string} id */
  openLogged(id) {
    return this.alone(async (signal) => {
      const found = await logged(this.view, id, signal);
      this.asked = askedIn({ space: found.space, query: found.query, ...found.request });
      return () => fill(this.answer, loggedNotice(this.view, found, () => void this.run()), result(this.view, found, found.request, null));
    });
  }

  /** @param {string} [moved] The slider that was moved: its positions are one step of the browser's history. */
  run(moved = "") {
    return this.alone(async (signal) => {
      this.noteAsked(moved);
      const { asked, against, view } = this;
      const ask = (/** @type {Asked} */ of) => view.api.post(callOf(of).path, { ...bodyOf(of), record: false, trace: true }, { signal });
      const [body, live] = [bodyOf(asked), isLive(asked)];
      const [reply, before] = await Promise.all([ask(asked), against && ask(against)]);
      return () => {
        const compared = before && comparison(before, reply, button(t("compare.stop"), () => this.compareWith(null)));
        fill(this.answer, compared, live && livePlan(reply.plan), result(view, reply, body, this));
        view.announce(t("result.announced", { entries: reply.entries.length, tokens: reply.tokens.total }));
      };
    });
  }

  planOnly() {
    return this.alone(async (signal) => {
      /** @type {Api.LivePlanReply} */
      const plan = await this.view.api.post("/context/plan", planBodyOf(bodyOf(this.asked)), { signal });
      return () => {
        fill(this.answer, livePlan(plan, { alone: true }));
        this.view.announce(t("plan.announced", { people: plan.viewers.filter((one) => one.reads.length > 0).length }));
      };
    });
  }

  /** Only the last call shows its answer. @param {(signal: AbortSignal) => Promise<() => void>} work Gives what is to be done with the page. */
  async alone(work) {
    clearTimeout(this.timer);
    this.running.abort();
    this.running = new AbortController();
    const signal = AbortSignal.any([this.running.signal, this.view.signal]);
    this.answer.setAttribute("aria-busy", "true");
    try {
      const draw = await work(signal);
      showErrors(this.form, []);
      keeping(this.answer, draw);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      const others = error instanceof Problem ? showErrors(this.form, error.errors) : [];
      fill(this.answer, errorPanel(error, () => void this.run()));
      if (others.length === 0) this.form.querySelector(".error:not([hidden])")?.scrollIntoView({ block: "nearest" });
    }
    this.answer.setAttribute("aria-busy", "false");
  }

  /** A slider is on its way: ask when it rests. @param {string} moved */
  runSettled(moved) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.run(moved), SETTLED_MS);
  }

  /** @param {string} moved */
  noteAsked(moved) {
    const params = paramsOf(this.asked);
    if (this.against) params.set("against", paramsOf(this.against).toString());
    this.view.note(params, { replace: moved !== "" && moved === this.lastMoved });
    this.lastMoved = moved;
  }

  /** @param {Asked | null} settings */
  compareWith(settings) {
    this.against = settings;
    if (settings) toast(t("compare.kept"));
    void this.run();
  }

  /** @param {"must_include" | "exclude"} list @param {string} id */
  isIn(list, id) {
    return linesOf(this.asked.get(`overrides.${list}`) ?? "").includes(id);
  }

  /** An entry is put into one list of ids, or taken out of it; never in both. @param {"must_include" | "exclude"} list @param {string} id */
  toggle(list, id) {
    const wasIn = this.isIn(list, id);
    for (const name of ["must_include", "exclude"]) {
      const kept = linesOf(this.asked.get(`overrides.${name}`) ?? "").filter((one) => one !== id);
      if (name === list && !wasIn) kept.push(id);
      this.asked.set(`overrides.${name}`, kept.join("\n"));
    }
    this.drawRequest();
    void this.run();
  }

  /** To the other call, with what both have. @param {boolean} live */
  switchTo(live) {
    this.others.set(isLive(this.asked), this.asked);
    const common = [...this.asked].filter(([name]) => name.startsWith("overrides.") || IN_COMMON.includes(name));
    this.asked = new Map([...(this.others.get(live) ?? []), ...common]);
    this.against = null;
    if (live && !this.asked.has("stream")) {
      this.fillSample();
      return;
    }
    this.drawRequest();
    if (isComplete(this.asked)) void this.run();
    else this.hint();
  }

  fillSample() {
    this.asked.set("batch", JSON.stringify(sampleBatch(this.names, this.asked.get("persona") ?? "")));
    this.asked.set("stream", this.asked.get("stream") || this.names.find((name) => name.startsWith("stream:")) || "stream:chat:sample");
    this.drawRequest();
    void this.run();
  }

  hint() {
    fill(this.answer, empty(t(this.names.length > 0 ? "playground.choose" : "playground.no_spaces")));
  }

  drawRequest() {
    const live = isLive(this.asked);
    const does = { onchange: () => void this.run(), onmove: (/** @type {string} */ name) => this.runSettled(name), onsample: () => this.fillSample() };
    const switcher = calls(live, (wanted) => this.switchTo(wanted));
    fill(this.request, switcher, controls(this.asked, does, this.lists, this.unfolded), loggedPrompts(this.view, () => this.asked.get(live ? "stream" : "space") ?? ""));
    this.plan.hidden = !live;
    // A key of a person's own space reaches no stream.
    void this.view.api.whose().then((whose) => (switcher.hidden = !live && whose?.spaces?.every((space) => !space.startsWith("stream:")) === true));
  }

  formOf() {
    return h(
      "form",
      {
        class: "asking",
        "aria-label": t("playground.request"),
        onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void this.run()),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void this.run();
        },
      },
      panel(t("playground.request"), this.request),
      h(
        "div",
        { class: "run" },
        h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("playground.run"), keys("Ctrl", "↵")),
        this.plan,
        button(t("compare.start"), () => this.compareWith(new Map(this.asked)), { title: t("compare.start_title") }),
        button(t("playground.curl"), () => void copy(t("playground.curl"), curlOf(this.asked))),
        button(t("playground.python"), () => void copy(t("playground.python"), pythonOf(this.asked))),
      ),
    );
  }
}

/** Which of the two calls is made. @param {boolean} live @param {(live: boolean) => void} onchange */
function calls(live, onchange) {
  const group = freshId();
  const one = (/** @type {CallName} */ name, /** @type {boolean} */ means) =>
    h("label", {}, h("input", { type: "radio", name: group, checked: live === means, onchange: () => onchange(means) }), h("span", {}, t(`call.${name}`)));
  return h("fieldset", { class: "segments" }, h("legend", { class: "spoken" }, t("call.title")), one("assemble", false), one("live", true));
}

/** Draws, and leaves focus and scroll where they were. @param {Element} place @param {() => void} draw */
function keeping(place, draw) {
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const [id, does] = [focused?.closest("[data-id]")?.getAttribute("data-id"), focused?.getAttribute("data-does")];
  const scrolled = place.querySelector(".prompt")?.scrollTop ?? 0;
  draw();
  place.querySelector(".prompt")?.scrollTo({ top: scrolled, behavior: "instant" });
  if (!focused) return;
  const again = place.querySelector(`[data-id="${id}"] [data-does="${does}"]`) ?? place.querySelector(".prompt");
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/**
 * Without anything in the address: the question that was asked last, of people's spaces before others.
 * @param {View} view
 * @param {readonly string[]} names
 * @returns {Promise<Asked>}
 */
async function lastAsked(view, names) {
  const people = [...names].sort((a, b) => Number(b.startsWith("user:")) - Number(a.startsWith("user:"))).slice(0, SPACES_ASKED);
  /** @type {Api.Page_AssemblySummary_[]} */
  const pages = await Promise.all(people.map((space) => view.api.get("/assemblies", { query: { space, limit: 1 }, signal: view.signal })));
  const last = pages.flatMap((page) => page.items).sort((a, b) => b.created_at.localeCompare(a.created_at))[0];
  if (!last) return new Map(people[0] ? [["space", people[0]]] : []);
  const found = await view.api.get(`/assemblies/${last.id}`, { signal: view.signal }).catch((error) => {
    // The key of one space does not reach a prompt that others had a part in.
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  });
  if (found === null) return new Map([["space", last.space], ["query", last.query]]);
  return askedIn({ space: last.space, query: last.query, ...found.request });
}
