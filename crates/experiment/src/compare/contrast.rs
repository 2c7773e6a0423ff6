//! Two results, or two policies of one result, compared pair by pair: the data of `oversim compare`.

use std::collections::{BTreeMap, BTreeSet};

use notation::suggest::{hint, metric_hint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::paired::{Paired, paired};
use super::{Ratio, Verdict};
use crate::metrics::{ALL_APPS, METRICS, Metric, Scope};
use crate::provenance::Provenance;
use crate::result::{Cell, Results};
use crate::statements::doubts;
use crate::statements::table::Goal;
use crate::statistics::{holm, rounded};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "oversim.compare/1";

/// Metrics that are compared by default.
const USUAL: [&str; 3] = ["run_time", "makespan", "time_per_work"];

/// What the usual metrics say as well.
const TIMES: [&str; 4] = ["run_time", "makespan", "time_per_work", "throughput"];

/// What is compared with what.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contrasts {
    /// [`SCHEMA`].
    pub schema: String,
    /// The reference.
    pub a: Side,
    /// The side that is compared with it.
    pub b: Side,
    /// A slowdown counts when its whole interval is larger than this, in per cent.
    pub threshold: f64,
    /// By configuration, policy, metric and application.
    pub contrasts: Vec<Contrast>,
    /// Number of comparisons with a slowdown larger than the threshold.
    pub too_slow: usize,
    /// Notes on the comparison: quantities without partner, other differences between the two sides.
    pub remarks: Vec<String>,
}

/// Where one side comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The file, as named on the command line.
    pub file: String,
    /// Name of its scenario.
    pub scenario: String,
    /// SHA-256 of its scenario's text.
    pub scenario_sha256: String,
    /// Changes from the command line.
    pub overrides: Vec<String>,
    /// Version of the model.
    pub model: String,
    /// Digest of its runs.
    pub digest: String,
}

/// One quantity on both sides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// Label of the configuration; empty without a sweep.
    pub configuration: String,
    /// Name of the application, or `all`.
    pub app: String,
    /// Name of the metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Policy of a.
    pub policy_a: String,
    /// Policy of b.
    pub policy_b: String,
    /// Mean of a over the pairs.
    pub mean_a: f64,
    /// Mean of b over the pairs.
    pub mean_b: f64,
    /// Mean of b - a.
    pub difference: f64,
    /// Its 95 % confidence interval; `null` with fewer than two pairs.
    pub difference_ci95: Option<[f64; 2]>,
    /// a / b: 2 means that b is twice as fast; `null` when a value is not positive, of lateness, or when the
    /// interval exceeds what a number can hold.
    pub speedup: Option<Ratio>,
    /// Two-sided p-value of "there is no difference"; `null` with fewer than two pairs.
    pub p: Option<f64>,
    /// The same, corrected for the number of comparisons (Holm 1979): with those below 0.05 taken as
    /// differences, one wrong difference or more is found in 5 % of the cases at most.
    #[serde(default)]
    pub p_holm: Option<f64>,
    /// Pairs: replicates with the same seed that both sides have.
    pub pairs: usize,
    /// The verdict at a confidence of 95 %.
    pub verdict: Verdict,
    /// True when b is slower by more than the threshold.
    pub too_slow: bool,
    /// Without a significant difference: about how many pairs show a difference of the observed size with a
    /// probability of 80 %. `null` when the verdict is another one, when the observed difference is not
    /// larger than the threshold, and when more than 10,000 pairs are needed.
    pub pairs_needed: Option<u32>,
}

/// A result and the name of its file.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// The file, as named on the command line.
    pub file: &'a str,
    /// The result.
    pub results: &'a Results,
}

/// What to compare.
#[derive(Clone, Default)]
pub struct Wanted {
    /// Policies, by label; when empty, all policies (of two results: those that both have).
    pub policies: Vec<String>,
    /// Metrics; when empty, the run times and the makespan.
    pub metrics: Vec<String>,
    /// A slowdown counts when its whole interval is larger than this, in per cent.
    pub threshold: f64,
}

/// Checks the names of metrics before anything is simulated.
///
/// # Errors
/// A sentence: a name that is not there, or a metric without pairs.
pub fn check_metrics(names: &[String]) -> Result<(), String> {
    metrics(names).map(drop)
}

/// The first of the wanted policies of a result against each of the others.
///
/// # Errors
/// A sentence: names that are not there, fewer than two policies, nothing in common.
pub fn policies(of: Named<'_>, wanted: &Wanted) -> Result<Contrasts, String> {
    let labels = labels(of, &wanted.policies)?;
    let [first, others @ ..] = labels.as_slice() else {
        return Err(format!("{} has no policies", of.file));
    };
    if others.is_empty() {
        return Err(format!(
            "{}: {first} is the only policy, and a comparison needs two: name another one, as in `--policy \
                {first},PIN`",
            of.file
        ));
    }
    contrasts(of, of, &others.iter().map(|other| (first.clone(), other.clone())).collect::<Vec<_>>(), wanted)
}

/// Two results, policy by policy. If each has one policy, these are compared, whatever their names.
///
/// # Errors
/// A sentence: names that are not there, nothing in common, no seeds in common.
pub fn results(a: Named<'_>, b: Named<'_>, wanted: &Wanted) -> Result<Contrasts, String> {
    let (of_a, of_b) = (&a.results.provenance.policies, &b.results.provenance.policies);
    let single = wanted.policies.is_empty() && of_a.len() == 1 && of_b.len() == 1;
    let pairs: Vec<(String, String)> = if single {
        vec![(of_a[0].clone(), of_b[0].clone())]
    } else {
        let wanted = labels(a, &wanted.policies)?;
        wanted.into_iter().filter(|label| of_b.contains(label)).map(|label| (label.clone(), label)).collect()
    };
    if pairs.is_empty() {
        return Err(format!(
            "the two results have no policy in common: {} has {}, {} has {}",
            a.file,
            of_a.join(", "),
            b.file,
            of_b.join(", ")
        ));
    }
    contrasts(a, b, &pairs, wanted)
}

/// The labels of the wanted policies as the result spells them.
fn labels(of: Named<'_>, wanted: &[String]) -> Result<Vec<String>, String> {
    let all = &of.results.provenance.policies;
    if wanted.is_empty() {
        return Ok(all.clone());
    }
    let find = |name: &String| {
        let found = all.iter().find(|label| *label == name);
        let found = found.or_else(|| all.iter().find(|label| label.eq_ignore_ascii_case(name)));
        found.cloned().ok_or_else(|| {
            let hint = hint(name, all.iter().map(String::as_str));
            let stop = if hint.is_empty() { "." } else { "" };
            format!("{} has no policy `{name}`{hint}{stop} Valid: {}", of.file, all.join(", "))
        })
    };
    wanted.iter().map(find).collect()
}

/// The metrics asked for.
fn metrics(wanted: &[String]) -> Result<Vec<&'static Metric>, String> {
    let names: Vec<&str> =
        if wanted.is_empty() { USUAL.to_vec() } else { wanted.iter().map(String::as_str).collect() };
    let mut found = Vec::new();
    for name in names {
        let metrics: Vec<_> = METRICS.iter().filter(|metric| metric.name == name).collect();
        if metrics.is_empty() {
            return Err(unknown(name));
        }
        if metrics.iter().any(|metric| !metric.has_replicates) {
            return Err(format!("`{name}` is one value over all replicates, so it has no pairs to compare"));
        }
        found.extend(metrics);
    }
    Ok(found)
}

/// The error about a metric that does not exist, with the nearest one and all that have pairs.
fn unknown(name: &str) -> String {
    let comparable = METRICS.iter().filter(|metric| metric.has_replicates);
    let mut known: Vec<&str> = comparable.map(|metric| metric.name).collect();
    // Some names belong to an application and to the whole run.
    let mut seen = BTreeSet::new();
    known.retain(|name| seen.insert(*name));
    let hint = metric_hint(name, known.iter().copied());
    let stop = if hint.is_empty() { "." } else { "" };
    format!("no metric is called `{name}`{hint}{stop} Valid: {}", known.join(", "))
}

fn contrasts(
    a: Named<'_>,
    b: Named<'_>,
    policies: &[(String, String)],
    wanted: &Wanted,
) -> Result<Contrasts, String> {
    let mut metrics = metrics(&wanted.metrics)?;
    if wanted.metrics.is_empty() {
        // What policies are judged by comes first.
        let judged = b.results.provenance.objective.map(Goal::metric_of).filter(|name| !TIMES.contains(name));
        metrics.splice(0..0, METRICS.iter().filter(|metric| Some(metric.name) == judged));
    }
    if wanted.metrics.is_empty() && a.results.foreground().count() < 2 {
        // With one application its run time contains everything.
        metrics.retain(|metric| metric.scope == Scope::App);
    }
    let mut found = Vec::new();
    let mut unpaired = 0;
    let cells = [a, b].map(|of| Cells::of(of.results));
    for configuration in &a.results.provenance.configurations {
        for (policy_a, policy_b) in policies {
            for metric in &metrics {
                let apps = a.results.provenance.apps.iter().map(String::as_str).chain([ALL_APPS]);
                for app in apps.filter(|app| (*app == ALL_APPS) == (metric.scope == Scope::All)) {
                    let place = (configuration.label.as_str(), app);
                    let sides = [policy_a, policy_b].map(String::as_str);
                    match contrast_at([&cells[0], &cells[1]], place, metric, sides, wanted.threshold) {
                        Some(Some(contrast)) => found.push(contrast),
                        Some(None) => unpaired += 1,
                        None => {}
                    }
                }
            }
        }
    }
    if found.is_empty() {
        return Err(nothing(a, b));
    }
    correct(&mut found);
    Ok(Contrasts {
        schema: SCHEMA.into(),
        a: side(a),
        b: side(b),
        threshold: wanted.threshold,
        too_slow: found.iter().filter(|contrast| contrast.too_slow).count(),
        contrasts: found,
        remarks: remarks(a, b, unpaired),
    })
}

/// Corrects the probabilities of all comparisons for their number.
fn correct(found: &mut [Contrast]) {
    let tested: Vec<&mut Contrast> = found.iter_mut().filter(|one| one.p.is_some()).collect();
    let corrected = holm(&tested.iter().filter_map(|one| one.p).collect::<Vec<f64>>());
    for (one, p) in tested.into_iter().zip(corrected) {
        one.p_holm = Some(rounded(p));
    }
}

/// The cells of a result, for comparisons of single ones.
pub struct Cells<'a> {
    results: &'a Results,
    index: Index<'a>,
}

impl<'a> Cells<'a> {
    /// The cells of a result. This takes time in proportion to their number.
    #[must_use]
    pub fn of(results: &'a Results) -> Self {
        Self { results, index: index(results) }
    }

    /// The comparison of two policies at a configuration, of an application (or `all`) by a metric; none
    /// where there are no pairs of values.
    #[must_use]
    pub fn contrast(
        &self,
        (configuration, app): (&str, &str),
        metric: &str,
        policies: [&str; 2],
    ) -> Option<Contrast> {
        let mut known = METRICS.iter().filter(|known| known.name == metric);
        known.find_map(|metric| contrast_at([self, self], (configuration, app), metric, policies, 0.0)?)
    }

    /// Seed and value of each replicate of a cell, and its sampling error.
    fn values(&self, key: (&str, &str, &str, &str)) -> Option<(Vec<(u64, f64)>, f64)> {
        let cell = self.index.get(&key)?;
        Some((by_seed(self.results, &cell.values), cell.summary.sampling_error))
    }
}

/// The comparison of two cells; none if the first does not exist, none inside if they have no pairs.
fn contrast_at(
    [a, b]: [&Cells<'_>; 2],
    (configuration, app): (&str, &str),
    metric: &Metric,
    [policy_a, policy_b]: [&str; 2],
    threshold: f64,
) -> Option<Option<Contrast>> {
    let (of_a, error_a) = a.values((configuration, policy_a, app, metric.name))?;
    let (of_b, error_b) = b.values((configuration, policy_b, app, metric.name)).unwrap_or_default();
    let contrast = paired(metric.name, &pairs(&of_a, &of_b), [error_a, error_b]).map(|paired| Contrast {
        configuration: configuration.into(),
        app: app.into(),
        policy_a: policy_a.into(),
        policy_b: policy_b.into(),
        ..contrast(metric, &paired, threshold)
    });
    Some(contrast)
}

/// Values by configuration, policy, application and metric.
type Index<'a> = BTreeMap<(&'a str, &'a str, &'a str, &'a str), &'a Cell>;

/// The cells of a result; of those about the same, the first counts.
fn index(results: &Results) -> Index<'_> {
    let mut index = Index::new();
    for cell in &results.cells {
        let Cell { configuration, policy, app, metric, .. } = cell;
        index.entry((configuration, policy, app, metric)).or_insert(cell);
    }
    index
}

/// Seed and value of every replicate that was measured.
fn by_seed(results: &Results, values: &[Option<f64>]) -> Vec<(u64, f64)> {
    let seeds = (0_u64..).map(|replicate| results.provenance.seed.wrapping_add(replicate));
    seeds.zip(values).filter_map(|(seed, value)| Some((seed, (*value)?))).collect()
}

/// The values of equal seeds.
fn pairs(a: &[(u64, f64)], b: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let b: BTreeMap<u64, f64> = b.iter().rev().copied().collect();
    let partner = |seed: u64| b.get(&seed).copied();
    a.iter().filter_map(|(seed, value)| Some((*value, partner(*seed)?))).collect()
}

/// The comparison of pairs, without the place.
fn contrast(metric: &Metric, paired: &Paired, threshold: f64) -> Contrast {
    let verdict = match paired.verdict() {
        Verdict::Faster if !metric.is_time() => Verdict::Lower,
        Verdict::Slower if !metric.is_time() => Verdict::Higher,
        verdict => verdict,
    };
    let [mean_a, mean_b] = paired.means;
    // Lower end of the interval of time of b / time of a.
    let at_least = match paired.ratio {
        Some(ratio) => ratio.inverse().ci95.map(|[lo, _]| lo),
        None => paired.difference.ci95.filter(|_| mean_a > 0.0).map(|[lo, _]| 1.0 + lo / mean_a),
    };
    let limit = 1.0 + threshold / 100.0;
    let beyond = at_least.is_none_or(|factor| factor > limit);
    let matters = paired.ratio.is_none_or(|ratio| ratio.mean.max(1.0 / ratio.mean) > limit);
    Contrast {
        configuration: String::new(),
        app: String::new(),
        metric: metric.name.into(),
        unit: metric.unit.into(),
        policy_a: String::new(),
        policy_b: String::new(),
        mean_a,
        mean_b,
        difference: paired.difference.mean,
        difference_ci95: paired.difference.ci95,
        speedup: paired.ratio,
        p: paired.p,
        pairs: paired.difference.n,
        verdict,
        too_slow: verdict == Verdict::Slower && beyond,
        p_holm: None,
        pairs_needed: paired.needed.filter(|_| !verdict.is_difference() && matters),
    }
}

fn side(of: Named<'_>) -> Side {
    let p = &of.results.provenance;
    Side {
        file: of.file.into(),
        scenario: p.scenario.clone(),
        scenario_sha256: p.scenario_sha256.clone(),
        overrides: p.overrides.clone(),
        model: p.model.clone(),
        digest: p.digest.clone(),
    }
}

fn labels_of(p: &Provenance) -> String {
    p.configurations.iter().map(|c| c.label.as_str()).collect::<Vec<_>>().join("; ")
}

/// The reason why there are no pairs.
fn nothing(a: Named<'_>, b: Named<'_>) -> String {
    let (p, q) = (&a.results.provenance, &b.results.provenance);
    let seeds = |seed: u64, repeat: u32| (seed, seed.saturating_add(u64::from(repeat.saturating_sub(1))));
    let ((from_a, to_a), (from_b, to_b)) = (seeds(p.seed, p.repeat), seeds(q.seed, q.repeat));
    if to_a < from_b || to_b < from_a {
        return format!(
            "the two results have no seed in common, so there are no pairs: {} has seeds {from_a} to \
                {to_a}, {} has {from_b} to {to_b}; run both with the same --seed",
            a.file, b.file
        );
    }
    format!(
        "the two results have no measurement in common: {} has configurations [{}] and applications {}, {} \
            has configurations [{}] and applications {}",
        a.file,
        labels_of(p),
        p.apps.join(", "),
        b.file,
        labels_of(q),
        q.apps.join(", ")
    )
}

fn remarks(a: Named<'_>, b: Named<'_>, unpaired: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    let (p, q) = (&a.results.provenance, &b.results.provenance);
    let same = std::ptr::eq(a.results, b.results);
    if !same && p.model != q.model {
        remarks.push(format!(
            "The two results come from different versions of the model ({} and {}), which may cause \
                differences.",
            p.model, q.model
        ));
    }
    if !same && p.generator != q.generator {
        remarks.push(format!(
            "The two results have different random numbers ({} and {}), so the runs of a pair do not have \
                the same random work.",
            p.generator, q.generator
        ));
    }
    if unpaired > 0 {
        remarks
            .push(format!("{unpaired} quantities of {} are missing in {} and are left out.", a.file, b.file));
    }
    for of in if same { vec![a] } else { vec![a, b] } {
        let failed = of.results.notes.len();
        if failed > 0 {
            remarks.push(format!("{failed} runs of {} did not complete and are left out.", of.file));
        }
        for doubt in doubts::of_result(of.results) {
            if !remarks.contains(&doubt) {
                remarks.push(doubt);
            }
        }
    }
    remarks
}

#[cfg(test)]
mod tests;
