/** What was put right in a space, what is still asked, and a form to put something right in one's own words. */

import { fill, h } from "../../lib/dom.js";
import { isAbort } from "../../lib/api.js";
import { moment, t } from "../../lib/i18n.js";
import { empty, errorPanel, loading, pager, panel, tag, toast } from "../../lib/widgets.js";
import { answered, correcting, question } from "./correcting.js";
import { hrefOfEntry } from "../../lib/words.js";

/** @typedef {import("../memory.js").Place} Place */

const TONES = { applied: "good", needs_clarification: "warn", unresolved: "warn" };
const PAGE = 20;

/** @param {Place} place */
export async function corrections(place) {
  const asked = h("div", {});
  const list = h("div", {});
  const form = h("div", {});
  const again = () => Promise.all([questions(place, asked, again), listed(place, list)]);
  const fresh = () => fill(form, place.mayWrite && panel(t("correct.title"), correcting(place, null, { stop: fresh, done: () => void again() }), { note: t("correct.note") }));
  fresh();
  fill(place.body, h("div", { class: "results" }, asked, form, list));
  await again();
}

/**
 * The questions that nobody answered, each with its answers.
 * @param {Place} place @param {Element} root @param {() => unknown} onanswer
 */
export async function questions(place, root, onanswer) {
  const { view, space } = place;
  try {
    /** @type {Api.Page_CorrectionReply_} */
    const page = await view.api.get("/corrections", { query: { space, open: true, limit: PAGE }, signal: view.signal });
    if (page.items.length === 0) return fill(root);
    const items = page.items.map((one) => {
      const trouble = h("div", {});
      const choose = async (/** @type {string} */ choice) => {
        try {
          const done = await answered(view, one.id, choice);
          toast(done.told);
          view.announce(done.told);
          await questions(place, root, onanswer);
          onanswer();
        } catch (error) {
          if (!isAbort(error)) fill(trouble, errorPanel(error));
        }
      };
      return h("li", {}, place.mayWrite ? question(one, (choice) => void choose(choice)) : h("div", { class: "notice", "data-tone": "warn" }, h("p", {}, one.told)), trouble);
    });
    fill(root, h("ul", { class: "memory-questions", "aria-label": t("correct.open") }, items));
  } catch (error) {
    if (!isAbort(error)) fill(root, errorPanel(error, () => void questions(place, root, onanswer)));
  }
}

/** @param {Place} place @param {Element} root */
async function listed({ view, space }, root) {
  const items = h("ol", { class: "entries" });
  const more = h("div", {}, loading());
  const load = async (/** @type {string | null} */ cursor) => {
    try {
      /** @type {Api.Page_CorrectionReply_} */
      const page = await view.api.get("/corrections", { query: { space, limit: PAGE, cursor }, signal: view.signal });
      items.append(...page.items.map((one) => corrected(space, one)));
      fill(more, pager(page.next_cursor, (next) => void load(next)), items.childElementCount === 0 && empty(t("correct.none")));
    } catch (error) {
      if (!isAbort(error)) fill(more, errorPanel(error, () => void load(cursor)));
    }
  };
  fill(root, panel(t("memory.part.corrections"), [items, more]));
  await load(null);
}

/** @param {string} space @param {Api.CorrectionReply} correction */
function corrected(space, correction) {
  const { before, after } = correction;
  return h(
    "li",
    { class: "entry" },
    h("p", { class: "entry-about" }, tag(t(`outcome.${correction.outcome}`), TONES[correction.outcome]), h("time", { datetime: correction.created_at }, moment(correction.created_at)), correction.turn && h("span", {}, t("correct.said_in_chat"))),
    h("p", { class: "entry-text" }, correction.told),
    (before.length > 0 || after.length > 0) &&
      h("p", { class: "memory-version" }, before.map((one) => h("del", {}, one.text)), before.length > 0 && after.length > 0 && " → ", after.map((one) => h("a", { href: hrefOfEntry(space, one.id) }, one.text))),
  );
}
