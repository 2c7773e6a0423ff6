// Runs scenarios. First message: the compiled module. Then jobs { id, text, request }: the answers are posted as they come.
import { describe, initSync, run, scenarios, schema, version } from "../../pkg/web/oversim_browser.js";

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

function work({ id, text, request }) {
  job = id;
  const about = JSON.parse(describe(text, JSON.stringify(request)));
  postMessage({ kind: "described", id, about });
  if (!about.ok) return;
  const several = about.repeat > 1;
  const begin = performance.now();
  const answer = (changes) => JSON.parse(run(text, JSON.stringify({ ...request, ...changes })));
  // One replicate with the timeline first, so that a change shows soon.
  const first = answer({ timeline: true, ...(several ? { set: request.set.filter((one) => !one.startsWith("repeat=")), repeat: 1 } : {}) });
  postMessage({ kind: "result", id, answer: first, last: !several || !first.ok, ms: performance.now() - begin });
  if (several && first.ok) {
    postMessage({ kind: "result", id, answer: answer({ timeline: false }), last: true, ms: performance.now() - begin });
  }
}

addEventListener("message", ({ data }) => {
  try {
    if (data.module) {
      initSync({ module: data.module });
      if (data.catalogue) {
        postMessage({ kind: "catalogue", version: version(), scenarios: JSON.parse(scenarios()), schema: JSON.parse(schema()) });
      }
    } else {
      work(data);
    }
  } catch (error) {
    postMessage({ kind: "failed", id: data.id, message: String(error?.message ?? error) });
  }
});
