//! From experiments to measured cells: predictions first, then real runs in a shuffled order, disturbed ones
//! again.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use experiment::provenance::MODEL;
use machines::contention;
use scenario::Overrides;
use scenario::plan::{Experiment, RunPlan};
use sim_core::outcome::RunReport;
use sim_core::rng::{Purpose, draw, key};

use crate::facts::{Host, Others, bind, cpus, nice};
use crate::job::Library;
use crate::load::{OTHERS, UNITS, Watch};
use crate::memory::{Arrays, Bandwidth, array, room};
use crate::parent::{Run, Starter, run};
use crate::plan::{self, Program};
use crate::predictions::{self, Predicted, Predictions};
use crate::real::attach;
use crate::real::build::Built;
use crate::real::kinds::is_kind;
use crate::refusal;
use crate::result::{Cell, MACHINE, Measurement, Place, SCHEMA, Verdict, error};
use crate::statistics::{Sample, median};
use crate::work::rate;

/// Predictions for each measured run: the spread of a prediction needs more values than its median.
pub const PREDICTIONS: u32 = 3;
/// A run is disturbed if the speed before it and after it differ by more than this share.
const DRIFT: f64 = 0.03;
/// The same for what cores read alone and together. Half of the probes of a quiet virtual machine differ by 5
/// % from the one before.
const MEMORY_DRIFT: f64 = 0.10;
/// A cell is uncertain if half the distance of its quartiles is wider than this share of the median, and the
/// prediction is not.
const WIDE: f64 = 0.15;
/// Runs of a cell at most, as a multiple of those wanted.
const ATTEMPTS: usize = 3;
/// Limit of a run, beyond this multiple of its prediction.
const LONGER: u32 = 20;
/// Release times are spread over this span, in nanoseconds: more than a period of any timer tick.
const PHASE: u64 = 10_000_000;

/// A configuration under a policy, predicted and ready to run.
pub struct Group {
    kind: String,
    scenario: String,
    /// Its text in the suite, with [`MACHINE`] in place of the machine.
    pub(crate) text: String,
    configuration: String,
    policy: String,
    /// The programs of each measured run.
    runs: Vec<Vec<Program>>,
    /// Predicted run times in nanoseconds, by application and seed; empty for those in the background.
    predicted: Vec<Vec<f64>>,
    fair: Vec<f64>,
    longest: u64,
    /// The simulated runs, if one of the programs reads memory: they are predicted again with the bandwidth
    /// of the minute in which they were measured.
    reading: Vec<RunPlan>,
    /// What other tasks do on each cpu of the host.
    others: Vec<Others>,
}

impl Group {
    /// The place of one of its programs.
    fn place(&self, app: &Program) -> Place {
        Place {
            kind: self.kind.clone(),
            scenario: self.scenario.clone(),
            configuration: self.configuration.clone(),
            policy: self.policy.clone(),
            app: app.name.clone(),
        }
    }

    /// What is predicted of its applications in the foreground.
    fn predictions(&self) -> Vec<Predicted> {
        let apps = self.runs.first().map_or(&[][..], Vec::as_slice);
        let one = |(at, app): (usize, &Program)| {
            Some(Predicted {
                place: self.place(app),
                predicted: Sample::of(self.predicted.get(at)?.clone())?,
                fair_share: self.fair.get(at).copied()?,
                reads_memory: !self.reading.is_empty(),
            })
        };
        apps.iter().enumerate().filter_map(one).collect()
    }

    /// Threads of a run that read memory, each its own array.
    fn arrays(&self) -> u64 {
        let programs = self.runs.first().into_iter().flatten().filter(|program| program.array > 0);
        programs.map(|program| program.threads.len() as u64).sum()
    }

    /// The predicted times if the controllers had the bandwidth that was measured beside the runs. The speed
    /// of a core alone is the unit of work, so that only the slowdown of cores together counts.
    fn predict_with(&self, measured: &Bandwidth) -> Result<Vec<Vec<f64>>, String> {
        let mut predicted = vec![Vec::new(); self.predicted.len()];
        for run in &self.reading {
            let mut run = run.clone();
            let nodes = run.machine.nodes();
            let memory = &mut Arc::make_mut(&mut run.machine).memory;
            let exponent = memory.stretch_exponent;
            let load = measured.load(exponent, nodes);
            memory.node_bandwidth = (memory.core_bandwidth as f64 / load).max(1.0) as u64;
            let memory = memory.clone();
            for app in &mut run.apps {
                // What a core reads alone was slowed down by its own load, and is the unit of work.
                let bound = app.program.profiles().iter().map(|profile| profile.bound_on(&memory)).max();
                let bound = f64::from(bound.unwrap_or(0)) / 65_536.0;
                let alone = 1.0 - bound + bound * contention::slowdown(load, exponent.into());
                let scales = (0..app.tasks as usize).map(|rank| app.rank_scale.get(rank).copied());
                app.rank_scale = scales
                    .map(|scale| (f64::from(scale.unwrap_or(1_000)) / alone).round().max(1.0) as u32)
                    .collect();
            }
            add_times(&mut predicted, &plan::simulate(&run, &self.others)?.report);
        }
        Ok(predicted)
    }

    /// The real runtimes that execute its programs.
    pub fn libraries(&self) -> impl Iterator<Item = Library> + '_ {
        self.runs.first().into_iter().flatten().filter_map(|program| Some(program.real.as_ref()?.library))
    }

    /// The longest predicted run, in nanoseconds.
    #[must_use]
    pub const fn longest(&self) -> u64 {
        self.longest
    }

    /// Cells: applications in the foreground.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.predicted.iter().filter(|times| !times.is_empty()).count()
    }
}

/// Whether all runs of an experiment can be executed on this host; if `real`, applications whose runtime is a
/// real one by that.
///
/// # Errors
/// A sentence: what cannot.
pub fn check(experiment: &Experiment, host: &Host, real: bool) -> Result<(), String> {
    let runs = experiment.runs.iter().filter(|run| run.alone.is_none());
    runs.into_iter()
        .try_for_each(|run| refusal::check_by(run, host, real))
        .map_err(|why| format!("{}: {why}", experiment.name))
}

/// Predicts all configurations and policies of an experiment that was read with [`PREDICTIONS`] x `repeat`
/// replicates.
///
/// # Errors
/// A sentence: what cannot be executed on this host, or simulated.
pub fn prepare(experiment: &Experiment, kind: &str, repeat: u32, host: &Host) -> Result<Vec<Group>, String> {
    prepare_by(experiment, kind, repeat, host, is_kind(kind))
}

/// The same; if `real`, applications whose runtime is a real one are executed by it.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_by(
    experiment: &Experiment,
    kind: &str,
    repeat: u32,
    host: &Host,
    real: bool,
) -> Result<Vec<Group>, String> {
    let mut groups: Vec<(usize, usize, Vec<RunPlan>)> = Vec::new();
    check(experiment, host, real)?;
    for run in experiment.runs.iter().filter(|run| run.alone.is_none()) {
        let at = (run.configuration, run.policy);
        match groups.last_mut().filter(|(configuration, policy, _)| (*configuration, *policy) == at) {
            Some((_, _, runs)) => runs.push(plan::released(run)),
            None => groups.push((at.0, at.1, vec![plan::released(run)])),
        }
    }
    let group = |(configuration, policy, runs): (usize, usize, Vec<RunPlan>)| {
        let label = experiment.configurations.get(configuration).map_or("", |found| found.label.as_str());
        let group = Group {
            kind: kind.to_owned(),
            scenario: experiment.name.clone(),
            text: String::new(),
            configuration: label.to_owned(),
            policy: experiment.policies.get(policy).cloned().unwrap_or_default(),
            runs: Vec::new(),
            predicted: Vec::new(),
            fair: Vec::new(),
            longest: 0,
            reading: Vec::new(),
            others: host.others.clone(),
        };
        predict(group, &runs, repeat, real).map_err(|why| format!("{}: {why}", experiment.name))
    };
    groups.into_iter().map(group).collect()
}

/// Simulates the runs of a group.
fn predict(mut group: Group, runs: &[RunPlan], repeat: u32, real: bool) -> Result<Group, String> {
    for (at, run) in runs.iter().enumerate() {
        let simulated = plan::simulate(run, &group.others)?;
        if !plan::stays(run, &simulated) {
            return Err("PIN binds each thread to one cpu here; leave `by` out".into());
        }
        let mut programs = plan::programs(run, &simulated);
        if real {
            attach(run, &mut programs)?;
        }
        if at == 0 {
            group.fair = crate::fair::times(&programs, run.machine.cpus());
            group.predicted = vec![Vec::new(); programs.len()];
        }
        if add_times(&mut group.predicted, &simulated.report) {
            group.longest = group.longest.max(simulated.report.makespan.ns());
        }
        if programs.iter().any(|program| program.array > 0) {
            group.reading.push(run.clone());
        }
        if at < repeat as usize {
            group.runs.push(programs);
        }
    }
    Ok(group)
}

/// Adds the run times of the applications in the foreground; whether there are any.
fn add_times(predicted: &mut [Vec<f64>], report: &RunReport) -> bool {
    let mut any = false;
    for (times, app) in predicted.iter_mut().zip(&report.apps) {
        if let Some(time) = app.run_time().filter(|_| !app.background) {
            times.push(time.ns() as f64);
            any = true;
        }
    }
    any
}

/// How runs are executed.
pub struct Settings<'a> {
    /// What starts the processes.
    pub starter: &'a Starter,
    /// The host.
    pub host: &'a Host,
    /// Programs of real runtimes.
    pub built: &'a Built,
    /// Runs of each cell.
    pub repeat: u32,
    /// Called after each run with the number of finished and of planned runs.
    pub progress: &'a dyn Fn(usize, usize),
}

/// One run that is wanted.
#[derive(Clone, Copy)]
struct Wanted {
    group: usize,
    replicate: usize,
}

/// An executed run and whether it was disturbed.
struct Executed {
    run: Run,
    disturbed: bool,
    /// Others used the host meanwhile.
    by_others: bool,
    /// What cores read alone and together: the mean of before and after, for a run that reads memory.
    memory: Option<Bandwidth>,
}

/// Executes all groups, if the host is quiet.
///
/// # Errors
/// A sentence: a program cannot be executed, or others use the host. No process is left.
pub fn measure(
    groups: &[Group],
    machine: &str,
    settings: &Settings<'_>,
    watch: &mut Watch,
) -> Result<Measurement, String> {
    watch.quiet()?;
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut wanted: Vec<Wanted> = Vec::new();
    for (group, plan) in groups.iter().enumerate() {
        wanted.extend((0..plan.runs.len()).map(|replicate| Wanted { group, replicate }));
    }
    // Round by round, each in another order: a drift of the host does not favour a cell.
    let shuffle = key(1, Purpose::Test, 0);
    wanted.sort_by_key(|run| (run.replicate, draw(shuffle, (run.group * 1_000 + run.replicate) as u64)));
    let mut executed: Vec<Vec<Executed>> = groups.iter().map(|_| Vec::new()).collect();
    let mut rates = Vec::new();
    let mut probe = Probe::new(groups)?;
    let (mut done, mut at) = (0, 0);
    while let Some(run) = wanted.get(at).copied() {
        at += 1;
        let all = wanted.len();
        let one = execute(&groups[run.group], run.replicate, &mut probe, settings)?;
        rates.push(probe.rate);
        let runs = &mut executed[run.group];
        if one.by_others {
            watch.quiet()?;
        }
        if one.disturbed && runs.len() + 1 < ATTEMPTS * groups[run.group].runs.len() {
            wanted.push(run);
        }
        runs.push(one);
        done += 1;
        (settings.progress)(done, all);
    }
    let cells: Result<Vec<Vec<Cell>>, String> =
        groups.iter().zip(&executed).map(|(group, runs)| cells(group, runs)).collect();
    let cells = cells?.concat();
    let texts = groups.iter().filter(|group| !group.text.is_empty());
    let scenarios = texts.map(|group| (key_of(&group.kind, &group.scenario), group.text.clone())).collect();
    Ok(Measurement {
        schema: SCHEMA.into(),
        version: version(),
        predictions: Some(predicted(groups, machine, settings.repeat).hash()?),
        date,
        host: settings.host.clone(),
        machine: machine.into(),
        protocol: protocol(settings.host, groups.iter().any(|group| group.libraries().next().is_some())),
        repeat: settings.repeat,
        rate: median(&mut rates),
        runs: executed.iter().map(Vec::len).sum(),
        disturbed: executed.iter().flatten().filter(|run| run.disturbed).count(),
        scenarios,
        cells,
        disturbed_by: watch.disturbed_by(),
    })
}

/// Between kind and name in the key of an archived scenario.
const KEY: &str = " / ";

/// The key of an archived scenario: names tell the scenarios of a kind apart.
fn key_of(kind: &str, scenario: &str) -> String {
    format!("{kind}{KEY}{scenario}")
}

/// The predictions of these groups on a machine of this name. The same groups give the same bytes.
#[must_use]
pub fn predicted(groups: &[Group], machine: &str, repeat: u32) -> Predictions {
    Predictions {
        schema: predictions::SCHEMA.into(),
        version: version(),
        machine: machine.into(),
        repeat,
        others: groups.first().map_or_else(Vec::new, |group| group.others.clone()),
        cells: groups.iter().flat_map(Group::predictions).collect(),
    }
}

/// Version of the program and of its model.
fn version() -> String {
    format!("oversim {}, model {MODEL}", env!("CARGO_PKG_VERSION"))
}

/// Predicts an archived measurement of the suite again, on this machine (a name or a path) and with this
/// version of the model. What was measured stays.
///
/// # Errors
/// A sentence: the archive has no scenarios, or other cells than those.
pub fn predict_again(archive: &mut Measurement, machine: &str, progress: &dyn Fn()) -> Result<(), String> {
    if archive.scenarios.is_empty() {
        return Err("the measurement has no scenarios to predict; only those of --suite have them".into());
    }
    let repeat = Some(archive.repeat.saturating_mul(PREDICTIONS));
    let mut predicted = Vec::new();
    // Quotes of JSON are quotes of YAML.
    let machine = serde_json::to_string(machine).map_err(|e| e.to_string())?;
    for (key, text) in &archive.scenarios {
        let kind = key.split_once(KEY).map_or("", |(kind, _)| kind);
        let overrides = Overrides { repeat, ..Overrides::default() };
        let experiment = scenario::load(key, &text.replace(MACHINE, &machine), &overrides)?;
        predicted.extend(prepare(&experiment, kind, archive.repeat, &archive.host)?);
        progress();
    }
    for cell in &mut archive.cells {
        let apps = |group: &Group| group.runs.first()?.iter().position(|app| group.place(app) == cell.place);
        let found = predicted.iter().find_map(|group| Some((group, apps(group)?)));
        let scenario = &cell.place.scenario;
        let (group, at) = found.ok_or_else(|| format!("{scenario} has no scenario in the archive"))?;
        let times = match &cell.memory {
            Some(measured) => group.predict_with(measured)?.swap_remove(at),
            None => group.predicted[at].clone(),
        };
        let sample = Sample::of(times);
        let fair = group.fair[at];
        let sample = sample.ok_or_else(|| format!("{scenario} ends in no simulated run"))?;
        cell.predict(sample, fair);
    }
    archive.version = version();
    Ok(())
}

/// How everything was executed, in sentences.
fn protocol(host: &Host, real: bool) -> Vec<String> {
    let mut protocol = vec![
        "Each application is one process, and its tasks are its threads. All threads exist and sleep before \
            the run, each on the cpu on which the task sleeps in the simulation. A timer releases those of \
            an application at one instant."
            .to_owned(),
        "A run time counts from the release to the end of the last thread. The simulation starts \
            programs in the same way (`startup: together`)."
            .to_owned(),
        "Work is a counted loop of dependent integer operations. Its speed is measured on every cpu before \
            and after each run."
            .to_owned(),
        format!(
            "A memory-bound share reads an array of {} MiB for each thread, which no cache holds. What one \
            core reads alone, and all cores together, is measured just before and just after each such run: \
            the first is the unit of its work, and the prediction has a memory controller that slows cores \
            down as much together.",
            array() >> 20
        ),
        "Before the predictions, a thread computes on each cpu and looks how often and how long other tasks \
            interrupt it, and what ticks and other interrupts take. The prediction has the same."
            .to_owned(),
        "All programs are in one session, except those of the kind `sessions`: each of them begins one."
            .to_owned(),
    ];
    if real {
        protocol.push(
            "Applications of the runtimes libgomp, libomp and openmpi are executed by these: a program in C \
                with the counted loop, started with the settings of the scenario. Processes of MPI meet once \
                before the release."
                .into(),
        );
    }
    let nice = nice();
    if nice != 0 {
        protocol.push(format!("Nice values are relative to {nice}, the one of the measurement."));
    }
    if host.autogroup {
        protocol.push("sched_autogroup_enabled is 1: the session competes as a group with others.".into());
    }
    protocol
}

/// Speeds of this host, measured again before each run.
struct Probe {
    cpus: Vec<u32>,
    rate: f64,
    /// Arrays of the probe of memory, if a program reads it.
    memory: Option<Arrays>,
}

impl Probe {
    fn new(groups: &[Group]) -> Result<Self, String> {
        let cpus = cpus();
        let arrays = groups.iter().map(Group::arrays).max().unwrap_or(0);
        let mut probe = Self { rate: 0.0, memory: None, cpus };
        if arrays > 0 {
            room(arrays + probe.cpus.len() as u64, array())?;
            probe.memory = Some(Arrays::of_this_host()?);
        }
        probe.again();
        Ok(probe)
    }

    /// Measures the speed of the counted loop on each cpu; the mean.
    fn again(&mut self) -> f64 {
        let mut sum = 0.0;
        for cpu in &self.cpus {
            // A cpu that cannot be used is measured elsewhere.
            let _ = bind(&[*cpu]);
            sum += rate();
        }
        let _ = bind(&self.cpus);
        self.rate = sum / self.cpus.len().max(1) as f64;
        self.rate
    }
}

/// One run between two probes. A run that fails is tried again; the last failure is an error.
fn execute(
    group: &Group,
    replicate: usize,
    probe: &mut Probe,
    settings: &Settings<'_>,
) -> Result<Executed, String> {
    let limit = Duration::from_secs(5) + Duration::from_nanos(group.longest).saturating_mul(LONGER);
    let noise = key(2, Purpose::Test, replicate as u64);
    let mut failures = 0;
    loop {
        let before = probe.rate;
        let mut programs = group.runs[replicate].clone();
        for program in &mut programs {
            program.rate = before;
            if let Some(job) = &mut program.real {
                settings.built.complete(job);
            }
        }
        let arrays = probe.memory.as_ref().filter(|_| !group.reading.is_empty());
        let mut first = None;
        let mut memory = || {
            first = arrays.map(Arrays::probe).transpose()?;
            // In bytes per nanosecond.
            Ok(first.map_or(0.0, |found| found.alone / 1e9))
        };
        let phase = u64::from(draw(noise, failures)) % PHASE;
        match run(settings.starter, &programs, phase, limit, settings.host.cpus, &mut memory) {
            Ok(run) => {
                let last = arrays.map(Arrays::probe).transpose()?;
                let after = probe.again();
                let memory = first.zip(last);
                let whole = (run.elapsed.max(1) * u64::from(settings.host.cpus)) as f64;
                let others = (run.others + run.steal) * whole > UNITS.max(OTHERS * whole);
                let drift = (after / before - 1.0).abs() > DRIFT
                    || memory.is_some_and(|(first, last)| last.drift(&first) > MEMORY_DRIFT);
                let memory = memory.map(|(first, last)| first.mean(&last));
                return Ok(Executed { run, disturbed: others || drift, by_others: others, memory });
            }
            Err(_) if failures < 2 => {
                failures += 1;
                probe.again();
            }
            Err(why) => return Err(format!("{}: {why}", group.scenario)),
        }
    }
}

/// The cells of a group: undisturbed runs, filled up with the least disturbed ones where these are too few.
///
/// # Errors
/// A sentence: the simulation with the measured bandwidth has failed.
fn cells(group: &Group, runs: &[Executed]) -> Result<Vec<Cell>, String> {
    let wanted = group.runs.len();
    let mut order: Vec<&Executed> = runs.iter().collect();
    order.sort_by(|a, b| {
        let load = |one: &Executed| one.run.others + one.run.steal;
        a.disturbed.cmp(&b.disturbed).then(load(a).total_cmp(&load(b)))
    });
    let clean = runs.iter().filter(|run| !run.disturbed).count();
    order.truncate(clean.max(wanted));
    let disturbed = u32::try_from(runs.len() - clean).unwrap_or(u32::MAX);
    let apps = group.runs.first().map_or(&[][..], Vec::as_slice);
    let memory = median_of(order.iter().filter_map(|one| one.memory));
    let all_predicted = match &memory {
        Some(measured) => group.predict_with(measured)?,
        None => group.predicted.clone(),
    };
    let mut cells = Vec::new();
    for (at, app) in apps.iter().enumerate().filter(|(_, app)| !app.background) {
        let values = order.iter().filter_map(|one| one.run.times.get(at)).map(|time| *time as f64).collect();
        let predicted = all_predicted.get(at).cloned().unwrap_or_default();
        let (Some(predicted), Some(measured)) = (Sample::of(predicted), Sample::of(values)) else {
            continue;
        };
        let wide = measured.modes.is_empty() && measured.width() > WIDE && predicted.width() < WIDE / 2.0;
        cells.push(Cell {
            place: group.place(app),
            fair_share: group.fair.get(at).copied().unwrap_or(0.0),
            error: error(&predicted, &measured),
            verdict: Verdict::of(&predicted, &measured),
            disturbed,
            uncertain: clean < wanted || wide,
            predicted,
            measured,
            memory,
        });
    }
    Ok(cells)
}

/// The median rates of some probes; none without any.
fn median_of(probes: impl Iterator<Item = Bandwidth>) -> Option<Bandwidth> {
    let probes: Vec<Bandwidth> = probes.collect();
    let of = |rate: fn(&Bandwidth) -> f64| median(&mut probes.iter().map(rate).collect::<Vec<_>>());
    let cores = probes.first()?.cores;
    Some(Bandwidth { alone: of(|probe| probe.alone), together: of(|probe| probe.together), cores })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Done;
    use crate::testing::experiment;

    const TEXT: &str = "{ name: t, machine: 'core:2', kernel: linux-6.18, policies: [PIN], repeat: 6, \
        sweep: { apps.a.tasks: [1, 2] }, apps: { a: { workload: { spmd: { grain: 1ms, intervals: 3 } }, \
        runtime: block }, \
        h: { workload: hog, cpus: [0] } } }";

    fn groups() -> Vec<Group> {
        let host = Host { cpus: 2, release: "6.18.0".into(), ..Host::unknown() };
        prepare(&experiment(TEXT), "k", 2, &host).unwrap()
    }

    fn executed(ms: u64, others: f64, disturbed: bool) -> Executed {
        let done = Done { started: vec![], ended: vec![], cpu: 0 };
        let times = vec![ms * 1_000_000, 0];
        let run = Run { times, programs: vec![done], elapsed: 1, others, steal: 0.0 };
        Executed { run, disturbed, by_others: disturbed, memory: None }
    }

    #[test]
    fn groups_have_a_run_for_each_replicate_and_more_predictions() {
        let groups = groups();
        assert_eq!(groups.len(), 2);
        let group = &groups[1];
        assert_eq!((group.runs.len(), group.predicted[0].len(), group.cells()), (2, 6, 1));
        assert!(group.predicted[1].is_empty() && group.longest >= 3_000_000);
        assert_eq!(group.configuration, "apps.a.tasks=2");
    }

    #[test]
    fn a_run_that_reads_memory_is_predicted_with_the_slowdown_that_was_measured_beside_it() {
        let text = "{ name: t, machine: { xeon-2vcpu: { core_speed: 1, core_bandwidth: 10GB/s, \
            node_bandwidth: 100GB/s } }, \
            policies: [PIN], apps: { a: { workload: { spmd: { grain: 1ms, intervals: 20, bound: 100%, \
            demand: 10GB/s, working_set: 4GiB } }, tasks: 2, runtime: spin } } }";
        let host = Host { cpus: 2, release: "6.18.0".into(), ..Host::unknown() };
        let group = prepare(&experiment(text), "k", 1, &host).unwrap().swap_remove(0);
        assert_eq!((group.arrays(), group.reading.len()), (2, 1));
        let time = |together: f64| {
            // The speed of a core alone was another one: only the slowdown counts.
            let measured = Bandwidth { alone: 8e9, together, cores: 2 };
            group.predict_with(&measured).unwrap()[0][0]
        };
        for slowdown in [1.1, 1.5, 1.8] {
            let ratio = time(16e9 / slowdown) / time(16e9);
            assert!((ratio / slowdown - 1.0).abs() < 0.02, "{slowdown}: {ratio}");
        }
        // Alone on the controllers, the work takes as long as it says.
        assert!((time(16e9) / 20e6 - 1.0).abs() < 0.02);
    }

    #[test]
    fn disturbed_runs_fill_up_and_mark() {
        let group = &groups()[0];
        let clean = cells(group, &[executed(4, 0.0, false), executed(9, 0.5, true), executed(5, 0.0, false)])
            .unwrap();
        assert_eq!(clean.len(), 1);
        assert_eq!((clean[0].measured.values.as_slice(), clean[0].disturbed), (&[4e6, 5e6][..], 1));
        assert!(!clean[0].uncertain);
        let few =
            cells(group, &[executed(4, 0.0, false), executed(9, 0.5, true), executed(7, 0.1, true)]).unwrap();
        assert_eq!(few[0].measured.values, [4e6, 7e6]);
        assert!(few[0].uncertain);
    }
}
