/** A small plot over the time that the page is open. Its figures stand beside it in words. */

import { h, svg } from "../../lib/dom.js";
import { number, t } from "../../lib/i18n.js";

const [WIDTH, HEIGHT] = [600, 120];

/** @typedef {{name: string, tone: string, values: (number | null)[]}} Series Oldest first; null where nothing is known. */

/** @param {string} title @param {readonly Series[]} series @param {{unit?: string, digits?: number}} [more] */
export function plot(title, series, { unit = "", digits = 0 } = {}) {
  const known = series.flatMap((one) => one.values.filter((value) => value !== null));
  const top = Math.max(...known, 0) || 1;
  const length = Math.max(...series.map((one) => one.values.length), 2);
  const x = (/** @type {number} */ at) => (WIDTH * at) / (length - 1);
  const y = (/** @type {number} */ value) => HEIGHT - 4 - ((HEIGHT - 8) * value) / top;
  const said = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? "–" : `${number(value, digits)}${unit && ` ${unit}`}`);
  const lines = series.map(({ tone, values }) => {
    const points = values.flatMap((value, at) => (value === null ? [] : [`${x(at).toFixed(1)},${y(value).toFixed(1)}`]));
    const drawn = points.length === 1 ? [points[0], points[0]] : points;
    return svg("polyline", { class: "plot-line", "data-tone": tone, points: drawn.join(" ") });
  });
  const latest = series.map((one) => ({ ...one, text: said(one.values.findLast((value) => value !== null)) }));
  const words = latest.map((one) => `${one.name} ${one.text}`).join(", ");
  return h(
    "figure",
    { class: "plot" },
    h("figcaption", {}, h("strong", {}, title), h("span", { class: "muted" }, t("health.top", { value: said(known.length ? top : null) }))),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}: ${words}` }, lines),
    h("ul", { class: "legend" }, latest.map((one) => h("li", {}, h("span", { class: "dot", "data-tone": one.tone }), `${one.name} ${one.text}`))),
  );
}
