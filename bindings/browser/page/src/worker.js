// Runs scenarios. First message: the compiled module. Then jobs { id, text, request }: the answers are posted as they come.
import { describe, explain, initSync, names, picture, run, scenarios, schema, steps, version } from "../../pkg/web/oversim_browser.js";

/// Progress is posted at most once in this many milliseconds.
const EVERY = 50;

let job = 0;
let last = 0;
globalThis.oversimProgress = (done, all) => {
  const now = performance.now();
  if (now - last > EVERY) {
    last = now;
    postMessage({ kind: "progress", id: job, done, all });
  }
};

/// Runs what was kept for a comparison: only the complete result matters.
function again({ id, text, request }) {
  job = id;
  postMessage({ kind: "kept", id, answer: JSON.parse(run(text, JSON.stringify({ ...request, timeline: true }))) });
}

function work({ id, text, request }) {
  job = id;
  // `base` is the scenario without the changes: the controls show its values.
  const base = JSON.parse(describe(text, JSON.stringify({ name: request.name })));
  const about = base.ok ? JSON.parse(describe(text, JSON.stringify(request))) : base;
  postMessage({ kind: "described", id, base, about });
  if (!about.ok) return;
  const several = about.repeat > 1;
  const answer = (changes) => JSON.parse(run(text, JSON.stringify({ ...request, ...changes })));
  // First one replicate without the timeline, so that a change shows soon; then all of it.
  const set = request.set.filter((one) => !one.startsWith("repeat="));
  const first = answer(several ? { set, repeat: 1 } : {});
  postMessage({ kind: "result", id, answer: first, last: !first.ok, several });
  if (first.ok) postMessage({ kind: "result", id, answer: answer({ timeline: true }), last: true, several });
}

addEventListener("message", ({ data }) => {
  try {
    if (data.module) {
      initSync({ module: data.module });
      if (data.catalogue) postMessage({ kind: "catalogue", version: version(), scenarios: JSON.parse(scenarios()) });
      else if (data.words) postMessage({ kind: "words", schema: JSON.parse(schema()), names: JSON.parse(names()) });
    } else if (data.explain) {
      postMessage({ kind: "explained", answer: JSON.parse(explain(data.explain)) });
    } else if (data.picture) {
      postMessage({ kind: "picture", id: data.id, svg: picture(data.text, JSON.stringify(data.request)) });
    } else if (data.steps) {
      postMessage({ kind: "steps", id: data.id, answer: JSON.parse(steps(data.text, JSON.stringify(data.request))) });
    } else if (data.kept) {
      again(data);
    } else {
      work(data);
    }
  } catch (error) {
    postMessage({ kind: "failed", id: data.id, message: String(error?.message ?? error) });
  }
});
