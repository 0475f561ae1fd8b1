/** A message: who said it, when, and what, in whatever direction it is written. */

import { h } from "../../lib/dom.js";
import { moment, t, tValue } from "../../lib/i18n.js";
import { tag } from "../../lib/widgets.js";
import { authorOf } from "../../lib/words.js";

/** @param {Api.MessageReply} message @param {boolean} isSought */
export function messageItem(message, isSought) {
  const { author } = message;
  const known = author && [author.platform, author.id].filter(Boolean).join(" ");
  return h(
    "li",
    { class: "message", "data-id": message.id, "data-role": message.role, "data-sought": isSought, tabindex: isSought ? -1 : null },
    h(
      "p",
      { class: "message-head" },
      h("strong", { dir: "auto", title: known || null }, authorOf(message)),
      message.role !== "user" && tag(tValue("speaker", message.role), message.role === "assistant" ? "identity" : "plain"),
      message.event && tag(message.event, "warn"),
      h("time", { datetime: message.at }, moment(message.at)),
      message.edited_at && h("span", { class: "muted", title: moment(message.edited_at) }, t("talks.edited")),
    ),
    message.text && h("p", { class: "message-text", dir: "auto" }, message.text),
    message.media.length > 0 && h("ul", { class: "media" }, message.media.map((medium) => h("li", {}, tag(medium.kind), " ", h("span", { dir: "auto" }, medium.caption ?? ""), medium.url && h("code", {}, ` ${medium.url}`)))),
  );
}
