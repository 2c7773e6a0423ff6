//! The numbers of runs, and shards that have each run once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use hmac_sha256::Hash;
use policies::PolicyRegistry;
use scenario::{Grid, Overrides};
use sweep::plan::{Place, Plan, Shard, Until};
use sweep::store::{self, Store, StoreError};

/// 3 x 2 - 1 configurations, 4 replicates, one dedicated run and two policies: 60 runs.
const TEXT: &str = "name: plan\nmachine: core:4\npolicies: [LOAD, PIN]\nrepeat: 4\n\
    apps: { job: { workload: { spmd: { work: 1ms, intervals: 2 } } } }\n\
    sweep: { threads_per_core: 1..3, kernel.tick: [1ms, 4ms],\n\
    \x20 when: threads_per_core < 3 or kernel.tick == 1ms }\n";

fn grid() -> Grid {
    Grid::load(&PolicyRegistry::default(), "plan.yaml", TEXT, &Overrides::default()).unwrap()
}

#[test]
fn runs_are_numbered_by_configuration_replicate_and_slot() {
    let plan = Plan::new(&grid(), None).unwrap();
    assert_eq!((plan.configurations, plan.slots(), plan.most_runs()), (5, 3, 60));
    let mut next = 0;
    for configuration in 0..5 {
        for replicate in 0..4 {
            for slot in 0..3 {
                let place = Place { configuration, replicate, slot };
                assert_eq!(plan.number(place), next);
                next += 1;
            }
        }
    }
}

#[test]
fn every_replicate_of_every_configuration_is_in_one_shard() {
    let grid = grid();
    let until = Some(Until { half_width: 0.01, most: 9 });
    for plan in [Plan::new(&grid, None).unwrap(), Plan::new(&grid, until).unwrap()] {
        for of in [1, 2, 3, 5, 17, 100] {
            for configuration in 0..plan.configurations {
                let shards = |replicate| {
                    let has = |index: &u32| Shard { index: *index, of }.has(&plan, configuration, replicate);
                    (0..of).filter(has).collect::<Vec<_>>()
                };
                let all: Vec<Vec<u32>> = (0..plan.most_replicates()).map(shards).collect();
                assert!(all.iter().all(|shards| shards.len() == 1), "{of}: {all:?}");
                // A rule for more replicates needs all of a configuration in one place.
                if plan.until.is_some() {
                    assert!(all.iter().all(|shards| shards == &all[0]), "{of}: {all:?}");
                }
            }
        }
    }
}

#[test]
fn the_identifier_depends_on_all_that_changes_results() {
    let of = |text: &str| {
        let grid = Grid::load(&PolicyRegistry::default(), "p", text, &Overrides::default()).unwrap();
        Plan::new(&grid, None).unwrap()
    };
    let plan = of(TEXT);
    assert_eq!(plan, of(TEXT));
    for (from, to, field) in [
        ("work: 1ms", "work: 2ms", "the scenario, its machine files or its policy files"),
        ("repeat: 4", "repeat: 5", "the number of replicates"),
        ("[LOAD, PIN]", "[PIN, LOAD]", "the policies"),
    ] {
        let other = of(&TEXT.replace(from, to));
        assert_ne!(plan.plan, other.plan, "{to}");
        assert!(plan.differences(&other).contains(field), "{}", plan.differences(&other));
    }
}

#[test]
fn a_plan_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::new(&grid(), Some(Until { half_width: 0.012_345_678_9, most: 9 })).unwrap();
    Store::create(folder.path(), &plan).unwrap();
    assert_eq!(store::plan(folder.path()).unwrap(), plan);
    let path = folder.path().join(store::PLAN);
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"configurations\": 5", "\"configurations\": 18446744073709551615"),
        ("\"repeat\": 4", "\"repeat\": 5"),
        ("\"most\": 9", "\"most\": 8"),
    ] {
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let Err(StoreError::Refused(why)) = store::plan(folder.path()) else { panic!("{from} {to}") };
        assert!(why.contains("its checksum differs"), "{why}");
    }
    // One with the checksum of its text.
    let plan = Plan { configurations: u64::MAX, plan: String::new(), ..plan };
    let sum = Hash::hash(serde_json::to_string(&plan).unwrap().as_bytes());
    let sum = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(&path, serde_json::to_string(&Plan { plan: sum, ..plan }).unwrap()).unwrap();
    let Err(StoreError::Refused(why)) = store::plan(folder.path()) else { panic!("too many runs") };
    assert!(why.contains("more runs than there are numbers"), "{why}");
}
