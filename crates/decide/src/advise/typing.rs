//! A choice as what a user types.

use notation::cpus::Numbering;
use scenario::plan::{Experiment, RunPlan};
use sim_core::program::Op;

use super::Advised;
use super::levers::{Effect, Layout, Lever, PIN, Program, Value, shared};
use crate::typed::{self, Advice, Dialect, Layer, Node, Pages, Place, Unit};

/// Whether an application takes jobs of a list, each in a process of its own, until none is left: `make -j`.
fn is_build(plan: &RunPlan, app: &str) -> bool {
    let of = plan.apps.iter().find(|spec| spec.name == app).map(|spec| spec.program.ops());
    let ops = of.unwrap_or_default();
    let alone = |op: &&Op| matches!(op, Op::RepeatShared(_) | Op::Barrier | Op::StartClock);
    matches!(ops.iter().filter(alone).collect::<Vec<_>>()[..], [Op::RepeatShared(_)])
        && ops.contains(&Op::Respawn)
}

/// The programs as they are.
fn as_they_are(plan: &RunPlan, programs: &[Program]) -> Vec<typed::Program> {
    let layer = |runtime: &str, number: u32| {
        Some(Layer { runtime: runtime.to_owned(), number: number.max(1), set: false, wait: None })
    };
    let each = programs.iter().map(|program| {
        let first = program.runtimes.first().map_or("", |runtime| runtime.name);
        let second = program.runtimes.get(1).map_or(first, |runtime| runtime.name);
        let team = program.team.max(1);
        let build = || is_build(plan, &program.name).then_some("make");
        let own = typed::Program::command(&program.name, first).or_else(build).filter(|_| team == 1);
        let (processes, threads) = if let Some(command) = own {
            (None, layer(command, program.tasks))
        } else if program.processes {
            let threads = if program.team > 1 { layer(second, team) } else { None };
            (layer(first, program.tasks / team), threads)
        } else {
            (None, layer(first, program.tasks))
        };
        typed::Program { name: program.name.clone(), processes, threads, ..typed::Program::default() }
    });
    each.collect()
}

/// The advice of a choice.
fn advice(plan: &RunPlan, programs: &[Program], levers: &[Lever], choice: &[usize]) -> Advice {
    let mut advice = Advice { programs: as_they_are(plan, programs), ..Advice::default() };
    for (lever, at) in levers.iter().zip(choice) {
        let Some(value) = lever.values.get(*at) else { continue };
        if value.effect == Effect::InTurns {
            advice.turns = true;
        }
        for program in &mut advice.programs {
            if lever.app.as_ref().is_none_or(|name| *name == program.name) {
                add(program, &value.effect);
            }
            program.pages = pages(&program.name, &value.effect).or(program.pages.take());
        }
    }
    advice
}

/// Where `numactl` lets the memory of a program come from, if an effect says so.
fn pages(program: &str, effect: &Effect) -> Option<Pages> {
    let Effect::Path(path, value) = effect else { return None };
    let own = path.strip_prefix("apps.")?.strip_suffix(".workload.pages")? == program;
    match value.as_str() {
        "interleaved" => own.then_some(Pages::Interleaved),
        "node0" => own.then(|| Pages::Nodes(vec![0])),
        _ => None,
    }
}

/// Adds an effect to a program.
fn add(program: &mut typed::Program, effect: &Effect) {
    let number = |layer: &mut Option<Layer>, number: u32| {
        if let Some(layer) = layer {
            (layer.number, layer.set) = (number, true);
        }
    };
    let bound = |layout, unit| Some(Place::Bound { layout, unit, offset: 0 });
    match effect {
        Effect::Threads(count) => number(&mut program.threads, *count),
        Effect::Ranks(count, threads) if program.processes.is_none() => {
            number(&mut program.threads, count * threads);
        }
        Effect::Ranks(count, threads) => {
            number(&mut program.processes, *count);
            number(&mut program.threads, *threads);
        }
        Effect::Unbound => program.place = Some(Place::Unbound),
        Effect::Bound(Layout::Spread) => program.place = bound(typed::Layout::Spread, Unit::Cpu),
        Effect::Bound(Layout::Close) => program.place = bound(typed::Layout::Close, Unit::Cpu),
        Effect::Bound(Layout::Node) => program.place = bound(typed::Layout::Spread, Unit::Node),
        Effect::Bound(Layout::Blocks) => program.place = bound(typed::Layout::Blocks, Unit::Core),
        Effect::Waits { runtime, waiting } => {
            // A command stands for the only runtime that its program has.
            let only = program.processes.is_none();
            let layers = [&mut program.processes, &mut program.threads];
            for layer in layers.into_iter().flatten().filter(|layer| only || layer.runtime == *runtime) {
                layer.wait = Some(*waiting);
            }
        }
        Effect::OneThreadPerCore(cpus) => {
            program.cpus = Some(cpus.clone());
            program.one_thread_per_core = true;
        }
        Effect::Parts(parts) => {
            let own = parts.iter().find(|(name, _)| *name == program.name);
            program.cpus = own.map(|(_, cpus)| cpus.clone());
        }
        Effect::Quota(quota, period) => {
            program.quota = Some(typed::Quota { quota: *quota, period: *period, burst: 0 });
        }
        Effect::Nice(nice) => program.nice = Some(*nice),
        Effect::AsItIs | Effect::InTurns | Effect::Path(..) => {}
    }
}

/// Launchers of MPI bind processes by themselves; a scenario without `PIN` does not.
fn unbound(advice: &mut Advice) {
    for program in advice.programs.iter_mut().filter(|program| program.is_launched()) {
        program.place.get_or_insert(Place::Unbound);
    }
}

/// How lists name the cpus of the machine of a scenario.
fn numbering(experiment: &Experiment) -> Option<Numbering> {
    Some(experiment.numbering(&shared(experiment)?.machine))
}

impl Advised {
    /// What a user types for the advised setting in some dialects; without one, in those that the programs
    /// need. Empty where nothing is to be set.
    #[must_use]
    pub fn typed(&self, dialects: &[Dialect]) -> Vec<String> {
        let advised = self.found.last.first().unwrap_or(&self.found.as_it_is);
        let (Some(plan), Some(numbering)) = (shared(&self.experiment), numbering(&self.experiment)) else {
            return Vec::new();
        };
        if advised.changes() == 0 {
            return Vec::new();
        }
        let node = Node { machine: &plan.machine, numbering: &numbering };
        let mut advice = advice(plan, &self.programs, &self.found.levers, &advised.choice);
        if plan.policy_choice.entry.name != PIN {
            unbound(&mut advice);
        }
        let usual = typed::usual(&advice);
        let dialects = if dialects.is_empty() { &usual } else { dialects };
        let lines = typed::lines(&advice, &node, dialects);
        let numbers = lines.iter().any(typed::Line::names_cpus);
        let mut lines: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        lines.extend(untyped(&self.programs, (&self.found.levers, &advised.choice), dialects));
        if numbers {
            lines.extend(not_of_linux(&plan.machine.name, &numbering));
        }
        lines
    }
}

/// What a choice sets for which nothing can be typed: values of the scenario that the user named, and turns
/// where no program is started by a command.
fn untyped(
    programs: &[Program],
    (levers, choice): (&[Lever], &[usize]),
    dialects: &[Dialect],
) -> Vec<String> {
    let is_typed = |effect: &Effect| programs.iter().any(|one| pages(&one.name, effect).is_some());
    let chosen = levers.iter().zip(choice).filter_map(|(lever, at)| lever.values.get(*at));
    let commands =
        |dialect: &Dialect| !matches!(dialect, Dialect::Cgroup | Dialect::Docker | Dialect::Kubernetes);
    let say = |value: &Value| match &value.effect {
        effect if is_typed(effect) => None,
        Effect::Path(path, value) => {
            Some(format!("# {path}={value}: a value of the scenario, which the program takes in its own way"))
        }
        Effect::InTurns if !dialects.iter().any(commands) => {
            let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name()).collect();
            Some(format!("# one program after the other cannot be said here ({})", names.join(", ")))
        }
        _ => None,
    };
    chosen.filter_map(say).collect()
}

/// What to know of numbers of cpus where nobody has stated how Linux numbers them: on machines that are
/// written in one line, and on built-in ones. A file has the numbers of its author.
fn not_of_linux(machine: &str, numbering: &Numbering) -> Vec<String> {
    let one_line = machines::parse_topology(machine).is_ok();
    if !numbering.linux.is_empty() || !(one_line || machines::names().any(|name| name == machine)) {
        return Vec::new();
    }
    vec![
        format!("# these are numbers of cpus of {machine}: on your machine Linux may number them otherwise."),
        "# `oversim machine import --host -o mine.yaml` there, then --machine mine.yaml, gives its numbers."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_nobody_have_no_numbers_of_linux() {
        let of = |name: &str, linux: &[u32]| {
            let numbering = Numbering { machine: name.to_owned(), cpus: 2, linux: linux.to_vec() };
            not_of_linux(name, &numbering).len()
        };
        assert_eq!((of("core:2", &[]), of("epyc", &[])), (2, 2));
        assert_eq!((of("this-computer", &[]), of("mine", &[0, 1])), (0, 0));
    }

    #[test]
    fn places_of_memory_are_those_of_numactl() {
        let path = |value: &str| Effect::Path("apps.x.workload.pages".to_owned(), value.to_owned());
        assert_eq!(pages("x", &path("interleaved")), Some(Pages::Interleaved));
        assert_eq!(pages("x", &path("node0")), Some(Pages::Nodes(vec![0])));
        assert_eq!((pages("y", &path("node0")), pages("x", &path("team"))), (None, None));
    }

    #[test]
    fn what_nothing_can_be_typed_for_is_said() {
        let value = |effect| Value { effect, set: Vec::new(), policy: None };
        let lever = |effect| Lever {
            kind: super::super::levers::Kind::Path,
            app: None,
            values: vec![value(Effect::AsItIs), value(effect)],
        };
        let path = Effect::Path("apps.x.workload.grain".to_owned(), "2ms".to_owned());
        let levers = [lever(path), lever(Effect::InTurns)];
        let said = untyped(&[], (&levers, &[1, 1]), &[Dialect::Docker]);
        assert!(said[0].starts_with("# apps.x.workload.grain=2ms: "), "{said:?}");
        assert_eq!(said[1..], ["# one program after the other cannot be said here (docker)"]);
        let none = untyped(&[], (&levers, &[0, 1]), &[Dialect::Docker, Dialect::Shell]);
        assert_eq!(none, Vec::<String>::new());
    }
}
