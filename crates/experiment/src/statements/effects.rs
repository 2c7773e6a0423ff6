//! By how much the estimated values of a machine can move an answer, from the answer's own numbers: the cost
//! that a value sets is a part of the cpu-time breakdown, or occurs at each barrier or sleep.
//!
//! The effect is of first order. A change of a cost changes its part of the busy time in proportion, and the
//! run time as the busy time, so that programs that wait for each other wait in proportion, too. Decisions of
//! the scheduler that tip over are not in it: `--uncertainty` finds them.

use super::causes::{PARTS, share};
use super::ranking::Standing;
use super::table::Table;
use scenario::plan::Input;

/// What the cost of an input is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Acts {
    /// A part of the breakdown grows in proportion to it.
    Cost(&'static str),
    /// A part of the breakdown grows with its inverse, to at most this power: the slowdown of memory by load
    /// (1 + rho^p)^(1/p) - 1 grows with at most the p-th power of the load, and p is 4 by default.
    Capacity(&'static str, u32),
    /// A part of the breakdown grows with the amount by which it is above 1.
    Beyond(&'static str),
    /// It is a speed, below 1, at which the time of a part of the breakdown passes.
    Speed(&'static str),
    /// At most once for each task at each barrier.
    Barrier,
    /// Once for each sleep of a task.
    Sleep,
    /// Once for each task of a program.
    Creation,
    /// Once a millisecond at most: no kernel here has more than 1,000 ticks a second.
    Tick,
}

const STALLS: &str = "memory stalls";
const TICK_NS: f64 = 1e6;

/// The values of machines, and what they act on. Values that are absent here have no cost of their own.
const INPUTS: [(&str, Acts); 31] = [
    ("node_bandwidth", Acts::Capacity(STALLS, 4)),
    ("bus_bandwidth", Acts::Capacity(STALLS, 4)),
    ("link_bandwidth", Acts::Capacity(STALLS, 4)),
    ("crossbar_bandwidth", Acts::Capacity(STALLS, 4)),
    ("transfer_bandwidth", Acts::Capacity(STALLS, 4)),
    ("core_bandwidth", Acts::Capacity(STALLS, 1)),
    ("bound_demand", Acts::Capacity(STALLS, 1)),
    ("cache_exponent", Acts::Cost(STALLS)),
    ("stretch_exponent", Acts::Capacity(STALLS, 1)),
    ("shared_cache", Acts::Capacity(STALLS, 4)),
    ("remote_factor", Acts::Beyond("remote memory")),
    ("private_cache", Acts::Cost("cache refills")),
    ("smt_compute", Acts::Speed("shared cores (SMT)")),
    ("smt_memory", Acts::Speed("shared cores (SMT)")),
    ("smt_poll", Acts::Speed("shared cores (SMT)")),
    ("switch_thread", Acts::Cost("context switches")),
    ("switch_process", Acts::Cost("context switches")),
    ("migration", Acts::Cost("migrations")),
    ("page_fault", Acts::Cost("page initialisation")),
    ("fault_lock", Acts::Cost("page initialisation")),
    ("tick", Acts::Tick),
    ("fork", Acts::Creation),
    ("wake", Acts::Sleep),
    ("wake_remote", Acts::Sleep),
    ("sleep", Acts::Sleep),
    ("ipi", Acts::Sleep),
    ("idle_exit", Acts::Sleep),
    ("poll", Acts::Barrier),
    ("line_cache", Acts::Barrier),
    ("line_near", Acts::Barrier),
    ("line_far", Acts::Barrier),
];

/// Parts that are no work: waiting for others, and nothing to do.
const WAITING: [&str; 2] = ["waiting", "idle time"];

/// An input, how far it can move the value of a standing (0.1 = by a tenth), and through what.
#[derive(Clone, PartialEq, Debug)]
pub struct Effect<'a> {
    /// The machine's value.
    pub input: &'a Input,
    /// The relative change.
    pub size: f64,
    /// The part of the breakdown, with its share of the busy time; none for costs of single events.
    pub part: Option<(&'static str, f64)>,
    /// Other estimates act through the same part or at the same events.
    pub others: bool,
}

/// The share of all cpu time that a part of the breakdown has.
fn of_all(table: &Table<'_>, standing: &Standing<'_>, name: &str) -> Option<f64> {
    let part = PARTS.iter().find(|part| part.name == name)?;
    share(table, standing.configuration, standing.policy, part)
}

/// The share of the busy time that a part of the breakdown has; `None` without a breakdown.
#[must_use]
pub fn of_busy(table: &Table<'_>, standing: &Standing<'_>, name: &str) -> Option<f64> {
    let waiting: f64 = WAITING.iter().filter_map(|name| of_all(table, standing, name)).sum();
    let busy = 1.0 - waiting;
    of_all(table, standing, name).filter(|_| busy > 1e-9).map(|share| (share / busy).min(1.0))
}

/// The estimated value that moves a standing most; `None` where no such value acts.
#[must_use]
pub fn largest<'a>(table: &Table<'a>, standing: &Standing<'_>) -> Option<Effect<'a>> {
    let provenance = &table.results.provenance;
    let setup = provenance.setups.iter().find(|s| s.is_at(standing.configuration))?;
    let machines = provenance.machines.iter().filter(|machine| machine.name == setup.machine);
    let here = || provenance.setups.iter().filter(|s| s.is_at(standing.configuration));
    // Thousandths of what two hardware threads do at the same time that wait for memory.
    let least = here().filter_map(|s| Some(s.bound?[0])).min().unwrap_or(0);
    let most_bound = here().filter_map(|s| Some(s.bound?[1])).max().unwrap_or(1_000);
    let idle = of_all(table, standing, "idle time").unwrap_or(0.0) > 0.0;
    let acts = |input: &&Input| match parameter(input) {
        "wake_remote" | "ipi" => setup.cpus > 1,
        "idle_exit" => setup.cpus > 1 && idle,
        "smt_poll" => here().any(|s| s.polls_first || s.bound.is_none()),
        _ => true,
    };
    let estimates = machines.flat_map(|machine| &machine.inputs).chain(&provenance.uncertain);
    let inputs: Vec<&Input> = estimates.filter(acts).collect();
    let part = |name: &str| match name {
        "smt_compute" => f64::from(1_000 - least.min(1_000)) / 1e3,
        "smt_memory" => f64::from(most_bound) / 1e3,
        _ => 1.0,
    };
    let sized = |input: &&'a Input| {
        let effect = of(table, standing, input)?;
        let size = effect.size * part(parameter(input));
        (size > 0.0).then_some(Effect { size, ..effect })
    };
    let all = inputs.iter().rev().filter_map(sized);
    let mut most = all.max_by(|a, b| a.size.total_cmp(&b.size))?;
    let kind = |input: &Input| acts_on(input).map(Acts::kind);
    let alike =
        inputs.iter().filter(|input| kind(input) == kind(most.input) && part(parameter(input)) > 0.0).count();
    most.others = alike > 1;
    Some(most)
}

impl Acts {
    /// Through which part of the breakdown, or at which events.
    const fn kind(self) -> &'static str {
        match self {
            Self::Cost(part) | Self::Capacity(part, _) | Self::Beyond(part) | Self::Speed(part) => part,
            Self::Barrier => "barriers",
            Self::Sleep => "sleeps",
            Self::Creation => "creations",
            Self::Tick => "ticks",
        }
    }
}

/// The parameter of the machine that an input is; the path of another value of a scenario names none.
fn parameter(input: &Input) -> &str {
    input.name.strip_prefix("machine.").unwrap_or(&input.name)
}

/// What an input acts on.
fn acts_on(input: &Input) -> Option<Acts> {
    INPUTS.iter().find(|(name, _)| *name == parameter(input)).map(|(_, acts)| *acts)
}

/// The effect of an input on a standing.
fn of<'a>(table: &Table<'_>, standing: &Standing<'_>, input: &'a Input) -> Option<Effect<'a>> {
    let acts = acts_on(input)?;
    let [value, low, high] = input.numbers.map(|number| number as f64);
    if value <= 0.0 {
        return None;
    }
    // The largest change of the value, up or down, and of its inverse.
    let change = (high / value - 1.0).max(1.0 - low / value);
    let inverse = if low > 0.0 { (value / low - 1.0).max(1.0 - value / high) } else { 1.0 };
    let (size, part) = match acts {
        Acts::Cost(part) => (of_busy(table, standing, part)? * change, Some(part)),
        Acts::Capacity(part, power) => {
            let share = of_busy(table, standing, part)?;
            // The run time is inversely proportional to a capacity at most.
            ((share * f64::from(power)).min(1.0) * inverse, Some(part))
        }
        Acts::Beyond(part) => {
            let beyond = (value - 1_000.0).max(1.0);
            let change = ((high - value) / beyond).max((value - low) / beyond);
            (of_busy(table, standing, part)? * change, Some(part))
        }
        Acts::Speed(part) => {
            let lost = (1.0 - value / 1_000.0).max(0.001);
            // The time on shared cores is the loss over its part of this time.
            ((of_busy(table, standing, part)? / lost).min(1.0) * inverse, Some(part))
        }
        Acts::Barrier => (at_barriers(table, standing)? * value * change, None),
        Acts::Sleep => (at_sleeps(table, standing)? * value * change, None),
        Acts::Creation => (at_creations(table, standing)? * value * change, None),
        Acts::Tick => (value * change / TICK_NS, None),
    };
    let part = part.and_then(|part| Some((part, of_busy(table, standing, part)?)));
    (size > 0.0).then_some(Effect { input, size, part, others: false })
}

/// Tasks over the time between barriers, per nanosecond: the largest of all programs.
fn at_barriers(table: &Table<'_>, standing: &Standing<'_>) -> Option<f64> {
    let of = |app: &str| {
        let interval = value(table, standing, app, "barrier_interval")?;
        Some(f64::from(tasks(table, standing, app)?) / interval / 1e9)
    };
    table.results.foreground().filter_map(of).reduce(f64::max)
}

/// Sleeps of a task per nanosecond: the largest of all programs.
fn at_sleeps(table: &Table<'_>, standing: &Standing<'_>) -> Option<f64> {
    let of = |app: &str| {
        let sleeps = value(table, standing, app, "voluntary_switches")?;
        let time = value(table, standing, app, "run_time")?;
        Some(sleeps / f64::from(tasks(table, standing, app)?) / time / 1e9)
    };
    table.results.foreground().filter_map(of).reduce(f64::max)
}

/// Tasks created per nanosecond: the most of all programs.
fn at_creations(table: &Table<'_>, standing: &Standing<'_>) -> Option<f64> {
    let of = |app: &str| {
        let time = value(table, standing, app, "run_time")?;
        Some(f64::from(tasks(table, standing, app)?) / time / 1e9)
    };
    table.results.foreground().filter_map(of).reduce(f64::max)
}

fn value(table: &Table<'_>, standing: &Standing<'_>, app: &str, metric: &str) -> Option<f64> {
    let value = table.get(standing.configuration, standing.policy, app, metric)?.mean;
    (value > 0.0).then_some(value)
}

/// Tasks of a program at the configuration of a standing.
fn tasks(table: &Table<'_>, standing: &Standing<'_>, app: &str) -> Option<u32> {
    let setups = table.results.provenance.setups.iter();
    let mut here = setups.filter(|s| s.app == app && s.is_at(standing.configuration));
    here.next().map(|setup| setup.tasks)
}
