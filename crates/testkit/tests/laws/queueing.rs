//! Queues whose means and tails theory knows: twenty of them, each from independent runs.
//!
//! Formulas: Kleinrock, Queueing Systems 1 (1975); Erlang C; Pollaczek and Khinchine; mean value analysis
//! (Reiser and Lavenberg, JACM 27(2), 1980).

use std::sync::Arc;

use notation::parameter::Values;
use policies::Choice;
use sim_core::engine::Simulation;
use sim_core::ids::{EventId, ProfileId};
use sim_core::machine::Costs;
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::program::{
    AppSpec, Arrivals, Event, Forks, MemoryProfile, Objects, Op, Program, Quantiles, Runtime, Source, Spread,
    StartUp,
};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

/// Independent runs of each queue.
const RUNS: u64 = 20;
/// Student's t of 19 degrees of freedom for an interval of 95 %.
const T: f64 = 2.093;
/// Requests of a run.
const REQUESTS: u32 = 20_000;
/// The mean time of service.
const SERVICE: Span = Span::from_ms(1);

const QUEUE: EventId = EventId(0);
const PLACES: EventId = EventId(1);

fn app(name: &str, tasks: u32, ops: Vec<Op>, tables: Vec<Quantiles>) -> AppSpec {
    let program = Program::with(ops, vec![MemoryProfile::NONE], tables, Vec::new()).unwrap();
    let runtime = Runtime {
        name: "block".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Block,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp { forks: Forks::Together, ..StartUp::PLAIN },
    };
    AppSpec { requests: true, ..AppSpec::new(name, tasks, Arc::new(program), runtime) }
}

fn run(cpus: u32, slice: Span, apps: &[AppSpec], objects: &Objects, seed: u64) -> RunReport {
    let mut machine = machines::resolve(&format!("core:{cpus}")).unwrap().machine();
    machine.costs = Costs::free();
    let kernel = kernels::KERNELS.resolve("linux-6.18").unwrap();
    let model = kernels::build(kernel, &Values::defaults(kernel.parameters), cpus);
    let mut choice = Choice::new(policies::find("FIFO").unwrap());
    choice.values.set("slice", slice.ns()).unwrap();
    let mut policy = choice.build(&machine, &model, apps);
    let options = Options { seed, ..Options::default() };
    let (machine, model) = (Arc::new(machine), Arc::new(model));
    let simulation =
        Simulation::with_objects(machine, model, apps.to_vec(), objects.clone(), options).unwrap();
    let report = simulation.run(&mut *policy, &mut ());
    assert_eq!(report.outcome, Outcome::Completed);
    report
}

/// A queue before workers, one of them for each cpu unless they share one.
struct Queue {
    cpus: u32,
    workers: u32,
    arrivals: Arrivals,
    service: Spread,
    tables: Vec<Quantiles>,
    places: Option<u32>,
    slice: Span,
    /// How often the mean time of service a request takes.
    slow: u64,
}

/// A million seconds, within which no slice ends.
const NEVER: Span = Span::from_ms(1_000_000);

impl Queue {
    fn of(servers: u32, arrivals: Arrivals) -> Self {
        Self {
            cpus: servers,
            workers: servers,
            arrivals,
            service: Spread::EXPONENTIAL,
            tables: Vec::new(),
            places: None,
            slice: NEVER,
            slow: 1,
        }
    }

    /// At random, so that the servers are busy for this part of the time.
    fn random(servers: u32, busy: f64) -> Self {
        let mean = SERVICE.ns() as f64 / busy / f64::from(servers);
        Self::of(servers, Arrivals::Random(Span::from_ns(mean as u64)))
    }

    fn served(self, service: Spread, tables: Vec<Quantiles>) -> Self {
        Self { service, tables, ..self }
    }

    fn runs<T>(&self, value: impl Fn(&RunReport) -> T) -> Vec<T> {
        let event = |name: &str, initial, stamped| Event { name: name.into(), initial, stamped };
        let mut events = vec![event("queue", 0, true)];
        let work = Work::from_span(SERVICE * self.slow);
        let serve = Op::Compute { work, spread: self.service, profile: ProfileId(0) };
        let mut body = vec![Op::Take { event: QUEUE, count: 1 }];
        // A request that is served gives its place back when it has been served: places are those of the
        // system.
        body.push(serve);
        if let Some(places) = self.places {
            events.push(event("places", places, false));
            body.push(Op::Post { event: PLACES, count: 1, kept: true });
        }
        let loops = if self.places.is_some() { Op::Repeat(0) } else { Op::RepeatShared(REQUESTS) };
        let ops = [vec![loops], body, vec![Op::End]].concat();
        let mut apps = vec![app("workers", self.workers, ops, self.tables.clone())];
        if self.places.is_some() {
            // Some requests are lost: the run ends by time.
            apps[0].background = true;
            let nap = Op::Sleep { span: SERVICE * u64::from(REQUESTS), spread: Spread::NONE };
            apps.push(AppSpec { requests: false, ..app("clock", 1, vec![nap], Vec::new()) });
        }
        let source = Source {
            name: "requests".into(),
            event: QUEUE,
            places: self.places.map(|_| PLACES),
            start: Time::ZERO,
            most: u64::MAX,
            arrivals: self.arrivals.clone(),
        };
        let objects = Objects { events, sources: vec![source], ..Objects::default() };
        (1..=RUNS).map(|seed| value(&run(self.cpus, self.slice, &apps, &objects, seed))).collect()
    }

    /// Mean and 99th percentile of the times before service.
    fn waits(&self) -> [Vec<f64>; 2] {
        let of = |report: &RunReport| report.apps[0].waits.as_ref().unwrap().quantiles().unwrap();
        let (mean, p99) = self.runs(|report| (ms(of(report).mean), ms(of(report).p99))).into_iter().unzip();
        [mean, p99]
    }

    fn responses(&self) -> [Vec<f64>; 2] {
        let of = |report: &RunReport| report.apps[0].responses.as_ref().unwrap().quantiles().unwrap();
        let (mean, p99) = self.runs(|report| (ms(of(report).mean), ms(of(report).p99))).into_iter().unzip();
        [mean, p99]
    }
}

fn ms(span: Span) -> f64 {
    span.ns() as f64 / 1e6
}

/// Whether the interval of 95 % of these runs holds the value of theory. `width`: what the measure itself may
/// be off, relative.
fn holds(name: &str, runs: &[f64], theory: f64, width: f64, lines: &mut Vec<String>) -> bool {
    let n = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let deviation = (runs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let half = T * deviation / n.sqrt() + width * theory;
    let inside = (mean - theory).abs() <= half;
    lines.push(format!("{name}: {mean:.4} +- {half:.4}, theory {theory:.4}, inside: {inside}"));
    inside
}

/// Erlang's C: the probability that a request waits before `servers` that are busy for this part of the time.
fn erlang_c(servers: u32, busy: f64) -> f64 {
    let offered = busy * f64::from(servers);
    let mut blocked = 1.0;
    for server in 1..=servers {
        blocked = offered * blocked / (f64::from(server) + offered * blocked);
    }
    blocked / (1.0 - busy * (1.0 - blocked))
}

/// The 99th percentile of the wait before one server with fixed times of service (Erlang 1909), in times of
/// service.
fn fixed_p99(busy: f64) -> f64 {
    let below = |t: f64| {
        let terms = 0..=t as u32;
        let term = |k: u32| {
            let x = busy * (f64::from(k) - t);
            let factorial: f64 = (1..=k).map(f64::from).product();
            x.powi(k as i32) / factorial * (-x).exp()
        };
        (1.0 - busy) * terms.map(term).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < 0.99 { low = middle } else { high = middle }
    }
    low
}

/// The mean response of one server for `users` that think so long, in times of service (mean value analysis).
fn repairman(users: u32, think: f64) -> f64 {
    let (mut response, mut waiting) = (0.0, 0.0);
    for user in 1..=users {
        response = 1.0 + waiting;
        waiting = f64::from(user) * response / (think + response);
    }
    response
}

/// A log-normal table with this deviation, relative to the mean.
fn lognormal(deviation: f64) -> (Quantiles, f64) {
    let sigma2 = (1.0 + deviation * deviation).ln();
    // Quantiles of the normal distribution by bisection of its distribution function.
    let normal = |p: f64| {
        let (mut low, mut high) = (-6.0_f64, 6.0_f64);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let below = 0.5 * (1.0 + libm::erf(middle / 2.0_f64.sqrt()));
            if below < p { low = middle } else { high = middle }
        }
        low
    };
    let parts = 1_024;
    let value = |at: u32| {
        let p =
            (f64::from(at) / f64::from(parts)).clamp(0.25 / f64::from(parts), 1.0 - 0.25 / f64::from(parts));
        ((normal(p) * sigma2.sqrt() - sigma2 / 2.0).exp() * 65_536.0) as u32
    };
    let values: Vec<u32> = (0..=parts).map(value).collect();
    // Mean and mean square of what the table draws, which is piecewise uniform.
    let (mut mean, mut square) = (0.0, 0.0);
    for pair in values.windows(2) {
        let (a, b) = (f64::from(pair[0]) / 65_536.0, f64::from(pair[1]) / 65_536.0);
        mean += (a + b) / 2.0 / f64::from(parts);
        square += (a * a + a * b + b * b) / 3.0 / f64::from(parts);
    }
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    (Quantiles::new(values).unwrap(), square / mean / mean)
}

#[test]
#[cfg_attr(miri, ignore = "millions of requests")]
fn nineteen_of_twenty_queues_are_those_of_theory() {
    let mut lines = Vec::new();
    let mut inside = 0;
    let mut check = |name: &str, runs: &[f64], theory: f64, width: f64| {
        inside += u32::from(holds(name, runs, theory, width, &mut lines));
    };
    // Buckets of a histogram are 1/64 wide.
    let bucket = 1.0 / 128.0;
    for busy in [0.5, 0.8] {
        let [mean, p99] = Queue::random(1, busy).waits();
        check(&format!("M/M/1 at {busy}, mean wait"), &mean, busy / (1.0 - busy), 0.0);
        check(&format!("M/M/1 at {busy}, p99"), &p99, (100.0 * busy).ln() / (1.0 - busy), bucket);
    }
    let [mean, p99] = Queue::random(1, 0.7).responses();
    check("M/M/1, mean response", &mean, 1.0 / 0.3, 0.0);
    check("M/M/1, p99 of responses", &p99, 100.0_f64.ln() / 0.3, bucket);
    for (servers, busy) in [(2, 0.7), (4, 0.8)] {
        let free = f64::from(servers) * (1.0 - busy);
        let [mean, p99] = Queue::random(servers, busy).waits();
        let waits = erlang_c(servers, busy);
        check(&format!("M/M/{servers}, mean wait"), &mean, waits / free, 0.0);
        check(&format!("M/M/{servers}, p99"), &p99, (100.0 * waits).ln() / free, bucket);
    }
    // Pollaczek and Khinchine: the second moment of the service decides.
    let khinchine = |busy: f64, square: f64| busy * square / 2.0 / (1.0 - busy);
    let [mean, p99] = Queue::random(1, 0.7).served(Spread::NONE, Vec::new()).waits();
    check("M/D/1, mean wait", &mean, khinchine(0.7, 1.0), 0.0);
    check("M/D/1, p99", &p99, fixed_p99(0.7), bucket);
    let [mean, _] = Queue::random(1, 0.7).served(Spread(Spread::MAX), Vec::new()).waits();
    check("M/U/1, mean wait", &mean, khinchine(0.7, 4.0 / 3.0), 0.0);
    let (table, square) = lognormal(1.5);
    let [mean, _] = Queue::random(1, 0.6).served(Spread::table(0), vec![table]).waits();
    check("M/LogN/1, mean wait", &mean, khinchine(0.6, square), 0.005);
    // Requests at fixed intervals: the root of s = exp(-(1 - s) / busy).
    let root = (0..200).fold(0.5_f64, |s, _| (-(1.0 - s) / 0.8).exp());
    let every = Span::from_ns(SERVICE.ns() * 10 / 8);
    let [mean, _] = Queue::of(1, Arrivals::Every(every)).waits();
    check("D/M/1, mean wait", &mean, root / (1.0 - root), 0.0);
    // Turns much shorter than the service share the processor.
    let slow = 50;
    let arrivals = Arrivals::Random(Span::from_ns(SERVICE.ns() * slow * 10 / 7));
    let shared = Queue { workers: 400, slow, slice: Span::from_ms(1), ..Queue::of(1, arrivals) };
    let [mean, _] = shared.responses();
    check("M/M/1 with processor sharing, mean response", &mean, slow as f64 / 0.3, 0.01);
    // Five places in the system: (1 - r) r^5 / (1 - r^6) are lost.
    let lossy = Queue { places: Some(5), ..Queue::random(1, 0.8) };
    let lost = lossy.runs(|report| report.sources[0].lost as f64 / report.sources[0].came as f64);
    check("M/M/1/5, lost", &lost, 0.2 * 0.8_f64.powi(5) / (1.0 - 0.8_f64.powi(6)), 0.0);
    let (responses, rates) = users();
    check("machine repairman, mean response", &responses, repairman(8, 5.0), 0.0);
    check("machine repairman, requests per ms", &rates, 8.0 / (5.0 + repairman(8, 5.0)), 0.0);
    check("tandem with two places, items per ms", &tandem(2), 4.0 / 5.0, 0.0);
    assert_eq!(lines.len(), 20);
    assert!(inside >= 19, "{}", lines.join("\n"));
}

/// Eight users think for 5 ms and ask one server: mean responses, and requests per ms.
fn users() -> (Vec<f64>, Vec<f64>) {
    let nap = Op::Sleep { span: SERVICE * 5, spread: Spread::EXPONENTIAL };
    let work = Work::from_span(SERVICE);
    let serve = Op::Compute { work, spread: Spread::EXPONENTIAL, profile: ProfileId(0) };
    // All of them go on to the end: with a number of requests each, the last ones would have the server alone.
    let users = app("users", 8, vec![Op::Repeat(0), nap, serve, Op::End], Vec::new());
    let end = Op::Sleep { span: SERVICE * u64::from(REQUESTS), spread: Spread::NONE };
    let clock = AppSpec { requests: false, ..app("clock", 1, vec![end], Vec::new()) };
    let apps = [AppSpec { background: true, ..users }, clock];
    let of = |seed| {
        let report = run(1, NEVER, &apps, &Objects::default(), seed);
        let times = report.apps[0].responses.as_ref().unwrap().quantiles().unwrap();
        (ms(times.mean), times.count as f64 / (report.makespan.ns() as f64 / 1e6))
    };
    (1..=RUNS).map(of).unzip()
}

/// Items per ms through two machines with so many places between them, of which the first one never lacks
/// work: (places + 2) / (places + 3) for equal exponential times.
fn tandem(places: u32) -> Vec<f64> {
    let event = |name: &str, initial| Event { name: name.into(), initial, stamped: false };
    let objects = Objects { events: vec![event("items", 0), event("places", places)], ..Objects::default() };
    let work = Work::from_span(SERVICE);
    let serve = Op::Compute { work, spread: Spread::EXPONENTIAL, profile: ProfileId(0) };
    let take = |event| Op::Take { event, count: 1 };
    let post = |event| Op::Post { event, count: 1, kept: true };
    let loops = Op::Repeat(REQUESTS);
    let first = app("first", 1, vec![loops, serve, take(PLACES), post(QUEUE), Op::End], Vec::new());
    let second = app("second", 1, vec![loops, take(QUEUE), post(PLACES), serve, Op::End], Vec::new());
    let apps = [first, second];
    let of = |seed| f64::from(REQUESTS) / (run(2, NEVER, &apps, &objects, seed).makespan.ns() as f64 / 1e6);
    (1..=RUNS).map(of).collect()
}
