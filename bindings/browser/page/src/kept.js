// Two settings side by side: what was kept, and what is shown now.
import { title } from "./bars.js";
import { tag } from "./dom.js";
import { amount, settings, varied } from "./look.js";

/// The changes of a state in words.
export function changes(state) {
  const words = [
    ...(state.policies ? [state.policies.join(", ")] : []),
    ...[...state.set].map(([path, value]) => `${path}=${value}`),
    ...[...state.sweep].map(([path, value]) => `${path}=${value}`),
    ...(state.seed === null ? [] : [`seed ${state.seed}`]),
  ];
  const name = state.scenario ?? "own text";
  return words.length === 0 ? `${name} as written` : `${name}: ${words.join(", ")}`;
}

/// A table of both for each case that both have; the factor is that of now over then.
export function sides(host, kept, now, metric) {
  const cells = (result) => result.cells.filter((cell) => cell.metric === metric && Number.isFinite(cell.mean)
    && result.provenance.policies.includes(cell.policy));
  const [before, after] = [cells(kept.result), cells(now)];
  const [oldPaths, newPaths] = [varied(before), varied(after)];
  const pairs = after.flatMap((cell) => {
    const old = before.find((one) => one.app === cell.app && one.policy === cell.policy && settings(one, oldPaths) === settings(cell, newPaths));
    return old ? [[cell, old]] : [];
  });
  if (pairs.length === 0) {
    host.replaceChildren(tag("p", { class: "note" }, "The two have no case in common: compare the timelines."));
    return;
  }
  const rows = pairs.map(([cell, old]) => {
    const factor = cell.mean / old.mean;
    const words = !Number.isFinite(factor) ? "" : `${Number(factor.toPrecision(3))} times`;
    const name = [cell.app === "all" ? "all programs" : cell.app, cell.policy, settings(cell, newPaths)].filter(Boolean).join(", ");
    return tag("tr", {}, tag("th", { scope: "row" }, name), ...[amount(old.mean, old.unit), amount(cell.mean, cell.unit), words]
      .map((text) => tag("td", { class: "value" }, text)));
  });
  const head = tag("tr", {}, ...["", "Kept", "Now", "Now / kept"].map((text) => tag("th", { scope: "col" }, text)));
  host.replaceChildren(tag("table", { class: "sides" }, tag("caption", {}, title(metric)), head, ...rows));
}
