/**
 * The request of a main call, as a flat record of what the controls say; to and from the address, and to the API.
 *
 * A name is the API's own, with dots: `overrides.budget_tokens.memories`. In the address only what is set appears.
 */

import { VIEWERS, WEIGHTS } from "./defaults.js";

/** @typedef {"text" | "long" | "lines" | "whole" | "share" | "score" | "choice" | "instant" | "boosts" | "items"} Kind */

/**
 * @typedef {object} Control
 * @property {string} name
 * @property {Kind} kind
 * @property {string} [group] Where it stands; of an item's field: `more` is folded.
 * @property {readonly string[]} [options] Of a `choice`, the default first.
 * @property {readonly Control[]} [fields] Of `items`: what each item has.
 */

/** @typedef {"assemble" | "live"} CallName */
/** @typedef {{path: string, method: string, first: readonly string[], controls: readonly Control[]}} CallForm `first`: what the client's `method` takes without a name. */

const SIGNALS = /** @type {const} */ (["relevance", "importance", "recency", "frequency", "confidence"]);
const ROLES = ["user", "assistant", "bot", "system", "tool"];

/** What one author said. @type {readonly Control[]} */
const SAID = [
  { name: "author", kind: "text" },
  { name: "text", kind: "long" },
  { name: "at", kind: "instant", group: "more" },
];

/** What one of many said, as in a turn. @type {readonly Control[]} */
const POSTED = [
  { name: "author.name", kind: "text" },
  { name: "text", kind: "long" },
  { name: "author.platform", kind: "text", group: "more" },
  { name: "author.id", kind: "text", group: "more" },
  { name: "role", kind: "choice", group: "more", options: ROLES },
  { name: "event", kind: "text", group: "more" },
  { name: "mentions", kind: "lines", group: "more" },
  {
    name: "media",
    kind: "items",
    group: "more",
    fields: [{ name: "kind", kind: "text" }, { name: "url", kind: "text" }, { name: "caption", kind: "text" }],
  },
  { name: "at", kind: "instant", group: "more" },
  { name: "id", kind: "text", group: "more" },
];

/** @type {readonly Control[]} */
const OVERRIDES = [
  ...["total", "soul", "memories", "episodes", "procedures"].map((part) => /** @type {Control} */ ({ name: `overrides.budget_tokens.${part}`, kind: "whole", group: "budgets" })),
  ...SIGNALS.map((signal) => /** @type {Control} */ ({ name: `overrides.weights.${signal}`, kind: "share", group: "weights" })),
  { name: "overrides.tag_boosts", kind: "boosts", group: "selection" },
  { name: "overrides.min_relevance", kind: "share", group: "selection" },
  { name: "overrides.min_score", kind: "score", group: "selection" },
  { name: "overrides.candidate_limit", kind: "whole", group: "selection" },
  { name: "overrides.must_include", kind: "lines", group: "selection" },
  { name: "overrides.exclude", kind: "lines", group: "selection" },
];

/** @type {Control} */
const FORMAT = { name: "format", kind: "choice", group: "output", options: ["xml", "markdown", "plain"] };
/** @type {Control} */
const TIMEOUT = { name: "timeout_ms", kind: "whole", group: "output" };

/** The two calls that give a prompt. Every field of their bodies has a control (tests/browser/test_controls.py). @type {Record<CallName, CallForm>} */
const CALLS = {
  assemble: {
    path: "/context/assemble",
    method: "assemble",
    first: ["space", "query"],
    controls: [
      { name: "space", kind: "text", group: "question" },
      { name: "query", kind: "long", group: "question" },
      { name: "persona", kind: "text", group: "question" },
      { name: "scopes", kind: "lines", group: "question" },
      { name: "also_read", kind: "lines", group: "question" },
      { name: "session", kind: "text", group: "conversation" },
      { name: "history", kind: "items", group: "conversation", fields: SAID },
      ...OVERRIDES,
      { name: "as_of", kind: "instant", group: "time" },
      { name: "known_at", kind: "instant", group: "time" },
      FORMAT,
      TIMEOUT,
    ],
  },
  live: {
    path: "/context/assemble/live",
    method: "assemble_live",
    first: ["stream", "batch"],
    controls: [
      { name: "stream", kind: "text", group: "question" },
      { name: "batch", kind: "items", group: "question", fields: POSTED },
      { name: "persona", kind: "text", group: "question" },
      { name: "scopes", kind: "lines", group: "question" },
      { name: "agents", kind: "lines", group: "live" },
      { name: "lore", kind: "lines", group: "live" },
      { name: "viewers", kind: "whole", group: "live" },
      { name: "session", kind: "text", group: "conversation" },
      { name: "history", kind: "items", group: "conversation", fields: POSTED },
      ...OVERRIDES,
      { name: "as_of", kind: "instant", group: "time" },
      FORMAT,
      TIMEOUT,
    ],
  },
};

const OF_THE_PLAN = ["stream", "batch", "persona", "agents", "lore", "viewers", "scopes", "history", "session", "timeout_ms"];

/** A record of what the controls say: texts, by the control's name; lists have one item a line. @typedef {Map<string, string>} Asked */

/** Which call a record is of: a live one names a stream, if only an empty one. @param {Asked} asked @returns {CallForm} */
export function callOf(asked) {
  return CALLS[isLive(asked) ? "live" : "assemble"];
}

/** @param {Asked} asked */
export function isLive(asked) {
  return asked.has("stream");
}

/** Whether there is anything to ask for. @param {Asked} asked */
export function isComplete(asked) {
  return callOf(asked).first.every((name) => name === "query" || asked.get(name));
}

/** What is sent even when it is empty. @param {string} name */
export function isNeeded(name) {
  return ["space", "query", "stream"].includes(name);
}

/** @param {URLSearchParams} params @returns {Asked} */
export function askedBy(params) {
  const { controls } = CALLS[params.has("stream") ? "live" : "assemble"];
  return new Map(controls.flatMap(({ name }) => (params.has(name) ? [[name, params.get(name) ?? ""]] : [])));
}

/** @param {Asked} asked */
export function paramsOf(asked) {
  return new URLSearchParams([...asked].filter(([name, value]) => value !== "" || name === "stream"));
}

/** What the controls say of a request that was made before. @param {Record<string, any>} body @returns {Asked} */
export function askedIn(body) {
  /** @type {Asked} */
  const asked = new Map();
  for (const { name, kind, options } of CALLS["stream" in body ? "live" : "assemble"].controls) {
    const value = valueAt(body, name);
    if (value === null || value === undefined || value.length === 0 || value === options?.[0]) continue;
    if (name === "timeout_ms" || (name === "viewers" && value === VIEWERS)) continue;
    asked.set(name, kind === "lines" ? value.join("\n") : typeof value === "object" ? JSON.stringify(bare(value)) : String(value));
  }
  return asked;
}

/** Without what says nothing. @param {any} value @returns {any} */
function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (value === null || typeof value !== "object") return value;
  const told = Object.entries(value).filter(([, inner]) => inner !== null && inner !== "" && !(Array.isArray(inner) && inner.length === 0));
  return Object.fromEntries(told.map(([name, inner]) => [name, bare(inner)]));
}

/**
 * The body of the call. What is no number is sent as it stands, so that the service says what is wrong with it.
 * @param {Asked} asked
 * @returns {Record<string, any>}
 */
export function bodyOf(asked) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const { name, kind } of callOf(asked).controls) {
    const text = asked.get(name) ?? "";
    if (text !== "" || isNeeded(name)) putAt(body, name, valueOf(kind, text));
  }
  if (body.overrides?.weights) body.overrides.weights = sharesOf(body.overrides.weights);
  return body;
}

/** The part of a live body that its plan is made of. @param {Record<string, any>} body */
export function planBodyOf(body) {
  return Object.fromEntries(Object.entries(body).filter(([name]) => OF_THE_PLAN.includes(name)));
}

/** What stands at a dotted name. @param {any} record @param {string} name */
export function valueAt(record, name) {
  return name.split(".").reduce((inner, step) => inner?.[step], record);
}

/** @param {any} record @param {string} name @param {unknown} value */
export function putAt(record, name, value) {
  const path = name.split(".");
  const last = path.pop() ?? "";
  path.reduce((outer, step) => (outer[step] ??= {}), record)[last] = value;
}

/** @param {Kind} kind @param {string} text */
export function valueOf(kind, text) {
  if (kind === "lines") return linesOf(text);
  if (kind === "whole" || kind === "share" || kind === "score") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (kind === "boosts" || kind === "items") {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}

/** @param {string} text */
export function linesOf(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}

/** Weights as shares that sum to 1: the sliders stand in any proportion. @param {Record<string, number>} given */
function sharesOf(given) {
  const raw = SIGNALS.map((signal) => Number(given[signal] ?? WEIGHTS[signal]));
  const sum = raw.reduce((total, value) => total + value, 0);
  const shares = raw.map((value) => (sum > 0 ? Math.round((value / sum) * 1e4) / 1e4 : 0.2));
  const rest = 1 - shares.reduce((total, value) => total + value, 0);
  const largest = shares.indexOf(Math.max(...shares));
  shares[largest] = Math.round(((shares[largest] ?? 0) + rest) * 1e4) / 1e4;
  return Object.fromEntries(SIGNALS.map((signal, at) => [signal, shares[at] ?? 0]));
}

/** The call as a shell command; the key is a variable. @param {Asked} asked */
export function curlOf(asked) {
  const url = new URL(`../api/v1${callOf(asked).path}`, location.href).href.replace(/[#?].*/, "");
  const quoted = JSON.stringify(bodyOf(asked)).replaceAll("'", `'\\''`);
  return `curl -s '${url}' \\\n  -H "Authorization: Bearer $RICORDO_API_KEY" -H 'Content-Type: application/json' \\\n  -d '${quoted}'\n`;
}

/** The call with the Python client; the key is a variable. @param {Asked} asked */
export function pythonOf(asked) {
  const url = new URL("..", location.href.replace(/[#?].*/, "")).href.replace(/\/$/, "");
  const { method, first } = callOf(asked);
  const body = bodyOf(asked);
  const moments = ["as_of", "known_at"].filter((name) => name in body);
  const given = Object.entries(body).filter(([name]) => !first.includes(name)).map(([name, value]) => {
    const text = python(value, 4);
    return `    ${name}=${moments.includes(name) ? `datetime.fromisoformat(${text})` : text},\n`;
  });
  return [
    "import os\n",
    moments.length > 0 && "from datetime import datetime\n",
    "\nfrom ricordo_client import Ricordo\n\n",
    `memory = Ricordo(${python(url)}, os.environ["RICORDO_API_KEY"])\n`,
    `context = memory.${method}(\n${first.map((name) => `    ${python(body[name] ?? [], 4)},\n`).join("")}${given.join("")})\n`,
    "print(context.prompt)\n",
  ].filter(Boolean).join("");
}

const LINE_CHARS = 88;

/** A value as Python writes it, over several lines where one would be too long. @param {any} value @param {number} [indent] @returns {string} */
function python(value, indent = 0) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = indent + 4;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value) ? value.map((one) => python(one, inner)) : Object.entries(value).map(([name, one]) => `${python(name)}: ${python(one, inner)}`);
  const line = `${open}${parts.join(", ")}${close}`;
  if (indent + line.length <= LINE_CHARS && !line.includes("\n")) return line;
  const margin = " ".repeat(inner);
  return `${open}\n${parts.map((part) => `${margin}${part},\n`).join("")}${" ".repeat(indent)}${close}`;
}
