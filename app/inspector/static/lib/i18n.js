/** The page's own texts, in the language of the browser or the chosen one. */

import en from "../texts/en.js";
import it from "../texts/it.js";

/** @typedef {keyof typeof en} TextKey */

/** @type {Record<string, Record<TextKey, string>>} */
const CATALOGUES = { en, it };
const NAME = "ricordo.language";

export const LANGUAGES = Object.keys(CATALOGUES);

export function language() {
  const wanted = [localStorage.getItem(NAME), ...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())];
  return wanted.find((tag) => tag !== null && tag in CATALOGUES) ?? "en";
}

/** @param {string} chosen */
export function setLanguage(chosen) {
  localStorage.setItem(NAME, chosen);
}

/**
 * A text of the page.
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values] For the `{names}` in it.
 */
export function t(key, values = {}) {
  const text = CATALOGUES[language()]?.[key] ?? en[key];
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * A text whose key is made of a value of the API, such as `reason.budget`; the value itself if there is none.
 * @param {string} prefix
 * @param {string} value
 */
export function tValue(prefix, value) {
  const key = `${prefix}.${value}`;
  return key in en ? t(/** @type {TextKey} */ (key)) : value;
}

/** @param {number} value @param {number} [digits] */
export function number(value, digits = 0) {
  return value.toLocaleString(language(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** @param {string | null | undefined} iso A moment of the API. */
export function moment(iso) {
  if (!iso) return "";
  return new Date(iso).toLocaleString(language(), { dateStyle: "medium", timeStyle: "short" });
}
