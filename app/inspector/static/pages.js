/** The pages, in the order of the navigation. A page is one module; it is known by this table alone. */

import { conversations } from "./pages/conversations.js";
import { health } from "./pages/health.js";
import { jobs } from "./pages/jobs.js";
import { memory } from "./pages/memory.js";
import { playground } from "./pages/playground.js";
import { soul } from "./pages/soul.js";

/**
 * What a page is given to show itself.
 * @typedef {object} View
 * @property {HTMLElement} root Empty; the page fills it.
 * @property {URLSearchParams} params Of the address: all that the page needs to show the same again.
 * @property {import("./lib/api.js").Client} api
 * @property {AbortSignal} signal Aborted when another view takes its place; hand it to every call.
 * @property {(params: URLSearchParams, more?: {replace?: boolean}) => void} note Puts what is shown into the address; the page is not built anew.
 * @property {(text: string) => void} announce Says a text aloud to who does not see it.
 */

/**
 * @typedef {object} Page
 * @property {string} name In the address: `#/name`.
 * @property {import("./lib/i18n.js").TextKey} title
 * @property {(whose: Api.KeyReply) => boolean} [isFor] Whether the page is of use with a key; by default with any.
 * @property {(view: View) => void | Promise<void>} show Builds the page. What it throws is shown as an error.
 */

/** @type {readonly Page[]} */
export const PAGES = [playground, memory, soul, conversations, jobs, health];
