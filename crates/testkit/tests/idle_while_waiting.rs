//! No cpu idles for long while a task waits that may run there, but for rules of the kernel that have a
//! name; and no woken task is put behind another one while a cpu idles at which its kernel looks.

use std::collections::BTreeMap;
use std::ops::Range;

use testkit::idle_while_waiting::{case, findings, rules};

/// Random cases; `OVERSIM_SWARM=100000` for a long campaign, `OVERSIM_SEED=7` for a single one.
fn seeds() -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let from = number("OVERSIM_FROM").unwrap_or(0);
    let campaign = || from..from + number("OVERSIM_SWARM").unwrap_or(200);
    number("OVERSIM_SEED").map_or_else(campaign, |seed| seed..seed + 1)
}

/// Seeds of cases that were once reported, each for a rule of the kernel that the judge did not know.
const ONCE_REPORTED: [u64; 11] =
    [34_547, 35_880, 54_010, 64_925, 65_692, 65_790, 76_305, 79_956, 88_218, 90_109, 95_112];

#[test]
fn a_cpu_idles_beside_a_waiting_task_only_by_a_named_rule() {
    let mut names: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut unnamed = Vec::new();
    for seed in seeds().chain(ONCE_REPORTED) {
        let case = case(seed);
        let found = findings(&case).unwrap();
        if let Some(late) = found.late.first() {
            unnamed.push(format!("seed {seed}, {:?}:\n{} x {late:?}", case.kernel, found.late.len()));
        }
        for report in found.stretches {
            match rules::name(case.kernel, &report) {
                Some(name) => *names.entry((case.kernel.name, name)).or_default() += 1,
                None => unnamed.push(format!("seed {seed}, {:?}:\n{report}", case.kernel)),
            }
        }
    }
    eprintln!("{names:#?}");
    let count = unnamed.len();
    unnamed.truncate(std::env::var("OVERSIM_SHOW").map_or(3, |n| n.parse().unwrap()));
    assert!(unnamed.is_empty(), "{count} stretches without a name, the first:\n{}", unnamed.join("\n"));
}
