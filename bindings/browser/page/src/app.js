// The page: keeps the state, asks the worker, shows the answers.
import { Timeline } from "../../../../crates/pictures/src/page/timeline.js";
import { bars, breakdown, metrics } from "./bars.js";
import { fill, plan } from "./controls.js";
import { editor } from "./editor.js";
import { command, fragment, parse } from "./link.js";

const FIRST = "spin_yield_block";
/// Quiet time after a change before a run begins, in milliseconds: of a control, of the text.
const [CONTROL, TYPING] = [30, 250];

const get = (id) => document.getElementById(id);
const root = document.documentElement;
const state = { scenario: FIRST, text: "", policies: null, set: new Map(), seed: null, scenarioPolicies: [] };
let catalogue = { scenarios: [], schema: {} };
let [module, program, worker, spare, busy, ready, job, timer] = [null, "", null, null, false, null, 0, 0];
let [edit, timeline, result, planned, began] = [null, null, null, "", 0];

function phase(name, text) {
  root.dataset.state = name;
  get("status").textContent = text;
  get("stop").hidden = name !== "running";
  get("progress").hidden = name !== "running";
  get("again").hidden = name !== "stopped";
}

/// A worker with the simulator in it; `first`: it also sends the scenarios and the schema.
function made(first) {
  const one = new Worker(program, { type: "module" });
  one.addEventListener("message", ({ data }) => received(data));
  one.addEventListener("error", (event) => {
    busy = false;
    phase("failed", `The worker failed: ${event.message ?? "unknown error"}. Reload the page.`);
  });
  one.postMessage({ module, catalogue: first });
  return one;
}

/// Ends the worker. Another one is always ready, so that the next run begins at once.
function restart() {
  worker.terminate();
  worker = spare;
  spare = made(false);
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
  const width = Math.min(Math.max(Math.floor(get("results").clientWidth / 7.7) - 2, 60), 130);
  const set = [...state.set].map(([path, value]) => `${path}=${value}`);
  const name = state.scenario ?? "scenario.yaml";
  worker.postMessage({ id: job, text: state.text, request: { name, policies: state.policies, set, seed: state.seed, width } });
}

async function remember() {
  get("command").textContent = command(state);
  get("command-note").textContent = state.scenario
    ? "" : "The text differs from the built-in scenario: save it as scenario.yaml first.";
  history.replaceState(null, "", await fragment(state));
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
  if (data.id !== job) return;
  if (data.kind === "progress") {
    get("progress").max = data.all;
    get("progress").value = data.done;
    get("status").textContent = `Running: ${data.done} of ${data.all} runs.`;
  } else if (data.kind === "described") {
    described(data);
  } else if (data.kind === "failed") {
    busy = false;
    show([{ source: null, line: 1, column: 1, end_line: 1, end_column: 1, message: data.message, help: "" }]);
    restart();
  } else {
    finished(data);
  }
}

function described({ base, about }) {
  if (base.ok) {
    state.scenarioPolicies = base.policies;
    // The form is made anew only when its controls differ, so that a slider stays under the pointer.
    const controls = plan(state.text, base, catalogue.schema);
    const key = JSON.stringify([controls, base.policies, base.seed]);
    if (key !== planned) {
      planned = key;
      fill(get("controls"), controls, base, state, () => changed());
    }
  }
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
    where.textContent = error.source === null ? `Line ${error.line}, column ${error.column}: ` : `${error.source}: `;
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
  if (last) busy = false;
  if (!answer.ok) {
    show(answer.errors);
    return;
  }
  result = answer.result;
  get("output").hidden = false;
  get("output").classList.remove("old");
  get("terminal").textContent = answer.text;
  get("warnings").textContent = answer.warnings.map((warning) => `${warning}.`).join(" ");
  const select = get("metric");
  const wanted = select.value;
  select.replaceChildren(...metrics(result).map(([name, words]) => new Option(words, name)));
  if (metrics(result).some(([name]) => name === wanted) && select.dataset.chosen) select.value = wanted;
  charts();
  if (answer.timeline) {
    if (timeline) timeline.show(answer.timeline);
    else timeline = new Timeline(get("timeline"), answer.timeline);
  } else if (answer.no_timeline) {
    timeline?.destroy();
    timeline = null;
    get("timeline").textContent = answer.no_timeline;
  }
  root.dataset.digest = answer.digest;
  const { runs } = result.provenance;
  if (last) {
    const waited = Math.round(performance.now() - began);
    const bad = answer.completed ? "" : " Some runs did not complete: see the text.";
    phase("done", `${runs} runs in ${waited} ms. Digest ${answer.digest.slice(0, 16)}.${bad}`);
    root.dataset.ms = String(waited);
  } else {
    const follows = several ? "One seed per case; the other seeds and the timeline follow" : "The timeline follows";
    get("status").textContent = `First results after ${Math.round(performance.now() - began)} ms. ${follows}.`;
    root.dataset.preview = String(Math.round(performance.now() - began));
  }
  if (!root.dataset.first) root.dataset.first = String(Math.round(performance.now()));
}

function charts() {
  if (!result) return;
  bars(get("bars"), result, get("metric").value);
  breakdown(get("breakdown"), result);
}

function choose(name, keep = false) {
  const built = catalogue.scenarios.find((one) => one.name === name);
  state.scenario = name;
  state.text = built.text;
  if (!keep) Object.assign(state, { policies: null, set: new Map(), seed: null });
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

/// Restores the state of the address. Scenarios are known by then.
async function restore() {
  let link = { scenario: null, text: null, policies: null, set: new Map(), seed: null };
  let broken = "";
  try {
    link = await parse(location.hash);
    const known = link.scenario === null || catalogue.scenarios.some((one) => one.name === link.scenario);
    if (!known) broken = `The link names the scenario ${link.scenario}, which does not exist in this version.`;
  } catch (error) {
    broken = error.message;
  }
  Object.assign(state, { policies: null, set: new Map(), seed: null });
  if (broken === "") Object.assign(state, { policies: link.policies, set: link.set, seed: link.seed });
  if (broken === "" && link.text !== null) {
    Object.assign(state, { scenario: null, text: link.text });
    planned = "";
    edit.replace(link.text);
    titles();
  } else {
    choose(broken === "" ? link.scenario ?? FIRST : FIRST, true);
  }
  get("notice").textContent = broken;
}

function listen() {
  get("scenario").addEventListener("change", (event) => {
    if (event.target.value === "") return;
    choose(event.target.value);
    changed();
  });
  get("metric").addEventListener("change", (event) => {
    event.target.dataset.chosen = "yes";
    charts();
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
    Object.assign(state, { policies: null, set: new Map(), seed: null });
    planned = "";
    changed();
  });
  get("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([state.text], { type: "text/yaml" }));
    link.download = `${state.scenario ?? "scenario"}.yaml`;
    link.click();
    URL.revokeObjectURL(link.href);
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
  const [compiled, script] = await Promise.all([
    WebAssembly.compileStreaming(fetch("oversim.wasm")),
    fetch("worker.js").then((response) => response.text()),
  ]);
  module = compiled;
  // The script is kept here, because later workers must start without the network.
  program = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const loaded = new Promise((resolve) => { ready = resolve; });
  worker = made(true);
  catalogue = await loaded;
  spare = made(false);
  get("version").textContent = `version ${catalogue.version}`;
  const options = catalogue.scenarios.map((one) => new Option(`${one.name}: ${one.question}`, one.name));
  get("scenario").append(new Option("(own text)", ""), ...options);
  edit = editor(get("editor"), catalogue.schema, edited);
  listen();
  await restore();
  await remember();
  run();
}

open().catch((error) => phase("failed", `The simulator could not be loaded: ${error.message}`));
