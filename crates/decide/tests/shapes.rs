//! The questions of one shape, against theory and against their own tables.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::atomic::AtomicBool;

use decide::shapes::{Form, pod, pools, wait};
use decide::trial::{Failed, Means};
use experiment::PolicyRegistry;

fn with<T>(jobs: usize, what: impl FnOnce(&PolicyRegistry, Means<'_>) -> Result<T, Failed>) -> T {
    let stop = AtomicBool::new(false);
    what(&PolicyRegistry::default(), Means { jobs, progress: &|| (), stop: &stop }).unwrap()
}

fn a_pod(rate: f64, service: &str) -> pod::Question {
    pod::Question {
        name: "web".into(),
        machine: "package:1 core:8".into(),
        kernel: "linux-6.18".into(),
        rate,
        service: pod::service(service).unwrap(),
        parallel: 1,
        request: None,
        limit: None,
        period: pod::PERIOD_NS,
        bursts: vec![0],
        procs: pod::Procs::Limit,
        beside: 0,
        limits: Vec::new(),
        target: None,
        seeds: 5,
        seed: 1,
    }
}

/// The cell of a limit and a rule, with the first burst.
fn cell(answer: &pod::Answer, limit: u64, rule: pod::Procs) -> &pod::Cell {
    answer.cells.iter().find(|cell| cell.limit == limit && cell.rule == rule).unwrap()
}

fn near(value: f64, theory: f64, percent: f64) {
    assert!((value / theory - 1.0).abs() * 100.0 <= percent, "{value} against {theory}");
}

#[test]
fn one_thread_without_a_throttling_limit_is_the_queue_of_theory() {
    let one = pod::Procs::Count(1);
    let question = |service: &str| pod::Question { limits: vec![4_000], procs: one, ..a_pod(100.0, service) };
    let times = |service: &str| {
        let answer = with(0, |policies, means| pod::ask(&question(service), policies, means));
        cell(&answer, 4_000, one).times.clone().unwrap()
    };
    // M/M/1: response times are exponential with the mean S / (1 - rho).
    let mm1 = times("5ms,exponential");
    near(mm1.mean.mean, 0.010, 4.0);
    near(mm1.p50.mean, 0.010 * std::f64::consts::LN_2, 5.0);
    near(mm1.p99.mean, 0.010 * 100f64.ln(), 6.0);
    assert!(mm1.throttled < 0.001, "{mm1:?}");
    // M/D/1: S + rho S / (2 (1 - rho)).
    near(times("5ms").mean.mean, 0.0075, 4.0);
}

#[test]
fn four_threads_use_up_a_quota_and_wait_for_the_next_period() {
    // 4 x 30 ms need 120 ms, and the quota is 100 ms: 25 ms after a request came it is used up, and what is
    // left waits for the next period (Documentation/scheduler/sched-bwc.rst). Only a request that comes in
    // the last 25 ms of a period has two quotas.
    let bursts = vec![0, 100_000_000];
    let question = pod::Question {
        parallel: 4,
        procs: pod::Procs::Count(4),
        limits: vec![1_000, 8_000],
        bursts,
        ..a_pod(0.5, "120ms")
    };
    let answer = with(0, |policies, means| pod::ask(&question, policies, means));
    let of = |limit: u64, burst: u64| {
        let found = answer
            .cells
            .iter()
            .find(|cell| cell.limit == limit && cell.burst_ns == burst && cell.rule == pod::Procs::Count(4));
        found.unwrap().times.clone().unwrap()
    };
    let limited = of(1_000, 0);
    assert!(limited.p50.mean > 0.05 && limited.p50.mean < 0.075, "{:?}", limited.p50);
    assert!(limited.p90.mean > 0.09 && limited.p90.mean < 0.115, "{:?}", limited.p90);
    assert!(limited.throttled > 0.3);
    // What was saved up pays for a request at once.
    near(of(1_000, 100_000_000).p50.mean, 0.030, 3.0);
    near(of(8_000, 0).p90.mean, 0.030, 3.0);
}

#[test]
fn more_threads_than_the_limit_feeds_are_throttled() {
    let question = pod::Question { limits: vec![500, 2_000], ..a_pod(200.0, "5ms,exponential") };
    let answer = with(0, |policies, means| pod::ask(&question, policies, means));
    let p99 = |rule| cell(&answer, 2_000, rule).times.clone().unwrap();
    let (by_limit, node) = (p99(pod::Procs::Limit), p99(pod::Procs::Node));
    assert!(by_limit.p99.mean > 0.0 && node.throttled > by_limit.throttled, "{by_limit:?} {node:?}");
    let short = cell(&answer, 500, pod::Procs::Limit);
    assert!(short.times.is_none() && short.without == Some("overload"), "{short:?}");
}

#[test]
fn the_smallest_limit_meets_the_target_and_the_step_below_is_no_answer() {
    let target = Some(pod::target("p99=50ms").unwrap());
    let question =
        pod::Question { target, limit: Some(1_050), limits: vec![2_000], ..a_pod(200.0, "5ms,exponential") };
    let answer = with(0, |policies, means| pod::ask(&question, policies, means));
    let smallest = answer.smallest.unwrap();
    assert_eq!(smallest.met, pod::Met::Yes);
    let [_, high] = smallest.value.unwrap().ci95.unwrap();
    assert!(high <= 0.05 && smallest.limit > 1_000 && smallest.limit % 50 == 0, "{smallest:?}");
    let own = answer.own.unwrap();
    assert_eq!((own.limit, own.met), (1_050, pod::Met::No), "{own:?}");
    let check = |limit| {
        let question = pod::Question { limit: Some(limit), ..question.clone() };
        with(0, |policies, means| pod::check(&question, policies, means))
    };
    let (passes, misses, over) = (check(4_000), check(1_050), check(900));
    assert!(passes.passes() && passes.line.contains("meets p99 <= 50ms"), "{}", passes.line);
    assert!(!misses.passes() && misses.line.contains("misses p99 <= 50ms"), "{}", misses.line);
    assert!(!over.passes() && over.line.contains("pile up"), "{}", over.line);
    assert!([passes, misses, over].iter().all(|check| check.line.lines().count() == 1));
}

fn a_team(loads: &[wait::Load]) -> wait::Question {
    wait::Question {
        machine: "package:1 core:4".into(),
        kernel: "linux-6.18".into(),
        runtime: "libgomp".into(),
        regions: vec![200_000],
        threads: Vec::new(),
        between: 1_000_000,
        spread: 5,
        loads: loads.to_vec(),
        seeds: 3,
        seed: 1,
    }
}

const LOADS: [wait::Load; 4] = [wait::Load::Busy(0), wait::Load::Busy(1), wait::Load::Full, wait::Load::Team];

/// The sentences about a table, held to its numbers.
fn hold(answer: &wait::Answer) {
    let columns = &answer.columns;
    let level = |row: &[wait::Cell], idle: Option<bool>| {
        let among = |column: &wait::Column| idle.is_none_or(|idle| column.is_idle() == idle);
        row.iter().zip(columns).filter(|(_, column)| among(column)).all(|(cell, _)| cell.level)
    };
    let some = |idle: Option<bool>| answer.cells.iter().any(|row| level(row, idle));
    let hosts = [true, false].map(|idle| columns.iter().any(|column| column.is_idle() == idle));
    let split = !some(None) && hosts == [true, true] && some(Some(true)) && some(Some(false));
    let said = answer.sentence.contains("No single value is best on an idle and a busy host");
    assert_eq!(said, split, "{}", answer.sentence);
    match &answer.verdict {
        wait::Verdict::One { settings } => {
            assert!(settings.iter().all(|at| level(&answer.cells[*at], None)));
        }
        wait::Verdict::Split { idle, busy } => {
            assert!(level(&answer.cells[*idle], Some(true)) && level(&answer.cells[*busy], Some(false)));
            assert!(answer.sentence.contains(&answer.settings[*idle].name()));
            assert!(answer.sentence.contains(&answer.settings[*busy].name()));
        }
        wait::Verdict::None => assert!(!some(None)),
    }
    let worst = |row: &[wait::Cell]| row.iter().map(|cell| cell.regret.mean).fold(0.0, f64::max);
    let mean = |row: &[wait::Cell]| row.iter().map(|cell| cell.regret.mean).sum::<f64>() / row.len() as f64;
    for row in &answer.cells {
        assert!(worst(&answer.cells[answer.smallest_worst.setting]) <= worst(row) + 0.1 + 1e-9);
        assert!(mean(&answer.cells[answer.smallest_mean.setting]) <= mean(row) + 0.1 + 1e-9);
    }
    for at in 0..columns.len() {
        assert!(answer.cells.iter().any(|row| row[at].regret.mean == 0.0), "a column has a best setting");
        assert!(answer.cells.iter().all(|row| row[at].regret.mean >= -1e-9));
    }
}

#[test]
fn the_sentence_about_waiting_holds_for_the_table() {
    for runtime in wait::runtimes() {
        for loads in [&LOADS[..], &LOADS[..1], &LOADS[2..]] {
            let question = wait::Question { runtime: runtime.into(), ..a_team(loads) };
            hold(&with(0, |policies, means| wait::ask(&question, policies, means)));
        }
    }
}

#[test]
fn polling_is_best_on_an_idle_host_and_worst_on_a_busy_one() {
    let question = a_team(&[wait::Load::Busy(0), wait::Load::Full]);
    let answer = with(0, |policies, means| wait::ask(&question, policies, means));
    let row = |typed: &str| {
        let at = answer.settings.iter().position(|row| row.typed == typed).unwrap();
        &answer.cells[at]
    };
    let (sleeps, polls) = (row("OMP_WAIT_POLICY=passive"), row("OMP_WAIT_POLICY=active"));
    assert!(polls[0].regret.mean < sleeps[0].regret.mean, "{polls:?} {sleeps:?}");
    assert!(polls[1].regret.mean > 20.0, "{polls:?}");
    assert!(polls[0].burnt > sleeps[0].burnt + 20.0, "who polls burns cpu time");
}

#[test]
fn answers_are_short_and_do_not_depend_on_threads() {
    let question = a_team(&LOADS);
    let ask = |jobs| with(jobs, |policies, means| wait::ask(&question, policies, means));
    let (one, two) = (ask(1), ask(2));
    for form in [Form::Text, Form::Full, Form::Markdown, Form::Json] {
        assert_eq!(one.written(form), two.written(form));
    }
    short(&one.written(Form::Text));
    let many = wait::Question { regions: vec![50_000, 200_000, 1_000_000], threads: vec![2, 4], ..question };
    short(&with(0, |policies, means| wait::ask(&many, policies, means)).written(Form::Text));
    let json: serde_json::Value = serde_json::from_str(&one.written(Form::Json)).unwrap();
    assert_eq!(json["cells"].as_array().unwrap().len(), json["settings"].as_array().unwrap().len());
    let target = Some(pod::target("p99=50ms").unwrap());
    let pod = pod::Question {
        limits: vec![500, 1_000, 1_500, 2_000, 3_000, 4_000],
        bursts: vec![0, 50_000_000],
        limit: Some(1_500),
        target,
        beside: 6_000,
        request: Some(500),
        ..a_pod(100.0, "5ms,exponential")
    };
    let answer = with(0, |policies, means| pod::ask(&pod, policies, means));
    short(&answer.written(Form::Text));
    let json: serde_json::Value = serde_json::from_str(&answer.written(Form::Json)).unwrap();
    assert_eq!(json["load"].as_f64(), Some(0.5));
}

/// At most 25 lines of at most 100 columns.
fn short(text: &str) {
    assert!(text.lines().count() <= 25, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

fn a_pool() -> pools::Question {
    pools::Question {
        machine: "package:1 core:4".into(),
        kernel: "linux-6.18".into(),
        runtime: "libgomp".into(),
        outer: vec![1, 2, 4],
        inner: vec![1, 2, 4],
        work: 200_000_000,
        region: 500_000,
        meetings: 1,
        serial: 20,
        spread: 5,
        quota: None,
        seeds: 3,
        seed: 1,
    }
}

#[test]
fn the_advised_pool_is_level_with_the_fastest_and_the_habit_is_slower() {
    let answer = with(0, |policies, means| pools::ask(&a_pool(), policies, means));
    let (best, habit) = (&answer.cells[answer.best], &answer.cells[answer.habit.unwrap()]);
    assert!(best.level && (best.outer, best.inner) == (4, 1), "a serial part wastes threads: {best:?}");
    assert!(habit.regret.mean > 20.0 && (habit.outer, habit.inner) == (4, 4), "{habit:?}");
    // 200 ms of work on four cpus.
    near(best.time_s.mean, 0.05, 10.0);
    let alone = answer.cells.iter().find(|cell| (cell.outer, cell.inner) == (1, 1)).unwrap();
    near(alone.time_s.mean, 0.2, 5.0);
    short(&answer.written(Form::Text));
}

#[test]
fn a_quota_lowers_the_number_of_cpus_that_count() {
    let question = pools::Question { quota: Some(1_500), work: 2_000_000_000, ..a_pool() };
    let answer = with(0, |policies, means| pools::ask(&question, policies, means));
    assert_eq!((answer.cpus, answer.usable), (4, 2));
    let best = &answer.cells[answer.best];
    assert!(best.time_s.mean > 2.0 / 1.5 * 0.9, "no faster than the quota: {best:?}");
    let text = answer.written(Form::Text);
    assert!(text.contains("2 with the quota") && text.contains("says 4"), "{text}");
    short(&text);
}

/// Threads meet several times in a call of a library. That many of them lose in short ones is what
/// flame/blis #439 measured (64 x 64: 20 us with one thread, 47 us with six; 256 x 256: 537 us and 235 us).
#[test]
fn short_calls_that_meet_often_are_for_one_thread_and_long_ones_for_all() {
    let of = |region, meetings| {
        let (machine, outer, inner) = ("core:6".to_owned(), vec![1], vec![1, 6]);
        let (serial, work) = (0, 20_000_000);
        let question = pools::Question { machine, outer, inner, region, meetings, serial, work, ..a_pool() };
        with(0, |policies, means| pools::ask(&question, policies, means))
    };
    let inner = |answer: &pools::Answer| answer.cells[answer.best].inner;
    assert_eq!(inner(&of(20_000, pools::MEETINGS)), 1);
    assert_eq!(inner(&of(537_000, pools::MEETINGS)), 6);
    assert_eq!(inner(&of(20_000, 1)), 6, "one loop without meetings inside");
}
