/** The text format of Prometheus, and what is read from it. */

/** @typedef {{name: string, labels: Record<string, string>, value: number}} Sample */
/** @typedef {Record<string, string>} Labels */

/** @param {string} text @returns {Sample[]} */
export function parsed(text) {
  return text.split("\n").flatMap((line) => {
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!found) return [];
    const labels = Object.fromEntries([...(found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name ?? "", value ?? ""]));
    return [{ name: found[1] ?? "", labels, value: Number((found[3] ?? "").replace("Inf", "Infinity")) }];
  });
}

/** @param {readonly Sample[]} samples @param {string} name @param {Labels} labels */
function those(samples, name, labels) {
  return samples.filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value));
}

/** The sum of all samples of a name with these labels; null if there are none. @param {readonly Sample[]} samples @param {string} name @param {Labels} [labels] */
export function sumOf(samples, name, labels = {}) {
  const found = those(samples, name, labels);
  return found.length === 0 ? null : found.reduce((total, one) => total + one.value, 0);
}

/** The values of a label, in the order of the page. @param {readonly Sample[]} samples @param {string} name @param {string} label */
export function valuesOf(samples, name, label) {
  return [...new Set(those(samples, name, {}).map((one) => one.labels[label] ?? ""))];
}

/** What a counter rose by; null if the process started anew between. @param {readonly Sample[]} before @param {readonly Sample[]} after @param {string} name @param {Labels} [labels] */
export function riseOf(before, after, name, labels) {
  const rise = (sumOf(after, name, labels) ?? 0) - (sumOf(before, name, labels) ?? 0);
  return rise < 0 ? null : rise;
}

/** The mean of a histogram between two readings, in ms; null if nothing happened. @param {readonly Sample[]} before @param {readonly Sample[]} after @param {string} name @param {Labels} labels */
export function meanMs(before, after, name, labels) {
  const count = riseOf(before, after, `${name}_count`, labels);
  return count ? (1000 * (riseOf(before, after, `${name}_sum`, labels) ?? 0)) / count : null;
}

/**
 * A quantile of a histogram between two readings, in ms, estimated within its bucket as Prometheus does; null if nothing
 * happened. Beyond the last bound it is that bound.
 * @param {readonly Sample[]} before @param {readonly Sample[]} after @param {string} name @param {Labels} labels
 * @param {number} share In [0, 1]: 0.5 is the median.
 */
export function quantileMs(before, after, name, labels, share) {
  const bounds = valuesOf(those(after, `${name}_bucket`, labels), `${name}_bucket`, "le").sort((a, b) => boundOf(a) - boundOf(b));
  const counts = bounds.map((le) => riseOf(before, after, `${name}_bucket`, { ...labels, le }));
  const total = counts.at(-1);
  if (!total || counts.includes(null)) return null;
  const rank = share * total;
  const at = counts.findIndex((count) => (count ?? 0) >= rank);
  const bound = (/** @type {number} */ place) => (place < 0 ? 0 : boundOf(bounds[place] ?? ""));
  if (bound(at) === Infinity) return 1000 * bound(at - 1);
  const below = at > 0 ? (counts[at - 1] ?? 0) : 0;
  const inside = (counts[at] ?? 0) - below;
  return 1000 * (bound(at - 1) + (bound(at) - bound(at - 1)) * (inside > 0 ? (rank - below) / inside : 1));
}

/** @param {string} le */
function boundOf(le) {
  return Number(le.replace("Inf", "Infinity"));
}
