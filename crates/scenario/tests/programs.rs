//! Programs that scenarios write themselves: their page, their names, their objects, and what sweeps reach.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scenario::plan::{Experiment, RunPlan};
use scenario::{Overrides, load, settable};
use sim_core::engine::Simulation;
use sim_core::outcome::{Outcome, RunReport};
use sim_core::program::{Change, Objects, Op, PoolRules};
use workloads::program::{BY, STATEMENTS, VARIATIONS};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn resolved(text: &str, set: &[&str]) -> Experiment {
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    load("x.yaml", text, &Overrides { set, ..Overrides::default() }).unwrap_or_else(|said| panic!("{said}"))
}

fn refused(text: &str) -> String {
    load("x.yaml", text, &Overrides::default()).err().unwrap()
}

fn simulated(plan: &RunPlan) -> RunReport {
    let (machine, kernel) = (Arc::clone(&plan.machine), Arc::clone(&plan.kernel));
    let objects = Objects::clone(&plan.objects);
    let simulation = Simulation::with_objects(machine, kernel, plan.apps.clone(), objects, plan.options);
    let mut policy = plan.policy_choice.build(&plan.machine, &plan.kernel, &plan.apps);
    simulation.unwrap().run(&mut *policy, &mut ())
}

/// The scenarios of the page.
fn examples() -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/programs.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.collect()
}

fn example(name: &str) -> String {
    examples().into_iter().find(|text| text.starts_with(&format!("name: {name}\n"))).unwrap()
}

#[test]
fn the_page_has_every_statement_as_it_is() {
    let page = fs::read_to_string(root().join("docs/programs.md")).unwrap();
    for row in STATEMENTS.iter().chain(VARIATIONS).chain([&BY]) {
        assert!(page.contains(&format!("| `{}` | {} |", row.form, row.about)), "{}", row.form);
    }
}

#[test]
fn the_examples_of_the_page_run() {
    let all = examples();
    assert_eq!(all.len(), 11);
    for text in all {
        let experiment = resolved(&text, &[]);
        for plan in &experiment.runs {
            let report = simulated(plan);
            let wanted = if plan.window.is_some() { Outcome::Horizon } else { Outcome::Completed };
            assert_eq!(report.outcome, wanted, "{}", experiment.name);
        }
    }
}

#[test]
fn one_server_answers_as_theory_says() {
    let experiment = resolved(&example("mm1"), &["window=200s"]);
    for (plan, service) in experiment.runs.iter().zip([5.0, 8.0]) {
        let report = simulated(plan);
        let responses = report.apps[0].responses.as_ref().unwrap().quantiles().unwrap();
        // M/M/1: 1 / (1/service - 1/interval).
        let theory = 1.0 / (1.0 / service - 1.0 / 10.0);
        let mean = responses.mean.ns() as f64 / 1e6;
        assert!((mean / theory - 1.0).abs() < 0.15, "{service}: {mean} ms, theory {theory} ms");
    }
}

#[test]
fn kinds_are_applications_with_names_of_their_own() {
    let experiment = resolved(&example("pipeline"), &[]);
    assert_eq!(experiment.apps, ["pipe-reader", "pipe-worker"]);
    assert_eq!(experiment.runs.iter().filter(|run| run.alone.is_some()).count(), 0);
    let plan = &experiment.runs[0];
    assert_eq!(plan.apps.iter().map(|app| app.tasks).collect::<Vec<_>>(), [1, 3]);
    assert!(plan.apps.iter().all(|app| app.named_locks && !app.background));
    assert_eq!(resolved(&example("mm1"), &[]).apps, ["server"]);
    let clash = "name: x\nmachine: core:2\npolicies: [LOAD]\napps:\n  a-b: { workload: hog }\n  \
        a: { program: { kinds: { b: { code: run 1s }, c: { code: run 1s } } } }\n";
    assert!(refused(clash).contains("two applications would be called `a-b`"));
}

#[test]
fn teams_have_threads_and_the_runtimes_that_are_stated() {
    let text = example("nested");
    let experiment = resolved(&text, &[]);
    let plan = &experiment.runs[0];
    let app = &plan.apps[0];
    assert_eq!((app.tasks, app.team, app.teams_share, app.own_runtimes.len()), (4, 2, true, 1));
    assert!(app.team_runtime.is_none());
    // 100 passes of 1 ms alone and 3 ms in the region, on 4 cpus.
    let ms = simulated(plan).makespan.ns() as f64 / 1e6;
    assert!((ms - 400.0).abs() < 2.0, "{ms} ms");
    let crowded = &experiment.runs[1];
    assert_eq!(crowded.apps[0].tasks, 8);
    assert!(simulated(crowded).makespan.ns() as f64 / 1e6 > 1.7 * 300.0);
    let both = text.replace("runtime: libgomp", "runtime: { mpi: openmpi, openmp: libgomp }");
    let app = &resolved(&both, &[]).runs[0].apps[0];
    assert_eq!((app.teams_share, app.process()), (false, 2));
    assert_eq!(app.team_runtime.as_ref().map(|of| of.name.as_str()), Some("libgomp"));
    let (alone, _) = text.split_once("sweep:").unwrap();
    let none = alone.replace("runtime: libgomp", "runtime: { mpi: openmpi, openmp: libgomp }");
    let none = none.replace("threads: 2", "threads: 1").replace("parallel { run 2ms; barrier; run 1ms }", "");
    assert!(refused(&none).contains("add `threads: 4` to the kind"));
    let many = alone.replace("count: 2", "count: 1000000").replace("threads: 2", "threads: 1000000");
    assert!(refused(&many).contains("tasks; at most"), "{}", refused(&many));
}

#[test]
fn keys_of_kinds_replace_those_of_the_application() {
    let text = [
        "name: x\nmachine: core:4\npolicies: [LOAD]\napps:",
        "  a:\n    nice: 5\n    cpus: [0, 1]\n    program:\n      kinds:",
        "        b: { count: 2, nice: 0, code: run 1s; nice 3 }",
        "        c: { cpus: [3], background: true, code: run 1s }\n",
    ]
    .join("\n");
    let plan = &resolved(&text, &[]).runs[0];
    let cpus =
        |at: usize| plan.apps[at].allowed.as_ref().unwrap().iter().map(|cpu| cpu.0).collect::<Vec<_>>();
    assert_eq!((plan.apps[0].weight, plan.apps[1].weight), (1_024, 335));
    assert_eq!((cpus(0), cpus(1)), (vec![0, 1], vec![3]));
    assert_eq!((plan.apps[0].background, plan.apps[1].background), (false, true));
    assert_eq!(plan.apps[0].program.changes(), [Change::Weight(526)]);
}

#[test]
fn settings_reach_the_numbers_of_programs() {
    let text = example("pipeline");
    let set = ["apps.pipe.program.kinds.worker.count=7", "apps.pipe.program.queues.items.places=2"];
    let plan = &resolved(&text, &set).runs[0];
    assert_eq!(plan.apps[1].tasks, 7);
    let places = plan.objects.events.iter().find(|event| event.name.starts_with("free places")).unwrap();
    assert_eq!(places.initial, 2);
    let known = settable(&Default::default(), Some(&text), true);
    for path in set.map(|pair| pair.split('=').next().unwrap()) {
        assert!(known.iter().any(|known| known.path == path), "{path}");
    }
    let swept = resolved(&example("lock"), &[]);
    assert_eq!(swept.configurations.len(), 2);
    assert!(swept.warnings.is_empty());
    let wrong = Overrides { set: vec!["apps.pipe.program.quues.items=2".into()], ..Overrides::default() };
    assert!(load("x.yaml", &text, &wrong).err().unwrap().contains("unknown path"));
}

#[test]
fn copies_have_objects_of_their_own_and_share_what_is_shared() {
    let with = |shared: &str| {
        let app = "  a:\n    copies: 2\n    program:\n      ";
        let head = "name: x\nmachine: core:2\npolicies: [LOAD]\nstart_jitter: 0s\napps:\n";
        format!(
            "{head}{app}{shared}kinds:\n        b: {{ code: \"repeat 3 {{ run 1ms; send q }}\" }}\n        \
             c: {{ code: \"repeat 3 {{ receive q; run 1ms }}\" }}\n"
        )
    };
    let takes = |plan: &RunPlan| -> Vec<Op> {
        let ops = plan.apps.iter().flat_map(|app| app.program.ops());
        ops.filter(|op| matches!(op, Op::Take { .. })).copied().collect()
    };
    let own = resolved(&with(""), &[]);
    let plan = &own.runs[0];
    let names: Vec<&str> = plan.objects.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["q-1", "q-2"]);
    assert_eq!(
        plan.apps.iter().map(|app| app.name.as_str()).collect::<Vec<_>>(),
        ["a-b-1", "a-b-2", "a-c-1", "a-c-2"]
    );
    let of = takes(plan);
    assert_ne!(of[0], of[1]);
    assert_eq!(simulated(plan).outcome, Outcome::Completed);
    let shared = resolved(&with("shared: [q]\n      "), &[]);
    let plan = &shared.runs[0];
    assert_eq!(plan.objects.events.len(), 1);
    let of = takes(plan);
    assert_eq!(of[0], of[1]);
    assert_eq!(simulated(plan).outcome, Outcome::Completed);
}

#[test]
fn programs_are_read_from_files_beside_the_scenario() {
    let folder = std::env::temp_dir().join(format!("oversim-programs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let list = r#"{ "count": 2, "code": [{ "repeat": [3, [{ "run": "1ms" }, "yield"]] }] }"#;
    fs::write(folder.join("p.json"), list).unwrap();
    fs::write(folder.join("bad.yaml"), "code: |\n  run 1ms\n  rum 2ms\n").unwrap();
    let scenario = |file: &str| {
        format!("name: x\nmachine: core:2\npolicies: [LOAD]\napps: {{ a: {{ program: {file} }} }}\n")
    };
    let path = folder.join("x.yaml").display().to_string();
    let set = vec!["apps.a.program.count=5".to_owned()];
    let overrides = Overrides { set, ..Overrides::default() };
    let experiment = load(&path, &scenario("p.json"), &overrides).unwrap_or_else(|said| panic!("{said}"));
    assert_eq!((experiment.runs[0].apps[0].tasks, experiment.scenario_text.contains(list)), (5, true));
    let said = load(&path, &scenario("bad.yaml"), &Overrides::default()).err().unwrap();
    assert!(said.contains("bad.yaml:3:3") && said.contains("did you mean `run`?"), "{said}");
    let said = load(&path, &scenario("none.yaml"), &Overrides::default()).err().unwrap();
    assert!(said.contains("cannot read the program"), "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    fs::remove_dir_all(&folder).unwrap();
}

/// A scenario with a program; `more`: further lines.
fn with(more: &str, app: &str, program: &str) -> String {
    format!("name: x\nmachine: core:2\n{more}apps:\n  a: {{ {app}program: {{ {program} }} }}\n")
}

#[test]
fn changes_of_nice_values_and_cpus_need_a_kernel_and_a_machine_that_have_them() {
    let nice = "code: run 1ms; nice 5; run 1ms";
    let place = |said: &str| said.contains("x.yaml:") && said.contains("nice values do not change");
    let under = |more: &str| with(&format!("{more}\n"), "", &format!("code: '{}'", &nice[6..]));
    for kernel in ["linux-2.6.28", "linux-6.18"] {
        resolved(&under(&format!("kernel: {kernel}\npolicies: [LOAD]")), &[]);
    }
    let said = refused(&under("kernel: linux-2.6.18\npolicies: [LOAD]"));
    assert!(place(&said), "{said}");
    let said = refused(&under("policies: [LOAD, FIFO]"));
    assert!(place(&said) && said.contains("the policy `FIFO`"), "{said}");
    let cpus = |list| with("policies: [LOAD]\n", "", &format!("code: 'run 1ms; cpus {list}; run 1ms'"));
    resolved(&cpus("1"), &[]);
    let said = refused(&cpus("5,7"));
    assert!(said.contains("has none of these cpus") || said.contains("cpu"), "{said}");
}

#[test]
fn what_cannot_be_in_a_program_is_refused_with_a_reason() {
    let one = |app: &str, program: &str| refused(&with("policies: [LOAD]\n", app, program));
    let jobs = "code: 'share 3 { receive jobs; run 1ms }'";
    let said = one("copies: 2, arrival: queue, ", &format!("arrivals: {{ jobs: {{ every: 1ms }} }}, {jobs}"));
    assert!(said.contains("requests come at known times"), "{said}");
    let bursts =
        |last| format!("arrivals: {{ jobs: {{ bursts: {{ means: [1s, 9s], last: {last} }} }} }}, {jobs}");
    let said = one("", &bursts("[1us, 1us]"));
    assert!(said.contains("hardly any request comes"), "{said}");
    resolved(&with("policies: [LOAD]\n", "", &bursts("[101us, 1us]")), &[]);
    let said = one("", "code: { run: 1ms }");
    assert!(said.contains("`code` must be a text or a list, not a mapping"), "{said}");
    let names: Vec<String> = (0..16).map(|at| format!("p{at}: {{ demand: 1GB/s }}")).collect();
    let code: Vec<String> = (0..16).map(|at| format!("run 1ms with p{at}")).collect();
    let many = format!("profiles: {{ {} }}, code: '{}'", names.join(", "), code.join("; "));
    let said = one("copies: 4000, ", &many);
    assert!(said.contains("have 72000 memory profiles"), "{said}");
    let endless = "code: 'forever { run 1ms }'";
    assert!(one("", endless).contains("add `window: 10s`"));
    let said = refused(&with("window: 1s\npolicies: [LOAD]\n", "background: true, ", endless));
    assert!(!said.contains("add `window"), "{said}");
}

#[test]
fn remarks_name_what_has_no_effect() {
    let warnings = |text: &str, set: &[&str]| {
        let set = set.iter().map(|pair| (*pair).to_owned()).collect();
        let read = load("x.yaml", text, &Overrides { set, warn: true, ..Overrides::default() });
        read.unwrap_or_else(|said| panic!("{said}")).warnings.join("\n")
    };
    let values = "values: { one: 1ms, two: 2ms }, code: 'run $one'";
    let warned = warnings(&with("policies: [LOAD]\n", "", values), &[]);
    assert!(warned.contains("the value `two` of `a`") && !warned.contains("`one`"), "{warned}");
    let beside = with("policies: [LOAD]\n", "", "code: run 1ms") + "  b: { workload: spmd }\n";
    let warned = warnings(&beside, &[]);
    assert!(warned.contains("`b` has no dedicated run"), "{warned}");
    assert!(!warnings(&beside, &["baseline=none"]).contains("dedicated run"));
}

#[test]
fn what_a_kind_asks_of_the_kernel_is_checked_as_that_of_an_application() {
    let scenario = |kernel: &str, policy: &str, keys: &str| {
        format!(
            "name: x\nmachine: core:2\nkernel: {kernel}\npolicies: [{policy}]\napps:\n  a:\n    program:\n\
             \x20     kinds: {{ one: {{ {keys}, code: 'run 1ms' }}, two: {{ code: 'run 1ms' }} }}\n"
        )
    };
    for (kernel, policy, keys, said) in [
        ("freebsd-7", "LOAD", "scheduling: { fifo: 5 }", "freebsd-7 has no real-time classes here"),
        ("linux-6.18", "RUSTY", "scheduling: { rr: 5 }", "does not work with real-time tasks"),
        ("freebsd-7", "LOAD", "scheduling: batch", "`batch` and `idle` need EEVDF"),
        ("linux-6.6", "LOAD", "slice: 1ms", "slices of tasks came with Linux 6.12"),
        ("linux-6.18", "LOAD", "slice: 1ms, scheduling: idle", "tasks of SCHED_IDLE have no slice"),
    ] {
        let message = refused(&scenario(kernel, policy, keys));
        assert!(message.contains(said), "{message}");
        resolved(&scenario("linux-6.18", "LOAD", keys.split(", ").next().unwrap()), &[]);
    }
    let text = scenario("linux-6.18", "DWRR", "count: 2").replace("run 1ms", "cpus 0; run 1ms");
    assert!(refused(&text).contains("`DWRR` does not work with `cpus` in the code"), "{}", refused(&text));
}

#[test]
fn graphs_are_read_from_programs_and_from_files_and_swept() {
    let folder = std::env::temp_dir().join(format!("oversim-graphs-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let jobs = "a: { run: 5ms }\nb: { run: $each, after: a }\nc: { after: [a, b] }\n";
    fs::write(folder.join("jobs.yaml"), jobs).unwrap();
    let whole = "jobs:\n  a: { run: 5ms }\n  b: { run: 1ms, after: [aa] }\n";
    fs::write(folder.join("bad.yaml"), whole).unwrap();
    let path = folder.join("x.yaml").display().to_string();
    let scenario = |graph: &str, more: &str| {
        let program = format!("values: {{ each: 1ms }}, graphs: {{ g: {graph} }}, count: 2, code: work g");
        with(&format!("policies: [LOAD]\n{more}"), "", &program)
    };
    let read = |text: &str| load(&path, text, &Overrides::default());
    let plan =
        read(&scenario("{ jobs: jobs.yaml, queues: one }", "")).unwrap_or_else(|said| panic!("{said}"));
    assert!(plan.scenario_text.contains(jobs));
    let pool = &plan.runs[0].objects.pools[0];
    assert_eq!((pool.name.as_str(), pool.predecessors()), ("g", vec![0, 1, 2]));
    assert_eq!(pool.rules, PoolRules::SHARED);
    assert_eq!(simulated(&plan.runs[0]).pools[0].jobs.iter().sum::<u64>(), 3);
    let said = read(&scenario("bad.yaml", "")).err().unwrap();
    assert!(said.contains("bad.yaml:3:") && said.contains("unknown job `aa`"), "{said}");
    assert!(said.contains("did you mean `a`?"), "{said}");
    let said = read(&scenario("none.yaml", "")).err().unwrap();
    assert!(said.contains("cannot read the graph"), "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    let swept = "sweep: { apps.a.program.graphs.g.tree.depth: [1, 3] }\n";
    let plan =
        read(&scenario("{ tree: { depth: 2, run: $each } }", swept)).unwrap_or_else(|said| panic!("{said}"));
    let sizes: Vec<usize> = plan.runs.iter().map(|run| run.objects.pools[0].jobs.len()).collect();
    assert_eq!(sizes, [4, 22]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn graphs_that_cannot_be_are_refused_with_a_reason() {
    let one = |graph: &str| {
        let program = format!("graphs: {{ g: {graph} }}, code: work g");
        refused(&with("policies: [LOAD]\n", "", &program))
    };
    for (graph, why) in [
        ("{}", "says in one way which jobs it has"),
        ("{ tree: { depth: 2, run: 1ms }, independent: { count: 2, run: 1ms } }", "says in one way"),
        ("{ tree: { depth: 2 } }", "the work of each job is missing"),
        ("{ wavefront: { run: 1ms } }", "`rows` is missing"),
        ("{ independent: { count: 0, run: 1ms } }", "`count`"),
        ("{ independent: { count: 2, run: 1ms }, own: eldest }", "oldest"),
        ("{ independent: { count: 2, run: 1ms }, queues: one, steal: oldest }", "nobody has jobs of its own"),
        ("{ jobs: { a: { run: 1ms, after: c }, b: { after: a }, c: { after: b } } }", "`a`, `c`, `b`"),
        ("{ jobs: { a: { run: 1 } } }", "a duration needs a unit"),
        ("{ jobs: { a: { ran: 1ms } } }", "did you mean `run`?"),
        ("nothing", "the graph `g`"),
    ] {
        let said = one(graph);
        assert!(said.contains(why), "{graph}: {said}");
    }
}

/// The example of the page without its sweep.
fn inversion() -> String {
    let text = example("inversion");
    text.lines().filter(|line| !line.starts_with("sweep")).collect::<Vec<_>>().join("\n")
}

#[test]
fn locks_with_a_protocol_keep_tasks_of_middle_priorities_from_delaying_high_ones() {
    // The page: low has the lock for 20 ms from 0, middle computes for 100 ms from 5 ms, high needs 1 ms.
    let text = inversion();
    let ended = |lock: &str| {
        let text = text.replace("bus: inherit", &format!("bus: {lock}"));
        let plan = &resolved(&text, &["baseline=none"]).runs[0];
        let ends = simulated(plan).apps.iter().map(|app| app.end.unwrap().ns() / 1_000_000).collect();
        let ends: Vec<u64> = ends;
        ends
    };
    assert_eq!(ended("mutex"), [120, 105, 121]);
    assert_eq!(ended("inherit"), [20, 121, 21]);
    assert_eq!(ended("{ ceiling: 30 }"), [20, 121, 21]);
    // A ceiling above low, and not above middle, would not help; one below high is refused.
    assert!(refused(&text.replace("bus: inherit", "bus: { ceiling: 20 }")).contains("has the priority 30"));
}

#[test]
fn locks_that_change_priorities_need_a_kernel_where_tasks_change_them() {
    let text = inversion().replace("bus: inherit", "bus: { ceiling: 30 }");
    let under = |kernel: &str, text: &str| refused(&text.replace("linux-6.18", kernel));
    assert!(under("linux-2.6.18", &text).contains("tasks do not change their class here"));
    let inherits = text.replace("{ ceiling: 30 }", "inherit");
    assert!(under("linux-2.6.18", &inherits).contains("locks do not change priorities here"));
    assert!(refused(&text.replace("rover:", "rover:\n    cgroup: batch")).contains("keep their class"));
    // Without real-time tasks there is nothing to inherit, under any kernel.
    let plain = "name: x\nmachine: core:1\nkernel: linux-2.6.18\npolicies: [LOAD]\napps:\n  a:\n    program: { \
                 locks: { l: inherit }, count: 2, code: 'lock l; run 1ms; unlock l' }\n";
    assert_eq!(simulated(&resolved(plain, &[]).runs[0]).outcome, Outcome::Completed);
}
