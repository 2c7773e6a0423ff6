// The editor: YAML with completion from the schema and errors in place.
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, codeFolding, foldEffect, syntaxHighlighting, unfoldAll } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { keys, words } from "./schema.js";

const style = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
  { tag: tags.comment, color: "var(--muted)" },
  { tag: [tags.string, tags.content], color: "var(--string)" },
]);

/// What is open on a line before the cursor: the flow mappings and lists, the key, and whether its value begins.
function open(line) {
  const stack = [];
  let [key, value] = [null, false];
  for (const [token] of line.matchAll(/"[^"]*"?|'[^']*'?|[{}[\],]|[^\s{}[\],:]+:(?=\s|$)|:\s|[^\s{}[\],:]+/g)) {
    if (token === "{") {
      if (key !== null) stack.push(key);
      [key, value] = [null, false];
    } else if (token === "[") {
      if (key !== null) stack.push(key);
      stack.push("[]");
      [key, value] = [null, true];
    } else if (token === "}" || token === "]") {
      stack.pop();
      if (token === "]") stack.pop();
      [key, value] = [null, false];
    } else if (token === ",") {
      [key, value] = [null, stack.at(-1) === "[]"];
    } else if (token.endsWith(":")) {
      [key, value] = [token.slice(0, -1).replace(/^["']|["']$/g, ""), true];
    }
  }
  return { stack, key, value };
}

/// The path of keys at a place, and whether a value is expected there.
export function place(text, offset) {
  const before = text.slice(0, offset).split("\n");
  const line = before.pop();
  const body = line.trimStart();
  let indent = line.length - body.length;
  const path = [];
  const dash = /^(-\s+)/.exec(body);
  if (dash) path.push("[]");
  for (const above of before.reverse()) {
    const match = /^(\s*)([^\s#:][^:#]*):(\s|$)/.exec(above);
    if (match && (match[1].length < indent || (dash && path.length === 1 && match[1].length === indent))) {
      path.unshift(match[2].replace(/^["']|["']$/g, "").trim());
      indent = match[1].length;
      if (indent === 0) break;
    }
  }
  const { stack, key, value } = open(dash ? body.slice(dash[1].length) : body);
  return { path: [...path, ...stack, ...(key === null ? [] : [key])], value: value || (dash !== null && key === null) };
}

function completion(schema) {
  return (context) => {
    const word = context.matchBefore(/[\w.-]*/);
    const line = context.state.doc.lineAt(context.pos);
    if (line.text.slice(0, context.pos - line.from).includes("#")) return null;
    if (!context.explicit && word.from === word.to) return null;
    const { path, value } = place(context.state.sliceDoc(0, word.from), word.from);
    const options = value
      ? words(schema(), path).map((label) => ({ label, type: "constant" }))
      : keys(schema(), path).map(([label, info]) => ({ label, info, type: "property", apply: `${label}: ` }));
    return options.length > 0 ? { from: word.from, options, validFor: /^[\w.-]*$/ } : null;
  };
}

/// The comment that says what to see in the results, from its heading to its end; null without one.
export function hints(text) {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => /^#\s*Watch for:/i.test(line));
  if (first < 0) return null;
  let last = first;
  while (lines[last + 1]?.startsWith("#")) last += 1;
  const start = (line) => lines.slice(0, line).join("\n").length + (line > 0 ? 1 : 0);
  return last === first ? null : { from: start(first) + lines[first].length, to: start(last) + lines[last].length };
}

/// An editor in an element; `schema()` is that of scenarios, `changed` receives the text after each edit by the user.
export function editor(parent, schema, changed) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        lineNumbers(), lintGutter(), EditorView.lineWrapping, codeFolding({ placeholderText: "show after your prediction" }), history(), drawSelection(), highlightActiveLine(), bracketMatching(), yaml(),
        syntaxHighlighting(style), autocompletion({ override: [completion(schema)] }),
        keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "Scenario as YAML" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((one) => one.isUserEvent("program"))) changed(view.state.doc.toString());
        }),
      ],
    }),
  });
  const offset = (line, column) => {
    const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
    return Math.min(at.from + Math.max(column - 1, 0), at.to);
  };
  return {
    text: () => view.state.doc.toString(),
    replace(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, userEvent: "program" });
      const range = hints(text);
      if (range) view.dispatch({ effects: foldEffect.of(range), userEvent: "program" });
    },
    unfold() {
      unfoldAll(view);
    },
    errors(list) {
      const diagnostics = list.map((error) => {
        const from = offset(error.line, error.column);
        const to = Math.max(offset(error.end_line, error.end_column), Math.min(from + 1, view.state.doc.length));
        return { from, to: Math.max(to, from), severity: "error", message: [error.message, error.help].filter(Boolean).join("\n") };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    go(line, column) {
      view.dispatch({ selection: { anchor: offset(line, column) }, scrollIntoView: true });
      view.focus();
    },
  };
}
