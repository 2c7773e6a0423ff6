//! What a certain kind of answer must not be read without: each caution is a row with the case in which it
//! applies, and its sentence.

use super::effects::of_busy;
use super::ranking::Standing;
use super::table::Table;
use crate::number::{self, listed, plural};
use crate::setups::Setup;

/// Median error, in per cent, of the predictions of memory-bound programs on the measured host:
/// `docs/validation-host.md`, row `memory-bound`. A test compares the two.
pub const MEMORY_BOUND_ERROR: u32 = 60;

/// From this share of the busy time on, memory decides how long a program takes.
const MEMORY_BOUND: f64 = 0.2;
/// From this share of the busy time on, hardware threads matter.
const SHARED_CORES: f64 = 0.01;
/// Names in a list.
const NAMED: usize = 3;

/// The best standing and how its programs are set up.
struct Case<'a, 'b> {
    table: &'b Table<'a>,
    best: &'b Standing<'a>,
    setups: Vec<&'a Setup>,
}

/// A caution: what it is about, and its sentence where it applies.
pub struct Caution {
    /// What it is about.
    pub name: &'static str,
    sentence: fn(&Case<'_, '_>) -> Option<String>,
}

/// All cautions.
pub const CAUTIONS: [Caution; 5] = [
    Caution { name: "full team that polls", sentence: full_team },
    Caution { name: "unused cpus", sentence: unused },
    Caution { name: "hardware threads", sentence: hardware_threads },
    Caution { name: "memory-bound", sentence: memory_bound },
    Caution { name: "unbound control groups", sentence: control_groups },
];

/// The sentences that apply to the best standing.
#[must_use]
pub fn all<'a>(table: &Table<'a>, best: &Standing<'a>) -> Vec<String> {
    let setups = table.results.provenance.setups.iter();
    let setups = setups.filter(|setup| setup.is_at(best.configuration)).collect();
    let case = Case { table, best, setups };
    CAUTIONS.iter().filter_map(|caution| (caution.sentence)(&case)).collect()
}

/// Tasks that poll on all cpus that they may use: another task that needs one stops a task for which all
/// wait.
fn full_team(case: &Case<'_, '_>) -> Option<String> {
    let foreground: Vec<&str> = case.table.results.foreground().collect();
    let full = |setup: &&&Setup| {
        setup.polls
            && setup.tasks > 1
            && setup.tasks == setup.cpus
            && foreground.contains(&setup.app.as_str())
    };
    let teams: Vec<&&Setup> = case.setups.iter().filter(full).collect();
    let first = teams.first()?;
    let Setup { app, tasks, beside, .. } = first;
    let also: Vec<&str> = teams[1..].iter().map(|team| team.app.as_str()).collect();
    let also = if also.is_empty() { String::new() } else { format!(" (as does {})", some(&also)) };
    let others: Vec<&str> = beside.iter().map(String::as_str).collect();
    let what = if others.is_empty() {
        ": another busy task there would delay every barrier, often several times over".to_owned()
    } else {
        format!(" beside {}: every barrier waits for the task that shares its cpu", some(&others))
    };
    Some(format!(
        "{app} polls with {tasks} tasks on {tasks} cpus{also}{what}; compare --set apps.{app}.tasks={} and \
         --set apps.{app}.runtime=block.",
        tasks - 1
    ))
}

/// Some names, and how many more.
fn some(names: &[&str]) -> String {
    if names.len() <= NAMED {
        return listed(names);
    }
    format!("{} and {} more", names[..NAMED].join(", "), names.len() - NAMED)
}

/// Policies that crowd tasks on some cpus and leave others without work.
fn unused(case: &Case<'_, '_>) -> Option<String> {
    let all = case.table.results.provenance.unused.iter();
    let here: Vec<_> = all.filter(|unused| unused.configuration == case.best.configuration).collect();
    let first = here.first()?;
    let like = here.iter().filter(|o| (o.cpus, o.used, o.tasks) == (first.cpus, first.used, first.tasks));
    let policies: Vec<&str> = like.map(|unused| unused.policy.as_str()).collect();
    Some(format!(
        "Under {}{}, {} had no work while {} shared {}: give each program separate `cpus`.",
        some(&policies),
        case.table.with(case.best.configuration),
        plural(first.cpus as usize, "cpu", "cpus"),
        plural(first.tasks as usize, "task", "tasks"),
        plural(first.used as usize, "cpu", "cpus"),
    ))
}

/// The best standing shares cores between hardware threads, by an estimated factor.
fn hardware_threads(case: &Case<'_, '_>) -> Option<String> {
    let shared = of_busy(case.table, case.best, "shared cores (SMT)")?;
    let setup = case.setups.iter().find(|setup| setup.smt_compute.is_some())?;
    let machines = case.table.results.provenance.machines.iter();
    let mut inputs = machines.filter(|m| m.name == setup.machine).flat_map(|machine| &machine.inputs);
    let kept = &inputs.find(|input| input.name == "smt_compute")?.value;
    let together = 2.0 * f64::from(setup.smt_compute?) / 1_000.0;
    (shared >= SHARED_CORES).then(|| {
        format!(
            "Two hardware threads do {} times the work of one by the estimate machine.smt_compute={kept}; \
             real programs range from a loss to +60 %: compare --set machine.smt_compute=0.45.",
            number::ratio(together)
        )
    })
}

/// Memory decides, where the model is weakest.
fn memory_bound(case: &Case<'_, '_>) -> Option<String> {
    let stalls = of_busy(case.table, case.best, "memory stalls")?;
    let remote = of_busy(case.table, case.best, "remote memory").unwrap_or(0.0);
    (stalls + remote >= MEMORY_BOUND).then(|| {
        format!(
            "Memory stalls are {} % of the busy cpu time: predictions of memory-bound programs were off by \
             {MEMORY_BOUND_ERROR} % (median) on the measured host.",
            number::variation((stalls + remote) * 100.0)
        )
    })
}

/// Groups that are bound to no cpus share by weight within each cpu only.
fn control_groups(case: &Case<'_, '_>) -> Option<String> {
    let weighted: Vec<&&Setup> = case.setups.iter().filter(|setup| setup.weighted).collect();
    let cpus = weighted.first()?.cpus;
    let tasks: u64 = case.setups.iter().map(|setup| u64::from(setup.tasks)).sum();
    (tasks > u64::from(cpus)).then(|| {
        "Balancing ignores control groups: without `cpus` they get their weights within each cpu only, and \
         shares depend on which tasks meet there."
            .to_owned()
    })
}
