// Goes through the decisions of a run one by one: what happened, why, and the queue as the scheduler sees it.
import { time } from "../../../../crates/pictures/src/page/timeline.js";
import { button, tag } from "./dom.js";

/// Time between two decisions while playing, in milliseconds.
const PACE = 900;

export class Player {
  /// `ask(run, window)` asks for the decisions of a run, by its place in the timeline; `timeline()` is the shown timeline or null.
  constructor(host, ask, timeline) {
    Object.assign(this, { host, ask, timeline, steps: null, at: 0, timer: null });
    this.runs = tag("select", { "aria-label": "Run to go through" });
    this.runs.addEventListener("change", () => this.open());
    this.cpus = tag("select", { "aria-label": "Cpus to go through" });
    this.cpus.addEventListener("change", () => this.filter());
    this.play = button("Play", { "aria-pressed": "false" }, () => this.toggle());
    this.place = tag("span", { class: "timeline-range" });
    this.what = tag("p", { class: "decision", role: "status", "aria-live": "polite" });
    this.queue = tag("div", {});
    this.body = tag("div", { hidden: "" },
      tag("div", { class: "tools" }, this.runs, this.cpus,
        button("Back", {}, () => this.go(this.at - 1)), this.play, button("Next decision", {}, () => this.go(this.at + 1)), this.place),
      this.what, this.queue);
    this.start = button("Go through the decisions", {}, () => this.open());
    host.replaceChildren(this.start, this.body);
  }

  /// Another timeline is shown: what was loaded belongs to the one before it.
  forget() {
    this.pause();
    this.body.hidden = true;
    this.start.hidden = false;
    this.runs.replaceChildren();
  }

  /// Asks for the decisions of the window that the timeline shows.
  open() {
    const timeline = this.timeline();
    if (!timeline) return;
    this.pause();
    if (this.runs.options.length === 0) {
      this.runs.replaceChildren(...timeline.data.runs.map((run, at) => new Option(run.label, String(at))));
    }
    this.start.hidden = true;
    this.body.hidden = false;
    this.what.textContent = "Looking at each decision.";
    this.queue.replaceChildren();
    this.ask(Number(this.runs.value), [Math.floor(timeline.from), Math.ceil(timeline.to)]);
  }

  /// The decisions, or why there are none.
  show(answer) {
    this.steps = answer.ok ? answer.steps.steps : [];
    if (this.steps.length === 0) {
      this.what.textContent = answer.ok ? "No decision in this window: zoom out and try again." : answer.why;
      this.start.hidden = false;
      return;
    }
    this.more = answer.steps.more;
    const cpus = [...new Set(this.steps.map((one) => one.cpu).filter((cpu) => cpu !== null))].sort((a, b) => a - b);
    this.cpus.replaceChildren(new Option("all cpus", ""), ...cpus.map((cpu) => new Option(`cpu ${cpu}`, String(cpu))));
    this.filter();
  }

  filter() {
    const cpu = this.cpus.value === "" ? null : Number(this.cpus.value);
    this.shown = this.steps.filter((one) => cpu === null || one.cpu === cpu);
    this.go(0);
  }

  go(to) {
    if (!this.shown?.length) return;
    this.at = Math.min(Math.max(to, 0), this.shown.length - 1);
    if (to >= this.shown.length) this.pause();
    const step = this.shown[this.at];
    const more = this.more > 0 ? ` (and ${this.more} later ones: zoom in)` : "";
    this.place.textContent = `${this.at + 1} of ${this.shown.length}${more}, ${time(step.at_ns, 7)}`;
    this.what.replaceChildren(tag("strong", {}, step.text), step.reason === "" ? "" : ` ${step.reason}`);
    this.queue.replaceChildren(...this.standing(step));
    this.mark(step);
  }

  /// Who has the cpu and who waits, with what the scheduler sorts by.
  standing(step) {
    const all = [...(step.running ? [["runs", step.running]] : []), ...step.queue.map((one, at) => [`waits, ${at + 1}`, one])];
    if (step.cpu === null || all.length === 0) return step.cpu === null ? [] : [tag("p", { class: "note" }, `Cpu ${step.cpu} has nothing to run.`)];
    const names = [...new Set(all.flatMap(([, one]) => one.keys.map(([name]) => name)))];
    const head = tag("tr", {}, ...[`Cpu ${step.cpu}`, "", ...names].map((name) => tag("th", { scope: "col" }, name)));
    const rows = all.map(([role, one]) => {
      const keys = new Map(one.keys);
      return tag("tr", {}, tag("th", { scope: "row" }, one.thread), tag("td", {}, one.polls ? `${role}, polls` : role),
        ...names.map((name) => tag("td", { class: "value" }, keys.get(name) ?? "")));
    });
    return [tag("table", { class: "sides queue" }, head, ...rows)];
  }

  /// Shows the decision in the timeline.
  mark(step) {
    const timeline = this.timeline();
    if (!timeline) return;
    const { rows } = timeline.data;
    const row = rows.findIndex((one) => one.cpus.includes(step.cpu));
    if (row < 0) return;
    if (step.at_ns < timeline.from || step.at_ns > timeline.to) {
      const half = (timeline.to - timeline.from) / 2;
      timeline.window(step.at_ns - half, step.at_ns + half);
    }
    timeline.tell({ run: Number(this.runs.value), row, ns: step.at_ns });
  }

  toggle() {
    if (this.timer !== null) {
      this.pause();
      return;
    }
    // Where motion is announced one by one, a reader would not keep up.
    this.what.setAttribute("aria-live", "off");
    this.play.textContent = "Pause";
    this.play.setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => this.go(this.at + 1), PACE);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.what.setAttribute("aria-live", "polite");
    this.play.textContent = "Play";
    this.play.setAttribute("aria-pressed", "false");
  }
}
