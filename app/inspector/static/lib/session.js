/** The key of whoever looks: for this tab alone, and gone with it. */

const NAME = "ricordo.key";

/** @returns {string | null} */
export function key() {
  return sessionStorage.getItem(NAME);
}

/** @param {string} value */
export function keep(value) {
  sessionStorage.setItem(NAME, value);
}

export function drop() {
  sessionStorage.removeItem(NAME);
}
