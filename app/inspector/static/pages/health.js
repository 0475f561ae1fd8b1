/** How the service does, while the page is open: it keeps no history. */

import { fill, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { number, t, tValue } from "../lib/i18n.js";
import { every } from "../lib/every.js";
import { errorPanel, facts, loading, panel, table, tag } from "../lib/widgets.js";
import { meanMs, parsed, sumOf } from "./health/metrics.js";
import { plot } from "./health/plot.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {import("./health/metrics.js").Sample} Sample */
/** @typedef {{at: number, samples: Sample[]}} Reading A time in ms, and what was read then. */

const POLL_MS = 3000;
const KEPT = 400; // readings: 20 minutes
const STAGES = "ricordo_assembly_stage_seconds";
const PARTS = /** @type {const} */ (["database", "embedder", "working_memory"]);
const MIB = 2 ** 20;

/** @type {import("../pages.js").Page} */
export const health = { name: "health", title: "page.health", show };

/** @param {View} view */
async function show(view) {
  const [parts, figures] = [h("div", {}), h("div", { class: "results" })];
  /** @type {Reading[]} */
  const readings = [];
  const update = async () => {
    await Promise.all([
      shown(parts, async () => readyPanel(JSON.parse(await read("../health/ready", view.signal, [503])))),
      shown(figures, async () => {
        readings.push({ samples: parsed(await read("../metrics", view.signal)), at: performance.now() });
        if (readings.length > KEPT) readings.shift();
        return drawn(readings);
      }),
    ]);
  };
  fill(view.root, h("h1", { class: "spoken" }, t("page.health")), h("div", { class: "results" }, parts, figures));
  fill(figures, loading());
  await update();
  every(POLL_MS, update, view.signal);
}

/** @param {Element} place @param {() => Promise<import("../lib/dom.js").Children>} make */
async function shown(place, make) {
  try {
    fill(place, await make());
  } catch (error) {
    if (!isAbort(error)) fill(place, errorPanel(error));
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
  const lines = PARTS.map((part) => /** @type {const} */ ([tValue("health", part), [tag(tValue("health", ready[part]), ready[part] === "ok" ? "good" : "bad"), ready[part] !== "ok" && h("p", {}, tValue("health_why", part))]]));
  return panel(t("health.parts"), facts([
    ...lines,
    [t("health.queue"), [tag(tValue("queue", queue.state), queue.state === "ok" ? "good" : queue.state === "slow" ? "warn" : "bad"), h("p", {}, tValue("queue_why", queue.state))]],
    [t("health.waiting"), number(queue.waiting)],
    [t("health.oldest"), t("health.seconds", { value: number(queue.oldest_seconds, 1) })],
    [t("health.failed"), number(queue.failed)],
    [t("health.workers"), number(queue.workers)],
  ]), { actions: tag(tValue("health", ready.status), ready.status === "ok" ? "good" : ready.status === "degraded" ? "warn" : "bad") });
}

/** @param {readonly Reading[]} readings At least one. */
function drawn(readings) {
  const latest = readings.at(-1)?.samples ?? [];
  const stages = [...new Set(latest.filter((one) => one.name === `${STAGES}_count`).map((one) => one.labels.stage ?? ""))];
  const gauge = (/** @type {string} */ name, scale = 1) => readings.map(({ samples }) => {
    const value = sumOf(samples, name);
    return value === null ? null : value / scale;
  });
  const between = (/** @type {(before: Sample[], after: Sample[], seconds: number) => number | null} */ value) => readings.map((after, place) => {
    const before = readings[place - 1];
    return before === undefined ? null : value(before.samples, after.samples, (after.at - before.at) / 1000);
  });
  const rate = (/** @type {string} */ name) => between((before, after, seconds) => Math.max(0, (sumOf(after, name) ?? 0) - (sumOf(before, name) ?? 0)) / seconds);
  const one = (/** @type {string} */ name, /** @type {string} */ metric, tone = 0, scale = 1) => ({ name, tone: `series-${tone}`, values: gauge(metric, scale) });
  const degraded = latest.filter((sample) => sample.name === "ricordo_degraded_assemblies_total");
  return [
    panel(t("health.plots"), h("div", { class: "plots" }, [
      plot(t("health.latency"), stages.map((stage, at) => ({ name: tValue("stage", stage), tone: `series-${at % 8}`, values: between((before, after) => meanMs(before, after, STAGES, { stage })) })), { unit: "ms", digits: 1 }),
      plot(t("health.requests"), [{ name: t("health.per_second"), tone: "series-0", values: rate("ricordo_requests_total") }], { digits: 1 }),
      plot(t("health.queue"), [one(t("health.waiting"), "ricordo_queue_waiting"), one(t("health.failed"), "ricordo_queue_failed", 6)]),
      plot(t("health.oldest"), [one(t("health.oldest"), "ricordo_queue_oldest_seconds", 4)], { unit: "s", digits: 1 }),
      plot(t("health.resident"), [one("MiB", "ricordo_resident_bytes", 2, MIB), one(t("health.spaces"), "ricordo_resident_spaces", 3)], { digits: 1 }),
      plot(t("health.pool"), [one(t("health.connections"), "ricordo_pool_connections", 2), one(t("health.waiting"), "ricordo_pool_waiting", 1)]),
    ]), { note: t("health.no_history") }),
    panel(t("health.since_start"), [
      table(t("health.since_start"), [
        { title: t("health.stage"), cell: (stage) => tValue("stage", stage) },
        { title: t("health.count"), kind: "number", cell: (stage) => number(sumOf(latest, `${STAGES}_count`, { stage }) ?? 0) },
        { title: t("health.mean"), kind: "number", cell: (stage) => number(meanMs([], latest, STAGES, { stage }) ?? 0, 1) },
      ], stages),
      degraded.length > 0 && [h("h3", {}, t("health.did_without")), facts(degraded.map((sample) => [sample.labels.part ?? "", number(sample.value)]))],
    ].flat()),
  ];
}
