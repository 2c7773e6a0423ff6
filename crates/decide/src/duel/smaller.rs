//! Scenarios that are one step simpler: fewer applications, cpus and tasks, shorter runs, simpler values.

use super::case::{App, Case, MACHINES, TOTALS, at};

/// All scenarios one step simpler, the largest cuts first; the first application that ends stays.
pub(super) fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    for at in 0..case.apps.len() {
        let mut fewer = case.clone();
        fewer.apps.remove(at);
        if fewer.apps.iter().any(|app| app.program.ends()) {
            all.push(fewer);
        }
    }
    all.extend(machines(case));
    for (at, app) in case.apps.iter().enumerate() {
        for simpler in apps(app, case.cpus()) {
            let mut other = case.clone();
            if let Some(place) = other.apps.get_mut(at) {
                *place = simpler;
            }
            all.push(other);
        }
    }
    all
}

/// The same on simpler machines, with the same tasks and with the same load of each cpu.
fn machines(case: &Case) -> Vec<Case> {
    let before = case.cpus().max(1);
    let mut all = Vec::new();
    for (machine, (_, cpus)) in MACHINES.iter().enumerate().take(case.machine) {
        let mut scaled = case.clone();
        scaled.machine = machine;
        for app in &mut scaled.apps {
            app.tasks = (app.tasks * cpus).div_ceil(before).max(1);
        }
        all.push(scaled);
        if *cpus == before {
            continue;
        }
        all.push(Case { machine, ..case.clone() });
    }
    all
}

/// An application with one simpler value.
fn apps(app: &App, cpus: u32) -> Vec<App> {
    let mut all = Vec::new();
    for tasks in [1, app.tasks / 2, cpus, app.tasks.saturating_sub(1)] {
        if tasks > 0 && tasks < app.tasks {
            all.push(App { tasks, ..app.clone() });
        }
    }
    let mut simpler = |changed: App| {
        if changed != *app {
            all.push(changed);
        }
    };
    simpler(App { half: false, ..app.clone() });
    simpler(App { start: 0, ..app.clone() });
    simpler(App { nice: 0, ..app.clone() });
    simpler(App { demand: 0, ..app.clone() });
    simpler(App { imbalance: 0, ..app.clone() });
    simpler(App { spread: 0, ..app.clone() });
    simpler(App { runtime: 0, ..app.clone() });
    simpler(App { grain: 0, ..app.clone() });
    for (total, length) in TOTALS.iter().enumerate() {
        if *length < at(&TOTALS, app.total) {
            simpler(App { total, ..app.clone() });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duel::case::Program;
    use crate::duel::draw::{self, Draws};

    #[test]
    fn steps_to_simpler_scenarios_come_to_an_end() {
        let mut draws = Draws(7);
        let mut case = draw::case(&mut draws, &[Program::Spmd]);
        let mut steps = 0;
        while let Some(next) = smaller(&case).pop() {
            case = next;
            steps += 1;
            assert!(steps < 1_000, "{case:?}");
        }
        assert_eq!((case.machine, case.apps.len(), case.apps[0].tasks), (0, 1, 1));
    }
}
