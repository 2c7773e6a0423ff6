//! The submit scripts of `oversim sweep script`, with stand-ins for the engines that run each task for real:
//! whatever happens to a task, the merged bytes are those of one process.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::{CommandCargoExt, cargo_bin};
use notation::yaml::{Content, Node, tree};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// 2 configurations, 6 replicates, 2 policies: 24 runs of some hundredths of a second in a debug build.
const STUDY: &str = "name: study\nmachine: core:4\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\nrepeat: 6\n\
    baseline: none\nsweep: { threads_per_core: [1, 3] }\n\
    apps: { job: { workload: { spmd: { work: 400ms, intervals: 300, spread: 10% } } } }\n";
const SHARDS: u32 = 3;

/// For the stand-ins: `task INDEX COMMAND...` runs a task. Shard 1 is killed while it works, once.
const TASK: &str = r#"#!/bin/bash
task() {
    if [ "$1" != 1 ] || [ -e "$HERE/killed" ]; then
        "${@:2}"
        return
    fi
    touch "$HERE/killed"
    setsid "${@:2}" &
    local first=$! journal="$HERE/out/parts/1-of-3.open"
    until [ -s "$journal" ] || ! kill -0 "$first" 2>/dev/null; do sleep 0.002; done
    kill -KILL -- "-$first"
    wait "$first"
    [ ! -s "$journal" ] || touch "$HERE/midway"
    return 137
} 2>/dev/null
again() { task "$@" || task "$@"; }
"#;

/// A folder with the study, its results of one process in `one`, and a directory for programs.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.yaml"), STUDY).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    oversim(folder.path(), &["sweep", "study.yaml", "-o", "one"]);
    folder
}

/// Runs the program, which must succeed; its output.
fn oversim(folder: &Path, args: &[&str]) -> String {
    let output = Command::cargo_bin("oversim").unwrap().current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn stand_in(folder: &Path, name: &str, text: &str) {
    let path = folder.join("bin").join(name);
    fs::write(&path, format!("{TASK}{text}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Starts the script for an engine.
fn submitted(folder: &Path, engine: &str) -> Child {
    let shards = SHARDS.to_string();
    let words = ["sweep", "script", "study.yaml", "-o", "out", "--engine", engine, "--jobs", "1"];
    let text = oversim(folder, &[&words[..], &["--shards", &shards]].concat());
    fs::write(folder.join("submit"), text).unwrap();
    let path = format!("{}:{}", folder.join("bin").display(), env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.arg("submit").current_dir(folder).env("PATH", path).env("HERE", folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the script. The results are those of one process; whether the shard was killed at work.
fn compared(folder: &Path, engine: &str, script: Child) -> bool {
    let output = script.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{engine}: {said}");
    let runs = |directory: &str| fs::read(folder.join(directory).join("runs.ndjson")).unwrap();
    assert!(runs("out") == runs("one"), "{engine}");
    folder.join("midway").exists()
}

/// The engines whose tasks are commands of a shell.
#[test]
fn a_killed_task_of_any_engine_changes_no_byte() {
    let array = r#"file="$(mktemp "$HERE/task.XXXXXX")"
cat >"$file"
"#;
    let slurm = format!(
        "{array}{}",
        r#"export SLURM_ARRAY_JOB_ID=7 SLURM_CPUS_PER_TASK=1
if grep -q '^#SBATCH --array=0-2$' "$file"; then
    for SLURM_ARRAY_TASK_ID in 0 1 2; do
        export SLURM_ARRAY_TASK_ID
        again "$SLURM_ARRAY_TASK_ID" bash "$file" >&2
    done
else
    bash "$file" >&2
fi
echo '7;here'
"#
    );
    // PBS does not start a task again that was killed: the job of the merge submits the script again.
    let pbs = format!(
        "{array}{}",
        r#"export PBS_O_WORKDIR="$PWD"
[ "$1" != -v ] || export "$2"
if grep -q '^#PBS -[Jt] 0-2$' "$file"; then
    for index in 0 1 2; do
        export PBS_ARRAY_INDEX="$index" PBS_ARRAYID="$index"
        task "$index" bash "$file" >&2
    done
else
    bash "$file" >&2
fi
echo '7[].here'
"#
    );
    let hyperqueue = r#"for word; do
    shift
    case "$word" in
    --array=0-2) tasks="0 1 2" ;;
    --env=*) export "${word#--env=}" ;;
    --) break ;;
    esac
done
for HQ_TASK_ID in $tasks; do
    export HQ_TASK_ID
    again "$HQ_TASK_ID" "$@"
done
"#;
    let parallel = r#"[ "$1" != --number-of-threads ] || { echo 2; exit; }
while [ "$1" != ::: ]; do shift; done
shift
for index; do again "$index" bash -c "shard $index"; done
"#;
    let folder = folder();
    let folder = folder.path();
    let all = [("sbatch", &slurm[..]), ("qsub", &pbs), ("hq", hyperqueue), ("parallel", parallel)];
    for (name, text) in all.into_iter().chain([("scontrol", "")]) {
        stand_in(folder, name, text);
    }
    let mut midway = 0;
    for engine in ["slurm", "pbs", "torque", "hyperqueue", "parallel"] {
        for name in ["out", "killed", "midway"] {
            let path = folder.join(name);
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
        midway += u32::from(compared(folder, engine, submitted(folder, engine)));
        assert!(folder.join("killed").exists(), "{engine}");
    }
    assert!(midway > 0, "no shard was killed at work");
}

fn at<'a>(node: &'a Node, path: &[&str]) -> &'a Node {
    path.iter().fold(node, |node, key| match &node.content {
        Content::List(items) => &items[key.parse::<usize>().unwrap()],
        _ => &node.get(key).unwrap_or_else(|| panic!("{key} of {path:?}")).value,
    })
}

fn text(node: &Node) -> &str {
    let Content::Scalar(text) = &node.content else { panic!("no scalar") };
    text
}

fn list(node: &Node) -> &[Node] {
    let Content::List(items) = &node.content else { panic!("no list") };
    items
}

/// What the rules of a job do when a container ends with this exit code.
fn action(job: &Node, code: i32) -> Option<&str> {
    let code = code.to_string();
    let rules = list(at(job, &["spec", "podFailurePolicy", "rules"]));
    let of = |rule: &&Node| {
        let codes = rule.get("onExitCodes").map(|found| at(&found.value, &["values"]));
        codes.is_some_and(|codes| list(codes).iter().any(|known| text(known) == code))
    };
    rules.iter().find(of).map(|rule| text(at(rule, &["action"])))
}

/// Runs the tasks of a job of Kubernetes, with its arguments and variables. Shard 0 gets SIGTERM and shard 1
/// SIGKILL while they work; both start again, as the rules have it.
fn run_job(folder: &Path, job: &Node) {
    let container = at(job, &["spec", "template", "spec", "containers", "0"]);
    let indexed = job.get("spec").is_some_and(|spec| spec.value.get("completionMode").is_some());
    let completions: u32 = if indexed { text(at(job, &["spec", "completions"])).parse().unwrap() } else { 1 };
    let start = |index: u32| {
        let mut command = Command::new(cargo_bin("oversim"));
        command.args(list(at(container, &["args"])).iter().map(text)).stdout(Stdio::null());
        // A pod begins in the directory of its image.
        command.current_dir("/").env_clear();
        for variable in container.get("env").map_or(&[][..], |found| list(&found.value)) {
            command.env(text(at(variable, &["name"])), text(at(variable, &["value"])));
        }
        if indexed {
            command.env("JOB_COMPLETION_INDEX", index.to_string());
        }
        command.spawn().unwrap()
    };
    for index in 0..completions {
        if indexed && index < 2 {
            let mut first = start(index);
            let journal = folder.join(format!("out/parts/{index}-of-{completions}.open"));
            while fs::metadata(&journal).map_or(0, |about| about.len()) == 0 {
                if first.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            let signal = if index == 0 { Signal::TERM } else { Signal::KILL };
            let _ = kill_process(Pid::from_child(&first), signal);
            match first.wait().unwrap().code() {
                Some(0) => {}
                Some(code) => assert_eq!((code, action(job, code)), (75, Some("Ignore"))),
                None => fs::write(folder.join("midway"), "").unwrap(),
            }
        }
        assert!(start(index).wait().unwrap().success(), "{index}");
    }
    assert!(!indexed || action(job, 2) == Some("FailIndex"));
}

#[test]
fn killed_pods_of_an_indexed_job_change_no_byte() {
    let folder = folder();
    let folder = folder.path();
    let kubectl = r#"case "$1" in
create)
    number="$(find "$HERE" -name 'job.?' | wc -l)"
    cat >"$HERE/new"
    mv "$HERE/new" "$HERE/job.$number"
    echo "job.batch/job.$number"
    ;;
get) [ ! -e "$HERE/${2#job.batch/}.done" ] || echo "SuccessCriteriaMet Complete" ;;
esac
"#;
    stand_in(folder, "kubectl", kubectl);
    stand_in(folder, "sleep", "exec /bin/sleep 0.01\n");
    let mut script = submitted(folder, "kubernetes");
    let begin = Instant::now();
    let mut job = 0;
    while script.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{job} jobs");
        if let Ok(document) = fs::read_to_string(folder.join(format!("job.{job}"))) {
            run_job(folder, &tree(0, &document).unwrap());
            fs::write(folder.join(format!("job.{job}.done")), "").unwrap();
            job += 1;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    compared(folder, "kubernetes", script);
    assert_eq!(job, 2);
}

#[test]
fn what_an_engine_cannot_do_is_refused() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("volume")).unwrap();
    let refused = |args: &[&str], why: &str| {
        let words = [&["sweep", "script", "study.yaml", "-o", "volume/out"], args].concat();
        let output = Command::cargo_bin("oversim").unwrap().current_dir(folder).args(words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && output.stdout.is_empty() && said.contains(why), "{said}");
    };
    refused(&["--engine", "kubernetes"], "study.yaml is not in it: copy it there");
    refused(&["--engine", "pbs", "--shards", "1"], "an array of pbs has at least 2 tasks");
    refused(&["--engine", "lsf"], "possible values: slurm, pbs, torque, hyperqueue, kubernetes, parallel");
}
