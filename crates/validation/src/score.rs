//! The score: how many claims of each group are reproduced, how far off, and whether the order of a table is
//! right.

use experiment::statistics::spearman;
use serde::Serialize;

use crate::claims::{Claim, MODERN_PREFIX};
use crate::held_out::Shown;
use crate::verdict::{Finding, Verdict};

/// Fewest cells of a table for which a rank correlation means anything.
const LEAST_CELLS: usize = 5;

/// A group of claims.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Group {
    /// Its name.
    pub group: String,
    /// Claims, without those marked uncertain.
    pub n: usize,
    /// Reproduced ones among them.
    pub passed: usize,
    /// Median of the absolute errors of its numbers, in shares of the tolerance: at most 1 is within it.
    /// `None` without numbers.
    pub median_abs_error: Option<f64>,
    /// Spearman's rank correlation of published and simulated numbers, the mean over its metrics with at
    /// least five cells, weighted by their cells.
    pub rank_correlation: Option<f64>,
    /// Claims marked uncertain.
    pub uncertain: usize,
    /// Reproduced ones among them.
    pub uncertain_passed: usize,
}

impl Group {
    /// True for a group of the modern chapter.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        self.group.starts_with(MODERN_PREFIX)
    }
}

/// All groups in the order of their first claims.
#[must_use]
pub fn groups(claims: &[Claim], findings: &[Finding]) -> Vec<Group> {
    let mut names: Vec<&str> = Vec::new();
    for claim in claims {
        if !names.contains(&claim.group.as_str()) {
            names.push(&claim.group);
        }
    }
    names.into_iter().map(|name| group(name, claims, findings)).collect()
}

fn group(name: &str, claims: &[Claim], findings: &[Finding]) -> Group {
    let all: Vec<(&Claim, &Finding)> = claims.iter().zip(findings).filter(|(c, _)| c.group == name).collect();
    let certain = || all.iter().filter(|(c, _)| c.uncertain.is_none());
    let passed = |(_, f): &&(&Claim, &Finding)| f.verdict == Verdict::Pass;
    let mut errors: Vec<f64> = certain().filter_map(|(c, f)| relative_error(c, f)).collect();
    errors.sort_by(f64::total_cmp);
    let uncertain = || all.iter().filter(|(c, _)| c.uncertain.is_some());
    Group {
        group: name.to_owned(),
        n: certain().count(),
        passed: certain().filter(passed).count(),
        median_abs_error: median(&errors),
        rank_correlation: correlation(&all),
        uncertain: uncertain().count(),
        uncertain_passed: uncertain().filter(passed).count(),
    }
}

/// The error in shares of the tolerance.
fn relative_error(claim: &Claim, finding: &Finding) -> Option<f64> {
    let (published, _) = finding.pairs.first()?;
    let width = claim.tolerance.beyond(*published);
    (width > 0.0).then_some(finding.error?.abs() / width)
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Over the metrics of a group, each with its own scale.
fn correlation(all: &[(&Claim, &Finding)]) -> Option<f64> {
    let mut metrics: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for (claim, finding) in all.iter().filter(|(c, _)| c.form.is_number()) {
        match metrics.iter_mut().find(|(name, _)| *name == claim.texts.metric) {
            Some((_, pairs)) => pairs.extend(&finding.pairs),
            None => metrics.push((&claim.texts.metric, finding.pairs.clone())),
        }
    }
    let (mut sum, mut cells) = (0.0, 0);
    for (_, pairs) in metrics.iter().filter(|(_, pairs)| pairs.len() >= LEAST_CELLS) {
        if let Some(rho) = spearman(pairs) {
            sum += rho * pairs.len() as f64;
            cells += pairs.len();
        }
    }
    (cells > 0).then(|| sum / cells as f64)
}

/// The shares of claims reproduced: means over the groups, uncertain claims apart; `None` without a claim.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Score {
    /// Of all claims.
    pub all: Option<f64>,
    /// Of those that work on the model uses one by one.
    pub visible: Option<f64>,
    /// Of those that it does not.
    pub held_out: Option<f64>,
}

impl Score {
    /// Of these claims.
    #[must_use]
    pub fn of(claims: &[Claim], findings: &[Finding]) -> Self {
        let of = |shown: Shown| {
            let (claims, findings): (Vec<Claim>, Vec<Finding>) = claims
                .iter()
                .zip(findings)
                .filter(|(claim, _)| shown.has(claim))
                .map(|(claim, finding)| (claim.clone(), finding.clone()))
                .unzip();
            overall(&groups(&claims, &findings))
        };
        Self { all: of(Shown::All), visible: of(Shown::Visible), held_out: of(Shown::HeldOut) }
    }

    /// In one sentence, in per cent; empty without a claim.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Some(all) = self.all else { return String::new() };
        let per_cent =
            |share: Option<f64>| share.map_or("none".to_owned(), |x| format!("{:.1} %", 100.0 * x));
        format!(
            "Reproduced, mean over the groups: {} (visible: {}, held out: {}).",
            per_cent(Some(all)),
            per_cent(self.visible),
            per_cent(self.held_out)
        )
    }
}

/// The mean over the groups of the share reproduced, uncertain claims and the modern chapter apart.
fn overall(groups: &[Group]) -> Option<f64> {
    mean(groups.iter().filter(|group| !group.is_modern()))
}

/// The same of the modern chapter; `None` without a claim of it.
#[must_use]
pub fn modern(groups: &[Group]) -> Option<f64> {
    mean(groups.iter().filter(|group| group.is_modern()))
}

fn mean<'a>(groups: impl Iterator<Item = &'a Group>) -> Option<f64> {
    let scored: Vec<f64> = groups.filter(|g| g.n > 0).map(|g| g.passed as f64 / g.n as f64).collect();
    (!scored.is_empty()).then(|| scored.iter().sum::<f64>() / scored.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
    }
}
