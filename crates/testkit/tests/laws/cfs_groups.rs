//! Task groups under CFS: turns and shares worked out on paper.

use sim_core::observe::LeaveReason;
use sim_core::os::{Limit, TaskGroup};
use sim_core::program::AppSpec;
use sim_core::time::Span;

use crate::support::{MS, Setting, Trial, group, hogs, on_cpu, sleeper, within};

fn hog(cpu: u32, tasks: u32) -> AppSpec {
    on_cpu(cpu, hogs(tasks, 1_000_000))
}

/// The longest turn that was cut short on the first of eight cpus, in us, where two sessions of eight tasks
/// each compute there and the timer ticks every 50 us.
fn longest_turn(kernel: &str, settings: &[Setting]) -> u64 {
    let settings = [settings, &[("tick", MS / 20)]].concat();
    let mut trial = Trial::on("package:1 core:8").booted(kernel, &settings).free().until(1_000);
    trial.model.groups = vec![group(None, 1024), group(None, 1024)];
    let (_, log) = trial.app(within(0, hog(0, 8))).app(within(1, hog(0, 8))).log();
    let turns = log.turns(0);
    turns.iter().skip(100).map(|turn| turn.length.ns() / 1_000).max().unwrap_or(0)
}

/// Each task has an eighth of a half of a period: of 24 ms, that of the eight tasks of its session, to 5.12;
/// of 48 ms, that of the sixteen tasks of the cpu, since.
#[test]
fn sessions_have_turns_of_an_eighth_of_half_a_period() {
    for (kernel, settings, us) in [
        ("linux-3.10", &[][..], 1_500),
        ("rhel-8.4", &[], 1_500),
        ("linux-5.15", &[], 3_000),
        ("rhel-9.4", &[], 3_000),
        // A slice of 1.5 ms is at least the minimum granularity.
        ("linux-5.15", &[("alt_period", 0)], 3_000),
        ("linux-5.15", &[("alt_period", 0), ("base_slice", 0)], 1_500),
    ] {
        let found = longest_turn(kernel, settings);
        assert!((us..=us + 50).contains(&found), "{kernel} {settings:?}: turns of {found} us, not {us}");
    }
}

const KERNELS: [&str; 5] = ["linux-2.6.28", "rhel-7.9", "linux-4.18", "rhel-9.4", "linux-6.5"];

/// The parts of a cpu that each task has had, by application, in ten seconds on two cpus.
fn shares(kernel: &str, settings: &[Setting], groups: &[TaskGroup], apps: &[AppSpec]) -> Vec<Vec<f64>> {
    let mut trial = Trial::on("package:1 core:2").booted(kernel, settings);
    trial.model.groups = groups.to_vec();
    let report = apps.iter().cloned().fold(trial, Trial::app).until(10_000).run();
    let part = |span: &Span| span.ns() as f64 / 1e10;
    report.apps.iter().map(|app| app.task_cpu.iter().map(part).collect()).collect()
}

fn near(kernel: &str, found: &[f64], expected: f64) {
    assert!(found.iter().all(|share| (share - expected).abs() < 0.01), "{kernel}: {found:?}, not {expected}");
}

#[test]
fn groups_share_a_cpu_by_their_weights_whatever_the_number_of_their_tasks() {
    for kernel in KERNELS {
        let groups = [group(None, 2048), group(None, 1024)];
        let found = shares(kernel, &[], &groups, &[within(0, hog(0, 2)), within(1, hog(0, 2))]);
        near(kernel, &found[0], 1.0 / 3.0);
        near(kernel, &found[1], 1.0 / 6.0);
        let groups = [group(None, 1024), group(None, 1024)];
        let found = shares(kernel, &[], &groups, &[within(0, hog(0, 1)), within(1, hog(0, 9))]);
        near(kernel, &found[0], 0.5);
        near(kernel, &found[1], 1.0 / 18.0);
    }
}

#[test]
fn nested_groups_divide_what_the_outer_one_gets_beside_a_task() {
    let groups = [group(None, 1024), group(Some(0), 512), group(Some(0), 1536)];
    for kernel in KERNELS {
        let apps = [within(1, hog(0, 1)), within(2, hog(0, 2)), hog(0, 1)];
        let found = shares(kernel, &[], &groups, &apps);
        near(kernel, &found[0], 1.0 / 8.0);
        near(kernel, &found[1], 3.0 / 16.0);
        near(kernel, &found[2], 1.0 / 2.0);
    }
}

/// A task of the group is on each of two cpus; the other one sleeps half of the time, in turns of 2 ms. By
/// averages the group has 1024/1536 of its weight here, 683 against 1,024: a part of 2/5. By what is queued
/// it has 1,024 and 512 in turn; virtual runtime counts the inverse, of which the mean is 1.5/1,024: the
/// same.
#[test]
fn a_share_counts_half_of_a_task_elsewhere_that_sleeps_half_of_the_time() {
    let sleeper = on_cpu(1, sleeper(2_000, 2_000));
    let apps = [within(0, hog(0, 1)), within(0, sleeper), hog(0, 1)];
    for kernel in ["linux-5.15", "linux-3.10"] {
        let found = shares(kernel, &[("tick", MS / 10)], &[group(None, 1024)], &apps);
        assert!((found[0][0] - 0.4).abs() < 0.006, "{kernel}: {found:?}");
        near(kernel, &found[1], 0.5);
    }
}

fn limited(quota: u64, period: u64) -> TaskGroup {
    let limit = Limit { quota: Span::from_ms(quota), period: Span::from_ms(period), burst: Span::ZERO };
    TaskGroup { limit: Some(limit), ..group(None, 1024) }
}

#[test]
fn a_limited_group_gets_its_quota_on_all_cpus_together() {
    for kernel in ["rhel-7.9", "linux-4.18", "linux-5.4", "rhel-9.4"] {
        let found = shares(kernel, &[], &[limited(20, 100)], &[within(0, hog(0, 2)), hog(0, 1)]);
        near(kernel, &found[0], 0.1);
        near(kernel, &found[1], 0.8);
        let both = [within(0, hog(0, 1)), within(0, hog(1, 1))];
        let found = shares(kernel, &[], &[limited(120, 100)], &both);
        let used = found[0][0] + found[1][0];
        // With expiry, what a cpu holds at the end of a period is lost: at most a part of 5 ms each.
        let least = if kernel == "linux-4.18" { 1.1 } else { 1.19 };
        assert!((least..1.21).contains(&used), "{kernel}: {found:?}");
    }
}

/// A task that sleeps makes its group the first choice of the pick that follows.
#[test]
fn a_group_of_which_a_task_sleeps_goes_on() {
    let sleeper = on_cpu(0, sleeper(1_500, 500));
    let groups = [group(None, 1024), group(None, 1024), group(None, 1024)];
    // Sleeps after which a task of another group runs; the first 4 ms of a turn of 8 ms are near enough.
    let switches = |on: u64| {
        let mut trial = Trial::on("package:1 core:8").booted("linux-5.15", &[("sleep_buddy", on)]);
        trial.model.groups = groups.to_vec();
        let apps = (0..6).map(|i| within(i / 2, if i % 2 == 0 { sleeper.clone() } else { hog(0, 1) }));
        let (_, log) = apps.fold(trial, Trial::app).until(5_000).log();
        let turns = log.turns(0);
        let pairs = turns.windows(2).filter(|pair| pair[0].reason == LeaveReason::Slept);
        pairs.filter(|pair| pair[0].task.0 / 2 != pair[1].task.0 / 2).count()
    };
    let (off, on) = (switches(0), switches(1));
    assert!(off > 10 && on < off / 2, "{on} switches to other groups with it, {off} without");
}

/// Two containers of weights 2:1 that are not pinned: the part of the cpu time that the lighter one has had.
fn unpinned(kernel: &str, cpus: u32, tasks: u32, seed: u64) -> f64 {
    let machine = format!("package:1 core:{cpus}");
    let mut trial = Trial::on(&machine).booted(kernel, &[]).seed(seed).until(10_000);
    trial.model.groups = vec![group(None, 2048), group(None, 1024)];
    let report = trial.app(within(0, hogs(tasks, 1_000_000))).app(within(1, hogs(tasks, 1_000_000))).run();
    let used = |app: usize| report.apps[app].task_cpu.iter().map(|span| span.ns()).sum::<u64>() as f64;
    used(1) / (used(0) + used(1))
}

#[test]
fn containers_that_are_not_pinned_get_their_weights() {
    for kernel in ["linux-6.18", "rhel-9.4"] {
        for (cpus, tasks) in [(2, 8), (4, 8), (8, 16), (16, 32)] {
            for seed in 0..3 {
                let part = unpinned(kernel, cpus, tasks, seed);
                assert!((part * 3.0 - 1.0).abs() < 0.05, "{kernel}, {cpus} cpus, seed {seed}: {part}");
            }
        }
    }
}
