//! From a scenario's tree to all its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use ::policies::Choice;
use notation::cpus::Numbering;
use notation::diagnostics::Place;
use notation::hash;
use notation::number;
use notation::reader::Scope;
use notation::yaml::{Content, Node};
use sim_core::admission::Admission;
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::outcome::Options;
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};

use crate::Reader;
use crate::apps::{self, App, Setting};
use crate::arrivals;
use crate::configuration::{Axis, Configuration};
use crate::defaults::MACHINE_KERNEL;
use crate::groups;
use crate::judged;
use crate::key::names;
use crate::keys::{SCENARIO, Scenario};
use crate::limits::{MAX_CONFIGURATIONS, MAX_RUNS};
use crate::memory;
use crate::objective::Objective;
use crate::overrides::Overrides;
use crate::plan::{Experiment, MachineOrigin, NO_POLICY, RunPlan, Shortened};
use crate::resolved::Resolved;
use crate::sweep::Sweep;
use crate::written::Written;
use crate::{policies, registries, together, traps};

/// What holds for all configurations.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) baseline: bool,
    pub(crate) best_partition: bool,
    pub(crate) latencies: bool,
    /// What the scenario states; none: that of its kind.
    pub(crate) objective: Option<Objective>,
    pub(crate) repeat: u32,
    pub(crate) seed: u64,
}

/// Resolves a scenario; every error goes to the reader.
pub(crate) fn experiment(root: &Node, reader: &mut Reader, overrides: &Overrides) -> Option<Experiment> {
    reader.mapping(root, "a scenario", &names(SCENARIO))?;
    let scenario = Scenario::of(root);
    let frame = frame(&scenario, reader);
    let sweep = Sweep::read(root, reader, MAX_CONFIGURATIONS);
    let numbers: Vec<u64> = (0..sweep.size()).filter(|number| sweep.has(*number)).collect();
    let runs = numbers.len() * runs_per_configuration(&scenario);
    if runs.saturating_mul(frame.as_ref().map_or(1, |frame| frame.repeat as usize)) > MAX_RUNS {
        let hint = "`oversim sweep` runs larger ones";
        reader.wrong_node(root, format!("the scenario asks for more than {MAX_RUNS} runs"), hint);
        return None;
    }
    let read = (numbers.len() as u64).saturating_mul(entries(scenario.apps.node()) as u64 * memory::READ);
    if !fits(root, reader, read, overrides) {
        return None;
    }
    let mut configurations = Vec::new();
    let mut resolved = Vec::new();
    let mut held = Held::default();
    for combination in numbers.into_iter().filter_map(|number| sweep.at(number)) {
        let edits = combination.edits(root);
        let mut this = resolve_configuration(&Scenario::edited(root, Some(&edits)), reader);
        if let Some(this) = &mut this {
            held.share(this);
        }
        resolved.push(this);
        configurations.push(combination.configuration);
    }
    let frame = frame?;
    let resolved: Option<Vec<Resolved>> = resolved.into_iter().collect();
    let resolved = resolved?;
    let repeat = u64::from(frame.repeat);
    let plan: u64 = resolved.iter().map(|this| planned(this, repeat)).sum();
    if !fits(root, reader, read + plan, overrides) {
        return None;
    }
    Some(assemble(frame, (sweep.axes().to_vec(), configurations), &resolved, overrides.stepwise))
}

/// Bytes of the plans of all applications of a configuration, copies included, under all policies.
fn planned(resolved: &Resolved, repeat: u64) -> u64 {
    let app = |app: &App| {
        let cpus = app.spec.allowed.as_ref().map_or(0, |_| u64::from(resolved.machine.cpus()) / 8);
        let one =
            (size_of::<AppSpec>() + 32 + app.spec.name.len() + 4 * app.spec.rank_scale.len()) as u64 + cpus;
        let program = app.kind.as_ref().map_or(0, |of| of.kind.size());
        (one + program) * u64::from(app.copies.count)
    };
    // The specifications of each replicate are made once more than there are policies.
    resolved.apps.iter().map(app).sum::<u64>() * repeat * (resolved.policies.len() as u64 + 1)
}

/// Whether so many bytes of plan fit; else that is an error.
fn fits(root: &Node, reader: &mut Reader, bytes: u64, overrides: &Overrides) -> bool {
    let Some(limit) = overrides.limit.as_ref().filter(|limit| bytes > limit.bytes) else { return true };
    let (needed, most) = (number::bytes(bytes), number::bytes(limit.bytes));
    let message = format!("the plan of all runs needs about {needed}, and {} is {most}", limit.source);
    reader.wrong_node(
        root,
        message,
        "use fewer configurations, policies, applications, copies or replicates",
    );
    false
}

/// How many runs a replicate of one configuration takes at most, baselines included.
fn runs_per_configuration(scenario: &Scenario<'_>) -> usize {
    entries(scenario.policies.node()) + entries(scenario.apps.node())
}

/// How many entries a list or mapping of the scenario has.
fn entries(node: Option<&Node>) -> usize {
    match node.map(|node| &node.content) {
        Some(Content::List(items)) => items.len(),
        Some(Content::Map(entries)) => entries.len(),
        _ => 0,
    }
}

/// Machines and kernels of the configurations so far: equal ones are held once, for machines may be large.
#[derive(Default)]
pub(crate) struct Held {
    machines: Distinct<Machine>,
    kernels: Distinct<OsModel>,
}

impl Held {
    pub(crate) fn share(&mut self, this: &mut Resolved) {
        self.machines.share(&mut this.machine);
        self.kernels.share(&mut this.kernel);
    }
}

/// Different values, found by a hash of what they print for debugging, which shows all of them.
struct Distinct<T> {
    by_hash: BTreeMap<u64, Vec<Arc<T>>>,
    last: Option<Arc<T>>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { by_hash: BTreeMap::new(), last: None }
    }
}

impl<T: PartialEq + fmt::Debug> Distinct<T> {
    /// Replaces a value by an equal one that is held already, or holds it.
    fn share(&mut self, value: &mut Arc<T>) {
        // Most are those of the configuration before.
        if let Some(last) = self.last.as_ref().filter(|last| **last == *value) {
            *value = Arc::clone(last);
            return;
        }
        let alike = self.by_hash.entry(hash::debug(value)).or_default();
        match alike.iter().find(|known| *known == value) {
            Some(known) => *value = Arc::clone(known),
            None => alike.push(Arc::clone(value)),
        }
        self.last = Some(Arc::clone(value));
    }
}

/// Name, replicates and the like.
pub(crate) fn frame(scenario: &Scenario<'_>, reader: &mut Reader) -> Option<Frame> {
    let name = scenario.name.read(reader);
    let about = scenario.about.read(reader);
    let baseline = scenario.baseline.read(reader);
    let best_partition = scenario.best_partition.read(reader);
    let latencies = scenario.latencies.read(reader);
    let objective = scenario.objective.given(reader);
    let repeat = scenario.repeat.read(reader);
    let seed = scenario.seed.read(reader);
    Some(Frame {
        name: name?,
        about: about?.trim().to_owned(),
        baseline: baseline?,
        best_partition: best_partition?,
        latencies: latencies?,
        objective: objective?,
        repeat: repeat? as u32,
        seed: seed?,
    })
}

/// One configuration of the sweep.
pub(crate) fn resolve_configuration(scenario: &Scenario<'_>, reader: &mut Reader) -> Option<Resolved> {
    let machine = scenario.machine.read(reader);
    let own = machine.as_ref().and_then(|chosen| chosen.kernel.clone());
    let (machine, origin) = machine.map(|chosen| (chosen.machine, chosen.origin)).unzip();
    let cpus = machine.as_ref().map_or(1, |machine: &Arc<Machine>| machine.cpus());
    let default = Node::scalar(Place::NONE, MACHINE_KERNEL);
    let kernel = reader
        .chosen(scenario.kernel.node().unwrap_or(&default), "`kernel`", &[])
        .and_then(|chosen| registries::kernel(reader, &chosen, own.as_deref(), cpus));
    let per_core = scenario.threads_per_core.read(reader);
    let times = times(reader, scenario);
    let apps = scenario.apps.required(reader);
    reader.scope = Scope {
        machine: machine.as_ref().zip(origin.as_ref()).map(|(machine, origin)| Numbering {
            machine: machine.name.clone(),
            cpus: machine.cpus(),
            linux: origin.cpu_numbers.clone(),
        }),
        apps: apps.map_or_else(Vec::new, apps::names_of),
    };
    let policies = scenario.policies.required(reader).and_then(|node| policies::all(reader, node));
    let alone = scenario.baseline.read(reader) != Some(false);
    let setting = Setting {
        machine: machine.as_deref(),
        per_core: per_core.unwrap_or(1),
        baseline: alone,
        window: scenario.window.node().is_some(),
        endless_count: false,
    };
    let (apps, programs) = apps.map(|node| apps::all(reader, node, setting)).unzip();
    // Real programs do not start in step with the timer tick.
    let jitter = scenario.start_jitter.given(reader);
    let tick = kernel.as_ref().map(|kernel| kernel.tick);
    let admission = scenario.admission.given(reader);
    let sampled = sampled(reader, scenario);
    let (mut kernel, mut apps, policies) = (kernel?, apps?, policies?);
    groups::assign(reader, scenario, (&mut kernel, cpus), &mut apps, &policies)?;
    let mut resolved = Resolved {
        machine: machine?,
        origin: origin?,
        kernel,
        apps,
        programs: programs.unwrap_or_default(),
        policies,
        horizon: times?.0,
        window: times?.1,
        admission: admission?.unwrap_or(Admission::UNLIMITED),
        start_jitter: jitter?.or(tick)?,
        sampled: sampled?,
    };
    if !resolved.has_dedicated() {
        if let Some(app) = resolved.apps.iter().find(|app| app.alone.is_some()) {
            reader.remark(format!(
                "`{}` has no dedicated run and no slowdown, because a program of the foreground has none; \
                 `baseline: none` says the same",
                app.spec.name
            ));
        }
        resolved.apps.iter_mut().for_each(|app| app.alone = None);
    }
    arrivals::check_admission(reader, scenario, &resolved.apps, resolved.admission);
    together::check(reader, scenario, &resolved);
    judged::check(reader, scenario, &resolved);
    traps::remark(reader, scenario, &resolved);
    Some(resolved)
}

/// When runs end at the latest, and where the window begins if there is one.
fn times(reader: &mut Reader, scenario: &Scenario<'_>) -> Option<(Time, Option<Time>)> {
    let horizon = scenario.horizon.read(reader);
    let window = scenario.window.given(reader)?;
    let warm_up = scenario.warm_up.given(reader)?;
    let Some(window) = window else {
        if let Some(place) = scenario.warm_up.place() {
            reader.wrong_with_hint(place, "`warm_up` is the time before a `window`", "add `window: 1s`");
            return None;
        }
        return Some((Time::ZERO.saturating_add(horizon?), None));
    };
    if let Some(place) = scenario.horizon.place() {
        let hint = "leave out `horizon` or `window`";
        reader.wrong_with_hint(place, "a run with a `window` ends with it", hint);
        return None;
    }
    if let Some(place) =
        scenario.best_partition.place().filter(|_| scenario.best_partition.read(reader) == Some(true))
    {
        let hint = "leave out `best_partition` or `window`";
        reader.wrong_with_hint(
            place,
            "the best partition is searched by the run times of programs that end",
            hint,
        );
        return None;
    }
    let begin = Time::ZERO.saturating_add(warm_up.unwrap_or(Span::ZERO));
    Some((begin.saturating_add(window), Some(begin)))
}

/// Whether most of a run is extrapolated. Runs with a window are short anyway, and latencies need every
/// wake-up.
fn sampled(reader: &mut Reader, scenario: &Scenario<'_>) -> Option<bool> {
    let sampled = scenario.fidelity.read(reader)?;
    if let Some(place) = scenario.fidelity.place().filter(|_| sampled && scenario.window.place().is_some()) {
        let hint = "leave out `fidelity` or `window`";
        reader.wrong_with_hint(place, "only runs up to the end of the programs are sampled", hint);
        return None;
    }
    let latencies = scenario.latencies.place().filter(|_| scenario.latencies.read(reader) == Some(true));
    if let Some(place) = latencies.filter(|_| sampled) {
        let hint = "leave out `fidelity` or `latencies`";
        reader.wrong_with_hint(place, "latencies are those of all wake-ups, and most would not happen", hint);
        return None;
    }
    Some(sampled)
}

/// All runs: the baselines first, then by configuration, policy and replicate.
pub(crate) fn assemble(
    frame: Frame,
    (axes, configurations): (Vec<Axis>, Vec<Configuration>),
    resolved: &[Resolved],
    stepwise: bool,
) -> Experiment {
    let runs = runs(&frame, resolved, 0..frame.repeat, stepwise);
    let first = resolved.first();
    let labels = first.map_or_else(Vec::new, |p| p.policies.iter().map(|(label, _)| label.clone()).collect());
    let baseline = frame.baseline && resolved.iter().all(Resolved::has_dedicated);
    let of_kind = || first.map_or(Objective::Makespan, |first| judged::of_kind(first, baseline));
    let objective = frame.objective.unwrap_or_else(of_kind);
    let specs = || first.into_iter().flat_map(|configuration| &configuration.apps).map(|app| &app.spec);
    Experiment {
        name: frame.name,
        about: frame.about,
        scenario_text: String::new(),
        files: Vec::new(),
        axes,
        configurations,
        policies: labels,
        machines: machines(resolved),
        uncertain: Vec::new(),
        shortened: shortened(resolved),
        apps: specs().map(|spec| spec.name.clone()).collect(),
        background: specs().map(|spec| spec.background).collect(),
        objective,
        seed: frame.seed,
        repeat: frame.repeat,
        baseline,
        best_partition: frame.best_partition,
        runs,
        overrides: Vec::new(),
        warnings: Vec::new(),
    }
}

/// The runs of these replicates of all configurations: the baselines first, then by configuration, policy and
/// replicate.
pub(crate) fn runs(
    frame: &Frame,
    resolved: &[Resolved],
    replicates: Range<u32>,
    stepwise: bool,
) -> Vec<RunPlan> {
    let options = |replicate: u32, configuration: &Resolved| Options {
        seed: frame.seed.wrapping_add(u64::from(replicate)),
        horizon: configuration.horizon,
        stepwise,
        sampled: configuration.sampled,
        admission: configuration.admission,
        start_jitter: configuration.start_jitter,
    };
    let baselines = if frame.baseline { baselines(resolved, &replicates, &options) } else { Vec::new() };
    let mut runs = baselines;
    runs.extend(shared(resolved, &replicates, &options));
    runs.iter_mut().for_each(|run| run.latencies = frame.latencies);
    runs
}

/// The machines of all configurations, each name once.
fn machines(resolved: &[Resolved]) -> Vec<MachineOrigin> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let origins = resolved.iter().map(|configuration| &configuration.origin);
    origins.filter(|origin| seen.insert(&origin.name)).cloned().collect()
}

/// The applications of which only a part is simulated, with the smallest part over the configurations.
fn shortened(resolved: &[Resolved]) -> Vec<Shortened> {
    let mut shortened: Vec<Shortened> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for app in resolved.iter().flat_map(|configuration| &configuration.apps) {
        let Some(share) = app.scale.filter(|share| *share < 1.0) else { continue };
        let place = *places.entry(&app.spec.name).or_insert(shortened.len());
        match shortened.get_mut(place) {
            Some(known) => known.share = known.share.min(share),
            None => shortened.push(Shortened { app: app.spec.name.clone(), share }),
        }
    }
    shortened
}

/// Options of a replicate of a configuration.
type OptionsOf<'a> = dyn Fn(u32, &Resolved) -> Options + 'a;

/// How the applications of a configuration were written.
fn written(configuration: &Resolved) -> Arc<[Written]> {
    configuration.apps.iter().map(|app| app.written.clone()).collect()
}

/// The runs of all applications together, by configuration, policy and replicate.
fn shared(resolved: &[Resolved], replicates: &Range<u32>, options: &OptionsOf<'_>) -> Vec<RunPlan> {
    let mut runs = Vec::new();
    for (at, configuration) in resolved.iter().enumerate() {
        // Arrivals belong to the seed: all policies meet the same.
        let arrivals = |replicate| {
            let options = options(replicate, configuration);
            (options, arrivals::expand(&configuration.apps, &configuration.programs, options.seed))
        };
        let each: Vec<_> = replicates.clone().map(arrivals).collect();
        let written = written(configuration);
        for (policy, (_, choice)) in configuration.policies.iter().enumerate() {
            runs.extend(each.iter().zip(replicates.clone()).map(
                |((options, (specs, entries, objects)), replicate)| RunPlan {
                    configuration: at,
                    policy,
                    replicate,
                    serves: vec![at],
                    alone: None,
                    machine: Arc::clone(&configuration.machine),
                    kernel: Arc::clone(&configuration.kernel),
                    apps: specs.clone(),
                    entries: entries.clone(),
                    written: Arc::clone(&written),
                    objects: Arc::clone(objects),
                    policy_choice: choice.clone(),
                    options: *options,
                    latencies: false,
                    window: configuration.window,
                },
            ));
        }
    }
    runs
}

/// True when a baseline run of an application is the one at this configuration, too. The options are compared
/// as a whole, so that a run with another value of a new one is never shared.
fn serves(plan: &RunPlan, alone: &AppSpec, options: &Options, configuration: &Resolved) -> bool {
    (&plan.options, plan.window) == (options, configuration.window)
        // Equal machines and kernels are the same objects: `Held` has each once.
        && Arc::ptr_eq(&plan.machine, &configuration.machine)
        && Arc::ptr_eq(&plan.kernel, &configuration.kernel)
        && plan.apps.first() == Some(alone)
}

/// Each foreground application alone and pinned; configurations that would repeat a run share it.
fn baselines(resolved: &[Resolved], replicates: &Range<u32>, options: &OptionsOf<'_>) -> Vec<RunPlan> {
    let Some(pin) = ::policies::find("PIN") else {
        return Vec::new();
    };
    let mut distinct: Vec<RunPlan> = Vec::new();
    let mut by_hash: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    for (at, configuration) in resolved.iter().enumerate() {
        let options = Options { admission: Admission::UNLIMITED, ..options(0, configuration) };
        for (index, app) in configuration.apps.iter().enumerate() {
            let Some(alone) = &app.alone else {
                continue;
            };
            let places = (Arc::as_ptr(&configuration.machine), Arc::as_ptr(&configuration.kernel));
            let alike = by_hash
                .entry((index, hash::debug(&(alone, options, configuration.window, places))))
                .or_default();
            let mut alike_runs = alike.iter().copied();
            let known = alike_runs.find(|known| serves(&distinct[*known], alone, &options, configuration));
            if let Some(known) = known {
                distinct[known].serves.push(at);
                continue;
            }
            alike.push(distinct.len());
            distinct.push(RunPlan {
                configuration: at,
                policy: NO_POLICY,
                replicate: 0,
                serves: vec![at],
                alone: Some(index),
                machine: Arc::clone(&configuration.machine),
                kernel: Arc::clone(&configuration.kernel),
                apps: vec![alone.clone()],
                entries: vec![index],
                written: Arc::default(),
                objects: Arc::default(),
                policy_choice: Choice::new(pin),
                options,
                latencies: false,
                window: configuration.window,
            });
        }
    }
    let replicas = |plan: RunPlan| {
        replicates.clone().map(move |replicate| RunPlan {
            replicate,
            options: Options { seed: plan.options.seed.wrapping_add(u64::from(replicate)), ..plan.options },
            ..plan.clone()
        })
    };
    distinct.into_iter().flat_map(replicas).collect()
}
