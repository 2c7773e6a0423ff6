//! Events, clocks, devices, sources and shared locks, one operation at a time.

use super::*;
use crate::command;
use crate::ids::{DeviceId, EventId};
use crate::lock::Protocol;
use crate::os::{RealTimeRules, ServerRules, ServerStop};
use crate::program::{
    Arrivals, Change, Device, Event, NamedLock, Quantiles, Scheduling, Source, WEIGHT_IDLE, WEIGHT_REAL_TIME,
};

const E: EventId = EventId(0);
const F: EventId = EventId(1);

/// Real-time tasks without limits.
const REAL_TIME: RealTimeRules = RealTimeRules {
    quantum: Span::from_ms(100),
    runtime: Span::MAX,
    period: Span::from_ms(1_000),
    period_starts: false,
    pinned_first: true,
    server: ServerRules {
        runtime: Span::ZERO,
        period: Span::from_ms(1_000),
        stops: ServerStop::Dequeue,
        defers_anew: false,
        counts_idle: false,
    },
    deadline: None,
};

fn event(initial: u32, stamped: bool) -> Event {
    Event { name: "e".into(), initial, stamped }
}

fn post(event: EventId, count: u32) -> Op {
    Op::Post { event, count, kept: true }
}

fn signal(event: EventId) -> Op {
    Op::Post { event, count: 1, kept: false }
}

fn take(event: EventId, count: u32) -> Op {
    Op::Take { event, count }
}

fn until(period: u64, skips: bool) -> Op {
    let period = Span::from_ns(period);
    Op::Until { clock: 0, first: period, period, skips }
}

fn io(ns: u64) -> Op {
    Op::Io { device: DeviceId(0), span: Span::from_ns(ns), spread: Spread::NONE }
}

/// One task on a cpu.
fn one(cpu: u32, wait: WaitMode, ops: Vec<Op>) -> AppSpec {
    AppSpec { allowed: Some(CpuSet::of([CpuId(cpu)])), ..app(1, wait, ops) }
}

fn lock(name: &str, rules: LockRules) -> NamedLock {
    NamedLock { name: name.into(), rules }
}

fn source(event: EventId, places: Option<EventId>, most: u64, arrivals: Arrivals) -> Source {
    Source { name: "web".into(), event, places, start: Time::ZERO, most, arrivals }
}

// Events.

#[test]
fn who_needs_more_is_not_overtaken() {
    let ops = |before, count| vec![compute(before), take(E, count), compute(10 * US)];
    let poster = vec![compute(10 * US), post(E, 1), compute(10 * US), post(E, 2), compute(MS)];
    let mut rig = Rig::of(3)
        .app(one(0, WaitMode::Spin, ops(US, 2)))
        .app(one(1, WaitMode::Spin, ops(2 * US, 1)))
        .app(one(2, WaitMode::Spin, poster));
    rig.objects.events = vec![event(0, false)];
    let (report, _) = rig.run();
    // One unit at 10 us is not enough for the first, and the second waits behind it. Three at 20 us are
    // enough for both, and visible a nanosecond later.
    assert_eq!([end(&report, 0), end(&report, 1)], [30 * US + 1; 2]);
    assert_eq!(end(&report, 2), 20 * US + MS);
}

#[test]
fn units_that_are_there_are_taken_at_once() {
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, vec![take(E, 2), compute(US), take(E, 1)]));
    rig.objects.events = vec![event(3, false)];
    let (report, _) = rig.run();
    assert_eq!((end(&report, 0), report.apps[0].counters.polls), (US, 0));
}

#[test]
fn sleepers_wake_in_the_order_in_which_they_came_and_the_poster_pays() {
    let ops = |before| vec![compute(before), take(E, 1), compute(US)];
    let mut rig = Rig::of(3)
        .app(one(0, WaitMode::Block, ops(5 * US)))
        .app(one(1, WaitMode::Block, ops(3 * US)))
        .app(one(2, WaitMode::Block, vec![compute(10 * US), post(E, 2), compute(US)]));
    rig.objects.events = vec![event(0, false)];
    rig.machine.costs.wake = Span::from_us(3);
    rig.machine.costs.wake_remote = Span::from_us(5);
    let (report, _) = rig.run();
    // Cpu 1 has waited longer: its wake-up takes effect after 3 us of the call, that of cpu 0 5 us later.
    // Each polls once more.
    assert_eq!([end(&report, 0), end(&report, 1)], [19 * US + 1, 14 * US + 1]);
    assert_eq!(end(&report, 2), 10 * US + 2 * 5 * US + US);
}

#[test]
fn a_condition_loses_signals_that_nobody_waits_for() {
    let signals = vec![compute(10 * US), signal(E), compute(20 * US), signal(E)];
    let mut rig = Rig::of(2)
        .app(one(0, WaitMode::Spin, vec![compute(20 * US), take(E, 1), compute(US)]))
        .app(one(1, WaitMode::Spin, signals));
    rig.objects.events = vec![event(0, false)];
    assert_eq!(end(&rig.run().0, 0), 31 * US + 1);
}

#[test]
fn no_signal_is_lost_between_the_release_of_a_lock_and_the_wait() {
    let l = LockId(0);
    let waits = |arms: bool| {
        let wait = [Op::Arm(E), Op::Unlock(l), take(E, 1)];
        let wait = &wait[usize::from(!arms)..];
        [&[Op::Lock(l), compute(10 * US)], wait, &[Op::Lock(l), compute(5 * US), Op::Unlock(l)]].concat()
    };
    let signals = vec![compute(US), Op::Lock(l), signal(E), Op::Unlock(l)];
    for wait in [WaitMode::Spin, WaitMode::Block] {
        let mut rig = Rig::of(2).app(one(0, wait, waits(true))).app(one(1, wait, signals.clone()));
        rig.apps.iter_mut().for_each(|app| app.named_locks = true);
        rig.objects.events = vec![event(0, false)];
        rig.objects.locks = vec![lock("l", LockRules::TICKET)];
        // The lock and the signal travel for a few nanoseconds.
        assert_near(end(&rig.run().0, 0), 15 * US, 10);
    }
    // The same lock is of both applications: with one of its own each the signal would come at 1 us.
}

#[test]
fn the_last_one_to_meet_lets_the_others_go() {
    let ops = |ms| vec![Op::Repeat(2), compute(ms * MS), Op::Meet { event: E, parties: 3 }, Op::End];
    let two = AppSpec { rank_scale: vec![1_000, 2_000], ..app(2, WaitMode::Spin, ops(1)) };
    let mut rig = Rig::of(3).app(two).app(one(2, WaitMode::Spin, ops(3)));
    rig.objects.events = vec![event(0, false)];
    let (report, _) = rig.run();
    // The others see it a nanosecond later, and are earlier the second time all the same.
    assert_eq!([end(&report, 0), end(&report, 1)], [6 * MS + 1, 6 * MS]);
}

#[test]
fn a_run_ends_when_nothing_is_posted_any_more() {
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, vec![compute(MS), take(E, 1)]));
    rig.objects.events = vec![Event { name: "jobs".into(), ..event(0, false) }];
    let (report, _) = rig.run();
    let text = "1 tasks wait for what will never happen: test rank 0 waits for the event `jobs`";
    assert_eq!(report.outcome, Outcome::Deadlock(text.into()));
    assert_near(report.makespan.ns(), MS, 10);
}

#[test]
fn each_way_to_wait_is_the_same_in_closed_form_and_one_by_one() {
    let limit = Span::from_us(30);
    let waits = [
        WaitMode::Spin,
        WaitMode::Yield,
        WaitMode::YieldTo,
        WaitMode::Block,
        WaitMode::SpinThenBlock { limit, yielding: true },
        WaitMode::SpinThenBlock { limit, yielding: false },
    ];
    for wait in waits {
        let [closed, _] = closed_and_each(|| {
            // Four receivers of a queue of two places and two senders on two cpus, beside requests from
            // outside.
            let spread = Spread::EXPONENTIAL;
            let work =
                |us| Op::Compute { work: Work::from_span(Span::from_us(us)), spread, profile: ProfileId(0) };
            let receive = vec![Op::Repeat(25), take(E, 1), post(F, 1), work(40), Op::End];
            let send = vec![Op::Repeat(30), work(30), take(F, 1), post(E, 1), Op::End];
            let mut rig = Rig::of(2).app(app(4, wait, receive)).app(app(2, wait, send));
            let arrivals = Arrivals::Random(Span::from_us(40));
            rig.objects.events = vec![event(0, true), event(2, false)];
            rig.objects.sources = vec![source(E, Some(F), u64::MAX, arrivals)];
            rig.apps[0].requests = true;
            // Where many requests come, nobody takes what it sends last.
            rig.apps[1].background = true;
            rig.model.discipline = Discipline::Cfs(CfsParams::scaled(2));
            rig
        });
        let (sources, apps) = (&closed.sources[0], &closed.apps);
        assert_eq!(closed.outcome, Outcome::Completed, "{wait:?}");
        let waited =
            |app: usize| apps[app].waits.as_ref().map_or(0, |waits| waits.each().map(|(_, n)| n).sum());
        assert_eq!((waited(0), waited(1), apps[0].counters.responses), (100, 0, 100), "{wait:?}");
        assert!(sources.came - sources.lost >= 40 && sources.lost > 0, "{wait:?}: {sources:?}");
    }
}

// Requests.

#[test]
fn a_bounded_queue_loses_requests_and_the_others_wait() {
    let ops = vec![Op::Repeat(3), take(E, 1), post(F, 1), compute(25 * US), Op::End];
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, ops));
    rig.apps[0].requests = true;
    rig.apps[0].deadline = Some(Span::from_us(39));
    rig.objects.events = vec![event(0, true), event(1, false)];
    rig.objects.sources = vec![source(E, Some(F), 5, Arrivals::Every(Span::from_us(10)))];
    let (report, _) = rig.run();
    // Requests at 0, 10 and 30 us are served from 0, 25 and 50 us on; those at 20 and 40 us find the place
    // taken.
    let (source, app) = (&report.sources[0], &report.apps[0]);
    assert_eq!((source.name.as_str(), source.came, source.lost), ("web", 5, 2));
    assert_eq!((end(&report, 0), app.counters.responses), (75 * US, 3));
    assert_eq!((app.counters.response_ns, app.counters.late_responses), ((25 + 40 + 45) * US, 2));
    assert_eq!(app.first_late, Some(Time::from_ns(50 * US)));
    let waits: Vec<u64> =
        app.waits.iter().flat_map(|waits| waits.each()).map(|(span, _)| span.ns()).collect();
    assert_eq!((waits.len(), waits[0]), (3, 0));
    assert_near(waits[1], 15 * US, US);
    assert_near(waits[2], 20 * US, US);
}

#[test]
fn a_sleeper_wakes_at_the_instant_of_its_request() {
    let ops = vec![take(E, 1), compute(5 * US), Op::Done, compute(50 * US)];
    let mut rig = Rig::of(2).app(one(1, WaitMode::Block, ops));
    rig.apps[0].requests = true;
    rig.objects.events = vec![event(0, true)];
    let at = [100, 100, 130].map(Span::from_us);
    rig.objects.sources = vec![source(E, None, 10, Arrivals::At(at.into()))];
    let (report, _) = rig.run();
    // It polls once more when it wakes.
    assert_eq!((end(&report, 0), report.apps[0].counters.response_ns), (155 * US + 1, 5 * US + 1));
    assert_eq!((report.sources[0].came, report.sources[0].lost, report.apps[0].first_late), (3, 0, None));
}

#[test]
fn requests_that_are_still_to_come_are_no_deadlock() {
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, vec![take(F, 1)]));
    rig.objects.events = vec![event(0, true), event(0, false)];
    rig.objects.sources = vec![source(E, None, 3, Arrivals::Every(Span::from_ms(7)))];
    let (report, _) = rig.run();
    assert!(matches!(report.outcome, Outcome::Deadlock(_)));
    assert_eq!((report.makespan.ns(), report.sources[0].came), (14 * MS, 3));
}

// Clocks and devices.

#[test]
fn late_instants_are_caught_up_with_or_left_out() {
    let ran = |skips| {
        let late = [until(10 * MS, skips), compute(25 * MS)];
        let again = [until(10 * MS, skips), compute(MS)];
        let mut rig = Rig::of(1).app(one(0, WaitMode::Spin, [late.as_slice(), &again, &again].concat()));
        rig.apps[0].requests = true;
        rig.apps[0].deadline = Some(Span::from_ms(5));
        rig.apps[0].start = Time::from_ns(3 * MS);
        let (report, _) = rig.run();
        let app = &report.apps[0];
        (end(&report, 0), app.counters, app.first_late.map(Time::ns))
    };
    // Instants at 13, 23 and 33 ms; it works from 13 to 38, to 39 and to 40 ms.
    let (end, counters, late) = ran(false);
    assert_eq!((end, counters.skipped, counters.sleep_asked_ns), (40 * MS, 0, 0));
    let of = |counters: Counters| (counters.responses, counters.response_ns, counters.late_responses);
    assert_eq!((of(counters), late), ((3, (25 + 16 + 7) * MS, 3), Some(38 * MS)));
    // Those at 23 and 33 ms are left out: it works again from 43 and from 53 ms on.
    let (end, counters, late) = ran(true);
    assert_eq!((end, counters.skipped), (54 * MS, 2));
    assert_eq!((of(counters), late), ((3, (25 + 1 + 1) * MS, 1), Some(38 * MS)));
}

#[test]
fn a_clock_goes_on_while_the_call_takes_time() {
    let ops = vec![Op::Repeat(3), until(10 * US, false), compute(8 * US), Op::End];
    let mut rig = Rig::of(1).app(one(0, WaitMode::Spin, ops));
    rig.machine.costs.sleep = Span::from_us(3);
    let (report, _) = rig.run();
    // 10 to 18, the call up to 21: the instant at 20 has passed. 21 to 29, the call up to 32. 32 to 40.
    assert_eq!((end(&report, 0), spent(&report, 0, Category::Kernel)), (40 * US, 9 * US));
}

#[test]
fn a_task_that_goes_on_at_once_gives_way_first() {
    // A request wakes the first task in the call of the second one, whose instant has passed. It waits again
    // before the second one signals, or the signal would be lost.
    let woken = vec![take(E, 1), compute(MS), take(E, 1)];
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, woken)).app(one(
        0,
        WaitMode::Spin,
        vec![compute(9 * MS), until(US, false), signal(E), compute(MS)],
    ));
    rig.model.discipline = Discipline::Cfs(CfsParams::scaled(1));
    rig.machine.costs.sleep = Span::from_ms(2);
    rig.objects.events = vec![event(0, false)];
    rig.objects.sources = vec![source(E, None, 1, Arrivals::At([Span::from_ms(12)].into()))];
    let (report, log) = rig.run();
    assert_eq!(report.outcome, Outcome::Completed);
    // The sleeper polls for a nanosecond and calls for 2 ms; so does the other one after its 9 ms.
    assert_near(report.apps[1].counters.response_ns, 17 * MS - US, 10);
    assert!(log.began.contains(&(13 * MS + 2, 0)), "{:?}", log.began);
}

#[test]
fn a_device_serves_as_many_as_it_has_servers() {
    let mut rig = Rig::of(3).app(app(3, WaitMode::Spin, vec![io(10 * US), compute(US)]));
    rig.apps[0].requests = true;
    rig.objects.devices = vec![Device { name: "disk".into(), servers: 2 }];
    let (report, _) = rig.run();
    let device = &report.devices[0];
    assert_eq!((device.served, device.busy_ns, device.waited_ns), (3, 30 * US, 10 * US));
    assert_eq!((end(&report, 0), report.apps[0].counters.responses), (21 * US, 0));
    assert_eq!((device.name.as_str(), spent(&report, 0, Category::Compute)), ("disk", US));
}

// Branches, lengths and changes.

#[test]
fn a_branch_is_taken_as_often_as_stated() {
    let took = |share| {
        let branch = Op::Branch { share, to: 4 };
        let ops = vec![Op::Repeat(1_000), branch, compute(US), Op::Jump(5), compute(3 * US), Op::End];
        end(&Rig::of(1).app(one(0, WaitMode::Spin, ops)).run().0, 0) / US
    };
    assert_eq!(took(0), 1_000);
    // A standard deviation is 14 times.
    let times = (took(1 << 30) - 1_000) / 2;
    assert!(times.abs_diff(250) < 56, "{times} of 1000 with a probability of 1/4");
    assert!(took(u32::MAX) > 2_990);
}

#[test]
fn lengths_are_those_of_the_table() {
    let table = Quantiles::new(vec![2 << 16, 2 << 16]).unwrap();
    let (spread, span) = (Spread::table(0), Span::from_us(10));
    let work = Op::Compute { work: Work::from_span(span), spread, profile: ProfileId(0) };
    let ops = vec![work, Op::Sleep { span, spread }, Op::Io { device: DeviceId(0), span, spread }];
    let program = Program::with(ops, vec![MemoryProfile::NONE], vec![table], Vec::new()).unwrap();
    let mut rig = Rig::of(1).app(AppSpec { program: Arc::new(program), ..app(1, WaitMode::Spin, vec![]) });
    rig.objects.devices = vec![Device { name: "disk".into(), servers: 1 }];
    assert_eq!(end(&rig.run().0, 0), 60 * US);
}

fn changing(ops: Vec<Op>, changes: Vec<Change>) -> AppSpec {
    let program = Program::with(ops, vec![MemoryProfile::NONE], Vec::new(), changes).unwrap();
    AppSpec { program: Arc::new(program), ..app(1, WaitMode::Spin, vec![]) }
}

#[test]
fn a_task_changes_its_weight() {
    let changes = || vec![Change::Weight(3 * 1_024)];
    let rig = || {
        let mut rig = Rig::of(1).app(changing(vec![Op::Set(0), compute(300 * MS)], changes()));
        rig.apps.push(one(0, WaitMode::Spin, vec![compute(300 * MS)]));
        rig
    };
    for discipline in [Discipline::Cfs(CfsParams::scaled(1)), Discipline::Eevdf(EevdfParams::scaled(1))] {
        let mut rig = rig();
        rig.model.discipline = discipline;
        // Three of four parts of the time.
        assert_near(end(&rig.run().0, 0), 400 * MS, 10 * MS);
    }
    // Refused where commands that change weights are.
    let Rig { machine, model, apps, options, .. } = rig();
    let refused = Simulation::new(Arc::new(machine), Arc::new(model), apps, options);
    assert!(refused.is_err_and(|why| why.contains("gets a weight")));
}

#[test]
fn a_task_that_leaves_its_cpu_goes_on_elsewhere() {
    let ops = vec![compute(MS), Op::Set(0), compute(2 * MS), Op::Set(1), compute(MS)];
    let masks = [vec![CpuId(1)], vec![CpuId(0), CpuId(1)]];
    let changes = || masks.clone().map(|cpus| Change::Cpus(CpuSet::of(cpus))).to_vec();
    for discipline in [test_model().discipline, Discipline::Eevdf(EevdfParams::scaled(2))] {
        let mut rig = Rig::of(2).app(changing(ops.clone(), changes()));
        rig.model.discipline = discipline;
        let (report, log) = rig.run();
        let computed = [0, 1].map(|cpu| spent(&report, cpu, Category::Compute));
        assert_eq!((computed, end(&report, 0)), ([MS, 3 * MS], 4 * MS));
        assert_eq!((report.apps[0].counters.migrations, report.corrections), (1, 0));
        assert_eq!(log.left, [(MS, 0, LeaveReason::Moved), (4 * MS, 0, LeaveReason::Exited)]);
    }
    let nowhere = vec![Change::Cpus(CpuSet::of([CpuId(7)]))];
    let Rig { machine, model, options, .. } = Rig::of(2);
    let apps = vec![changing(vec![Op::Set(0)], nowhere)];
    assert!(Simulation::new(Arc::new(machine), Arc::new(model), apps, options).is_err());
}

// Shared locks.

#[test]
fn a_lock_that_applications_share_goes_from_one_to_the_other() {
    let ops = |before| vec![compute(before), Op::Lock(LockId(1)), compute(10 * US), Op::Unlock(LockId(1))];
    for rules in [LockRules::TICKET, LockRules::MUTEX, LockRules::TEST_AND_SET, LockRules::QUEUED] {
        let [closed, _] = closed_and_each(|| {
            let mut rig = Rig::of(4)
                .app(one(0, WaitMode::Spin, ops(US)))
                .app(one(1, WaitMode::Spin, ops(3 * US)))
                .app(one(2, WaitMode::Spin, ops(2 * US)));
            rig.apps.iter_mut().for_each(|app| app.named_locks = true);
            // With one of its own, whose number is the same.
            rig.apps.push(one(3, WaitMode::Spin, ops(MS)));
            rig.objects.locks = vec![lock("other", LockRules::MUTEX), lock("l", rules)];
            rig
        });
        let ends: Vec<u64> = (0..4).map(|app| end(&closed, app)).collect();
        assert_near(ends[0], 11 * US, 2 * US);
        // Test-and-set: the first poll that sees it free. Those of both are over at the same time, and the
        // lower cpu is first.
        let first = if rules == LockRules::TEST_AND_SET { 1 } else { 2 };
        assert_near(ends[first], 21 * US, 2 * US);
        assert_near(ends[3 - first], 31 * US, 4 * US);
        assert_near(ends[3], MS + 10 * US, 2 * US);
    }
}

#[test]
fn who_waits_for_whom_is_named_with_the_circle() {
    let ops = |first, second| {
        let [first, second] = [first, second].map(LockId);
        vec![Op::Lock(first), compute(MS), Op::Lock(second), Op::Unlock(second), Op::Unlock(first)]
    };
    let philo = |name: &str, cpu, ops| AppSpec { name: name.into(), ..one(cpu, WaitMode::Spin, ops) };
    let mut rig = Rig::of(3)
        .app(philo("guest", 2, vec![compute(US), Op::Lock(LockId(1)), Op::Unlock(LockId(1))]))
        .app(philo("plato", 0, ops(0, 1)))
        .app(philo("kant", 1, ops(1, 0)));
    rig.apps.iter_mut().for_each(|app| app.named_locks = true);
    rig.objects.locks = vec![lock("left", LockRules::MUTEX), lock("right", LockRules::MUTEX)];
    let text = "3 tasks wait for what will never happen: guest rank 0 waits for the lock `right`, which kant \
                rank 0 holds; plato rank 0 waits for the lock `right`, which kant rank 0 holds; kant rank 0 \
                waits for the lock `left`, which plato rank 0 holds; a circle of 2: plato rank 0, \
                kant rank 0";
    assert_eq!(rig.run().0.outcome, Outcome::Deadlock(text.into()));
    // A lock of its own has a number, and who has ended still has it.
    let app = app(2, WaitMode::Spin, vec![Op::Lock(LockId(0)), compute(MS)]);
    let text = "1 tasks wait for what will never happen: test rank 1 waits for the lock 0, which test rank 0 \
                holds";
    assert_eq!(Rig::of(2).app(app).run().0.outcome, Outcome::Deadlock(text.into()));
}

#[test]
fn an_irregular_program_is_not_sampled() {
    let ran = |inner: [Op; 2], named_locks, sampled| {
        let ops = [&[Op::Repeat(500), compute(10 * MS)], inner.as_slice(), &[Op::Barrier, Op::End]].concat();
        let mut rig = Rig::of(2).app(AppSpec { named_locks, ..app(2, WaitMode::Yield, ops) });
        rig.objects.events = vec![event(0, false)];
        rig.objects.locks = vec![lock("l", LockRules::MUTEX)];
        rig.options.sampled = sampled;
        let Rig { machine, model, apps, objects, options, .. } = rig;
        let run = Simulation::with_objects(Arc::new(machine), Arc::new(model), apps, objects, options);
        run.unwrap().run(&mut Scripted(Vec::new()), &mut ())
    };
    let units = [post(E, 1), take(E, 1)];
    assert_eq!(ran(units, false, true), ran(units, false, false));
    // A lock of its own is as in each pass; one of the run may be had by others.
    let locks = [Op::Lock(LockId(0)), Op::Unlock(LockId(0))];
    assert_eq!(ran(locks, true, true), ran(locks, true, false));
    assert!(ran(locks, false, true).extrapolated > Span::ZERO);
}

// Requests that sleep, and processes that take the place of others.

#[test]
fn a_sleep_inside_a_request_is_part_of_its_response() {
    let counted = |rig: Rig| {
        let counters = rig.run().0.apps[0].counters;
        (counters.responses, counters.response_ns)
    };
    // 1 ms of work, 3 ms of sleep, 1 ms of work in each of two periods.
    let ops = vec![Op::Repeat(2), until(10 * MS, false), compute(MS), sleep(3 * MS), compute(MS), Op::End];
    assert_eq!(counted(Rig::of(1).app(one(0, WaitMode::Spin, ops))), (2, 10 * MS));
    // The same with requests at 0 and 1 ms, the second one waiting for 4 ms.
    let ops = vec![Op::Repeat(2), take(E, 1), compute(MS), sleep(3 * MS), compute(MS), Op::End];
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, ops.clone()));
    rig.objects.events = vec![event(0, true)];
    rig.objects.sources = vec![source(E, None, 2, Arrivals::Every(Span::from_ms(1)))];
    let (responses, ns) = counted(rig);
    assert_eq!(responses, 2);
    assert_near(ns, (5 + 9) * MS, 10);
    // Units without instants are no requests: the wake-ups are.
    let mut rig = Rig::of(1).app(one(0, WaitMode::Block, ops));
    rig.objects.events = vec![event(2, false)];
    assert_eq!(counted(rig), (2, 3 * MS));
}

#[test]
fn the_clocks_of_a_new_process_begin_with_it() {
    let ops = vec![
        until(10 * MS, false),
        Op::Repeat(2),
        compute(5 * MS),
        Op::Respawn,
        until(10 * MS, false),
        until(10 * MS, false),
        compute(MS),
        Op::End,
    ];
    let mut rig = Rig::of(1).app(one(0, WaitMode::Spin, ops));
    rig.machine.costs.fork = Span::from_us(7);
    let (report, _) = rig.run();
    // 10 ms; twice 5 ms, the fork, 20 ms from there, 1 ms.
    assert_eq!(end(&report, 0), 10 * MS + 2 * (26 * MS + 7 * US));
}

#[test]
fn a_new_process_is_scheduled_as_the_application_is() {
    let changed = || vec![Change::Cpus(CpuSet::of([CpuId(1)])), Change::Weight(3 * 1_024)];
    let ops = || vec![Op::Set(0), Op::Set(1), compute(2 * MS), Op::Respawn, compute(3 * MS)];
    let computed = |rig: Rig| {
        let (report, _) = rig.run();
        assert_eq!(report.corrections, 0);
        [0, 1].map(|cpu| spent(&report, cpu, Category::Compute))
    };
    let rig = || {
        let mut rig = Rig::of(2).app(changing(ops(), changed()));
        rig.model.discipline = Discipline::Eevdf(EevdfParams::scaled(2));
        rig.at(MS, |system| assert_eq!(system.task(TaskId(0)).weight, 3 * 1_024))
    };
    // Placed on the cpu of its rank again, by the weight of its application.
    let anew = rig().at(4 * MS, |system| assert_eq!(system.task(TaskId(0)).weight, 1_024));
    assert_eq!(computed(anew), [3 * MS, 2 * MS]);
    // What commands and the application have done since to all of its tasks stays.
    let mut rig = rig().at(4 * MS, |system| assert_eq!(system.task(TaskId(0)).weight, 512));
    let weighed =
        |order| command::Command { at: Time::from_ns(MS + 1), order, act: command::Act::Weight(512) };
    rig.apps[0].commands = vec![weighed(0)];
    rig.apps[0].rebinds = vec![(Span::from_us(500), CpuSet::of([CpuId(1)]))];
    assert_eq!(computed(rig), [0, 5 * MS]);
}

#[test]
fn nice_values_are_nothing_to_idle_and_real_time_tasks() {
    let ran = |scheduling, weight, act: Act| {
        let task = AppSpec {
            scheduling,
            weight,
            ..changing(vec![Op::Set(0), compute(50 * MS)], vec![Change::Weight(3_072)])
        };
        let mut rig =
            Rig::of(1).app(task).app(one(0, WaitMode::Spin, vec![compute(200 * MS)])).at(5 * MS, act);
        rig.model.discipline = Discipline::Eevdf(EevdfParams::scaled(1));
        rig.model.real_time = Some(REAL_TIME);
        let (report, _) = rig.run();
        [end(&report, 0), end(&report, 1)]
    };
    // 3 parts of 1,027: less than 1 ms until the other one ends.
    let idle = ran(Scheduling::Idle, WEIGHT_IDLE, |system| {
        assert_eq!(system.task(TaskId(0)).weight, WEIGHT_IDLE);
    });
    assert_eq!(idle[0], 250 * MS);
    assert_near(idle[1], 200 * MS, 8 * MS);
    let first = ran(Scheduling::Fifo(1), 1_024, |system| {
        assert_eq!(system.task(TaskId(0)).weight, WEIGHT_REAL_TIME);
    });
    assert_eq!(first, [50 * MS, 250 * MS]);
}

#[test]
fn work_that_a_device_has_not_done_at_the_end_is_not_counted() {
    let mut rig = Rig::of(3).app(app(3, WaitMode::Spin, vec![io(10 * US), compute(US)]));
    rig.objects.devices = vec![Device { name: "disk".into(), servers: 2 }];
    rig.options.horizon = Time::from_ns(13 * US);
    let (report, _) = rig.run();
    let device = &report.devices[0];
    assert_eq!((device.served, device.busy_ns, device.waited_ns), (3, 23 * US, 10 * US));
}

/// Four tasks on one cpu. Low has lock 0 for 10 ms. From 1 ms on better, the next in priority, has lock 1 and
/// waits for lock 0. From 2 ms on middle computes for 50 ms. From 3 ms on best waits for lock 1.
fn chained(rules: LockRules) -> Rig {
    let section =
        |lock, inner: Vec<Op>| [vec![Op::Lock(LockId(lock))], inner, vec![Op::Unlock(LockId(lock))]].concat();
    let later = |ms, ops: Vec<Op>| [vec![sleep(ms * MS)], ops].concat();
    let low = section(0, vec![compute(10 * MS)]);
    let better = section(1, section(0, vec![compute(MS)]));
    let tasks = [
        (1, low),
        (2, later(1, better)),
        (3, later(2, vec![compute(50 * MS)])),
        (4, later(3, section(1, vec![compute(MS)]))),
    ];
    let mut rig = Rig::of(1);
    for (priority, ops) in tasks {
        let scheduling = Scheduling::Fifo(priority);
        rig = rig.app(AppSpec { scheduling, named_locks: true, ..one(0, WaitMode::Spin, ops) });
    }
    rig.model.discipline = Discipline::Eevdf(EevdfParams::scaled(1));
    rig.model.real_time = Some(REAL_TIME);
    rig.objects.locks = vec![lock("first", rules), lock("second", rules)];
    rig
}

#[test]
fn a_priority_is_inherited_along_a_chain_of_locks() {
    let ends = |rules| {
        let report = chained(rules).run().0;
        [0, 1, 2, 3].map(|app| end(&report, app).div_euclid(MS))
    };
    // Middle runs for 50 ms before low goes on, and better and best wait for low.
    assert_eq!(ends(LockRules::MUTEX), [60, 61, 52, 62]);
    // From 3 ms on low has the priority of best, through better: it preempts middle, which comes last.
    assert_eq!(ends(LockRules::INHERIT), [11, 12, 62, 13]);
    // Low is above middle all the time, and nobody else takes a lock before it has given it back.
    assert_eq!(ends(LockRules::protecting(Protocol::Ceiling(4))), [10, 62, 61, 11]);
}

#[test]
fn locks_that_cannot_change_priorities_are_refused() {
    let refused = |rig: Rig| {
        let Rig { machine, model, apps, objects, options, .. } = rig;
        Simulation::with_objects(Arc::new(machine), Arc::new(model), apps, objects, options).err()
    };
    let with = |protocol| refused(chained(LockRules::protecting(protocol)));
    assert_eq!(
        [Protocol::Inherits, Protocol::Ceiling(4), Protocol::Ceiling(99)].map(with),
        [None, None, None]
    );
    let barges = LockRules { protocol: Protocol::Inherits, ..LockRules::MUTEX };
    assert!(refused(chained(barges)).expect("it barges").contains("is handed over"));
    let said = [0, 3, 100].map(|ceiling| with(Protocol::Ceiling(ceiling)).expect("a wrong ceiling"));
    assert!(said[0].contains("1 to 99") && said[2].contains("1 to 99"), "{said:?}");
    assert!(said[1].contains("may have the priority 4 and takes a lock with the ceiling 3"), "{said:?}");
}
