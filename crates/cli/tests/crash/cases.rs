//! The commands that are disturbed: what they find, what they write, and how their outputs are compared.

use std::fs;
use std::path::{Path, PathBuf};

use crate::child;
use crate::tree::{self, Tree};

/// A run of a few milliseconds with random work: two policies and three seeds.
const SHORT: &str = "name: short\nmachine: core:2\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 3\n\
    apps: { a: { workload: { spmd: { work: 40ms, intervals: 20, spread: 10% } }, tasks: 3 } }\n";

/// A sweep of 24 runs of a few milliseconds.
const GRID: &str = "name: grid\nmachine: core:2\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 2\n\
    apps: { a: { workload: { spmd: { work: 20ms, intervals: 20, spread: 10% } } } }\n\
    sweep: { threads_per_core: [1, 2], kernel.tick: [1ms, 4ms] }\n";

/// A scenario that this host can execute.
const HERE: &str = "name: here\nmachine: host.yaml\nkernel: linux-6.18\napps:\n  p: { workload: { spmd: { \
    grain: 100us, intervals: 20 } }, runtime: block, tasks: 2 }\npolicies: [PIN, LOAD]\n";

/// A scenario that rt-app can execute, with two programs.
const HOGS: &str = "name: hogs\nmachine: core:2\nkernel: linux-6.18\npolicies: [LOAD, PIN]\napps:\n  \
    a: { workload: { hog: { work: 20ms } }, tasks: 2 }\n  b: { workload: { hog: { work: 10ms } } }\n";

/// A scenario with requests, of one run.
const SERVER: &str = "name: server\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\npolicies: [LOAD]\n\
    apps: { u: { workload: { interactive: { think: 3ms, burst: 500us } } }, \
    j: { workload: { hog: { work: 90ms } } } }\n";

/// How what a command has written is compared with what an undisturbed run wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    /// Byte by byte.
    Bytes,
    /// The files hold measured times: whole JSON or a whole machine file.
    Form,
}

/// A command that writes.
pub(crate) struct Case {
    /// What the statistics call it.
    pub(crate) command: &'static str,
    /// Its arguments; `ROOT` is the root of the sources, `CACHE` the user's cache of finished runs.
    pub(crate) args: &'static [&'static str],
    /// Makes what the command finds, in a directory that has the scenarios already.
    pub(crate) prepare: fn(&Path),
    /// Directories whose content depends on what happened before: journals, parts and finished runs.
    pub(crate) loose: &'static [&'static str],
    /// Commands that follow a success, in the undisturbed run and after the second one.
    pub(crate) finish: &'static [&'static [&'static str]],
    /// Arguments in place of its own for a second program at the same time.
    pub(crate) rival: Option<&'static [&'static str]>,
    pub(crate) compared: Compared,
    /// Points that it receives, in comparison with the others. With 0 it takes many seconds and receives
    /// points only if a campaign names it.
    pub(crate) weight: u32,
    /// Whether it takes a second or more, so that the sample of the gate leaves it out.
    pub(crate) slow: bool,
    /// A program that it starts; where that is missing it has no points.
    pub(crate) needs: Option<&'static str>,
}

impl Case {
    /// The arguments as they are given to the program.
    pub(crate) fn words(&self) -> Vec<String> {
        words(self.args)
    }

    /// Whether this host has what it starts.
    pub(crate) fn can(&self) -> bool {
        self.needs.is_none_or(child::has)
    }

    /// Whether the same command continues where it was, whatever is there.
    pub(crate) fn continues(&self) -> bool {
        !self.loose.is_empty() || self.args.contains(&"--force") || self.args.contains(&"--write")
    }

    /// Whether a second time needs and accepts `--force` when an output is there.
    pub(crate) fn has_force(&self) -> bool {
        !self.continues() && self.command != "new policy"
    }

    /// Whether a path belongs to what depends on the past.
    pub(crate) fn is_loose(&self, name: &str) -> bool {
        self.loose.iter().any(|loose| name == *loose || name.starts_with(&format!("{loose}/")))
    }

    /// Whether the command promises exit status 75 after SIGTERM.
    pub(crate) fn is_sweep(&self) -> bool {
        self.command == "sweep"
    }
}

/// Arguments with the root of the sources and the user's cache of finished runs put in.
pub(crate) fn words(args: &[&str]) -> Vec<String> {
    let root = root();
    let known = std::env::var("HOME").unwrap_or_default() + "/.cache/oversim/reproduce";
    let put = |word: &&str| word.replace("ROOT", root.to_str().unwrap()).replace("CACHE", &known);
    args.iter().map(put).collect()
}

/// The root of the sources.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Writes what every command finds: scenarios, and files that it must not touch.
pub(crate) fn scenarios(directory: &Path) {
    let cpus = std::thread::available_parallelism().unwrap();
    let host = format!(
        "name: host\nsummary: this host\nkernel: {{ value: linux-6.18, source: test }}\n\
        topology: {{ value: 'core:{cpus}', source: test }}\n"
    );
    for (name, text) in
        [("short.yaml", SHORT), ("grid.yaml", GRID), ("here.yaml", HERE), ("host.yaml", &host)]
    {
        fs::write(directory.join(name), text).unwrap();
    }
    fs::write(directory.join("thesis.tex"), "mine\n").unwrap();
    fs::write(directory.join(".hidden"), "mine\n").unwrap();
}

fn nothing(_: &Path) {}

/// An earlier result in the directory of the new one, and a file of the user.
fn older_results(directory: &Path) {
    child::prepare(directory, &["run", "short.yaml", "--seed", "9", "-o", "D", "--quiet"]);
    fs::write(directory.join("D/notes.txt"), "mine\n").unwrap();
}

fn older_pages(directory: &Path) {
    for name in ["r.html", "s.ndjson", "d.ndjson", "t.ftrace", "t.pftrace", "t.svg", "m.json", "c.csv"] {
        fs::write(directory.join(name), "older\n").unwrap();
    }
}

fn result(directory: &Path) {
    let args = ["run", "grid.yaml", "-o", "R", "--quiet"];
    child::prepare(directory, &args);
}

fn swept(directory: &Path) {
    for shard in ["0/2", "1/2"] {
        child::prepare(directory, &["sweep", "grid.yaml", "-o", "s", "--shard", shard, "--quiet"]);
    }
}

/// Files of other programs, and a scenario that can be exported.
fn foreign(directory: &Path) {
    let counts =
        "4000000000,,cycles:u,1754569850,100.00,,\n1754.57,msec,task-clock,1754569850,100.00,1.999,\n";
    let log = "; MaxProcs: 8\n1 100 5 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n";
    for (name, text) in
        [("counts.csv", counts), ("log.swf", log), ("hogs.yaml", HOGS), ("server.yaml", SERVER)]
    {
        fs::write(directory.join(name), text).unwrap();
    }
}

/// The files that `--write` replaces, as an older program wrote them.
fn sources(directory: &Path) {
    let root = root();
    for name in ["docs/calibration.md", "docs/validation.md", "docs/validation-host.md"] {
        fs::create_dir_all(directory.join("docs")).unwrap();
        if root.join(name).exists() {
            let text = fs::read_to_string(root.join(name)).unwrap();
            fs::write(directory.join(name), text + "older\n").unwrap();
        }
    }
    // One measured host: predicting all of them again takes minutes without optimisation.
    fs::create_dir_all(directory.join("docs/validation-host")).unwrap();
    for name in ["docs/validation-host/epyc-2vcpu.json", "docs/validation-host/epyc-2vcpu.yaml"] {
        fs::copy(root.join(name), directory.join(name)).unwrap();
    }
    tree::copy(&root.join("crates/machines/data"), &directory.join("crates/machines/data"));
    let derived = directory.join("crates/workloads/data");
    tree::copy(&root.join("crates/workloads/data"), &derived);
    for name in Tree::of(&derived).files() {
        fs::write(derived.join(name), "older\n").unwrap();
    }
}

/// A case with the usual answers.
const fn case(command: &'static str, args: &'static [&'static str]) -> Case {
    Case {
        command,
        args,
        prepare: nothing,
        loose: &[],
        finish: &[],
        rival: None,
        compared: Compared::Bytes,
        weight: 2,
        slow: false,
        needs: None,
    }
}

/// A case that finds something.
const fn finding(command: &'static str, args: &'static [&'static str], prepare: fn(&Path)) -> Case {
    Case { prepare, ..case(command, args) }
}

/// A case of a sweep.
const fn sweep(args: &'static [&'static str]) -> Case {
    Case { loose: &["s/parts"], weight: 4, ..case("sweep", args) }
}

const ONE: &[&str] = &[
    "run",
    "short.yaml",
    "--policy",
    "PIN",
    "--repeat",
    "1",
    "-o",
    "D",
    "--record-schedule",
    "s.ndjson",
    "--trace",
    "t.ftrace",
];

/// All of them.
pub(crate) const CASES: &[Case] = &[
    Case {
        rival: Some(&["run", "short.yaml", "--seed", "2", "-o", "D", "--force"]),
        ..finding("run -o", &["run", "short.yaml", "-o", "D", "--force"], older_results)
    },
    case("run -o", &["run", "short.yaml", "-o", "a/D", "--format", "json"]),
    case("run, three outputs", ONE),
    case("run --record-schedule", &["run", "short.yaml", "--record-schedule", "s.ndjson"]),
    finding(
        "run --record-schedule",
        &["run", "short.yaml", "--record-schedule", "s.ndjson", "--force"],
        older_pages,
    ),
    case("run --trace", &["run", "short.yaml", "--trace", "t.pftrace", "--trace-run", "1"]),
    finding(
        "run --trace",
        &["run", "short.yaml", "--trace", "t.ftrace", "--trace-run", "0", "--force"],
        older_pages,
    ),
    case("run --explain-decisions", &["run", "short.yaml", "--explain-decisions", "d.ndjson"]),
    finding(
        "run --explain-decisions",
        &["run", "short.yaml", "--explain-decisions", "d.ndjson", "--explain-queues", "--force"],
        older_pages,
    ),
    case("report", &["report", "short.yaml", "-o", "r.html"]),
    finding("report", &["report", "short.yaml", "-o", "r.html", "--force"], older_pages),
    finding("report of a sweep", &["report", "s", "-o", "s.html"], swept),
    finding("plot", &["plot", "R/result.json", "-o", "P", "--figure", "slowdown,sweep"], result),
    case("plot", &["plot", "short.yaml", "--format", "png", "--figure", "slowdown,breakdown"]),
    case("timeline", &["timeline", "short.yaml", "-o", "t.svg"]),
    finding("timeline", &["timeline", "short.yaml", "-o", "t.png", "--force"], older_pages),
    finding("compare", &["compare", "R/result.json", "--format", "json"], result),
    finding("artifact pack", &["artifact", "pack", "R", "-o", "a.tar.gz"], result),
    sweep(&["sweep", "grid.yaml", "-o", "s", "--jobs", "1"]),
    sweep(&["sweep", "grid.yaml", "-o", "s", "--jobs", "2"]),
    Case {
        finish: &[&["sweep", "grid.yaml", "-o", "s", "--shard", "1/2"], &["sweep", "merge", "s"]],
        rival: Some(&["sweep", "grid.yaml", "-o", "s", "--shard", "1/2", "--jobs", "1"]),
        ..sweep(&["sweep", "grid.yaml", "-o", "s", "--shard", "0/2", "--jobs", "1"])
    },
    Case { loose: &["s/parts"], ..finding("sweep merge", &["sweep", "merge", "s"], swept) },
    finding("sweep phase-diagram", &["sweep", "phase-diagram", "R/result.json", "-o", "p.svg"], result),
    Case {
        loose: &["c"],
        ..finding(
            "reproduce --cache --cells",
            &[
                "reproduce",
                "--quick",
                "--group",
                "hog",
                "--cache",
                "c",
                "--cells",
                "c.csv",
                "--force",
                "--format",
                "json",
            ],
            older_pages,
        )
    },
    Case {
        compared: Compared::Form,
        ..case("measure", &["measure", "here.yaml", "-r", "1", "-o", "m.json", "--force", "--wait", "0"])
    },
    Case { weight: 0, ..finding("measure --write", &["measure", "--write", "."], sources) },
    Case {
        weight: 0,
        ..finding("reproduce --write", &["reproduce", "--write", ".", "--cache", "CACHE"], sources)
    },
    Case { weight: 0, ..finding("calibrate --write", &["calibrate", "--write", "."], sources) },
    Case {
        compared: Compared::Form,
        weight: 0,
        ..case(
            "calibrate host",
            &["calibrate", "host", "--quick", "-o", "mine.yaml", "--force", "--wait", "0"],
        )
    },
    finding("import", &["import", "log.swf", "-o", "i.yaml"], foreign),
    finding("export", &["export", "hogs.yaml", "--form", "rt-app", "-o", "e.json"], foreign),
    finding("profile", &["profile", "counts.csv", "--threads", "2", "--no-trials", "-o", "j.yaml"], foreign),
    case(
        "twin import",
        &["twin", "import", "ROOT/crates/twin/tests/recordings/polling.base.gz", "-o", "t.yaml"],
    ),
    Case {
        compared: Compared::Form,
        weight: 0,
        ..case("twin record", &["twin", "record", "--force", "-o", "r.gz", "--", "true"])
    },
    finding("matrix", &["matrix", "hogs.yaml", "--repeat", "1", "-o", "M"], foreign),
    case("why", &["why", "short.yaml", "--policy", "LOAD,PIN", "--repeat", "3", "-o", "w.svg"]),
    case(
        "leaderboard",
        &["leaderboard", "--scenarios", "short.yaml", "--policy", "LOAD,PIN", "-r", "2", "-o", "L"],
    ),
    case(
        "tune",
        &[
            "tune",
            "VTIME.slice",
            "--scenarios",
            "short.yaml",
            "--budget",
            "10",
            "-r",
            "2",
            "-o",
            "tuned.yaml",
        ],
    ),
    Case {
        slow: true,
        ..case(
            "duel",
            &["duel", "PIN", "LOAD", "--runs", "60", "--no-reason", "-o", "d.yaml", "--timeline", "d.svg"],
        )
    },
    case("kernel diff", &["kernel", "diff", "linux-6.6", "linux-6.18", "--on", "short.yaml", "-o", "k.svg"]),
    Case {
        slow: true,
        needs: Some("clang"),
        ..case("scx build", &["scx", "build", "ROOT/examples/scx/vtime.bpf.c", "-o", "v.wasm", "--force"])
    },
    case("scx export", &["scx", "export", "ROOT/examples/scx/interactive.order", "-o", "x.bpf.c"]),
    finding(
        "scx compare",
        &["scx", "compare", "LOAD", "PIN", "--on", "hogs.yaml", "--repeat", "2", "--timeline", "c.svg"],
        foreign,
    ),
    case("conformance", &["conformance", "ROOT/scenarios/conformance/fork_6_6.table", "--write", "c.table"]),
    finding("sweep export", &["sweep", "export", "s", "-o", "e.csv"], swept),
    finding("sweep export", &["sweep", "export", "s", "-o", "e.parquet"], swept),
    finding("run --requests", &["run", "server.yaml", "--requests", "q.ndjson"], foreign),
    case(
        "machine import",
        &["machine", "import", "--synthetic", "pack:2 [numa] core:4 pu:2", "-o", "b.yaml"],
    ),
    case(
        "machine set",
        &["machine", "set", "epyc", "--value", "poll=80ns", "--source", "mine", "-o", "b.yaml"],
    ),
    Case { weight: 3, ..case("new policy", &["new", "policy", "MY_POLICY", "--path", "ROOT"]) },
    case("new policy", &["new", "policy", "MINE", "--path", "ROOT", "--directory", "a/b"]),
    case("lesson --slides", &["lesson", "1", "--slides", "s.html"]),
    case("init", &["init", "cg_ft_share", "-o", "mine.yaml"]),
    case("man -o", &["man", "-o", "man1"]),
    Case { weight: 1, ..case("completions", &["completions", "bash"]) },
    Case { weight: 1, ..case("schema", &["schema", "result"]) },
    Case { weight: 1, ..case("machine export", &["machine", "export", "epyc", "--synthetic"]) },
    Case { weight: 1, ..case("list", &["list", "metrics", "--format", "json"]) },
    Case { weight: 1, ..case("explain", &["explain", "SPEED", "--format", "markdown"]) },
    Case { weight: 1, ..case("docs", &["docs", "lock"]) },
    Case { weight: 1, ..case("check", &["check", "short.yaml", "grid.yaml"]) },
    Case {
        weight: 1,
        ..case(
            "sweep script",
            &["sweep", "script", "grid.yaml", "-o", "s", "--engine", "slurm", "--shards", "2"],
        )
    },
];
