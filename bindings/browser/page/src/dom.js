// Small helpers of all parts of the page.

export const get = (id) => document.getElementById(id);

/// An element with attributes and children.
export function tag(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/// The same of SVG.
export function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/// A button with an action.
export function button(text, attributes, act) {
  const made = tag("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

const SCALE = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

/// A value of a scenario as a number: durations in nanoseconds; NaN if it is no number.
export function size(text) {
  const [, number, unit] = /^(-?[\d.]+)\s*([a-z%]*)$/.exec(String(text).trim()) ?? [];
  return number === undefined ? NaN : Number(number) * (SCALE[unit] ?? 1);
}

/// Steps of 1, 2 or 5 times a power of ten, at most `most` in `span`.
export function step(span, most) {
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw * (1 - 1e-9));
}

/// Saves a blob as a file.
export function save(blob, name) {
  const link = tag("a", { download: name });
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
