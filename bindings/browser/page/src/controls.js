// The controls: sliders and lists for what can be set in the scenario; each changes one `path=value` of the state.
import { parse } from "yaml";

import { button, size, tag } from "./dom.js";
import { at } from "./schema.js";
import { list as explain, mark } from "./words.js";

const NUMBERS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const DURATIONS = ["10us", "20us", "50us", "100us", "200us", "500us", "1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms", "200ms", "500ms", "1s"];
const PERCENTS = Array.from({ length: 21 }, (_, at) => `${at * 5}%`);
const WORK = ["10ms", "50ms", "100ms", "200ms", "500ms", "1s", "2s", "4s", "8s", "16s", "32s", "64s"];
const NICE = [-20, -15, -10, -5, -3, -1, 0, 1, 3, 5, 10, 15, 19];
const CORES = [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// Values of a sweep that is begun with a control.
const SWEPT = 6;

/// The value at a path of the scenario. Below `workload`, `runtime` and `kernel` there is the kind: `spmd: { work: 1s }`.
function value(scenario, path) {
  let here = scenario;
  for (const key of path) {
    if (here === null || typeof here !== "object") return undefined;
    if (!(key in here)) {
      const inner = Object.values(here);
      if (inner.length !== 1 || inner[0] === null || typeof inner[0] !== "object") return undefined;
      here = inner[0];
    }
    here = here[key];
  }
  return here;
}

const plain = (one) => (one !== null && typeof one === "object" ? JSON.stringify(one).replaceAll('"', "") : String(one));

/// The cores of a machine that is described by its levels, as a pattern; null for others.
const cores = (machine) => (/^(\S+ )*core:\d+( pu:\d+)?$/.test(String(machine ?? "")) ? (count) => String(machine).replace(/core:\d+/, `core:${count}`) : null);

/// A value as a number; of a machine, its cores.
const measure = (text) => size(/core:(\d+)/.exec(text)?.[1] ?? text);

/// Controls for a described scenario: { path, label, kind, values, inherited, help }. `slice` is the path of the kernel's time slice.
export function plan(text, about, schema, slice) {
  let scenario;
  try {
    scenario = parse(text) ?? {};
  } catch {
    return [];
  }
  const settable = new Set(about.settable);
  const swept = new Map(about.swept.map((axis) => [axis.path, axis.values]));
  const written = { ...scenario.sweep };
  const controls = [];
  const add = (group, path, label, kind, values) => {
    // The kernel that a change chooses may have other parameters than that of the text.
    if (!settable.has(path) && path !== slice) return;
    const keys = path.split(".");
    const set = value(scenario, keys);
    const kinds = keys[0] === "apps" ? Object.keys(Object(value(scenario, keys.slice(0, 3)))).slice(0, 1) : [];
    const standard = [keys, [...keys.slice(0, 3), ...kinds, ...keys.slice(3)]].flatMap((one) => at(schema, one))
      .find((one) => one.default !== undefined);
    const axis = written[path] ? (Array.isArray(written[path]) ? written[path].map(plain) : swept.get(path)) : null;
    const inherited = axis ? `${axis.join(", ")} (swept)` : plain(set ?? standard?.default ?? about[path] ?? "default");
    const help = at(schema, keys).find((one) => one.description)?.description ?? "";
    const own = kind === "slider" && !axis && Number.isFinite(measure(inherited)) && !values.some((one) => measure(String(one)) === measure(inherited));
    const all = own ? [...values, inherited].sort((a, b) => measure(String(a)) - measure(String(b))) : values;
    controls.push({ group, path, label, kind, values: all.map(String), inherited, swept: Boolean(axis), help });
  };
  const apps = Object.entries(scenario.apps ?? {}).filter(([, app]) => app !== null && typeof app === "object");
  const free = apps.some(([name, app]) => !("tasks" in app) && !(`apps.${name}.tasks` in written) && !("threads_per_core" in app));
  const all = "Machine and programs";
  if (free || "threads_per_core" in written || "threads_per_core" in scenario) {
    add(all, "threads_per_core", "Threads per core", "slider", [1, 2, 3, 4, 5, 6, 7, 8]);
  }
  const counted = cores(scenario.machine);
  if (counted) add(all, "machine", "Cores", "slider", CORES.map(counted));
  add(all, "kernel", "Kernel", "select", about.kernels);
  if (slice) add(all, slice, slice.endsWith("latency") ? "Latency of the queue" : "Time slice", "slider", DURATIONS);
  for (const [name, app] of apps.slice(0, 4)) {
    const base = `apps.${name}`;
    if ("tasks" in app || `${base}.tasks` in written) {
      const most = Math.min(Math.max(2 * about.cpus, 4), 128);
      const every = Math.ceil(most / 64);
      add(name, `${base}.tasks`, "Threads", "slider", Array.from({ length: Math.floor(most / every) }, (_, one) => (one + 1) * every));
    }
    const given = (key) => value(scenario, ["apps", name, "workload", key]) !== undefined || `${base}.workload.${key}` in written;
    if (given("work")) add(name, `${base}.workload.work`, "Work", "slider", WORK);
    if (given("grain")) add(name, `${base}.workload.grain`, "Barrier interval", "slider", DURATIONS);
    else if (given("intervals")) add(name, `${base}.workload.intervals`, "Barriers", "slider", NUMBERS);
    if (given("spread") || given("intervals") || given("grain")) add(name, `${base}.workload.spread`, "Variation", "slider", PERCENTS);
    else if (!about.words[`${base}.workload.variation`]) add(name, `${base}.workload.variation`, "Variation", "slider", PERCENTS);
    if ("nice" in app || `${base}.nice` in written || apps.length > 1) add(name, `${base}.nice`, "Nice", "slider", NICE);
    const runtimes = [...new Set(at(schema, ["apps", name, "runtime"]).flatMap((one) => one.enum ?? []))].map(String);
    if ("runtime" in app || `${base}.runtime` in written || given("intervals") || given("grain")) {
      add(name, `${base}.runtime`, "Wait mode", "select", runtimes);
    }
  }
  add("Chance", "repeat", "Seeds per case", "slider", [1, 2, 3, 5, 10, 15]);
  return controls;
}

function slider(control, state, changed, id) {
  const { values, inherited } = control;
  const places = values.map(measure);
  const near = (text) => {
    const wanted = measure(text.split(",")[0]);
    return Number.isFinite(wanted) ? places.reduce((best, one, at) => (Math.abs(one - wanted) < Math.abs(places[best] - wanted) ? at : best), 0) : 0;
  };
  const input = tag("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 });
  const output = tag("output", { for: id });
  const undo = tag("button", { type: "button", class: "undo", "aria-label": `${control.label}: as in the scenario` }, "×");
  const show = () => {
    const set = state.set.get(control.path);
    const swept = state.sweep.get(control.path);
    const shown = set ?? (swept ? `${swept.replaceAll(",", ", ")} (swept)` : inherited);
    input.value = String(near(shown));
    output.textContent = shown;
    input.setAttribute("aria-valuetext", shown);
    // A sweep has no place on the slider.
    input.classList.toggle("swept", shown.endsWith("(swept)"));
    undo.hidden = set === undefined;
  };
  input.addEventListener("input", () => {
    state.set.set(control.path, values[Number(input.value)]);
    state.sweep.delete(control.path);
    const keep = input.value;
    show();
    input.value = keep;
    changed();
  });
  undo.addEventListener("click", () => {
    state.set.delete(control.path);
    show();
    input.focus();
    changed();
  });
  show();
  return [input, output, undo];
}

function list(control, state, changed, id) {
  const set = state.set.get(control.path);
  const input = tag("select", { id });
  input.append(new Option(`${control.inherited}${control.swept ? "" : " (scenario)"}`, ""));
  for (const one of new Set([...control.values, ...(set === undefined ? [] : [set])])) {
    if (one !== control.inherited) input.append(new Option(one, one));
  }
  input.value = set ?? "";
  input.addEventListener("change", () => {
    if (input.value === "") state.set.delete(control.path);
    else state.set.set(control.path, input.value);
    state.sweep.delete(control.path);
    changed();
  });
  if (control.path !== "kernel") return [input];
  return [input, mark(() => "kernel", () => state.set.get("kernel") ?? control.inherited)];
}

/// Fills the form. `changed` is called after each change of `state`.
export function fill(form, controls, about, state, changed) {
  const groups = new Map();
  for (const control of controls) groups.set(control.group, [...(groups.get(control.group) ?? []), control]);
  const sets = [...groups].map(([name, own]) => tag("fieldset", {}, tag("legend", {}, name), ...own.map((control) => {
    const id = `set-${control.path}`;
    const input = (control.kind === "slider" ? slider : list)(control, state, changed, id);
    return tag("div", { class: "control", title: control.help }, tag("label", { for: id }, control.label), ...input, ...helping(control, input));
  })));
  const last = groups.has("Chance") ? sets.pop() : tag("fieldset", {}, tag("legend", {}, "Chance"));
  const seed = tag("input", { type: "number", id: "seed", min: 0, max: 999999999, step: 1, placeholder: `${about.seed} (scenario)` });
  if (state.seed !== null) seed.value = String(state.seed);
  seed.addEventListener("input", () => {
    state.seed = seed.value === "" || !seed.checkValidity() ? null : Number(seed.value);
    changed();
  });
  last.append(tag("div", { class: "control" }, tag("label", { for: "seed" }, "First seed"), seed));
  form.replaceChildren(policies(about, state, changed), ...sets, sweeping(controls, about, state, changed), last);
}

/// A description below its control, which a button shows: touch and keyboard have no title.
function helping(control, input) {
  if (control.help === "" || input.some((one) => one.className === "mark")) return [];
  const text = tag("p", { class: "note help", id: `help-${control.path}`, hidden: "" }, control.help);
  const show = button("?", { class: "mark", "aria-label": `What is ${control.label}?`, "aria-expanded": "false" }, () => {
    text.hidden = !text.hidden;
    show.setAttribute("aria-expanded", String(!text.hidden));
  });
  return [show, text];
}

/// Which path is swept besides those of the text, and over what.
function sweeping(controls, about, state, changed) {
  const paths = new Map(controls.map((control) => [control.path, control]));
  const label = (path) => {
    const control = paths.get(path);
    return control ? `${control.label}${["Machine and programs", "Chance"].includes(control.group) ? "" : ` of ${control.group}`}` : path;
  };
  const pick = tag("select", { id: "sweep-path" });
  const values = tag("input", { type: "text", id: "sweep-values", "aria-label": "Values of the sweep", autocomplete: "off", spellcheck: "false" });
  const own = [...state.sweep.keys()];
  const options = [...new Set([...own, ...[...paths.keys()].filter((path) => path !== "repeat")])];
  pick.append(new Option("nothing else", ""), ...options.map((path) => new Option(label(path), path)));
  pick.value = own[0] ?? "";
  const show = () => {
    values.value = state.sweep.get(pick.value) ?? "";
    values.hidden = pick.value === "";
  };
  pick.addEventListener("change", () => {
    state.sweep.clear();
    if (pick.value !== "") {
      const all = paths.get(pick.value)?.values ?? [];
      const every = Math.max(1, (all.length - 1) / (SWEPT - 1));
      const some = all.filter((_, at) => Array.from({ length: SWEPT }, (__, one) => Math.round(one * every)).includes(at));
      state.sweep.set(pick.value, some.join(","));
      state.set.delete(pick.value);
    }
    show();
    changed();
  });
  values.addEventListener("change", () => {
    const given = values.value.split(",").map((one) => one.trim()).filter(Boolean).join(",");
    if (given === "") state.sweep.delete(pick.value);
    else state.sweep.set(pick.value, given);
    changed();
  });
  show();
  return tag("fieldset", {}, tag("legend", {}, "Sweep"),
    tag("div", { class: "control" }, tag("label", { for: "sweep-path" }, "Compare"), pick), values);
}

function policies(about, state, changed) {
  const names = [...new Set([...state.scenarioPolicies, ...about.all_policies])];
  const on = new Set(state.policies ?? state.scenarioPolicies);
  const box = (name) => {
    const input = tag("input", { type: "checkbox", value: name });
    input.checked = on.has(name);
    input.addEventListener("change", () => {
      if (input.checked) on.add(name);
      else if (on.size > 1) on.delete(name);
      else input.checked = true;
      const chosen = names.filter((one) => on.has(one));
      state.policies = chosen.join() === names.filter((one) => state.scenarioPolicies.includes(one)).join() ? null : chosen;
      changed();
    });
    return tag("span", {}, tag("label", {}, input, ` ${name}`));
  };
  const own = names.filter((name) => state.scenarioPolicies.includes(name) || on.has(name));
  const others = names.filter((name) => !own.includes(name));
  const more = tag("details", {}, tag("summary", {}, "Other policies"), tag("div", { class: "checks" }, ...others.map(box)));
  const what = button("?", { class: "mark", "aria-haspopup": "dialog", "aria-label": "What are the policies?" }, () => explain("policy", "Policies"));
  return tag("fieldset", {}, tag("legend", {}, "Policies ", what), tag("div", { class: "checks" }, ...own.map(box)), more);
}
