//! What each policy of the shelf costs per task-step on more and more cpus: the growth must not be steeper than logarithmic.

use criterion::Criterion;
use policies::ALL;
use testkit::job::Job;

use crate::support::{add, group};

/// Policies whose own rule for new tasks makes long queues, or asks every cpu: here their tasks begin evenly spread.
const SEATED: [&str; 5] = ["LOAD", "ULE", "LGROUP", "DWRR", "SWOMPS"];
/// What looks at all tasks or cpus at each wait of a task, and on how many cpus that takes too long.
const SLOW: [(&str, u32); 2] = [("YIELD_TO", 256), ("LEWI", 4_096)];

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "policies");
    for entry in ALL {
        let name =
            if SEATED.contains(&entry.name) { format!("{}+", entry.name) } else { entry.name.to_owned() };
        let most = SLOW.iter().find(|(slow, _)| *slow == entry.name).map_or(u32::MAX, |(_, most)| *most);
        for (cpus, intervals) in [(16, 1_000), (256, 100), (4_096, 10), (65_536, 3)] {
            if cpus <= most {
                add(&mut group, &name, &cpus.to_string(), Job::central(cpus, intervals));
            }
        }
    }
    group.finish();
}
