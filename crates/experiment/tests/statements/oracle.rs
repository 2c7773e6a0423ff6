//! Reads sentences back and holds them against the cells: what a sentence states is recomputed here from the
//! means and intervals, in the simplest way, and what it leaves out is found.

use std::collections::BTreeSet;

use experiment::result::Results;
use experiment::statistics::Summary;

/// The cells of a result, looked up one by one.
pub(crate) struct Oracle<'a> {
    pub(crate) results: &'a Results,
    /// Text behind a policy for each configuration: ` with a=1, b=x`.
    withs: Vec<String>,
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
        Self { results, withs: p.configurations.iter().map(with).collect() }
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

    /// Whether two means cannot be distinguished, as documented: their intervals share a point, both have the
    /// same three digits, or at least one of twenty draws of uncertain inputs reverses their order.
    pub(crate) fn level(&self, a: &Summary, b: &Summary) -> bool {
        let ends = |s: &Summary| s.ci95.unwrap_or([s.mean, s.mean]);
        let ([a_lo, a_hi], [b_lo, b_hi]) = (ends(a), ends(b));
        (a_lo <= b_hi && b_lo <= a_hi)
            || experiment::number::short(a.mean) == experiment::number::short(b.mean)
            || self.reversed(a, b)
    }

    /// The values of the draws of the cell that has this summary; empty where there are none.
    pub(crate) fn draws(&self, of: &Summary) -> &'a [Option<f64>] {
        let cell = self.results.cells.iter().find(|cell| std::ptr::eq(&cell.summary, of));
        cell.and_then(|cell| cell.input_error.as_ref()).map_or(&[], |error| &error.draws)
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

    /// The policies that cannot be distinguished from one, among those of a configuration.
    pub(crate) fn level_with(
        &self,
        (policy, configuration): &Case,
        app: &str,
        metric: &str,
    ) -> BTreeSet<String> {
        let Some(own) = self.get(*configuration, policy, app, metric) else { return BTreeSet::new() };
        let others = self.policies().iter().filter(|other| *other != policy);
        others
            .filter(|other| self.get(*configuration, other, app, metric).is_some_and(|s| self.level(s, own)))
            .cloned()
            .collect()
    }

    /// ` A and B are level with it.`, which must name all of them and no other.
    pub(crate) fn levels<'t>(
        &self,
        case: &Case,
        app: &str,
        metric: &str,
        text: &'t str,
    ) -> Result<&'t str, String> {
        let want = self.level_with(case, app, metric);
        let (named, rest) = match text.strip_prefix(' ').map(|rest| self.list(rest)) {
            Some((named, rest))
                if rest.starts_with(" is level with it") || rest.starts_with(" are level with it") =>
            {
                let (_, rest) = rest.split_once("level with it.").ok_or("no end")?;
                (named, rest)
            }
            _ => (BTreeSet::new(), text),
        };
        ensure(named == want, || format!("level with {case:?}: {named:?} named, {want:?} are"))?;
        Ok(rest)
    }

    /// `(...; level: A and B)` or ` (level: A)`: the names in it, and the rest behind the bracket.
    pub(crate) fn even<'t>(&self, text: &'t str) -> (BTreeSet<String>, &'t str) {
        match text.split_once("level: ") {
            Some((before, after)) if before.len() <= 2 => self.list(after),
            _ => (BTreeSet::new(), text),
        }
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
