// The page: keeps the state, asks the worker, shows the answers.
import { Timeline } from "../../../../crates/pictures/src/page/timeline.js";
import { bars, breakdown, metrics, title } from "./bars.js";
import { fill, plan } from "./controls.js";
import { curves } from "./curve.js";
import { get, save } from "./dom.js";
import { editor } from "./editor.js";
import { changes, sides } from "./kept.js";
import { command, fragment, parse } from "./link.js";
import { text as packed, module as packedModule, script as packedScript } from "./packed.js";
import { Player } from "./player.js";
import { saying } from "./saying.js";
import * as words from "./words.js";

/// What an address without a scenario shows: lesson 2, under today's Linux.
const FIRST = { scenario: "spin_yield_block", policies: ["PIN"], set: [["threads_per_core", "2"]] };
/// From this width on controls and text stand beside the results and are open.
const WIDE = matchMedia("(min-width: 1000px)");
/// Quiet time after a change before a run begins, in milliseconds: of a control, of the text.
const [CONTROL, TYPING] = [30, 250];
/// The first run alone has the computer so long, in milliseconds.
const HEAD_START = 700;

const root = document.documentElement;
const blank = () => ({ policies: null, set: new Map(), sweep: new Map(), seed: null, at: null });
const state = { scenario: FIRST.scenario, text: "", ...blank(), scenarioPolicies: [], metric: "", show: "", kept: "", embed: false, predict: false };
let catalogue = { scenarios: [] };
/// What controls, completion and explanations need; it comes after the first run has begun.
let schema = null;
let lastDescribed = null;
let [module, program, worker, spare, busy, ready, job, timer] = [null, "", null, null, false, null, 0, 0];
let [edit, timeline, answered, planned, began] = [null, null, null, "", 0];
/// The complete answer before the shown one, and the one that was kept with its state and timeline.
let [before, kept, keptTimeline, done] = [null, null, null, ""];
const player = new Player(get("player"), (run, window) => {
  if (busy || !timeline) return;
  busy = true;
  const { text, request } = task(state);
  worker.postMessage({ id: job, steps: true, text, request: { ...request, run: timeline.data.runs[run].case, window } });
}, () => timeline);

function phase(name, text) {
  root.dataset.state = name;
  get("status").textContent = text;
  get("stop").hidden = name !== "running";
  get("progress").hidden = name !== "running";
  get("again").hidden = name !== "stopped";
}

/// A worker with the simulator in it. With `sends` it also sends what is needed once: the "catalogue" of scenarios, or "words".
function made(sends = "") {
  const one = new Worker(program);
  one.addEventListener("message", ({ data }) => received(data));
  one.addEventListener("error", (event) => {
    busy = false;
    phase("failed", `The worker failed: ${event.message ?? "unknown error"}. Reload the page.`);
  });
  one.postMessage({ module, [sends]: true });
  return one;
}

/// Makes the second worker, which first sends what controls and explanations need.
function prepare() {
  if (!spare) spare = made("words");
}

/// Ends the worker. Another one is always ready, so that the next run begins at once.
function restart() {
  prepare();
  worker.terminate();
  worker = spare;
  spare = made();
  busy = false;
}

/// Runs the state; a run that is under way ends.
function run() {
  clearTimeout(timer);
  if (busy) restart();
  job += 1;
  busy = true;
  began = performance.now();
  get("progress").removeAttribute("value");
  get("output").classList.add("old");
  phase("running", "Running.");
  worker.postMessage({ id: job, ...task(state) });
}

/// What a worker needs to run a state.
function task(of) {
  const width = Math.min(Math.max(Math.floor(get("results").clientWidth / 7.7) - 2, 60), 130);
  const pairs = (map) => [...map].map(([path, value]) => `${path}=${value}`);
  const request = { name: of.scenario ?? "scenario.yaml", policies: of.policies, set: pairs(of.set), sweep: pairs(of.sweep), seed: of.seed, width };
  if (state.show !== "") request.show = state.show;
  return { text: of.text, request };
}

async function remember() {
  get("command").textContent = command(state);
  get("command-note").textContent = state.scenario
    ? "" : "The text differs from the built-in scenario: save it as scenario.yaml first.";
  const address = await fragment(state);
  history.replaceState(null, "", address);
  get("full").href = `${location.pathname}${await fragment({ ...state, embed: false })}`;
}

function changed(wait = CONTROL) {
  clearTimeout(timer);
  void remember();
  timer = setTimeout(run, wait);
}

function received(data) {
  if (data.kind === "catalogue") {
    ready(data);
    return;
  }
  if (data.kind === "words") {
    schema = data.schema;
    words.learn(data.names, (name) => (busy ? spare : worker).postMessage({ explain: name }));
    if (lastDescribed) controls(lastDescribed);
    if (answered) {
      saying(get("said"), answered.answer.said, answered.answer.result.provenance.policies);
      charts();
    }
    root.dataset.words = "yes";
    return;
  }
  if (data.kind === "explained") {
    words.explained(data);
    return;
  }
  if (data.id !== job) return;
  if (data.kind === "progress") {
    get("progress").max = data.all;
    get("progress").value = data.done;
    const left = ((performance.now() - began) / data.done) * (data.all - data.done) / 1000;
    const rest = data.done > 0 && left > 2 ? `, about ${Math.ceil(left)} s left at this pace` : "";
    get("status").textContent = `Running: ${data.done} of ${data.all} runs${rest}.`;
  } else if (data.kind === "described") {
    described(data);
  } else if (data.kind === "kept") {
    if (kept && data.answer.ok) kept.answer = data.answer;
    busy = false;
    phase("done", done);
    charts();
  } else if (data.kind === "steps") {
    busy = false;
    player.show(data.answer);
  } else if (data.kind === "picture") {
    busy = false;
    save(new Blob([data.svg], { type: "image/svg+xml" }), `${state.scenario ?? "timeline"}.svg`);
    get("status").textContent = "Saved.";
  } else if (data.kind === "failed") {
    busy = false;
    show([{ source: null, line: 1, column: 1, end_line: 1, end_column: 1, message: data.message, help: "" }]);
    restart();
  } else {
    finished(data);
  }
}

/// The form, made anew only when its controls differ, so that a slider stays under the pointer.
function controls({ base, about }) {
  if (schema === null || !base.ok) return;
  const all = plan(state.text, base, schema, about.slice ?? base.slice);
  const key = JSON.stringify([all, base.policies, base.seed]);
  if (key !== planned) {
    planned = key;
    const focused = get("controls").contains(document.activeElement) ? document.activeElement.id : "";
    fill(get("controls"), all, base, state, () => changed());
    if (focused !== "") get(focused)?.focus();
  }
  if (about.ok) {
    get("setting").replaceChildren(`Machine ${about.machine} (${about.cpus} ${about.cpus === 1 ? "cpu" : "cpus"}), kernel `, words.word("kernel", about.kernel));
  }
}

function described(data) {
  const { base, about } = data;
  lastDescribed = data;
  if (base.ok) state.scenarioPolicies = base.policies;
  controls(data);
  if (!about.ok) {
    busy = false;
    show(about.errors);
    return;
  }
  show([]);
  phase("running", `Running: ${about.size}.`);
}

/// Shows what is wrong: in the editor, and as a list beside the results.
function show(errors) {
  edit.errors(errors.filter((error) => error.source === null));
  get("errors").replaceChildren(...errors.map((error) => {
    const line = document.createElement("p");
    const where = document.createElement("strong");
    where.textContent = error.source === null ? `Line ${error.line}, column ${error.column}: ` : `${error.source.replace(/^--(set|sweep|policy)/, "Change")}: `;
    line.append(where, error.message, error.help ? `. Help: ${error.help}` : "");
    if (error.source === null) {
      const go = document.createElement("button");
      go.type = "button";
      go.textContent = "Show";
      go.addEventListener("click", () => edit.go(error.line, error.column));
      line.append(" ", go);
    }
    return line;
  }));
  const before = get("output").hidden ? "" : " The results below are those before it.";
  if (errors.length > 0) phase("error", `The scenario or a change has an error.${before}`);
}

function finished({ answer, last, several }) {
  prepare();
  if (last) busy = false;
  if (!answer.ok) {
    show(answer.errors);
    return;
  }
  // What is complete is what the next result is compared with.
  if (answered?.last && answered.job !== job) before = answered;
  answered = { answer, last, job, scenario: state.scenario, text: state.text };
  if (before && before.scenario !== state.scenario) before = null;
  get("output").hidden = state.predict;
  get("predict").hidden = !state.predict;
  get("output").classList.remove("old");
  get("terminal").textContent = answer.text;
  get("warnings").textContent = answer.warnings.map((warning) => `${warning}.`).join(" ");
  saying(get("said"), answer.said, answer.result.provenance.policies);
  if (state.predict) get("brief").textContent = "";
  values(answer);
  charts();
  drawn(answer);
  root.dataset.digest = answer.digest;
  const { runs } = answer.result.provenance;
  if (last) {
    const waited = Math.round(performance.now() - began);
    const bad = answer.completed ? "" : " Some runs did not complete: see the text.";
    phase("done", `${runs} runs in ${waited} ms. Digest ${answer.digest.slice(0, 16)}.${bad}`);
    root.dataset.ms = String(waited);
    if (kept && !kept.answer) {
      busy = true;
      done = get("status").textContent;
      phase("running", "Running what was kept.");
      worker.postMessage({ id: job, kept: true, ...task(kept.state) });
    }
  } else {
    const follows = several ? "One seed per case; the other seeds and the timeline follow" : "The timeline follows";
    get("status").textContent = `First results after ${Math.round(performance.now() - began)} ms. ${follows}.`;
    root.dataset.preview = String(Math.round(performance.now() - began));
  }
  if (!root.dataset.first) root.dataset.first = String(Math.round(performance.now()));
}

/// The list of values. Unless one was chosen it shows the one that the answer ranks by.
function values(answer) {
  const select = get("metric");
  const all = metrics(answer.result);
  select.replaceChildren(...all.map(([name, text]) => new Option(text, name)));
  const wanted = [state.metric, answer.goal].find((name) => all.some(([one]) => one === name));
  if (wanted) select.value = wanted;
}

/// Shows the timeline of an answer, at the moment that the address names.
function drawn(answer) {
  if (answer.timeline || answer.no_timeline) player.forget();
  if (answer.timeline) {
    if (timeline) timeline.show(answer.timeline);
    else timeline = new Timeline(get("timeline"), answer.timeline);
    timeline.moved = null;
    if (state.at) timeline.window(...state.at);
    timeline.moved = (from, to) => {
      const { from_ns: first, to_ns: end } = timeline.data;
      state.at = from === first && to === end ? null : [from, to];
      clearTimeout(timeline.later);
      timeline.later = setTimeout(remember, 300);
    };
  } else if (answer.no_timeline) {
    timeline?.destroy();
    timeline = null;
    get("timeline").textContent = answer.no_timeline;
  }
}

function charts() {
  if (!answered) return;
  const { result } = answered.answer;
  const metric = get("metric").value;
  get("metric-mark").replaceChildren(words.mark(() => "metric", () => get("metric").value));
  curves(get("curves"), result, metric, title(metric));
  const ghost = kept?.answer ? { result: kept.answer.result, word: "kept" } : before && { result: before.answer.result, word: "before the last change" };
  bars(get("bars"), result, metric, ghost);
  breakdown(get("breakdown"), result);
  compare();
}

/// Two settings side by side, if something was kept.
function compare() {
  const ready = Boolean(kept?.answer && answered);
  get("compare").hidden = !ready;
  get("timelines").classList.toggle("two", ready);
  get("kept-timeline").hidden = !ready;
  root.dataset.compared = String(ready);
  if (!ready) {
    keptTimeline?.destroy();
    keptTimeline = null;
    return;
  }
  get("kept-words").textContent = changes(kept.state);
  get("now-words").textContent = changes(state);
  sides(get("sides"), kept.answer, answered.answer.result, get("metric").value);
  if (kept.answer.timeline && !keptTimeline) {
    keptTimeline = new Timeline(get("kept-timeline"), kept.answer.timeline);
    keptTimeline.message.prepend("Kept: ");
  }
}

/// Keeps a state, and its answer if there is one, beside what follows.
async function keep(of, answer) {
  keptTimeline?.destroy();
  keptTimeline = null;
  kept = of === null ? null : { state: of, answer };
  state.kept = of === null ? "" : (await fragment({ ...of, metric: "", show: "", kept: "", at: null, embed: false, predict: false })).slice(1);
  await remember();
  charts();
}

const copyOf = (of) => ({ scenario: of.scenario, text: of.text, policies: of.policies && [...of.policies], set: new Map(of.set), sweep: new Map(of.sweep), seed: of.seed });

function choose(name, keep = false) {
  const built = catalogue.scenarios.find((one) => one.name === name);
  state.scenario = name;
  state.text = built.text;
  if (!keep) Object.assign(state, blank());
  planned = "";
  edit.replace(built.text);
  titles();
}

function titles() {
  const built = catalogue.scenarios.find((one) => one.name === state.scenario);
  get("scenario").value = state.scenario ?? "";
  get("question").textContent = built?.question ?? "Your own text.";
}

/// The text in the editor became another one.
function edited(text) {
  state.text = text;
  state.scenario = catalogue.scenarios.find((one) => one.text === text)?.name ?? null;
  titles();
  changed(TYPING);
}

function theme(name) {
  root.dataset.theme = name;
  get("theme").setAttribute("aria-pressed", String(name === "dark"));
  timeline?.draw();
}

async function copy(text, button) {
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed here";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

/// The state of a link as far as it can be used; throws a sentence otherwise.
async function linked(hash) {
  const link = await parse(hash);
  const built = catalogue.scenarios.find((one) => one.name === link.scenario);
  if (link.scenario !== null && !built) throw new Error(`The link names the scenario ${link.scenario}, which does not exist in this version.`);
  if (built) link.text = built.text;
  return link;
}

/// Restores the state of the address. Scenarios are known by then.
async function restore() {
  get("notice").textContent = "";
  let link = null;
  try {
    link = await linked(location.hash);
    kept = link.kept === "" ? null : { state: await linked(link.kept), answer: null };
  } catch (error) {
    [link, kept] = [null, null];
    get("notice").textContent = error.message;
  }
  const empty = link === null || (link.scenario === null && link.text === null);
  Object.assign(state, blank(), { kept: "", metric: "", show: "" });
  if (link !== null) {
    for (const key of ["policies", "set", "sweep", "seed", "metric", "show", "kept", "at", "embed", "predict"]) state[key] = link[key];
  }
  if (empty && state.policies === null && state.set.size === 0 && state.sweep.size === 0) {
    Object.assign(state, { policies: FIRST.policies, set: new Map(FIRST.set) });
  }
  if (!empty && link.scenario === null) {
    state.scenario = null;
    state.text = link.text;
    planned = "";
    edit.replace(link.text);
    titles();
  } else {
    choose(empty ? FIRST.scenario : link.scenario, true);
  }
  root.dataset.embed = String(state.embed);
  get("full").hidden = !state.embed;
  get("show").value = ["policies", "values"].includes(state.show) ? state.show : "";
  state.show = get("show").value;
  if (WIDE.matches && !state.embed) for (const id of ["control-fold", "text-fold"]) get(id).open = true;
}

function listen() {
  get("scenario").addEventListener("change", (event) => {
    if (event.target.value === "") return;
    choose(event.target.value);
    changed();
  });
  get("metric").addEventListener("change", (event) => {
    state.metric = event.target.value;
    void remember();
    charts();
  });
  get("show").addEventListener("change", (event) => {
    Object.assign(state, { show: event.target.value, at: null });
    changed();
  });
  get("reveal").addEventListener("click", () => {
    state.predict = false;
    get("predict").hidden = true;
    get("output").hidden = false;
    edit.unfold();
    timeline?.draw();
    void remember();
    get("results").focus({ preventScroll: true });
  });
  get("keep").addEventListener("click", () => {
    if (answered?.last) void keep(copyOf(state), answered.answer);
  });
  get("drop").addEventListener("click", () => void keep(null, null));
  get("swap").addEventListener("click", () => {
    const then = kept.state;
    Object.assign(state, blank(), copyOf(then));
    planned = "";
    edit.replace(then.text);
    titles();
    void keep(null, null);
    changed();
  });
  get("terms").addEventListener("click", () => words.list("term", "Terms"));
  get("save-csv").addEventListener("click", () => {
    if (answered) save(new Blob([answered.answer.csv], { type: "text/csv" }), `${state.scenario ?? "result"}.csv`);
  });
  get("save-svg").addEventListener("click", () => {
    if (busy || !answered) return;
    busy = true;
    get("status").textContent = "Drawing the timeline.";
    worker.postMessage({ id: job, picture: true, ...task(state) });
  });
  get("save-png").addEventListener("click", () => {
    timeline?.canvas.toBlob((blob) => blob && save(blob, `${state.scenario ?? "timeline"}.png`));
  });
  get("controls").addEventListener("submit", (event) => event.preventDefault());
  get("stop").addEventListener("click", () => {
    restart();
    job += 1;
    phase("stopped", "Stopped. A change or Run starts again.");
    get("again").focus();
  });
  get("again").addEventListener("click", run);
  get("reset").addEventListener("click", () => {
    Object.assign(state, blank());
    planned = "";
    changed();
  });
  get("save").addEventListener("click", () => save(new Blob([state.text], { type: "text/yaml" }), `${state.scenario ?? "scenario"}.yaml`));
  get("licences").addEventListener("click", async (event) => {
    if (!packed("notices")) return;
    event.preventDefault();
    const text = document.createElement("pre");
    text.textContent = await packedScript("notices");
    words.say("Licences", text);
  });
  get("copy-link").addEventListener("click", async (event) => {
    const { target } = event;
    await remember();
    await copy(location.href, target);
  });
  get("copy-command").addEventListener("click", ({ target }) => copy(get("command").textContent, target));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
  get("theme").addEventListener("click", () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("oversim-theme", next);
    } catch { /* The page works without storage. */ }
    theme(next);
  });
  let before = "light";
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    get("terminal-fold").open = true;
    theme("light");
  });
  addEventListener("afterprint", () => theme(before));
  addEventListener("hashchange", async () => {
    if (location.hash === await fragment(state)) return;
    await restore();
    await remember();
    run();
  });
}

function stored() {
  try {
    return localStorage.getItem("oversim-theme");
  } catch {
    return null;
  }
}

async function open() {
  theme(stored() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  // Below the manual there is the manual.
  get("manual").hidden = !/\/playground\/(index\.html)?$/.test(location.pathname);
  const [compiled, script] = await Promise.all(packed("wasm") ? [packedModule("wasm"), packedScript("worker")] : [
    WebAssembly.compileStreaming(fetch("oversim.wasm")),
    fetch("worker.js").then((response) => response.text()),
  ]);
  module = compiled;
  // The script is kept here, because later workers must start without the network.
  program = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const loaded = new Promise((resolve) => { ready = resolve; });
  worker = made("catalogue");
  catalogue = await loaded;
  // It must not take the time of the first run, nor wait for a long one.
  setTimeout(prepare, HEAD_START);
  words.listen();
  get("version").textContent = `version ${catalogue.version}`;
  const options = catalogue.scenarios.map((one) => new Option(`${one.name}: ${one.question}`, one.name));
  get("scenario").append(new Option("(own text)", ""), ...options);
  edit = editor(get("editor"), () => schema ?? {}, edited);
  listen();
  await restore();
  await remember();
  run();
}

open().catch((error) => phase("failed", `The simulator could not be loaded: ${error.message}`));
