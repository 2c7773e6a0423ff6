//! Which jobs may share a node: what a partition of a batch system gains when so many jobs use each core at a
//! time, who loses by it, and what would change the answer.
//!
//! A node has a queue that never runs empty. It runs as many jobs at once as the factor says; when one ends,
//! the next one of the queue begins, drawn from the mix. Jobs of a program run, on average, as long as it
//! does alone times its slowdown beside those that are there.
//!
//! The factor is that of Slurm's `OverSubscribe` (slurm.conf(5), and "Sharing Consumable Resources",
//! <https://slurm.schedmd.com/cons_tres_share.html>): with `SelectTypeParameters=CR_Core` or
//! `CR_Core_Memory`, `FORCE:N` lets each core be allocated to N jobs, `YES:N` only for jobs that ask (`sbatch
//! --oversubscribe`), `EXCLUSIVE` gives whole nodes to one job each. `CR_Core_Memory` also counts memory,
//! which is then not shared out twice. With `PreemptMode=GANG` Slurm suspends jobs on the same cores in turns
//! (<https://slurm.schedmd.com/gang_scheduling.html>), and they never run at the same time.

mod chain;
mod flips;
mod mix;
mod typed;
mod words;

use experiment::PolicyRegistry;
use serde::Serialize;

pub use mix::{Log, Mix, is_log};
pub use typed::Typed;
pub use words::FORMATS;

use crate::matrix::{Alone, Effort, Estimate, MOST_GROUPS, Measured, Programs, Together, groups, measure};
use crate::trial::{Failed, Means};

/// Sharing is worth it from this gain on; a smaller one is below what the model can state. As in the answer
/// of `oversim run`.
const PAYS: f64 = 0.01;

/// What a factor brings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Factor {
    /// Jobs at a time on each core.
    pub factor: usize,
    /// Work done in a time in which one job after the other would do 1. The interval is that of the
    /// slowdowns, all at one end at a time.
    pub throughput: Estimate,
    /// The largest slowdown of a job.
    pub worst: f64,
    /// Whose, beside whom; empty for one job at a time.
    pub whose: String,
    /// The share of the groups that the mix draws in which a job takes longer than by taking turns: by more
    /// than the factor, 0 to 1.
    pub losing: f64,
}

/// A group beside what it gains.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pair {
    /// The programs.
    pub programs: Vec<String>,
    /// Work done in a time in which one after the other would do 1.
    pub throughput: f64,
    /// The largest slowdown of the two.
    pub slowdown: f64,
    /// Its share among the pairs that the mix draws.
    pub share: f64,
}

/// A page for those who decide.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    /// The form of the JSON.
    pub schema: &'static str,
    /// The machine.
    pub machine: String,
    /// The policy.
    pub policy: String,
    /// Where the mix comes from, half a sentence.
    pub origin: String,
    /// The programs with their shares among the jobs.
    pub mix: Vec<(String, f64)>,
    /// What each factor brings, from 1.
    pub factors: Vec<Factor>,
    /// The factor that is advised.
    pub factor: usize,
    /// A factor of which the interval includes both gain and loss, so that nothing is advised; none where the
    /// answer is certain.
    pub undecided: Option<usize>,
    /// The pairs, the largest gain first.
    pub pairs: Vec<Pair>,
    /// Programs that are better left alone: beside a job of the mix they and it do less than by taking
    /// turns.
    pub alone: Vec<String>,
    /// What would change the answer: sentences.
    pub flips: Vec<String>,
    /// What to type.
    pub typed: Vec<Typed>,
    /// What to know before it is used: sentences.
    pub doubts: Vec<String>,
}

/// The form of the JSON.
const SCHEMA: &str = "oversim-share-1";

/// Slowdowns by group, and how much a mix of jobs gets done.
struct Node<'a> {
    alone: &'a [Alone],
    groups: &'a [Together],
    mix: &'a [f64],
}

/// Which end of the intervals counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Mean,
    Low,
    High,
}

impl Node<'_> {
    /// The slowdowns in a group, by place; none if it was not measured.
    fn slowdowns(&self, members: &[usize], end: End) -> Option<Vec<f64>> {
        if members.len() == 1 {
            return Some(vec![1.0]);
        }
        let group = self.groups.iter().find(|group| group.members == members)?;
        let of = |slowdown: &Estimate| match end {
            End::Mean => slowdown.mean,
            End::Low => slowdown.low.unwrap_or(slowdown.mean),
            End::High => slowdown.high.unwrap_or(slowdown.mean),
        };
        Some(group.slowdowns.iter().map(of).collect())
    }

    /// The work done with this many jobs at a time, relative to one at a time.
    fn throughput(&self, factor: usize, end: End) -> Option<f64> {
        let times: Vec<f64> = self.alone.iter().map(|alone| alone.seconds.mean).collect();
        chain::throughput(&times, self.mix, factor, &|members| self.slowdowns(members, end))
    }

    /// What a factor brings; none if a group of it was not measured.
    fn factor(&self, factor: usize) -> Option<Factor> {
        let mean = self.throughput(factor, End::Mean)?;
        // The slowest programs do the least.
        let ends = self.groups.iter().all(|group| group.slowdowns.iter().all(|one| one.low.is_some()));
        let at = |end: End| ends.then(|| self.throughput(factor, end)).flatten();
        let throughput = Estimate { mean, low: at(End::High), high: at(End::Low) };
        let there = |group: &&Together| group.members.len() == factor;
        let (mut worst, mut whose, mut losing) = (1.0, String::new(), 0.0);
        for group in self.groups.iter().filter(there) {
            let share = chain::share(&group.members, self.mix);
            if share <= 0.0 {
                continue;
            }
            for (place, slowdown) in group.slowdowns.iter().enumerate() {
                if slowdown.mean > worst {
                    worst = slowdown.mean;
                    let others = group.programs.iter().enumerate().filter(|(at, _)| *at != place);
                    let others: Vec<&str> = others.map(|(_, name)| name.as_str()).collect();
                    whose = format!("{} beside {}", group.programs[place], others.join(" + "));
                }
            }
            let limit = factor as f64 * (1.0 + PAYS);
            if group.slowdowns.iter().any(|slowdown| slowdown.above(limit)) {
                losing += share;
            }
        }
        Some(Factor { factor, throughput, worst, whose, losing })
    }
}

/// The factor with the largest throughput; a larger one must do more by what counts.
fn advised(factors: &[Factor]) -> usize {
    let mut best = factors.first();
    for factor in factors {
        let than = best.map_or(1.0, |best| best.throughput.mean);
        if factor.throughput.above(than * (1.0 + PAYS)) {
            best = Some(factor);
        }
    }
    best.map_or(1, |best| best.factor)
}

/// The smallest factor of which the interval includes both gain and loss, where no factor certainly gains.
fn undecided(factors: &[Factor], advised: usize) -> Option<usize> {
    let both = |factor: &&Factor| match (factor.throughput.low, factor.throughput.high) {
        (Some(low), Some(high)) => low < 1.0 - PAYS && high > 1.0 + PAYS,
        _ => false,
    };
    let open = factors.iter().filter(|factor| factor.factor > 1).find(both);
    open.filter(|_| advised < 2).map(|factor| factor.factor)
}

/// Runs the programs of a mix together, and says what a node gains when they share it.
///
/// # Errors
/// There are too many programs; a run is refused or does not complete; the user interrupted.
pub fn advise(
    (programs, policies): (&Programs, &PolicyRegistry),
    mix: &Mix,
    most: usize,
    effort: Effort,
    means: Means<'_>,
) -> Result<Advice, Failed> {
    let count = programs.programs.len();
    let wanted = groups(count, most);
    let states = wanted.iter().filter(|group| group.len() == most).count();
    if wanted.len() > MOST_GROUPS || states > chain::MOST_STATES {
        return Err(Failed::Refused(format!(
            "{count} programs, {most} at a time, are {states} groups, and at most {} are compared: name \
             fewer programs (`--only`), or fewer at a time (`--most-jobs`)",
            chain::MOST_STATES
        )));
    }
    let shares = mix.shares(programs)?;
    let Measured { alone, groups, incomplete } = measure((programs, policies), wanted, &[], effort, means)?;
    let node = Node { alone: &alone, groups: &groups, mix: &shares };
    let missing = || {
        let why = incomplete.clone().unwrap_or_else(|| "a group has no slowdown".to_owned());
        Failed::Refused(format!("nothing can be said of a node on which jobs do not end. {why}"))
    };
    let factors: Vec<Factor> =
        (1..=most).map(|factor| node.factor(factor)).collect::<Option<_>>().ok_or_else(missing)?;
    let factor = advised(&factors);
    let open = undecided(&factors, factor);
    let flips = flips::of((programs, policies), &node, factor, means)?;
    let by_itself = alone_better(&node, factor);
    let name = |program: &usize| alone[*program].program.clone();
    let alone_names: Vec<String> = by_itself.iter().map(name).collect();
    let kept = (0..count).filter(|program| !by_itself.contains(program));
    let sharing: Vec<String> = kept.map(|program| name(&program)).collect();
    Ok(Advice {
        schema: SCHEMA,
        machine: programs.machine.clone(),
        policy: programs.policy.clone(),
        origin: mix.origin.clone(),
        mix: alone.iter().zip(&shares).map(|(alone, share)| (alone.program.clone(), *share)).collect(),
        factor,
        undecided: open,
        pairs: pairs(&node),
        typed: if open.is_some() { Vec::new() } else { typed::lines(factor, &sharing, &alone_names) },
        alone: alone_names,
        flips,
        doubts: doubts((programs, &groups), effort, mix, incomplete),
        factors,
    })
}

/// The pairs that the mix draws, the largest gain first.
fn pairs(node: &Node<'_>) -> Vec<Pair> {
    let pair = |group: &Together| Pair {
        programs: group.programs.clone(),
        throughput: group.throughput.mean,
        slowdown: group.slowdowns.iter().map(|slowdown| slowdown.mean).fold(1.0, f64::max),
        share: chain::share(&group.members, node.mix),
    };
    let drawn = node.groups.iter().filter(|group| group.members.len() == 2).map(pair);
    let mut pairs: Vec<Pair> = drawn.filter(|pair| pair.share > 0.0).collect();
    pairs.sort_by(|a, b| b.throughput.total_cmp(&a.throughput));
    pairs
}

/// Programs that, on average beside a job of the mix, do less together with it than by taking turns. None
/// where nobody shares.
fn alone_better(node: &Node<'_>, factor: usize) -> Vec<usize> {
    if factor < 2 {
        return Vec::new();
    }
    let mean = |program: usize| {
        let beside = |other: usize| {
            let members = [program.min(other), program.max(other)];
            let group = node.groups.iter().find(|group| group.members == members)?;
            Some(group.throughput.mean * node.mix[other])
        };
        (0..node.mix.len()).map(beside).sum::<Option<f64>>()
    };
    (0..node.mix.len())
        .filter(|program| mean(*program).is_some_and(|throughput| throughput < 1.0 - PAYS))
        .collect()
}

/// Under `PIN` each job begins again at the first cpu, while a batch system gives each job cpus of its own.
fn same_cpus(policy: &str) -> Option<String> {
    let pin = policy.contains("PIN") && !policy.contains("cpus") && !policy.contains("none");
    pin.then(|| {
        "Under PIN all jobs are bound to the same first cpus, and others may stay idle, while a batch system \
         gives each job hardware threads of its own: compare with --policy LOAD."
            .to_owned()
    })
}

fn doubts(
    (programs, groups): (&Programs, &[Together]),
    effort: Effort,
    mix: &Mix,
    incomplete: Option<String>,
) -> Vec<String> {
    let not = "Not in it: disks, networks, and jobs on several nodes; all jobs fit into memory together.";
    let mut doubts: Vec<String> = mix.left_out.iter().cloned().chain(incomplete).collect();
    doubts.extend(same_cpus(&programs.policy));
    doubts.push(not.to_owned());
    doubts.extend(crate::matrix::doubts_of(groups, programs, effort));
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(factor: usize, low: f64, high: f64) -> Factor {
        let throughput = Estimate { mean: f64::midpoint(low, high), low: Some(low), high: Some(high) };
        Factor { factor, throughput, worst: 1.0, whose: String::new(), losing: 0.0 }
    }

    #[test]
    fn an_interval_with_gain_and_loss_gives_no_verdict() {
        let one = || factor(1, 1.0, 1.0);
        let of = |factors: &[Factor]| undecided(factors, advised(factors));
        assert_eq!(of(&[one(), factor(2, 0.68, 1.11)]), Some(2), "both");
        assert_eq!(of(&[one(), factor(2, 0.68, 0.9)]), None, "a certain loss");
        assert_eq!(of(&[one(), factor(2, 0.995, 1.005)]), None, "neither");
        assert_eq!(of(&[one(), factor(2, 1.2, 1.4), factor(3, 0.8, 1.6)]), None, "two certainly gain");
    }
}
