// What a name means: a panel that mouse, touch and keyboard open. The texts are those of `oversim explain`.
import { button, get, tag } from "./dom.js";

/// Names with their lines: { policy: Map, kernel: Map, metric: Map, reference: Map, term: Map }.
const known = {};
let ask = () => {};

/// `names` as the simulator lists them; `request(name)` asks it for a page, which comes to `explained`.
export function learn(names, request) {
  for (const [kind, list] of Object.entries(names)) known[kind] = new Map(list);
  ask = request;
}

/// The line of a name; empty if there is none.
export const line = (kind, name) => known[kind]?.get(name) ?? "";

/// A name as a button that explains it; plain text where there is nothing to explain.
export function word(kind, name, shown = name) {
  const summary = line(kind, name);
  if (summary === "") return shown;
  return button(shown, { class: "word", title: summary, "aria-haspopup": "dialog" }, () => open(kind, name));
}

/// A question mark that explains a name.
export const mark = (kind, name) =>
  button("?", { class: "mark", "aria-haspopup": "dialog", "aria-label": `What is ${name()}?` }, () => open(kind(), name()));

/// Shows a text with a heading.
export function say(heading, ...children) {
  get("words-title").textContent = heading;
  get("words-body").replaceChildren(...children);
  get("words-body").scrollTop = 0;
  if (!get("words").open) get("words").showModal();
}

/// Opens the page of a name.
export function open(kind, name) {
  const summary = line(kind, name);
  say(name, tag("p", {}, summary === "" ? "Looking it up." : summary));
  ask(`${kind}:${name}`);
}

/// All names of a kind with their lines.
export function list(kind, heading) {
  const rows = [...known[kind]].map(([name, summary]) => tag("li", {}, word(kind, name), ": ", ...prose(summary)));
  say(heading, tag("ul", {}, ...rows));
}

/// A text with code between backquotes.
const prose = (text) => text.split("`").map((part, at) => (at % 2 === 0 ? part : tag("code", {}, part)));
const paragraphs = (text) => text.split(/\n\s*\n/).map((one) => tag("p", {}, ...prose(one.replace(/\s*\n\s*/g, " "))));

function block(one) {
  const [[kind, value]] = Object.entries(one);
  switch (kind) {
    case "text": return paragraphs(value);
    case "yaml": case "command": return [tag("pre", { tabindex: "0" }, value)];
    case "parameters": return value.map((row) => tag("p", {}, tag("code", {}, `${row.name}: ${row.default}`), " ", ...prose(row.about)));
    case "facts": return value.map((fact) => tag("p", {}, tag("strong", {}, fact.name), " ", ...prose(`${fact.value} ${fact.about}`)));
    case "see": return [tag("p", {}, "See ", ...value.flatMap((link, at) => [at > 0 ? ", " : "", word(link.kind, link.name)]))];
    default: return [];
  }
}

/// The answer of the simulator to a question.
export function explained({ answer }) {
  if (!get("words").open) return;
  if (!answer.ok) {
    get("words-body").replaceChildren(tag("p", {}, answer.why));
    return;
  }
  const page = answer.pages[0];
  const sections = page.sections.flatMap((section) => [
    ...(section.title === "" ? [] : [tag("h3", {}, section.title)]), ...section.blocks.flatMap(block)]);
  get("words-body").replaceChildren(tag("p", {}, tag("strong", {}, ...prose(page.summary))), ...sections);
}

/// The panel closes with its button, Esc, or a click beside it.
export function listen() {
  const panel = get("words");
  get("words-close").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (event) => {
    if (event.target === panel) panel.close();
  });
}
