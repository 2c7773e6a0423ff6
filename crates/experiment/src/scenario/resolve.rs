//! From a scenario's tree to all its runs.

use std::sync::Arc;

use ::policies::Choice;
use notation::parameter::Kind;
use notation::suggest::nearest;
use notation::yaml::{Content, Node};
use sim_core::kernel_model::KernelModel;
use sim_core::machine::Machine;
use sim_core::outcome::{Admission, Options};
use sim_core::program::AppSpec;
use sim_core::time::{Span, Time};

use super::apps::{self, App};
use super::arrivals;
use super::reader::{Reader, Scope};
use super::{MACHINE_KERNEL, policies, registries, sweep, together};
use crate::configuration::{Axis, Configuration};
use crate::plan::{Experiment, NO_POLICY, RunPlan};
use crate::provenance::{MachineOrigin, Shortened};

/// Keys of a scenario.
pub(crate) const KEYS: [&str; 16] = [
    "name",
    "about",
    "machine",
    "kernel",
    "apps",
    "admission",
    "policies",
    "sweep",
    "threads_per_core",
    "baseline",
    "best_partition",
    "repeat",
    "seed",
    "horizon",
    "start_jitter",
    "templates",
];

/// Longest horizon: ten simulated days; instants and work then stay far from the ends of their ranges.
pub(crate) const MAX_HORIZON_NS: u64 = 864_000_000_000_000;
/// Most replicates.
const MAX_REPEAT: u64 = 10_000;
/// Most threads per core.
const MAX_PER_CORE: u64 = 1 << 16;
/// Most runs of an experiment: each is held as a plan before the first one starts.
const MAX_RUNS: usize = 100_000;
/// The horizon of scenarios that name none: one simulated hour.
const DEFAULT_HORIZON_NS: u64 = 3_600_000_000_000;

/// What holds for all configurations.
struct Frame {
    name: String,
    about: String,
    baseline: bool,
    best_partition: bool,
    repeat: u32,
    seed: u64,
}

/// One configuration, resolved.
pub(super) struct Resolved {
    pub(super) machine: Arc<Machine>,
    origin: MachineOrigin,
    kernel: Arc<KernelModel>,
    pub(super) apps: Vec<App>,
    pub(super) policies: Vec<(String, Choice)>,
    pub(super) horizon: Time,
    admission: Admission,
    start_jitter: Span,
}

/// Resolves a scenario; every error goes to the reader.
pub(crate) fn experiment(root: &Node, reader: &mut Reader, stepwise: bool) -> Option<Experiment> {
    reader.mapping(root, "a scenario", &KEYS)?;
    let frame = frame(root, reader);
    let mut configurations = Vec::new();
    let mut resolved = Vec::new();
    let (axes, combinations) = sweep::configurations(root, reader);
    let runs = combinations.len() * runs_per_configuration(root);
    if runs.saturating_mul(frame.as_ref().map_or(1, |frame| frame.repeat as usize)) > MAX_RUNS {
        reader.wrong_node(root, format!("the scenario asks for more than {MAX_RUNS} runs"), "");
        return None;
    }
    for combination in combinations {
        let mut this = resolve_configuration(&combination.tree(root), reader);
        if let (Some(this), Some(Some(last))) = (&mut this, resolved.last()) {
            share(this, last);
        }
        resolved.push(this);
        configurations.push(combination.configuration);
    }
    let frame = frame?;
    let resolved: Option<Vec<Resolved>> = resolved.into_iter().collect();
    let resolved = resolved?;
    Some(assemble(frame, (axes, configurations), &resolved, stepwise))
}

/// How many runs a replicate of one configuration takes at most, baselines included.
fn runs_per_configuration(root: &Node) -> usize {
    let entries = |key: &str| match root.get(key).map(|entry| &entry.value.content) {
        Some(Content::List(items)) => items.len(),
        Some(Content::Map(entries)) => entries.len(),
        _ => 0,
    };
    entries("policies") + entries("apps")
}

/// Holds what is equal at neighbouring configurations once: machines may be large.
fn share(this: &mut Resolved, last: &Resolved) {
    if this.machine == last.machine {
        this.machine = Arc::clone(&last.machine);
    }
    if this.kernel == last.kernel {
        this.kernel = Arc::clone(&last.kernel);
    }
}

/// Name, replicates and the like.
fn frame(root: &Node, reader: &mut Reader) -> Option<Frame> {
    let value = |key: &str| root.get(key).map(|entry| &entry.value);
    let name = match value("name") {
        Some(node) => reader.text(node, "`name`").and_then(|name| {
            let good = apps::is_word(name);
            if !good {
                reader.wrong_node(
                    node,
                    format!("`{name}` is not a valid name for a scenario"),
                    "use letters, digits, `_` and `-`",
                );
            }
            good.then(|| name.to_owned())
        }),
        None => missing(reader, root, "name", "name: cg_ft_share"),
    };
    let about = value("about").map_or(Some(""), |node| reader.text(node, "`about`"));
    let baseline = value("baseline")
        .map_or(Some(1), |node| reader.value(node, "`baseline`", Kind::Choice(&["none", "dedicated"]), 0, 1));
    let best_partition = value("best_partition")
        .map_or(Some(0), |node| reader.value(node, "`best_partition`", Kind::Flag, 0, 1));
    let repeat =
        value("repeat").map_or(Some(1), |node| reader.value(node, "`repeat`", Kind::Count, 1, MAX_REPEAT));
    let seed = value("seed")
        .map_or(Some(1), |node| reader.value(node, "`seed`", Kind::Count, 0, u64::MAX - MAX_REPEAT));
    Some(Frame {
        name: name?,
        about: about?.trim().to_owned(),
        baseline: baseline? == 1,
        best_partition: best_partition? == 1,
        repeat: repeat? as u32,
        seed: seed?,
    })
}

/// Notes a missing key.
fn missing<T>(reader: &mut Reader, root: &Node, key: &str, example: &str) -> Option<T> {
    // A mistyped key has been reported with this one as advice.
    let unknown = root.entries().iter().filter(|entry| !KEYS.contains(&entry.key.as_str()));
    if unknown.into_iter().any(|entry| nearest(&entry.key, KEYS) == Some(key)) {
        return None;
    }
    let place = root.entries().first().map_or(root.place, |entry| entry.place);
    reader.wrong_with_hint(place, format!("the scenario has no `{key}`"), format!("add `{example}`"));
    None
}

/// One configuration of the sweep.
fn resolve_configuration(root: &Node, reader: &mut Reader) -> Option<Resolved> {
    let value = |key: &str| root.get(key).map(|entry| &entry.value);
    let machine = match value("machine") {
        Some(node) => {
            reader.chosen(node, "`machine`", &[]).and_then(|chosen| registries::machine(reader, &chosen))
        }
        None => missing(reader, root, "machine", "machine: barcelona"),
    };
    let own = machine.as_ref().and_then(|chosen| chosen.kernel.clone());
    let (machine, origin) =
        machine.map_or((None, None), |chosen| (Some(chosen.machine), Some(chosen.origin)));
    let cpus = machine.as_ref().map_or(1, |machine| machine.cpus());
    let default = Node::scalar(root.place, MACHINE_KERNEL);
    let kernel = reader
        .chosen(value("kernel").unwrap_or(&default), "`kernel`", &[])
        .and_then(|chosen| registries::kernel(reader, &chosen, own.as_deref(), cpus));
    let tick = kernel.as_ref().map(|kernel| kernel.tick);
    let per_core = value("threads_per_core")
        .map_or(Some(1), |node| reader.value(node, "`threads_per_core`", Kind::Count, 1, MAX_PER_CORE));
    let horizon = value("horizon").map_or(Some(DEFAULT_HORIZON_NS), |node| {
        reader.value(node, "`horizon`", Kind::Duration, 1, MAX_HORIZON_NS)
    });
    reader.scope = Scope {
        machine: machine.as_ref().map(|machine| (machine.name.clone(), machine.cpus())),
        apps: value("apps").map_or(&[][..], Node::entries).iter().map(|app| app.key.clone()).collect(),
    };
    let policies = match value("policies") {
        Some(node) => policies::all(reader, node),
        None => missing(reader, root, "policies", "policies: [LOAD, PIN]"),
    };
    let alone = !value("baseline")
        .is_some_and(|node| matches!(&node.content, Content::Scalar(word) if word == "none"));
    let apps = match value("apps") {
        Some(node) => Some(apps::all(reader, node, machine.as_deref(), per_core.unwrap_or(1), alone)),
        None => missing(reader, root, "apps", "apps: { cg: { workload: { npb: { benchmark: cg } } } }"),
    };
    let jitter = value("start_jitter").map(|node| {
        reader.value(node, "`start_jitter`", Kind::Duration, 0, MAX_HORIZON_NS).map(Span::from_ns)
    });
    let admission = arrivals::admission(reader, root);
    let resolved = Resolved {
        machine: machine?,
        origin: origin?,
        kernel: kernel?,
        apps: apps?,
        policies: policies?,
        horizon: Time::from_ns(horizon?),
        admission: admission?,
        // Real programs do not start in step with the timer tick.
        start_jitter: match jitter {
            Some(span) => span?,
            None => tick?,
        },
    };
    arrivals::check_admission(reader, root, &resolved.apps, resolved.admission);
    together::check(reader, root, &resolved);
    Some(resolved)
}

/// All runs: the baselines first, then by configuration, policy and replicate.
fn assemble(
    frame: Frame,
    (axes, configurations): (Vec<Axis>, Vec<Configuration>),
    resolved: &[Resolved],
    stepwise: bool,
) -> Experiment {
    let options = |replicate: u32, configuration: &Resolved| Options {
        seed: frame.seed.wrapping_add(u64::from(replicate)),
        horizon: configuration.horizon,
        stepwise,
        admission: configuration.admission,
        start_jitter: configuration.start_jitter,
    };
    let mut runs = if frame.baseline { baselines(resolved, frame.repeat, &options) } else { Vec::new() };
    runs.extend(shared(resolved, frame.repeat, &options));
    let first = resolved.first();
    let labels = first.map_or_else(Vec::new, |p| p.policies.iter().map(|(label, _)| label.clone()).collect());
    let specs = || first.into_iter().flat_map(|configuration| &configuration.apps).map(|app| &app.spec);
    Experiment {
        name: frame.name,
        about: frame.about,
        scenario_text: String::new(),
        axes,
        configurations,
        policies: labels,
        machines: machines(resolved),
        shortened: shortened(resolved),
        apps: specs().map(|spec| spec.name.clone()).collect(),
        background: specs().map(|spec| spec.background).collect(),
        seed: frame.seed,
        repeat: frame.repeat,
        baseline: frame.baseline,
        best_partition: frame.best_partition,
        runs,
        overrides: Vec::new(),
        warnings: Vec::new(),
    }
}

/// The machines of all configurations, each name once.
fn machines(resolved: &[Resolved]) -> Vec<MachineOrigin> {
    let mut machines: Vec<MachineOrigin> = Vec::new();
    for origin in resolved.iter().map(|configuration| &configuration.origin) {
        if !machines.iter().any(|known| known.name == origin.name) {
            machines.push(origin.clone());
        }
    }
    machines
}

/// The applications of which only a part is simulated, with the smallest part over the configurations.
fn shortened(resolved: &[Resolved]) -> Vec<Shortened> {
    let mut shortened: Vec<Shortened> = Vec::new();
    for app in resolved.iter().flat_map(|configuration| &configuration.apps) {
        let Some(share) = app.scale.filter(|share| *share < 1.0) else { continue };
        match shortened.iter_mut().find(|known| known.app == app.spec.name) {
            Some(known) => known.share = known.share.min(share),
            None => shortened.push(Shortened { app: app.spec.name.clone(), share }),
        }
    }
    shortened
}

/// Options of a replicate of a configuration.
type OptionsOf<'a> = dyn Fn(u32, &Resolved) -> Options + 'a;

/// The runs of all applications together, by configuration, policy and replicate.
fn shared(resolved: &[Resolved], repeat: u32, options: &OptionsOf<'_>) -> Vec<RunPlan> {
    let mut runs = Vec::new();
    for (at, configuration) in resolved.iter().enumerate() {
        // Arrivals belong to the seed: all policies meet the same.
        let arrivals = |replicate| {
            let options = options(replicate, configuration);
            (options, arrivals::expand(&configuration.apps, options.seed))
        };
        let replicates: Vec<_> = (0..repeat).map(arrivals).collect();
        for (policy, (_, choice)) in configuration.policies.iter().enumerate() {
            runs.extend(replicates.iter().zip(0..).map(|((options, (specs, entries)), replicate)| RunPlan {
                configuration: at,
                policy,
                replicate,
                serves: vec![at],
                alone: None,
                machine: Arc::clone(&configuration.machine),
                kernel: Arc::clone(&configuration.kernel),
                apps: specs.clone(),
                entries: entries.clone(),
                policy_choice: choice.clone(),
                options: *options,
            }));
        }
    }
    runs
}

/// True when a baseline run of an application is the one at this configuration, too.
fn serves(plan: &RunPlan, alone: &AppSpec, configuration: &Resolved) -> bool {
    plan.options.horizon == configuration.horizon
        && plan.options.start_jitter == configuration.start_jitter
        && plan.machine == configuration.machine
        && plan.kernel == configuration.kernel
        && plan.apps.first() == Some(alone)
}

/// Each foreground application alone and pinned; configurations that would repeat a run share it.
fn baselines(resolved: &[Resolved], repeat: u32, options: &OptionsOf<'_>) -> Vec<RunPlan> {
    let Some(pin) = ::policies::find("PIN") else {
        return Vec::new();
    };
    let mut distinct: Vec<RunPlan> = Vec::new();
    // Of each application: its runs among them.
    let mut of_app: Vec<Vec<usize>> = Vec::new();
    for (at, configuration) in resolved.iter().enumerate() {
        for (index, app) in configuration.apps.iter().enumerate() {
            let Some(alone) = &app.alone else {
                continue;
            };
            if of_app.len() <= index {
                of_app.resize(index + 1, Vec::new());
            }
            let known = of_app[index].iter().find(|known| serves(&distinct[**known], alone, configuration));
            if let Some(known) = known {
                distinct[*known].serves.push(at);
                continue;
            }
            of_app[index].push(distinct.len());
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
                policy_choice: Choice::new(pin),
                options: Options { admission: Admission::UNLIMITED, ..options(0, configuration) },
            });
        }
    }
    let replicas = |plan: RunPlan| {
        (0..repeat).map(move |replicate| RunPlan {
            replicate,
            options: Options { seed: plan.options.seed.wrapping_add(u64::from(replicate)), ..plan.options },
            ..plan.clone()
        })
    };
    distinct.into_iter().flat_map(replicas).collect()
}
