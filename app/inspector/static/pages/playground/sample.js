/** A batch that shows what a live call does: somebody asks outright, somebody asks the agent, somebody only takes part. */

import { t } from "../../lib/i18n.js";

const PLATFORM = "chat";
const NAMES = ["Ana", "Bob", "Cleo"];

/**
 * @param {readonly string[]} spaces Of people who have one, the first speak.
 * @param {string} persona Who is addressed.
 */
export function sampleBatch(spaces, persona) {
  const agent = persona.slice(persona.indexOf(":") + 1) || "Ricordo";
  const known = spaces.filter((space) => /^viewer:[^:]+:[^@]/.test(space)).slice(0, NAMES.length);
  const author = (/** @type {number} */ at) => {
    const [, platform = "", id] = /^viewer:([^:]+):(.+)$/.exec(known[at] ?? "") ?? [];
    return id ? { platform, id, name: (id[0] ?? "").toUpperCase() + id.slice(1) } : { platform: PLATFORM, id: String(at + 1), name: NAMES[at] };
  };
  return [
    { author: author(0), text: t("sample.outright", { agent }) },
    { author: author(1), text: t("sample.laughs") },
    { author: author(2), text: t("sample.question") },
    { author: author(1), event: "subscription" },
  ];
}
