/** The text format of Prometheus, and what is read from it. */

/** @typedef {{name: string, labels: Record<string, string>, value: number}} Sample */

/** @param {string} text @returns {Sample[]} */
export function parsed(text) {
  return text.split("\n").flatMap((line) => {
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!found) return [];
    const labels = Object.fromEntries([...(found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name ?? "", value ?? ""]));
    return [{ name: found[1] ?? "", labels, value: Number((found[3] ?? "").replace("Inf", "Infinity")) }];
  });
}

/** The sum of all samples of a name with these labels; null if there are none. @param {readonly Sample[]} samples @param {string} name @param {Record<string, string>} [labels] */
export function sumOf(samples, name, labels = {}) {
  const found = samples.filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value));
  return found.length === 0 ? null : found.reduce((total, one) => total + one.value, 0);
}

/**
 * The mean of a histogram between two readings, in ms; null if nothing happened, or the process started anew between.
 * @param {readonly Sample[]} before @param {readonly Sample[]} after @param {string} name @param {Record<string, string>} labels
 */
export function meanMs(before, after, name, labels) {
  const change = (/** @type {string} */ part) => (sumOf(after, name + part, labels) ?? 0) - (sumOf(before, name + part, labels) ?? 0);
  const count = change("_count");
  return count > 0 ? (1000 * change("_sum")) / count : null;
}
