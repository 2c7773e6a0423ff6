//! Task groups under Linux 6.18: shares worked out on paper.

use sim_core::os::{Limit, TaskGroup};
use sim_core::program::{AppSpec, Op, Spread};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{MS, SIXTEEN, Trial, app, compute, group, hogs, on_cpu, seconds, sleeper, within};

const SECONDS: u64 = 20;

/// The parts of a cpu that each task has had, by application, after a long run on two cpus.
fn shares(groups: &[TaskGroup], apps: Vec<AppSpec>) -> Vec<Vec<f64>> {
    let mut trial = Trial::on("package:1 core:2").booted("linux-6.18", &[]);
    trial.model.groups = groups.to_vec();
    let report = apps.into_iter().fold(trial, Trial::app).until(SECONDS * 1_000).run();
    let part = |span: &Span| span.ns() as f64 / (SECONDS as f64 * 1e9);
    report.apps.iter().map(|app| app.task_cpu.iter().map(part).collect()).collect()
}

fn near(found: &[f64], expected: f64) {
    assert!(found.iter().all(|share| (share - expected).abs() < 0.01), "{found:?}, not {expected}");
}

fn hog(tasks: u32) -> AppSpec {
    on_cpu(0, hogs(tasks, 100_000))
}

#[test]
fn sessions_share_a_cpu_whatever_the_number_of_their_tasks() {
    let sessions = [group(None, 1024), group(None, 1024)];
    let found = shares(&sessions, vec![within(0, hog(1)), within(1, hog(3))]);
    near(&found[0], 0.5);
    near(&found[1], 1.0 / 6.0);
}

#[test]
fn a_group_competes_by_its_weight_with_the_tasks_beside_it() {
    let found = shares(&[group(None, 2048)], vec![within(0, hog(2)), hog(1)]);
    near(&found[0], 1.0 / 3.0);
    near(&found[1], 1.0 / 3.0);
}

#[test]
fn nested_groups_divide_what_the_outer_one_gets() {
    let groups = [group(None, 1024), group(Some(0), 512), group(Some(0), 1536)];
    let found = shares(&groups, vec![within(1, hog(1)), within(2, hog(2)), hog(1)]);
    near(&found[0], 1.0 / 8.0);
    near(&found[1], 3.0 / 16.0);
    near(&found[2], 1.0 / 2.0);
}

#[test]
fn the_weight_of_a_group_is_divided_among_the_cpus_by_its_load() {
    // Half of it counts on each cpu: 512 against 1,024 on the first one.
    let apps = vec![within(0, hog(1)), within(0, on_cpu(1, hogs(1, 100_000))), hog(1)];
    let found = shares(&[group(None, 1024)], apps);
    near(&found[0], 1.0 / 3.0);
    near(&found[1], 1.0);
    near(&found[2], 2.0 / 3.0);
}

#[test]
fn a_group_keeps_two_thirds_where_its_other_task_sleeps_half_of_the_time() {
    // On average its load is 1,024 here and 512 on the other cpu: 683 against 1,024, a part of 2/5.
    let sleeper = on_cpu(1, sleeper(2_000, 2_000));
    let found = shares(&[group(None, 1024)], vec![within(0, hog(1)), within(0, sleeper), hog(1)]);
    assert!((found[0][0] - 0.4).abs() < 0.005, "{found:?}");
    near(&found[1], 0.5);
}

#[test]
fn a_program_alone_does_not_notice_its_session() {
    let run = |machine: &str, groups: &[TaskGroup], wait| {
        let ops = vec![Op::Repeat(200), compute(Span::from_us(300)), Op::Barrier, Op::End];
        let mut trial = Trial::on(machine).booted("linux-6.18", &[]);
        trial.model.groups = groups.to_vec();
        let mut app = app(6, ops, wait);
        app.group = (!groups.is_empty()).then_some(0);
        trial.app(app).seconds()
    };
    // On two cpus its tasks come to the other one a few passes earlier or later: each counts a sixth of the
    // weight of the session, and rounding is coarser.
    for (machine, tolerance) in [("package:1 core:1", 0.01), ("package:1 core:2", 0.06)] {
        for wait in [WaitMode::Block, WaitMode::Yield, WaitMode::Spin] {
            let (bare, grouped) = (run(machine, &[], wait), run(machine, &[group(None, 1024)], wait));
            let near = (grouped / bare - 1.0).abs() < tolerance;
            assert!(near, "{machine}, {wait:?}: {bare} s, {grouped} s in a session");
        }
    }
}

#[test]
fn who_sleeps_in_a_session_preempts_the_hogs_of_another() {
    // It wants a tenth of the cpu, and its session is entitled to half: it has what it wants.
    let sleeper = on_cpu(0, sleeper(900, 100));
    let found = shares(&[group(None, 1024), group(None, 1024)], vec![within(0, sleeper), within(1, hog(6))]);
    assert!(found[0][0] > 0.09, "{found:?}");
}

fn limited(parent: Option<u16>, quota: u64, period: u64) -> TaskGroup {
    let limit = Limit { quota: Span::from_ms(quota), period: Span::from_ms(period), burst: Span::ZERO };
    TaskGroup { limit: Some(limit), ..group(parent, 1024) }
}

#[test]
fn a_limited_group_gets_its_quota_in_each_period_and_leaves_the_rest() {
    let hogs_beside = vec![within(0, hog(2)), hog(1)];
    let found = shares(&[limited(None, 20, 100)], hogs_beside);
    near(&found[0], 0.1);
    near(&found[1], 0.8);
    // No other task takes what it leaves.
    let found = shares(&[limited(None, 30, 50)], vec![within(0, hog(3))]);
    near(&found[0], 0.2);
}

#[test]
fn a_quota_holds_for_all_cpus_together_and_within_the_quota_of_the_outer_group() {
    let on_both = vec![within(0, hog(1)), within(0, on_cpu(1, hogs(1, 100_000)))];
    let found = shares(&[limited(None, 120, 100)], on_both);
    let used = found[0][0] + found[1][0];
    assert!((used - 1.2).abs() < 0.01, "{found:?}");
    let found = shares(&[limited(None, 25, 100), limited(Some(0), 80, 100)], vec![within(1, hog(1))]);
    near(&found[0], 0.25);
    let found = shares(&[limited(None, 80, 100), limited(Some(0), 25, 100)], vec![within(1, hog(1))]);
    near(&found[0], 0.25);
}

#[test]
fn a_period_serves_the_cpu_that_was_throttled_first() {
    // What is left of the quota of 2 ms after one cpu has paid for its overrun of up to 4 ms seldom pays for
    // that of the other: they alternate.
    let on_both = vec![within(0, hog(1)), within(0, on_cpu(1, hogs(1, 100_000)))];
    let found = shares(&[limited(None, 2, 100)], on_both);
    let (one, other) = (found[0][0], found[1][0]);
    assert!((one + other - 0.02).abs() < 0.001, "{found:?}");
    assert!((one - other).abs() < 0.002, "{found:?}");
}

#[test]
fn polls_in_a_limited_group_are_no_events_and_end_as_one_by_one() {
    // Two teams whose last ranks work long: one in a group of 30 ms each 100 ms, one in a group beside it.
    let groups = [limited(None, 30, 100), group(None, 512)];
    let run = |stepwise: bool| {
        let mut trial = Trial::on("package:1 core:2").booted("linux-6.18", &[]);
        trial.model.groups = groups.to_vec();
        trial.options.stepwise = stepwise;
        let team = || {
            let ops = vec![Op::Repeat(4), compute(Span::from_ms(8)), Op::Barrier, Op::End];
            let mut team = app(6, ops, WaitMode::Yield);
            team.rank_scale = (0..6).map(|rank| if rank == 5 { 8_000 } else { 500 }).collect();
            team
        };
        trial.app(within(0, team())).app(within(1, team())).run()
    };
    let [closed, each] = [false, true].map(run);
    assert_eq!(closed.digest, each.digest);
    assert!(each.apps[0].counters.polls > 20_000, "{:?}", each.apps[0].counters);
    assert!(closed.events * 20 < each.events, "{} events, {} one by one", closed.events, each.events);
}

/// Sixteen tasks, one on each cpu, in a group of 10 ms each 100 ms, that compute for 0.1 ms so many times in
/// each of ten periods: by how many seconds they are late in the mean.
fn late(kernel: &str, settings: &[(&'static str, u64)], naps: u32) -> f64 {
    let mut trial = Trial::on(SIXTEEN).booted(kernel, settings);
    trial.model.groups = vec![limited(None, 10, 100)];
    for cpu in 0..16 {
        let nap = Op::Sleep { span: Span::from_ms(100 / u64::from(naps)), spread: Spread::NONE };
        let ops = vec![Op::Repeat(naps * 10), nap, compute(Span::from_us(100)), Op::End];
        let mut one = within(0, on_cpu(cpu, app(1, ops, WaitMode::Block)));
        // No two of them at a time: a cpu takes 5 ms out of the pool, and gives all but 1 ms back.
        one.start = Time::from_ns(u64::from(cpu) * 1_100_000);
        trial = trial.app(one);
    }
    let report = trial.run();
    (0..16).map(|app| seconds(&report, app)).sum::<f64>() / 16.0 - 1.0
}

/// Each of 16 cpus uses 0.5 ms of each period, 8 ms of 10 in all. Where what a cpu keeps is lost with the
/// period, each costs the pool 1 ms more: 24 ms, so that only 6 cpus are served in a period.
#[test]
fn what_cpus_keep_of_a_quota_is_lost_where_it_expires() {
    for (expires, keeps) in [("linux-4.18", "linux-5.4"), ("linux-6.18", "linux-6.18")] {
        let kept = late(keeps, &[], 5);
        let lost = late(expires, &[("quota_expires", 1)], 5);
        assert!(kept < 0.05, "{keeps}: late by {kept} s");
        assert!(lost > 0.3, "{expires}: late by {lost} s");
    }
}

/// A group that did nothing for a while has its burst as well, once: 20 + 20 ms of the first 100 ms.
#[test]
fn a_burst_is_what_earlier_periods_have_left() {
    let first = |burst: u64| {
        let mut trial = Trial::on("core:1").booted("linux-6.18", &[]);
        let limit =
            Limit { quota: Span::from_ms(20), period: Span::from_ms(100), burst: Span::from_ms(burst) };
        trial.model.groups = vec![TaskGroup { limit: Some(limit), ..group(None, 1024) }];
        let mut one = within(0, on_cpu(0, hogs(1, 36)));
        one.background = false;
        one.start = Time::from_ns(500 * MS);
        seconds(&trial.app(one).run(), 0) * 1e3
    };
    // 36 ms of work: within the burst at once; without it, 16 ms of it wait for the next period.
    let (with, without) = (first(20), first(0));
    assert!(with < 40.0, "{with} ms");
    assert!(without > 50.0, "{without} ms");
}
