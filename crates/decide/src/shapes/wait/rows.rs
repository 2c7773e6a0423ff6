//! The settings of waiting that a runtime has: what one types, and what it is in a scenario.

use scenario::plan::Experiment;
use workloads::runtimes::RUNTIMES;

use super::SettingRow;
use crate::typed::{Advice, Dialect, Layer, Lever, Node, Program, ROWS, Waiting, lines, simulated};
use crate::ways;

/// Whether the ranks of a runtime are processes, each a task of its own; else they are the threads of a team.
pub(super) fn is_of_processes(runtime: &str) -> bool {
    let parameters = RUNTIMES.find(runtime).map_or(&[][..], |entry| entry.parameters);
    parameters.iter().any(|parameter| parameter.name == "processes" && parameter.default != 0)
}

/// The rows of a runtime, from sleeping at once to polling without end. `experiment`: on whose machine.
pub(super) fn rows(runtime: &str, experiment: &Experiment) -> Vec<SettingRow> {
    let row = |way: &Waiting| {
        let default = *way == Waiting::Default;
        let typed = if default { String::new() } else { typed(runtime, *way, experiment) };
        let simulated = simulated(runtime, *way).unwrap_or_else(|| runtime.to_owned());
        SettingRow { typed, about: ways::about(runtime, *way), runtime: simulated }
    };
    ways::all(runtime).iter().map(row).collect()
}

/// The assignments of environment variables that make a runtime wait so.
fn typed(runtime: &str, way: Waiting, experiment: &Experiment) -> String {
    let Some(plan) = experiment.runs.first() else { return String::new() };
    let numbering = experiment.numbering(&plan.machine);
    let node = Node { machine: &plan.machine, numbering: &numbering };
    let layer = Some(Layer { runtime: runtime.to_owned(), number: 2, set: false, wait: Some(way) });
    let (processes, threads, lever) = if is_of_processes(runtime) {
        (layer, None, Lever::WaitOfProcesses)
    } else {
        (None, layer, Lever::WaitOfThreads)
    };
    let program = Program { processes, threads, ..Program::default() };
    let advice = Advice { programs: vec![program], ..Advice::default() };
    let waits = |name: &str| {
        let mut rows = ROWS.iter().copied().flatten();
        rows.any(|row| row.name == name && row.levers.contains(&lever))
    };
    let lines = lines(&advice, &node, &[Dialect::Shell]);
    let said = lines.iter().flat_map(|line| &line.settings).filter(|said| waits(said.name));
    let each: Vec<String> = said.map(|said| format!("{}={}", said.name, said.value)).collect();
    each.join(" ")
}
