//! The smallest limit that meets a target: by bisection, then with whole cpus, then with other seeds.

use experiment::statistics::summarise;

use super::cells::Runs;
use super::{Judged, Met, Procs, Target};
use crate::trial::Failed;

/// Step of the search, in thousandths of a cpu.
const STEP: u64 = 50;
/// Seeds of a judgement at first and at most: they double while the target is in the interval.
const SEEDS: (u32, u32) = (5, 20);
/// Seeds by which the limit that was found is confirmed; the search has not used them.
const OTHERS: std::ops::Range<u32> = 100..120;
/// Most steps up when other seeds do not confirm the limit.
const MOST_STEPS: u32 = 20;

/// What the search found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) smallest: Option<Judged>,
    pub(super) larger_miss: Option<Judged>,
}

/// A limit with seeds.
fn with(
    runs: &Runs<'_>,
    (limit, rule): (u64, Procs),
    target: &Target,
    seeds: std::ops::Range<u32>,
) -> Result<Judged, Failed> {
    let procs = rule.value(limit, runs.cpus);
    let values = runs.value((limit, rule), target.statistic, seeds)?;
    let value = values.and_then(|values| summarise(&values));
    let met = match &value {
        None => Met::No,
        Some(value) => {
            let [low, high] = value.ci95.unwrap_or([value.mean; 2]);
            if high <= target.seconds() {
                Met::Yes
            } else if low > target.seconds() {
                Met::No
            } else {
                Met::Undecided
            }
        }
    };
    Ok(Judged { limit, procs, value, met })
}

/// A limit with as many seeds as the judgement needs.
fn judged(runs: &Runs<'_>, at: (u64, Procs), target: &Target) -> Result<Judged, Failed> {
    let (mut seeds, most) = SEEDS;
    loop {
        let judged = with(runs, at, target, 0..seeds)?;
        if judged.met != Met::Undecided || seeds >= most {
            return Ok(judged);
        }
        seeds = (2 * seeds).min(most);
    }
}

/// A limit by the seeds that confirm what the search finds.
pub(super) fn confirming(runs: &Runs<'_>, at: (u64, Procs), target: &Target) -> Result<Judged, Failed> {
    with(runs, at, target, OTHERS)
}

/// The search, with what it judged already.
struct Search<'a, 'b> {
    runs: &'a Runs<'b>,
    rule: Procs,
    target: &'a Target,
    known: std::collections::BTreeMap<u64, Judged>,
}

impl Search<'_, '_> {
    fn meets(&mut self, limit: u64) -> Result<bool, Failed> {
        if !self.known.contains_key(&limit) {
            let judged = judged(self.runs, (limit, self.rule), self.target)?;
            self.known.insert(limit, judged);
        }
        Ok(self.known.get(&limit).is_some_and(|judged| judged.met == Met::Yes))
    }

    /// The smallest limit that meets the target between one that misses it and one that meets it, where the
    /// statistic falls with the limit.
    fn bisect(&mut self, mut misses: u64, mut meets: u64) -> Result<u64, Failed> {
        while meets - misses > STEP {
            let middle = (misses + (meets - misses) / 2) / STEP * STEP;
            let middle = middle.max(misses + STEP);
            if self.meets(middle)? { meets = middle } else { misses = middle }
        }
        Ok(meets)
    }
}

/// The smallest limit that meets the target.
///
/// With GOMAXPROCS by the limit, response times do not fall everywhere: just above a whole cpu there is one
/// more thread than the quota feeds. So whole cpus below what bisection found are tried, too.
pub(super) fn smallest(runs: &Runs<'_>, rule: Procs, target: &Target) -> Result<Found, Failed> {
    let mut search = Search { runs, rule, target, known: std::collections::BTreeMap::new() };
    let most = u64::from(runs.cpus) * 1_000;
    if !search.meets(most)? {
        return Ok(Found::default());
    }
    // Below its load a limit misses any target.
    let least = (runs.load() * 1_000.0 / STEP as f64) as u64 * STEP;
    let mut found = search.bisect(least.min(most - STEP), most)?;
    for whole in (least / 1_000 + 1)..found.div_ceil(1_000) {
        if search.meets(whole * 1_000)? {
            found = search.bisect(least.max((whole - 1) * 1_000), whole * 1_000)?;
            break;
        }
    }
    let confirmed = confirmed(&search, found, most)?;
    let above = confirmed.as_ref().map_or(most, |judged| judged.limit);
    if above.is_multiple_of(1_000) && above < most {
        search.meets(above + STEP)?;
    }
    let misses = |judged: &&Judged| judged.met == Met::No && judged.limit > above;
    let larger_miss = search.known.values().rev().find(misses).cloned();
    Ok(Found { smallest: confirmed, larger_miss })
}

/// The first limit from this one on that other seeds confirm.
fn confirmed(search: &Search<'_, '_>, from: u64, most: u64) -> Result<Option<Judged>, Failed> {
    let mut limit = from;
    for _ in 0..MOST_STEPS {
        let judged = confirming(search.runs, (limit, search.rule), search.target)?;
        if judged.met == Met::Yes {
            return Ok(Some(judged));
        }
        if limit >= most {
            break;
        }
        limit = (limit + STEP).min(most);
    }
    Ok(None)
}
