//! What a search may set: the parameters of a policy, each on the scale on which it is searched, and changes
//! of the formulas of an order.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use experiment::PolicyRegistry;
use notation::parameter::{Kind, Parameter};
use notation::suggest::advice;

use crate::flow;

/// Numbers are searched within this factor of their default, as far as the table of the policy allows.
const FACTOR: u64 = 100;
/// The largest time where the default says nothing about its size (0 or `infinite`): ten times as long as
/// Linux lets a task of the fair class wait behind real-time tasks (`sched_rt_period_us`, 1 s).
const LONGEST: u64 = 10_000_000_000;
/// Where the default says nothing about the size, the range has as many decades as about a default.
const RANGE: u64 = FACTOR * FACTOR;
/// The share of the scale that is the value 0, where 0 is allowed: it often switches something off.
const ZERO: f64 = 0.1;
/// Signed numbers, such as nice values, are searched within this distance of their default.
const DISTANCE: u64 = 100;

/// How the values of a parameter lie on a scale from 0 to 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scale {
    /// Each value of a list in a part of its own: words, and true or false.
    Words,
    /// Numbers that may be negative, evenly.
    Even,
    /// Numbers by their logarithm; 0, where it is allowed, has a part of its own.
    Log {
        /// Whether 0 is one of the values.
        zero: bool,
    },
    /// A change of a formula, which follows from the number; 0 is none.
    Change,
}

/// The share of the scale that is no change.
const NO_CHANGE: f64 = 0.25;
/// Changes of the formulas of an order that a setting may have: as many as one can follow.
const CHANGES: [&str; 4] = ["change 1", "change 2", "change 3", "change 4"];

/// The formulas of an order, with changes: how they are run and shown.
pub trait Formulas: Send + Sync {
    /// The policy file of the order with these changes, as a scenario names it. `shown`: for an answer, by
    /// the name that its reader can give the file.
    fn name(&self, changes: &[u64], shown: bool) -> String;
    /// The text of the order with these changes.
    fn text(&self, changes: &[u64]) -> String;
}

impl Debug for dyn Formulas {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Formulas")
    }
}

/// A parameter that is searched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// The parameter.
    pub parameter: Parameter,
    /// The smallest value that is tried; of numbers that may be 0, the smallest other one.
    pub low: u64,
    /// The largest one.
    pub high: u64,
    scale: Scale,
}

/// A policy and what is searched of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The policy as a scenario names it.
    pub policy: String,
    /// Its parameters.
    pub axes: Vec<Axis>,
    /// Parameters that are not searched: lists, and costs that nobody names.
    pub left_out: Vec<&'static str>,
    /// The formulas, where these are searched, too.
    pub formulas: Option<Arc<dyn Formulas>>,
}

/// The name of the policy and those of the parameters in `SPEED`, `SPEED.interval,threshold`,
/// `./mine.wasm.slice_ns`.
#[must_use]
pub fn parts(text: &str) -> (String, Vec<String>) {
    let is_policy = |name: &str| !name.contains('/') || std::path::Path::new(name).is_file();
    let ends = |name: &str| policies::is_file(name) || !name.contains('.');
    let dots = text.match_indices('.').map(|(at, _)| at);
    let cuts: Vec<usize> = dots.chain([text.len()]).filter(|at| ends(&text[..*at])).collect();
    let whole = cuts.iter().rev().copied().find(|at| *at > 0 && is_policy(&text[..*at]));
    let at = whole.or_else(|| cuts.last().copied()).unwrap_or(text.len());
    let names = text[at..].trim_start_matches('.').split(',').map(str::trim);
    (text[..at].to_owned(), names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Whether a parameter is what the policy's own work costs: a smaller one is no better policy.
fn is_cost(name: &str) -> bool {
    name == "cost" || name.ends_with("_cost")
}

impl Subject {
    /// The parameters of a policy of the registry with these names, or all, and changes of its formulas.
    ///
    /// # Errors
    /// A sentence: there is no such policy or parameter, or nothing can be searched.
    pub fn of(
        policies: &PolicyRegistry,
        policy: &str,
        names: &[String],
        formulas: Option<Arc<dyn Formulas>>,
    ) -> Result<Self, String> {
        let Some(entry) = policies.find(policy) else {
            let known: Vec<&str> = policies.entries().map(|entry| entry.name).collect();
            return Err(format!("there is no policy `{policy}`; {}", advice(policy, &known)));
        };
        let known: Vec<&str> = entry.parameters.iter().map(|parameter| parameter.name).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("{policy} has no parameter `{unknown}`; {}", advice(unknown, &known)));
        }
        let asked = |parameter: &&Parameter| names.is_empty() || names.iter().any(|n| n == parameter.name);
        let (mut axes, mut left_out) = (Vec::new(), Vec::new());
        for parameter in entry.parameters.iter().filter(asked) {
            match Axis::of(*parameter) {
                Some(axis) if !names.is_empty() || !is_cost(parameter.name) => axes.push(axis),
                _ => left_out.push(parameter.name),
            }
        }
        if formulas.is_some() {
            axes.extend(CHANGES.map(Axis::change));
        }
        if axes.is_empty() {
            let why = match (known.is_empty(), left_out.is_empty()) {
                (true, _) => "it has no parameters".to_owned(),
                (_, false) => format!("{} cannot be searched: lists, or only one value", left_out.join(", ")),
                _ => "none is named".to_owned(),
            };
            return Err(format!("{policy} cannot be tuned: {why}"));
        }
        // A name is written as the registry has it; a file as the user has it.
        let policy = if policies::is_file(policy) { policy } else { entry.name };
        Ok(Self { policy: policy.to_owned(), axes, left_out, formulas })
    }

    /// The defaults.
    #[must_use]
    pub fn defaults(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.parameter.default).collect()
    }

    /// How many values differ from the defaults.
    #[must_use]
    pub fn changes(&self, values: &[u64]) -> usize {
        self.axes.iter().zip(values).filter(|(axis, value)| axis.parameter.default != **value).count()
    }

    /// The changes of formulas among values.
    #[must_use]
    pub fn changes_of_formulas(&self, values: &[u64]) -> Vec<u64> {
        let all = self.axes.iter().zip(values);
        all.filter(|(axis, _)| axis.scale == Scale::Change).map(|(_, value)| *value).collect()
    }

    /// The values of parameters that differ from the defaults, as a scenario writes them.
    #[must_use]
    pub fn changed(&self, values: &[u64]) -> Vec<(&'static str, String)> {
        let other = |(axis, value): &(&Axis, &u64)| axis.is_parameter() && axis.parameter.default != **value;
        let all = self.axes.iter().zip(values).filter(other);
        all.map(|(axis, value)| (axis.parameter.name, axis.written(*value))).collect()
    }

    /// The policy with these values as a scenario and `--policy` take it. `label`: another name of it.
    #[must_use]
    pub fn item(&self, values: &[u64], label: Option<&str>) -> String {
        self.named(values, label, false)
    }

    /// The same for an answer: a changed order has the name that its reader gives the file.
    #[must_use]
    pub fn shown(&self, values: &[u64], label: Option<&str>) -> String {
        self.named(values, label, true)
    }

    fn named(&self, values: &[u64], label: Option<&str>, shown: bool) -> String {
        let changed = self.changed(values);
        let changes = self.changes_of_formulas(values);
        let formulas = self.formulas.as_ref().filter(|_| changes.iter().any(|change| *change != 0));
        let name = formulas.map_or_else(|| self.policy.clone(), |all| all.name(&changes, shown));
        let plain = flow::scalar(&name) == name;
        // A name in quotes is read as one within braces only.
        if changed.is_empty() && label.is_none() && plain {
            return name;
        }
        let name = flow::scalar(&name);
        let pairs =
            changed.iter().map(|(name, value)| format!("{}: {}", flow::scalar(name), flow::scalar(value)));
        let pairs: Vec<String> = pairs.collect();
        let inside = if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) };
        let label = label.map_or_else(String::new, |label| format!(", as: {label}"));
        format!("{{ {name}: {inside}{label} }}")
    }
}

impl Axis {
    /// The scale of a parameter; none for a list, and where there is only one value.
    fn of(parameter: Parameter) -> Option<Self> {
        let Parameter { default, min, max, .. } = parameter;
        if parameter.kind.is_list() || min >= max {
            return None;
        }
        let (low, high, scale) = match parameter.kind.of_one() {
            Kind::Choice(_) | Kind::Flag => (min, max, Scale::Words),
            Kind::Signed => (
                min.max(default.saturating_sub(DISTANCE)),
                max.min(default.saturating_add(DISTANCE)),
                Scale::Even,
            ),
            kind => {
                let open = default == 0 || default == u64::MAX;
                let most = if kind == Kind::Duration { max.min(LONGEST) } else { max };
                let high = if open { most } else { max.min(default.saturating_mul(FACTOR)) };
                let least = if open { high / RANGE } else { default / FACTOR };
                (min.max(least).max(1), high, Scale::Log { zero: min == 0 })
            }
        };
        (low < high || scale == Scale::Words).then_some(Self { parameter, low, high, scale })
    }

    /// A change of a formula.
    fn change(name: &'static str) -> Self {
        let (low, high) = (0, 1 << 32);
        let about = "A change of a formula.";
        let parameter = Parameter { name, kind: Kind::Count, default: 0, min: low, max: high, about };
        Self { parameter, low, high, scale: Scale::Change }
    }

    /// Whether it is a parameter of the policy, no change of a formula.
    #[must_use]
    pub fn is_parameter(&self) -> bool {
        self.scale != Scale::Change
    }

    /// The value at a place from 0 to 1: numbers have two digits, as somebody would type them.
    #[must_use]
    pub fn value(&self, place: f64) -> u64 {
        let place = place.clamp(0.0, 1.0);
        let Self { low, high, .. } = *self;
        match self.scale {
            Scale::Words | Scale::Even => {
                let count = (high - low) as f64 + 1.0;
                (low + (place * count) as u64).min(high)
            }
            Scale::Log { zero: true } if place < ZERO => 0,
            Scale::Change if place < NO_CHANGE => 0,
            Scale::Change => 1 + ((place - NO_CHANGE) / (1.0 - NO_CHANGE) * (high - 1) as f64) as u64,
            Scale::Log { zero } => {
                let part = if zero { (place - ZERO) / (1.0 - ZERO) } else { place };
                let (from, to) = (libm::log(low as f64), libm::log(high as f64));
                round(libm::exp(from + part * (to - from))).clamp(low, high)
            }
        }
    }

    /// Where a value lies.
    #[must_use]
    pub fn place(&self, value: u64) -> f64 {
        let Self { low, high, .. } = *self;
        match self.scale {
            Scale::Words | Scale::Even => {
                let count = (high - low) as f64 + 1.0;
                (value.clamp(low, high) - low) as f64 / count + 0.5 / count
            }
            Scale::Log { zero: true } if value == 0 => ZERO / 2.0,
            Scale::Change if value == 0 => NO_CHANGE / 2.0,
            Scale::Change => NO_CHANGE + (1.0 - NO_CHANGE) * ((value - 1) as f64 / (high - 1) as f64),
            Scale::Log { zero } => {
                let value = value.clamp(low, high) as f64;
                let (from, to) = (libm::log(low as f64), libm::log(high as f64));
                let part = (libm::log(value) - from) / (to - from);
                if zero { ZERO + part * (1.0 - ZERO) } else { part }
            }
        }
    }

    /// Whether neighbouring places have similar values.
    #[must_use]
    pub fn is_number(&self) -> bool {
        !matches!(self.scale, Scale::Words | Scale::Change)
    }

    /// The values that are tried, in words.
    #[must_use]
    pub fn searched(&self) -> String {
        let ends = || format!("{} to {}", self.written(self.low), self.written(self.high));
        match self.scale {
            Scale::Words => {
                let all: Vec<String> = (self.low..=self.high).map(|value| self.written(value)).collect();
                all.join(", ")
            }
            Scale::Log { zero: true } => format!("{}, {}", self.written(0), ends()),
            Scale::Log { zero: false } | Scale::Even | Scale::Change => ends(),
        }
    }

    /// A value as a scenario writes it.
    #[must_use]
    pub fn written(&self, value: u64) -> String {
        self.parameter.kind.show(value)
    }
}

/// A number with two significant digits.
fn round(value: f64) -> u64 {
    let mut step = 1_u64;
    while value / step as f64 >= 100.0 {
        step = step.saturating_mul(10);
    }
    ((value / step as f64 + 0.5) as u64).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(policy: &str, names: &[&str]) -> Result<Subject, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Subject::of(&PolicyRegistry::default(), policy, &names, None)
    }

    #[test]
    fn policies_and_parameters_are_told_apart() {
        for (text, policy, names) in [
            ("SPEED", "SPEED", &[][..]),
            ("SPEED.interval,threshold", "SPEED", &["interval", "threshold"]),
            ("./a.b/mine.wasm", "./a.b/mine.wasm", &[]),
            ("mine.wasm.slice_ns", "mine.wasm", &["slice_ns"]),
        ] {
            let (found, parameters) = parts(text);
            assert_eq!(
                (found.as_str(), &parameters[..]),
                (policy, &names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
    }

    #[test]
    fn every_parameter_of_every_policy_keeps_to_its_range() {
        for entry in policies::ALL {
            for axis in entry.parameters.iter().filter_map(|parameter| Axis::of(*parameter)) {
                let parameter = axis.parameter;
                for step in 0..=100 {
                    let value = axis.value(f64::from(step) / 100.0);
                    assert!(
                        parameter.min <= value && value <= parameter.max,
                        "{}.{}",
                        entry.name,
                        parameter.name
                    );
                    let again = axis.value(axis.place(value));
                    let near = again.abs_diff(value) <= value / 50 + 1;
                    assert!(near, "{}.{}: {value} {again}", entry.name, parameter.name);
                }
            }
        }
    }

    #[test]
    fn values_are_written_as_a_scenario_reads_them() {
        let subject = subject("speed", &["interval", "measure"]).unwrap();
        let defaults = subject.defaults();
        assert_eq!(subject.item(&defaults, None), "SPEED");
        let values = [50_000_000, 1];
        assert_eq!(
            subject.item(&values, Some("tuned")),
            "{ SPEED: { interval: 50ms, measure: queue }, as: tuned }"
        );
        assert_eq!(subject.changes(&values), 2);
        assert_eq!(subject.axes[1].searched(), "share, queue, progress");
        assert_eq!((round(123_456.0), round(99.6), round(1.2)), (120_000, 100, 1));
    }

    #[test]
    fn costs_are_searched_only_by_name() {
        let all = subject("SPEED", &[]).unwrap();
        assert!(all.left_out.contains(&"cost") && all.axes.iter().all(|axis| axis.parameter.name != "cost"));
        assert_eq!(subject("SPEED", &["cost"]).unwrap().axes.len(), 1);
    }

    #[test]
    fn what_cannot_be_tuned_says_why() {
        assert!(subject("SPEDE", &[]).unwrap_err().contains("SPEED"));
        assert!(subject("SPEED", &["intervall"]).unwrap_err().contains("interval"));
        assert!(subject("PARTITION", &["cores"]).unwrap_err().contains("cannot be tuned"));
    }
}
