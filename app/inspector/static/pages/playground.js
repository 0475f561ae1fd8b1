/** The playground: ask for a prompt as an agent would, and see why it is what it is. Nothing it does is recorded. */

import { fill, freshId, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { t } from "../lib/i18n.js";
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
export const playground = { name: "playground", title: "page.playground", show };

/** @param {View} view */
async function show(view) {
  fill(view.root, loading());
  /** The first spaces that the key reaches; a view that is in the address does not wait for them. @type {string[]} */
  let names = [];
  const lists = spaceLists();
  const asking = spaceNames(view).then((found) => {
    names = found;
    fillLists(lists, found);
  });
  asking.catch(() => {}); // Told below, where it is waited for.
  const opened = view.params.get("assembly");
  /** @type {Asked} */
  let asked = new Map();
  /** The settings to compare with, in the address as `against`. @type {Asked | null} */
  let against = view.params.has("against") ? askedBy(new URLSearchParams(view.params.get("against") ?? "")) : null;
  /** What the other call was asked. @type {Map<boolean, Asked>} */
  const others = new Map();
  /** @type {Set<string>} */
  const unfolded = new Set();
  const answer = h("div", { class: "results", "aria-busy": "false" });
  const request = h("div", { class: "controls" });
  let running = new AbortController();
  let timer = 0;
  let lastMoved = "";

  /** Only the last call shows its answer. @param {(signal: AbortSignal) => Promise<() => void>} work Gives what is to be done with the page. */
  const alone = async (work) => {
    clearTimeout(timer);
    running.abort();
    running = new AbortController();
    const signal = AbortSignal.any([running.signal, view.signal]);
    answer.setAttribute("aria-busy", "true");
    try {
      const draw = await work(signal);
      showErrors(form, []);
      keeping(answer, draw);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      const other = error instanceof Problem ? showErrors(form, error.errors) : [];
      fill(answer, errorPanel(error, () => void run()));
      if (other.length === 0) form.querySelector(".error:not([hidden])")?.scrollIntoView({ block: "nearest" });
    }
    answer.setAttribute("aria-busy", "false");
  };

  /** @param {string} [moved] The slider that was moved: its positions are one step of the browser's history. */
  const run = (moved = "") =>
    alone(async (signal) => {
      const params = paramsOf(asked);
      if (against) params.set("against", paramsOf(against).toString());
      view.note(params, { replace: moved !== "" && moved === lastMoved });
      lastMoved = moved;
      const ask = (/** @type {Asked} */ of) => view.api.post(callOf(of).path, { ...bodyOf(of), record: false, trace: true }, { signal });
      const [body, live] = [bodyOf(asked), isLive(asked)];
      const [reply, before] = await Promise.all([ask(asked), against && ask(against)]);
      return () => {
        fill(answer, before && comparison(before, reply, button(t("compare.stop"), () => compareWith(null))), live && livePlan(reply.plan), result(view, reply, body, choose));
        view.announce(t("result.announced", { entries: reply.entries.length, tokens: reply.tokens.total }));
      };
    });

  const planOnly = () =>
    alone(async (signal) => {
      /** @type {Api.LivePlanReply} */
      const plan = await view.api.post("/context/plan", planBodyOf(bodyOf(asked)), { signal });
      return () => {
        fill(answer, livePlan(plan, { alone: true }));
        view.announce(t("plan.announced", { people: plan.viewers.filter((one) => one.reads.length > 0).length }));
      };
    });

  const runSettled = (/** @type {string} */ moved) => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(moved), SETTLED_MS);
  };
  view.signal.addEventListener("abort", () => clearTimeout(timer));

  const compareWith = (/** @type {Asked | null} */ settings) => {
    against = settings;
    if (settings) toast(t("compare.kept"));
    void run();
  };

  /** An entry is put into one list of ids, or taken out of it. @type {import("./playground/result.js").Choose} */
  const choose = {
    isIn: (list, id) => linesOf(asked.get(`overrides.${list}`) ?? "").includes(id),
    toggle: (list, id) => {
      for (const name of /** @type {const} */ (["must_include", "exclude"])) {
        const ids = linesOf(asked.get(`overrides.${name}`) ?? "");
        const kept = ids.filter((one) => one !== id);
        if (name === list && kept.length === ids.length) kept.push(id);
        asked.set(`overrides.${name}`, kept.join("\n"));
      }
      drawRequest();
      void run();
    },
  };

  const fillSample = () => {
    asked.set("batch", JSON.stringify(sampleBatch(names, asked.get("persona") ?? "")));
    asked.set("stream", asked.get("stream") || names.find((name) => name.startsWith("stream:")) || "stream:chat:sample");
    drawRequest();
    void run();
  };

  /** @param {boolean} live */
  const switchTo = (live) => {
    others.set(isLive(asked), asked);
    const common = [...asked].filter(([name]) => name.startsWith("overrides.") || IN_COMMON.includes(name));
    asked = new Map([...(others.get(live) ?? []), ...common]);
    against = null;
    if (live && !asked.has("stream")) {
      asked.set("stream", "");
      fillSample();
      return;
    }
    drawRequest();
    if (isComplete(asked)) void run();
    else hint();
  };

  /** A key of a person's own space reaches no stream. */
  const hideCalls = async () => {
    const reached = (await view.api.whose())?.spaces;
    const segments = request.querySelector(".segments");
    if (segments instanceof HTMLElement) segments.hidden = Boolean(reached && !isLive(asked) && !reached.some((space) => space.startsWith("stream:")));
  };

  const hint = () => fill(answer, empty(t(names.length > 0 ? "playground.choose" : "playground.no_spaces")));
  const drawRequest = () => {
    fill(request, calls(isLive(asked), switchTo), controls(asked, { onchange: () => void run(), onmove: runSettled, onsample: fillSample }, lists, unfolded), loggedPrompts(view, () => asked.get(isLive(asked) ? "stream" : "space") ?? ""));
    plan.hidden = !isLive(asked);
    void hideCalls();
  };

  const plan = button(t("playground.plan_only"), () => void planOnly(), { title: t("playground.plan_only_title") });
  const form = h(
    "form",
    {
      class: "asking",
      "aria-label": t("playground.request"),
      onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void run()),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void run();
      },
    },
    panel(t("playground.request"), request),
    h(
      "div",
      { class: "run" },
      h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("playground.run"), keys("Ctrl", "↵")),
      plan,
      button(t("compare.start"), () => compareWith(new Map(asked)), { title: t("compare.start_title") }),
      button(t("playground.curl"), () => void copy(t("playground.curl"), curlOf(asked))),
      button(t("playground.python"), () => void copy(t("playground.python"), pythonOf(asked))),
    ),
  );

  if (opened !== null) {
    await alone(async (signal) => {
      const found = await logged(view, opened, signal);
      asked = askedIn({ space: found.space, query: found.query, ...found.request });
      return () => fill(answer, loggedNotice(view, found, () => void run()), result(view, found, found.request, null));
    }).finally(drawRequest);
  } else {
    if (view.params.size === 0) await asking;
    asked = view.params.size > 0 ? askedBy(view.params) : await lastAsked(view, names);
    drawRequest();
  }
  fill(view.root, h("h1", { class: "spoken" }, t("page.playground")), h("div", { class: "two" }, form, answer), ...lists.values());
  if (opened === null && isComplete(asked)) await run();
  await asking;
  if (opened === null && !isComplete(asked)) hint();
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

/** @param {View} view */
async function spaceNames(view) {
  /** @type {Api.Page_SpaceReply_} */
  const page = await view.api.get("/spaces", { query: { limit: 200 }, signal: view.signal });
  return page.items.map((space) => space.name);
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
