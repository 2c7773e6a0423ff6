//! What each policy of the shelf costs per task-step on more and more cpus: the growth must not be steeper than logarithmic.

use criterion::Criterion;
use policies::ALL;
use testkit::job::Job;

use crate::support::{add, group};

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = group(criterion, "policies");
    for entry in ALL {
        for (cpus, intervals) in [(16, 1_000), (256, 100), (4_096, 10), (65_536, 3)] {
            add(&mut group, entry.name, &cpus.to_string(), Job::central(cpus, intervals));
        }
    }
    group.finish();
}
