// Bars as tables: a value per program, policy and configuration, and the cpu-time breakdown.

const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#F0E442"];
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

function tag(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/// A table of bars with its columns.
function table(caption) {
  const columns = tag("colgroup", {}, ...["name", "", "value"].map((name) => tag("col", { class: name })));
  return tag("table", { class: "bars" }, tag("caption", {}, caption), columns);
}

/// Three digits with the unit.
export function amount(value, unit) {
  if (unit === "share") return `${Number((100 * value).toPrecision(3))} %`;
  if (unit === "s" && value !== 0 && value < 1) {
    return value < 1e-3 ? `${Number((value * 1e6).toPrecision(3))} us` : `${Number((value * 1e3).toPrecision(3))} ms`;
  }
  const digits = Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
  return unit === "s" ? `${digits} s` : unit === "%" ? `${digits} %` : digits;
}

/// The values that a result has.
export function metrics(result) {
  const known = new Set(result.cells.map((cell) => cell.metric));
  return Object.entries(METRICS).filter(([name]) => known.has(name));
}

const settings = (cell) => Object.entries(cell.settings ?? {})
  .map(([path, value]) => `${path.replace(/^apps\./, "")}=${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");

/// Bars of one value, a table for each program.
export function bars(host, result, metric) {
  const cells = result.cells.filter((cell) => cell.metric === metric && Number.isFinite(cell.mean)
    && (metric !== "slowdown" || cell.policy !== "lower-bound") && (cell.policy !== "dedicated" || metric === "run_time"));
  const order = [...result.provenance.policies, ...Object.keys(REFERENCES)];
  const tables = [...new Set(cells.map((cell) => cell.app))].map((app) => {
    const own = cells.filter((cell) => cell.app === app);
    const most = Math.max(...own.map((cell) => cell.mean), 1e-12);
    const made = table(`${app === "all" ? "all programs" : app}: ${METRICS[metric]}`);
    for (const configuration of new Set(own.map(settings))) {
      if (configuration !== "") made.append(tag("tr", { class: "head" }, tag("th", { colspan: "3", scope: "colgroup" }, configuration)));
      const rows = own.filter((cell) => settings(cell) === configuration)
        .sort((a, b) => order.indexOf(a.policy) - order.indexOf(b.policy));
      for (const cell of rows) {
        const reference = REFERENCES[cell.policy];
        const colour = reference ? "#8C8C8C" : SERIES[order.indexOf(cell.policy) % SERIES.length];
        const bar = tag("div", { class: "bar", "aria-hidden": "true" },
          tag("i", { style: `width:${(100 * cell.mean) / most}%;background:${colour}${reference ? ";opacity:.5" : ""}` }));
        if (cell.ci95) {
          const [low, high] = cell.ci95.map((one) => Math.min(Math.max((100 * one) / most, 0), 100));
          bar.append(tag("b", { style: `left:${low}%;width:${Math.max(high - low, 0.3)}%` }));
        }
        made.append(tag("tr", reference ? { class: "reference" } : {},
          tag("th", { scope: "row" }, reference ?? cell.policy), tag("td", {}, bar),
          tag("td", { class: "value" }, amount(cell.mean, cell.unit))));
      }
    }
    return made;
  });
  const note = cells.some((cell) => cell.ci95)
    ? [tag("p", { class: "note" }, "Means; the thin lines are 95 % confidence intervals, cut off at the longest bar.")] : [];
  host.replaceChildren(...tables, ...note);
}

/// The cpu-time breakdown, a bar for each policy and configuration.
export function breakdown(host, result) {
  const cells = result.cells.filter((cell) => cell.app === "all" && cell.metric.startsWith("breakdown_")
    && result.provenance.policies.includes(cell.policy));
  const cases = new Map();
  for (const cell of cells) {
    const key = JSON.stringify([settings(cell), cell.policy]);
    cases.set(key, [...(cases.get(key) ?? []), [cell.metric.slice("breakdown_".length), cell.mean]]);
  }
  const used = new Set();
  const made = table("Share of the cpu time of all cpus");
  let last = "";
  for (const [key, parts] of cases) {
    const [configuration, policy] = JSON.parse(key);
    if (configuration !== last) {
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
    made.append(tag("tr", {}, tag("th", { scope: "row" }, policy), tag("td", {}, bar),
      tag("td", { class: "value" }, `${Math.round(100 * useful)} % useful`)));
  }
  const keys = Object.keys(CATEGORIES).filter((name) => used.has(name)).map((name) => {
    const swatch = tag("span", { class: "swatch" });
    swatch.style.background = CATEGORIES[name][1];
    return tag("span", {}, swatch, CATEGORIES[name][0]);
  });
  host.replaceChildren(tag("div", { class: "keys" }, ...keys), made);
}
