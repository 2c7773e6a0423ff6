//! What a certain kind of answer must not be read without: each caution is a row with the case in which it
//! applies, and its sentence.

use super::effects::of_busy;
use super::ranking::Standing;
use super::table::Table;
use crate::number::{self, listed, plural};
use crate::setups::Setup;

/// Median error, in per cent, of the predictions of memory-bound programs on the worst measured host:
/// `docs/validation-host.md`, row `memory-bound`. A test compares the two.
pub const MEMORY_BOUND_ERROR: u32 = 60;

/// From this share of the busy time on, memory decides how long a program takes.
const MEMORY_BOUND: f64 = 0.2;
/// From this share of the busy time on, hardware threads matter.
const SHARED_CORES: f64 = 0.01;
/// Names in a list.
const NAMED: usize = 3;
/// Hardware threads that lose: two of them do 0.9 times the work of one.
const LOSS: &str = "machine.smt_compute=0.45";

/// The best standing and how its programs are set up.
struct Case<'a, 'b> {
    table: &'b Table<'a>,
    best: &'b Standing<'a>,
    worst: Option<&'b Standing<'a>>,
    setups: Vec<&'a Setup>,
}

/// A sentence, and the change that shows what it is about.
struct Said {
    text: String,
    /// `PATH=VALUE` for `--set`.
    change: Option<String>,
}

impl Said {
    const fn text(text: String) -> Self {
        Self { text, change: None }
    }
}

/// A caution: what it is about, and its sentence where it applies.
pub struct Caution {
    /// What it is about.
    pub name: &'static str,
    sentence: fn(&Case<'_, '_>) -> Option<Said>,
}

/// All cautions.
pub const CAUTIONS: [Caution; 5] = [
    Caution { name: "full team that polls", sentence: full_team },
    Caution { name: "unused cpus", sentence: unused },
    Caution { name: "hardware threads", sentence: hardware_threads },
    Caution { name: "memory-bound", sentence: memory_bound },
    Caution { name: "unbound control groups", sentence: control_groups },
];

fn said<'a>(table: &Table<'a>, best: &Standing<'a>, worst: Option<&Standing<'a>>) -> Vec<Said> {
    let case = Case { table, best, worst, setups: setups_at(table, best) };
    CAUTIONS.iter().filter_map(|caution| (caution.sentence)(&case)).collect()
}

/// The sentences that apply to the best standing, or to what is told beside it of the worst.
#[must_use]
pub fn all<'a>(table: &Table<'a>, best: &Standing<'a>, worst: Option<&Standing<'a>>) -> Vec<String> {
    said(table, best, worst).into_iter().map(|said| said.text).collect()
}

/// The change `PATH=VALUE` of the first caution that can be settled by another run.
#[must_use]
pub fn first_change<'a>(
    table: &Table<'a>,
    best: &Standing<'a>,
    worst: Option<&Standing<'a>>,
) -> Option<String> {
    said(table, best, worst).into_iter().find_map(|said| said.change)
}

fn setups_at<'a>(table: &Table<'a>, standing: &Standing<'_>) -> Vec<&'a Setup> {
    let all = table.results.provenance.setups.iter();
    all.filter(|setup| setup.is_at(standing.configuration)).collect()
}

/// Tasks that poll, and that fill the cpus which they may use: alone, or together with others. One task more
/// stops a task for which all wait.
fn full_team(case: &Case<'_, '_>) -> Option<Said> {
    let crowded = |setup: &&Setup| setup.polls && setup.is_crowded() && is_judged(case, setup);
    let worst = case.worst.filter(|worst| worst.configuration != case.best.configuration);
    let there = worst.into_iter().flat_map(|worst| {
        let all = setups_at(case.table, worst);
        all.into_iter().filter(crowded).map(|setup| (setup, case.table.with(worst.configuration)))
    });
    let here = case.setups.iter().copied().filter(crowded).map(|setup| (setup, String::new()));
    if let Some((setup, with)) = here.chain(there).next() {
        let Setup { app, tasks, cpus, beside, beside_tasks, .. } = setup;
        let others: Vec<&str> = beside.iter().map(String::as_str).collect();
        let most = cpus.saturating_sub(*beside_tasks);
        let compare = compared(setup, (most > 0).then_some(most));
        return Some(Said {
            text: format!(
                "{app} polls with {tasks} tasks on {cpus} cpus beside {}{with}: while these run, {}; compare \
                 {compare}.",
                some(&others),
                if setup.states_tasks {
                    "every wait for one of its tasks lasts longer by the turns of what shares its cpu"
                } else {
                    "every barrier waits for the task that shares its cpu"
                },
            ),
            change: sleeping(setup),
        });
    }
    let full = |setup: &&&Setup| setup.polls && setup.is_full() && is_judged(case, setup);
    let teams: Vec<&&Setup> = case.setups.iter().filter(full).collect();
    let setup = teams.first()?;
    let Setup { app, tasks, cpus, beside, .. } = setup;
    let also: Vec<&str> = teams[1..].iter().map(|team| team.app.as_str()).collect();
    let also = if also.is_empty() { String::new() } else { format!(" (as does {})", some(&also)) };
    let others: Vec<&str> = beside.iter().map(String::as_str).collect();
    let (with, fewer) = if others.is_empty() {
        (String::new(), Some(tasks - 1))
    } else {
        (format!(", which it fills together with {}", some(&others)), None)
    };
    let compare = compared(setup, fewer);
    Some(Said {
        text: format!(
            "{app} polls with {tasks} tasks on {cpus} cpus{with}{also}: another busy task there would {}, \
             often several times over; compare {compare}.",
            if setup.states_tasks {
                "prolong every wait for one of its tasks"
            } else {
                "delay every barrier"
            },
        ),
        change: sleeping(setup),
    })
}

/// The setting with which the tasks of an application sleep while they wait. The kinds of a program may state
/// runtimes of their own.
fn sleeping(setup: &Setup) -> Option<String> {
    (!setup.states_tasks).then(|| format!("apps.{}.runtime=block", setup.app))
}

/// What to compare with a team that polls: fewer tasks, if that would help, and waiting asleep.
fn compared(setup: &Setup, fewer: Option<u32>) -> String {
    let fewer = match (fewer, setup.states_tasks) {
        (None, _) => String::new(),
        (Some(tasks), false) => format!("--set apps.{}.tasks={tasks} and ", setup.app),
        (Some(tasks), true) => format!("{} and ", plural(tasks as usize, "task", "tasks")),
    };
    match sleeping(setup) {
        Some(setting) => format!("{fewer}--set {setting}"),
        None => format!("{fewer}the runtime `block`"),
    }
}

/// Whether the answer is about this application.
fn is_judged(case: &Case<'_, '_>, setup: &Setup) -> bool {
    case.table.results.foreground().any(|app| app == setup.app)
}

/// Some names, and how many more.
fn some(names: &[&str]) -> String {
    if names.len() <= NAMED {
        return listed(names);
    }
    format!("{} and {} more", names[..NAMED].join(", "), names.len() - NAMED)
}

/// Policies that crowd tasks on some cpus and leave others without work.
fn unused(case: &Case<'_, '_>) -> Option<Said> {
    let all = case.table.results.provenance.unused.iter();
    let here: Vec<_> = all.filter(|unused| unused.configuration == case.best.configuration).collect();
    let first = here.first()?;
    let like = here.iter().filter(|o| (o.cpus, o.used, o.tasks) == (first.cpus, first.used, first.tasks));
    let policies: Vec<&str> = like.map(|unused| unused.policy.as_str()).collect();
    Some(Said::text(format!(
        "Under {}{}, {} had no work while {} shared {}: give each program separate `cpus`.",
        some(&policies),
        case.table.with(case.best.configuration),
        plural(first.cpus as usize, "cpu", "cpus"),
        plural(first.tasks as usize, "task", "tasks"),
        plural(first.used as usize, "cpu", "cpus"),
    )))
}

/// The best standing shares cores between hardware threads, by an estimated factor.
fn hardware_threads(case: &Case<'_, '_>) -> Option<Said> {
    let shared = of_busy(case.table, case.best, "shared cores (SMT)")?;
    let setup = case.setups.iter().find(|setup| setup.smt_compute.is_some())?;
    let machines = case.table.results.provenance.machines.iter();
    let mut inputs = machines.filter(|m| m.name == setup.machine).flat_map(|machine| &machine.inputs);
    let kept = &inputs.find(|input| input.name == "smt_compute")?.value;
    let together = 2.0 * f64::from(setup.smt_compute?) / 1_000.0;
    (shared >= SHARED_CORES).then(|| Said {
        text: format!(
            "Two hardware threads do {} times the work of one by the estimate machine.smt_compute={kept}; \
             real programs range from a loss to +60 %: compare --set {LOSS}.",
            number::ratio(together)
        ),
        change: Some(LOSS.to_owned()),
    })
}

/// Memory decides, where the model is weakest.
fn memory_bound(case: &Case<'_, '_>) -> Option<Said> {
    let stalls = of_busy(case.table, case.best, "memory stalls")?;
    let remote = of_busy(case.table, case.best, "remote memory").unwrap_or(0.0);
    (stalls + remote >= MEMORY_BOUND).then(|| {
        Said::text(format!(
            "Memory stalls are {} % of the busy cpu time: predictions of memory-bound programs were off by \
             {MEMORY_BOUND_ERROR} % (median) on a measured host.",
            number::variation((stalls + remote) * 100.0)
        ))
    })
}

/// Groups that are bound to no cpus depend on the balancer (docs/model/measured.md, "Control groups").
fn control_groups(case: &Case<'_, '_>) -> Option<Said> {
    let weighted: Vec<&&Setup> = case.setups.iter().filter(|setup| setup.weighted).collect();
    let cpus = weighted.first()?.cpus;
    let tasks: u64 = case.setups.iter().map(|setup| u64::from(setup.tasks)).sum();
    (tasks > u64::from(cpus)).then(|| {
        Said::text(
            "Control groups without `cpus`: their shares were within 8 % of Linux 6.18 on 2 and 4 cpus; on \
             8, the lighter group had 6 to 40 % more there than here."
                .to_owned(),
        )
    })
}
