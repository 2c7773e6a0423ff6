//! Lateness against exact arithmetic: jobs with deadlines on one cpu, in two orders.

use experiment::result::Results;

use crate::support::{mean, results};

/// Mean, median, largest lateness in ms, and the share of missed deadlines.
fn lateness(results: &Results, policy: &str, app: &str) -> [f64; 4] {
    let of = |metric: &str| mean(results, "", policy, app, metric);
    let ms = ["lateness", "lateness_median", "lateness_max"].map(|metric| of(metric) * 1e3);
    [ms[0], ms[1], ms[2], of("missed_deadlines")]
}

/// Whether all are near: switches and ticks of the kernel take less than half a millisecond.
fn near(found: [f64; 4], exact: [f64; 4]) -> bool {
    found.iter().zip(exact).all(|(found, exact)| (found - exact).abs() < 0.5)
}

#[test]
fn lateness_is_the_end_minus_the_deadline() {
    let results = results("lateness.yaml", &[]);
    let is = |policy: &str, app: &str, exact: [f64; 4]| {
        let found = lateness(&results, policy, app);
        assert!(near(found, exact) && (found[3] - exact[3]).abs() < 1e-9, "{policy} {app}: {found:?}");
    };
    // EDF: each short job at once, the long one in the gaps of 30 ms until 180 ms.
    is("EDF", "short", [-30.0, -30.0, -30.0, 0.0]);
    is("EDF", "long", [-25.0, -25.0, -25.0, 0.0]);
    is("EDF", "all", [-29.0, -30.0, -25.0, 0.0]);
    // In the order of arrival: the short jobs end at 120, 140, 160 and 180 ms and are due at 50, 100, 150 and
    // 200 ms.
    is("FIFO", "short", [25.0, 10.0, 70.0, 0.75]);
    is("FIFO", "long", [-105.0, -105.0, -105.0, 0.0]);
    is("FIFO", "all", [-1.0, 10.0, 70.0, 0.6]);
    // The daemon answers each of its requests in 5 ms, and they are due after 4 ms.
    is("FIFO", "noise", [1.0, 1.0, 1.0, 1.0]);
    let late: Vec<f64> =
        results.jobs.iter().filter(|job| job.policy == "FIFO").filter_map(|job| job.lateness).collect();
    assert_eq!(late.len(), 5);
    let noise = results.jobs.iter().find(|job| job.app == "noise").unwrap();
    let responses = noise.responses.as_ref().unwrap();
    assert_eq!((noise.deadline, responses.late), (Some(0.004), Some(responses.count)));
}

#[test]
fn a_deadline_that_is_met_to_the_instant_is_not_missed() {
    let due = |deadline: &str| results("lateness.yaml", &[&format!("apps.noise.deadline={deadline}")]);
    let longest = mean(&due("1ms"), "", "EDF", "noise", "response_time_max");
    let ns = (longest * 1e9).round() as u64;
    for (deadline, missed) in [(ns, false), (ns - 1, true)] {
        let found = due(&format!("{deadline}ns"));
        assert_eq!(mean(&found, "", "EDF", "noise", "missed_deadlines") > 0.0, missed, "{deadline} ns");
    }
}

/// Of all orders EDF has the smallest largest lateness on one cpu, and a deadline of the application is the one
/// that it uses: with another one the long job is the urgent one.
#[test]
fn edf_orders_by_the_deadlines_of_applications() {
    let results = results("lateness.yaml", &["apps.long.deadline=101ms", "apps.short.deadline=180ms"]);
    let [.., long, missed] = lateness(&results, "EDF", "long");
    assert!((long + 1.0).abs() < 0.5 && missed < 1e-9, "{long}");
    assert!((lateness(&results, "EDF", "short")[2] - (120.0 - 180.0)).abs() < 0.5);
}

/// The longest response of each of these tasks, ns, if the earliest deadline runs on one cpu and nothing costs
/// anything: period and work, ns; deadlines are the next releases. Of jobs that end before `until`.
fn earliest_first(tasks: &[(u64, u64)], until: u64) -> Vec<u64> {
    // Of each task the release of its first job that is not done, and what is left of that.
    let mut jobs: Vec<(u64, u64)> = tasks.iter().map(|(_, work)| (0, *work)).collect();
    let (mut now, mut longest) = (0, vec![0; tasks.len()]);
    while now < until {
        let ready = (0..tasks.len()).filter(|task| jobs[*task].0 <= now);
        let next = jobs.iter().map(|job| job.0).filter(|release| *release > now).min();
        let Some(task) = ready.min_by_key(|task| jobs[*task].0 + tasks[*task].0) else {
            now = next.unwrap();
            continue;
        };
        let (period, work) = tasks[task];
        let (release, left) = jobs[task];
        let ran = next.map_or(left, |next| left.min(next - now));
        now += ran;
        jobs[task] = if ran < left { (release, left - ran) } else { (release + period, work) };
        if ran == left && now < until {
            longest[task] = longest[task].max(now - release);
        }
    }
    longest
}

/// In an overload under EDF all tasks fall behind together. A job that is released while the one before it still
/// runs is due from its release on, and not from the instant at which it begins.
#[test]
fn jobs_that_begin_late_keep_their_deadlines_under_edf() {
    let results = results("edf-overload.yaml", &[]);
    let exact = earliest_first(&[(5_000_000, 2_000_000), (7_000_000, 4_500_000)], 10_000_000_000);
    for (app, exact) in ["control", "sensor"].into_iter().zip(exact) {
        let (found, exact) = (mean(&results, "", "EDF", app, "response_time_max"), exact as f64 / 1e9);
        // Ticks and switches add 2 us to each 5 ms, so that the backlog of 10 s grows by some per cent.
        assert!(found > exact && found < 1.05 * exact, "{app}: {found} s, and {exact} s by theory");
    }
}
