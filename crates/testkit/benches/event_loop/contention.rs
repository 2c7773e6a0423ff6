//! What sharing of memory bandwidth costs per step, with 16 to 256 cpus on one controller: on against off.

use criterion::Criterion;
use testkit::job::Job;

use crate::support::{add, group};

pub(crate) fn bench(criterion: &mut Criterion) {
    for contention in [false, true] {
        let mut group = group(criterion, if contention { "contention_on" } else { "contention_off" });
        for domain in [16, 64, 256] {
            let job = Job { contention, domain, ..Job::central(domain, 4_000 / domain) };
            add(&mut group, "PIN", &domain.to_string(), job);
        }
        group.finish();
    }
}
