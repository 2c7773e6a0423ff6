// Bars as tables: a value per program, policy and configuration, and the cpu-time breakdown.

import { step, tag } from "./dom.js";
import { amount, half, SERIES, settings, varied } from "./look.js";
import { word } from "./words.js";

/// Results that no policy produced.
const REFERENCES = { dedicated: "alone", "fair-share": "fair share, ideal", "lower-bound": "lower bound" };
/// Values to choose from, the first that exists comes first.
const METRICS = {
  slowdown: "slowdown (1: as fast as alone)", run_time: "run time", turnaround: "turnaround", barrier_wait: "share of time at barriers", lock_wait: "wait for a lock",
  migrations: "migrations", context_switches: "context switches", makespan: "makespan of all programs", throughput: "throughput of all programs",
};
/// Categories of the cpu-time breakdown: words and fill.
/// A tile as an image: gradients become coarse on paper.
const tile = (colour, path, width) => `url("data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="6" height="6"><path d="${path}" stroke="${colour}" stroke-width="${width}" fill="none"/></svg>`,
).replaceAll("'", "%27")}") var(--paper)`;
const [UPRIGHT, LEVEL] = ["M1.5 0V6M4.5 0V6", "M0 1.5H6M0 4.5H6"];
const [RISING, FALLING] = ["M-1 7L7 -1M-4 4L4 -4M2 10L10 2", "M-1 -1L7 7M-4 2L4 10M2 -4L10 4"];
const CATEGORIES = {
  compute: ["useful work", "#0072B2"],
  smt: ["shared core (SMT)", tile("#0072B2", UPRIGHT, 1.6)],
  memory_stall: ["memory stall", "#56B4E9"],
  remote: ["remote memory", tile("#56B4E9", LEVEL, 1.6)],
  refill: ["cache refill", tile("#56B4E9", RISING, 2)],
  page_init: ["page initialisation", tile("#009E73", UPRIGHT, 1)],
  spin: ["spinning", "#D55E00"],
  lock_wait: ["lock waiting", tile("#D55E00", UPRIGHT, 1.6)],
  yield: ["yielding", tile("#D55E00", FALLING, 1.6)],
  switch: ["context switches", "#F0E442"],
  migration: ["migration cost", "#CC79A7"],
  kernel: ["kernel", "#8C8C8C"],
  daemon: ["scheduling daemons", tile("#8C8C8C", RISING, 2)],
  idle: ["idle", "var(--idle)"],
};

/// A table of bars with its columns.
function table(caption) {
  const columns = tag("colgroup", {}, ...["name", "", "value"].map((name) => tag("col", { class: name })));
  return tag("table", { class: "bars" }, tag("caption", {}, caption), columns);
}

/// The values that a result has.
export function metrics(result) {
  const known = new Set(result.cells.map((cell) => cell.metric));
  return Object.entries(METRICS).filter(([name]) => known.has(name));
}

/// The words of a value.
export const title = (metric) => METRICS[metric] ?? metric;

/// What identifies a value in another result: what a result does not vary is what may have been changed.
const key = (cell, paths) => JSON.stringify([cell.app, cell.policy, settings(cell, paths)]);

/// The cells of a value that are shown. The lower bound of a slowdown would be one of run time.
const shown = (result, metric) => result.cells.filter((cell) => cell.metric === metric && Number.isFinite(cell.mean)
  && (metric !== "slowdown" || cell.policy !== "lower-bound") && (cell.policy !== "dedicated" || metric === "run_time"));

/// Bars of one value, a table for each program; references are lines across them. `before` is { result, word }: earlier results
/// to show behind the bars, or null.
export function bars(host, result, metric, before) {
  const cells = shown(result, metric);
  const old = before ? shown(before.result, metric) : [];
  const oldPaths = varied(old);
  const known = new Map(old.map((cell) => [key(cell, oldPaths), cell]));
  const newPaths = varied(cells);
  const earlier = new Map(cells.flatMap((cell) => (known.has(key(cell, newPaths)) ? [[cell, known.get(key(cell, newPaths))]] : [])));
  const order = result.provenance.policies;
  const tables = [...new Set(cells.map((cell) => cell.app))].map((app) => {
    const own = cells.filter((cell) => cell.app === app);
    const most = Math.max(...own.map((cell) => Math.max(cell.mean, cell.ci95?.[1] ?? 0, earlier.get(cell)?.mean ?? 0)), 1e-12);
    const made = table(`${app === "all" ? "all programs" : app}: ${METRICS[metric]}`);
    const paths = varied(own);
    for (const configuration of new Set(own.map((cell) => settings(cell, paths)))) {
      const here = own.filter((cell) => settings(cell, paths) === configuration);
      const marks = here.filter((cell) => REFERENCES[cell.policy]);
      const rows = here.filter((cell) => !REFERENCES[cell.policy]).sort((a, b) => order.indexOf(a.policy) - order.indexOf(b.policy));
      const alone = order.length === 1 && rows.length === 1 && configuration !== "";
      if (configuration !== "" && !alone) made.append(tag("tr", { class: "head" }, tag("th", { colspan: "3", scope: "colgroup" }, configuration)));
      for (const cell of rows) made.append(row(cell, marks, earlier.get(cell), most, alone ? configuration : "", order));
    }
    made.append(axis(most, own[0]?.unit));
    return made;
  });
  host.replaceChildren(...tables, notes(cells, before, earlier));
}

/// One bar with its interval, references and earlier value.
function row(cell, marks, old, most, name, order) {
  const part = (value) => Math.min(Math.max((100 * value) / most, 0), 100);
  const bar = tag("div", { class: "bar", "aria-hidden": "true" },
    tag("i", { style: `width:${part(cell.mean)}%;background:${SERIES[order.indexOf(cell.policy) % SERIES.length]}` }));
  if (cell.ci95) {
    const [low, high] = cell.ci95.map(part);
    bar.append(tag("b", { style: `left:${low}%;width:${Math.max(high - low, 0.3)}%` }));
  }
  for (const mark of marks) {
    bar.append(tag("u", { style: `left:${part(mark.mean)}%`, class: mark.policy, title: `${REFERENCES[mark.policy]}: ${amount(mark.mean, mark.unit)}` }));
  }
  const value = tag("td", { class: "value" }, amount(cell.mean, cell.unit));
  const interval = half(cell);
  if (interval !== "") value.append(tag("small", {}, ` ${interval}`));
  if (old && old.mean !== cell.mean) {
    bar.append(tag("s", { style: `width:${part(old.mean)}%` }));
    value.append(tag("small", { class: "earlier" }, amount(old.mean, old.unit)));
  }
  return tag("tr", {}, tag("th", { scope: "row" }, name === "" ? word("policy", cell.policy) : name), tag("td", {}, bar), value);
}

/// The axis below the bars of a table.
function axis(most, unit) {
  const by = step(most, 5);
  const line = tag("div", { class: "axis", "aria-hidden": "true" });
  for (let value = 0; value <= most * (1 + 1e-9); value += by) {
    line.append(tag("span", { style: `left:${(100 * value) / most}%` }, amount(value, unit)));
  }
  return tag("tr", {}, tag("td", {}), tag("td", {}, line), tag("td", {}));
}

/// What the lines mean.
function notes(cells, before, earlier) {
  const made = tag("div", { class: "keys note" });
  if (cells.some((cell) => cell.ci95)) made.append(tag("span", {}, "Means; thin lines and ± are 95 % confidence intervals."));
  for (const [name, words] of Object.entries(REFERENCES)) {
    const values = cells.filter((cell) => cell.policy === name);
    if (values.length === 0) continue;
    const same = values.every((cell) => amount(cell.mean, cell.unit) === amount(values[0].mean, values[0].unit));
    made.append(tag("span", {}, tag("u", { class: `swatch line ${name}` }), word("reference", name, words), same ? `: ${amount(values[0].mean, values[0].unit)}` : ""));
  }
  const changed = before && cells.some((cell) => earlier.has(cell) && earlier.get(cell).mean !== cell.mean);
  if (changed) made.append(tag("span", {}, tag("s", { class: "swatch" }), before.word));
  return made;
}

/// The cpu-time breakdown, a bar for each policy and configuration.
export function breakdown(host, result) {
  const cells = result.cells.filter((cell) => cell.app === "all" && cell.metric.startsWith("breakdown_")
    && result.provenance.policies.includes(cell.policy));
  const cases = new Map();
  const paths = varied(cells);
  for (const cell of cells) {
    const key = JSON.stringify([settings(cell, paths), cell.policy]);
    cases.set(key, [...(cases.get(key) ?? []), [cell.metric.slice("breakdown_".length), cell.mean]]);
  }
  const used = new Set();
  const made = table("Share of the cpu time of all cpus");
  let last = "";
  for (const [key, parts] of cases) {
    const [configuration, policy] = JSON.parse(key);
    const only = result.provenance.policies.length === 1 && configuration !== "";
    if (configuration !== last && !only) {
      made.append(tag("tr", { class: "head" }, tag("th", { colspan: "3", scope: "colgroup" }, configuration)));
      last = configuration;
    }
    const sorted = Object.keys(CATEGORIES).flatMap((name) => parts.filter(([part, share]) => part === name && share > 0.0005));
    const words = sorted.filter(([, share]) => share >= 0.01).map(([name, share]) => `${CATEGORIES[name][0]} ${Math.round(100 * share)} %`);
    const bar = tag("div", { class: "bar", role: "img", "aria-label": words.join(", "), title: words.join(", ") });
    for (const [name, share] of sorted) {
      used.add(name);
      const piece = tag("i", { style: `width:${100 * share}%` });
      piece.style.background = CATEGORIES[name][1];
      bar.append(piece);
    }
    const useful = parts.find(([name]) => name === "compute")?.[1] ?? 0;
    made.append(tag("tr", {}, tag("th", { scope: "row" }, only ? configuration : word("policy", policy)), tag("td", {}, bar),
      tag("td", { class: "value" }, `${Math.round(100 * useful)} % useful`)));
  }
  const keys = Object.keys(CATEGORIES).filter((name) => used.has(name)).map((name) => {
    const swatch = tag("span", { class: "swatch" });
    swatch.style.background = CATEGORIES[name][1];
    return tag("span", {}, swatch, CATEGORIES[name][0]);
  });
  host.replaceChildren(tag("div", { class: "keys" }, ...keys), made);
}
