/** The playground: ask for a prompt as an agent would, and see why it is what it is. Nothing it does is recorded. */

import { fill, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { t } from "../lib/i18n.js";
import { button, copy, empty, errorPanel, keys, loading, panel, showErrors, toast } from "../lib/widgets.js";
import { comparison } from "./playground/compare.js";
import { controls } from "./playground/controls.js";
import { askedBy, askedIn, bodyOf, curlOf, paramsOf, pythonOf } from "./playground/request.js";
import { result } from "./playground/result.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {import("./playground/request.js").Asked} Asked */

const SPACES_ASKED = 8;

/** @type {import("../pages.js").Page} */
export const playground = { name: "playground", title: "page.playground", show };

/** @param {View} view */
async function show(view) {
  fill(view.root, loading());
  const names = await spaceNames(view);
  const asked = view.params.size > 0 ? askedBy(view.params) : await lastAsked(view, names);
  /** The settings to compare with, in the address as `against`. @type {Asked | null} */
  let against = view.params.has("against") ? askedBy(new URLSearchParams(view.params.get("against") ?? "")) : null;
  const answer = h("div", { class: "results", "aria-busy": "false" });
  let running = new AbortController();

  const run = async () => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const params = paramsOf(asked);
    if (against) params.set("against", paramsOf(against).toString());
    view.note(params);
    const body = bodyOf(asked);
    answer.setAttribute("aria-busy", "true");
    try {
      const ask = (/** @type {Record<string, any>} */ of) =>
        view.api.post("/context/assemble", { ...of, record: false, trace: true }, { signal: AbortSignal.any([signal, view.signal]) });
      const [reply, before] = await Promise.all([ask(body), against && ask(bodyOf(against))]);
      showErrors(form, []);
      fill(answer, before && comparison(before, reply, button(t("compare.stop"), () => compareWith(null))), result(view, reply, body));
      view.announce(t("result.announced", { entries: reply.entries.length, tokens: reply.tokens.total }));
    } catch (error) {
      if (isAbort(error)) return;
      const others = error instanceof Problem ? showErrors(form, error.errors) : [];
      fill(answer, errorPanel(error, run));
      if (others.length === 0) form.querySelector("[data-field]:has([aria-invalid=true])")?.scrollIntoView({ block: "nearest" });
    }
    answer.setAttribute("aria-busy", "false");
  };

  const compareWith = (/** @type {Asked | null} */ settings) => {
    against = settings;
    if (settings) toast(t("compare.kept"));
    void run();
  };

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
    panel(t("playground.request"), controls(asked, run, names)),
    h(
      "div",
      { class: "run" },
      h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("playground.run"), keys("Ctrl", "↵")),
      button(t("compare.start"), () => compareWith(new Map(asked)), { title: t("compare.start_title") }),
      button(t("playground.curl"), () => void copy(t("playground.curl"), curlOf(bodyOf(asked)))),
      button(t("playground.python"), () => void copy(t("playground.python"), pythonOf(bodyOf(asked)))),
    ),
  );
  fill(view.root, h("h1", { class: "spoken" }, t("page.playground")), h("div", { class: "two" }, form, answer));
  if (asked.get("space")) await run();
  else fill(answer, empty(t(names.length > 0 ? "playground.choose" : "playground.no_spaces")));
}

/** The first spaces that the key reaches, to choose from. @param {View} view */
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
  const logged = await view.api.get(`/assemblies/${last.id}`, { signal: view.signal });
  return askedIn({ space: last.space, query: last.query, ...logged.request });
}
