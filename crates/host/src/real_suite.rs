//! The suite of real runtimes: more than four hundred cells, by runtime and its settings.

use crate::job::Library;
use crate::real::kinds::RUNTIMES;
use crate::result::MACHINE;
use crate::suite::{HOLE, Question};

/// Grains of programs that run alone.
const GRAINS: [&str; 5] = ["20us", "100us", "500us", "2ms", "20ms"];
/// Those of MPI, whose runs need longer to come up.
const FEWER: [&str; 4] = ["20us", "100us", "1ms", "10ms"];
/// Grains of programs beside others.
const BESIDE: [&str; 3] = ["100us", "1ms", "5ms"];

/// How the tasks of a program meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    ForkJoin,
    Barrier,
    Neighbours,
    Allreduce,
}

impl Shape {
    const fn of(library: Library) -> &'static [Self] {
        match library {
            Library::Libgomp | Library::Libomp => &[Self::ForkJoin, Self::Barrier],
            Library::OpenMpi => &[Self::Barrier, Self::Neighbours, Self::Allreduce],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::ForkJoin => "fork_join",
            Self::Barrier => "barrier",
            Self::Neighbours => "neighbours",
            Self::Allreduce => "allreduce",
        }
    }

    /// An application of so many tasks.
    fn app(self, name: &str, grain: &str, runtime: &str, tasks: u32) -> String {
        let meets = match self {
            Self::ForkJoin => {
                return format!(
                    "  {name}: {{ runtime: {runtime}, program: {{ threads: {tasks}, code: 'repeat {HOLE} {{ \
                        parallel {{ run {grain} }} }}' }} }}\n"
                );
            }
            Self::Barrier => "barrier",
            Self::Neighbours => "exchange 1 8B",
            Self::Allreduce => "allreduce 8B",
        };
        format!(
            "  {name}: {{ runtime: {runtime}, program: {{ count: {tasks}, code: 'repeat {HOLE} {{ run \
                {grain}; {meets} }}' }} }}\n"
        )
    }
}

/// All scenarios for a machine of so many cpus and for libraries that this host has; if `quick`, one of each
/// kind.
#[must_use]
pub fn all(cpus: u32, quick: bool, libraries: &[Library]) -> Vec<Question> {
    let mut all = Vec::new();
    let here = RUNTIMES.iter().filter(|(_, library, _)| libraries.contains(library));
    for (kind, library, runtime) in here {
        let mut add = |name: &str, apps: &str| all.push(question(kind, name, apps));
        if quick {
            let [.., shape] = Shape::of(*library) else { continue };
            add("quick", &shape.app("p", "100us", runtime, cpus));
            continue;
        }
        let grains = if *library == Library::OpenMpi { &FEWER[..] } else { &GRAINS[..] };
        for shape in Shape::of(*library) {
            for tasks in [cpus, cpus + 1, 2 * cpus, 4 * cpus] {
                for grain in grains {
                    let name = format!("{} {tasks} tasks {grain}", shape.name());
                    add(&name, &shape.app("p", grain, runtime, tasks));
                }
            }
        }
        let [shape, ..] = Shape::of(*library) else { continue };
        for grain in BESIDE {
            for tasks in [cpus, 2 * cpus] {
                let mut apps = shape.app("p", grain, runtime, tasks);
                apps.push_str("  h: { workload: hog, cpus: [0] }\n");
                add(&format!("beside a hog {tasks} tasks {grain}"), &apps);
            }
            let both = ["a", "b"].map(|name| shape.app(name, grain, runtime, cpus));
            add(&format!("two programs {grain}"), &both.concat());
        }
    }
    all
}

fn question(kind: &'static str, name: &str, apps: &str) -> Question {
    let name = name.replace(' ', "_");
    let text = format!(
        "name: {name}\nmachine: {{ {MACHINE}: {{ core_speed: 1 }} }}\napps:\n{apps}policies: [PIN]\n\
            baseline: none\n"
    );
    Question { kind, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Host;
    use crate::measure::Group;
    use crate::real::kinds::is_kind;
    use crate::suite::{groups, read, text};
    use crate::{real, refusal};

    #[test]
    fn every_scenario_is_valid_and_can_be_executed() {
        let host = Host { cpus: 2, release: "6.18.0".into(), ..Host::unknown() };
        let questions = all(2, false, &Library::ALL);
        let mut cells = 0;
        for question in &questions {
            let run = &read(&text(question, 4, 1_000_000_000), "xeon-2vcpu", 1).unwrap().runs[0];
            refusal::check_by(run, &host, true).unwrap();
            assert!(real::library(run, 0).is_some() && is_kind(question.kind));
            cells += run.apps.iter().filter(|app| !app.background).count();
        }
        assert!(cells > 400, "{cells}");
        let names: std::collections::BTreeSet<_> =
            questions.iter().map(|question| (question.kind, question.text.lines().next())).collect();
        assert_eq!(names.len(), questions.len(), "names tell the cells of a kind apart");
        assert!(all(2, false, &[]).is_empty());
    }

    #[test]
    fn the_quick_suite_is_predicted_and_has_its_libraries() {
        let host = Host { cpus: 2, release: "6.18.0".into(), ..Host::unknown() };
        let questions = all(2, true, &Library::ALL);
        let groups = groups(&questions, "xeon-2vcpu", (1, true), &host, &|| {}).unwrap();
        assert_eq!(groups.iter().map(Group::cells).sum::<usize>(), RUNTIMES.len());
        let libraries: std::collections::BTreeSet<_> = groups.iter().flat_map(Group::libraries).collect();
        assert_eq!(libraries.into_iter().collect::<Vec<_>>(), Library::ALL);
    }
}
