/**
 * Elements are built here and nowhere else. A text becomes a text node, so nothing that is remembered can become markup.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Child | readonly Child[]} Children */
/** @typedef {Record<string, unknown>} Attributes `on…` are listeners, `class`, `data-…` and all others attributes. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes] False, null and undefined leave an attribute out; true sets it empty.
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  dress(element, attributes);
  put(element, ...children);
  return element;
}

/**
 * An SVG element.
 * @param {string} name
 * @param {Attributes} [attributes]
 * @param {...Children} children
 */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  dress(element, attributes);
  put(element, ...children);
  return element;
}

/**
 * Replace what is in an element.
 * @param {Element} element
 * @param {...Children} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, ...children);
}

/**
 * @param {Element} element
 * @param {...Children} children
 */
function put(element, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name === "value" && "value" in element) {
      element.value = value;
    } else if (name === "checked" && "checked" in element) {
      element.checked = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

let lastId = 0;

/** A fresh id, to tie labels to what they label. */
export function freshId() {
  lastId += 1;
  return `i${lastId}`;
}
