//! What one has to know beside the lines, and what cannot be typed.

use super::advice::{Dialect, Layer, Lever, Program, Waiting};
use super::case::Case;
use super::libraries::of_processes;
use super::row::WITH_VARIABLES;
use super::values;

/// The levers in the order in which they are remarked.
pub(super) const LEVERS: [Lever; 12] = [
    Lever::Processes,
    Lever::Threads,
    Lever::Place,
    Lever::Cpus,
    Lever::WaitOfProcesses,
    Lever::WaitOfThreads,
    Lever::Pages,
    Lever::Nice,
    Lever::Quota,
    Lever::Burst,
    Lever::Weight,
    Lever::Shared,
];

/// A remark and when it holds.
struct Remark {
    dialects: &'static [Dialect],
    holds: fn(&Case<'_>) -> bool,
    text: fn(&Case<'_>) -> String,
}

const REMARKS: &[Remark] = &[
    Remark {
        dialects: &[
            Dialect::Shell,
            Dialect::Slurm,
            Dialect::Systemd,
            Dialect::Cgroup,
            Dialect::Docker,
            Dialect::Kubernetes,
        ],
        holds: |case| values::bound_together(case) && values::differ(case),
        text: |case| {
            format!(
                "# {}: its {} are not bound one by one; they move inside the cpus of all",
                name(case.program),
                if case.program.threads.as_ref().is_some_and(|layer| of_processes(&layer.runtime)) {
                    "processes"
                } else {
                    "threads"
                }
            )
        },
    },
    Remark {
        dialects: WITH_VARIABLES,
        holds: |case| values::calls_make(case),
        text: |case| {
            let (name, jobs) = (name(case.program), case.team());
            format!("# {name}: as an option: make -j {jobs}, ninja -j {jobs}, cargo build -j {jobs}")
        },
    },
    Remark {
        dialects: WITH_VARIABLES,
        holds: values::without_policy,
        text: |case| format!("# {}: with OMP_WAIT_POLICY unset", name(case.program)),
    },
    Remark {
        dialects: &[Dialect::Slurm, Dialect::OpenMpi, Dialect::IntelMpi, Dialect::Mpich],
        holds: values::threads_float,
        text: |case| format!("# {}: threads move inside the cpus of their process", name(case.program)),
    },
    Remark {
        dialects: &[Dialect::Slurm],
        holds: |case| values::cpu_bind(case).is_some_and(|text| text != "none"),
        text: |case| {
            format!(
                "# {}: --cpu-bind names cpus of the node, so the job needs all of them",
                name(case.program)
            )
        },
    },
    Remark {
        dialects: &[Dialect::Kubernetes],
        holds: |case| values::static_policy(case).is_some(),
        text: |case| {
            format!(
                "# {}: the kubelet chooses the cpus; requests of memory equal limits, too",
                name(case.program)
            )
        },
    },
];

fn name(program: &Program) -> String {
    notation::neutral::line(&program.name).into_owned()
}

/// What to know of a program in a dialect.
pub(super) fn of(case: &Case<'_>) -> Vec<String> {
    let here = |remark: &&Remark| remark.dialects.contains(&case.dialect) && (remark.holds)(case);
    REMARKS.iter().filter(here).map(|remark| (remark.text)(case)).collect()
}

/// What tasks are to do, after "by which its threads".
fn doing(wait: Waiting) -> String {
    match wait {
        Waiting::Default => "wait as by default".to_owned(),
        Waiting::Sleep => "sleep at once".to_owned(),
        Waiting::Yield => "yield and never sleep".to_owned(),
        Waiting::Spin => "poll without end".to_owned(),
        Waiting::SpinFor(ns) => format!("poll for {ns} ns and then sleep"),
        Waiting::SpinCount(count) => format!("poll {count} times and then sleep"),
    }
}

/// That none of some systems starts a program: launchers of MPI start the processes of their own libraries.
/// `own`: those that do.
pub(super) fn not_started(program: &Program, dialects: &[Dialect], own: &[Dialect]) -> String {
    let names = |dialects: &[Dialect]| {
        let names: Vec<String> = dialects.iter().map(|dialect| dialect.name().to_owned()).collect();
        notation::number::listed(&names)
    };
    let what = match &program.processes {
        Some(layer) => format!("processes of {}", notation::neutral::line(&layer.runtime)),
        None => "a program without processes of MPI".to_owned(),
    };
    format!("# {}: {what} cannot be set by {}: ask for {}", name(program), names(dialects), names(own))
}

/// That a setting cannot be typed.
pub(super) fn unsaid(program: &Program, lever: Lever, dialects: &[Dialect]) -> String {
    let of = |layer: &Option<Layer>, who: &str| {
        let layer = layer.as_ref()?;
        let runtime = notation::neutral::line(&layer.runtime).into_owned();
        if layer.wait == Some(Waiting::Default) {
            let name = name(program);
            return Some(format!("# {name}: set nothing by which {who} of {runtime} wait in another way"));
        }
        let wait = layer.wait.map(doing)?;
        Some(format!("# {}: no setting of {runtime} is known by which {who} {wait}", name(program)))
    };
    let own = |layer: &Option<Layer>, one: &str, many: &str| {
        let number = layer.as_ref()?.number as usize;
        let many = notation::number::plural(number, one, many);
        Some(format!("# {}: start it with {many}, by an option of its own", name(program)))
    };
    let wait = match lever {
        Lever::Threads => own(&program.threads, "thread", "threads"),
        Lever::Processes => own(&program.processes, "process", "processes"),
        Lever::WaitOfThreads => of(&program.threads, "threads"),
        Lever::WaitOfProcesses => of(&program.processes, "processes"),
        _ => None,
    };
    wait.unwrap_or_else(|| {
        let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name()).collect();
        format!("# {}: {} cannot be set here ({})", name(program), lever.words(), names.join(", "))
    })
}
