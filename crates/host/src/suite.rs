//! The measured suite: more than two hundred cells of ten kinds, as scenarios made to last about equally
//! long.

use scenario::plan::Experiment;
use scenario::{Overrides, load};

use crate::facts::Host;
use crate::measure::{Group, PREDICTIONS, prepare};
use crate::memory::array;
use crate::plan;
use crate::real::kinds::is_kind;
use crate::refusal;
use crate::result::MACHINE;

/// Length of a run that is aimed at, in nanoseconds.
const TARGET: u64 = 200_000_000;
/// The same of the quick suite.
const QUICK: u64 = 20_000_000;
/// Intervals of a program: enough to have a mean, not more than are quickly simulated.
const INTERVALS: (u64, u64) = (4, 20_000);
/// Intervals of the first simulation, from which the number is derived.
const TRIAL: u64 = 24;
/// Ways to wait, as runtimes of scenarios.
const WAITS: [(&str, &str); 4] = [
    ("spin", "spin"),
    ("yield", "yield"),
    ("block", "block"),
    ("spin-then-block", "{ spin: { wait: spin-then-block, block_time: 500us, yielding: never } }"),
];
/// Stands for the number of intervals in a scenario.
pub(crate) const HOLE: &str = "INTERVALS";

/// A scenario of the suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// Kind of its cells.
    pub kind: &'static str,
    /// Its text; `INTERVALS`, `DEMAND` and `ARRAY` stand for numbers that [`groups`] derives, [`MACHINE`] for
    /// the machine.
    pub text: String,
}

/// Kind of the cells whose programs read memory.
pub const MEMORY_BOUND: &str = "memory-bound";
/// Kind of the cells whose programs begin sessions.
const SESSIONS: &str = "sessions";
/// What kinds of cells there are, in the order of the page.
pub const KINDS: &[&str] = &[
    "alone: spin",
    "alone: yield",
    "alone: block",
    "alone: spin-then-block",
    "variation",
    "two programs",
    "beside a hog",
    "nice",
    SESSIONS,
    "unpinned",
    MEMORY_BOUND,
];

/// All scenarios of the suite for a machine of so many cpus, or a few of them.
#[must_use]
pub fn questions(cpus: u32, quick: bool) -> Vec<Question> {
    let mut list = List { cpus, all: Vec::new() };
    list.alone();
    list.variation();
    list.two_programs();
    list.beside_a_hog();
    list.nice();
    list.sessions();
    list.unpinned();
    list.memory_bound();
    if quick {
        // The first of each kind.
        let first = |kind: &&str| list.all.iter().find(|question| question.kind == *kind).cloned();
        return KINDS.iter().filter_map(first).collect();
    }
    list.all
}

struct List {
    cpus: u32,
    all: Vec<Question>,
}

/// A program of `tasks` tasks with this interval and way to wait.
fn program(name: &str, grain: &str, runtime: &str, tasks: u32, more: &str) -> String {
    format!(
        "  {name}: {{ workload: {{ spmd: {{ grain: {grain}, intervals: {HOLE}{more} }} }}, runtime: \
            {runtime}, tasks: {tasks} }}\n"
    )
}

impl List {
    fn add(&mut self, kind: &'static str, name: &str, policy: &str, apps: &str) {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let text = format!(
            "name: {name}\nmachine: {{ {MACHINE}: {{ work_unit: own }} }}\napps:\n{apps}policies: \
                [{policy}]\n\
                baseline: none\n"
        );
        self.all.push(Question { kind, text });
    }

    fn alone(&mut self) {
        for ((wait, runtime), kind) in WAITS.into_iter().zip(KINDS) {
            for per_core in 1..=4 {
                for grain in ["20us", "100us", "500us", "2ms", "5ms", "20ms"] {
                    let apps = program("p", grain, runtime, per_core * self.cpus, "");
                    self.add(kind, &format!("{wait} {per_core} per core {grain}"), "PIN", &apps);
                }
            }
        }
    }

    fn variation(&mut self) {
        for (wait, runtime) in &WAITS[..3] {
            for more in [", spread: 15%", ", spread: 50%", ", imbalance: 20%"] {
                for per_core in [1, 2] {
                    let apps = program("p", "1ms", runtime, per_core * self.cpus, more);
                    let name = format!("{wait} {per_core} per core 1ms{}", more.replace([',', ':', '%'], ""));
                    self.add("variation", &name, "PIN", &apps);
                }
            }
        }
    }

    fn two_programs(&mut self) {
        let pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
        for (a, b) in pairs {
            for grain in ["100us", "1ms", "5ms"] {
                let mut apps = program("a", grain, WAITS[a].1, self.cpus, "");
                apps.push_str(&program("b", grain, WAITS[b].1, self.cpus, ""));
                let name = format!("{} and {} {grain}", WAITS[a].0, WAITS[b].0);
                self.add("two programs", &name, "PIN", &apps);
            }
        }
    }

    fn beside_a_hog(&mut self) {
        for (wait, runtime) in WAITS {
            for hogs in [1, self.cpus] {
                for grain in ["100us", "1ms", "5ms"] {
                    let mut apps = program("p", grain, runtime, self.cpus, "");
                    for hog in 0..hogs {
                        apps.push_str(&format!("  h{hog}: {{ workload: hog, cpus: [{hog}] }}\n"));
                    }
                    self.add("beside a hog", &format!("{wait} {grain} {hogs} hogs"), "PIN", &apps);
                }
            }
        }
    }

    fn nice(&mut self) {
        for (wait, runtime) in &WAITS[..3] {
            for (own, other) in [(5, 0), (0, 10)] {
                for grain in ["1ms", "5ms"] {
                    let line = program("p", grain, runtime, self.cpus, "");
                    let mut apps = line.replace(" }\n", &format!(", nice: {own} }}\n"));
                    apps.push_str(&format!(
                        "  h: {{ workload: hog, tasks: {}, nice: {other} }}\n",
                        self.cpus
                    ));
                    self.add("nice", &format!("{wait} {grain} nice {own} {other}"), "PIN", &apps);
                }
            }
        }
        for nice in [1, 5, 10] {
            let apps = format!(
                "  a: {{ workload: {{ hog: {{ work: 100ms }} }}, tasks: 1, cpus: [0] }}\n  b: {{ workload: \
                    {{ hog: {{ work: 100ms }} }}, tasks: 1, cpus: [0], nice: {nice} }}\n"
            );
            self.add("nice", &format!("hogs nice 0 {nice}"), "PIN", &apps);
        }
    }

    /// Each program in a session of its own: task groups, where autogroup is on.
    fn sessions(&mut self) {
        let of = |line: &str, session: &str| line.replace(" }\n", &format!(", session: {session} }}\n"));
        for (wait, runtime) in &WAITS[..3] {
            for hogs in [1, 3] {
                for grain in ["1ms", "5ms"] {
                    let mut apps = of(&program("p", grain, runtime, self.cpus, ""), "one");
                    let tasks = hogs * self.cpus;
                    apps.push_str(&format!("  h: {{ workload: hog, tasks: {tasks}, session: two }}\n"));
                    self.add(SESSIONS, &format!("{wait} {grain} beside {hogs} hogs"), "PIN", &apps);
                }
            }
            let mut apps = of(&program("a", "1ms", runtime, self.cpus, ""), "one");
            apps.push_str(&of(&program("b", "1ms", runtime, 3 * self.cpus, ""), "two"));
            self.add(SESSIONS, &format!("{wait} 1 and 3 per core"), "PIN", &apps);
        }
    }

    fn unpinned(&mut self) {
        for (wait, runtime) in &WAITS[..3] {
            for tasks in [self.cpus, self.cpus + 1, 2 * self.cpus, 2 * self.cpus + 1] {
                for grain in ["1ms", "5ms"] {
                    let apps = program("p", grain, runtime, tasks, "");
                    self.add("unpinned", &format!("{wait} {tasks} tasks {grain}"), "LOAD", &apps);
                }
            }
        }
        for tasks in [self.cpus + 1, 2 * self.cpus + 1] {
            let apps = format!("  a: {{ workload: {{ hog: {{ work: 100ms }} }}, tasks: {tasks} }}\n");
            self.add("unpinned", &format!("hogs {tasks}"), "LOAD", &apps);
        }
    }

    fn memory_bound(&mut self) {
        for (wait, runtime) in &WAITS[1..3] {
            for per_core in [1, 2] {
                for grain in ["1ms", "5ms"] {
                    let more = ", bound: 100%, demand: DEMAND, working_set: ARRAY";
                    let apps = program("p", grain, runtime, per_core * self.cpus, more);
                    self.add(MEMORY_BOUND, &format!("{wait} {per_core} per core {grain}"), "PIN", &apps);
                }
            }
        }
    }
}

/// The text of a scenario with a number of intervals and the traffic of a task. The working set of a
/// memory-bound task is the array that it reads on this host.
pub(crate) fn text(question: &Question, intervals: u64, demand: u64) -> String {
    let text = question.text.replace(HOLE, &intervals.to_string());
    let text = text.replace("ARRAY", &format!("{}MiB", array() >> 20));
    text.replace("DEMAND", &format!("{:.3}GB/s", demand as f64 / 1e9))
}

/// Reads a scenario of the suite for a machine, a name or a path in quotes.
pub(crate) fn read(text: &str, machine: &str, repeat: u32) -> Result<Experiment, String> {
    let overrides = Overrides { repeat: Some(repeat), ..Overrides::default() };
    load("suite", &text.replace(MACHINE, machine), &overrides)
}

/// Predicts the whole suite on a machine, a name or a path. The number of intervals is the one with which a
/// run lasts about 0.2 s (0.02 s if `quick`).
///
/// # Errors
/// A sentence: what cannot be executed on this host, or what is wrong with the machine file.
pub fn groups(
    questions: &[Question],
    machine: &str,
    (repeat, quick): (u32, bool),
    host: &Host,
    progress: &dyn Fn(),
) -> Result<Vec<Group>, String> {
    let target = if quick { QUICK } else { TARGET };
    // Quotes of JSON are quotes of YAML.
    let machine = serde_json::to_string(machine).map_err(|e| e.to_string())?;
    let mut groups = Vec::new();
    // Without autogroup a session is no group.
    for question in questions.iter().filter(|question| host.autogroup || question.kind != SESSIONS) {
        let trial = read(&text(question, TRIAL, 1_000_000_000), &machine, 1)?;
        let Some(run) = trial.runs.first() else { continue };
        let demand = run.machine.memory.core_bandwidth;
        let fitting = read(&text(question, TRIAL, demand), &machine, 1)?;
        let Some(run) = fitting.runs.first() else { continue };
        refusal::check_by(run, host, is_kind(question.kind))?;
        let length = plan::simulate(&plan::released(run), &host.others)?.report.makespan.ns().max(1);
        let length = length.saturating_sub(run.options.start_jitter.ns()).max(1);
        let intervals = (u128::from(TRIAL) * u128::from(target) / u128::from(length)) as u64;
        let intervals = intervals.clamp(INTERVALS.0, INTERVALS.1);
        let text = text(question, intervals, demand);
        let experiment = read(&text, &machine, repeat.saturating_mul(PREDICTIONS))?;
        let mut predicted = prepare(&experiment, question.kind, repeat, host)?;
        predicted.iter_mut().for_each(|group| group.text.clone_from(&text));
        groups.extend(predicted);
        progress();
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_has_more_than_two_hundred_cells_of_every_kind() {
        let all = questions(2, false);
        assert!(all.len() >= 200, "{}", all.len());
        assert!(KINDS.iter().all(|kind| all.iter().any(|question| question.kind == *kind)));
        let names: std::collections::BTreeSet<_> =
            all.iter().map(|question| question.text.lines().next().map(str::to_owned)).collect();
        let kinds: std::collections::BTreeSet<_> = all.iter().map(|question| question.kind).collect();
        assert!(names.len() + kinds.len() > all.len() - 40, "names tell the cells of a kind apart");
    }

    #[test]
    fn every_scenario_of_the_suite_is_valid_and_can_be_executed() {
        let host = Host { cpus: 2, release: "6.18.0".into(), autogroup: true, ..Host::unknown() };
        for question in questions(2, false) {
            let trial = read(&text(&question, 4, 1_000_000_000), "xeon-2vcpu", 1).unwrap();
            let demand = trial.runs[0].machine.memory.core_bandwidth;
            let experiment = read(&text(&question, 4, demand), "xeon-2vcpu", 1).unwrap();
            refusal::check(&experiment.runs[0], &host).unwrap();
        }
    }

    #[test]
    fn the_quick_suite_is_predicted() {
        let host = Host { cpus: 2, release: "6.18.0".into(), ..Host::unknown() };
        let questions = questions(2, true);
        assert_eq!(questions.len(), KINDS.len());
        let groups = groups(&questions, "xeon-2vcpu", (1, true), &host, &|| {}).unwrap();
        // This host forms no groups by session.
        assert!(groups.iter().map(Group::cells).sum::<usize>() >= KINDS.len() - 1);
        assert!(groups.iter().all(|group| group.longest() < 1_000_000_000));
    }
}
