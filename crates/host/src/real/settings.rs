//! The settings of real runtimes: from the parameters of a scenario to variables and arguments.

use scenario::written::{Chosen, Written};
use sim_core::program::AppSpec;
use sim_core::wait::WaitMode;

use super::Refused;
use crate::job::Library;

/// What a runtime is started with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Variables of its environment.
    pub variables: Vec<(String, String)>,
    /// Its launcher with arguments; empty without one.
    pub launcher: Vec<String>,
}

/// Parameters that are no settings but costs, and those of a start that `oversim measure` replaces.
const COSTS: &[&str] = &[
    "spin_step",
    "poll",
    "message_call",
    "large_message_call",
    "copy_rate",
    "single_copy_rate",
    "startup",
    "start_barrier",
    "start_sleep",
    "touch",
];

/// Parameters with a setting of the real runtime.
const fn settable(library: Library) -> &'static [&'static str] {
    match library {
        Library::Libgomp => &["spin_count", "throttled_spin_count"],
        Library::Libomp => &["block_time", "library"],
        Library::OpenMpi => &["yielding", "slots", "eager_limit", "single_copy"],
    }
}

/// The settings of an application's runtime.
///
/// # Errors
/// A parameter that the real runtime does not have, and what would be right.
pub fn of(library: Library, app: &AppSpec, written: &Written) -> Result<Settings, Refused> {
    let chosen = &written.runtime;
    let known = |name: &str| COSTS.contains(&name) || settable(library).contains(&name);
    if let Some((name, _)) = chosen.changed.iter().find(|(name, _)| !known(name)) {
        let right = match settable(library) {
            [others @ .., last] => format!("leave it out; {} and {last} can be set", others.join(", ")),
            [] => "leave it out".to_owned(),
        };
        return Err((format!("`{name}` of `{}` is no setting of the real runtime", chosen.name), right));
    }
    let plain = |variables| Ok(Settings { variables, launcher: Vec::new() });
    match library {
        Library::Libgomp => plain(libgomp(app, chosen)?),
        Library::Libomp => plain(libomp(app, chosen)?),
        Library::OpenMpi => Ok(Settings { variables: Vec::new(), launcher: open_mpi(app, chosen) }),
    }
}

fn variable(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// What all runtimes of OpenMP are told.
fn openmp(app: &AppSpec) -> Vec<(String, String)> {
    vec![variable("OMP_NUM_THREADS", app.tasks.to_string()), variable("OMP_DYNAMIC", "false")]
}

/// GCC 12, libgomp/env.c: OMP_WAIT_POLICY decides how often a thread polls that is throttled (1,000 times if
/// active, 0 if passive, else 100), GOMP_SPINCOUNT how often all others do.
fn libgomp(app: &AppSpec, chosen: &Chosen) -> Result<Vec<(String, String)>, Refused> {
    let number = |name| chosen.number(name).unwrap_or(0);
    let mut variables = openmp(app);
    variables.push(variable("GOMP_SPINCOUNT", number("spin_count").to_string()));
    match number("throttled_spin_count") {
        0 => variables.push(variable("OMP_WAIT_POLICY", "passive")),
        100 => {}
        1_000 => variables.push(variable("OMP_WAIT_POLICY", "active")),
        other => {
            return Err((
                format!("`throttled_spin_count: {other}` is no setting of libgomp"),
                "write 0 (OMP_WAIT_POLICY=passive), 100 (undefined) or 1000 (active)".into(),
            ));
        }
    }
    Ok(variables)
}

fn libomp(app: &AppSpec, chosen: &Chosen) -> Result<Vec<(String, String)>, Refused> {
    const MILLISECOND: u64 = 1_000_000;
    let mut variables = openmp(app);
    let time = match chosen.number("block_time").unwrap_or(0) {
        u64::MAX => "infinite".to_owned(),
        time if time % MILLISECOND == 0 && time / MILLISECOND < i32::MAX as u64 => {
            (time / MILLISECOND).to_string()
        }
        _ => {
            let what = "`block_time` has a part of a millisecond, and KMP_BLOCKTIME has none";
            return Err((what.into(), "write whole milliseconds, or `infinite`".into()));
        }
    };
    variables.push(variable("KMP_BLOCKTIME", time));
    if chosen.number("library") == Some(1) {
        variables.push(variable("KMP_LIBRARY", "turnaround"));
    }
    Ok(variables)
}

/// The launcher of Open MPI for one job on this host. Ranks bind themselves as the policy says.
fn open_mpi(app: &AppSpec, chosen: &Chosen) -> Vec<String> {
    let yields = matches!(app.runtime.wait, WaitMode::SpinThenBlock { yielding: true, .. });
    let mut arguments: Vec<String> =
        ["mpirun", "--bind-to", "none", "--oversubscribe", "--allow-run-as-root"].map(str::to_owned).into();
    let mut set = |name: &str, value: &str| {
        arguments.extend(["--mca", name, value].map(str::to_owned));
    };
    // No other hosts, and no shell to reach them.
    set("plm", "isolated");
    set("mpi_yield_when_idle", if yields { "1" } else { "0" });
    for (name, value) in &chosen.changed {
        match *name {
            "eager_limit" => set("btl_vader_eager_limit", &value.to_string()),
            "single_copy" if *value == 0 => set("btl_vader_single_copy_mechanism", "none"),
            _ => {}
        }
    }
    arguments.extend(["-n".to_owned(), app.tasks.to_string()]);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real;
    use crate::testing::{experiment, runs};

    fn settings(runtime: &str) -> Result<Settings, Refused> {
        let text = format!(
            "{{ name: t, machine: 'core:2', kernel: linux-6.18, policies: [PIN], apps: {{ a: {{ runtime: \
                {runtime}, program: {{ count: 4, code: 'repeat 3 {{ run 1ms; barrier }}' }} }} }} }}"
        );
        let run = &runs(&experiment(&text))[0];
        let library = real::library(run, 0).unwrap();
        of(library, &run.apps[0], &run.written[0])
    }

    fn value(settings: &Settings, name: &str) -> Option<String> {
        settings.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn parameters_become_variables() {
        let gomp = |runtime| {
            let settings = settings(runtime).unwrap();
            ["OMP_NUM_THREADS", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"]
                .map(|name| value(&settings, name).unwrap_or_default())
        };
        assert_eq!(gomp("libgomp"), ["4", "300000", ""]);
        assert_eq!(gomp("{ libgomp: { spin_count: 7, throttled_spin_count: 0 } }"), ["4", "7", "passive"]);
        let active = "{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000, spin_step: 9ns } }";
        assert_eq!(gomp(active), ["4", "30000000000", "active"]);
        let omp = |runtime| value(&settings(runtime).unwrap(), "KMP_BLOCKTIME").unwrap();
        assert_eq!(omp("libomp"), "200");
        assert_eq!(omp("{ libomp: { block_time: infinite } }"), "infinite");
        assert_eq!(omp("{ libomp: { block_time: 0s } }"), "0");
    }

    #[test]
    fn the_launcher_yields_as_the_runtime_does() {
        let launcher = |runtime| settings(runtime).unwrap().launcher.join(" ");
        // Four ranks on two cores.
        assert!(launcher("openmpi").contains("mpi_yield_when_idle 1 -n 4"));
        let never = launcher("{ openmpi: { yielding: never, eager_limit: 8KiB, single_copy: false } }");
        assert!(never.contains("mpi_yield_when_idle 0") && never.contains("btl_vader_eager_limit 8192"));
        assert!(never.contains("btl_vader_single_copy_mechanism none"), "{never}");
    }

    #[test]
    fn a_parameter_without_a_setting_is_refused_by_name() {
        for (runtime, what, right) in [
            ("{ libgomp: { throttled_spin_count: 7 } }", "`throttled_spin_count: 7`", "OMP_WAIT_POLICY"),
            ("{ libgomp: { barrier: tree } }", "`barrier` of `libgomp`", "throttled_spin_count can be set"),
            ("{ libomp: { polls: 9 } }", "`polls` of `libomp`", "block_time and library"),
            ("{ libomp: { block_time: 100us } }", "`block_time`", "whole milliseconds"),
            ("{ openmpi: { collectives: mpich } }", "`collectives` of `openmpi`", "leave it out"),
            ("{ openmpi: { wait: block } }", "`wait` of `openmpi`", "leave it out"),
        ] {
            let (said, instead) = settings(runtime).unwrap_err();
            assert!(said.contains(what) && instead.contains(right), "{runtime}: {said}: {instead}");
        }
    }
}
