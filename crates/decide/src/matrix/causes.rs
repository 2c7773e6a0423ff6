//! Where the time goes that programs take longer together than alone.

use serde::Serialize;

use super::runs::{Group, PARTS, Run};

/// A part of the added time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cause {
    /// What it is.
    pub part: &'static str,
    /// Its share of all that was added, 0 to 1.
    pub share: f64,
    /// Task-seconds that were added in a run of the group: on cpus and in run queues, beyond what the same
    /// work takes alone.
    pub task_seconds: f64,
}

/// Less than this share of the task-seconds of a run is rounding.
const NOTHING: f64 = 1e-6;

/// The parts of the time that the programs of a group take longer than for the same work alone, the largest
/// first; means over the replicates. Parts that shrank are left out.
pub(super) fn of(group: &Group, alone: &[Group]) -> Vec<Cause> {
    let mut added = vec![0.0; PARTS.len()];
    let (mut count, mut whole) = (0_u32, 0.0);
    for (replicate, run) in group.runs.iter().enumerate() {
        let by_itself = |program: &usize| alone.get(*program)?.runs.get(replicate)?.as_ref();
        let others: Option<Vec<&Run>> = group.members.iter().map(by_itself).collect();
        let (Some(run), Some(others)) = (run, others) else { continue };
        count += 1;
        whole += run.work.iter().chain(&run.parts).sum::<f64>();
        for (at, sum) in added.iter_mut().enumerate() {
            // As often as its work was done here.
            let expected = run.work.iter().zip(&others).map(|(work, alone)| {
                let each = alone.work.first().copied().unwrap_or(0.0);
                if each > 0.0 { work / each * alone.parts[at] } else { 0.0 }
            });
            *sum += run.parts[at] - expected.sum::<f64>();
        }
    }
    let floor = whole * NOTHING;
    let total: f64 = added.iter().filter(|sum| **sum > floor).sum();
    let cause = |((part, _), sum): (&(&'static str, &[&str]), &f64)| Cause {
        part,
        share: sum / total,
        task_seconds: sum / f64::from(count),
    };
    let grown = PARTS.iter().zip(&added).filter(|(_, sum)| **sum > floor);
    let mut causes: Vec<Cause> = grown.map(cause).collect();
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes
}
