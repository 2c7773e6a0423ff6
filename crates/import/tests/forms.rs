//! Each form of file: what it becomes, what is listed, and that the scenario is valid.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use import::{Form, Formula, Imported, Kind, Options, Refused, Source};
use scenario::{Overrides, load};

fn options() -> Options {
    Options::named("imported")
}

/// Imports a text, and loads the scenario that it becomes.
fn checked(text: &str, options: &Options) -> Imported {
    let imported = import::import(&[Source { name: "file", text }], options).unwrap();
    valid(&imported.text);
    imported
}

fn valid(text: &str) {
    if let Err(problems) = load("imported.yaml", text, &Overrides::default()) {
        panic!("{problems}\n{text}");
    }
}

fn refused(text: &str, options: &Options) -> String {
    match import::import(&[Source { name: "file", text }], options).unwrap_err() {
        Refused::Sentence(text) | Refused::Rendered(text) => text,
    }
}

/// The lines without comments and empty ones.
fn lines(imported: &Imported) -> Vec<String> {
    let bare = |line: &str| line.split("  #").next().unwrap_or_default().trim().to_owned();
    imported
        .text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(bare)
        .filter(|line| !line.is_empty())
        .collect()
}

fn has(imported: &Imported, wanted: &[&str]) {
    let lines = lines(imported);
    for line in wanted {
        assert!(lines.iter().any(|found| found == line), "`{line}` is missing in\n{}", imported.text);
    }
}

fn listed(imported: &Imported, kind: Kind, place: &str, words: &str) {
    let found = imported
        .notes
        .iter()
        .any(|note| note.kind == kind && note.place.contains(place) && note.what.contains(words));
    assert!(found, "{kind:?} {place} {words}: {:#?}", imported.notes);
}

const RT_APP: &str = r#"{
  /* a comment, keys that come twice, commas too many */
  "tasks": {
    "worker": { "instance": 2, "loop": 3, "priority": -5, "cpus": [0, 2],
      "lock": "m", "run": 10000, "unlock": "m", "run": 250, "sleep": 40,
      "timer": { "ref": "unique", "period": 100000, "mode": "absolute" }, },
    "main": { "delay": 500, "loop": 1, "policy": "SCHED_FIFO", "priority": 20, "phases": {
      "a": { "loop": 4, "run": 1000, "resume": "sleeper", "barrier": "B" },
      "b": { "cpus": [1], "sem_post": "s", "yield": "" } } },
    "sleeper": { "loop": 1, "suspend", "run": 5, "barrier": "B", "sem_wait": "s" }
  },
  "global": { "duration": 6, "gnuplot": true, }
}"#;

#[test]
fn rt_app_becomes_a_program_with_the_order_of_its_events() {
    let imported = checked(RT_APP, &options());
    assert_eq!(imported.form, Form::RtApp);
    assert!(imported.is_whole(), "{:#?}", imported.notes);
    let lines = lines(&imported);
    let at = lines.iter().position(|line| line == "worker:").unwrap();
    assert_eq!(
        lines[at..at + 13],
        [
            "worker:",
            "count: 2",
            "nice: -5",
            "cpus: '0,2'",
            "code: |",
            "repeat 3 {",
            "lock m",
            "run 10ms",
            "unlock m",
            "run 250us",
            "sleep 40us",
            "until 100ms from 100ms clock unique",
            "}"
        ]
    );
    let wanted =
        ["horizon: 6s", "scheduling: { fifo: 20 }", "sleep 500us", "cpus 0-3", "cpus 1", "barrier B"];
    has(&imported, &wanted);
    has(
        &imported,
        &["lock sleeper", "wait sleeper with sleeper", "broadcast sleeper", "release s", "acquire s"],
    );
    assert!(imported.text.contains("run 250us  # line 5: tasks.worker.run"), "{}", imported.text);
    listed(&imported, Kind::NoEffect, "global.gnuplot", "log files");
}

#[test]
fn reservations_of_rt_app_are_kept_and_written_again() {
    let text = r#"{ "tasks": { "video": { "loop": 20, "policy": "SCHED_DEADLINE", "dl-runtime": 3000,
        "dl-period": 10000, "run": 2000, "timer": { "ref": "unique", "period": 10000 } },
      "audio": { "loop": 20, "policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-deadline": 5000,
        "dl-period": 20000, "run": 500, "timer": { "ref": "unique", "period": 20000 } } } }"#;
    let imported = checked(text, &options());
    for line in [
        "scheduling: { deadline: { runtime: 3ms, period: 10ms } }",
        "scheduling: { deadline: { runtime: 1ms, deadline: 5ms, period: 20ms } }",
    ] {
        assert!(imported.text.contains(line), "{}", imported.text);
    }
}

#[test]
fn what_rt_app_has_and_a_program_lacks_is_listed_with_its_line() {
    let text = r#"{ "tasks": {
  "a": { "loop": 2, "run": 1000, "policy": "SCHED_DEADLINE", "dl-runtime": 900, "dl-period": 50,
    "util_max": 100, "nodes_membind": [0], "nonsense": 1, "taskgroup": "/x/y" },
  "b": { "suspend": "b", "run": 5, "iorun": 100 },
  "c": { "run": 7, "mem": 1000, "timer": { "ref": "t", "period": 10 }, "signal": "nobody" },
  "d": { "instance": 0, "run": 1 } } }"#;
    let imported = checked(text, &options());
    assert!(!imported.is_whole());
    for (line, words) in [
        ("line 2: tasks.a.policy", "Linux refuses its dl-runtime"),
        ("line 3: tasks.a.util_max", "utilization clamps"),
        ("line 3: tasks.a.nodes_membind", "memory is bound"),
        ("line 3: tasks.a.nonsense", "does not document"),
        ("line 4: tasks.b.suspend", "nobody wakes it"),
        ("line 5: tasks.c.mem", "traffic to memory"),
    ] {
        listed(&imported, Kind::LeftOut, line, words);
    }
    listed(&imported, Kind::Differs, "tasks.c.timer", "relative");
    listed(&imported, Kind::NoEffect, "tasks.c.signal", "nobody waits");
    listed(&imported, Kind::NoEffect, "tasks.d", "no thread of it starts");
    has(&imported, &["cgroup: x/y"]);
    assert!(
        imported.text.contains("# left out: line 4: tasks.b.suspend"),
        "the list is in the scenario, too"
    );
}

#[test]
fn loops_durations_and_groups_of_rt_app_mean_what_rt_app_does() {
    // A phase with 0 is endless; without a duration and an end 10 s are simulated.
    let endless = r#"{ "tasks": { "a": { "loop": 0, "run": 5, "sleep": 5 },
      "never": { "loop": 0, "phases": { "p": { "run": 1 } } } }, "global": { "duration": 0 } }"#;
    let imported = checked(endless, &options());
    has(&imported, &["forever {", "window: 10s"]);
    listed(&imported, Kind::NoEffect, "tasks.never.phases.p", "never reached");
    let timed = |run: u32, duration: u32| {
        let text = format!(
            "{{ \"tasks\": {{ \"a\": {{ \"loop\": 1000, \"run\": {run} }},\
             \"b\": {{ \"run\": 5, \"loop\": 1 }} }},\n\
             \"global\": {{ \"duration\": {duration} }} }}"
        );
        checked(&text, &options())
    };
    let short = timed(1_000, 2);
    has(&short, &["horizon: 2s"]);
    listed(&short, Kind::Assumed, "line 2: global.duration", "before the duration");
    let long = timed(10_000, 2);
    has(&long, &["window: 2s", "baseline: none"]);
    listed(&long, Kind::Assumed, "line 2: global.duration", "stopped at the duration");
    let mixed = r#"{ "tasks": { "a": { "loop": -1, "run": 10, "sleep": 5 }, "b": { "loop": 2, "run": 5 } },
      "global": { "duration": 3 } }"#;
    has(&checked(mixed, &options()), &["window: 3s"]);
    let phases = r#"{ "tasks": { "a": { "loop": 2, "taskgroup": "/x", "phases": {
      "p": { "taskgroup": "/x/", "run": 5, "timer": { "ref": "t.1", "period": 9, "mode": "absolute" },
        "timer": { "ref": "t/1", "period": 7, "mode": "absolute" } },
      "q": { "run": 5, "instance": 3, "odd": 1 } } } } }"#;
    let imported = checked(phases, &options());
    has(&imported, &["until 9us from 9us clock t-1", "until 7us from 7us clock t-1_2", "cgroup: x"]);
    assert!(!imported.notes.iter().any(|note| note.place.contains("taskgroup")), "{:#?}", imported.notes);
    listed(&imported, Kind::LeftOut, "line 4: tasks.a.phases.q.odd", "does not document");
    listed(&imported, Kind::LeftOut, "line 4: tasks.a.phases.q.instance", "does not document");
}

#[test]
fn forks_endless_threads_and_parts_of_files() {
    let text = r#"{ "tasks": {
      "child": { "instance": 0, "loop": 1, "run": 20 },
      "parent": { "phases": { "p": { "loop": 5, "fork": "child", "run": 10 } } } } }"#;
    let imported = checked(text, &options());
    has(&imported, &["window: 10s", "fork child", "count: 64", "forever {", "repeat 5 {"]);
    listed(&imported, Kind::Assumed, "", "10s are simulated");
    let parts = [
        Source { name: "g.json", text: "{ \"global\": { \"duration\": 2 } }" },
        Source { name: "t.json", text: "{ \"tasks\": { \"t\": { \"run\": 100, \"sleep\": 100 } } }" },
    ];
    let imported = import::import(&parts, &options()).unwrap();
    valid(&imported.text);
    has(&imported, &["window: 2s", "run 100us"]);
    let old = r#"{ "resources": {}, "tasks": { "t": { "exec": 5000, "period": 9000, "deadline": 8000,
      "lock_order": ["m", "w"], "resources": { "m": { "duration": 1000 }, "w": { "duration": 0 } } } } }"#;
    let imported = checked(old, &options());
    has(&imported, &["deadline: 8ms", "run 1ms", "run 4ms", "until 9ms from 9ms clock period"]);
    listed(&imported, Kind::LeftOut, "resources.w", "before version 1");
}

#[test]
fn a_job_log_becomes_applications_that_arrive() {
    let log = "; Version: 2.2\n; MaxProcs: 8\n\
        1 100 5 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n\
        2 110 -1 30.5 2 25 -1 2 -1 -1 0 1 1 1 2 -1 -1 -1\n\
        3 120 -1 10 -1 -1 -1 1 -1 -1 1 -1 -1 -1 1 -1 1 5\n\
        4 130 -1 -1 1 -1 -1 1 -1 -1 5 -1 -1 -1 1 -1 -1 -1\n\
        5 140 -1 10 16 -1 -1 1 -1 512 1 -1 -1 -1 1 -1 -1 -1\n\
        7 160 -1 5 1 -1 -1 1 -1 -1 2 -1 -1 -1 1 -1 -1 -1\n\
        7 160 -1 15 1 -1 -1 1 -1 -1 1 -1 -1 -1 1 -1 -1 -1\n";
    let imported = checked(log, &options());
    has(
        &imported,
        &[
            "machine: \"package:1 numa:1 core:8 pu:1\"",
            "admission: { threads: 8 }",
            "job-1: { workload: { hog: { work: 100s } }, tasks: 4, start: 0s, estimate: 200s }",
            "job-2: { workload: { hog: { work: 30500ms } }, tasks: 2, start: 10s }",
            "job-3: { workload: { hog: { work: 10s } }, tasks: 1, after: job-1, start: 5s }",
            "job-7: { workload: { hog: { work: 15s } }, tasks: 1, start: 60s }",
        ],
    );
    listed(&imported, Kind::LeftOut, "line 6: job 4", "without run time");
    listed(&imported, Kind::LeftOut, "line 7: job 5", "more processors than the 8 cores");
    listed(&imported, Kind::NoEffect, "", "1 line about parts of jobs");
    listed(&imported, Kind::NoEffect, "1 job", "`order: easy`");
    assert!(!imported.text.contains("may overtake"), "not all jobs have an estimate: {}", imported.text);
    let few = Options { jobs: Some(1), from: 2, cores: Some(2), ..options() };
    let imported = checked(log, &few);
    has(&imported, &["job-2: { workload: { hog: { work: 30500ms } }, tasks: 2, start: 0s }"]);
    listed(&imported, Kind::LeftOut, "", "jobs behind the first 1");
    let wrong = refused("1 2 3\n", &Options { form: Some(Form::Swf), ..options() });
    assert!(wrong.contains("file:1:1") && wrong.contains("18 numbers"), "{wrong}");
}

#[test]
fn requested_times_are_estimates_for_backfilling() {
    let log = "; MaxProcs: 8\n\
        1 0 -1 100 4 -1 -1 4 200.5 -1 1 1 1 1 1 -1 -1 -1\n\
        2 1 -1 30 8 -1 -1 8 60 -1 1 1 1 1 1 -1 -1 -1\n";
    let imported = checked(log, &options());
    for part in ["estimate: 200500ms }", "estimate: 60s }", "may overtake"] {
        assert!(imported.text.contains(part), "`{part}` is missing in\n{}", imported.text);
    }
    valid(&imported.text.replace("{ threads: 8 }", "{ threads: 8, order: easy }"));
    let odd = log.replace(" 60 ", " 0 ");
    let imported = checked(&odd, &options());
    listed(&imported, Kind::LeftOut, "1 job", "no `estimate`");
    let text = r#"{"nb_res": 4, "jobs": [
      {"id": "a", "subtime": 0, "res": 2, "profile": "p", "walltime": 90},
      {"id": "b", "subtime": 5, "res": 3, "profile": "x", "walltime": 7.5}],
      "profiles": { "p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0},
        "x": {"type": "parallel", "cpu": [1e9, 2e9, 2e9], "com": [0, 0, 0]} } }"#;
    let imported = checked(text, &options());
    has(&imported, &["estimate: 90s", "estimate: 7500ms"]);
    valid(&imported.text.replace("{ threads: 4 }", "{ threads: 4, order: easy }"));
    listed(&imported, Kind::Differs, "job a", "no job is ended at it");
}

#[test]
fn a_workload_of_batsim_becomes_programs() {
    let text = r#"{"nb_res": 4, "jobs": [
      {"id": "a", "subtime": 0, "res": 2, "profile": "p"},
      {"id": 1, "subtime": 10.5, "res": 3, "profile": "c"},
      {"id": 2, "subtime": 12, "res": 3, "profile": "x"}, {"id": 3, "subtime": 1, "res": 9, "profile": "d"},
      {"id": 4, "subtime": 1, "res": 1, "profile": "loop"}],
      "profiles": { "p": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0},
        "d": {"type": "delay", "delay": 2.5}, "c": {"type": "composed", "repeat": 3, "seq": ["p", "d"]},
        "x": {"type": "parallel", "cpu": [1e9, 2e9, 2e9], "com": [0, 0, 5]},
        "loop": {"type": "composed", "seq": ["loop"]} } }"#;
    let imported = checked(text, &Options { flops: Some(2e9), ..options() });
    has(
        &imported,
        &["run 2500ms", "barrier", "repeat 3 {", "sleep 2500ms", "start: 10500ms", "run 1s", "run 500ms"],
    );
    listed(&imported, Kind::LeftOut, "job 3", "needs 9 resources of 4");
    listed(&imported, Kind::LeftOut, "profiles.x.com", "no network");
    listed(&imported, Kind::LeftOut, "profiles.loop", "too many parts");
    let wrong = refused("{\"jobs\": [\n{\"id\": 1, \"res\": 1}], \"profiles\": {}}", &options());
    assert!(wrong.contains("file:2:1") && wrong.contains("`profile`"), "{wrong}");
}

#[test]
fn batsim_has_its_names_of_today() {
    let text = r#"{"nb_res": 4, "jobs": [
      {"id": "a", "subtime": 0, "res": 2, "profile": "s", "walltime": -1},
      {"id": "b", "subtime": 0, "res": 2, "profile": "p"}],
      "profiles": { "h": {"type": "ptask_homogeneous", "cpu": 6e9, "com": 0,
        "generation_strategy": "defined_amount_spread_uniformly"},
        "g": {"type": "ParallelTaskHomogeneousProfile", "cpu": 7e9,
          "generation_strategy": "DefinedAmountsUsedForEachValue"},
        "d": {"type": "DelayProfile", "delay": 2.5},
        "s": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["h", "d", "g"]},
        "p": {"type": "ptask", "cpu": [1e9, 2e9]} } }"#;
    let imported = checked(text, &options());
    assert!(imported.is_whole(), "{:#?}", imported.notes);
    has(&imported, &["repeat 2 {", "run 3s", "sleep 2500ms", "run 7s", "process-1:", "run 2s"]);
}

const PODS: &str = "apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec:\n  containers:\n  \
    - name: main\n    \
    resources: { limits: { cpu: \"2\", memory: 1Gi } }\n---\napiVersion: apps/v1\nkind: Deployment\n\
    metadata: { name: api }\nspec:\n  replicas: 2\n  template:\n    spec:\n      \
    containers:\n      - name: a\n        \
    resources: { requests: { cpu: 250m }, limits: { cpu: 500m } }\n";

#[test]
fn pods_become_groups_as_the_kubelet_makes_them() {
    let imported = checked(PODS, &Options { workload: Some("{ hog: { work: 2s } }".into()), ..options() });
    // 2,000m are 2,048 shares; 250m are 256.
    has(
        &imported,
        &[
            "kubepods/pod-web/main:",
            "weight: 174",
            "quota: 200ms",
            "kubepods/burstable/pod-api-2/a:",
            "weight: 35",
            "quota: 50ms",
            "workload: { hog: { work: 2s } }",
        ],
    );
    listed(&imported, Kind::LeftOut, "line 6: Pod web", "memory");
    let linear = checked(PODS, &Options { formula: Formula::Linear, ..options() });
    has(&linear, &["weight: 79", "weight: 10"]);
    listed(&linear, Kind::Assumed, "", "linear formula");
    listed(&linear, Kind::Assumed, "", "what runs is not stated");
    let exclusive = checked(PODS, &Options { exclusive: true, cores: Some(4), ..options() });
    has(&exclusive, &["cpus: '1-2'", "cpus: '0,3'"]);
    assert!(!lines(&exclusive).contains(&"quota: 200ms".to_owned()), "no quota around exclusive cpus");
    let wrong = refused(
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - resources: { limits: { cpu: x } }\n",
        &options(),
    );
    assert!(wrong.contains("file:5") && wrong.contains("`250m`"), "{wrong}");
}

#[test]
fn pods_have_the_class_that_the_kubelet_derives() {
    let pod = |spec: &str| {
        let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{ name: p }}\nspec:\n  {spec}\n");
        checked(&text, &options())
    };
    let one = |resources: &str| pod(&format!("containers: [{{ name: a, resources: {resources} }}]"));
    for (resources, group) in [
        ("{ limits: { cpu: 1, memory: 1Gi }, requests: { memory: '1073741824' } }", "kubepods/pod-p/a:"),
        ("{ limits: { cpu: 1, memory: 1Gi }, requests: { memory: 1G } }", "kubepods/burstable/pod-p/a:"),
        ("{ requests: { memory: 1Gi } }", "kubepods/burstable/pod-p/a:"),
        ("{ requests: { cpu: 0, memory: 0 }, limits: { cpu: '0' } }", "kubepods/besteffort/pod-p/a:"),
        ("{ limits: { cpu: 1 } }", "kubepods/burstable/pod-p/a:"),
    ] {
        has(&one(resources), &[group]);
    }
    // A container before the others makes the pod burstable, and its request is the larger one: 2,048 shares.
    let first = "initContainers: [{ name: i, resources: { requests: { cpu: 2 } } }]\n  \
        containers: [{ name: a, resources: { requests: { cpu: 500m } } }]";
    let imported = pod(first);
    has(&imported, &["kubepods/burstable/pod-p:", "weight: 174", "weight: 59"]);
    listed(&imported, Kind::LeftOut, "initContainers i", "before the others");
    let sidecar = "initContainers: [{ name: s, restartPolicy: Always, \
        resources: { limits: { cpu: 1, memory: 1G } } }]\n  \
        containers: [{ name: a, resources: { limits: { cpu: 2, memory: 1G } } }]";
    let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{ name: p }}\nspec:\n  {sidecar}\n");
    let imported = checked(&text, &Options { exclusive: true, cores: Some(4), ..options() });
    has(&imported, &["cpus: '1'", "cpus: '2-3'"]);
}

#[test]
fn what_kubernetes_has_and_a_scenario_lacks_is_listed() {
    let text = "apiVersion: v1\nkind: RolloutList\nitems:\n\
        - { kind: Rollout, metadata: { name: r }, \
        spec: { template: { spec: { containers: [{ name: x }] } } } }\n\
        - { kind: Service, metadata: { name: s } }\n\
        - kind: CronJob\n  metadata: { name: c }\n  spec: { schedule: '* * * * *', jobTemplate: { spec: \
        { parallelism: 2, completions: 5, template: { spec: { overhead: { cpu: 1 }, containers: \
        [{ name: a, resources: { limits: { nvidia.com/gpu: 1 } } }] } } } } }\n";
    let imported = checked(text, &options());
    has(&imported, &["c-2-a:"]);
    listed(&imported, Kind::LeftOut, "line 4: Rollout r", "kind that is not known");
    listed(&imported, Kind::NoEffect, "line 5: Service s", "without containers");
    for (place, words) in [
        ("CronJob c: schedule", "one starts at once"),
        ("CronJob c: completions", "when others"),
        ("CronJob c: overhead", "beside its containers"),
        ("containers a", "nvidia.com/gpu"),
    ] {
        listed(&imported, Kind::LeftOut, place, words);
    }
}

#[test]
fn submit_times_since_1970_count_from_the_first_job_that_is_chosen() {
    let line = |number: u32, at: &str, run: &str, more: &str| {
        format!("{number} {at} -1 {run} 1 -1 -1 1 -1 -1 1 -1 -1 -1 1 -1 {more}\n")
    };
    let log = [
        "; MaxProcs: 100000\n; MaxNodes: 3\n".to_owned(),
        line(1, "900000", "864001", "-1 -1"),
        line(2, "1700000000", "10", "-1 -1"),
        line(3, "1700000007.5", "10", "9 -1"),
        line(4, "1700864001", "10", "-1 -1"),
    ]
    .concat();
    let imported = checked(&log, &options());
    has(
        &imported,
        &[
            "job-2: { workload: { hog: { work: 10s } }, tasks: 1, start: 0s }",
            "job-3: { workload: { hog: { work: 10s } }, tasks: 1, start: 7500ms }",
        ],
    );
    listed(&imported, Kind::LeftOut, "job 1", "run time (field 4)");
    listed(&imported, Kind::LeftOut, "job 3", "a job before it");
    listed(&imported, Kind::LeftOut, "job 4", "240 h after");
    listed(&imported, Kind::Differs, "MaxProcs", "4096");
}

#[test]
fn containers_have_the_limits_of_their_command_line() {
    let text = "docker run -d --name db --cpus=1.5 -c 512 -m 1g postgres:16\n\
        docker run --cpu-quota 50000 --cpu-period=200000 \\\n  --cpuset-cpus 0-1,3 -p 80:80 lib/nginx:1\n";
    let imported = checked(text, &options());
    has(
        &imported,
        &["weight: 59", "quota: 150ms", "quota: 50ms", "period: 200ms", "cpus: '0-1,3'", "nginx:"],
    );
    listed(&imported, Kind::LeftOut, "line 1: -m", "limit");
    let compose = "services:\n  web: { cpus: 0.5, deploy: { replicas: 2 } }\n  db:\n    \
        cpu_shares: 2048\n    \
        deploy: { resources: { limits: { cpus: '1.5' } } }\n";
    let imported = checked(compose, &options());
    has(&imported, &["system.slice/docker-web_2.scope:", "quota: 150ms", "weight: 174"]);
    assert!(imported.is_whole());
    let wrong = refused("docker run --cpus=x nginx\n", &options());
    assert!(wrong.contains("line 1: --cpus"), "{wrong}");
}

#[test]
fn flags_of_docker_are_read_as_a_shell_and_docker_read_them() {
    let text = "docker run --no-healthcheck --oom-kill-disable -itP --sig-proxy=false --cpus 0.3333 \\\n  \
        -e 'A=x --cpus 9' --cgroup-parent=a.slice -c512 --strange 3 --label \"a 'b\" redis:7 --cpus 4\n\
        docker create --cpus 250m x\n";
    let good = text.lines().take(2).collect::<Vec<_>>().join("\n");
    let imported = checked(&good, &options());
    has(&imported, &["redis:", "quota: 33330us", "weight: 59"]);
    listed(&imported, Kind::LeftOut, "line 1: --cgroup-parent", "around");
    listed(&imported, Kind::LeftOut, "line 1: --strange", "not known");
    let wrong = refused(text, &options());
    assert!(wrong.contains("line 3: --cpus"), "{wrong}");
    let bare = checked("docker run --quiet -d nginx\n", &options());
    has(&bare, &["nginx:"]);
    assert!(!bare.text.contains("weight:"), "without shares there is no weight: {}", bare.text);
    assert!(refused("docker run -e 'a x\n", &options()).contains("no end"));
    let json = checked("{\"services\": {\"tasks\": {\"cpus\": 0.5}}}", &options());
    has(&json, &["tasks:", "quota: 50ms"]);
}

#[test]
fn json_without_tasks_is_no_file_of_rt_app() {
    for text in ["{\"global\": {\"duration\": 1}}", "{\"a\": {\"tasks\": {}}}"] {
        assert!(refused(text, &options()).contains("none of the forms"), "{text}");
        let forced = refused(text, &Options { form: Some(Form::RtApp), ..options() });
        assert!(forced.contains("no `tasks`"), "{forced}");
    }
}

#[test]
fn files_of_cgroup_v2_become_nested_groups() {
    let text = "./s.slice/cpu.weight:200\n./s.slice/a.service/cpu.max:50000 100000\n\
        ./s.slice/a.service/cpu.max.burst:10000\n./s.slice/a.service/cgroup.procs:12\n\
        ./s.slice/a.service/cgroup.procs:13\n./u/x/cpu.weight.nice:-5\n./u/x/cpu.idle:1\n\
        ./u/x/cpuset.cpus.effective:0-1\n./u/x/cgroup.procs:14\n./u/y/cpu.max:max 100000\n";
    let imported = checked(text, &options());
    has(&imported, &["weight: 200", "quota: 50ms", "burst: 10ms", "tasks: 2", "weight: 305", "cpus: '0-1'"]);
    listed(&imported, Kind::LeftOut, "line 7: u/x/cpu.idle", "SCHED_IDLE");
    listed(&imported, Kind::NoEffect, "u/y", "without processes");
    let wrong = refused("./a/cpu.max:x 100000\n", &options());
    assert!(wrong.contains("line 1: a/cpu.max"), "{wrong}");
}

#[test]
fn a_directory_of_groups_is_read_as_their_text() {
    let folder = std::env::temp_dir().join(format!("oversim-import-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("a/b")).unwrap();
    std::fs::write(folder.join("a/cpu.weight"), "50\n").unwrap();
    std::fs::write(folder.join("a/b/cpu.max"), "20000 100000\n").unwrap();
    std::fs::write(folder.join("a/b/memory.max"), "max\n").unwrap();
    let text = import::read_directory(&folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(text, "a/cpu.weight:50\na/b/cpu.max:20000 100000\n");
    has(&checked(&text, &options()), &["a/b:", "quota: 20ms", "cgroup: a/b"]);
    assert!(import::read_directory(&folder).is_err());
}

#[test]
fn job_lists_of_the_textbook() {
    let imported = checked("./scheduler.py -p RR -q 2 -l 10,20,30 -c\n", &options());
    has(&imported, &["workload: { hog: { work: 10s } }", "policies: [{ FIFO: { slice: 2s } }]"]);
    has(&imported, &["machine: \"package:1 numa:1 core:1 pu:1\""]);
    assert!(imported.is_whole());
    let imported = checked("./mlfq.py -l 0,20,0:5,10,1 -i 3\n", &options());
    has(&imported, &["repeat 9 {", "io disk-1 3ms", "start: 5ms", "workload: { hog: { work: 20ms } }"]);
    let imported = checked("# arrival length\n0 10\n5, 20\n", &options());
    has(&imported, &["start: 5s", "workload: { hog: { work: 20s } }"]);
    for (flags, policy) in [
        ("scheduler.py -p SJF -l 3,2", "SJF"),
        ("scheduler.py -l 3,2.5 -p STCF", "SRTF"),
        ("-l 5000,10 -p FIFO", "{ FIFO: { slice: 1000s } }"),
        ("scheduler.py -p RR -q 2000 -l 5000,1", "{ FIFO: { slice: 1000s } }"),
        (
            "mlfq.py -n 4 -q 5 -a 2 -B 100 -S -l 0,30,7",
            "{ MLFQ: { levels: 4, quantum: 10ms, growth: equal, boost: 100ms, forgets: true } }",
        ),
        (
            "mlfq.py -l 0,180,0:100,20,0",
            "{ MLFQ: { levels: 3, quantum: 10ms, growth: equal, boost: 0s, forgets: false } }",
        ),
    ] {
        let imported = checked(&format!("{flags}\n"), &options());
        has(&imported, &[&format!("policies: [{policy}]")]);
        assert!(imported.is_whole(), "{:#?}", imported.notes);
    }
    // The slice is longer than the longest job: a unit is a ms there.
    has(&checked("-l 5000,10 -p FIFO\n", &options()), &["workload: { hog: { work: 5s } }"]);
    listed(&checked("scheduler.py -p RR -q 2000 -l 9\n", &options()), Kind::Differs, "-p", "range");
    has(&checked("Job 0 ( length = 2.5 )\n", &options()), &["workload: { hog: { work: 2500ms } }"]);
    let wrong = refused("0 10\n5 x\n", &Options { form: Some(Form::Ostep), ..options() });
    assert!(wrong.contains("file:2") && wrong.contains("`x`"), "{wrong}");
}

#[test]
fn a_file_in_none_of_the_forms_is_refused_with_their_list() {
    let said = refused("hello\n", &options());
    for form in import::FORMS {
        assert!(said.contains(form.name()), "{said}");
    }
    assert!(refused("a\0b", &options()).contains("zero byte"));
}
