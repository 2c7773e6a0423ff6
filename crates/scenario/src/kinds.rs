//! The applications that the kinds of a program are.

use std::sync::Arc;

use notation::yaml::{Content, Entry, Node};
use sim_core::machine::{CpuSet, Level, Machine};
use sim_core::program::{AppSpec, Forks, Op, Program, StartUp, Touch};
use sim_core::time::{Span, Time};
use workloads::program::{Draft, Kind, Linked, link};
use workloads::runtimes::{self, Counts};

use crate::Reader;
use crate::forms::Runtime;
use crate::key::Value;
use crate::keys::Application;
use crate::nested::Arrival;
use crate::program_keys::KindKeys;
use crate::written::Written;
use crate::{programs, ranks};

/// The runtime of programs that state none: their tasks sleep at once while they wait.
const RUNTIME: &str = "block";

/// The programs of a scenario.
pub(crate) struct Programs {
    /// Checked and compiled.
    pub(crate) linked: Arc<Linked>,
    /// For each application of the file, which program it has.
    pub(crate) of_entries: Vec<Option<usize>>,
}

/// A kind of a program that an application of the plan is.
#[derive(Clone)]
pub(crate) struct KindOf {
    /// Which program of the scenario.
    pub(crate) program: usize,
    /// The kind.
    pub(crate) kind: Kind,
}

/// Reads, checks and compiles the programs of all applications; `None` after an error.
pub(crate) fn all(reader: &mut Reader, entries: &[Entry], machine: Option<&Machine>) -> Option<Programs> {
    let (mut drafts, mut of_entries, mut sound): (Vec<Draft>, _, _) = (Vec::new(), Vec::new(), true);
    for entry in entries {
        let written = Application::of(&entry.value);
        let Some(node) = written.program.node() else {
            of_entries.push(None);
            continue;
        };
        of_entries.push(Some(drafts.len()));
        // What is wrong with these keys is noted where the application is read.
        let copies = entry.value.get("copies").and_then(|copies| match &copies.value.content {
            Content::Scalar(text) => text.parse().ok(),
            _ => None,
        });
        let cpus = (machine.map_or(1, Machine::cpus), allowed(reader, &written, node));
        match programs::draft(reader, &entry.key, node, copies.unwrap_or(1), cpus, written.runtime.node()) {
            Some(draft) => drafts.push(draft),
            None => sound = false,
        }
    }
    if !sound {
        return None;
    }
    let linked = if drafts.is_empty() { Linked::default() } else { link(reader, &drafts)? };
    Some(Programs { linked: Arc::new(linked), of_entries })
}

/// The cpus that the tasks of a program may use; none: all. What is wrong with them is noted elsewhere.
fn allowed(reader: &Reader, written: &Application<'_>, program: &Node) -> Option<CpuSet> {
    let mut aside = Reader::new(reader.context.clone());
    aside.scope = reader.scope.clone();
    let common = written.cpus.given(&mut aside).flatten();
    let kinds = program.get("kinds").map_or(&[][..], |kinds| kinds.value.entries());
    let of = |kind: &Entry| KindKeys::of(&kind.value).cpus.given(&mut aside).flatten().or(common.clone());
    let sets: Option<Vec<CpuSet>> = if kinds.is_empty() { None } else { kinds.iter().map(of).collect() };
    match sets {
        Some(sets) => Some(CpuSet::of(sets.iter().flat_map(CpuSet::iter))),
        None if kinds.is_empty() => common,
        None => None,
    }
}

/// What holds for all kinds of an application.
pub(crate) struct Common<'a> {
    /// The application as written.
    pub(crate) entry: &'a Entry,
    /// Its machine.
    pub(crate) machine: Option<&'a Machine>,
    /// Runs end with a window.
    pub(crate) window: bool,
    /// When it arrives.
    pub(crate) start: Time,
    /// How its copies arrive.
    pub(crate) arrival: Arrival,
    /// Changes of the cpus that it may use.
    pub(crate) rebinds: Vec<(Span, CpuSet)>,
}

/// Notes keys that an application with a program cannot have.
pub(crate) fn suits(reader: &mut Reader, entry: &Entry, written: &Application<'_>) -> Option<()> {
    let mut sound = true;
    if let Some(place) = written.workload.place() {
        let message = format!("the application `{}` has a `workload` and a `program`", entry.key);
        reader.wrong_with_hint(place, message, "keep one of them");
        sound = false;
    }
    for place in [written.tasks.place(), written.threads_per_core.place()].into_iter().flatten() {
        reader.wrong_with_hint(
            place,
            "the tasks of a program are those of its kinds",
            "use `count` in the program",
        );
        sound = false;
    }
    sound.then_some(())
}

/// The application that a kind is.
pub(crate) fn spec(
    reader: &mut Reader,
    common: &Common<'_>,
    at: usize,
    kind: &Kind,
) -> Option<(AppSpec, Written)> {
    let written = Application::of(&common.entry.value);
    let program = written.program.node()?;
    let nothing = Node::empty_map(program.place);
    let own = KindKeys::of(programs::kind_node(program, at).unwrap_or(&nothing));
    let weights = if own.nice.node().is_some() { own.nice.read(reader) } else { written.nice.read(reader) };
    let scheduling = match own.scheduling.node() {
        Some(_) => own.scheduling.read(reader),
        None => written.scheduling.read(reader),
    };
    let slice = either(own.slice.given(reader)?, written.slice.given(reader)?);
    let cpus = either(own.cpus.given(reader)?, written.cpus.given(reader)?);
    let deadline = either(own.deadline.given(reader)?, written.deadline.given(reader)?);
    let estimate = written.estimate.given(reader)?;
    let background = either(own.background.given(reader)?, written.background.given(reader)?);
    let by_default = Node::scalar(program.place, RUNTIME);
    let chosen = own.runtime.node().or(written.runtime.node()).unwrap_or(&by_default);
    let chosen = Runtime::read(reader, chosen, "`runtime`")?;
    if chosen.of_threads.is_some() && kind.threads == 1 {
        let message = "tasks that have no threads have one runtime";
        reader.wrong_with_hint(chosen.place, message, "name one runtime, or add `threads: 4` to the kind");
        return None;
    }
    let processes = if chosen.of_threads.is_some() { kind.count / kind.threads } else { 1 };
    let counts = counts((kind, processes), cpus.as_ref(), common.machine);
    let mut runtime = runtimes::build_for(chosen.first.entry, &chosen.first.values, counts);
    runtime.startup = StartUp { forks: Forks::Together, barrier: false, sleeps: false, touch: Touch::Work };
    let of_threads = chosen.of_threads.as_ref();
    let team_runtime = of_threads.map(|of| runtimes::build_for(of.entry, &of.values, counts));
    let own = kind.runtimes().iter().map(|(_, form)| form.build(counts));
    let own_runtimes = own.collect::<Option<Vec<_>>>()?;
    let program = match kind.program(workloads::program::Bases::default()) {
        Ok(program) => Arc::new(program),
        Err(message) => {
            reader.wrong(programs::place(written.program.node()), message);
            return None;
        }
    };
    let names = programs::names_of(&common.entry.key, written.program.node()?);
    let name = names.get(at).unwrap_or(&common.entry.key);
    let arrival = match common.arrival {
        Arrival::Every(period) if !kind.requests => Some(period),
        _ => None,
    };
    let mut spec = AppSpec {
        named_locks: true,
        start: common.start,
        background: background.unwrap_or(kind.forked || (kind.endless && !common.window)),
        requests: kind.requests,
        deadline: deadline.or_else(|| period(&program)).or(arrival),
        estimate,
        slice,
        allowed: cpus,
        rebinds: common.rebinds.clone(),
        team: if kind.threads > 1 { kind.threads } else { 0 },
        teams_share: !runtime.processes && kind.threads > 1,
        team_runtime,
        own_runtimes,
        ..AppSpec::new(name.as_str(), kind.count, program, runtime)
    };
    ranks::apply(&mut spec, &weights?, &scheduling?);
    Some((spec, chosen.written(kind.calls().to_vec())))
}

/// The first value that there is.
fn either<T>(own: Option<T>, other: Option<T>) -> Option<T> {
    own.or(other)
}

/// The period of the only clock that a program waits for: the implicit deadline of its jobs.
fn period(program: &Program) -> Option<Span> {
    let mut periods = program.ops().iter().filter_map(|op| match op {
        Op::Until { period, .. } => Some(*period),
        _ => None,
    });
    let first = periods.next()?;
    periods.all(|other| other == first).then_some(first)
}

/// What a runtime counts as a kind of so many processes starts.
fn counts((kind, processes): (&Kind, u32), allowed: Option<&CpuSet>, machine: Option<&Machine>) -> Counts {
    let (cpus, cores) = match (allowed, machine) {
        (_, None) => (u32::MAX, u32::MAX),
        (None, Some(machine)) => (machine.cpus(), machine.topology.count(Level::Core)),
        (Some(set), Some(machine)) => {
            let here: Vec<_> = set.iter().filter(|cpu| cpu.0 < machine.cpus()).collect();
            let mut cores: Vec<u32> =
                here.iter().map(|cpu| machine.topology.group(Level::Core, *cpu)).collect();
            cores.dedup();
            (here.len() as u32, cores.len() as u32)
        }
    };
    Counts { threads: kind.count / processes.max(1), processes: kind.count / kind.threads, cpus, cores }
}
