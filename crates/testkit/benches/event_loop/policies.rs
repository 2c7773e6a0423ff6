//! What each built-in policy costs per task-step on more and more cpus: the growth must not be steeper
//! than logarithmic.

use criterion::Criterion;
use policies::ALL;
use testkit::job::Job;

use crate::support::{add, group};

/// Policies whose own rule for new tasks (or that of the kernel below them) makes long queues, or asks every
/// cpu: here their tasks begin evenly spread.
const SEATED: [&str; 6] = ["LOAD", "ULE", "LGROUP", "DWRR", "SWOMPS", "YIELD_TO"];
/// Where each waiting task tries every millisecond while 262,144 tasks are created, a run of 65,536 cpus
/// takes half a minute, and a benchmark makes ten of them: on how many cpus that still takes bearable time.
const SLOW: [(&str, u32); 2] = [("YIELD_TO+", 16_384), (LOCAL, 16_384)];
const LOCAL: &str = "YIELD_TO-same-cpu+";

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "policies");
    let named = |name: &str| if SEATED.contains(&name) { format!("{name}+") } else { name.to_owned() };
    let names = ALL.iter().map(|entry| named(entry.name)).chain([LOCAL.to_owned()]);
    for name in names {
        let most = SLOW.iter().find(|(slow, _)| name == *slow).map_or(65_536, |(_, most)| *most);
        // Two steps at the most: a run of 65,536 cpus takes seconds, and most of that before its first
        // barrier.
        for (cpus, intervals) in [(256, 60), (4_096, 6), (most, 2)] {
            add(&mut group, &name, &cpus.to_string(), Job::central(cpus, intervals));
        }
    }
    group.finish();
}
