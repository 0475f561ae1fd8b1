/** The work on what was said: what waits, what failed and why, and to have it tried again. */

import { fill, freshId, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { moment, number, t, tValue } from "../lib/i18n.js";
import { every } from "../lib/every.js";
import { isAtLeast, readOnlyNotice, spaceNames } from "../lib/space_choice.js";
import { hrefOf } from "../lib/address.js";
import { button, empty, errorPanel, field, loading, pager, panel, shortId, showErrors, stacked, table, tag, toast } from "../lib/widgets.js";

/** @typedef {import("../pages.js").View} View */

const STATES = /** @type {const} */ (["waiting", "running", "succeeded", "failed"]);
const TONES = { waiting: "warn", running: "warn", succeeded: "good", failed: "bad" };
const REFRESH_MS = 3000;
const PAGE = 50;

/** @type {import("../pages.js").Page} */
export const jobs = { name: "jobs", title: "page.jobs", show };

/** @param {View} view */
async function show(view) {
  const params = new URLSearchParams(view.params);
  const list = h("div", {});
  let pages = 1;
  let last = "";
  /** @type {Api.JobReply[]} */
  let found = [];

  const whose = await view.api.whose();
  const mayRetry = isAtLeast(whose, "writer");

  const load = async () => {
    /** @type {Api.JobReply[]} */
    const items = [];
    /** @type {string | null} */
    let cursor = null;
    for (let at = 0; at < pages; at += 1) {
      /** @type {Api.Page_JobReply_} */
      const page = await view.api.get("/jobs", { query: { space: params.get("space"), state: params.get("state"), subject: params.get("subject"), limit: PAGE, cursor }, signal: view.signal });
      items.push(...page.items);
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    const text = JSON.stringify([items, cursor]);
    if (text === last) return;
    last = text;
    found = items;
    draw(cursor);
  };

  const update = async () => {
    try {
      await load();
      showErrors(form, []);
    } catch (error) {
      if (isAbort(error)) return;
      last = "";
      if (error instanceof Problem) showErrors(form, error.errors);
      fill(list, errorPanel(error, () => void update()));
    }
  };

  /** @param {string | null} cursor */
  const draw = (cursor) => {
    const focused = document.activeElement?.closest("[data-job]")?.getAttribute("data-job");
    const failed = found.filter((job) => job.state === "failed");
    fill(
      list,
      panel(t("page.jobs"), [
        found.length === 0
          ? empty(t("jobs.none"))
          : stacked(table(t("page.jobs"), [
              { title: t("jobs.task"), kind: "who", cell: (job) => [h("strong", {}, tValue("task", job.task)), h("div", {}, h("code", {}, job.space)), h("div", { class: "hint" }, shortId(job.subject))] },
              { title: t("jobs.state"), cell: (job) => tag(tValue("job", job.state), TONES[job.state]) },
              { title: t("jobs.reason"), kind: "grow", cell: (job) => job.error ?? job.note ?? "–" },
              { title: t("jobs.attempts"), kind: "number", cell: (job) => number(job.attempts) },
              { title: t("jobs.created"), kind: "when", cell: (job) => moment(job.created_at) },
              { title: t("jobs.tried"), kind: "when", cell: (job) => moment(job.tried_at) || "–" },
              { title: t("jobs.do"), cell: (job) => mayRetry && job.state === "failed" && h("span", { "data-job": job.id }, button(t("jobs.retry"), () => void retry([job]))) },
            ], found)),
        pager(cursor, () => ((pages += 1), void update())),
      ], {
        note: t("jobs.note"),
        actions: [
          whose?.spaces == null && h("a", { class: "button", href: hrefOf("health") }, t("jobs.health")),
          mayRetry && failed.length > 0 && button(t("jobs.retry_all", { count: failed.length }), () => void retry(failed), { kind: "primary" }),
        ],
      }),
    );
    const again = focused && list.querySelector(`[data-job="${focused}"] button`);
    if (again instanceof HTMLElement) again.focus();
  };

  /** One call each; those that are refused do not stop the others. @param {readonly Api.JobReply[]} failed */
  const retry = async (failed) => {
    /** @type {unknown[]} */
    const refused = [];
    for (const job of failed) {
      try {
        await view.api.post(`/jobs/${encodeURIComponent(job.id)}/retry`, undefined, { signal: view.signal });
      } catch (error) {
        if (isAbort(error)) return;
        refused.push(error);
      }
    }
    toast(t("jobs.retried", { count: failed.length - refused.length }));
    await update();
    if (refused.length > 0) list.prepend(errorPanel(refused[0]));
  };

  const names = h("datalist", { id: freshId() });
  const space = h("input", { type: "text", list: names.id, value: params.get("space") ?? "", autocomplete: "off", spellcheck: "false", onchange: () => set("space", space.value.trim()) });
  const state = h("select", { onchange: () => set("state", state.value) }, h("option", { value: "" }, t("jobs.all")), STATES.map((one) => h("option", { value: one }, tValue("job", one))));
  state.value = params.get("state") ?? "";
  const set = (/** @type {string} */ name, /** @type {string} */ value) => {
    if (value) params.set(name, value);
    else params.delete(name);
    view.note(params);
    pages = 1;
    last = "";
    void update();
  };
  const ofOne = params.has("subject") && button(t("jobs.all_subjects"), () => {
    set("subject", "");
    ofOne && ofOne.remove();
  });
  const form = h("form", { class: "filters", "aria-label": t("jobs.filter"), onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, names, field(t("field.space"), space, { name: "space", hint: t("jobs.space_hint") }), field(t("jobs.state"), state, { name: "state" }), ofOne);
  fill(view.root, h("h1", { class: "spoken" }, t("page.jobs")), !mayRetry && readOnlyNotice("jobs.read_only", whose), form, list);
  fill(list, loading());
  await update();
  every(REFRESH_MS, update, view.signal);
  fill(names, (await spaceNames(view)).map((value) => h("option", { value })));
}
