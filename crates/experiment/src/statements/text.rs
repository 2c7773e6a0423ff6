//! The statements as text: the label and the sentences of each, made of its value last.

use super::ranking::{self, Goal, Rivals, Standing};
use super::statement::{Best, ByValue, End, Inputs, Missed, Partition, Range, Ranked, Statement};
use super::table::{self, Table};
use crate::number::{self, listed, plural};

/// Names in a list before the rest becomes a number.
const NAMED: usize = 6;
/// Configurations with equal values that are named.
const EQUAL: usize = 3;
/// Smallest part by which means differ that is written as a number.
const LITTLE: f64 = 0.001;
/// Cases with their deadlines, before the rest becomes a number.
const DATED: usize = 3;

impl Statement<'_> {
    /// All labels.
    pub const LABELS: [&'static str; 13] = [
        "Sharing",
        "Best",
        "Result",
        "Avoid",
        "Policy",
        "Sweep",
        "Inputs",
        "Fairness",
        "Response",
        "Locks",
        "Deadlines",
        "Partition",
        "Note",
    ];

    /// What it is about: `Best`, `Avoid`, ...
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Sharing { .. } => "Sharing",
            Self::Best(_) | Self::Counts { .. } => "Best",
            Self::Result(_) => "Result",
            Self::Avoid { .. } => "Avoid",
            Self::Policy(_) => "Policy",
            Self::Sweep(_) => "Sweep",
            Self::Inputs(_) => "Inputs",
            Self::Fairness(_) => "Fairness",
            Self::Response { .. } => "Response",
            Self::Locks { .. } => "Locks",
            Self::Deadlines { .. } => "Deadlines",
            Self::Partition(_) => "Partition",
            Self::Identical { .. } => "Note",
        }
    }

    /// One or a few sentences.
    #[must_use]
    pub fn text(&self, table: &Table<'_>) -> String {
        match self {
            Self::Sharing { cases, gains, losses, best } => sharing(table, [*cases, *gains, *losses], best),
            Self::Best(best) | Self::Result(best) => best.text(table),
            Self::Counts { configurations, policies } => counts(*configurations, policies),
            Self::Avoid { worst, intervals, apart } => avoid(table, worst.as_ref(), *intervals, *apart),
            Self::Policy(by_value) => by_value.policies(),
            Self::Sweep(by_value) => by_value.values(),
            Self::Inputs(inputs) => inputs.text(table),
            Self::Fairness(range) => fairness(range, table),
            Self::Response { programs } => response(table, programs),
            Self::Locks { least, most, polls } => locks(table, [least, most], *polls),
            Self::Deadlines { cases } => deadlines(table, cases),
            Self::Partition(partition) => partition.text(table),
            Self::Identical { sets } => {
                let each: Vec<String> = sets.iter().map(|policies| listed(policies)).collect();
                format!("{} give identical results in every run.", each.join("; "))
            }
        }
    }
}

impl Standing<'_> {
    /// A value with its unit: `93 %`, `6.67 s`.
    fn quantity(&self) -> String {
        let metric = self.cell.metric.as_str();
        let (unit, length) = ranking::unit(metric, self.value.mean);
        let per = if metric == "time_per_work" { " for each second of work" } else { "" };
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        format!("{}{unit}{per}", table::mean(self.value, length))
    }

    /// `LOAD with x=1`.
    fn name(&self, table: &Table<'_>) -> String {
        format!("{}{}", self.policy, table.with(self.configuration))
    }
}

/// Whether sharing finishes earlier than one program after the other.
fn sharing(table: &Table<'_>, [cases, gains, losses]: [usize; 3], best: &Standing<'_>) -> String {
    if losses == cases {
        let scope = if table.policies().len() == 1 { "" } else { " under every policy" };
        let less = match table.results.provenance.window {
            false => "the programs finish later than one after the other",
            true => "the programs do less work than one after the other",
        };
        return format!("Does not pay: {less}{scope}.");
    }
    let reached = format!(
        "{} reaches {:.1} % of sequential throughput{}",
        best.name(table),
        best.value.mean * 100.0,
        interval(best)
    );
    if gains == 0 {
        return format!("Does not clearly pay: {reached}.");
    }
    format!("Pays by more than 1 % in {} of {}: {reached}.", gains, plural(cases, "case", "cases"))
}

/// `, 95 % interval 90 to 96 %`; empty without an interval.
fn interval(standing: &Standing<'_>) -> String {
    let [lo, hi] = standing.cell.interval();
    let of = match (&standing.cell.input_error, standing.value.ci95) {
        (None, None) => return String::new(),
        (None, Some(_)) => "",
        (Some(_), None) => " of uncertain inputs",
        (Some(_), Some(_)) => " of seeds and uncertain inputs",
    };
    format!(", 95 % interval{of} {} to {} %", number::percent(lo), number::percent(hi))
}

impl Best<'_> {
    fn text(&self, table: &Table<'_>) -> String {
        let Ranked { case, rivals, .. } = &self.ranked;
        let by = Goal::of(table).map(|goal| goal.by()).unwrap_or_default();
        let of = if case.cell.metric == "throughput" { " of sequential throughput" } else { "" };
        let place = with_equals(table, &self.ranked);
        let beside = beside(&self.ranked);
        let mut text = format!(
            "{by}{}{place}: {}{of}{beside}.{}",
            case.policy,
            case.quantity(),
            rivals_sentence(rivals)
        );
        if let Some(Ranked { case, rivals, .. }) = &self.worst {
            let others = rivals_sentence(rivals);
            text.push_str(&format!(" Worst: {}, {}.{others}", case.policy, case.quantity()));
        }
        if self.of_other_work {
            text.push_str(" It is the smallest of the sweep, whose configurations do different work.");
        }
        text
    }
}

fn avoid(table: &Table<'_>, worst: Option<&Ranked<'_>>, intervals: bool, apart: Option<f64>) -> String {
    if let Some(worst) = worst {
        let (case, others) = (&worst.case, rivals_sentence(&worst.rivals));
        return format!("{}: {}{}.{others}", case.name(table), case.quantity(), beside(worst));
    }
    let signed = Goal::of(table).is_some_and(|goal| goal.signed());
    let why = match apart {
        Some(apart) if apart > 0.0 && signed => "their means are written alike".to_owned(),
        // Less than what is written has no digits.
        Some(apart) if apart > 0.0 && apart < LITTLE => "their means differ by less than 0.1 %".to_owned(),
        Some(apart) if apart > 0.0 => {
            format!("their means differ by {} %", number::variation(apart * 100.0))
        }
        Some(_) => "their means are equal".to_owned(),
        None if table.results.uncertainty.is_some() => {
            "draws of the inputs reverse their order, or no paired difference is significant".to_owned()
        }
        None if intervals => "no paired difference is significant".to_owned(),
        None => "they are level".to_owned(),
    };
    format!("No case is clearly worse than the best: {why}.")
}

/// ` PIN and SWOMPS are level with it. SPEED is undecided.`; empty when all others are clearly apart.
fn rivals_sentence(rivals: &Rivals<'_>) -> String {
    let about = |all: &[Standing<'_>], what: &str| {
        let names: Vec<&str> = all.iter().map(|s| s.policy).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => format!(" {one} is {what}."),
            all => format!(" {} are {what}.", listed(all)),
        }
    };
    let mut text = about(&rivals.equal, "equal to it") + &about(&rivals.level, "level with it");
    for tail in &rivals.tails {
        let [own, theirs] = [tail.own, tail.other].map(|s| number::short_seconds(s.value.mean));
        let (policy, name) = (tail.other.policy, tail_name(&tail.own.cell.metric));
        text.push_str(&format!(" {policy} is level with it in the mean; {name} {theirs} against {own}."));
    }
    text + &about(&rivals.undecided, "undecided")
}

/// `wake-up p99` of `wakeup_latency_p99`.
fn tail_name(metric: &str) -> String {
    let (of, part) = metric.rsplit_once('_').unwrap_or((metric, ""));
    let of = match of {
        "response_time" => "response",
        "wakeup_latency" => "wake-up",
        "queue_time" => "queue time",
        other => other,
    };
    format!("{of} {part}")
}

/// ` with quota=800ms or 1600ms (equal)`: the configuration of a case, and those where its policy has the
/// same values.
fn with_equals(table: &Table<'_>, ranked: &Ranked<'_>) -> String {
    let with = table.with(ranked.case.configuration);
    if ranked.equal.is_empty() {
        return with;
    }
    if let [axis] = table.sweep.varied.as_slice() {
        let mut same: Vec<usize> = ranked.equal.iter().map(|s| s.configuration).collect();
        same.push(ranked.case.configuration);
        same.sort_unstable();
        let value = |c: &usize| table.sweep.value(*c, 0).unwrap_or_default();
        let values: Vec<String> = same.iter().map(value).collect();
        return format!(" with {}={} (equal)", axis.short, values.join(" or "));
    }
    let others: Vec<String> =
        ranked.equal.iter().take(EQUAL).map(|s| table.sweep.short(s.configuration)).collect();
    format!("{with} (equal: {})", others.join("; "))
}

/// `; mean 10.7 ms, max 61 ms` beside a percentile, `; slowdown cg 1.68, ft 2.04`, and what else belongs to a
/// value.
fn beside(ranked: &Ranked<'_>) -> String {
    let mut slowdowns = "slowdown ";
    let each = ranked.beside.iter().map(|own| match own.cell.metric.as_str() {
        "slowdown" => {
            let before = std::mem::take(&mut slowdowns);
            format!("{before}{} {}", own.cell.app, number::ratio(own.value.mean))
        }
        "missed_deadlines" => format!("{} % of the deadlines missed", number::percent(own.value.mean)),
        metric => format!("{} {}", beside_name(metric), number::short_seconds(own.value.mean)),
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { String::new() } else { format!("; {}", each.join(", ")) }
}

/// What a time beside another one is called.
fn beside_name(metric: &str) -> &str {
    match metric {
        "queue_time" => "mean queue time",
        "turnaround" => "mean turnaround",
        other if other.ends_with("_max") => "max",
        other if other.ends_with("_p99") => "p99",
        _ => "mean",
    }
}

fn counts(configurations: usize, policies: &[(&str, usize)]) -> String {
    let each = policies.iter().take(NAMED).map(|(policy, times)| format!("{policy} in {times}"));
    format!(
        "Best or not distinguishable from the best, of {} configurations: {}.",
        configurations,
        each.collect::<Vec<_>>().join(", ")
    )
}

impl ByValue<'_> {
    /// The policies at each value.
    fn policies(&self) -> String {
        let name = &self.parameter;
        let each: Vec<String> = if let [only] = self.groups.as_slice() {
            vec![format!("{} at every {name}", only.policies.join(", "))]
        } else {
            let groups = self.groups.iter();
            groups.map(|g| format!("{} with {name}={}", g.policies.join(", "), g.values.join(", "))).collect()
        };
        format!("Best or not distinguishable: {}.", each.join("; "))
    }

    /// The values under each policy.
    fn values(&self) -> String {
        let each: Vec<(String, &[&str])> =
            self.groups.iter().map(|group| (group.values.join(" or "), &*group.policies)).collect();
        let text = match each.as_slice() {
            [(value, _)] => format!("{value} under every policy"),
            [(value, most), others @ ..] if most.len() > 2 => {
                let other = |(value, policies): &(String, &[&str])| {
                    policies.iter().map(|policy| format!("{policy} ({value})")).collect::<Vec<_>>()
                };
                let others: Vec<String> = others.iter().flat_map(other).collect();
                format!("{value} under every policy except {}", listed(&others))
            }
            all => {
                let one =
                    |(value, policies): &(String, &[&str])| format!("{value} under {}", listed(policies));
                all.iter().map(one).collect::<Vec<_>>().join("; ")
            }
        };
        format!("Best or not distinguishable {}: {text}.", self.parameter)
    }
}

impl Inputs<'_> {
    fn text(&self, table: &Table<'_>) -> String {
        let of = self.machine.map(|machine| format!(" of {machine}")).unwrap_or_default();
        let stated = self.stated.unwrap_or(0);
        let estimated = self.values.saturating_sub(stated);
        let mut sorts = Vec::new();
        if estimated > 0 || stated == 0 {
            sorts.push(format!("{}{of}", plural(estimated, "estimated value", "estimated values")));
        }
        if stated > 0 {
            sorts.push(format!("{} of the scenario", plural(stated, "uncertain value", "uncertain values")));
        }
        let mut text = format!(
            "{} of {}: {}",
            plural(self.draws, "draw", "draws"),
            sorts.join(" and "),
            self.best.name(table)
        );
        text.push_str(
            &self.stays_best.map(|draws| format!(" stays the best in {draws}.")).unwrap_or_default(),
        );
        if let Some(change) = self.change {
            let subject = if self.stays_best.is_some() { " Its value" } else { "" };
            let change = number::variation(change * 100.0);
            text.push_str(&format!("{subject} changes by ±{change} % of itself."));
        }
        if let Some(input) = &self.follows {
            let several = self.machine.is_none() && !input.machine.is_empty();
            let of = if several { format!(" of {}", input.machine) } else { String::new() };
            let rho = input.rank_correlation;
            text.push_str(&format!(" It follows {}{of} (rank correlation {rho:.2}).", input.input));
        }
        text
    }
}

/// `Largest slowdown with x=1: 1.25 under PIN (cg) to 3.00 under LOAD (cg; level: gang).`
fn fairness(range: &Range<'_>, table: &Table<'_>) -> String {
    let words = |End { case, level }: &End<'_>| {
        let even = if level.is_empty() { String::new() } else { format!("; level: {}", listed(level)) };
        format!("{} under {} ({}{even})", number::ratio(case.value.mean), case.policy, case.cell.app)
    };
    let most = range.most.as_ref().map(|most| format!(" to {}", words(most))).unwrap_or_default();
    let with = table.with(range.least.case.configuration);
    format!("Largest slowdown{with}: {}{most}.", words(&range.least))
}

fn response(table: &Table<'_>, programs: &[Range<'_>]) -> String {
    let words = |End { case, level }: &End<'_>| {
        let level = if level.is_empty() { String::new() } else { format!(" (level: {})", listed(level)) };
        format!("{} under {}{level}", case.quantity(), case.name(table))
    };
    let each = programs.iter().map(|Range { least, most }| {
        let most = most.as_ref().map(|most| format!(" to {}", words(most))).unwrap_or_default();
        format!("{} {}{most}", least.case.cell.app, words(least))
    });
    let each: Vec<String> = each.collect();
    let tails = programs.iter().any(|one| one.least.case.cell.metric == "response_time_p99");
    let what = if tails { "Response time, 99th percentile" } else { "Mean response time" };
    format!("{what}: {}.", each.join("; "))
}

fn locks(table: &Table<'_>, [least, most]: [&Standing<'_>; 2], polls: bool) -> String {
    let [low, high] = [least, most].map(|s| number::percent(s.value.mean));
    let range = if low == high {
        format!("{high} %")
    } else {
        let (least, most) = (least.name(table), most.name(table));
        format!("between {low} % ({least}) and {high} % ({most})")
    };
    let asleep = match polls {
        true => "",
        false => " Meanwhile they sleep, and their cpus are idle or serve others.",
    };
    format!("Tasks of {} wait for locks {range} of their time.{asleep}", most.cell.app)
}

fn deadlines(table: &Table<'_>, cases: &[Missed<'_>]) -> String {
    // Policies at one configuration, or all configurations of the only policy.
    let together = table.policies().len() > 1 || table.configurations().len() < 2;
    let of = |Missed { missed, latest }: &Missed<'_>| {
        let by = number::short_seconds(latest.value.mean.abs());
        let when = match latest.value.mean > 0.0 {
            true => format!("up to {by} late"),
            false => format!("at least {by} early"),
        };
        let name = if together { missed.policy.to_owned() } else { missed.name(table) };
        format!("{name} {} % ({when})", number::percent(missed.value.mean))
    };
    let shown: Vec<String> = cases.iter().take(DATED).map(of).collect();
    let more = match cases.len() - shown.len() {
        0 => String::new(),
        more => format!("; {more} more: --table full"),
    };
    let place = cases.first().filter(|_| together);
    let place = place.map(|case| table.with(case.missed.configuration)).unwrap_or_default();
    format!("Missed{place}: {}{more}.", shown.join("; "))
}

impl Partition<'_> {
    fn text(&self, table: &Table<'_>) -> String {
        let cores: Vec<String> =
            self.best.cores.iter().map(|(app, cores)| format!("{app} {cores}")).collect();
        format!(
            "Best static partition{}: cores {}; all programs end after {}. The search simulated {}.",
            table.with(self.makespan.configuration),
            cores.join(", "),
            number::short_seconds(self.makespan.value.mean),
            plural(self.best.tried, "partition", "partitions")
        )
    }
}
