/** The soul of a space: its blocks in their order, their versions, and beside them the identity that comes of them. */

import { fill, h } from "../lib/dom.js";
import { isAbort, Problem } from "../lib/api.js";
import { go } from "../lib/address.js";
import { moment, number, t, tValue } from "../lib/i18n.js";
import { chosenSpace, isAtLeast, readOnlyNotice, spaceField, spacesAndKey } from "../lib/space_choice.js";
import { button, check, confirm, empty, errorPanel, loading, panel, tag, toast } from "../lib/widgets.js";
import { blockForm } from "./soul/form.js";
import { identity } from "./soul/identity.js";
import { versions } from "./soul/versions.js";

/** @typedef {import("../pages.js").View} View */
/** @typedef {Api.SoulReply} Block */

/** @type {import("../pages.js").Page} */
export const soul = { name: "soul", title: "page.soul", show };

/** @param {View} view */
async function show(view) {
  fill(view.root, loading());
  const { names, whose } = await spacesAndKey(view);
  const space = chosenSpace(view, names, ["agent", "character"]);
  const heading = h("h1", { class: "spoken" }, t("page.soul"));
  const choice = h("form", { class: "filters", "aria-label": t("soul.whose"), onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, spaceField(names, space, (name) => go("soul", { space: name })));
  if (!space) return fill(view.root, heading, choice, empty(t("playground.no_spaces")));
  const blocks = new Blocks(view, space, isAtLeast(whose, "editor"));
  fill(
    view.root,
    heading,
    choice,
    !blocks.mayEdit && readOnlyNotice("soul.read_only", whose),
    h("div", { class: "soul" }, blocks.element, h("div", { class: "beside" }, blocks.identity.element)),
  );
  view.note(blocks.address(), { replace: true });
  await blocks.load();
}

/** The list of blocks. A block that is being edited keeps its element while others change. */
class Blocks {
  /** @param {View} view @param {string} space @param {boolean} mayEdit */
  constructor(view, space, mayEdit) {
    this.view = view;
    this.space = space;
    this.mayEdit = mayEdit;
    this.identity = identity(view, () => space);
    this.list = h("ol", { class: "blocks" });
    this.notice = h("div", { role: "status" });
    this.adding = h("div", { class: "adding" });
    /** @type {Block[]} */
    this.blocks = [];
    /** The forms that are open, by block. @type {Map<string, HTMLElement>} */
    this.forms = new Map();
    this.opened = view.params.get("versions");
    const [from, to] = [Number(view.params.get("from")), Number(view.params.get("to"))];
    /** @type {import("./soul/versions.js").Pair | null} */
    this.compared = from > 0 && to > 0 ? { from, to } : null;
    this.addButton = button(t("soul.add"), () => this.add(), { kind: "primary" });
    this.element = panel(t("soul.blocks"), [this.notice, this.list, this.adding], { note: t("soul.blocks_note"), actions: mayEdit && this.addButton });
    /** @type {string | null} */
    this.dragged = null;
    this.isBusy = false;
  }

  async load() {
    try {
      /** @type {Api.Page_SoulReply_} */
      const page = await this.view.api.get("/soul", { query: { space: this.space }, signal: this.view.signal });
      this.show(page.items);
    } catch (error) {
      if (!isAbort(error)) fill(this.list, h("li", {}, errorPanel(error, () => void this.load())));
    }
  }

  /** @param {Block[]} blocks */
  show(blocks) {
    this.blocks = blocks;
    this.draw();
    void this.identity.update();
  }

  draw() {
    const focused = document.activeElement?.getAttribute("data-focus");
    fill(this.list, this.blocks.map((block, place) => this.forms.get(block.id) ?? this.card(block, place)));
    if (this.blocks.length === 0) fill(this.list, h("li", {}, empty(t(this.mayEdit ? "soul.none_yet" : "soul.none"))));
    if (focused) this.focus(focused);
  }

  address() {
    const params = new URLSearchParams({ space: this.space });
    if (this.opened) params.set("versions", this.opened);
    if (this.opened && this.compared) {
      params.set("from", String(this.compared.from));
      params.set("to", String(this.compared.to));
    }
    return params;
  }

  /** @param {string} name */
  focus(name) {
    const found = this.element.querySelector(`[data-focus="${CSS.escape(name)}"]`);
    if (found instanceof HTMLElement) found.focus();
  }

  /** @param {Block} block @param {number} place From 0. */
  card(block, place) {
    const isOpen = this.opened === block.id;
    const step = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {"soul.up" | "soul.down"} */ label) => {
      const one = button(sign, () => void this.move(block, place + by), { kind: "quiet", label: t(label, { name: block.name }), title: t(label, { name: block.name }), disabled: !this.blocks[place + by] });
      one.dataset.focus = `${block.id} ${by}`;
      return one;
    };
    const toggle = check(t("soul.active"), block.active, (checked) => void this.change(block, { active: checked }, t(checked ? "soul.activated" : "soul.deactivated", { name: block.name })));
    const box = toggle.querySelector("input");
    box?.setAttribute("data-focus", `${block.id} active`);
    box?.setAttribute("aria-label", t("soul.active_label", { name: block.name }));
    const act = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ onclick, /** @type {"plain" | "danger"} */ kind = "plain") => {
      const one = button(text, onclick, { kind, label });
      one.dataset.focus = `${block.id} ${text}`;
      return one;
    };
    const history = act(t("soul.versions"), t("soul.versions_of", { name: block.name }), () => this.open(isOpen ? null : block.id));
    history.setAttribute("aria-expanded", String(isOpen));
    const card = h(
      "li",
      { class: "block", "data-id": block.id, "data-inactive": !block.active },
      h(
        "div",
        { class: "block-head" },
        this.mayEdit && this.handle(block),
        h("span", { class: "block-place" }, number(place + 1)),
        h("h3", { dir: "auto" }, block.name),
        !block.active && tag(t("soul.inactive")),
        this.mayEdit && h("div", { class: "block-order" }, toggle, step(-1, "↑", "soul.up"), step(1, "↓", "soul.down")),
      ),
      h("p", { class: "block-text", dir: "auto" }, block.text),
      h(
        "div",
        { class: "block-foot" },
        h("span", { class: "muted" }, t("soul.version_line", { version: number(block.version), what: tValue("soul_reason", block.reason), when: moment(block.recorded_at) })),
        h("div", { class: "actions" },
          this.mayEdit && act(t("action.edit"), t("soul.edit_label", { name: block.name }), () => this.edit(block)),
          history,
          this.mayEdit && act(t("soul.delete"), t("soul.delete_label", { name: block.name }), () => void this.remove(block), "danger")),
      ),
      isOpen && versions(this.view, block, this.compared, {
        oncompare: (pair) => ((this.compared = pair), this.view.note(this.address())),
        onrestore: this.mayEdit ? (version) => void this.restore(block, version) : null,
      }),
    );
    if (this.mayEdit) this.droppable(card, block);
    return card;
  }

  /** Dragging is an addition: the buttons do the same. @param {Block} block */
  handle(block) {
    return h("span", {
      class: "handle", draggable: "true", "aria-hidden": "true", title: t("soul.drag"),
      ondragstart: (/** @type {DragEvent} */ event) => {
        this.dragged = block.id;
        event.dataTransfer?.setData("text/plain", block.id);
      },
      ondragend: () => (this.dragged = null),
    }, "⠿");
  }

  /** @param {HTMLElement} card @param {Block} block */
  droppable(card, block) {
    card.addEventListener("dragover", (event) => {
      if (!this.dragged || this.dragged === block.id) return;
      event.preventDefault();
      card.toggleAttribute("data-over", true);
    });
    card.addEventListener("dragleave", () => card.removeAttribute("data-over"));
    card.addEventListener("drop", (event) => {
      event.preventDefault();
      card.removeAttribute("data-over");
      const dragged = this.blocks.find((one) => one.id === this.dragged);
      if (dragged) void this.move(dragged, this.blocks.indexOf(block));
    });
  }

  /** @param {string | null} id */
  open(id) {
    this.opened = id;
    this.compared = null;
    this.view.note(this.address());
    this.draw();
  }

  /** @param {Block} block */
  edit(block) {
    const done = () => this.forms.delete(block.id);
    const form = blockForm(this.view, this.space, block, {
      onsaved: (saved) => {
        done();
        toast(t("soul.saved", { name: saved.name, version: saved.version }));
        void this.load().then(() => this.focus(`${block.id} ${t("action.edit")}`));
      },
      oncancel: () => {
        done();
        this.draw();
        this.focus(`${block.id} ${t("action.edit")}`);
      },
    });
    this.forms.set(block.id, h("li", { class: "block", "data-id": block.id }, form.element));
    this.draw();
    form.focus();
  }

  add() {
    const close = () => {
      fill(this.adding);
      this.addButton.hidden = false;
      this.addButton.focus();
    };
    const form = blockForm(this.view, this.space, null, {
      onsaved: (saved) => {
        close();
        toast(t("soul.saved", { name: saved.name, version: saved.version }));
        void this.load();
      },
      oncancel: close,
    });
    this.addButton.hidden = true;
    fill(this.adding, h("div", { class: "block" }, form.element));
    form.focus();
  }

  /** @param {Block} block @param {number} place */
  async move(block, place) {
    const ids = this.blocks.map((one) => one.id).filter((id) => id !== block.id);
    ids.splice(place, 0, block.id);
    await this.done(async () => {
      /** @type {Api.Page_SoulReply_} */
      const page = await this.view.api.post("/soul/order", { space: this.space, ids }, { signal: this.view.signal });
      this.show(page.items);
      this.view.announce(t("soul.moved", { name: block.name, place: place + 1, count: ids.length }));
    });
    const at = this.blocks.findIndex((one) => one.id === block.id);
    const active = document.activeElement;
    if (active === document.body || active === null) this.focus(`${block.id} ${at === 0 ? 1 : -1}`);
  }

  /** @param {Block} block @param {Api.SoulPatch} patch @param {string} said */
  async change(block, patch, said) {
    await this.done(async () => {
      await this.view.api.patch(`/soul/${block.id}`, patch, { ifMatch: `"${block.version}"`, signal: this.view.signal });
      toast(said);
      await this.load();
    });
  }

  /** @param {Block} block @param {number} version */
  async restore(block, version) {
    await this.done(async () => {
      await this.view.api.post(`/soul/${block.id}/restore`, { version }, { ifMatch: `"${block.version}"`, signal: this.view.signal });
      this.compared = null;
      this.view.note(this.address());
      toast(t("soul.restored", { name: block.name, version }));
      await this.load();
    });
  }

  /** @param {Block} block */
  async remove(block) {
    const text = h("blockquote", { class: "block-text", dir: "auto" }, block.text);
    const agreed = await confirm(t("soul.delete_title", { name: block.name }), [h("p", {}, t("soul.delete_why", { count: block.version })), text], t("soul.delete_yes"));
    if (!agreed) return;
    await this.done(async () => {
      /** @type {Api.ErasedReply} */
      const erased = await this.view.api.delete(`/soul/${block.id}`, { ifMatch: `"${block.version}"`, signal: this.view.signal });
      if (this.opened === block.id) this.open(null);
      toast(t("soul.deleted", { name: block.name, count: Object.values(erased.removed)[0] ?? 0 }));
      await this.load();
      this.addButton.focus();
    });
  }

  /** Do one thing at a time; what is refused is said above the list, and the list shown as it is now. @param {() => Promise<void>} work */
  async done(work) {
    if (this.isBusy) return this.draw();
    this.isBusy = true;
    fill(this.notice);
    try {
      await work();
    } catch (error) {
      if (isAbort(error)) return;
      await this.load();
      const isLate = error instanceof Problem && (error.status === 412 || error.errors.some(({ field }) => field === "ids"));
      fill(this.notice, isLate ? h("div", { class: "notice", "data-tone": "warn", role: "alert" }, h("strong", {}, t("soul.late")), h("p", {}, t("soul.late_why"))) : errorPanel(error));
      this.notice.scrollIntoView({ block: "nearest" });
    } finally {
      this.isBusy = false;
    }
  }
}
