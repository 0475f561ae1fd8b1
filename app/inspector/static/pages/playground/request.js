/**
 * The request of the main call, as a flat record of what the controls say; to and from the address, and to the API.
 *
 * A name is the API's own, with dots: `overrides.budget_tokens.memories`. In the address only what is set appears.
 */

import { WEIGHTS } from "./defaults.js";

/** @typedef {"text" | "long" | "lines" | "whole" | "share" | "score" | "format" | "flag" | "instant" | "boosts" | "messages"} Kind */
/** @typedef {{name: string, kind: Kind, group: string}} Control */

const SIGNALS = /** @type {const} */ (["relevance", "importance", "recency", "frequency", "confidence"]);
const PARTS = /** @type {const} */ (["total", "soul", "memories", "episodes", "procedures"]);

/** @type {readonly Control[]} */
export const CONTROLS = [
  { name: "space", kind: "text", group: "question" },
  { name: "query", kind: "long", group: "question" },
  { name: "persona", kind: "text", group: "question" },
  { name: "scopes", kind: "lines", group: "question" },
  { name: "also_read", kind: "lines", group: "question" },
  { name: "session", kind: "text", group: "conversation" },
  { name: "history", kind: "messages", group: "conversation" },
  ...PARTS.map((part) => /** @type {Control} */ ({ name: `overrides.budget_tokens.${part}`, kind: "whole", group: "budgets" })),
  ...SIGNALS.map((signal) => /** @type {Control} */ ({ name: `overrides.weights.${signal}`, kind: "share", group: "weights" })),
  { name: "overrides.tag_boosts", kind: "boosts", group: "selection" },
  { name: "overrides.min_relevance", kind: "share", group: "selection" },
  { name: "overrides.min_score", kind: "score", group: "selection" },
  { name: "overrides.candidate_limit", kind: "whole", group: "selection" },
  { name: "overrides.must_include", kind: "lines", group: "selection" },
  { name: "overrides.exclude", kind: "lines", group: "selection" },
  { name: "format", kind: "format", group: "output" },
  { name: "as_of", kind: "instant", group: "time" },
  { name: "known_at", kind: "instant", group: "time" },
  { name: "timeout_ms", kind: "whole", group: "output" },
];

/** A record of what the controls say: texts, by the control's name; lists have one item a line. @typedef {Map<string, string>} Asked */

/** @param {URLSearchParams} params @returns {Asked} */
export function askedBy(params) {
  return new Map(CONTROLS.flatMap(({ name }) => (params.has(name) ? [[name, params.get(name) ?? ""]] : [])));
}

/** @param {Asked} asked */
export function paramsOf(asked) {
  return new URLSearchParams([...asked].filter(([, value]) => value !== ""));
}

/** What the controls say of a request that was made before. @param {Record<string, any>} body @returns {Asked} */
export function askedIn(body) {
  /** @type {Asked} */
  const asked = new Map();
  for (const { name, kind } of CONTROLS) {
    const value = name.split(".").reduce((/** @type {any} */ inner, step) => inner?.[step], body);
    if (value === null || value === undefined || value.length === 0) continue;
    if (name === "timeout_ms" || (name === "format" && value === "xml")) continue;
    asked.set(name, kind === "lines" ? value.join("\n") : typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return asked;
}

/**
 * The body of the call. What is no number is sent as it stands, so that the service says what is wrong with it.
 * @param {Asked} asked
 * @returns {Record<string, any>}
 */
export function bodyOf(asked) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const { name, kind } of CONTROLS) {
    const text = asked.get(name) ?? "";
    if (text === "" && name !== "space" && name !== "query") continue;
    const path = name.split(".");
    const last = path.pop() ?? "";
    const inner = path.reduce((/** @type {any} */ outer, step) => (outer[step] ??= {}), body);
    inner[last] = valueOf(kind, text);
  }
  if (body.overrides?.weights) body.overrides.weights = sharesOf(body.overrides.weights);
  return body;
}

/** @param {Kind} kind @param {string} text */
function valueOf(kind, text) {
  if (kind === "lines") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (kind === "whole" || kind === "share" || kind === "score") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (kind === "boosts" || kind === "messages") {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}

/** Weights as shares that sum to 1: the sliders stand in any proportion. @param {Record<string, number>} given */
export function sharesOf(given) {
  const raw = SIGNALS.map((signal) => Number(given[signal] ?? WEIGHTS[signal]));
  const sum = raw.reduce((total, value) => total + value, 0);
  const shares = raw.map((value) => (sum > 0 ? Math.round((value / sum) * 1e4) / 1e4 : 0.2));
  const rest = 1 - shares.reduce((total, value) => total + value, 0);
  const largest = shares.indexOf(Math.max(...shares));
  shares[largest] = Math.round(((shares[largest] ?? 0) + rest) * 1e4) / 1e4;
  return Object.fromEntries(SIGNALS.map((signal, at) => [signal, shares[at] ?? 0]));
}

/** The call as a shell command; the key is a variable. @param {Record<string, any>} body */
export function curlOf(body) {
  const url = new URL("../api/v1/context/assemble", location.href).href.replace(/[#?].*/, "");
  const quoted = JSON.stringify(body).replaceAll("'", `'\\''`);
  return `curl -s '${url}' \\\n  -H "Authorization: Bearer $RICORDO_API_KEY" -H 'Content-Type: application/json' \\\n  -d '${quoted}'\n`;
}

/** The call with the Python client; the key is a variable. @param {Record<string, any>} body */
export function pythonOf(body) {
  const url = new URL("..", location.href.replace(/[#?].*/, "")).href.replace(/\/$/, "");
  const { space, query, ...more } = body;
  const moments = ["as_of", "known_at"].filter((name) => name in more);
  const given = Object.entries(more).map(([name, value]) => {
    const text = python(value);
    return `    ${name}=${moments.includes(name) ? `datetime.fromisoformat(${text})` : text},\n`;
  });
  return [
    "import os\n",
    moments.length > 0 && "from datetime import datetime\n",
    "\nfrom ricordo_client import Ricordo\n\n",
    `memory = Ricordo(${python(url)}, os.environ["RICORDO_API_KEY"])\n`,
    `context = memory.assemble(\n    ${python(space)},\n    ${python(query)},\n${given.join("")})\n`,
    "print(context.prompt)\n",
  ].filter(Boolean).join("");
}

/** @param {any} value @returns {string} */
function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([name, inner]) => `${python(name)}: ${python(inner)}`).join(", ")}}`;
  return JSON.stringify(value);
}
