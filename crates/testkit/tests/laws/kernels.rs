//! Placement and balancing of each kernel, seen from outside: forks, odd tasks, idle cpus.

use sim_core::observe::{Observation, Observer};
use sim_core::policy::Decision;
use sim_core::program::Op;
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{Log, MS, Trial, app, compute, hogs};

/// The cpus on which tasks became runnable for the first time.
fn born(log: &Log, tasks: usize) -> Vec<u32> {
    let runnable = log.0.iter().filter_map(|(_, what)| match what {
        Observation::Runnable { cpu, .. } => Some(cpu.0),
        _ => None,
    });
    let mut cpus: Vec<u32> = runnable.take(tasks).collect();
    cpus.sort_unstable();
    cpus
}

#[test]
fn forks_pile_up_by_averages_of_the_last_tick_and_spread_by_idle_cpus() {
    let forks = |kernel: &str, policy: &'static str| {
        let trial = Trial::on("barcelona").free().under(kernel, &[]).policy(policy, &[]);
        let cpus = born(&trial.app(hogs(16, 50)).until(40).log().1, 16);
        (0..16).map(|cpu| cpus.iter().filter(|born| **born == cpu).count()).collect::<Vec<_>>()
    };
    // Sixteen forks at one instant. 2.6.28: a few to cpus whose averages are zero, all others to the
    // parent's.
    let old = forks("linux-2.6.28", "LOAD");
    assert!(old.iter().any(|born| *born >= 8), "{old:?}");
    // Today idle cpus are counted as they are.
    assert_eq!(forks("linux-6.18", "LOAD"), [1; 16]);
    assert_eq!(forks("freebsd-7", "ULE"), [1; 16]);
}

#[test]
fn ule_moves_the_odd_thread_about_once_a_second() {
    let endless = app(3, vec![Op::Repeat(0), compute(Span::from_ms(1_000)), Op::End], WaitMode::Spin);
    let trial = Trial::on("package:1 core:2").under("freebsd-7", &[]).policy("ULE", &[]);
    let (report, log) = trial.app(endless).until(60_000).log();
    // Every 0.5 to 1.5 s a pass finds two against one, and moves one.
    let moves: Vec<u64> = log.moves().map(|(at, ..)| at.ns() / MS).filter(|ms| *ms > 2_000).collect();
    let gaps: Vec<u64> = moves.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() > 38 && gaps.iter().all(|gap| (499..=1_501).contains(gap)), "{gaps:?}");
    let cpu = report.apps[0].task_cpu.iter().map(|cpu| cpu.ns() / MS);
    assert!(cpu.clone().all(|ms| (34_000..46_000).contains(&ms)), "{:?}", cpu.collect::<Vec<_>>());
}

#[test]
fn ule_is_fair_over_seconds_but_not_over_the_intervals_of_a_program() {
    // Three threads on two cpus, 6 s of work each: at best 9 s, pinned 12 s. Only intervals longer than a
    // second gain.
    let run = |steps: u32| {
        let ops =
            vec![Op::Repeat(steps), compute(Span::from_ms(6_000 / u64::from(steps))), Op::Barrier, Op::End];
        let trial = Trial::on("package:1 core:2").under("freebsd-7", &[]).policy("ULE", &[]);
        trial.app(app(3, ops, WaitMode::Yield)).seconds()
    };
    let (fine, coarse) = (run(600), run(1));
    assert!((11.5..12.5).contains(&fine), "intervals of 10 ms: {fine} s");
    assert!((9.0..10.8).contains(&coarse), "one interval: {coarse} s");
}

#[test]
fn on_many_cpus_ule_of_freebsd_7_leaves_a_queue_of_two_to_the_long_term_balancer() {
    // Sixteen cpus, seventeen threads, one of which ends after 2 s: its cpu stays idle until the balancer
    // comes.
    let idle = |kernel: &str, balance: u64| {
        let trial = Trial::on("barcelona").free().under(kernel, &[]);
        let trial = trial.policy("ULE", &[("balance", balance)]);
        let trial = trial.placed([0].into_iter().chain(1..16).chain([5]));
        let (report, log) = trial.app(hogs(1, 2_000)).app(hogs(16, 6_000)).log();
        let end = report.apps[0].end.unwrap();
        log.moves().find(|(at, _, to)| *at >= end && to.0 == 0).map_or(Span::MAX, |(at, ..)| at.since(end))
    };
    // The odd thread's turns by the balancer do not matter here.
    assert_eq!(idle("freebsd-7", 0), Span::MAX);
    let late = idle("freebsd-7", 1);
    assert!(late > Span::from_ms(1) && late <= Span::from_ms(1_500), "{late:?}");
    let late = idle("freebsd-14", 0);
    assert!(late <= Span::from_us(10), "{late:?}");
}

#[test]
fn a_cpu_that_goes_idle_takes_a_waiting_thread_at_once() {
    // One thread of 50 ms on a cpu, two of 100 ms on the other, on different boards. When the first ends, its
    // cpu takes one of the two; these are done 50 to 100 ms later, depending on who had run before.
    for (kernel, policy) in [("freebsd-7", "ULE"), ("solaris-9", "LGROUP"), ("linux-6.18", "LOAD")] {
        let trial =
            Trial::on("numa:2 core:1").free().under(kernel, &[]).policy(policy, &[]).placed([0, 1, 1]);
        let (report, log) = trial.app(hogs(1, 50)).app(hogs(2, 100)).log();
        let (ended, makespan) = (report.apps[0].end.unwrap(), report.makespan.ns() / MS);
        let first = log.moves().find(|(at, ..)| *at >= ended).map(|(at, ..)| at.since(ended));
        assert!(first.is_some_and(|span| span <= Span::from_us(10)), "{kernel}: {first:?}");
        assert!((100..=151).contains(&makespan), "{kernel}: {makespan} ms");
    }
}

#[test]
fn lgroup_fills_a_board_before_it_opens_the_next() {
    let trial = Trial::on("e25k").free().under("solaris-9", &[]).policy("LGROUP", &[]);
    let cpus = born(&trial.app(hogs(8, 50)).until(40).log().1, 8);
    let boards: Vec<u32> = cpus.iter().map(|cpu| cpu / 8).collect();
    assert_eq!(boards, [0, 0, 0, 0, 1, 1, 1, 1]);
}

/// Kernel, policy, parameters.
type Case = (&'static str, &'static str, &'static [(&'static str, u64)]);

/// Decisions, and those without a reason.
#[derive(Default)]
struct Reasons {
    decisions: u64,
    silent: Vec<Decision>,
}

impl Observer for Reasons {
    fn decided(&mut self, _: Time, decision: &Decision) {
        self.decisions += 1;
        if decision.why.rule.is_empty() {
            self.silent.push(decision.clone());
        }
    }
}

#[test]
fn every_decision_has_a_reason() {
    let cases: [Case; 6] = [
        ("freebsd-7", "ULE", &[]),
        ("freebsd-14", "ULE", &[]),
        ("solaris-9", "LGROUP", &[]),
        ("solaris-9", "LGROUP", &[("ties", 1)]),
        ("linux-2.6.28", "DWRR", &[]),
        ("linux-6.18", "DWRR", &[("take", 3)]),
    ];
    for (kernel, policy, settings) in cases {
        // Blocking barriers, hogs, uneven ends: threads are created, woken, stolen and moved.
        let ops = vec![Op::Repeat(300), compute(Span::from_ms(5)), Op::Barrier, Op::End];
        let mut blocking = app(11, ops, WaitMode::Block);
        blocking.rank_scale = (0..11).map(|rank| 500 + 100 * rank).collect();
        let trial = Trial::on("barcelona").under(kernel, &[]).policy(policy, settings);
        let mut reasons = Reasons::default();
        trial.app(blocking).app(hogs(3, 700)).app(hogs(13, 2_000)).observed(&mut reasons);
        assert!(reasons.decisions > 500, "{policy}: {}", reasons.decisions);
        assert!(reasons.silent.is_empty(), "{policy} {settings:?}: {:?}", &reasons.silent[..1]);
    }
}

#[test]
fn every_kernel_names_an_in_kernel_policy_as_its_balancer() {
    let own = |entry: &kernels::Entry| policies::kernel_policy(entry.own.policy);
    let names: Vec<_> = kernels::KERNELS.entries.iter().map(|entry| (entry.name, own(entry).name)).collect();
    for entry in kernels::KERNELS.entries {
        assert_eq!(own(entry).level, policies::Level::InKernel, "{}", entry.name);
    }
    for expected in
        [("linux-6.18", "LOAD"), ("freebsd-7", "ULE"), ("solaris-9", "LGROUP"), ("round-robin", "LOAD")]
    {
        assert!(names.contains(&expected), "{expected:?} is not in {names:?}");
    }
}
