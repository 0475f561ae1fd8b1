/** How the service does, while the page is open: it keeps no history. */

import { fill, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { number, t, tValue } from "../lib/i18n.js";
import { every } from "../lib/every.js";
import { errorPanel, facts, loading, panel, table, tag } from "../lib/widgets.js";
import { meanMs, parsed, quantileMs, riseOf, sumOf, valuesOf } from "./health/metrics.js";
import { plot, renew } from "./health/plot.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {import("./health/metrics.js").Sample} Sample */
/** @typedef {import("./health/plot.js").Series} Series */
/** @typedef {{at: number, samples: Sample[]}} Reading A time in ms, and what was read then. */

const POLL_MS = 3000;
const KEPT = 400; // moments: 20 minutes
const WINDOW = 20; // readings: a quantile is of the last minute
const STAGES = "ricordo_assembly_stage_seconds";
const REQUESTS = "ricordo_request_seconds";
const HITS = "ricordo_cache_hits_total";
const MISSES = "ricordo_cache_misses_total";
const ROUTES = 12;
const PARTS = /** @type {const} */ (["database", "embedder", "working_memory"]);
const MIB = 2 ** 20;

/** @type {import("../pages.js").Page} */
export const health = { name: "health", title: "page.health", isFor: (whose) => whose.spaces === null, show };

/** @param {View} view */
async function show(view) {
  const [parts, faults, body] = [h("div", {}), h("div", {}), h("div", { class: "results" })];
  const figures = standing();
  /** @type {Reading[]} */
  const readings = [];
  let ready = "";
  const update = async () => {
    await Promise.all([
      tried(parts, async () => {
        const answered = await read("../health/ready", view.signal, [503]);
        if (answered !== ready) fill(parts, readyPanel(JSON.parse(answered)));
        ready = answered;
      }, () => (ready = "")),
      tried(faults, async () => {
        readings.push({ samples: parsed(await read("../metrics", view.signal)), at: performance.now() });
        if (readings.length > WINDOW + 1) readings.shift();
        figures.draw(readings);
        fill(faults);
        if (!body.contains(figures.element)) fill(body, figures.element);
      }, () => readings.length === 0 && fill(body)),
    ]);
  };
  fill(view.root, h("h1", { class: "spoken" }, t("page.health")), h("div", { class: "results" }, parts, faults, body));
  fill(body, loading());
  await update();
  every(POLL_MS, update, view.signal);
}

/** @param {Element} place Where an error is told. @param {() => Promise<void>} work @param {() => void} onfault */
async function tried(place, work, onfault) {
  try {
    await work();
  } catch (error) {
    if (isAbort(error)) return;
    fill(place, errorPanel(error));
    onfault();
  }
}

/**
 * A text outside of the API; these answer without a key, unless a proxy in front refuses them.
 * @param {string} url @param {AbortSignal} signal @param {readonly number[]} [also] Further statuses that have an answer.
 */
async function read(url, signal, also = []) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(url, { signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(0, "", "");
  }
  if (!response.ok && !also.includes(response.status)) throw new Problem(response.status, t("health.refused"), t("health.refused_why", { path: url.replace("..", "") }));
  return response.text();
}

/** @param {Api.ReadyReply} ready */
function readyPanel(ready) {
  const { queue } = ready;
  const lines = PARTS.map((part) => /** @type {const} */ ([tValue("service_part", part), [tag(tValue("service_state", ready[part]), ready[part] === "ok" ? "good" : "bad"), ready[part] !== "ok" && h("p", { class: "hint" }, tValue("health_why", part))]]));
  return panel(t("health.parts"), facts([
    ...lines,
    [t("health.queue"), [tag(tValue("queue", queue.state), queue.state === "ok" ? "good" : queue.state === "slow" ? "warn" : "bad"), queue.state !== "ok" && h("p", { class: "hint" }, tValue("queue_why", queue.state))]],
    [t("health.waiting"), number(queue.waiting)],
    [t("health.oldest"), t("health.seconds", { value: number(queue.oldest_seconds, 1) })],
    [t("health.failed"), number(queue.failed)],
    [t("health.workers"), number(queue.workers)],
  ]), { actions: tag(tValue("service_state", ready.status), ready.status === "ok" ? "good" : ready.status === "degraded" ? "warn" : "bad") });
}

/** The plots and tables, made once: what changes is drawn into them. */
function standing() {
  /** @type {number[]} */
  const moments = [];
  const plots = PLOTS.map(({ title, values, ...scale }) => ({ ...plot(t(title), scale), values, lines: /** @type {Map<string, Series>} */ (new Map()) }));
  const tables = TABLES.map(({ title, note, columns, rows }) => {
    const [place, body] = [h("section", {}), h("div", {})];
    /** @param {Sample[]} latest */
    const draw = (latest) => {
      const found = rows(latest);
      place.hidden = found.length === 0;
      renew(body, table(t(title), columns(latest), found));
    };
    fill(place, h("h3", {}, t(title)), note && h("p", { class: "hint" }, t(note)), body);
    return { place, draw };
  });
  return {
    element: h("div", { class: "results" }, panel(t("health.plots"), h("div", { class: "plots" }, plots.map((one) => one.element)), { note: t("health.no_history") }), panel(t("health.since_start"), h("div", { class: "since-start" }, tables.map((one) => one.place)), { note: t("health.one_process") })),
    /** @param {readonly Reading[]} readings At least one; the last minute's. */
    draw: (readings) => {
      const [latest, previous, before] = [/** @type {Reading} */ (readings.at(-1)), readings.at(-2) ?? null, readings.length > 1 ? (readings[0]?.samples ?? null) : null];
      moments.push(latest.at);
      for (const one of plots) {
        const told = new Map(one.values({ latest, previous, before }).map((line) => [line.name, line]));
        for (const [name, { tone }] of told) if (!one.lines.has(name)) one.lines.set(name, { name, tone, values: moments.slice(1).map(() => null) });
        for (const [name, { values }] of one.lines) {
          values.push(told.get(name)?.value ?? null);
          if (values.length > KEPT) values.shift();
        }
      }
      if (moments.length > KEPT) moments.shift();
      for (const one of plots) one.draw(moments, [...one.lines.values()]);
      for (const one of tables) one.draw(latest.samples);
    },
  };
}

/** What is known at a moment; `before` is a minute older than `latest`, or as old as there is one. @typedef {{latest: Reading, previous: Reading | null, before: Sample[] | null}} Moment */
/** @typedef {{name: string, tone: string, value: number | null}} Value */
/** @typedef {{title: import("../lib/i18n.js").TextKey, unit?: string, digits?: number, top?: number, values: (moment: Moment) => Value[]}} PlotOf */

/** @type {readonly PlotOf[]} */
const PLOTS = [
  { title: "health.assembly", unit: "ms", digits: 1, values: (moment) => quantiles(moment, STAGES, { stage: "total" }) },
  {
    title: "health.stages",
    unit: "ms",
    digits: 1,
    values: ({ latest, before }) => stagesOf(latest.samples).filter((stage) => stage !== "total").map((stage, at) => ({ name: tValue("stage", stage), tone: `series-${at % 8}`, value: before && quantileMs(before, latest.samples, STAGES, { stage }, 0.95) })),
  },
  { title: "health.answers", unit: "ms", digits: 1, values: (moment) => quantiles(moment, REQUESTS, {}) },
  { title: "health.requests", digits: 1, values: (moment) => [{ name: t("health.per_second"), tone: "series-0", value: rateOf(moment, "ricordo_requests_total") }] },
  { title: "health.queue", values: (moment) => [gauge(moment, t("health.waiting"), "ricordo_queue_waiting"), gauge(moment, t("health.failed"), "ricordo_queue_failed", { tone: 6 })] },
  { title: "health.oldest", unit: "s", digits: 1, values: (moment) => [gauge(moment, t("health.oldest"), "ricordo_queue_oldest_seconds", { tone: 4 })] },
  {
    title: "health.cache",
    unit: "%",
    top: 100,
    values: ({ latest, before }) => cachesOf(latest.samples).map((cache, at) => ({ name: tValue("cache", cache), tone: `series-${at % 8}`, value: before && shareOf(riseOf(before, latest.samples, HITS, { cache }), riseOf(before, latest.samples, MISSES, { cache })) })),
  },
  { title: "health.resident", unit: "MiB", digits: 1, values: (moment) => [gauge(moment, t("health.memory"), "ricordo_resident_bytes", { tone: 2, scale: MIB })] },
  { title: "health.spaces", values: (moment) => [gauge(moment, t("health.spaces"), "ricordo_resident_spaces", { tone: 3 })] },
  { title: "health.pool", values: (moment) => [gauge(moment, t("health.connections"), "ricordo_pool_connections", { tone: 2 }), gauge(moment, t("health.waiting"), "ricordo_pool_waiting", { tone: 1 })] },
];

/** @typedef {{title: import("../lib/i18n.js").TextKey, note?: import("../lib/i18n.js").TextKey, columns: (latest: Sample[]) => import("../lib/widgets.js").Column<string>[], rows: (latest: Sample[]) => string[]}} TableOf */

/** @type {readonly TableOf[]} */
const TABLES = [
  { title: "health.assemblies", note: "health.estimated", rows: (latest) => stagesOf(latest), columns: (latest) => timesOf(latest, STAGES, "stage", t("health.stage"), (stage) => tValue("stage", stage)) },
  {
    title: "health.routes",
    rows: (latest) => valuesOf(latest, `${REQUESTS}_count`, "route").filter((route) => route !== "none").sort((a, b) => (sumOf(latest, `${REQUESTS}_count`, { route: b }) ?? 0) - (sumOf(latest, `${REQUESTS}_count`, { route: a }) ?? 0)).slice(0, ROUTES),
    columns: (latest) => timesOf(latest, REQUESTS, "route", t("health.route"), (route) => h("code", {}, route)),
  },
  {
    title: "health.caches",
    rows: cachesOf,
    columns: (latest) => [
      { title: t("health.cache_of"), cell: (cache) => tValue("cache", cache) },
      { title: t("health.hits"), kind: "number", cell: (cache) => number(sumOf(latest, HITS, { cache }) ?? 0) },
      { title: t("health.misses"), kind: "number", cell: (cache) => number(sumOf(latest, MISSES, { cache }) ?? 0) },
      { title: t("health.share"), kind: "number", cell: (cache) => percent(shareOf(sumOf(latest, HITS, { cache }), sumOf(latest, MISSES, { cache }))) },
    ],
  },
  {
    title: "health.did_without",
    rows: (latest) => valuesOf(latest, "ricordo_degraded_assemblies_total", "part"),
    columns: (latest) => [
      { title: t("health.part"), cell: (part) => tValue("source", part) },
      { title: t("health.count"), kind: "number", cell: (part) => number(sumOf(latest, "ricordo_degraded_assemblies_total", { part }) ?? 0) },
    ],
  },
];

/** @param {readonly Sample[]} latest */
function stagesOf(latest) {
  return valuesOf(latest, `${STAGES}_count`, "stage");
}

/** @param {readonly Sample[]} latest */
function cachesOf(latest) {
  return valuesOf(latest, HITS, "cache");
}

/**
 * How often, and how long.
 * @param {readonly Sample[]} latest @param {string} name @param {string} label @param {string} title @param {(value: string) => import("../lib/dom.js").Children} cell
 * @returns {import("../lib/widgets.js").Column<string>[]}
 */
function timesOf(latest, name, label, title, cell) {
  const ms = (/** @type {number | null} */ value) => (value === null ? "–" : number(value, 1));
  return [
    { title, cell },
    { title: t("health.count"), kind: "number", cell: (value) => number(sumOf(latest, `${name}_count`, { [label]: value }) ?? 0) },
    { title: t("health.p50"), kind: "number", cell: (value) => ms(quantileMs([], latest, name, { [label]: value }, 0.5)) },
    { title: t("health.p95"), kind: "number", cell: (value) => ms(quantileMs([], latest, name, { [label]: value }, 0.95)) },
    { title: t("health.mean"), kind: "number", cell: (value) => ms(meanMs([], latest, name, { [label]: value })) },
  ];
}

/** Median and p95 of the last minute. @param {Moment} moment @param {string} name @param {Record<string, string>} labels @returns {Value[]} */
function quantiles({ latest, before }, name, labels) {
  return [0.5, 0.95].map((share, at) => ({ name: t(at === 0 ? "health.p50_name" : "health.p95_name"), tone: `series-${at}`, value: before && quantileMs(before, latest.samples, name, labels, share) }));
}

/** @param {Moment} moment @param {string} name */
function rateOf({ latest, previous }, name) {
  const rise = previous && riseOf(previous.samples, latest.samples, name);
  return rise === null || previous === null ? null : (1000 * rise) / (latest.at - previous.at);
}

/** @param {Moment} moment @param {string} name @param {string} metric @param {{tone?: number, scale?: number}} [more] @returns {Value} */
function gauge({ latest }, name, metric, { tone = 0, scale = 1 } = {}) {
  const value = sumOf(latest.samples, metric);
  return { name, tone: `series-${tone}`, value: value === null ? null : value / scale };
}

/** In per cent; null if there was nothing. @param {number | null} hits @param {number | null} misses */
function shareOf(hits, misses) {
  const all = (hits ?? 0) + (misses ?? 0);
  return hits === null || misses === null || all === 0 ? null : (100 * hits) / all;
}

/** @param {number | null} value */
function percent(value) {
  return value === null ? "–" : `${number(value)} %`;
}
