//! Random scenarios of a search, and small changes of one.

use sim_core::rng::{below, next};

use super::case::{
    App, Case, DEMANDS, GRAINS, IMBALANCES, MACHINES, MOST_APPS, NICES, PROGRAMS, Program, RUNTIMES, SPREADS,
    STARTS, TOTALS,
};

/// A stream of draws.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    /// A number below a bound.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        below(bound as u64, next(&mut self.0)) as usize
    }

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A place in a list; the first one, the simplest, in two of three.
    fn place(&mut self, length: usize) -> usize {
        if self.once_in(3) { self.below(length) } else { 0 }
    }
}

/// A number of tasks: few, one for each cpu, one more, twice as many, or any up to twice the cpus.
fn tasks(draws: &mut Draws, cpus: u32) -> u32 {
    match draws.below(5) {
        0 => 1,
        1 => cpus,
        2 => cpus + 1,
        3 => 2 * cpus,
        _ => 1 + draws.below(2 * cpus as usize) as u32,
    }
}

fn app(draws: &mut Draws, cpus: u32, programs: &[Program]) -> App {
    let program = programs.get(draws.below(programs.len())).copied().unwrap_or(Program::Spmd);
    App {
        program,
        tasks: tasks(draws, cpus),
        grain: draws.below(GRAINS.len()),
        total: draws.below(TOTALS.len()),
        spread: draws.place(SPREADS.len()),
        imbalance: draws.place(IMBALANCES.len()),
        demand: draws.place(DEMANDS.len()),
        runtime: draws.below(RUNTIMES.len()),
        nice: draws.place(NICES.len()),
        start: draws.place(STARTS.len()),
        half: draws.once_in(8),
    }
}

/// A random scenario. The first application ends; `first`: of these programs.
pub(super) fn case(draws: &mut Draws, first: &[Program]) -> Case {
    let machine = draws.below(MACHINES.len());
    let mut case = Case { machine, apps: Vec::new() };
    let cpus = case.cpus();
    case.apps.push(app(draws, cpus, first));
    let more = draws.below(MOST_APPS);
    for _ in 0..more {
        case.apps.push(app(draws, cpus, &PROGRAMS));
    }
    case
}

/// A neighbour of a scenario: one or two of its parts are drawn anew.
pub(super) fn changed(draws: &mut Draws, case: &Case, first: &[Program]) -> Case {
    let mut other = case.clone();
    let times = 1 + draws.below(2);
    for _ in 0..times {
        change(draws, &mut other, first);
    }
    other
}

fn change(draws: &mut Draws, case: &mut Case, first: &[Program]) {
    let apps = case.apps.len();
    match draws.below(10) {
        0 => {
            let before = case.cpus().max(1);
            case.machine = draws.below(MACHINES.len());
            // The load of each cpu stays.
            let now = case.cpus();
            for app in &mut case.apps {
                app.tasks = (app.tasks * now).div_ceil(before).max(1);
            }
        }
        1 if apps < MOST_APPS => {
            let more = app(draws, case.cpus(), &PROGRAMS);
            case.apps.push(more);
        }
        2 if apps > 1 => {
            let at = 1 + draws.below(apps - 1);
            case.apps.remove(at);
        }
        _ => {
            let at = draws.below(apps);
            let anew = app(draws, case.cpus(), if at == 0 { first } else { &PROGRAMS });
            let Some(one) = case.apps.get_mut(at) else { return };
            match draws.below(10) {
                0 => *one = anew,
                1 | 2 => one.tasks = anew.tasks,
                3 => one.grain = anew.grain,
                4 => one.total = anew.total,
                5 => one.spread = draws.below(SPREADS.len()),
                6 => one.imbalance = draws.below(IMBALANCES.len()),
                7 => one.runtime = anew.runtime,
                8 => one.demand = draws.below(DEMANDS.len()),
                _ => {
                    one.nice = anew.nice;
                    one.start = anew.start;
                    one.half = !one.half;
                }
            }
        }
    }
}
