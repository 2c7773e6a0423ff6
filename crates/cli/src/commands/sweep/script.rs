//! Submit scripts for the engines that run the shards of a sweep: Slurm, HyperQueue, GNU parallel.
//!
//! Sources of the options: sbatch(1) of Slurm 22.05.8, `docs/jobs` of HyperQueue, parallel(1) of GNU parallel
//! 20221122. `.ci/sweep` runs the scripts.

use std::fmt::Write as _;
use std::time::Duration;

use experiment::report::quoted;

use crate::args::Engine;

/// Seconds between SIGTERM and the time limit of Slurm, for the runs in hand: the default of
/// `sbatch --signal`.
const GRACE: u64 = 60;
/// Slurm may send the signal up to 60 s earlier than it was asked to: sbatch(1), `--signal`.
const EARLY: u64 = 60;
/// How often Slurm starts a shard again after exit code 75. A shard that gets no run done within its time
/// limit must not be queued without end.
const RESTARTS: u32 = 100;
/// How often a shard may lose its worker before HyperQueue gives it up (5 by default). Workers end with the
/// allocations that they run in, so a long sweep loses more than a few.
const CRASHES: u32 = 50;
/// How often GNU parallel runs a shard that fails.
const TRIES: u32 = 3;
/// Milliseconds that GNU parallel leaves a shard between SIGTERM and SIGKILL, as long as Slurm does.
const TERM: u64 = GRACE * 1000;
/// Bytes of a mebibyte, the unit in which all three engines take memory.
const MEBIBYTE: u64 = 1 << 20;

/// What a script has to know. Paths are absolute, or relative to the directory of the submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    /// Path of this program.
    pub(crate) program: String,
    /// Path of the scenario.
    pub(crate) scenario: String,
    /// Directory of the sweep.
    pub(crate) directory: String,
    /// Other arguments of `oversim sweep`, such as `--set` and its value, not quoted.
    pub(crate) extra: Vec<String>,
    /// Number of shards, at least 1.
    pub(crate) shards: u32,
    /// Cpus of a shard, at least 1.
    pub(crate) jobs: u32,
    /// Longest time that a shard is expected to take; none leaves the limit to the engine.
    pub(crate) limit: Option<Duration>,
    /// Memory of a shard in bytes.
    pub(crate) memory: u64,
}

impl Facts {
    /// The memory of a shard in mebibytes, rounded up.
    fn mebibytes(&self) -> u64 {
        self.memory.div_ceil(MEBIBYTE).max(1)
    }

    /// The number of the last shard.
    fn last(&self) -> u32 {
        self.shards.saturating_sub(1)
    }

    /// The command of one shard. `choice` selects it, `jobs` is its number of threads, both as the shell
    /// reads them.
    fn worker(&self, choice: &str, jobs: &str) -> String {
        let (program, scenario) = (quoted(&self.program), quoted(&self.scenario));
        let mut line = format!("{program} sweep {scenario} -o {}", quoted(&self.directory));
        for argument in [choice, jobs].into_iter().filter(|argument| !argument.is_empty()) {
            line += " ";
            line += argument;
        }
        for argument in &self.extra {
            line += " ";
            line += &quoted(argument);
        }
        line
    }

    /// The command that merges the results.
    fn merge(&self) -> String {
        format!("{} sweep merge {}", quoted(&self.program), quoted(&self.directory))
    }

    /// A file of the directory for the messages of the engine.
    fn log(&self, name: &str) -> String {
        quoted(&format!("{}/logs/{name}", self.directory))
    }
}

/// A complete submit script: `bash FILE` starts all shards, then merges their results.
pub(crate) fn script(engine: Engine, facts: &Facts) -> String {
    match engine {
        Engine::Slurm => slurm(facts),
        Engine::Hyperqueue => hyperqueue(facts),
        Engine::Parallel => parallel(facts),
    }
}

/// The first lines of a script: what it does and how to use it.
fn head(facts: &Facts, what: &str) -> String {
    format!(
        "#!/bin/bash\n\
        # Runs the {} shards of a sweep {what}, then merges their results. Use: bash THIS_FILE\n\
        # After a failure run it again: finished runs are kept.\n\
        set -euo pipefail\n\
        mkdir -p {}\n\n",
        facts.shards,
        quoted(&format!("{}/logs", facts.directory)),
    )
}

/// A job array and a job that depends on it.
fn slurm(facts: &Facts) -> String {
    let mut text = head(facts, "as a job array of Slurm");
    // In a file name, Slurm replaces `%A`; `%%` is a percent sign.
    let logs = |name: &str| quoted(&format!("{}/logs/{name}", facts.directory.replace('%', "%%")));
    text += "shard() {\n    cat <<'END_OF_SHARD'\n#!/bin/bash\n#SBATCH --job-name=oversim\n";
    let _ = writeln!(text, "#SBATCH --array=0-{}", facts.last());
    let _ = writeln!(text, "#SBATCH --cpus-per-task={}", facts.jobs);
    let _ = writeln!(text, "#SBATCH --mem={}M", facts.mebibytes());
    if let Some(limit) = facts.limit {
        let _ = writeln!(text, "#SBATCH --time={}", slurm_time(limit));
    }
    let _ = writeln!(text, "#SBATCH --signal=B:TERM@{GRACE}");
    text += "#SBATCH --requeue\n\
        #SBATCH --open-mode=append\n\
        # Slurm sends SIGTERM to this shell before the time limit. oversim then finishes the runs in hand,\n\
        # exits with code 75, and the shard is queued again.\n";
    let worker = facts.worker(
        &format!("--shard \"$SLURM_ARRAY_TASK_ID/{}\"", facts.shards),
        "--jobs \"$SLURM_CPUS_PER_TASK\"",
    );
    let _ = writeln!(text, "{worker} &");
    text += "worker=$!\n\
        finish() { # exit code\n";
    let _ =
        writeln!(text, "    if [ \"$1\" = 75 ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {RESTARTS} ]; then");
    text += "        scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n    \
            fi\n    \
            exit \"$1\"\n\
        }\n\
        trap 'trap \"\" TERM; kill -TERM \"$worker\"; wait \"$worker\"; finish $?' TERM\n\
        wait \"$worker\"\n\
        finish $?\n\
        END_OF_SHARD\n\
        }\n\n\
        merge() {\n    \
            cat <<'END_OF_MERGE'\n\
        #!/bin/bash\n\
        #SBATCH --job-name=oversim-merge\n";
    let _ = writeln!(text, "exec {}\nEND_OF_MERGE\n}}\n", facts.merge());
    let _ = writeln!(
        text,
        "array=\"$(shard | sbatch --parsable --output={} | cut -d';' -f1)\"",
        logs("%A_%a.log")
    );
    let _ = writeln!(
        text,
        "merge=\"$(merge | sbatch --parsable --output={} --dependency=\"afterok:$array\" \
            --kill-on-invalid-dep=yes | cut -d';' -f1)\"",
        logs("merge_%j.log"),
    );
    text += "echo \"job array $array runs the shards, job $merge merges the results\"\n";
    text
}

/// A time limit of Slurm, `days-hours:minutes:seconds`. Its resolution is a minute, and SIGTERM comes before.
fn slurm_time(limit: Duration) -> String {
    let minutes = limit.as_secs().saturating_add(1 + GRACE + EARLY).div_ceil(60);
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    if days > 0 {
        format!("{days}-{hours:02}:{minutes:02}:00")
    } else {
        format!("{hours:02}:{minutes:02}:00")
    }
}

/// A task array, and the merge when it is done.
fn hyperqueue(facts: &Facts) -> String {
    let mut text = head(facts, "as a task array of HyperQueue");
    text += "# A server and workers have to run (hq server start, hq worker start). If a worker is lost,\n\
        # HyperQueue starts its shards again on another one.\n";
    let _ = write!(
        text,
        "hq submit --wait --name=oversim --array=0-{} --cpus={} --resource=mem={}",
        facts.last(),
        facts.jobs,
        facts.mebibytes(),
    );
    if let Some(limit) = facts.limit {
        let _ = write!(text, " --time-limit={}s", limit.as_secs().saturating_add(1));
    }
    let _ = writeln!(
        text,
        " --crash-limit={CRASHES} \\\n    --env=OVERSIM_SHARDS={} --stdout=none --stderr={} \\\n    -- {}",
        facts.shards,
        facts.log("%{TASK_ID}.log"),
        facts.worker("", &format!("--jobs {}", facts.jobs)),
    );
    let _ = writeln!(text, "exec {}", facts.merge());
    text
}

/// Processes on this machine, and the merge when they are done.
fn parallel(facts: &Facts) -> String {
    let mut text = head(facts, "with GNU parallel on this machine");
    let worker = facts.worker(&format!("--shard \"$1/{}\"", facts.shards), &format!("--jobs {}", facts.jobs));
    let _ = writeln!(text, "shard() {{\n    exec {worker}\n}}");
    let _ = writeln!(
        text,
        "export -f shard\n\
        export PARALLEL_SHELL=\"$BASH\"\n\
        slots=$(($(parallel --number-of-threads) / {}))\n\
        parallel --jobs $((slots > 0 ? slots : 1)) --memfree {}M \\\n    \
            --retries {TRIES} --halt soon,fail=1 --termseq TERM,{TERM},KILL,1000 \\\n    \
            --joblog {} shard ::: {{0..{}}}\n\
        exec {}",
        facts.jobs,
        facts.mebibytes(),
        facts.log("parallel.log"),
        facts.last(),
        facts.merge(),
    );
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Command, Output};
    use std::{env, fs};

    use super::*;

    const ENGINES: [(Engine, &str); 3] =
        [(Engine::Slurm, "slurm"), (Engine::Hyperqueue, "hyperqueue"), (Engine::Parallel, "parallel")];

    fn facts() -> Facts {
        Facts {
            program: "/opt/oversim/bin/oversim".to_owned(),
            scenario: "study.yaml".to_owned(),
            directory: "/scratch/study".to_owned(),
            extra: vec!["--set".to_owned(), "apps.cg.workload.class=A".to_owned()],
            shards: 16,
            jobs: 4,
            limit: Some(Duration::from_secs(3600)),
            memory: 3 << 29,
        }
    }

    /// Paths and arguments that a shell, an engine or a here-document could change.
    fn hostile(folder: &Path) -> Facts {
        Facts {
            program: folder.join("the \"program\" {} it's").display().to_string(),
            scenario: "a b'c\"d$HOME`id`\\%j %{JOB_ID} {} {.}.yaml".to_owned(),
            directory: folder.join("out 100% 'q' {}").display().to_string(),
            extra: vec!["--set".to_owned(), "apps.a b.note=$(id) \"x\"".to_owned()],
            shards: 3,
            jobs: 2,
            limit: None,
            memory: 1,
        }
    }

    /// Writes a program for the tests.
    fn program(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn bash(folder: &Path, text: &str, mode: &[&str]) -> Output {
        let file = folder.join("script");
        fs::write(&file, text).unwrap();
        let path = format!("{}:{}", folder.join("bin").display(), env::var("PATH").unwrap());
        Command::new("bash").args(mode).arg(&file).env("PATH", path).output().unwrap()
    }

    #[test]
    fn the_scripts_are_the_golden_ones() {
        for (engine, name) in ENGINES {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/sweep_{name}.sh"));
            let text = script(engine, &facts());
            if env::var_os("OVERSIM_UPDATE").is_some() {
                fs::write(&path, &text).unwrap();
            }
            assert_eq!(
                text,
                fs::read_to_string(&path).unwrap(),
                "OVERSIM_UPDATE=1 renews {}",
                path.display()
            );
        }
    }

    #[test]
    fn the_scripts_are_bash() {
        let folder = tempfile::tempdir().unwrap();
        for (engine, name) in ENGINES {
            for facts in [facts(), hostile(folder.path())] {
                let output = bash(folder.path(), &script(engine, &facts), &["-n"]);
                assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }

    /// Engines that start the shards at once, and a program that writes down its arguments, one per line.
    fn engines(folder: &Path, facts: &Facts) {
        fs::create_dir(folder.join("bin")).unwrap();
        let note =
            format!("printf '%s\\n' \"$@\" END >>{}", quoted(&folder.join("calls").display().to_string()));
        program(Path::new(&facts.program), &format!("#!/bin/bash\n{note}\nexit \"${{CODE:-0}}\"\n"));
        // As parallel(1) has it, the words of the command are read by a shell.
        let parallel = "#!/bin/bash\n[ \"$1\" = --number-of-threads ] && { echo 8; exit; }\n\
            [ \"$2\" = 4 ] || exit 9\nbash -c 'shard 2'\n";
        program(&folder.join("bin/parallel"), parallel);
        let hq = "#!/bin/bash\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n";
        program(&folder.join("bin/hq"), hq);
        let sbatch = "#!/bin/bash\nexport SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_JOB_ID=7 SLURM_CPUS_PER_TASK=2\n\
            bash >&2\necho '7;here'\n";
        program(&folder.join("bin/sbatch"), sbatch);
        let requeue = format!(
            "#!/bin/bash\necho \"scontrol $*\" >>{}\n",
            quoted(&folder.join("calls").display().to_string())
        );
        program(&folder.join("bin/scontrol"), &requeue);
    }

    #[test]
    fn names_with_spaces_and_quotes_reach_the_program() {
        for (engine, name) in ENGINES {
            let folder = tempfile::tempdir().unwrap();
            let facts = hostile(folder.path());
            engines(folder.path(), &facts);
            let output = bash(folder.path(), &script(engine, &facts), &[]);
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
            let choice = if engine == Engine::Hyperqueue { "" } else { "--shard\n2/3\n" };
            let worker = format!(
                "sweep\n{}\n-o\n{}\n{choice}--jobs\n2\n--set\n{}\nEND\n",
                facts.scenario, facts.directory, facts.extra[1]
            );
            assert_eq!(calls, format!("{worker}sweep\nmerge\n{}\nEND\n", facts.directory), "{name}");
            assert!(Path::new(&facts.directory).join("logs").is_dir(), "{name}");
        }
    }

    #[test]
    fn slurm_queues_a_shard_again_that_stopped_early() {
        let folder = tempfile::tempdir().unwrap();
        let facts = hostile(folder.path());
        engines(folder.path(), &facts);
        for (code, restarts, again) in [(75, 0, true), (75, RESTARTS, false), (1, 0, false), (0, 0, false)] {
            fs::write(folder.path().join("calls"), "").unwrap();
            let text = script(Engine::Slurm, &facts)
                .replace("set -euo pipefail", &format!("export CODE={code} SLURM_RESTART_COUNT={restarts}"));
            let output = bash(folder.path(), &text, &[]);
            let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
            assert_eq!(calls.contains("END\nscontrol requeue 7_2\n"), again, "{code} {restarts}: {output:?}");
        }
    }

    #[test]
    fn a_time_limit_of_slurm_leaves_time_for_the_signal() {
        // 3600 s, one to round up, 120 s for the signal: 62 minutes and a second.
        assert_eq!(slurm_time(Duration::from_secs(3600)), "01:03:00");
        assert_eq!(slurm_time(Duration::from_secs(0)), "00:03:00");
        // 1500 min of work and 3 more: a day, an hour and 3 minutes.
        assert_eq!(slurm_time(Duration::from_secs(1500 * 60)), "1-01:03:00");
        assert_eq!(facts().mebibytes(), 1536);
    }
}
