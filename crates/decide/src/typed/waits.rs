//! How tasks wait: what a setting of a library is in a scenario.

use workloads::runtimes::RUNTIMES;

use super::advice::Waiting;

/// What a runtime does with a wait mode, as parameters of the registry.
struct Rule {
    runtimes: &'static [&'static str],
    parameters: fn(Waiting) -> Option<String>,
}

const RULES: &[Rule] = &[
    Rule { runtimes: &["libgomp"], parameters: gnu },
    Rule { runtimes: &["libomp", "openmp"], parameters: kmp },
    Rule { runtimes: &["open64"], parameters: open64 },
    Rule { runtimes: &["sun-openmp"], parameters: sun },
    Rule { runtimes: &["openmpi"], parameters: open_mpi },
    Rule { runtimes: &["mpich2"], parameters: mpich },
    Rule { runtimes: &["mpi"], parameters: plain },
];

/// 30,000,000,000 and 1,000 polls: `OMP_WAIT_POLICY=active` (libgomp, env.c and the manual on
/// GOMP_SPINCOUNT).
fn gnu(wait: Waiting) -> Option<String> {
    match wait {
        Waiting::Sleep => Some("spin_count: 0".into()),
        Waiting::Spin => Some("spin_count: 30000000000, throttled_spin_count: 1000".into()),
        Waiting::SpinCount(_) | Waiting::SpinFor(_) => {
            polls("libgomp", wait).map(|polls| format!("spin_count: {polls}"))
        }
        Waiting::Default | Waiting::Yield => None,
    }
}

fn kmp(wait: Waiting) -> Option<String> {
    match wait {
        Waiting::Sleep => Some("block_time: 0s".into()),
        Waiting::Yield => Some("block_time: infinite".into()),
        Waiting::Spin => Some("library: turnaround".into()),
        Waiting::SpinFor(ns) => Some(format!("block_time: {ns}ns")),
        Waiting::Default | Waiting::SpinCount(_) => None,
    }
}

fn open64(wait: Waiting) -> Option<String> {
    polls("open64", wait).map(|polls| format!("spin_count: {polls}, throttled_spin_count: {polls}"))
}

fn sun(wait: Waiting) -> Option<String> {
    match wait {
        Waiting::Sleep => Some("wait: block".into()),
        Waiting::Spin => Some("wait: spin".into()),
        Waiting::SpinFor(ns) => Some(format!("wait: spin-then-block, yielding: never, block_time: {ns}ns")),
        Waiting::Default | Waiting::Yield | Waiting::SpinCount(_) => None,
    }
}

fn open_mpi(wait: Waiting) -> Option<String> {
    match wait {
        Waiting::Yield => Some("yielding: always".into()),
        Waiting::Spin => Some("yielding: never".into()),
        _ => None,
    }
}

fn mpich(wait: Waiting) -> Option<String> {
    match wait {
        Waiting::Yield => Some("message_polls: 1".into()),
        Waiting::Spin => Some("wait: spin".into()),
        Waiting::SpinCount(count) => Some(format!("message_polls: {}", count.max(1))),
        _ => None,
    }
}

/// What all libraries of MPI can be told, each in its own way.
fn plain(wait: Waiting) -> Option<String> {
    match wait {
        Waiting::Sleep => Some("wait: block".into()),
        Waiting::Yield => Some("wait: yield".into()),
        Waiting::Spin => Some("wait: spin".into()),
        _ => None,
    }
}

/// Number of polls of a runtime that counts them; a time counts as so many polls of the length that the
/// registry has for the runtime.
pub(super) fn polls(runtime: &str, wait: Waiting) -> Option<u64> {
    let count = match wait {
        Waiting::SpinCount(count) => count,
        Waiting::SpinFor(ns) => {
            let entry = RUNTIMES.find(runtime)?;
            let step = entry.parameters.iter().find(|parameter| parameter.name == "spin_step")?;
            ns / step.default.max(1)
        }
        _ => return None,
    };
    Some(count.max(1))
}

/// The parameters of a runtime in a scenario that stand for a wait mode: `simulated("libgomp", Sleep)` is
/// `{ libgomp: { spin_count: 0 } }`. None where the library has no such setting, and for
/// [`Waiting::Default`].
#[must_use]
pub fn simulated(runtime: &str, wait: Waiting) -> Option<String> {
    let rule = RULES.iter().find(|rule| rule.runtimes.contains(&runtime))?;
    (rule.parameters)(wait).map(|parameters| format!("{{ {runtime}: {{ {parameters} }} }}"))
}
