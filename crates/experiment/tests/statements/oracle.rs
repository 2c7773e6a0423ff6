//! Reads sentences back and holds them against the cells: what a sentence states is recomputed here from the
//! means and intervals, in the simplest way, and what it leaves out is found.

use std::collections::{BTreeMap, BTreeSet};

use experiment::result::{Cell, Results};
use experiment::statements::ranking::Standing;
use experiment::statistics::{Summary, rounded, summarise};

/// The cells of a result, looked up one by one.
pub(crate) struct Oracle<'a> {
    pub(crate) results: &'a Results,
    /// Text behind a policy for each configuration: ` with a=1, b=x`.
    withs: Vec<String>,
    /// The cells by the place of their statistics.
    cells: BTreeMap<*const Summary, &'a Cell>,
}

/// How two values compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Equal,
    Level,
    Undecided,
    Apart,
}

impl Relation {
    /// Not to be told apart by more than a tenth.
    pub(crate) fn is_close(self) -> bool {
        matches!(self, Self::Equal | Self::Level)
    }
}

/// A policy at a configuration.
pub(crate) type Case = (String, usize);

/// What is wrong with a sentence.
pub(crate) type Verdict = Result<(), String>;

/// Fails with a reason.
pub(crate) fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(reason()) }
}

/// The number at the beginning of a text, its tolerance (half of the last digit written), and the rest.
pub(crate) fn number(text: &str) -> Option<(f64, f64, &str)> {
    let end = text
        .char_indices()
        .find(|(at, c)| {
            let exponent = *c == 'e' || (*c == '-' && text[..*at].ends_with('e'));
            !(c.is_ascii_digit() || *c == '.' || exponent || (*c == '-' && *at == 0))
        })
        .map_or(text.len(), |(at, _)| at);
    let written = text[..end].trim_end_matches('.');
    let value: f64 = written.parse().ok()?;
    let (mantissa, exponent) = written.split_once('e').unwrap_or((written, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
    let last = 10_f64.powi(exponent.parse::<i32>().ok()? - decimals);
    Some((value, last * 0.500_01, &text[written.len()..]))
}

/// A number with a unit of time or `%`, in seconds or as a share.
pub(crate) fn quantity(text: &str) -> Option<(f64, f64, &str)> {
    let (value, tolerance, rest) = number(text)?;
    for (unit, scale) in [(" ms", 1e-3), (" us", 1e-6), (" ns", 1e-9), (" s", 1.0), (" %", 0.01)] {
        if let Some(rest) = rest.strip_prefix(unit) {
            return Some((value * scale, tolerance * scale, rest));
        }
    }
    None
}

impl<'a> Oracle<'a> {
    pub(crate) fn of(results: &'a Results) -> Self {
        let p = &results.provenance;
        let with = |c: &scenario::configuration::Configuration| {
            let shown = p.sweep.iter().zip(&c.places).filter(|(axis, _)| axis.values.len() > 1);
            let each: Vec<String> = shown
                .map(|(axis, at)| format!("{}={}", Self::short(&axis.path), bare(&axis.values[*at])))
                .collect();
            if each.is_empty() { String::new() } else { format!(" with {}", each.join(", ")) }
        };
        let cells = results.cells.iter().map(|cell| (&raw const cell.summary, cell)).collect();
        Self { results, withs: p.configurations.iter().map(with).collect(), cells }
    }

    /// The name of an axis in sentences.
    pub(crate) fn short(path: &str) -> String {
        match path {
            "apps.cg.runtime" => "cg.runtime".into(),
            other => other.rsplit('.').next().unwrap_or(other).into(),
        }
    }

    pub(crate) fn policies(&self) -> &[String] {
        &self.results.provenance.policies
    }

    pub(crate) fn configurations(&self) -> usize {
        self.withs.len()
    }

    pub(crate) fn with(&self, configuration: usize) -> &str {
        &self.withs[configuration]
    }

    pub(crate) fn apps(&self) -> Vec<String> {
        self.results.foreground().map(str::to_owned).collect()
    }

    pub(crate) fn get(
        &self,
        configuration: usize,
        policy: &str,
        app: &str,
        metric: &str,
    ) -> Option<&'a Summary> {
        let label = &self.results.provenance.configurations[configuration].label;
        self.results.get(label, policy, app, metric)
    }

    /// The cell of a value.
    pub(crate) fn cell(&self, of: &Summary) -> Option<&'a Cell> {
        self.cells.get(&std::ptr::from_ref(of)).copied()
    }

    /// How two values compare, as documented: all values are the same; both have the same three digits, or at
    /// least one of twenty draws of uncertain inputs reverses their order; else the interval of the ratio of
    /// the pairs decides, and without pairs whether their intervals share a point.
    pub(crate) fn relation(&self, a: &Summary, b: &Summary) -> Relation {
        let values = |s: &Summary| self.cell(s).map_or(&[][..], |cell| &cell.values);
        if !values(a).is_empty() && values(a) == values(b) {
            return Relation::Equal;
        }
        if experiment::number::short(a.mean) == experiment::number::short(b.mean) || self.reversed(a, b) {
            return Relation::Level;
        }
        let pairs = values(a).iter().zip(values(b)).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let signed = self.cell(a).is_some_and(|cell| cell.metric.starts_with("lateness"));
        if pairs.len() > 1 && (signed || pairs.iter().any(|(a, b)| a.min(*b) <= 0.0)) {
            return Self::by_difference(&pairs);
        }
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| libm::log(a / b)).collect();
        let Some([lo, hi]) = summarise(&logs).and_then(|s| s.ci95) else {
            let ends = |s: &Summary| s.ci95.unwrap_or([s.mean, s.mean]);
            let ([a_lo, a_hi], [b_lo, b_hi]) = (ends(a), ends(b));
            let meet = a_lo <= b_hi && b_lo <= a_hi;
            return if meet { Relation::Undecided } else { Relation::Apart };
        };
        let (lo, hi) = (rounded(libm::exp(lo)), rounded(libm::exp(hi)));
        if lo > 1.0 || hi < 1.0 {
            Relation::Apart
        } else if lo * 1.1 < 1.0 || hi > 1.1 {
            Relation::Undecided
        } else {
            Relation::Level
        }
    }

    /// The relation of values that have no ratios: differences count, and a tenth of the larger mean.
    fn by_difference(pairs: &[(f64, f64)]) -> Relation {
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        let size = mean(|pair| pair.0).abs().max(mean(|pair| pair.1).abs());
        let Some([lo, hi]) = summarise(&differences).and_then(|s| s.ci95) else { return Relation::Undecided };
        if lo > 0.0 || hi < 0.0 {
            Relation::Apart
        } else if hi.max(-lo) > 0.1 * size {
            Relation::Undecided
        } else {
            Relation::Level
        }
    }

    /// Whether it cannot be said which of two values is larger.
    pub(crate) fn level(&self, a: &Summary, b: &Summary) -> bool {
        self.relation(a, b) != Relation::Apart
    }

    /// Whether one is level with another, and not as level with the one at the other end of a ranking.
    pub(crate) fn even_with(&self, one: &Summary, own: &Summary, opposite: Option<&Summary>) -> bool {
        let opposite = opposite.filter(|end| !self.level(own, end));
        self.relation(one, own).is_close() && !opposite.is_some_and(|end| self.relation(one, end).is_close())
    }

    /// The values of the draws of the cell that has this summary; empty where there are none.
    pub(crate) fn draws(&self, of: &Summary) -> &'a [Option<f64>] {
        self.cell(of).and_then(|cell| cell.input_error.as_ref()).map_or(&[], |error| &error.draws)
    }

    fn reversed(&self, a: &Summary, b: &Summary) -> bool {
        if self.results.uncertainty.is_none() {
            return false;
        }
        let pairs: Vec<(f64, f64)> =
            self.draws(a).iter().zip(self.draws(b)).filter_map(|(x, y)| Some(((*x)?, (*y)?))).collect();
        let against = pairs.iter().filter(|(x, y)| x.total_cmp(y) != a.mean.total_cmp(&b.mean)).count();
        against > 0 && 20 * against >= pairs.len()
    }

    /// The longest name of a list at the beginning of a text, and the rest.
    pub(crate) fn name<'t>(names: &[String], text: &'t str) -> Option<(String, &'t str)> {
        let fitting = names.iter().filter(|name| {
            text.strip_prefix(name.as_str())
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-'))
        });
        let name = fitting.max_by_key(|name| name.len())?;
        Some((name.clone(), &text[name.len()..]))
    }

    pub(crate) fn policy<'t>(&self, text: &'t str) -> Option<(String, &'t str)> {
        Self::name(self.policies(), text)
    }

    pub(crate) fn app<'t>(&self, text: &'t str) -> Option<(String, &'t str)> {
        Self::name(&self.results.provenance.apps, text)
    }

    /// The configuration of ` with ...` at the beginning of a text; the only one without a sweep.
    pub(crate) fn configuration<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let fitting = (0..self.withs.len()).filter(|at| {
            text.strip_prefix(self.withs[*at].as_str())
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
        });
        let at = fitting.max_by_key(|at| self.withs[*at].len())?;
        Some((at, &text[self.withs[at].len()..]))
    }

    /// `PIN with threads_per_core=2`.
    pub(crate) fn case<'t>(&self, text: &'t str) -> Option<(Case, &'t str)> {
        let (policy, rest) = self.policy(text)?;
        let (configuration, rest) = self.configuration(rest)?;
        Some(((policy, configuration), rest))
    }

    /// Names of policies `A, B and C` at the beginning of a text.
    pub(crate) fn list<'t>(&self, text: &'t str) -> (BTreeSet<String>, &'t str) {
        let (mut names, mut rest) = (BTreeSet::new(), text);
        while let Some((name, after)) = self.policy(rest) {
            names.insert(name);
            rest = after;
            match after.strip_prefix(", ").or_else(|| after.strip_prefix(" and ")) {
                Some(next) if self.policy(next).is_some() => rest = next,
                _ => break,
            }
        }
        (names, rest)
    }

    /// The first and the last of the policies at a configuration.
    pub(crate) fn ends(&self, configuration: usize, app: &str, metric: &str) -> Option<[&'a Summary; 2]> {
        let all = || self.policies().iter().filter_map(|p| self.get(configuration, p, app, metric));
        let least = all().reduce(|a, b| if b.mean < a.mean { b } else { a })?;
        let most = all().reduce(|a, b| if b.mean >= a.mean { b } else { a })?;
        let (first_most, last_least) = (
            all().reduce(|a, b| if b.mean > a.mean { b } else { a })?,
            all().reduce(|a, b| if b.mean <= a.mean { b } else { a })?,
        );
        Some(if metric == "throughput" { [first_most, last_least] } else { [least, most] })
    }

    /// The other end of the ranking that a case is an end of, if the two are apart.
    pub(crate) fn opposite(
        &self,
        own: &Summary,
        configuration: usize,
        app: &str,
        metric: &str,
    ) -> Option<&'a Summary> {
        let [first, last] = self.ends(configuration, app, metric)?;
        let end = if std::ptr::eq(own, first) { last } else { first };
        Some(end).filter(|end| !self.level(own, end))
    }

    /// The policies that are level with one, among those of a configuration.
    pub(crate) fn level_with(
        &self,
        (policy, configuration): &Case,
        app: &str,
        metric: &str,
    ) -> BTreeSet<String> {
        let Some(own) = self.get(*configuration, policy, app, metric) else { return BTreeSet::new() };
        let opposite = self.opposite(own, *configuration, app, metric);
        let others = self.policies().iter().filter(|other| *other != policy);
        let even = |other: &&String| {
            self.get(*configuration, other, app, metric).is_some_and(|s| self.even_with(s, own, opposite))
        };
        others.filter(even).cloned().collect()
    }

    /// The tail in which two policies differ by a factor of 2 or more.
    pub(crate) fn tail(&self, case: &Case, other: &str, app: &str, metric: &str) -> Option<&'static str> {
        let metrics: &[&'static str] = match metric {
            "response_time" => &["response_time_p99", "wakeup_latency_p99"],
            "response_time_p99" => &["wakeup_latency_p99"],
            "turnaround" => &["turnaround_p99"],
            "queue_time" => &["queue_time_p99"],
            _ => &[],
        };
        metrics.iter().copied().find(|name| {
            let of = |policy: &str| self.get(case.1, policy, app, name);
            let Some((a, b)) = of(&case.0).zip(of(other)) else { return false };
            let factor = (a.mean / b.mean).max(b.mean / a.mean);
            factor >= 2.0 && !self.level(a, b)
        })
    }

    /// Whether a policy differs from the first one of its configuration in a tail.
    pub(crate) fn has_tail(
        &self,
        policy: &str,
        configuration: usize,
        app: &str,
        metric: &str,
        first: &Summary,
    ) -> bool {
        let is_first = |other: &&String| {
            self.get(configuration, other, app, metric).is_some_and(|s| std::ptr::eq(s, first))
        };
        let first = self.policies().iter().find(is_first);
        first.is_some_and(|first| self.tail(&(first.clone(), configuration), policy, app, metric).is_some())
    }

    /// All cases that have a cell.
    pub(crate) fn cases(&self, app: &str, metric: &str) -> Vec<(Case, &'a Summary)> {
        let mut cases = Vec::new();
        for configuration in 0..self.configurations() {
            for policy in self.policies() {
                if let Some(summary) = self.get(configuration, policy, app, metric) {
                    cases.push(((policy.clone(), configuration), summary));
                }
            }
        }
        cases
    }

    /// A case of a statement has its value of a metric of an application.
    pub(crate) fn is(&self, said: &Standing<'_>, app: &str, metric: &str) -> Verdict {
        let own = self.get(said.configuration, said.policy, app, metric);
        let same = own.is_some_and(|own| std::ptr::eq(own, said.value));
        ensure(same && std::ptr::eq(&raw const said.cell.summary, said.value), || {
            format!("{metric} of {app} under {} is {own:?}, not {:?}", said.policy, said.value)
        })
    }

    /// A value as written is that of a case.
    pub(crate) fn is_value(
        &self,
        case: &Case,
        app: &str,
        metric: &str,
        (value, tolerance): (f64, f64),
    ) -> Verdict {
        let Some(own) = self.get(case.1, &case.0, app, metric) else {
            return Err(format!("{case:?} has no {metric} of {app}"));
        };
        ensure((own.mean - value).abs() <= tolerance + own.mean.abs() * 1e-9, || {
            format!("{metric} of {app} of {case:?} is {}, not {value}", own.mean)
        })
    }
}

/// A value of an axis as sentences write it.
pub(crate) fn bare(value: &str) -> String {
    value.replace(['{', '}'], "").replace(": ", " ")
}
