//! Applications of a scenario: what they run, how many tasks they have and where they may run.

use std::collections::BTreeMap;
use std::sync::Arc;

use notation::diagnostics::Place;
use notation::yaml::{Content, Entry, Node};
use sim_core::limits::{MAX_APPS, MAX_PROFILES, MAX_TASKS};
use sim_core::machine::{CpuSet, Level, Machine};
use sim_core::program::{AppSpec, Forks, Runtime, Scheduling};
use sim_core::time::{Span, Speed, Time};
use workloads::Context;
use workloads::program::Linked;
use workloads::runtimes::{self, Counts};

use crate::Reader;
use crate::forms::Runtimes;
use crate::key::names;
use crate::keys::{APPLICATION, Application};
use crate::kinds::{self, KindOf, Programs};
use crate::labels::is_word;
use crate::nested::Arrival;
use crate::programs;
use crate::ranks;
use crate::registries::Selected;
use crate::written::Written;

/// An application before the number of its tasks is fixed.
struct Draft<'a> {
    name: &'a str,
    /// Name of the machine it runs on.
    machine: Option<&'a Machine>,
    /// Where its workload is chosen.
    place: Place,
    workload: Selected<workloads::Build>,
    runtimes: Runtimes,
    start: Time,
    /// Of the ranks, repeated for further ones.
    weights: Vec<u32>,
    /// Of the ranks, repeated for further ones.
    scheduling: Vec<Scheduling>,
    slice: Option<Span>,
    background: Option<bool>,
    rebinds: Vec<(Span, CpuSet)>,
    allowed: Option<CpuSet>,
    /// Numbers of cpus that it may use, and of cores with such a cpu.
    usable: (u32, u32),
    copies: Copies,
    deadline: Option<Span>,
    estimate: Option<Span>,
}

/// How often an application runs, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Copies {
    pub(crate) count: u32,
    pub(crate) arrival: Arrival,
}

/// An application as it runs in the mix and alone.
pub(crate) struct App {
    /// In the mix, as its first copy; `after` is set when copies are written out.
    pub(crate) spec: AppSpec,
    /// How often it runs, and when.
    pub(crate) copies: Copies,
    /// The application of the scenario whose end it waits for.
    pub(crate) after: Option<usize>,
    /// Alone, one thread per core (fewer when it has fewer), or with all tasks where each has separate work;
    /// `None` for a background application and without baseline.
    pub(crate) alone: Option<AppSpec>,
    /// The part of its iterations that is simulated, 0 to 1; `None` for workloads without such a parameter.
    pub(crate) scale: Option<f64>,
    /// Which application of the file it is, or is a kind of.
    pub(crate) entry: usize,
    /// The kind of a program that it is, if it is one.
    pub(crate) kind: Option<KindOf>,
    /// How it was written.
    pub(crate) written: Written,
}

/// What applications are read for.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Without a machine (its name was wrong) everything is checked that can be, for one core.
    pub(crate) machine: Option<&'a Machine>,
    /// The scenario's default number of threads per core.
    pub(crate) per_core: u64,
    /// Each is also wanted alone.
    pub(crate) baseline: bool,
    /// Runs end with a window.
    pub(crate) window: bool,
    /// What never ends is in the foreground, because nothing else is and runs end with a window.
    pub(crate) endless_count: bool,
}

/// The names of all applications of a file, those of the kinds of programs.
pub(crate) fn names_of(apps: &Node) -> Vec<String> {
    let of = |entry: &Entry| match entry.value.get("program") {
        Some(program) => programs::names_of(&entry.key, &program.value),
        None => vec![entry.key.clone()],
    };
    apps.entries().iter().flat_map(of).collect()
}

/// All applications, and the programs that the scenario writes itself.
pub(crate) fn all(reader: &mut Reader, node: &Node, setting: Setting<'_>) -> (Vec<App>, Arc<Linked>) {
    let nothing = (Vec::new(), Arc::default());
    let Content::Map(entries) = &node.content else {
        let hint = "write `apps: { name: { workload: ... } }`";
        reader.wrong_node(node, format!("`apps` must be a mapping, not {}", node.what()), hint);
        return nothing;
    };
    if entries.len() > MAX_APPS {
        reader.wrong_node(node, format!("more than {MAX_APPS} applications"), "");
        return nothing;
    }
    let programs = kinds::all(reader, entries, setting.machine);
    for entry in entries {
        check_name(reader, entry);
    }
    let mut apps = each(reader, entries, setting, programs.as_ref());
    let only_background = apps.len() >= entries.len() && apps.iter().all(|app| app.spec.background);
    if setting.window && reader.is_clean() && only_background {
        apps = each(reader, entries, Setting { endless_count: true, ..setting }, programs.as_ref());
    }
    check_names(reader, node, &apps);
    check_kinds(reader, entries, &apps);
    check_all(reader, (node, entries.len()), &apps, setting.window);
    let linked = programs.map_or_else(Arc::default, |programs| programs.linked);
    (apps, linked)
}

/// The applications of all entries.
fn each(
    reader: &mut Reader,
    entries: &[Entry],
    setting: Setting<'_>,
    programs: Option<&Programs>,
) -> Vec<App> {
    let mut apps: Vec<App> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        if entry.value.get("program").is_some() {
            let of_kinds = of_program(reader, (at, entry), setting, programs, &apps);
            apps.extend(of_kinds.into_iter().flatten());
        } else {
            let app = app(reader, (at, entry), setting, &apps);
            apps.extend(app);
        }
    }
    apps
}

/// Notes what is wrong with all applications together; `written`: how many the file has.
fn check_all(reader: &mut Reader, (node, written): (&Node, usize), apps: &[App], window: bool) {
    let tasks: u64 = apps.iter().map(|app| u64::from(app.spec.tasks) * u64::from(app.copies.count)).sum();
    let copies: usize = apps.iter().map(|app| app.copies.count as usize).sum();
    if copies > MAX_APPS {
        reader.wrong_node(node, format!("more than {MAX_APPS} applications, copies included"), "");
    }
    let profiles = |app: &App| (1 + app.spec.program.profiles().len()) * app.copies.count as usize;
    let profiles: usize = apps.iter().map(profiles).sum();
    if profiles > MAX_PROFILES {
        let message = format!(
            "the applications have {profiles} memory profiles, copies included and one more for each; at \
             most {MAX_PROFILES} are simulated"
        );
        reader.wrong_node(node, message, "use fewer copies or profiles");
    }
    if tasks > MAX_TASKS {
        reader.wrong_node(
            node,
            format!("the applications have {tasks} tasks; at most {MAX_TASKS} are simulated"),
            "",
        );
    }
    // A program with an error may be in the background only because of that error.
    let read = apps.len() >= written && reader.is_clean();
    if read && apps.iter().all(|app| app.spec.background) {
        let hint = if !window && apps.iter().any(|app| app.kind.is_some()) {
            "programs without an end are in the background: add `window: 10s`, or an end (`share 9 { ... }`)"
        } else if window {
            "leave out `background: true` of one"
        } else {
            "a run ends when all foreground applications have ended, so it needs at least one: `make` with \
             `jobs` and `hog` with `work` have an end. With `window: 10s` none needs an end"
        };
        reader.wrong_node(node, "there is no foreground application", hint);
    }
}

/// The applications that the kinds of a program are.
fn of_program(
    reader: &mut Reader,
    (at, entry): (usize, &Entry),
    setting: Setting<'_>,
    programs: Option<&Programs>,
    earlier: &[App],
) -> Option<Vec<App>> {
    reader.mapping(&entry.value, "an application", &names(APPLICATION))?;
    let written = Application::of(&entry.value);
    kinds::suits(reader, entry, &written)?;
    let start = written.start.read(reader);
    let rebinds = written.affinity.given(reader);
    let copies = copies(reader, &written);
    let after = match written.after.node() {
        None => Some(None),
        Some(node) => predecessor(reader, &written, node, earlier).map(Some),
    };
    let (programs, copies) = (programs?, copies?);
    let program = programs.of_entries.get(at).copied().flatten()?;
    let kinds = programs.linked.kinds.get(program)?;
    if copies.arrival == Arrival::Queue && kinds.len() > 1 {
        let place = written.arrival.place().unwrap_or(entry.place);
        let message = "a program of several kinds has no end of its own for its next copy to wait for";
        reader.wrong_with_hint(place, message, "use `arrival: { every: 10s }`");
        return None;
    }
    let queued = written.arrival.place().filter(|_| copies.arrival == Arrival::Queue);
    if let Some(place) = written.after.place().or(queued).filter(|_| programs.linked.is_fed(program)) {
        let hint = "use `start`, or let the code wait";
        reader.wrong_with_hint(
            place,
            "requests come at known times, and the end of another program is none",
            hint,
        );
        return None;
    }
    let common = kinds::Common {
        entry,
        machine: setting.machine,
        window: setting.window,
        start: Time::ZERO.saturating_add(start?),
        arrival: copies.arrival,
        rebinds: rebinds?.unwrap_or_default(),
    };
    let after = after?;
    let of = |(which, kind): (usize, &workloads::program::Kind)| {
        let (spec, written) = kinds::spec(reader, &common, which, kind)?;
        let kind = Some(KindOf { program, kind: kind.clone() });
        Some(App { spec, copies, after, alone: None, scale: None, entry: at, kind, written })
    };
    kinds.iter().enumerate().map(of).collect()
}

fn app(
    reader: &mut Reader,
    (at, entry): (usize, &Entry),
    setting: Setting<'_>,
    earlier: &[App],
) -> Option<App> {
    let Setting { machine, per_core, baseline, .. } = setting;
    reader.mapping(&entry.value, "an application", &names(APPLICATION))?;
    let written = Application::of(&entry.value);
    let draft = draft(reader, entry, &written, machine);
    let cores = cores(draft.as_ref().and_then(|draft| draft.allowed.as_ref()), machine);
    let wanted = wanted_tasks(reader, &written, cores);
    let after = match written.after.node() {
        None => Some(None),
        Some(node) => predecessor(reader, &written, node, earlier).map(Some),
    };
    let draft = draft?;
    let wanted = wanted?;
    // A background application (a hog) has one task by default.
    let probe = draft.probe(reader)?;
    let background = draft.background.unwrap_or(probe.background);
    let by_default = match (probe.tasks, background) {
        (0, true) => 1,
        (0, false) => per_core * u64::from(cores),
        (tasks, _) => u64::from(tasks),
    };
    let tasks = wanted.unwrap_or(by_default);
    if probe.team > 0 && probe.tasks > 0 && tasks != by_default {
        let processes = by_default / u64::from(probe.team);
        let message = format!(
            "`{}` has {tasks} tasks, and {processes} processes of {} threads are {by_default}",
            entry.key, probe.team
        );
        let hint = "leave out `processes`, or `tasks` and `threads_per_core`";
        reader.wrong_with_hint(draft.place, message, hint);
        return None;
    }
    if tasks > MAX_TASKS {
        reader.wrong(
            entry.place,
            format!("`{}` has {tasks} tasks; at most {MAX_TASKS} are simulated", entry.key),
        );
        return None;
    }
    // That it counts does not change how many tasks it has.
    let background = draft.background.unwrap_or(probe.background && !setting.endless_count);
    let spec = draft.build(reader, tasks as u32, background)?;
    // A workload may refuse to run with one thread per core, which matters only for dedicated runs.
    let alone = if background || !baseline {
        None
    } else {
        let alone_tasks = if probe.own_work { tasks as u32 } else { (tasks as u32).min(cores) };
        let mut alone = draft.build(reader, alone_tasks, false)?;
        alone.start = Time::ZERO;
        alone.rebinds.clear();
        Some(alone)
    };
    // Percentages are held in hundredths of a per cent.
    let scale = draft.workload.values.number("scale").map(|share| share as f64 / 1e4);
    let (copies, written) = (draft.copies, draft.runtimes.written(Vec::new()));
    Some(App { spec, copies, after: after?, alone, scale, entry: at, kind: None, written })
}

/// Copies of one application must not be called like another one.
fn check_names(reader: &mut Reader, node: &Node, apps: &[App]) {
    let copied: BTreeMap<&str, &App> =
        apps.iter().filter(|app| app.copies.count > 1).map(|app| (app.spec.name.as_str(), app)).collect();
    let mut clashes: BTreeMap<&str, &App> = BTreeMap::new();
    for other in apps {
        let Some((name, number)) = other.spec.name.rsplit_once('-') else { continue };
        let number: Option<u32> = number.parse().ok();
        if let (Some(app), Some(number)) = (copied.get(name), number)
            && number <= app.copies.count
        {
            clashes.entry(name).or_insert(other);
        }
    }
    for app in apps.iter().filter(|app| app.copies.count > 1) {
        if let Some(other) = clashes.get(app.spec.name.as_str()) {
            let message = format!("`{}` is the name of a copy of `{}`", other.spec.name, app.spec.name);
            let place = node.get(&other.spec.name).map_or(node.place, |entry| entry.place);
            reader.wrong_with_hint(place, message, "give one of them another name");
        }
    }
}

/// A kind of a program must not be called like another application.
fn check_kinds(reader: &mut Reader, entries: &[Entry], apps: &[App]) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for app in apps {
        if let Some(first) = seen.insert(&app.spec.name, app.entry).filter(|first| *first != app.entry) {
            let kinds = if app.kind.is_some() { app.entry } else { first };
            let place = entries.get(kinds).map_or(Place::NONE, |entry| entry.place);
            let message = format!("two applications would be called `{}`", app.spec.name);
            reader.wrong_with_hint(place, message, "give the application or the kind another name");
        }
    }
}

/// Names are part of paths and columns: letters, digits, `_` and `-` only.
fn check_name(reader: &mut Reader, entry: &Entry) {
    if !is_word(&entry.key) {
        let message = format!("`{}` is not a valid name for an application", entry.key);
        reader.wrong_with_hint(entry.place, message, "use letters, digits, `_` and `-`");
    } else if entry.key == "all" {
        reader
            .wrong(entry.place, "results use `all` for the whole machine; give the application another name");
    }
}

fn draft<'a>(
    reader: &mut Reader,
    entry: &'a Entry,
    written: &Application<'_>,
    machine: Option<&'a Machine>,
) -> Option<Draft<'a>> {
    if written.workload.node().is_none() {
        let message = format!("the application `{}` has no `workload`", entry.key);
        let hint = format!("write `{}`, or a `program`", written.workload.add());
        reader.wrong_with_hint(entry.place, message, hint);
    }
    let workload = written.workload.given(reader);
    let runtime = written.runtime.read(reader);
    let start = written.start.read(reader);
    let weights = written.nice.read(reader);
    let scheduling = written.scheduling.read(reader);
    let slice = written.slice.given(reader);
    let background = written.background.given(reader);
    let allowed = written.cpus.given(reader);
    let rebinds = written.affinity.given(reader);
    let copies = copies(reader, written);
    let deadline = written.deadline.given(reader);
    let estimate = written.estimate.given(reader);
    let (place, workload) = workload??;
    let allowed = allowed?;
    Some(Draft {
        name: &entry.key,
        machine,
        place,
        workload,
        runtimes: runtime?,
        start: Time::ZERO.saturating_add(start?),
        weights: weights?,
        scheduling: scheduling?,
        slice: slice?,
        background: background?,
        usable: match (&allowed, machine) {
            (_, None) => (u32::MAX, u32::MAX),
            (Some(set), _) => (set.iter().count() as u32, cores(Some(set), machine)),
            (None, Some(machine)) => (machine.cpus(), cores(None, Some(machine))),
        },
        rebinds: rebinds?.unwrap_or_default(),
        allowed,
        copies: copies?,
        deadline: deadline?,
        estimate: estimate?,
    })
}

impl Draft<'_> {
    fn context(&self, tasks: u32) -> Context<'_> {
        let machine = self.machine.map_or("", |machine| &machine.name);
        Context { tasks, runtime: self.runtimes.first.entry.own, machine }
    }

    fn probe(&self, reader: &mut Reader) -> Option<workloads::Built> {
        self.built(reader, 1)
    }

    fn built(&self, reader: &mut Reader, tasks: u32) -> Option<workloads::Built> {
        let in_unit = |built: workloads::Built| -> Result<workloads::Built, String> {
            match self.machine {
                Some(machine) if built.nominal && machine.work_unit != Speed::NOMINAL => {
                    let program = built.program.in_unit(machine.work_unit, &machine.memory)?;
                    Ok(workloads::Built { program, ..built })
                }
                _ => Ok(built),
            }
        };
        match (self.workload.entry.own)(&self.workload.values, &self.context(tasks)).and_then(in_unit) {
            Ok(built) => Some(built),
            Err(message) => {
                reader.wrong(self.place, format!("application `{}`: {message}", self.name));
                None
            }
        }
    }

    fn build(&self, reader: &mut Reader, tasks: u32, background: bool) -> Option<AppSpec> {
        let built = self.built(reader, tasks)?;
        self.suits(reader, &built)?;
        let counts = self.counts(tasks, &built);
        let of = |chosen: &Selected<&'static str>| runtimes::build_for(chosen.entry, &chosen.values, counts);
        let mut runtime = of(&self.runtimes.first);
        let team_runtime = self.runtimes.of_threads.as_ref().map(of);
        let (with_enough, with_few) = built.lock;
        // Tasks that never meet (hogs, daemons) are no parallel program: nothing makes them wait for each
        // other at the start.
        runtime.startup.barrier &= built.program.synchronises();
        runtime.processes |= built.processes;
        if built.team > 0 {
            launch(&mut runtime, team_runtime.is_some(), built.team);
        }
        let mut spec = AppSpec {
            start: self.start,
            background,
            requests: built.requests,
            deadline: self.deadline.or(match self.copies.arrival {
                // The implicit deadline of SCHED_DEADLINE: the next release.
                Arrival::Every(period) if !built.requests => Some(period),
                _ => None,
            }),
            estimate: self.estimate,
            slice: self.slice,
            rank_scale: built.rank_scale,
            team: built.team,
            team_runtime,
            lock: if counts.threads_oversubscribed() { with_few } else { with_enough },
            allowed: self.allowed.clone(),
            rebinds: self.rebinds.clone(),
            ..AppSpec::new(self.name, tasks, Arc::new(built.program), runtime)
        };
        ranks::apply(&mut spec, &self.weights, &self.scheduling);
        Some(spec)
    }
}

/// A launcher creates processes of so many threads, whatever their library. Without a library of their own,
/// processes of one thread each have nobody to meet before the program.
fn launch(runtime: &mut Runtime, is_library: bool, threads: u32) {
    if runtime.startup.forks == Forks::Master {
        runtime.startup.forks = Forks::Launcher;
    }
    runtime.startup.barrier &= threads > 1 || runtime.processes || is_library;
    runtime.processes |= is_library || threads == 1;
}

impl Draft<'_> {
    /// Notes runtimes that the program cannot have; none is an error.
    fn suits(&self, reader: &mut Reader, built: &workloads::Built) -> Option<()> {
        let (first, workload) = (self.runtimes.first.entry, self.workload.entry.name);
        let (message, hint) = if self.runtimes.of_threads.is_some() && built.team == 0 {
            let message = format!("`{workload}` has no processes with threads, so it has one runtime");
            (message, format!("write `runtime: {}`", first.name))
        } else if built.team > 1 && self.runtimes.of_threads.is_none() && !runtimes::serves_threads(first) {
            let message = format!("`{}` has no barriers of threads, and `{workload}` needs them", first.name);
            (message, format!("write `runtime: {{ mpi: {}, openmp: libgomp }}`", first.name))
        } else {
            return Some(());
        };
        reader.wrong_with_hint(self.runtimes.place, message, hint);
        None
    }

    /// What the runtime of such a program counts as it starts.
    fn counts(&self, tasks: u32, built: &workloads::Built) -> Counts {
        let (cpus, cores) = self.usable;
        let threads = match built.team {
            _ if built.processes => 1,
            0 => tasks,
            team => team.min(tasks),
        };
        // The tasks of a runtime of processes are the ranks, unless they are the threads of ranks.
        let processes = if built.team > 0 { tasks.div_ceil(threads.max(1)) } else { tasks };
        Counts { threads, processes, cpus, cores }
    }
}

/// The number of tasks that the application sets: outer `None` after an error, inner `None` if it sets none.
fn wanted_tasks(reader: &mut Reader, written: &Application<'_>, cores: u32) -> Option<Option<u64>> {
    if let (Some(_), Some(both)) = (written.tasks.place(), written.threads_per_core.place()) {
        let message = "`tasks` and `threads_per_core` both set the number of tasks";
        reader.wrong_with_hint(both, message, "keep one of them");
        return None;
    }
    let per_core = written.threads_per_core.given(reader)?.map(|per_core| per_core * u64::from(cores));
    Some(written.tasks.given(reader)?.or(per_core))
}

/// The number of cores an application may use.
fn cores(allowed: Option<&CpuSet>, machine: Option<&Machine>) -> u32 {
    let Some(machine) = machine else {
        return 1;
    };
    let Some(set) = allowed else {
        return machine.topology.count(Level::Core);
    };
    let mut cores: Vec<u32> = set.iter().map(|cpu| machine.topology.group(Level::Core, cpu)).collect();
    cores.dedup();
    cores.len() as u32
}

/// Reads `copies` and `arrival` of an application.
fn copies(reader: &mut Reader, written: &Application<'_>) -> Option<Copies> {
    let count = written.copies.read(reader);
    let arrival = written.arrival.given(reader);
    if let (None, Some(place)) = (written.copies.node(), written.arrival.place()) {
        let hint = "add `copies: 10`; a single one arrives at its `start`";
        reader.wrong_with_hint(place, "`arrival` applies to copies, and there is only one", hint);
    }
    Some(Copies { count: count? as u32, arrival: arrival?.unwrap_or(Arrival::Together) })
}

/// The application that `after` names: the file lists it first, and its end is defined.
fn predecessor(
    reader: &mut Reader,
    written: &Application<'_>,
    node: &Node,
    earlier: &[App],
) -> Option<usize> {
    let name = written.after.read(reader)?;
    let Some(at) = earlier.iter().position(|app| app.spec.name == name) else {
        let known: Vec<&str> = earlier.iter().map(|app| app.spec.name.as_str()).collect();
        let hint = match known.as_slice() {
            [] => "this is the first application of the file".to_owned(),
            _ => format!(
                "`after` names an application that the file lists before this one: {}",
                known.join(", ")
            ),
        };
        reader.wrong_node(node, format!("no application `{name}` is listed before this one"), hint);
        return None;
    };
    let before = &earlier[at];
    if before.spec.background {
        reader.wrong_node(node, format!("`{name}` is a background application: it may never end"), "");
        return None;
    }
    if before.copies.count > 1 && before.copies.arrival != Arrival::Queue {
        let message = format!("`{name}` has copies that run at the same time, so no copy is the last one");
        reader.wrong_node(node, message, "give them `arrival: queue`, so that they run one after the other");
        return None;
    }
    Some(at)
}
