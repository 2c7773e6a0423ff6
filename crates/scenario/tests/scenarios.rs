//! Every scenario of the repository resolves, and scenarios resolve to the runs they ask for.

use std::fs;
use std::path::PathBuf;

use scenario::configuration::Setting;
use scenario::plan::{Experiment, NO_POLICY};
use scenario::{Overrides, load};
use sim_core::ids::CpuId;
use sim_core::time::Span;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn resolved(text: &str, overrides: &Overrides) -> Experiment {
    load("test.yaml", text, overrides).unwrap_or_else(|said| panic!("{said}"))
}

fn set(pairs: &[&str]) -> Overrides {
    Overrides { set: pairs.iter().map(|pair| (*pair).to_owned()).collect(), ..Overrides::default() }
}

#[test]
fn every_scenario_of_the_repository_resolves_and_explains_itself() {
    let mut names = Vec::new();
    let files = |folder: &str| fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let folders = ["scenarios", "scenarios/lessons", "scenarios/ostep", "scenarios/policies"];
    for path in folders.into_iter().flat_map(files).filter(|path| path.is_file()) {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let experiment = load(&name, &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}"));
        assert_eq!(experiment.name, name, "a scenario is named after its file");
        assert!(!experiment.about.is_empty() && !experiment.runs.is_empty(), "{name}");
        let up =
            if path.parent().is_some_and(|folder| folder.ends_with("scenarios")) { ".." } else { "../.." };
        let schema = format!("# yaml-language-server: $schema={up}/oversim.schema.json\n");
        assert!(text.starts_with(&schema), "{name}");
        assert!(text.contains("# Watch for:"), "{name} has a list of what to watch for");
        names.push(name);
    }
    assert!(names.len() >= 9, "{names:?}");
}

const MIX: &str = "\
name: mix
machine: barcelona
apps:
  a: { workload: spmd }
  b: { workload: spmd, tasks: 4, cpus: '0-3,8', nice: -5, start: 10ms }
  h: { workload: hog, cpus: [0] }
policies: [LOAD, { PIN: {}, as: fixed }]
sweep: { threads_per_core: [1, 2], kernel.tick: [1ms, 4ms] }
repeat: 3
seed: 7
horizon: 2min
";

#[test]
fn points_are_all_combinations_and_runs_are_in_order() {
    let experiment = resolved(MIX, &Overrides::default());
    let labels: Vec<&str> =
        experiment.configurations.iter().map(|configuration| configuration.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "threads_per_core=1, kernel.tick=1ms",
            "threads_per_core=1, kernel.tick=4ms",
            "threads_per_core=2, kernel.tick=1ms",
            "threads_per_core=2, kernel.tick=4ms",
        ]
    );
    assert_eq!(experiment.policies, ["LOAD", "fixed"]);
    assert_eq!(
        (experiment.apps.join(","), experiment.background.clone()),
        ("a,b,h".into(), vec![false, false, true])
    );
    let shared: Vec<_> = experiment.runs.iter().filter(|run| run.alone.is_none()).collect();
    assert_eq!(shared.len(), 4 * 2 * 3);
    assert!(shared.is_sorted_by_key(|run| (run.configuration, run.policy, run.replicate)));
    for run in &shared {
        assert_eq!(run.options.seed, 7 + u64::from(run.replicate), "common random numbers");
        assert_eq!(run.options.horizon.ns(), 120_000_000_000);
        let per_core = if run.configuration < 2 { 1 } else { 2 };
        let tasks: Vec<u32> = run.apps.iter().map(|app| app.tasks).collect();
        assert_eq!(tasks, [16 * per_core, 4, 1]);
        assert_eq!(run.kernel.tick, Span::from_ms(if run.configuration % 2 == 0 { 1 } else { 4 }));
        let b = &run.apps[1];
        assert_eq!((b.weight, b.start.ns()), (3_121, 10_000_000));
        let cpus: Vec<CpuId> = b.allowed.as_ref().unwrap().iter().collect();
        assert_eq!(cpus, [0, 1, 2, 3, 8].map(CpuId));
        assert!(run.apps[2].background && !b.background);
    }
}

#[test]
fn baselines_run_alone_and_serve_all_points_that_differ_in_threads_only() {
    let experiment = resolved(MIX, &Overrides::default());
    let baselines: Vec<_> = experiment.runs.iter().take_while(|run| run.alone.is_some()).collect();
    // Two foreground applications, two ticks, three replicates; the number of threads per core makes no
    // difference.
    assert_eq!(baselines.len(), 2 * 2 * 3);
    for run in &baselines {
        assert_eq!((run.apps.len(), run.policy, run.policy_choice.entry.name), (1, NO_POLICY, "PIN"));
        assert_eq!(run.apps[0].start.ns(), 0);
        let (tasks, serves) = (run.apps[0].tasks, &run.serves);
        assert_eq!(tasks, if run.alone == Some(0) { 16 } else { 4 });
        assert!(serves == &[0, 2] || serves == &[1, 3], "{serves:?}");
        assert_eq!(run.options.seed, 7 + u64::from(run.replicate));
    }
    assert!(experiment.runs[baselines.len()..].iter().all(|run| run.alone.is_none()));
    let without = resolved(MIX, &set(&["baseline=none"]));
    assert_eq!(without.runs.len(), experiment.runs.len() - baselines.len());
}

#[test]
fn overrides_use_the_paths_of_sweeps() {
    let simple =
        "name: s\nmachine: barcelona\napps: { a: { workload: { spmd: { work: 1s } } } }\npolicies: [SPEED]\n";
    let plain = resolved(simple, &Overrides::default());
    assert_eq!(
        (plain.runs.len(), plain.configurations.len(), plain.configurations[0].label.as_str()),
        (2, 1, "")
    );
    let overrides = Overrides {
        policies: vec!["load".into(), "SPEED".into()],
        seed: Some(5),
        repeat: Some(2),
        stepwise: true,
        ..set(&[
            "kernel.tick=4ms",
            "machine.remote_factor=1.75",
            "apps.a.tasks=3",
            "policies.SPEED.interval=50ms",
            "apps.a.runtime=openmp",
            "apps.a.workload.intervals=7",
        ])
    };
    let changed = resolved(simple, &overrides);
    assert_eq!(changed.policies, ["LOAD", "SPEED"]);
    assert_eq!((changed.seed, changed.repeat, changed.overrides.len()), (5, 2, 9));
    let last = changed.runs.last().unwrap();
    assert_eq!(last.policy_choice.values.number("interval"), Some(50_000_000));
    assert_eq!((last.machine.memory.remote_factor, last.kernel.tick), (1_750, Span::from_ms(4)));
    assert_eq!((last.apps[0].tasks, last.apps[0].runtime.name.as_str()), (3, "openmp"));
    assert!(last.options.stepwise && last.options.seed == 6);
    assert_ne!(last.apps[0].program, plain.runs[0].apps[0].program);
}

#[test]
fn a_percentage_is_accepted_for_a_factor_and_a_bare_number_is_not_a_percentage() {
    let text = "name: s\nmachine: { nehalem: { smt_compute: 62% } }\napps: { a: { workload: { spmd: { \
        spread: 15% } } } }\npolicies: [LOAD]\nsweep: { machine.smt_memory: [0.5, 65.5%] }\n";
    let experiment = resolved(text, &Overrides::default());
    let smt: Vec<(u32, u32)> = experiment
        .runs
        .iter()
        .filter(|run| run.alone.is_none())
        .map(|run| (run.machine.smt.compute, run.machine.smt.memory))
        .collect();
    assert_eq!(smt, [(620, 500), (620, 655)]);
    assert_eq!(experiment.axes[0].numbers, Some(vec![0.5, 0.655]), "one axis of numbers");
    let bare = load("s.yaml", &text.replace("15%", "15"), &Overrides::default()).err().unwrap_or_default();
    assert!(bare.contains("a percentage needs a unit: write `15%`"), "{bare}");
    let schema = scenario::schema::schema();
    let factor =
        schema.pointer("/properties/machine/anyOf/1/properties/nehalem/properties/smt_compute/anyOf");
    let forms = factor.and_then(serde_json::Value::as_array).unwrap();
    assert!(
        forms[0]["type"] == "number" && forms[1]["pattern"].as_str().unwrap().ends_with("%$"),
        "{forms:?}"
    );
}

#[test]
fn scheduling_policies_are_read_for_an_application_and_for_its_ranks() {
    use sim_core::program::Scheduling::{Fifo, Idle, Other, RoundRobin};
    let text = "name: s\nmachine: core:4\nkernel: linux-6.18\nbaseline: none\npolicies: [LOAD, PIN]\napps:\n  \
        a: { workload: spmd, tasks: 2, scheduling: { fifo: 50 } }\n  \
        b: { workload: spmd, tasks: 4, scheduling: [{ rr: 1 }, other, idle] }\n";
    let apps = resolved(text, &Overrides::default()).runs[0].apps.clone();
    let of = |app: usize| (0..apps[app].tasks).map(|rank| apps[app].scheduling_of(rank)).collect::<Vec<_>>();
    assert_eq!(of(0), [Fifo(50); 2]);
    assert_eq!(of(1), [RoundRobin(1), Other, Idle, RoundRobin(1)]);
    // Beside real-time tasks the ordinary ones have their own weights.
    assert_eq!([1, 2].map(|rank| apps[1].weight_of(rank)), [1024, 3]);
    let swept = resolved(
        text,
        &set(&["apps.a.scheduling={ rr: 99 }", "kernel=linux-2.6.28", "apps.b.scheduling=other"]),
    );
    assert_eq!(swept.runs[0].apps[0].scheduling, RoundRobin(99));
}

#[test]
fn what_never_ends_is_in_the_foreground_of_a_window_that_has_nothing_else() {
    let text = "name: t\nmachine: barcelona\npolicies: [LOAD]\napps:\n  a: { workload: hog, tasks: 2 }\n  b: { workload: \
                hog, nice: 5 }\n";
    let said = |text: &str| load("test.yaml", text, &Overrides::default()).err().map(|said| said.to_string());
    assert!(said(text).is_some_and(|said| said.contains("With `window: 10s` none needs an end")));
    let window = format!("{text}window: 1s\n");
    assert_eq!(resolved(&window, &Overrides::default()).background, [false, false]);
    // Beside a program that counts, hogs still are its surroundings.
    let program = format!("{window}  c: {{ workload: {{ hog: {{ work: 100s }} }}, tasks: 1 }}\n");
    let program = program.replace("window: 1s\n", "").replace("name: t\n", "name: t\nwindow: 1s\n");
    assert_eq!(resolved(&program, &Overrides::default()).background, [true, true, false]);
    let stated = window.replace("workload: hog", "background: true, workload: hog");
    assert!(said(&stated).is_some_and(|said| said.contains("leave out `background: true` of one")));
}

#[test]
fn with_autogroup_each_application_without_a_group_has_a_session_of_its_own() {
    let text = "name: m\nmachine: core:2\nkernel: { linux-6.18: { autogroup: true } }\napps:\n  \
        a: { workload: spmd }\n  b: { workload: spmd, session: a }\n  c: { workload: spmd, cgroup: jobs }\n\
        policies: [LOAD]\nbaseline: none\n";
    let groups = |text: &str| {
        let run = resolved(text, &Overrides::default()).runs.swap_remove(0);
        let names: Vec<String> = run.kernel.groups.iter().map(|group| group.name.clone()).collect();
        let of = |app: &sim_core::program::AppSpec| app.group.map(|at| names[usize::from(at)].clone());
        run.apps.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(groups(text), ["session of a", "session a", "jobs"].map(|name| Some(name.to_owned())));
    let off = text.replace("autogroup: true", "autogroup: false");
    assert_eq!(groups(&off), [None, Some("session a".to_owned()), Some("jobs".to_owned())]);
    // A policy that orders the queues itself does not work with groups.
    let ordered = text.replace("[LOAD]", "[VTIME]");
    let said = load("test.yaml", &ordered, &Overrides::default()).err().unwrap_or_default();
    assert!(said.contains("`VTIME` does not work with"), "{said}");
}

#[test]
fn processes_and_their_threads_have_a_runtime_each() {
    let text = "name: s\nmachine: core:4\nbaseline: none\npolicies: [LOAD]\napps:\n  a: { \
        workload: { hybrid: { \
        processes: 3, threads_per_process: 2 } }, runtime: { mpi: openmpi, openmp: libgomp } }\n";
    let runs = |overrides: &Overrides| resolved(text, overrides).runs;
    let limits = |overrides: &Overrides| {
        let wait =
            |run: &scenario::plan::RunPlan| run.apps[0].team_runtime.as_ref().unwrap().wait.sleeps_after();
        runs(overrides).iter().map(wait).collect::<Vec<_>>()
    };
    let plain = &runs(&Overrides::default())[0].apps[0];
    assert_eq!((plain.tasks, plain.team, plain.runtimes().count()), (6, 2, 2));
    // Three ranks on four cores, and two threads on the four cpus of each process: neither has too many.
    assert!(!plain.runtime.wait.yields());
    assert_eq!(limits(&Overrides::default()), [Some(Span::from_ms(6))]);
    let wide = runs(&set(&["apps.a.workload.processes=8", "apps.a.workload.threads_per_process=5"]));
    assert!(wide[0].apps[0].tasks == 40 && wide[0].apps[0].runtime.wait.yields());
    assert_eq!(wide[0].apps[0].team_runtime.as_ref().unwrap().wait.sleeps_after(), Some(Span::from_us(2)));
    // Paths reach both, and what is chosen in each.
    let never = &runs(&set(&["apps.a.runtime.mpi.yielding=always"]))[0].apps[0].runtime;
    assert!(never.wait.yields());
    let swept = Overrides {
        sweep: vec!["apps.a.runtime.openmp=libgomp,{libgomp: {spin_count: 0}},block".into()],
        ..Overrides::default()
    };
    assert_eq!(limits(&swept), [Some(Span::from_ms(6)), Some(Span::ZERO), Some(Span::ZERO)]);
    let settings = resolved(text, &swept).configurations[1].settings.clone();
    assert_eq!(settings.get("apps.a.runtime.openmp"), Some(&Setting::Text("libgomp".into())));
    assert_eq!(settings.get("apps.a.runtime.openmp.spin_count"), Some(&Setting::Number(0.0)));
    // A name alone stays what it was: `openmp` with parameters is one runtime.
    let one = &runs(&set(&["apps.a.runtime={openmp: {block_time: 0s}}"]))[0].apps[0];
    assert!(one.team_runtime.is_none() && one.runtime.name == "openmp");
}

#[test]
fn machines_can_be_described_and_swept() {
    let text = "name: s\nmachine: { 'core:2 pu:2': { tick: 1us } }\napps: { a: { workload: spmd } \
        }\npolicies: [LOAD]\nsweep: { machine: ['core:2 pu:2', barcelona] }\nbaseline: none\n";
    let experiment = resolved(text, &Overrides::default());
    let shapes: Vec<(u32, u32)> =
        experiment.runs.iter().map(|run| (run.machine.cpus(), run.apps[0].tasks)).collect();
    assert_eq!(shapes, [(4, 2), (16, 16)], "one thread per core, not per hardware thread");
    assert_eq!(
        experiment.configurations[0].settings.get("machine"),
        Some(&Setting::Text("core:2 pu:2".into()))
    );
}

const ONE: &str = "name: s\nmachine: barcelona\napps: { a: { workload: spmd } }\npolicies: [LOAD]\n";

trait Said {
    fn unwrap_err_text(self) -> String;
}

impl Said for Result<Experiment, String> {
    fn unwrap_err_text(self) -> String {
        self.err().expect("accepted")
    }
}

#[test]
fn sizes_beyond_all_measure_are_refused() {
    for (path, value) in [
        ("apps.a.tasks", "20000000"),
        ("threads_per_core", "70000"),
        ("repeat", "1000000"),
        ("machine", "'core:100000000'"),
        ("horizon", "infinite"),
    ] {
        assert!(load("s", ONE, &set(&[&format!("{path}={value}")])).is_err(), "{path}");
    }
    let axis = (1..=101).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!(
        "{ONE}sweep: {{ threads_per_core: [{axis}], apps.a.nice: [{}] }}\n",
        axis.replace(",", ", +")
    );
    assert!(
        load("s", &text, &Overrides::default()).unwrap_err_text().contains("more than 10000 configurations")
    );
    let unknown: String = (0..200).map(|n| format!("key{n}: 1\n")).collect();
    let said = load("s", &format!("{ONE}{unknown}"), &Overrides::default()).unwrap_err_text();
    assert!(said.ends_with("... and 150 more errors"), "{said}");
}

#[test]
fn the_example_of_the_manual_resolves() {
    let page = fs::read_to_string(root().join("docs/scenario-files.md")).unwrap();
    let text = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let experiment = resolved(text, &Overrides::default());
    assert_eq!(experiment.policies, ["LOAD", "PIN", "fast"]);
    for pair in [
        "machine.remote_factor=1.5",
        "kernel.yield=default",
        "apps.cg.tasks=3",
        "apps.cg.workload.class=A",
        "apps.cg.runtime.wait=block",
        "policies.fast.interval=9ms",
    ] {
        assert!(page.contains(&format!("`{}`", pair.split('=').next().unwrap())), "{pair}");
        assert_eq!(resolved(text, &set(&[pair])).overrides, [pair]);
    }
}

#[test]
fn baselines_are_shared_only_between_runs_with_equal_options() {
    let base = "name: x\nmachine: core:2\npolicies: [LOAD]\nrepeat: 1\n\
        apps: { a: { workload: { spmd: { work: 1s, intervals: 10 } } } }\n";
    let dedicated = |sweep: &str| {
        let text = format!("{base}sweep: {{ {sweep} }}\n");
        let experiment = resolved(&text, &Overrides::default());
        experiment.runs.iter().filter(|run| run.alone.is_some()).count()
    };
    for different in ["start_jitter: [0s, 1ms]", "horizon: [10s, 20s]", "fidelity: [exact, sampled]"] {
        assert_eq!(dedicated(different), 2, "{different}");
    }
    // The program alone is the same under each limit of admission, which has no effect on one program.
    assert_eq!(dedicated("admission: [{ jobs: 1 }, { jobs: 2 }]"), 1);
}

#[test]
fn an_application_can_be_added_and_replaced() {
    let text = "name: x\nmachine: core:2\napps: { a: { workload: { hog: { work: 10ms } }, tasks: 2 } }\n\
        policies: [LOAD]\n";
    let loaded = |pair: &str| load("x.yaml", text, &set(&[pair]));
    let added = loaded("apps.b={ workload: hog, tasks: 1, background: true }").unwrap();
    assert_eq!((added.apps, added.background), (vec!["a".into(), "b".into()], vec![false, true]));
    let replaced = loaded("apps.a={ workload: { hog: { work: 1ms } }, tasks: 1 }").unwrap();
    assert_eq!((replaced.apps.len(), replaced.runs[0].apps[0].tasks), (1, 1));
    // A number is no application, and an application has a name of its own.
    assert!(loaded("apps.b=5").err().unwrap().contains("unknown path"));
    assert!(loaded("apps.b={ workload: nothing }").is_err());
}
