//! Statistics of a campaign, as JSON and as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::check::{Checked, Failure};
use super::coverage::{Coverage, DIMENSIONS, OPERATIONS, Possible};

/// Seeds that are listed for each kind of failure.
const SEEDS: usize = 20;
/// The slowest cases that are listed.
const SLOWEST: usize = 10;
/// Missing pairs that are listed for two dimensions.
const MISSING: usize = 12;

/// What a campaign has done so far.
#[derive(Clone, Default)]
pub struct Statistics {
    /// The first seed.
    pub first: u64,
    /// Cases that were checked, those that were refused included.
    pub cases: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Failures by kind, with their first seeds.
    failures: BTreeMap<String, (u64, Vec<u64>)>,
    /// Refused cases by reason, with the first seed.
    refused: BTreeMap<String, (u64, u64)>,
    checks: BTreeMap<&'static str, u64>,
    outcomes: BTreeMap<&'static str, u64>,
    corrections: u64,
    coverage: Coverage,
    slowest: Vec<(u128, u64)>,
}

/// A reason without names and numbers.
fn reason(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let parts: Vec<&str> = line.split('`').collect();
    let quoted = parts.iter().enumerate().map(|(n, part)| if n % 2 == 0 { *part } else { "``" });
    quoted.collect::<String>().chars().filter(|c| !c.is_ascii_digit()).collect()
}

impl Statistics {
    /// None yet, from a seed on.
    #[must_use]
    pub fn new(first: u64) -> Self {
        Self { first, ..Self::default() }
    }

    /// Counts a case and the time it took.
    pub fn add(&mut self, seed: u64, verdict: &Result<Checked, Failure>, took: Duration) {
        self.cases += 1;
        self.slowest.push((took.as_millis(), seed));
        self.slowest.sort_unstable_by(|a, b| b.cmp(a));
        self.slowest.truncate(SLOWEST);
        match verdict {
            Err(failure) => self.fail(seed, failure),
            Ok(checked) => {
                if let Some(why) = &checked.refused {
                    self.refused.entry(reason(why)).or_insert((0, seed)).0 += 1;
                }
                for check in &checked.checks {
                    *self.checks.entry(check).or_default() += 1;
                }
                for outcome in &checked.outcomes {
                    *self.outcomes.entry(outcome).or_default() += 1;
                }
                self.corrections += checked.corrections;
                checked.features.iter().for_each(|run| self.coverage.add(run));
            }
        }
    }

    /// Counts a failure.
    pub fn fail(&mut self, seed: u64, failure: &Failure) {
        self.failed += 1;
        let (count, seeds) = self.failures.entry(failure.kind.to_owned()).or_default();
        *count += 1;
        if seeds.len() < SEEDS {
            seeds.push(seed);
        }
    }

    /// Cases that the reader of scenarios refused.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.values().map(|(count, _)| count).sum()
    }

    /// Runs that ended so: `completed`, `horizon`, `deadlock` or `livelock`.
    #[must_use]
    pub fn ended(&self, how: &str) -> u64 {
        self.outcomes.get(how).copied().unwrap_or(0)
    }

    /// Operations of programs that no program which has ended has.
    #[must_use]
    pub fn never_run(&self) -> Vec<&'static str> {
        let runs = |name: &&str| self.coverage.of(&("operation", (*name).to_owned()));
        OPERATIONS.into_iter().filter(|name| runs(name) == 0).collect()
    }

    /// Possible pairs of each two dimensions: how many there are, how many occurred, and the others.
    fn pairs(&self) -> Vec<(String, usize, usize, Vec<String>)> {
        let possible = Possible::new();
        let mut found = Vec::new();
        for (at, ones) in possible.values.iter().enumerate() {
            for (other_at, others) in possible.values.iter().enumerate().skip(at + 1) {
                let all = ones.iter().flat_map(|one| others.iter().map(move |other| (one, other)));
                let all: Vec<_> = all.filter(|(one, other)| possible.both(one, other)).collect();
                let missed = all.iter().filter(|(one, other)| self.coverage.pair(one, other) == 0);
                let missed: Vec<String> =
                    missed.map(|(one, other)| format!("{} + {}", one.1, other.1)).collect();
                let name = format!("{} x {}", DIMENSIONS[at], DIMENSIONS[other_at]);
                found.push((name, all.len(), all.len() - missed.len(), missed));
            }
        }
        found
    }

    /// All of it, with the time that passed, the seed to continue with, and the cases that run now with the
    /// seconds they take.
    #[must_use]
    pub fn json(&self, (passed, next): (Duration, u64), running: &[(u64, u64)]) -> Value {
        let per_hour = self.cases as f64 * 3_600.0 / passed.as_secs_f64().max(1e-3);
        let seeds = |(kind, (count, seeds)): (&String, &(u64, Vec<u64>))| {
            (kind.clone(), json!({ "cases": count, "seeds": seeds }))
        };
        let refused = |(why, (count, seed)): (&String, &(u64, u64))| {
            (why.clone(), json!({ "cases": count, "first_seed": seed }))
        };
        let pairs = self.pairs().into_iter().map(|(name, possible, hit, missed)| {
            json!({ "dimensions": name, "possible": possible, "hit": hit, "missed": missed })
        });
        json!({
            "first_seed": self.first,
            "next_seed": next,
            "cases": self.cases,
            "seconds": passed.as_secs(),
            "cases_per_hour": per_hour as u64,
            "failed": self.failed,
            "failures": self.failures.iter().map(seeds).collect::<serde_json::Map<_, _>>(),
            "refused": self.refused.iter().map(refused).collect::<serde_json::Map<_, _>>(),
            "checks": self.checks,
            "outcomes": self.outcomes,
            "corrected_decisions_of_faulty_policies": self.corrections,
            "slowest": self.slowest.iter().map(|(ms, seed)| json!({ "ms": *ms as u64, "seed": seed }))
                .collect::<Vec<_>>(),
            "running": running.iter().map(|(seed, s)| json!({ "seed": seed, "seconds": s }))
                .collect::<Vec<_>>(),
            "pairs": pairs.collect::<Vec<_>>(),
        })
    }

    /// The same as tables.
    #[must_use]
    pub fn markdown(&self, (passed, next): (Duration, u64)) -> String {
        let mut text = String::new();
        let per_hour = self.cases as f64 * 3_600.0 / passed.as_secs_f64().max(1e-3);
        let _ = writeln!(
            text,
            "# Campaign\n\n{} cases from seed {} in {} s, {per_hour:.0} an hour; {} failed, {} refused.\n\
             Resume with `--seed {next}`.\n",
            self.cases,
            self.first,
            passed.as_secs(),
            self.failed,
            self.refused(),
        );
        if !self.failures.is_empty() {
            let _ = writeln!(text, "| failure | cases | seeds |\n|---|---|---|");
            for (kind, (count, seeds)) in &self.failures {
                let _ = writeln!(text, "| {kind} | {count} | {seeds:?} |");
            }
        }
        if !self.refused.is_empty() {
            let _ = writeln!(text, "\n| refused because | cases | first seed |\n|---|---|---|");
            for (why, (count, seed)) in &self.refused {
                let _ = writeln!(text, "| {why} | {count} | {seed} |");
            }
        }
        let _ = writeln!(text, "\n| check | runs |\n|---|---|");
        for (check, count) in &self.checks {
            let _ = writeln!(text, "| {check} | {count} |");
        }
        let _ = writeln!(text, "\nEndings of the runs: {:?}.", self.outcomes);
        let _ = writeln!(text, "Corrected decisions of faulty policies: {}.", self.corrections);
        let slowest: Vec<String> =
            self.slowest.iter().map(|(ms, seed)| format!("{seed} ({ms} ms)")).collect();
        let _ = writeln!(text, "Slowest cases by seed: {}.", slowest.join(", "));
        let _ = writeln!(text, "\n| pairs of | possible | hit | missing |\n|---|---|---|---|");
        for (name, possible, hit, missed) in self.pairs() {
            let more = if missed.len() > MISSING { ", ..." } else { "" };
            let listed = missed[..missed.len().min(MISSING)].join(", ");
            let _ = writeln!(text, "| {name} | {possible} | {hit} | {listed}{more} |");
        }
        let _ = writeln!(text, "\n| dimension | value | runs |\n|---|---|---|");
        for feature in Possible::new().values.iter().flatten() {
            let _ = writeln!(text, "| {} | {} | {} |", feature.0, feature.1, self.coverage.of(feature));
        }
        text
    }
}
