/** A small plot over time, up to now. It stays in place while its figures change, and says them as a table too. */

import { fill, h, svg } from "../../lib/dom.js";
import { number, t } from "../../lib/i18n.js";
import { folded, table } from "../../lib/widgets.js";

const [WIDTH, HEIGHT] = [600, 120];
const LEAST_S = 60;
const ROWS = 20;

/** @typedef {{name: string, tone: string, values: (number | null)[]}} Series One value for each moment; null where nothing is known. */

/**
 * @param {string} title
 * @param {{unit?: string, digits?: number, top?: number}} [more] `top`: the scale reaches at least so far.
 */
export function plot(title, { unit = "", digits = 0, top: least = 0 } = {}) {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": title });
  const [upper, middle, since] = [h("span", {}), h("span", {}), h("span", {})];
  const none = h("p", { class: "plot-none" }, t("health.nothing_yet"));
  const keys = h("ul", { class: "legend" });
  const rows = h("div", {});
  const said = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? "–" : `${number(value, digits)}${unit && ` ${unit}`}`);
  const scaled = (/** @type {number} */ value) => `${number(value, [0, 1].find((some) => Number.isInteger(value * 10 ** some)) ?? 2)}${unit && ` ${unit}`}`;
  /** @type {() => void} */
  let tell = () => {};
  const fold = folded(h("span", {}, t("health.as_table")), rows, { ontoggle: () => tell() });

  /** @param {readonly number[]} moments In ms, oldest first. @param {readonly Series[]} series */
  const draw = (moments, series) => {
    const last = moments.at(-1) ?? 0;
    const seconds = Math.max(LEAST_S, (last - (moments[0] ?? last)) / 1000);
    const known = series.flatMap((one) => one.values.filter((value) => value !== null));
    const top = niceTop(Math.max(...known, least));
    const x = (/** @type {number} */ at) => WIDTH - (WIDTH * (last - (moments[at] ?? last))) / 1000 / seconds;
    const y = (/** @type {number} */ value) => HEIGHT - (HEIGHT * value) / top;
    fill(drawing, [0.25, 0.5, 0.75].map((share) => svg("line", { class: "plot-grid", x1: 0, x2: WIDTH, y1: HEIGHT * share, y2: HEIGHT * share })), series.flatMap((one) => lines(one, x, y, series.length === 1)));
    const latest = series.map((one) => `${one.name} ${said(one.values.findLast((value) => value !== null))}`);
    drawing.setAttribute("aria-label", `${title}: ${latest.join(", ")}. ${t("health.top", { value: said(known.length > 0 ? Math.max(...known) : null) })}`);
    fill(keys, series.map((one, at) => h("li", {}, h("span", { class: "dot", "data-tone": one.tone }), latest[at])));
    none.hidden = known.length > 0;
    upper.textContent = scaled(top);
    middle.textContent = digits > 0 || top % 2 === 0 ? scaled(top / 2) : "";
    since.textContent = t("health.ago", { minutes: number(seconds / 60, seconds % 60 === 0 ? 0 : 1) });
    tell = () => {
      if (!fold.open) return;
      const places = moments.map((_, at) => at).slice(-ROWS).reverse();
      const time = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "medium" });
      const fresh = table(title, [
        { title: t("health.at"), cell: (at) => time.format(performance.timeOrigin + (moments[at] ?? 0)) },
        ...series.map((one) => ({ title: one.name, kind: "number", cell: (/** @type {number} */ at) => said(one.values[at]) })),
      ], places);
      renew(rows, fresh);
    };
    tell();
  };
  const element = h(
    "figure",
    { class: "plot" },
    h("figcaption", {}, h("strong", {}, title)),
    h("div", { class: "plot-area" }, h("div", { class: "plot-scale", "aria-hidden": "true" }, upper, middle, h("span", {}, scaled(0))), h("div", { class: "plot-drawing" }, drawing, none)),
    h("div", { class: "plot-times", "aria-hidden": "true" }, since, h("span", {}, t("health.now"))),
    keys,
    fold,
  );
  return { element, draw };
}

/** Puts fresh rows into a table that stands, so that focus and scroll stay. @param {Element} place @param {Element} fresh */
export function renew(place, fresh) {
  const [old, now] = [place.querySelector("tbody"), fresh.querySelector("tbody")];
  if (old && now) old.replaceWith(now);
  else fill(place, fresh);
}

/** The line of a series, broken where nothing is known. @param {Series} series @param {(at: number) => number} x @param {(value: number) => number} y @param {boolean} isFilled */
function lines({ tone, values }, x, y, isFilled) {
  /** @type {string[][]} */
  const runs = [[]];
  values.forEach((value, at) => {
    if (value === null) runs.push([]);
    else runs.at(-1)?.push(`${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  });
  return runs.filter((run) => run.length > 0).flatMap((run) => {
    const points = run.length === 1 ? [run[0], run[0]] : run;
    const [first, last] = [run[0]?.split(",")[0], run.at(-1)?.split(",")[0]];
    return [
      isFilled && svg("polygon", { class: "plot-fill", "data-tone": tone, points: `${first},${HEIGHT} ${run.join(" ")} ${last},${HEIGHT}` }),
      svg("polyline", { class: "plot-line", "data-tone": tone, points: points.join(" ") }),
    ];
  });
}

/** The next of 1, 2, 5, 10, 20…: a scale whose figures are read at a glance. @param {number} value */
function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (([1, 2, 5, 10].find((step) => step * power >= value * 0.999) ?? 10) * power);
}
