// Colours and numbers of all figures.

export const SERIES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#F0E442"];

/// Three digits with the unit.
export function amount(value, unit) {
  if (unit === "share") return `${Number((100 * value).toPrecision(3))} %`;
  if (unit === "s" && value !== 0 && Math.abs(value) < 1) {
    return Math.abs(value) < 1e-3 ? `${Number((value * 1e6).toPrecision(3))} us` : `${Number((value * 1e3).toPrecision(3))} ms`;
  }
  const digits = Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-GB") : String(Number(value.toPrecision(3)));
  return unit === "s" ? `${digits} s` : unit === "%" ? `${digits} %` : digits;
}

/// The half-width of an interval in the unit and with the decimals of its mean; empty where that shows nothing.
export function half(cell) {
  if (!cell.ci95) return "";
  const width = (cell.ci95[1] - cell.ci95[0]) / 2;
  const [, number, unit] = /^(-?[\d.,]+)( .*)?$/.exec(amount(cell.mean, cell.unit)) ?? [];
  const shown = Number((number ?? "").replaceAll(",", ""));
  const least = 10 ** -Math.max(0, 2 - Math.floor(Math.log10(Math.abs(shown) || 1)));
  const rounded = Math.round(width / (cell.mean / shown) / least) * least;
  return rounded > 0 && Number.isFinite(rounded) ? `±${Number(rounded.toPrecision(3))}${unit ?? ""}` : "";
}

/// The swept paths that have several values: the others are the same in each row.
export const varied = (cells) => [...new Set(cells.flatMap((cell) => Object.keys(cell.settings ?? {})))]
  .filter((path) => new Set(cells.map((cell) => JSON.stringify(cell.settings?.[path]))).size > 1);

/// The settings of a cell in one line. `paths` limits them. A path is shown by its last word where that is enough.
export function settings(cell, paths = null) {
  const all = Object.entries(cell.settings ?? {}).filter(([path]) => paths === null || paths.includes(path));
  const last = (path) => path.replace(/^.*\./, "");
  const name = (path) => (all.filter(([other]) => last(other) === last(path)).length === 1 ? last(path) : path.replace(/^apps\./, ""));
  return all.map(([path, value]) => `${name(path)}=${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
}
