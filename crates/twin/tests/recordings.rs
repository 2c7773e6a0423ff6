//! Recordings of real programs, made by `oversim twin record` on a virtual machine of 2 cpus with Linux 6.18 in
//! November 2026: their twins repeat them, and predict recordings under a change. Other programs of the host
//! have the name `other`.
//!
//! - `team`: 4 OpenMP threads (libgomp, passive), 30 loops and what is serial between them
//! - `polling`: the same with 2 threads that poll (active), with marks
//! - `server`: three clients and the servers behind their sockets
//! - `pipe`: `perf bench sched pipe -l 1000`

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use scenario::Overrides;
use twin::check::{Compared, Followed};
use twin::course::Chosen;
use twin::facts::Facts;
use twin::make::{Form, Options, Recording};
use twin::read::Input;
use twin::threads::Id;
use twin::write::Costs;

struct Read {
    followed: Followed,
    facts: Facts,
    name: String,
}

fn read(name: &str) -> Read {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(format!("{name}.gz"));
    let facts = Facts::read(&mut File::open(&path).unwrap());
    let mut from = File::open(&path).unwrap();
    let input = Input { name, from: &mut from, after: None, before: None };
    let followed = twin::check::follow(name, |sink| twin::read::read(input, &mut |_| {}, sink)).unwrap();
    Read { followed, facts, name: name.to_owned() }
}

impl Read {
    fn recording(&self) -> Recording<'_> {
        let Followed { follower, courses, form, .. } = &self.followed;
        Recording { name: &self.name, form, follower, courses }
    }

    fn chosen(&self) -> Chosen {
        Chosen::Named(vec![self.facts.pid().unwrap().to_owned()])
    }

    fn twin(&self) -> String {
        let options = Options {
            name: "twin".into(),
            machine: None,
            kernel: Some("linux-6.18".into()),
            chosen: self.chosen(),
            runtime: None,
            form: Form::Any,
            quota: None,
            facts: self.facts.clone(),
        };
        let machine = twin::make::default_machine(&self.recording());
        let stub = format!(
            "name: x\nmachine: {machine}\napps: {{ a: {{ workload: {{ hog: {{ work: 1s }} }} }} }}\n\
                policies: [LOAD]\n"
        );
        let machine = scenario::load("machine", &stub, &Overrides::default()).unwrap();
        let costs = Costs::of(&machine.runs[0].machine.costs);
        twin::make::make(&self.recording(), &options, costs).unwrap().text
    }

    /// The twin of another recording, with changes, beside this one.
    fn beside(&self, twin: &str, changes: &[&str]) -> Compared {
        let set = changes.iter().map(|change| (*change).to_owned()).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let experiment = scenario::load("twin", twin, &overrides).unwrap_or_else(|said| panic!("{said}"));
        let plan = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
        let (run, names) = twin::check::simulate(plan).unwrap();
        let program = twin::make::program(&self.recording(), &self.chosen()).unwrap();
        let kinds: BTreeMap<Id, String> = twin::make::names(&self.recording(), &program);
        let app = twin::make::app(&self.recording(), &program);
        twin::check::compare(&self.followed, &program.threads, &kinds, (&run, &names), &app)
    }
}

/// The error of the time and of the cpu time, each in per cent.
fn errors(compared: &Compared) -> (f64, f64) {
    (100.0 * compared.error().unwrap(), 100.0 * compared.cpu_error().unwrap())
}

#[test]
fn twins_repeat_what_was_recorded() {
    for (name, time, cpu) in [("team.base", 5.0, 2.0), ("polling.base", 3.0, 2.0), ("server.base", 8.0, 2.0)]
    {
        let recorded = read(name);
        let twin = recorded.twin();
        let (of_time, of_cpu) = errors(&recorded.beside(&twin, &[]));
        assert!(of_time.abs() <= time && of_cpu.abs() <= cpu, "{name}: {of_time:+.1} % and {of_cpu:+.1} %");
    }
    // Wake-ups are all that it does.
    let recorded = read("pipe.base");
    let (of_time, of_cpu) = errors(&recorded.beside(&recorded.twin(), &[]));
    assert!(of_time.abs() <= 5.0 && of_cpu.abs() <= 10.0, "pipe: {of_time:+.1} % and {of_cpu:+.1} %");
}

#[test]
fn twins_predict_recordings_of_a_change() {
    for (base, change, set, most) in [
        ("team.base", "team.one-cpu", "apps.ompfj.cpus=0", 3.0),
        ("team.base", "team.threads-2", "apps.ompfj.tasks=2", 12.0),
        ("polling.base", "polling.one-cpu", "apps.ompfj.cpus=0", 3.0),
    ] {
        let twin = read(base).twin();
        let (time, _) = errors(&read(change).beside(&twin, &[set]));
        assert!(time.abs() <= most, "{change}: {time:+.1} %");
    }
}

#[test]
fn the_head_of_a_recording_says_how_threads_wait() {
    let twin = read("team.base").twin();
    assert!(twin.contains("libgomp: { spin_count: 0 }"), "OMP_WAIT_POLICY=passive\n{twin}");
    assert!(read("team.one-cpu").twin().contains("cpus: 'linux:0'"), "the mask of the program");
    assert!(read("polling.base").twin().contains("spin_count: 30000000000"), "OMP_WAIT_POLICY=active");
}
