// Draws the timeline of `pictures::timeline::data` into an element: zoom, pan, texts under the pointer, legend. No imports,
// so that a page can inline it. Colours of the page come from the custom properties --ink, --muted, --grid, --paper, --idle.

const HUES = ["#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#F0E442", "#D55E00"];
const OTHERS = "#8C8C8C";
const [RIGHT, HEAD, AXIS, GAP] = [8, 36, 20, 10];
// The shortest window that can be shown, in nanoseconds.
const SHORTEST = 1000;

/// A time in nanoseconds with a unit and about `digits` digits.
export function time(ns, digits = 4) {
  const [unit, size] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["us", 1e3] : ["ns", 1];
  return `${Number((ns / size).toPrecision(digits))} ${unit}`;
}

function mixed(colour, part, other) {
  const channels = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [channels(colour), channels(other)];
  return `#${a.map((c, i) => Math.round(c * part + b[i] * (1 - part)).toString(16).padStart(2, "0")).join("")}`;
}

/// Fills of states by owner; `paper` and `idle` are colours as #RRGGBB.
function palette(context, data, paper, idle, ink) {
  const known = new Map();
  const tile = (lines, ground, draw) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 6;
    const pen = canvas.getContext("2d");
    pen.fillStyle = ground;
    pen.fillRect(0, 0, 6, 6);
    pen.fillStyle = pen.strokeStyle = lines;
    draw(pen);
    return context.createPattern(canvas, "repeat");
  };
  const strokes = (width, rising) => (pen) => {
    pen.lineWidth = width;
    for (const shift of [-6, 0, 6]) {
      pen.beginPath();
      pen.moveTo(shift - 1, rising ? 7 : -1);
      pen.lineTo(shift + 7, rising ? -1 : 7);
      pen.stroke();
    }
  };
  const colour = (app, thread) => {
    const place = data.threads && thread >= 0 ? thread : data.threads ? -1 : app;
    return place < 0 ? OTHERS : HUES[place % HUES.length];
  };
  const make = (state, base) => {
    switch (data.states[state]) {
      case "computes": return base;
      case "memory stall": return mixed(base, 0.5, paper);
      case "shared core (SMT)": return tile(base, mixed(base, 0.5, paper), (pen) => pen.fillRect(0, 0, 3, 6));
      case "page initialisation": return tile(base, mixed(base, 0.25, paper), (pen) => pen.fillRect(1, 1, 3, 3));
      case "spins": return tile(base, paper, strokes(2.4, true));
      case "yields": return tile(base, paper, strokes(1.2, false));
      case "switch": return mixed(ink, 0.85, paper);
      case "migration cost": return ink;
      case "kernel": return "#9A9A9A";
      default: return idle;
    }
  };
  return {
    colour,
    fill(state, app, thread) {
      const base = data.coloured[state] ? colour(app, thread) : OTHERS;
      const key = `${state} ${base}`;
      if (!known.has(key)) known.set(key, make(state, base));
      return known.get(key);
    },
  };
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/// Steps of 1, 2 or 5 times a power of ten, at most `most` in `span`.
function step(span, most) {
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
}

/// A timeline in an element. `data` is that of `pictures::timeline::data`.
export class Timeline {
  constructor(host, data) {
    this.host = host;
    this.canvas = element("canvas", { tabindex: "0", role: "img" });
    this.text = element("p", { class: "timeline-text", role: "status", "aria-live": "polite" });
    this.legend = element("div", { class: "timeline-legend" });
    this.message = element("p", { class: "timeline-message" });
    const button = (label, title, act) => {
      const made = element("button", { type: "button", title, "aria-label": title }, label);
      made.addEventListener("click", act);
      return made;
    };
    const tools = element("div", { class: "timeline-tools", role: "group", "aria-label": "Window of the timeline" },
      button("+", "Zoom in (+)", () => this.zoom(0.5)),
      button("−", "Zoom out (-)", () => this.zoom(2)),
      button("◀", "Earlier (left arrow)", () => this.pan(-0.25)),
      button("▶", "Later (right arrow)", () => this.pan(0.25)),
      button("Whole window", "Whole window (0)", () => this.whole()));
    this.range = element("span", { class: "timeline-range" });
    tools.append(this.range);
    host.replaceChildren(this.message, tools, this.canvas, this.text, this.legend);
    this.listen();
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(host);
    this.show(data);
  }

  /// Shows other data in the same element; keeps the window if it lies in the same span.
  show(data) {
    const same = this.data && this.data.from_ns === data.from_ns && this.data.to_ns === data.to_ns;
    this.data = data;
    // Room for the names of rows.
    this.left = Math.max(...data.rows.map((row) => row.name.length)) > 4 ? 52 : 34;
    if (!same) [this.from, this.to] = [data.from_ns, data.to_ns];
    this.place = null;
    // Slices of each run and row, in order of time.
    this.lines = data.runs.map((run) => {
      const lines = data.rows.map(() => []);
      for (const slice of run.slices) lines[slice[0]]?.push(slice);
      return lines;
    });
    this.message.textContent = `${data.message} ${data.headline}.`;
    this.text.textContent = "Point at the timeline, or click it and use the wheel or the keys: arrows, + and -, 0, n (next event).";
    const labels = data.runs.map((run) => `${run.label}: ${run.facts}`).join("; ");
    this.canvas.setAttribute("aria-label", `Timeline of the cpus. ${data.message} ${labels}`);
    this.draw();
  }

  destroy() {
    this.resized.disconnect();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      // The wheel scrolls the page unless Ctrl is held or the timeline was clicked, and also where it can zoom out no further.
      const asked = event.ctrlKey || event.metaKey;
      const whole = this.from === this.data.from_ns && this.to === this.data.to_ns;
      if (!asked && (document.activeElement !== canvas || (whole && event.deltaY >= 0))) {
        if (!whole || event.deltaY < 0) this.hint();
        return;
      }
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.pan(Math.sign(event.deltaX || event.deltaY) * 0.1);
      } else {
        this.zoom(Math.exp(event.deltaY * 0.002), this.at(event.offsetX));
      }
    }, { passive: false });
    let drag = null;
    const touches = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, from: this.from, to: this.to };
      touches.set(event.pointerId, event);
      canvas.setPointerCapture(event.pointerId);
      this.point(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (touches.size === 2 && touches.has(event.pointerId)) {
        // Two fingers zoom around the place between them.
        const apart = () => {
          const [a, b] = [...touches.values()];
          return [Math.max(Math.abs(a.clientX - b.clientX), 1), (a.offsetX + b.offsetX) / 2];
        };
        const [before] = apart();
        touches.set(event.pointerId, event);
        const [after, middle] = apart();
        this.zoom(before / after, this.at(middle));
        return;
      }
      if (drag && Math.abs(event.clientX - drag.x) > 2) {
        const shift = ((drag.x - event.clientX) / this.width) * (drag.to - drag.from);
        this.window(drag.from + shift, drag.to + shift);
      } else {
        this.point(event.offsetX, event.offsetY);
      }
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => {
        touches.delete(event.pointerId);
        drag = null;
      });
    }
    canvas.addEventListener("keydown", (event) => {
      const acts = {
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.whole(),
        Home: () => this.whole(), ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
        ArrowUp: () => this.move(-1), ArrowDown: () => this.move(1), n: () => this.event(1), p: () => this.event(-1),
      };
      const act = acts[event.key];
      if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        act();
      }
    });
  }

  /// Says once how to zoom.
  hint() {
    if (this.hinted) return;
    this.hinted = true;
    this.text.textContent = "The wheel scrolls the page: click the timeline first, or hold Ctrl, to zoom with it.";
  }

  at(x) {
    return this.from + ((x - this.left) / this.width) * (this.to - this.from);
  }

  x(ns) {
    return this.left + ((ns - this.from) / (this.to - this.from)) * this.width;
  }

  window(from, to) {
    const { from_ns: first, to_ns: last } = this.data;
    const span = Math.min(Math.max(to - from, Math.min(SHORTEST, last - first)), last - first);
    this.from = Math.min(Math.max(from, first), last - span);
    this.to = this.from + span;
    this.draw();
    this.moved?.(this.from, this.to);
  }

  zoom(factor, around = this.place?.ns ?? (this.from + this.to) / 2) {
    const inside = Math.min(Math.max(around, this.from), this.to);
    const span = Math.min(Math.max((this.to - this.from) * factor, SHORTEST), this.data.to_ns - this.data.from_ns);
    const from = inside - ((inside - this.from) / (this.to - this.from)) * span;
    this.window(from, from + span);
  }

  pan(part) {
    const shift = (this.to - this.from) * part;
    this.window(this.from + shift, this.to + shift);
  }

  whole() {
    this.window(this.data.from_ns, this.data.to_ns);
  }

  /// Moves the place of the keyboard by rows.
  move(rows) {
    const all = this.data.runs.length * this.data.rows.length;
    const now = this.place ? this.place.run * this.data.rows.length + this.place.row : -rows;
    const next = Math.min(Math.max(now + rows, 0), all - 1);
    this.tell({
      run: Math.floor(next / this.data.rows.length),
      row: next % this.data.rows.length,
      ns: this.place?.ns ?? (this.from + this.to) / 2,
    });
  }

  /// Goes to the next (1) or previous (-1) mark of the run.
  event(direction) {
    const run = this.place?.run ?? 0;
    const { marks } = this.data.runs[run];
    const now = this.place?.mark ?? marks.findIndex((mark) => mark.at_ns >= (this.place?.ns ?? this.from)) - (direction > 0 ? 1 : 0);
    const mark = marks[now + direction];
    if (!mark) {
      this.text.textContent = "No further event in this run.";
      return;
    }
    if (mark.at_ns < this.from || mark.at_ns > this.to) {
      const half = (this.to - this.from) / 2;
      this.window(mark.at_ns - half, mark.at_ns + half);
    }
    this.tell({ run, row: mark.to ?? mark.from ?? this.place?.row ?? 0, ns: mark.at_ns, mark: now + direction });
  }

  point(x, y) {
    const { rows } = this.data;
    const run = Math.floor(y / this.block);
    const row = Math.floor((y - run * this.block - HEAD) / this.row);
    if (!this.data.runs[run] || row < 0 || row >= rows.length || x < this.left || x > this.left + this.width) return;
    this.tell({ run, row, ns: this.at(x), near: (4 / this.width) * (this.to - this.from) });
  }

  owner(app, thread) {
    const name = this.data.apps[app] ?? "";
    return thread >= 0 ? `${name}.${thread}` : name;
  }

  /// Says what is at a place and marks it.
  tell(place) {
    this.place = place;
    const run = this.data.runs[place.run];
    const slice = this.lines[place.run][place.row].find((one) => one[1] <= place.ns && place.ns < one[2]);
    const { name } = this.data.rows[place.row];
    const says = [`${run.label}, ${/^\d/.test(name) ? "cpu " : ""}${name}, ${time(place.ns)}`];
    if (slice) {
      const [, from, to, , , parts] = slice;
      const shares = new Map();
      for (const [state, ns, app, thread] of parts) {
        const who = this.data.coloured[state] ? this.owner(app, thread) : "";
        const key = `${who} ${this.data.states[state]}`.trim();
        shares.set(key, (shares.get(key) ?? 0) + ns);
      }
      const sorted = [...shares].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
      const texts = sorted.slice(0, 4).map(([key, ns]) => {
        const share = (100 * ns) / (to - from);
        return `${key} ${share < 1 ? "< 1" : Math.round(share)} %`;
      });
      says.push(`${time(from)} to ${time(to)} (${time(to - from, 3)}): ${texts.join(", ")}`);
    }
    const near = place.mark === undefined
      ? run.marks.filter((mark) => Math.abs(mark.at_ns - place.ns) <= (place.near ?? 0)
        && (mark.kind !== "migration" || mark.from === place.row || mark.to === place.row))
      : [run.marks[place.mark]];
    for (const mark of near.slice(0, 2)) says.push(`${mark.kind} at ${time(mark.at_ns, 6)}: ${mark.text}`);
    this.text.textContent = says.join(" · ");
    this.draw();
  }

  draw() {
    const { canvas, data } = this;
    const width = this.host.clientWidth;
    if (!data || width < this.left + RIGHT + 20) return;
    this.width = width - this.left - RIGHT;
    this.row = data.rows.length > 32 ? Math.max(2, Math.floor(320 / data.rows.length)) : data.rows.length > 8 ? 11 : 18;
    this.block = HEAD + data.rows.length * this.row + AXIS + GAP;
    const height = this.block * data.runs.length;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(this.host);
    const [ink, muted, grid, paper, idle] = ["ink", "muted", "grid", "paper", "idle"]
      .map((name) => style.getPropertyValue(`--${name}`).trim());
    this.colours = { ink, muted, grid, paper };
    this.fills = palette(pen, data, paper, idle, ink);
    pen.fillStyle = paper;
    pen.fillRect(0, 0, width, height);
    pen.font = "11px system-ui, sans-serif";
    data.runs.forEach((run, number) => this.track(pen, run, number));
    this.range.textContent = `${time(this.from)} to ${time(this.to)}`;
    this.explain();
  }

  track(pen, run, number) {
    const { data, colours } = this;
    const top = number * this.block + HEAD;
    const bottom = top + data.rows.length * this.row;
    pen.fillStyle = colours.ink;
    pen.textAlign = "left";
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillText(run.label, this.left, top - 22, this.width);
    pen.fillStyle = colours.muted;
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(run.facts, this.left, top - 8, this.width);
    const every = Math.ceil(11 / this.row);
    pen.textAlign = "right";
    data.rows.forEach((row, at) => {
      if (at % every === 0) pen.fillText(row.name, this.left - 4, top + at * this.row + this.row / 2 + 4, this.left - 4);
    });
    pen.save();
    pen.beginPath();
    pen.rect(this.left, top, this.width, bottom - top);
    pen.clip();
    this.lines[number].forEach((slices, row) => this.line(pen, slices, top + row * this.row));
    data.rows.forEach((row, at) => {
      if (at > 0 && row.node !== data.rows[at - 1].node && data.rows.some((one) => one.node === row.node && one !== row)) {
        pen.fillStyle = colours.muted;
        pen.fillRect(this.left, top + at * this.row - 1, this.width, 1);
      }
    });
    this.marks(pen, run, top, bottom);
    const { place } = this;
    if (place?.run === number) {
      pen.strokeStyle = colours.ink;
      pen.lineWidth = 1;
      pen.strokeRect(this.x(place.ns) - 3, top + place.row * this.row + 0.5, 6, this.row - 1);
    }
    pen.restore();
    this.axis(pen, bottom);
  }

  /// One row. What is narrower than two pixels is summed up in columns.
  line(pen, slices, top) {
    const height = this.row - (this.row > 6 ? 1 : 0);
    const stack = (from, to, parts) => {
      const whole = parts.reduce((sum, part) => sum + part[1], 0);
      let base = top + height;
      for (const [state, ns, app, thread] of parts) {
        const part = (ns / whole) * height;
        base -= part;
        if (part > 0.05) {
          pen.fillStyle = this.fills.fill(state, app, thread);
          pen.fillRect(from, base, Math.max(to - from, 0.5), part);
        }
      }
    };
    let [column, sums] = [-1, null];
    const flush = () => {
      if (sums) stack(column, column + 2, [...sums.values()].sort((a, b) => a[0] - b[0]));
      sums = null;
    };
    for (const [, from, to, thread, app, parts] of slices) {
      if (to < this.from || from > this.to) continue;
      const [left, right] = [this.x(from), this.x(to)];
      if (right - left > 2) {
        flush();
        const [begin, end] = [Math.max(left, this.left), Math.min(right, this.left + this.width)];
        stack(begin, end, parts);
        if (thread >= 0 && this.row >= 11) this.number(pen, app, thread, begin, end, top + height / 2);
        continue;
      }
      const at = Math.floor(left / 2) * 2;
      if (!sums || at !== column) {
        flush();
        [column, sums] = [at, new Map()];
      }
      for (const [state, ns, app, thread] of parts) {
        const key = `${state} ${app} ${thread}`;
        const sum = sums.get(key) ?? [state, 0, app, thread];
        sum[1] += ns;
        sums.set(key, sum);
      }
    }
    flush();
  }

  /// The number of the thread in a slice that is wide enough, with the name of its program where there are several.
  number(pen, app, thread, begin, end, middle) {
    const long = this.data.threads ? String(thread) : this.owner(app, thread);
    const text = [long, String(thread)].find((one) => pen.measureText(one).width + 6 <= end - begin);
    if (!text) return;
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.lineWidth = 3;
    pen.strokeStyle = this.colours.paper;
    pen.strokeText(text, (begin + end) / 2, middle + 3.5);
    pen.fillStyle = this.colours.ink;
    pen.fillText(text, (begin + end) / 2, middle + 3.5);
  }

  marks(pen, run, top, bottom) {
    const shown = run.marks.filter((mark) => mark.at_ns >= this.from && mark.at_ns <= this.to);
    const barriers = shown.filter((mark) => mark.kind === "barrier");
    pen.strokeStyle = this.colours.ink;
    pen.fillStyle = this.colours.ink;
    for (const mark of shown) {
      const x = this.x(mark.at_ns);
      if (mark.kind === "barrier" && barriers.length * 6 < this.width) {
        pen.setLineDash([2, 2]);
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(x, top);
        pen.lineTo(x, bottom);
        pen.stroke();
        pen.setLineDash([]);
      } else if (mark.kind === "end") {
        pen.fillRect(x - 1, top, 2, bottom - top);
      } else if (mark.kind === "migration" && mark.from !== null && mark.to !== null) {
        const [from, to] = [mark.from, mark.to].map((row) => top + (row + 0.5) * this.row);
        pen.lineWidth = 1;
        pen.beginPath();
        pen.moveTo(x, from);
        pen.lineTo(x, to);
        pen.stroke();
        const tip = to > from ? -4 : 4;
        pen.beginPath();
        pen.moveTo(x, to);
        pen.lineTo(x - 3, to + tip);
        pen.lineTo(x + 3, to + tip);
        pen.fill();
      }
    }
  }

  axis(pen, bottom) {
    const by = step(this.to - this.from, Math.max(2, Math.floor(this.width / 90)));
    pen.fillStyle = this.colours.muted;
    pen.textAlign = "center";
    const [unit, size] = this.to >= 1e9 ? ["s", 1e9] : this.to >= 1e6 ? ["ms", 1e6] : ["us", 1e3];
    const digits = Math.max(0, Math.ceil(-Math.log10(by / size) - 1e-9));
    for (let at = Math.ceil(this.from / by) * by; at <= this.to; at += by) {
      const x = this.x(at);
      pen.fillRect(x, bottom, 1, 4);
      const half = 24;
      pen.fillText(`${(at / size).toFixed(digits)} ${unit}`, Math.min(Math.max(x, half), this.left + this.width - half + RIGHT), bottom + 15);
    }
  }

  /// The legend: owners, states that occur, marks.
  explain() {
    const { data } = this;
    const used = new Set();
    const threads = new Set();
    for (const run of data.runs) {
      for (const slice of run.slices) {
        for (const [state, ns, , thread] of slice[5]) {
          if (ns > 0) used.add(state);
          if (data.coloured[state] && thread >= 0) threads.add(thread);
        }
      }
    }
    const item = (text, paint, name = "area") => {
      const canvas = element("canvas", { width: "28", height: "20", class: name, "aria-hidden": "true" });
      canvas.style.cssText = "width:14px;height:10px";
      const pen = canvas.getContext("2d");
      pen.scale(2, 2);
      paint(pen);
      return element("span", { class: "timeline-key" }, canvas, text);
    };
    const area = (fill) => (pen) => {
      pen.fillStyle = fill;
      pen.fillRect(0, 0, 14, 10);
    };
    const owners = data.threads
      ? [element("span", { class: "timeline-key" }, `Colours: threads of ${data.apps[0]}, repeated after ${HUES.length}; grey: several threads. Numbers of threads show where there is room: zoom in`)]
      : data.apps.map((name, app) => item(name, area(this.fills.colour(app, -1))));
    const states = [...used].sort((a, b) => a - b).map((state) =>
      item(data.states[state], area(this.fills.fill(state, data.threads ? 0 : -1, data.threads ? 0 : -1))));
    const line = (dash) => (pen) => {
      pen.strokeStyle = this.colours.ink;
      pen.lineWidth = 1.5;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(7, 0);
      pen.lineTo(7, 10);
      pen.stroke();
    };
    const kinds = new Set(data.runs.flatMap((run) => run.marks.map((mark) => mark.kind)));
    const marks = [["barrier", "barrier complete (when zoomed in)", [2, 2]], ["migration", "migration (arrow)", []], ["end", "program ends", []]]
      .filter(([kind]) => kinds.has(kind)).map(([, text, dash]) => item(text, line(dash), "line"));
    this.legend.replaceChildren(...owners, ...states, ...marks);
  }
}
