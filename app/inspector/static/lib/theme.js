/** Light, dark, or as the system has it. */

const NAME = "ricordo.theme";

/** @typedef {"system" | "light" | "dark"} Theme */

/** @type {readonly Theme[]} */
export const THEMES = ["system", "light", "dark"];

/** @returns {Theme} */
export function theme() {
  const stored = localStorage.getItem(NAME);
  return THEMES.find((known) => known === stored) ?? "system";
}

/** @param {Theme} chosen */
export function setTheme(chosen) {
  localStorage.setItem(NAME, chosen);
  document.documentElement.dataset.theme = chosen;
}
