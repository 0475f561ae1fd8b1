/** The public API, with the key of the session. */

import { drop, key } from "./session.js";

/** An answer that is a problem document, or no answer at all (status 0). */
export class Problem extends Error {
  /** @param {number} status @param {string} title @param {string} detail @param {Api.FieldError[]} errors */
  constructor(status, title, detail, errors = []) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
  }
}

/**
 * @typedef {object} Call
 * @property {Record<string, string | number | boolean | null | undefined | readonly string[]>} [query]
 * @property {unknown} [body]
 * @property {AbortSignal} [signal]
 * @property {string} [ifMatch] The version that is to be changed, as `ETag`.
 * @property {string} [idempotencyKey] Of a write; one is made if there is none, and kept when it is sent again.
 */

/** @typedef {{json: any, etag: string | null}} Reply */

/** Asks for a key until there is one; null if whoever looks gives up. @typedef {(reason: string) => Promise<string | null>} AskForKey */

export class Client {
  /** @type {Map<string, Promise<Api.KeyReply | null>>} */
  #known = new Map();

  /** @param {AskForKey} askForKey */
  constructor(askForKey) {
    this.askForKey = askForKey;
  }

  /** What the key may do; null without one, or when nobody says so. Unlike a call it asks for no other key. */
  async whose() {
    const used = key();
    if (used === null) return null;
    const known = this.#known.get(used) ?? whoseIs(used).catch(() => (this.#known.delete(used), null));
    this.#known.set(used, known);
    return known;
  }

  /** @param {string} path @param {Call} [call] */
  async get(path, call) {
    return (await this.call("GET", path, call)).json;
  }

  /** @param {string} path @param {unknown} body @param {Call} [call] */
  async post(path, body, call) {
    return (await this.call("POST", path, { ...call, body })).json;
  }

  /** @param {string} path @param {unknown} body @param {Call} [call] */
  async patch(path, body, call) {
    return (await this.call("PATCH", path, { ...call, body })).json;
  }

  /** @param {string} path @param {Call} [call] */
  async delete(path, call) {
    return (await this.call("DELETE", path, call)).json;
  }

  /**
   * One call. A key that is refused is asked for anew, and the call sent again: the page that made it only waits.
   * @param {string} method
   * @param {string} path Below /api/v1, such as `/memories`.
   * @param {Call} [call]
   * @returns {Promise<Reply>}
   * @throws {Problem}
   */
  async call(method, path, call = {}) {
    const init = request(method, call);
    const url = `../api/v1${path}${queryOf(call.query)}`;
    let used = key() ?? (await this.askForKey(""));
    while (used !== null) {
      init.headers.set("Authorization", `Bearer ${used}`);
      const response = await sent(url, init);
      if (response.status !== 401) return answer(response);
      const problem = await problemOf(response);
      if (key() === used) drop();
      used = key() ?? (await this.askForKey(problem.detail));
    }
    throw new Problem(401, "", "");
  }
}

/** @param {unknown} error Whether a call was only given up. */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {string} method @param {Call} call */
function request(method, call) {
  const headers = new Headers({ Accept: "application/json" });
  if (call.body !== undefined) headers.set("Content-Type", "application/json");
  if (call.ifMatch) headers.set("If-Match", call.ifMatch);
  if (method === "POST" && call.body !== undefined) {
    headers.set("Idempotency-Key", call.idempotencyKey ?? unique());
  }
  const body = call.body === undefined ? null : JSON.stringify(call.body);
  /** @type {RequestInit & {headers: Headers}} */
  const init = { method, headers, body, cache: "no-store", credentials: "omit" };
  if (call.signal) init.signal = call.signal;
  return init;
}

/** @param {string} used @returns {Promise<Api.KeyReply | null>} */
async function whoseIs(used) {
  const init = request("GET", {});
  init.headers.set("Authorization", `Bearer ${used}`);
  const response = await sent("../api/v1/tokens/current", init);
  return response.ok ? response.json() : null;
}

/** @param {string} url @param {RequestInit} init */
async function sent(url, init) {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(0, "", "");
  }
}

/** @param {Response} response @returns {Promise<Reply>} */
async function answer(response) {
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return { json: text ? JSON.parse(text) : null, etag: response.headers.get("ETag") };
}

/** @param {Response} response */
async function problemOf(response) {
  /** @type {Partial<Api.Problem>} */
  const document = await response.json().catch(() => ({}));
  return new Problem(response.status, document.title ?? response.statusText, document.detail ?? "", document.errors);
}

/** @param {Call["query"]} query */
function queryOf(query = {}) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") params.append(name, String(one));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

function unique() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
