//! A small scenario of a search: its parts as places in lists of values, from the simplest to the least
//! simple, and the scenario as YAML.

use std::fmt::Write;

use notation::parameter::Kind;

/// The machines: description and cpus, the smallest first. Shapes of processors with one or two hardware
/// threads, caches and NUMA nodes, and of 1 to 16 cpus.
pub(super) const MACHINES: [(&str, u32); 15] = [
    ("core:1", 1),
    ("core:2", 2),
    ("core:1 pu:2", 2),
    ("core:3", 3),
    ("core:4", 4),
    ("core:2 pu:2", 4),
    ("cache:2 core:2", 4),
    ("package:2 numa:1 core:2", 4),
    ("core:8", 8),
    ("core:4 pu:2", 8),
    ("cache:2 core:4", 8),
    ("package:2 numa:1 core:4", 8),
    ("core:16", 16),
    ("core:8 pu:2", 16),
    ("package:2 numa:1 core:8", 16),
];
/// Work of a piece, us: between barriers, of a chunk, of a request.
pub(super) const GRAINS: [u64; 7] = [1_000, 5_000, 20_000, 100_000, 500, 200, 100];
/// Work of a task over the run, ms: short runs, of which many can be tried, and long enough for balancers,
/// which act about every 100 ms.
pub(super) const TOTALS: [u64; 6] = [100, 200, 50, 500, 20, 1_000];
/// Most pieces of a task: longer runs would take most of the time of a search.
const MOST_PIECES: u64 = 2_000;
/// Variation of pieces, %.
pub(super) const SPREADS: [u32; 4] = [0, 10, 50, 100];
/// Permanent difference of the ranks, %.
pub(super) const IMBALANCES: [u32; 4] = [0, 10, 30, 80];
/// Memory traffic of a task, GB/s.
pub(super) const DEMANDS: [u32; 4] = [0, 2, 5, 12];
/// Runtimes: ways to wait, and two libraries.
pub(super) const RUNTIMES: [&str; 6] = ["block", "spin", "yield", "libgomp", "libomp", "upc"];
/// Nice values.
pub(super) const NICES: [i32; 4] = [0, 5, 19, -10];
/// Arrivals, ms.
pub(super) const STARTS: [u64; 4] = [0, 10, 50, 200];
/// Most applications.
pub(super) const MOST_APPS: usize = 3;

/// A program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Program {
    /// Barriers after equal or unequal pieces.
    Spmd,
    /// Independent tasks with an end.
    Hog,
    /// Chunks that tasks take one after another.
    Pool,
    /// Users who think and wait for an answer.
    Interactive,
    /// Tasks that share a lock.
    Critical,
    /// Tasks that never end, in the background.
    Endless,
    /// Sleeps and computes, in the background.
    Daemon,
}

/// All programs; the first five end.
pub(super) const PROGRAMS: [Program; 7] = [
    Program::Spmd,
    Program::Hog,
    Program::Pool,
    Program::Interactive,
    Program::Critical,
    Program::Endless,
    Program::Daemon,
];

impl Program {
    /// The run waits for its end.
    pub(super) const fn ends(self) -> bool {
        !matches!(self, Self::Endless | Self::Daemon)
    }

    /// Its tasks wait by the rules of a runtime.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::Spmd | Self::Pool)
    }
}

/// An application: places in the lists above.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct App {
    pub(super) program: Program,
    pub(super) tasks: u32,
    pub(super) grain: usize,
    pub(super) total: usize,
    pub(super) spread: usize,
    pub(super) imbalance: usize,
    pub(super) demand: usize,
    pub(super) runtime: usize,
    pub(super) nice: usize,
    pub(super) start: usize,
    /// Only on the first half of the cpus.
    pub(super) half: bool,
}

/// A scenario.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Case {
    pub(super) machine: usize,
    pub(super) apps: Vec<App>,
}

/// What every scenario of a search shares.
pub(super) struct Around<'a> {
    pub(super) kernel: &'a str,
    pub(super) objective: &'a str,
    pub(super) policies: [&'a str; 2],
}

/// The value at a place; the last one beyond the end.
pub(super) fn at<T: Copy + Default>(list: &[T], place: usize) -> T {
    list.get(place).or(list.last()).copied().unwrap_or_default()
}

impl Case {
    pub(super) fn cpus(&self) -> u32 {
        MACHINES.get(self.machine).map_or(1, |(_, cpus)| *cpus)
    }

    /// The scenario as YAML.
    pub(super) fn yaml(&self, around: &Around<'_>, seed: u64) -> String {
        let machine = MACHINES.get(self.machine).map_or("core:1", |(machine, _)| *machine);
        let mut text = String::from("name: lost\n");
        let _ = writeln!(text, "machine: \"{machine}\"\nkernel: {}\napps:", around.kernel);
        for (number, app) in self.apps.iter().enumerate() {
            let _ = writeln!(text, "  {}: {}", name(number), app.yaml(self.cpus()));
        }
        let labels = policies(around.policies);
        let _ = writeln!(text, "policies: [{}, {}]", labels[0], labels[1]);
        let _ = writeln!(
            text,
            "objective: {}\nbaseline: none\nhorizon: 60s\nseed: {seed}\nrepeat: 5",
            around.objective
        );
        text
    }
}

/// `a`, `b`, `c`.
const fn name(number: usize) -> &'static str {
    match number {
        0 => "a",
        1 => "b",
        _ => "c",
    }
}

/// Two policies of the command line as items of `policies:`, with labels where both are the same one.
pub(super) fn policies(policies: [&str; 2]) -> [String; 2] {
    let word = |text: &str| -> String {
        text.trim_start_matches(['{', ' '])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-')
            .collect()
    };
    let same = word(policies[0]).eq_ignore_ascii_case(&word(policies[1]));
    [0, 1].map(|side| {
        let policy = policies[side].trim();
        let label = if same { format!(", as: {}", ["first", "second"][side]) } else { String::new() };
        match (policy.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')), policy.split_once('/')) {
            (Some(_), _) if policy.contains(" as:") || label.is_empty() => policy.to_owned(),
            (Some(inside), _) => format!("{{{}{label} }}", inside.trim_end()),
            (None, Some((upper, beneath))) => format!("{{ {upper}: {{}}, over: {beneath}{label} }}"),
            (None, None) if label.is_empty() => policy.to_owned(),
            (None, None) => format!("{{ {policy}: {{}}{label} }}"),
        }
    })
}

/// A duration of so many us as a scenario writes it.
fn us(time: u64) -> String {
    Kind::Duration.show(time * 1_000)
}

impl App {
    /// Its workload with parameters.
    fn workload(&self) -> String {
        let (grain, total) = (at(&GRAINS, self.grain).max(1), at(&TOTALS, self.total) * 1_000);
        let pieces = (total / grain).clamp(1, MOST_PIECES);
        let spread = at(&SPREADS, self.spread);
        let demand = match at(&DEMANDS, self.demand) {
            0 => String::new(),
            some => format!(", demand: {some}GB/s"),
        };
        match self.program {
            Program::Spmd => {
                let percent = |name: &str, value: u32| match value {
                    0 => String::new(),
                    some => format!(", {name}: {some}%"),
                };
                let uneven =
                    percent("spread", spread) + &percent("imbalance", at(&IMBALANCES, self.imbalance));
                format!("{{ spmd: {{ grain: {}, intervals: {pieces}{uneven}{demand} }} }}", us(grain))
            }
            Program::Hog => format!("{{ hog: {{ work: {}{demand} }} }}", us(total)),
            Program::Pool => {
                let chunks = pieces.saturating_mul(u64::from(self.tasks));
                let varied = if spread > 0 { ", variation: exponential" } else { "" };
                format!("{{ pool: {{ work: {}, chunks: {chunks}{varied} }} }}", us(grain * chunks))
            }
            Program::Interactive => {
                let requests = pieces.min(50);
                let [think, burst] = [2 * grain, grain].map(us);
                format!("{{ interactive: {{ think: {think}, burst: {burst}, requests: {requests} }} }}")
            }
            Program::Critical => {
                let [outside, inside] = [grain, (grain / 10).max(1)].map(us);
                format!("{{ critical-section: {{ count: {pieces}, outside: {outside}, inside: {inside} }} }}")
            }
            Program::Endless if demand.is_empty() => "hog".into(),
            Program::Endless => format!("{{ hog: {{ {} }} }}", demand.trim_start_matches([',', ' '])),
            Program::Daemon => {
                let [burst, pause] = [grain, 4 * grain].map(us);
                format!("{{ daemon: {{ burst: {burst}, pause: {pause} }} }}")
            }
        }
    }

    fn yaml(&self, cpus: u32) -> String {
        let mut text = format!("{{ workload: {}", self.workload());
        if self.program.waits() {
            let _ = write!(text, ", runtime: {}", RUNTIMES.get(self.runtime).unwrap_or(&"block"));
        }
        let _ = write!(text, ", tasks: {}", self.tasks);
        if self.half && cpus > 1 {
            let last = cpus / 2 - 1;
            let list = if last == 0 { "'0'".to_owned() } else { format!("'0-{last}'") };
            let _ = write!(text, ", cpus: {list}");
        }
        match at(&NICES, self.nice) {
            0 => {}
            nice => {
                let _ = write!(text, ", nice: {nice}");
            }
        }
        match at(&STARTS, self.start) {
            0 => {}
            start => {
                let _ = write!(text, ", start: {start}ms");
            }
        }
        text + " }"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_keep_their_parameters_and_get_labels_where_they_need_them() {
        assert_eq!(policies(["LOAD", "PIN"]), ["LOAD", "PIN"]);
        assert_eq!(policies(["SPEED/DWRR", "LOAD"]), ["{ SPEED: {}, over: DWRR }", "LOAD"]);
        let two = policies(["SPEED", "{ SPEED: { interval: 50ms } }"]);
        assert_eq!(two, ["{ SPEED: {}, as: first }", "{ SPEED: { interval: 50ms }, as: second }"]);
    }
}
