// The answer in words, above all numbers.
import { get, tag } from "./dom.js";
import { line, word } from "./words.js";

/// A sentence in which names of policies explain themselves.
function sentence(text, policies) {
  const names = policies.filter((name) => line("policy", name) !== "").sort((a, b) => b.length - a.length);
  if (names.length === 0) return [text];
  const parts = text.split(new RegExp(`\\b(${names.map((name) => name.replace(/\W/g, "\\$&")).join("|")})\\b`));
  const seen = new Set();
  return parts.map((part, at) => {
    // Only the first occurrence is a button: fewer stops for the keyboard.
    if (at % 2 === 0 || seen.has(part)) return part;
    seen.add(part);
    return word("policy", part);
  });
}

/// Shows `[label, text]` pairs; doubts are folded.
export function saying(host, said, policies) {
  const rows = said.filter(([label]) => label !== "Doubt")
    .flatMap(([label, text]) => [tag("dt", {}, label), tag("dd", {}, ...sentence(text, policies))]);
  const doubts = said.filter(([label]) => label === "Doubt").map(([, text]) => tag("li", {}, text));
  const folded = doubts.length === 0 ? [] : [tag("details", { class: "doubts" },
    tag("summary", {}, doubts.length === 1 ? "One doubt" : `${doubts.length} doubts`), tag("ul", {}, ...doubts))];
  host.replaceChildren(tag("dl", { class: "said" }, ...rows), ...folded);
  const [label, text] = said[0] ?? ["", ""];
  get("brief").textContent = `${label} ${text}`;
}
