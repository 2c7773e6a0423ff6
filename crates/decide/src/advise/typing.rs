//! A choice as what a user types.

use notation::cpus::Numbering;
use scenario::plan::Experiment;

use super::Advised;
use super::levers::{Effect, Layout, Lever, PIN, Program, shared};
use crate::typed::{self, Advice, Dialect, Layer, Node, Place, Unit};

/// The programs as they are.
fn as_they_are(programs: &[Program]) -> Vec<typed::Program> {
    let layer = |runtime: &str, number: u32| {
        Some(Layer { runtime: runtime.to_owned(), number: number.max(1), set: false, wait: None })
    };
    let each = programs.iter().map(|program| {
        let first = program.runtimes.first().map_or("", |runtime| runtime.name);
        let second = program.runtimes.get(1).map_or(first, |runtime| runtime.name);
        let team = program.team.max(1);
        let (processes, threads) = if program.processes {
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
fn advice(programs: &[Program], levers: &[Lever], choice: &[usize]) -> Advice {
    let mut advice = Advice { programs: as_they_are(programs), ..Advice::default() };
    for (lever, at) in levers.iter().zip(choice) {
        let Some(value) = lever.values.get(*at) else { continue };
        if value.effect == Effect::InTurns {
            advice.turns = true;
        }
        for program in &mut advice.programs {
            if lever.app.as_ref().is_none_or(|name| *name == program.name) {
                add(program, &value.effect);
            }
        }
    }
    advice
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
        Effect::Ranks(count, threads) => {
            number(&mut program.processes, *count);
            number(&mut program.threads, *threads);
        }
        Effect::Unbound => program.place = Some(Place::Unbound),
        Effect::Bound(Layout::Spread) => program.place = bound(typed::Layout::Spread, Unit::Cpu),
        Effect::Bound(Layout::Close) => program.place = bound(typed::Layout::Close, Unit::Cpu),
        Effect::Bound(Layout::Node) => program.place = bound(typed::Layout::Spread, Unit::Node),
        Effect::Waits { runtime, waiting } => {
            let layers = [&mut program.processes, &mut program.threads];
            for layer in layers.into_iter().flatten().filter(|layer| layer.runtime == *runtime) {
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
    for program in advice.programs.iter_mut().filter(|program| program.processes.is_some()) {
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
        let mut advice = advice(&self.programs, &self.found.levers, &advised.choice);
        if plan.policy_choice.entry.name != PIN {
            unbound(&mut advice);
        }
        let usual = typed::usual(&advice);
        let dialects = if dialects.is_empty() { &usual } else { dialects };
        let lines = typed::lines(&advice, &node, dialects);
        lines.into_iter().map(|line| line.text).collect()
    }
}
