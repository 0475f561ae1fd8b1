/** The shell: the key, the navigation, and the page that the address names. */

import { Client, isAbort } from "./lib/api.js";
import { here, hrefOf, note, takeKey } from "./lib/address.js";
import { fill, h } from "./lib/dom.js";
import { LANGUAGES, language, moment, setLanguage, t, tValue } from "./lib/i18n.js";
import { drop, keep, key } from "./lib/session.js";
import { THEMES, setTheme, theme } from "./lib/theme.js";
import { button, dialog, empty, errorPanel, field } from "./lib/widgets.js";
import { PAGES } from "./pages.js";

const main = h("main", { id: "main", tabindex: -1 });
const header = h("header", { class: "top" });
const spoken = h("div", { class: "spoken", "aria-live": "polite" });
const toasts = h("div", { id: "toasts", role: "status" });

let shown = new AbortController();
/** @type {Promise<string | null> | null} */
let asking = null;

const api = new Client(askForKey);

/** @param {string} reason Why the last key was refused. */
function askForKey(reason) {
  asking ??= signIn(reason).finally(() => {
    asking = null;
    drawHeader();
  });
  return asking;
}

/** @param {string} reason @returns {Promise<string | null>} */
function signIn(reason) {
  return new Promise((resolve) => {
    const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
    const form = h(
      "form",
      {
        class: "sign-in",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (!input.value.trim()) return;
          keep(input.value.trim());
          element.close();
        },
      },
      reason && h("div", { class: "notice", "data-tone": "bad", role: "alert" }, h("strong", {}, t("sign_in.refused")), h("p", {}, reason)),
      h("p", {}, t("sign_in.why")),
      field(t("sign_in.key"), input, { hint: t("sign_in.hint") }),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "button", "data-kind": "primary" }, t("sign_in.do"))),
    );
    const element = dialog(t("sign_in.title"), form, { onclose: () => resolve(key()) });
    input.focus();
  });
}

/** Pages that are of no use with this key are not offered, and it is said what the key may do. */
async function fitHeader() {
  const whose = await api.whose();
  for (const page of PAGES) {
    const link = header.querySelector(`nav a[href="${hrefOf(page.name)}"]`);
    if (link instanceof HTMLElement) link.hidden = !isFor(page, whose);
  }
  const isLimited = whose !== null && (whose.spaces !== null || whose.role !== "administrator");
  const place = header.querySelector(".whose");
  if (!place || !isLimited) return;
  const until = whose.expires_at && t("whose.until", { at: moment(whose.expires_at) });
  fill(place, [tValue("role", whose.role), ...(whose.spaces ?? []), until].filter(Boolean).join(" · "));
}

/** @param {import("./pages.js").Page} page @param {Api.KeyReply | null} whose */
function isFor(page, whose) {
  return whose === null || page.isFor === undefined || page.isFor(whose);
}

function drawHeader() {
  const { page } = here();
  const current = PAGES.find((one) => one.name === page) ?? PAGES[0];
  fill(
    header,
    h("a", { class: "brand", href: hrefOf("") }, h("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), h("span", {}, "Ricordo")),
    h("nav", { "aria-label": t("shell.pages") }, PAGES.map((one) => h("a", { href: hrefOf(one.name), "aria-current": one === current && "page" }, t(one.title)))),
    h(
      "div",
      { class: "settings" },
      h("span", { class: "whose" }),
      choice(t("shell.language"), LANGUAGES.map((name) => [name, name.toUpperCase()]), language(), (chosen) => {
        setLanguage(chosen);
        draw();
      }),
      choice(t("shell.theme"), THEMES.map((name) => [name, tValue("theme", name)]), theme(), (chosen) => setTheme(THEMES.find((one) => one === chosen) ?? "system")),
      key() === null
        ? button(t("sign_in.do"), () => void askForKey("").then(draw), { kind: "primary" })
        : button(t("shell.sign_out"), () => (drop(), location.reload()), { kind: "quiet" }),
    ),
  );
  void fitHeader();
}

/** @param {string} label @param {readonly (readonly [string, string])[]} options @param {string} chosen @param {(value: string) => void} onchange */
function choice(label, options, chosen, onchange) {
  const select = h("select", { "aria-label": label, onchange: () => onchange(select.value) }, options.map(([value, text]) => h("option", { value }, text)));
  select.value = chosen;
  return select;
}

async function draw() {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const { page: name, params } = here();
  const page = PAGES.find((one) => one.name === name) ?? PAGES[0];
  if (!page) return;
  document.documentElement.lang = language();
  document.title = `${t(page.title)} · Ricordo`;
  drawHeader();
  const root = h("div", { class: "page", id: `page-${page.name}` });
  fill(main, root);
  void api.whose().then((whose) => {
    if (signal.aborted || isFor(page, whose)) return;
    shown.abort();
    fill(root, empty(t("whose.not_for", { spaces: (whose?.spaces ?? []).join(", ") })));
  });
  try {
    await page.show({
      root,
      params,
      api,
      signal,
      note: (changed, more) => !signal.aborted && note(page.name, changed, more),
      announce: (text) => (spoken.textContent = text),
    });
  } catch (error) {
    if (!isAbort(error)) fill(root, errorPanel(error, draw));
  }
}

function start() {
  const handed = takeKey();
  if (handed !== null) keep(handed);
  setTheme(theme());
  fill(document.body, h("a", { class: "skip", href: "#main", onclick: skip }, t("shell.skip")), header, main, spoken, toasts);
  // Comes with links, typed addresses and steps in the history; not with `note`.
  window.addEventListener("popstate", () => void arrived());
  void draw();
}

function arrived() {
  const handed = takeKey();
  if (handed !== null) keep(handed);
  return draw();
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  main.focus();
}

start();
