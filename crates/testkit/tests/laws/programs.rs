//! Programs that share semaphores, queues, devices and requests: what is conserved, and what queueing theory
//! and a calendar say.

use sim_core::ids::{DeviceId, EventId};
use sim_core::outcome::{AppReport, RunReport};
use sim_core::program::{AppSpec, Arrivals, Device, Event, Objects, Op, Source, Spread};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{MS, Trial, app, compute, seconds};

const MODES: [WaitMode; 4] = [
    WaitMode::Spin,
    WaitMode::Yield,
    WaitMode::Block,
    WaitMode::SpinThenBlock { limit: Span::from_us(300), yielding: false },
];

const FIRST: EventId = EventId(0);
const SECOND: EventId = EventId(1);

fn event(initial: u32, stamped: bool) -> Event {
    Event { name: "event".into(), initial, stamped }
}

const fn take(event: EventId, count: u32) -> Op {
    Op::Take { event, count }
}

const fn post(event: EventId, count: u32) -> Op {
    Op::Post { event, count, kept: true }
}

/// Without any overhead, under a kernel with EEVDF.
fn trial(cpus: &'static str, objects: Objects) -> Trial {
    Trial::on(cpus).free().under("linux-6.18", &[]).sharing(objects)
}

/// The same operations this often.
fn repeated(count: u32, ops: impl IntoIterator<Item = Op>) -> Vec<Op> {
    std::iter::once(Op::Repeat(count)).chain(ops).chain([Op::End]).collect()
}

fn background(app: AppSpec) -> AppSpec {
    AppSpec { background: true, ..app }
}

/// Requests of this many, each answered by one of the tasks that do `work`; `arrivals` of them.
fn served(tasks: u32, most: u64, arrivals: Arrivals, work: Op) -> Trial {
    let source = Source { name: "web".into(), event: FIRST, places: None, start: Time::ZERO, most, arrivals };
    let devices = vec![Device { name: "disk".into(), servers: 1 }];
    let events = vec![event(0, true), event(0, false)];
    let objects = Objects { events, devices, sources: vec![source], ..Objects::default() };
    let ops = repeated(0, [take(FIRST, 1), work, Op::Done, post(SECOND, 1)]);
    let workers = AppSpec { requests: true, ..background(app(tasks, ops, WaitMode::Block)) };
    // Somebody waits until the last one is answered.
    let last = app(1, vec![take(SECOND, most as u32)], WaitMode::Block);
    trial("core:2", objects).app(last).app(workers)
}

fn mean(report: &AppReport, waits: bool) -> f64 {
    let times = if waits { report.waits.as_ref() } else { report.responses.as_ref() };
    times.unwrap().quantiles().unwrap().mean.ns() as f64 / MS as f64
}

#[test]
fn tokens_of_a_semaphore_are_conserved() {
    for wait in MODES {
        let inside = [take(FIRST, 1), compute(Span::from_ms(1)), post(FIRST, 1)];
        let users = app(6, repeated(50, inside), wait);
        let after = |units: u32| {
            let ops = vec![take(FIRST, units), post(FIRST, units)];
            AppSpec { after: Some(sim_core::ids::AppId(0)), ..app(1, ops, WaitMode::Block) }
        };
        let objects = || Objects { events: vec![event(3, false)], ..Objects::default() };
        let trial = trial("core:8", objects()).app(users).app(after(3));
        let report = trial.run();
        // Three at a time, and no unit idle.
        let time = seconds(&report, 0);
        assert!((time - 0.100).abs() < 0.001, "{wait:?}: {time}");
        // All three are there in the end, and no fourth one.
        let nap = Op::Sleep { span: Span::from_ms(10), spread: Spread::NONE };
        let clock = background(app(1, repeated(0, [nap]), WaitMode::Block));
        let report = trial.app(after(4)).app(clock).until(200).run();
        let ended = |app: usize| report.apps[app].end.is_some();
        assert!(ended(1) && !ended(2), "{wait:?}: {report:?}");
    }
}

#[test]
fn a_queue_never_holds_more_than_its_places() {
    for (places, wait) in (1..=4).flat_map(|places| MODES.map(|wait| (places, wait))) {
        let objects = Objects { events: vec![event(0, false), event(places, false)], ..Objects::default() };
        let put = [take(SECOND, 1), post(FIRST, 1), compute(Span::from_us(1))];
        let get = [take(FIRST, 1), post(SECOND, 1), compute(Span::from_ms(1))];
        let report = trial("core:2", objects)
            .app(app(1, repeated(20, put), wait))
            .app(app(1, repeated(20, get), wait))
            .run();
        // Item n is taken after n - 1 ms; the last one is put when the item is taken that stands so many
        // places before it.
        let (full, all) = (f64::from(19 - places) / 1e3, seconds(&report, 1));
        let time = seconds(&report, 0);
        assert!((time - full).abs() < 0.000_1, "{places} places, {wait:?}: {time}");
        assert!((all - 0.020).abs() < 0.000_1, "{all}");
    }
}

#[test]
fn a_device_is_used_as_much_as_it_is_asked_for() {
    let io = Op::Io { device: DeviceId(0), span: Span::from_ms(1), spread: Spread::NONE };
    let share = |report: &RunReport| report.devices[0].busy_ns as f64 / report.makespan.ns() as f64;
    let steady = served(20, 1_000, Arrivals::Every(Span::from_ms(2)), io).run();
    assert!((share(&steady) - 0.5).abs() < 0.001, "{:?}", steady.devices);
    assert_eq!((steady.devices[0].served, steady.devices[0].waited_ns), (1_000, 0));
    assert_eq!(steady.devices[0].busy_ns, 1_000 * MS);
    // At random: as often, and each waits for load / (1 - load) x half a service (Pollaczek and Khinchine).
    let random = served(40, 40_000, Arrivals::Random(Span::from_ms(2)), io).run();
    assert!((share(&random) - 0.5).abs() < 0.01, "{:?}", random.devices);
    let wait = random.devices[0].waited_ns as f64 / 40_000.0 / MS as f64;
    assert!((wait - 0.5).abs() < 0.025, "{wait}");
}

#[test]
fn a_worker_is_a_queue_of_its_own() {
    let work = compute(Span::from_ms(1));
    let report = served(1, 40_000, Arrivals::Random(Span::from_ms(2)), work).run();
    let (waits, responses) = (mean(&report.apps[1], true), mean(&report.apps[1], false));
    assert_eq!((report.sources[0].came, report.sources[0].lost), (40_000, 0));
    assert_eq!(report.apps[1].counters.responses, 40_000);
    assert!((waits - 0.5).abs() < 0.025, "{waits}");
    // With the work itself, and nothing else.
    assert!((responses - waits - 1.0).abs() < 1e-5, "{waits} {responses}");
}

#[test]
fn a_response_is_never_shorter_than_the_wait_before_it() {
    for wait in MODES {
        let mut trial = served(3, 500, Arrivals::Random(Span::from_ms(2)), compute(Span::from_ms(2)));
        trial.apps[1].runtime.wait = wait;
        let report = trial.app(background(app(3, repeated(0, [compute(Span::from_ms(7))]), wait))).run();
        let quantiles = |waits: bool| {
            let app = &report.apps[1];
            let times = if waits { app.waits.as_ref() } else { app.responses.as_ref() };
            times.unwrap().quantiles().unwrap()
        };
        let (waits, responses) = (quantiles(true), quantiles(false));
        assert!(waits.count >= 500 && responses.count >= 500);
        // On a machine that others use too the work takes longer than it is.
        let longer = responses.mean - waits.mean;
        assert!(longer >= Span::from_ms(2), "{wait:?}: {waits:?} {responses:?}");
        assert!(responses.median >= waits.median && responses.max >= waits.max);
    }
}

#[test]
fn a_periodic_task_on_an_idle_machine_responds_after_its_work() {
    let until = |period: u64, skips: bool| Op::Until {
        clock: 0,
        first: Span::from_ms(1),
        period: Span::from_ms(period),
        skips,
    };
    let run = |period: u64, skips: bool| {
        let ops = repeated(100, [until(period, skips), compute(Span::from_ms(3))]);
        let periodic = AppSpec { requests: true, ..app(1, ops, WaitMode::Block) };
        let late = AppSpec { deadline: Some(Span::from_ms(5)), ..periodic };
        trial("core:1", Objects::default()).app(late).run()
    };
    let report = run(10, false);
    let responses = report.apps[0].responses.as_ref().unwrap().quantiles().unwrap();
    assert_eq!((responses.count, responses.mean, responses.max), (100, Span::from_ms(3), Span::from_ms(3)));
    assert_eq!(report.makespan, Time::from_ns((1 + 99 * 10 + 3) * MS));
    assert_eq!((report.apps[0].counters.late_responses, report.apps[0].first_late), (0, None));
    // Work of 3 ms every 2 ms: each response is 1 ms later than the one before, from the third one too late.
    let report = run(2, false);
    let responses = report.apps[0].responses.as_ref().unwrap().quantiles().unwrap();
    assert_eq!((responses.max, report.makespan), (Span::from_ms(102), Time::from_ns(301 * MS)));
    assert_eq!(report.apps[0].first_late, Some(Time::from_ns(13 * MS)));
    assert_eq!(report.apps[0].counters.late_responses, 97);
    // Every second instant is left out instead.
    let report = run(2, true);
    assert_eq!(report.apps[0].counters.skipped, 99);
    let responses = report.apps[0].responses.as_ref().unwrap().quantiles().unwrap();
    assert_eq!((responses.mean, responses.max), (Span::from_ms(3), Span::from_ms(3)));
}
