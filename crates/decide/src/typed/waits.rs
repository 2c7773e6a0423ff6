//! How tasks wait: what a setting of a library is in a scenario.

use workloads::runtimes::RUNTIMES;

use super::advice::Waiting;

/// A parameter of a runtime in a scenario and its value.
pub(crate) type Pair = (&'static str, String);

/// What a runtime does with a wait mode, as parameters of the registry.
struct Rule {
    runtimes: &'static [&'static str],
    parameters: fn(Waiting) -> Vec<Pair>,
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

fn one(name: &'static str, value: impl Into<String>) -> Vec<Pair> {
    vec![(name, value.into())]
}

/// 30,000,000,000 and 1,000 polls: `OMP_WAIT_POLICY=active` (libgomp, env.c and the manual on
/// GOMP_SPINCOUNT).
fn gnu(wait: Waiting) -> Vec<Pair> {
    match wait {
        Waiting::Sleep => one("spin_count", "0"),
        Waiting::Spin => {
            vec![("spin_count", "30000000000".into()), ("throttled_spin_count", "1000".into())]
        }
        Waiting::SpinCount(_) | Waiting::SpinFor(_) => {
            polls("libgomp", wait).map_or_else(Vec::new, |polls| one("spin_count", polls.to_string()))
        }
        Waiting::Default | Waiting::Yield => Vec::new(),
    }
}

fn kmp(wait: Waiting) -> Vec<Pair> {
    match wait {
        Waiting::Sleep => one("block_time", "0s"),
        Waiting::Yield => one("block_time", "infinite"),
        Waiting::Spin => one("library", "turnaround"),
        Waiting::SpinFor(ns) => one("block_time", format!("{ns}ns")),
        Waiting::Default | Waiting::SpinCount(_) => Vec::new(),
    }
}

fn open64(wait: Waiting) -> Vec<Pair> {
    let both = |polls: u64| ["spin_count", "throttled_spin_count"].map(|name| (name, polls.to_string()));
    polls("open64", wait).into_iter().flat_map(both).collect()
}

fn sun(wait: Waiting) -> Vec<Pair> {
    match wait {
        Waiting::Sleep => one("wait", "block"),
        Waiting::Spin => one("wait", "spin"),
        Waiting::SpinFor(ns) => {
            let limit = format!("{ns}ns");
            vec![("wait", "spin-then-block".into()), ("yielding", "never".into()), ("block_time", limit)]
        }
        Waiting::Default | Waiting::Yield | Waiting::SpinCount(_) => Vec::new(),
    }
}

fn open_mpi(wait: Waiting) -> Vec<Pair> {
    match wait {
        Waiting::Yield => one("yielding", "always"),
        Waiting::Spin => one("yielding", "never"),
        _ => Vec::new(),
    }
}

fn mpich(wait: Waiting) -> Vec<Pair> {
    match wait {
        Waiting::Yield => one("message_polls", "1"),
        Waiting::Spin => one("wait", "spin"),
        Waiting::SpinCount(count) => one("message_polls", count.max(1).to_string()),
        _ => Vec::new(),
    }
}

/// What all libraries of MPI can be told, each in its own way.
fn plain(wait: Waiting) -> Vec<Pair> {
    match wait {
        Waiting::Sleep => one("wait", "block"),
        Waiting::Yield => one("wait", "yield"),
        Waiting::Spin => one("wait", "spin"),
        _ => Vec::new(),
    }
}

/// How long a poll of a runtime takes in the registry, in ns, where it counts polls.
pub(crate) fn step(runtime: &str) -> Option<u64> {
    default_of(runtime, "spin_step")
}

/// The default of a parameter of a runtime in the registry.
pub(super) fn default_of(runtime: &str, name: &str) -> Option<u64> {
    let parameters = RUNTIMES.find(runtime)?.parameters;
    parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.default)
}

/// Number of polls of a runtime that counts them; a time counts as so many polls of the length that the
/// registry has for the runtime.
pub(super) fn polls(runtime: &str, wait: Waiting) -> Option<u64> {
    let count = match wait {
        Waiting::SpinCount(count) => count,
        Waiting::SpinFor(ns) => ns / step(runtime)?.max(1),
        _ => return None,
    };
    Some(count.max(1))
}

/// The parameters of a runtime in a scenario that stand for a wait mode. Empty where the library has no such
/// setting, and for [`Waiting::Default`].
pub(crate) fn parameters(runtime: &str, wait: Waiting) -> Vec<Pair> {
    let rule = RULES.iter().find(|rule| rule.runtimes.contains(&runtime));
    rule.map_or_else(Vec::new, |rule| (rule.parameters)(wait))
}

/// A runtime as a scenario writes it with a wait mode: `simulated("libgomp", Sleep)` is
/// `{ libgomp: { spin_count: 0 } }`. None where the library has no such setting, and for
/// [`Waiting::Default`].
#[must_use]
pub fn simulated(runtime: &str, wait: Waiting) -> Option<String> {
    let set = parameters(runtime, wait).into_iter().map(|(name, value)| format!("{name}: {value}"));
    let set = set.collect::<Vec<_>>().join(", ");
    (!set.is_empty()).then(|| format!("{{ {runtime}: {{ {set} }} }}"))
}
