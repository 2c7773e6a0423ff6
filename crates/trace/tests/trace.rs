//! Traces, decoded again: the slices are those that were observed, none is missing, none overlaps, and the
//! importer's rules hold.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use sim_core::engine::Simulation;
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::outcome::Options;
use sim_core::policy::Policy;
use sim_core::time::{Span, Time};
use testkit::policies::{Fixed, Restless};
use testkit::scenarios::{Small, random};
use trace::messages::{Trace, TracePacket, event, state};
use trace::slices::{Mark, Occupant, Owners, Sink, Slice, Slices};
use trace::{About, Form, Tracer, write};

/// Random scenarios per test.
fn swarm() -> u64 {
    std::env::var("OVERSIM_SWARM").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// Who ran from when to when on a cpu: `a.3`, or what stands for several.
type Ran = (u64, u64, String);

/// What was observed, for comparison.
struct Seen {
    owners: Owners,
    names: Vec<String>,
    cpus: BTreeMap<u32, Vec<Ran>>,
    migrations: usize,
    barriers: usize,
}

impl Sink for Seen {
    fn slice(&mut self, slice: &Slice) {
        let app = |app: sim_core::ids::AppId| &self.names[app.0 as usize];
        let name = match slice.who {
            Occupant::Idle => return,
            Occupant::Works(task) | Occupant::Waits(task) => {
                format!("{}.{}", app(self.owners.app(task)), self.owners.rank(task))
            }
            Occupant::WaitInTurns(of) => format!("{} polling/{}", app(of), slice.cpu.0),
            Occupant::WaitMixed => format!("polling/{}", slice.cpu.0),
            Occupant::System => format!("kernel/{}", slice.cpu.0),
        };
        let here = self.cpus.entry(slice.cpu.0).or_default();
        match here.last_mut() {
            Some((_, to, who)) if *who == name && *to == slice.from.ns() => *to = slice.to.ns(),
            _ => here.push((slice.from.ns(), slice.to.ns(), name)),
        }
    }

    fn mark(&mut self, _: Time, mark: &Mark) {
        match mark {
            Mark::Migrated { .. } => self.migrations += 1,
            Mark::BarrierCompleted { .. } => self.barriers += 1,
            _ => {}
        }
    }
}

fn policy(seed: u64) -> Box<dyn Policy> {
    if seed.is_multiple_of(3) {
        Box::new(Fixed)
    } else {
        Box::new(Restless::new(seed, Span::from_us(1 + seed % 300)))
    }
}

fn about() -> About {
    About { facts: vec![("seed".into(), "7".into()), ("about".into(), "two\nlines".into())] }
}

fn traced(small: &Small, seed: u64, form: Form) -> (Seen, Vec<u8>) {
    let owners = Owners::new(small.apps.iter().map(|app| app.tasks));
    let seen = Seen {
        owners: owners.clone(),
        names: small.apps.iter().map(|app| app.name.clone()).collect(),
        cpus: BTreeMap::new(),
        migrations: 0,
        barriers: 0,
    };
    let mut slices = Slices::new(small.machine.cpus(), owners, seen);
    let mut tracer = Tracer::new(&small.machine, &small.apps);
    let options = Options { ..small.options };
    let simulation = Simulation::new(small.machine.clone(), small.model.clone(), small.apps.clone(), options);
    simulation.expect("legal").run(policy(seed).as_mut(), &mut (&mut slices, &mut tracer));
    let mut out = Vec::new();
    write(tracer, &about(), form, &mut out).expect("memory does not fail");
    (slices.finish(), out)
}

/// Names of threads by number.
fn threads(trace: &Trace) -> BTreeMap<i64, String> {
    let tree =
        trace.packet.iter().find_map(|packet| packet.generic_kernel_process_tree.as_ref()).expect("a tree");
    let pids: BTreeSet<i64> = tree.processes.iter().map(trace::messages::Process::pid).collect();
    let names = tree.threads.iter().map(|thread| {
        assert!(thread.tid() > 0 && pids.contains(&thread.pid()), "{thread:?}");
        (thread.tid(), thread.comm().to_owned())
    });
    let names: BTreeMap<i64, String> = names.collect();
    assert_eq!(names.len(), tree.threads.len(), "every number is one thread's");
    names
}

/// The scheduling slices as the importer makes them; every rule of it is checked on the way.
fn imported(trace: &Trace) -> BTreeMap<u32, Vec<Ran>> {
    let names = threads(trace);
    let mut last: BTreeMap<i64, i32> = BTreeMap::new();
    let mut open: BTreeMap<u32, (i64, u64)> = BTreeMap::new();
    let mut slices: BTreeMap<u32, Vec<Ran>> = BTreeMap::new();
    let mut tree_came = false;
    let mut now = 0;
    for packet in &trace.packet {
        tree_came |= packet.generic_kernel_process_tree.is_some();
        let Some(what) = &packet.generic_kernel_task_state_event else { continue };
        assert!(tree_came, "the tree comes first");
        let at = packet.timestamp();
        assert!(at >= now, "in order of time");
        now = at;
        let (cpu, tid) = (u32::try_from(what.cpu()).unwrap(), what.tid());
        assert!(names.contains_key(&tid), "{tid} is in the tree");
        let before = last.insert(tid, what.state());
        assert_ne!(before, Some(what.state()), "{tid} at {at}: the same again");
        assert_ne!(before, Some(state::DEAD), "{tid} at {at}: after its end");
        if what.state() == state::RUNNING {
            assert_eq!(before, Some(state::RUNNABLE), "{tid} at {at}");
            assert!(
                open.insert(cpu, (tid, at)).is_none(),
                "cpu {cpu} at {at}: whoever was there has not left"
            );
            continue;
        }
        assert!([state::RUNNABLE, state::SLEEPS, state::DEAD].contains(&what.state()));
        if before.is_none() {
            assert_eq!(what.state(), state::RUNNABLE, "{tid} begins runnable");
        }
        if before == Some(state::RUNNING) {
            let (there, from) = open.remove(&cpu).expect("it leaves the cpu it had");
            assert_eq!(there, tid, "cpu {cpu} at {at}");
            slices.entry(cpu).or_default().push((from, at, names[&tid].clone()));
        }
    }
    assert!(open.is_empty(), "everybody leaves in the end: {open:?}");
    slices
}

fn decode(bytes: &[u8]) -> Trace {
    Trace::decode(bytes).expect("it is what it says")
}

#[test]
fn a_perfetto_trace_holds_the_slices_that_were_observed() {
    for seed in 0..swarm() {
        let (seen, bytes) = traced(&random(seed), seed, Form::Perfetto);
        let trace = decode(&bytes);
        let found = imported(&trace);
        let (wanted, found) = (merged(&in_one_place(&seen.cpus)), merged(&found));
        assert_eq!(found, wanted, "seed {seed}");
        for (cpu, slices) in &found {
            for pair in slices.windows(2) {
                assert!(pair[0].0 < pair[0].1 && pair[0].1 <= pair[1].0, "seed {seed} cpu {cpu}: {pair:?}");
            }
        }
    }
}

/// The cpu-time breakdown of a cpu on which tasks poll may lag behind by one poll, and that time goes to
/// whoever polls there then. Somebody who came from another cpu in the meantime would be in two places:
/// there he begins where he left the other one.
fn in_one_place(cpus: &BTreeMap<u32, Vec<Ran>>) -> BTreeMap<u32, Vec<Ran>> {
    let mut by_name: BTreeMap<&str, Vec<(u64, u64, u32)>> = BTreeMap::new();
    for (cpu, ran) in cpus {
        for (from, to, name) in ran {
            by_name.entry(name).or_default().push((*from, *to, *cpu));
        }
    }
    let mut all: BTreeMap<u32, Vec<Ran>> = BTreeMap::new();
    let mut clipped = 0;
    for (name, mut ran) in by_name {
        ran.sort_unstable();
        let mut end = 0u64;
        for (from, to, cpu) in ran {
            clipped += end.saturating_sub(from);
            assert!(to > end, "{name} is in two places");
            all.entry(cpu).or_default().push((from.max(end), to, name.to_owned()));
            end = to;
        }
    }
    assert!(clipped < 2_000, "{clipped} ns are more than a few polls");
    all.values_mut().for_each(|ran| ran.sort_unstable());
    all
}

/// A task that is replaced by another one of its name at once has two slices in the trace and one in what was
/// observed.
fn merged(cpus: &BTreeMap<u32, Vec<Ran>>) -> BTreeMap<u32, Vec<Ran>> {
    let mut all = cpus.clone();
    for slices in all.values_mut() {
        slices.dedup_by(|next, one| {
            let same = one.2 == next.2 && one.1 == next.0;
            if same {
                one.1 = next.1;
            }
            same
        });
    }
    all
}

fn instants(trace: &Trace, on: &str) -> usize {
    let track = trace.packet.iter().filter_map(|packet| packet.track_descriptor.as_ref());
    let track = track.clone().find(|track| track.name() == on).expect("the track").uuid();
    let events = trace.packet.iter().filter_map(|packet| packet.track_event.as_ref());
    events.filter(|what| what.track_uuid() == track && what.r#type() == event::INSTANT).count()
}

#[test]
fn marks_counters_and_waits_are_there_and_fit() {
    let mut moved = 0;
    for seed in 0..swarm().min(60) {
        let (seen, bytes) = traced(&random(seed), seed, Form::Perfetto);
        let trace = decode(&bytes);
        assert_eq!(instants(&trace, "Migrations"), seen.migrations, "seed {seed}");
        assert_eq!(instants(&trace, "Barriers"), seen.barriers, "seed {seed}");
        moved += seen.migrations;
        let known: BTreeMap<u64, bool> = tracks(&trace);
        let mut depth: BTreeMap<u64, i32> = BTreeMap::new();
        let mut values: BTreeMap<u64, i64> = BTreeMap::new();
        for what in trace.packet.iter().filter_map(|packet| packet.track_event.as_ref()) {
            let counts = known[&what.track_uuid()];
            assert_eq!(counts, what.r#type() == event::COUNTER, "seed {seed}: {what:?}");
            match what.r#type() {
                event::COUNTER => {
                    assert!(what.counter_value() >= 0);
                    values.insert(what.track_uuid(), what.counter_value());
                }
                event::BEGIN => *depth.entry(what.track_uuid()).or_default() += 1,
                event::END => *depth.entry(what.track_uuid()).or_default() -= 1,
                _ => {}
            }
            let here = depth.get(&what.track_uuid()).copied().unwrap_or(0);
            assert!((0..=1).contains(&here), "seed {seed}: waits at one barrier at a time");
        }
        assert!(trace.packet[0].sequence_flags == Some(1) && trace.packet[0].trace_attributes.is_some());
        assert!(trace.packet.iter().all(|packet| packet.trusted_packet_sequence_id == Some(1)));
    }
    assert!(moved > 0, "the scenarios move somebody");
}

/// Every track and whether it counts.
fn tracks(trace: &Trace) -> BTreeMap<u64, bool> {
    let tracks = trace.packet.iter().filter_map(|packet: &TracePacket| packet.track_descriptor.as_ref());
    tracks.map(|track| (track.uuid(), track.counter.is_some())).collect()
}

/// The value behind `key=` in a line.
fn field<'a>(line: &'a str, key: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!("{key}=")).unwrap_or_else(|| panic!("{key} in {line}"));
    rest.split_whitespace().next().unwrap()
}

#[test]
fn ftrace_text_holds_the_slices_that_were_observed() {
    for seed in 0..swarm().min(60) {
        let (seen, bytes) = traced(&random(seed), seed, Form::Ftrace);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("# tracer: nop\n"), "{text}");
        let mut open: BTreeMap<u32, (u64, String)> = BTreeMap::new();
        let mut found: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        let (mut now, mut moves) = (0, 0);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (head, what) = line.split_once(": ").unwrap();
            let (s, ns) = head.split_whitespace().last().unwrap().split_once('.').unwrap();
            let at = s.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap();
            assert!(at >= now, "{line}");
            now = at;
            moves += usize::from(what.starts_with("sched_migrate_task"));
            if !what.starts_with("sched_switch") {
                continue;
            }
            let cpu: u32 = head.split(['[', ']']).nth(1).unwrap().parse().unwrap();
            let (prev, next) = (field(what, "prev_pid"), field(what, "next_pid"));
            assert!(field(what, "prev_comm").len() <= 15 && field(what, "next_comm").len() <= 15, "{line}");
            match open.remove(&cpu) {
                Some((from, who)) => {
                    assert_eq!(who, prev, "{line}");
                    found.entry(cpu).or_default().push((from, at));
                }
                None => assert_eq!(prev, "0", "{line}"),
            }
            if next != "0" {
                open.insert(cpu, (at, next.to_owned()));
            }
        }
        assert!(open.is_empty(), "seed {seed}: {open:?}");
        assert_eq!(moves, seen.migrations, "seed {seed}");
        let spans = |cpus: BTreeMap<u32, Vec<Ran>>| -> BTreeMap<u32, u64> {
            cpus.into_iter()
                .map(|(cpu, ran)| (cpu, ran.iter().map(|(from, to, _)| to - from).sum()))
                .collect()
        };
        let found: BTreeMap<u32, u64> =
            found.into_iter().map(|(cpu, ran)| (cpu, ran.iter().map(|(from, to)| to - from).sum())).collect();
        assert_eq!(found, spans(in_one_place(&seen.cpus)), "seed {seed}");
    }
}

/// What a run says of its tasks: when each of them went to sleep or ended, with the letter of `prev_state`.
/// A sleep that ends at the instant at which it began is none.
#[derive(Default)]
struct Stops(Vec<(u64, u32, char)>);

impl Observer for Stops {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Stopping { task, reason: LeaveReason::Slept, .. } => {
                self.0.push((at.ns(), task.0, 'S'));
            }
            Observation::Stopping { task, reason: LeaveReason::Exited, .. } => {
                self.0.push((at.ns(), task.0, 'X'));
            }
            Observation::Runnable { task, .. } => self.0.retain(|stop| *stop != (at.ns(), task.0, 'S')),
            _ => {}
        }
    }
}

#[test]
fn every_thread_of_an_ftrace_sleeps_and_ends_when_its_task_does() {
    let (mut slept, mut ended) = (0, 0);
    for seed in 0..swarm().min(100) {
        let small = random(seed);
        let (_, bytes) = traced(&small, seed, Form::Ftrace);
        let tasks: u32 = small.apps.iter().map(|app| app.tasks).sum();
        let (model, apps) = (small.model.clone(), small.apps.clone());
        let simulation = Simulation::new(small.machine.clone(), model, apps, Options { ..small.options });
        let mut stops = Stops::default();
        simulation.expect("legal").run(policy(seed).as_mut(), &mut stops);
        let found = stopped(&String::from_utf8(bytes).unwrap(), tasks);
        let mut wanted = stops.0;
        wanted.sort_unstable();
        assert_eq!(found, wanted, "seed {seed}");
        slept += wanted.iter().filter(|(.., state)| *state == 'S').count();
        ended += wanted.iter().filter(|(.., state)| *state == 'X').count();
    }
    assert!(slept > 100 && ended > 100, "{slept} {ended}");
}

/// When threads of tasks leave a cpu to sleep or for good, by the number of the task; on the way, that no
/// thread runs before it was woken, or after its end, and that every cpu goes from one thread to the next.
fn stopped(text: &str, tasks: u32) -> Vec<(u64, u32, char)> {
    let mut runs: BTreeMap<u32, u64> = BTreeMap::new();
    let mut state: BTreeMap<u64, char> = BTreeMap::new();
    let mut stops = Vec::new();
    // The stand-ins come behind all tasks and those that replaced them.
    let is_task = |line: &str, key: &str| !field(line, key).contains(['/', '?']);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (head, what) = line.split_once(": ").unwrap();
        let (s, ns) = head.split_whitespace().last().unwrap().split_once('.').unwrap();
        let at = s.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap();
        let cpu: u32 = head.split(['[', ']']).nth(1).unwrap().parse().unwrap();
        if what.starts_with("sched_wakeup") && is_task(what, "comm") {
            let pid: u64 = field(what, "pid").parse().unwrap();
            let before = state.insert(pid, 'R');
            assert!(matches!(before, None | Some('S')), "it was {before:?}: {line}");
        }
        if !what.starts_with("sched_switch") {
            continue;
        }
        let (prev, next): (u64, u64) =
            (field(what, "prev_pid").parse().unwrap(), field(what, "next_pid").parse().unwrap());
        assert_eq!(runs.insert(cpu, next).unwrap_or(0), prev, "{line}");
        let left = field(what, "prev_state").chars().next().unwrap();
        if prev != 0 && is_task(what, "prev_comm") {
            assert_eq!(state.insert(prev, left), Some('+'), "it ran: {line}");
            if left != 'R' {
                stops.push((at, ((prev - 1) % u64::from(tasks)) as u32, left));
            }
        }
        if next != 0 && is_task(what, "next_comm") {
            assert_eq!(state.insert(next, '+'), Some('R'), "it was runnable: {line}");
        }
    }
    stops.sort_unstable();
    stops
}

#[test]
fn polling_is_told_the_same_when_every_poll_is_simulated() {
    for seed in 0..swarm().min(40) {
        let mut small = random(seed);
        let (_, closed) = traced(&small, seed, Form::Perfetto);
        small.options.stepwise = true;
        assert!(traced(&small, seed, Form::Perfetto).1 == closed, "seed {seed}");
    }
}
