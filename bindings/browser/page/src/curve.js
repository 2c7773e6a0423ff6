// A sweep as a curve: a value over the numbers of a swept path, a line for each policy and other setting.
import { amount, SERIES } from "./look.js";
import { shape, size, step, tag } from "./dom.js";

/// Fewer values are better seen as bars.
const LEAST = 3;
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 260, 62, 12, 12, 44];

const written = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/// The swept path to draw along: the first one with at least three numbers.
function along(cells) {
  for (const path of new Set(cells.flatMap((cell) => Object.keys(cell.settings ?? {})))) {
    const values = [...new Set(cells.map((cell) => written(cell.settings?.[path] ?? "")))];
    if (values.length >= LEAST && values.every((value) => Number.isFinite(size(value)))) return path;
  }
  return null;
}

/// A figure for each program; none where nothing is swept over numbers.
export function curves(host, result, metric, words) {
  const own = result.cells.filter((cell) => cell.metric === metric && Number.isFinite(cell.mean)
    && result.provenance.policies.includes(cell.policy));
  const path = along(own);
  const apps = path === null ? [] : [...new Set(own.map((cell) => cell.app))];
  host.replaceChildren(...apps.map((app) => figure(own.filter((cell) => cell.app === app), path, `${app}: ${words}`)));
}

function figure(cells, path, caption) {
  const lines = new Map();
  for (const cell of cells) {
    const others = Object.entries(cell.settings).filter(([key]) => key !== path)
      .map(([key, value]) => `${key.replace(/^.*\./, "")}=${written(value)}`);
    const key = [cell.policy, ...others].join(", ");
    lines.set(key, [...(lines.get(key) ?? []), cell]);
  }
  const place = (cell) => size(written(cell.settings[path]));
  const [low, high] = [Math.min(...cells.map(place)), Math.max(...cells.map(place))];
  // Values over more than a factor of 50 are spread by their logarithm.
  const scale = low > 0 && high / low > 50 ? Math.log : (value) => value;
  const most = Math.max(...cells.map((cell) => Math.max(cell.mean, cell.ci95?.[1] ?? 0)), 1e-12);
  const by = step(most, 5);
  const top = Math.ceil(most / by - 1e-9) * by;
  const x = (value) => LEFT + ((scale(value) - scale(low)) / ((scale(high) - scale(low)) || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const label = (at, down, text, anchor) => shape("text", { x: at, y: down, "text-anchor": anchor, class: "tick" }, text);
  const drawn = [];
  for (let value = 0; value <= top * (1 + 1e-9); value += by) {
    drawn.push(shape("path", { d: `M${LEFT} ${y(value)}H${WIDTH - RIGHT}`, class: "grid" }),
      label(LEFT - 5, y(value) + 4, amount(value, cells[0].unit), "end"));
  }
  let free = -Infinity;
  for (const [value, text] of new Map(cells.map((cell) => [place(cell), written(cell.settings[path])]).sort((a, b) => a[0] - b[0]))) {
    if (x(value) - free < 24) continue;
    free = x(value);
    drawn.push(label(x(value), HEIGHT - BOTTOM + 16, text, "middle"));
  }
  drawn.push(label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, path, "middle"));
  [...lines].forEach(([name, points], at) => {
    const sorted = points.sort((a, b) => place(a) - place(b));
    const colour = SERIES[at % SERIES.length];
    const line = sorted.map((cell, one) => `${one === 0 ? "M" : "L"}${x(place(cell)).toFixed(1)} ${y(cell.mean).toFixed(1)}`).join("");
    drawn.push(shape("path", { d: line, class: "line", stroke: colour, "stroke-dasharray": at >= SERIES.length ? "4 3" : "none" }));
    for (const cell of sorted) {
      if (cell.ci95) drawn.push(shape("path", { d: `M${x(place(cell))} ${y(cell.ci95[0])}V${y(cell.ci95[1])}`, class: "interval", stroke: colour }));
      drawn.push(shape("circle", { cx: x(place(cell)), cy: y(cell.mean), r: 3, fill: colour },
        shape("title", {}, `${name}, ${path}=${written(cell.settings[path])}: ${amount(cell.mean, cell.unit)}`)));
    }
  });
  const keys = [...lines.keys()].map((name, at) => {
    const swatch = tag("span", { class: "swatch" });
    swatch.style.background = SERIES[at % SERIES.length];
    return tag("span", {}, swatch, name);
  });
  return tag("figure", { class: "curve" }, tag("figcaption", {}, `${caption}, over ${path}`),
    shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${caption} over ${path}; the bars below have the numbers` }, ...drawn),
    tag("div", { class: "keys" }, ...keys));
}
