/** The plan of a live batch: whose memory is read, which other sources are, and why. */

import { h } from "../../lib/dom.js";
import { number, t, tValue } from "../../lib/i18n.js";
import { panel, stacked, stackedBar, table, tag } from "../../lib/widgets.js";

/** @typedef {Api.LivePlanReply & {sources?: Record<string, number | string>}} Planned `sources`: what each took in ms, or what became of it. */

const SHARED = /** @type {const} */ (["episodes", "lore", "records"]);

/**
 * @param {Planned} plan
 * @param {{alone?: boolean}} [more] `alone`: nothing was assembled.
 */
export function livePlan(plan, { alone = false } = {}) {
  const highest = Math.max(...plan.viewers.map((one) => one.salience), 1);
  const took = (/** @type {string} */ source) => tookOf(plan.sources ?? {}, source);
  const people = stacked(table(t("plan.people"), [
    { title: t("plan.who"), kind: "who", cell: (one) => [h("strong", {}, one.name || one.space), one.name && h("br"), one.name && h("code", {}, one.space)] },
    { title: t("plan.salience"), cell: (one) => [
      h("div", { class: "salience" }, stackedBar([{ name: t("plan.salience"), value: one.salience, tone: "series-0", said: number(one.salience) }], { whole: highest, label: one.name || one.space }), h("span", { class: "figure" }, number(one.salience))),
      h("div", { class: "tags" }, one.signals.map((signal) => tag(tValue("observed", signal)))),
    ] },
    { title: t("plan.reads"), cell: (one) => h("div", { class: "tags" }, one.reads.length > 0 ? one.reads.map((source) => tag(tValue("source", source), "good")) : tag(t("plan.nothing"), "plain"), took(one.space)) },
    { title: t("plan.why"), kind: "grow", cell: (one) => whyOf(one.why) },
  ], plan.viewers));
  const sources = stacked(table(t("plan.sources"), [
    { title: t("plan.source"), kind: "who", cell: (source) => tValue("source", source) },
    { title: t("plan.reads"), cell: (source) => h("div", { class: "tags" }, plan[source].read ? tag(t("plan.is_read"), "good") : tag(t("plan.is_not_read")), took(source)) },
    { title: t("plan.why"), kind: "grow", cell: (source) => whyOf(plan[source].why) },
  ], SHARED));
  const missing = plan.degraded ?? [];
  return panel(t("result.plan"), [
    missing.length > 0 && h("p", { class: "notice", "data-tone": "warn" }, t("plan.degraded", { parts: missing.map((one) => tValue("source", one)).join(", ") })),
    plan.viewers.length > 0 ? people : h("p", { class: "muted" }, t("plan.nobody")),
    plan.passed_over.length > 0 && h("p", { class: "passed-over muted" }, t("plan.passed_over"), " ", plan.passed_over.flatMap((space, at) => [at > 0 && ", ", h("code", {}, space)])),
    h("h3", {}, t("plan.sources")),
    sources,
  ], { note: t(alone ? "plan.alone" : plan.reads_nothing ? "plan.reads_nothing" : "plan.note") });
}

/** What a source took; lore has one for each of its spaces. @param {Record<string, number | string>} sources @param {string} source */
function tookOf(sources, source) {
  const found = Object.entries(sources).filter(([name]) => name === source || (source === "lore" && name.startsWith("lore:")));
  return found.map(([, value]) => (typeof value === "number" ? h("span", { class: "figure" }, `${number(value, 1)} ms`) : tag(tValue("source_state", value), "warn")));
}

/** The service's reason in the language of the page. @param {string} why */
function whyOf(why) {
  const key = why.replace(/\W+/g, "_");
  const said = tValue("plan_why", key);
  return said === key ? why : said;
}
