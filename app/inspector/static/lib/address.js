/**
 * The view is in the address, behind the #: `#/playground?space=user:ada`. That part is sent to no server, so no
 * question that somebody looks into ends up in a log.
 */

/** @typedef {{page: string, params: URLSearchParams}} Place */

/** Where the address leads; an address without a page leads to `""`. @returns {Place} */
export function here() {
  const [path = "", query = ""] = split(location.hash.slice(1));
  return { page: path.replace(/^\//, ""), params: new URLSearchParams(query) };
}

/**
 * The address of a page.
 * @param {string} page
 * @param {URLSearchParams | Record<string, string>} [params]
 */
export function hrefOf(page, params = {}) {
  const query = new URLSearchParams(params).toString();
  return `#/${page}${query ? `?${query}` : ""}`;
}

/**
 * Go to a page, as one step of the browser's history.
 * @param {string} page
 * @param {URLSearchParams | Record<string, string>} [params]
 */
export function go(page, params) {
  location.hash = hrefOf(page, params);
}

/**
 * Say in the address what is shown already; the page is not built anew.
 * @param {string} page
 * @param {URLSearchParams} params
 * @param {{replace?: boolean}} [more] `replace`: as the same step of the browser's history as the last.
 */
export function note(page, params, { replace = false } = {}) {
  const href = hrefOf(page, params);
  if (href === location.hash) return;
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
}

/** Take a key that was handed over in the address (`#key=…`, `#token=…`) out of it, and out of the history's entry. */
export function takeKey() {
  const hash = location.hash.slice(1);
  const [path, query] = hash.startsWith("/") ? split(hash) : ["", hash];
  const params = new URLSearchParams(query);
  const key = params.get("key") ?? params.get("token");
  if (key === null) return null;
  params.delete("key");
  params.delete("token");
  const rest = params.toString();
  history.replaceState(null, "", `${location.pathname}${location.search}#${path || "/"}${rest ? `?${rest}` : ""}`);
  return key;
}

/** @param {string} hash @returns {[string, string]} */
function split(hash) {
  const at = hash.indexOf("?");
  return at < 0 ? [hash, ""] : [hash.slice(0, at), hash.slice(at + 1)];
}
