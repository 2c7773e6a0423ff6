//! Submit scripts for the engines that run the shards of a sweep ([`crate::engines`]).

use std::time::Duration;

use experiment::neutral;
use experiment::report::quoted;

use crate::engines::Engine;

/// Seconds between SIGTERM and SIGKILL, for the runs in hand: the default of `sbatch --signal`.
const GRACE: u64 = 60;
/// Slurm may send the signal up to 60 s earlier than it was asked to: sbatch(1), `--signal`.
const EARLY: u64 = 60;
/// How often Slurm starts a shard again after exit code 75. A shard that gets no run done within its time
/// limit must not be queued without end.
const RESTARTS: u32 = 100;
/// How often a shard may lose its worker before HyperQueue gives it up (5 by default). Workers end with the
/// allocations that they run in, so a long sweep loses more than a few.
const CRASHES: u32 = 50;
/// How often GNU parallel and Kubernetes run a shard again that fails.
const TRIES: u32 = 3;
/// Seconds between two questions whether a job of Kubernetes has ended.
const POLL: u32 = 5;
/// Bytes of a mebibyte, the unit in which all engines take memory.
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
    /// The directory that tasks see, if they see only one.
    pub(crate) volume: Option<String>,
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

    /// The value of a name in a template; none of a name without one.
    fn value(&self, name: &str) -> Option<String> {
        let sub = |verb: &str| format!("{} sweep {verb} {}", quoted(&self.program), quoted(&self.directory));
        let logs = || format!("{}/logs", self.directory);
        Some(match name {
            "shards" => self.shards.to_string(),
            "last" => self.shards.saturating_sub(1).to_string(),
            "jobs" => self.jobs.to_string(),
            "mebibytes" => self.mebibytes().to_string(),
            "grace" => GRACE.to_string(),
            "restarts" => RESTARTS.to_string(),
            "crashes" => CRASHES.to_string(),
            "tries" => TRIES.to_string(),
            "poll" => POLL.to_string(),
            "sweep" => {
                let words = [&self.program, "sweep", &self.scenario, "-o", &self.directory];
                words.map(quoted).join(" ")
            }
            "changes" => self.extra.iter().map(|word| format!(" {}", quoted(word))).collect(),
            "merge" => sub("merge"),
            "status" => sub("status"),
            "logs" => quoted(&logs()),
            // In the name of a file, Slurm replaces `%A`; `%%` is a percent sign.
            "slurm_logs" => quoted(&logs().replace('%', "%%")),
            "slurm_time" => slurm_time(self.limit?),
            "walltime" => walltime(self.limit?),
            "seconds" => self.limit?.as_secs().saturating_add(1).to_string(),
            "sweep_args" => {
                let jobs = self.jobs.to_string();
                let words = ["sweep", &self.scenario, "-o", &self.directory, "--jobs", &jobs];
                json(words.into_iter().chain(self.extra.iter().map(String::as_str)))
            }
            "merge_args" => json(["sweep", "merge", &self.directory].into_iter()),
            "volume" => string(self.volume.as_ref()?),
            _ => return None,
        })
    }
}

/// A text in JSON, which YAML reads, too. As in words for a shell, control characters are shown.
fn string(text: &str) -> String {
    format!("\"{}\"", neutral::line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// A list of words in JSON.
fn json<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", words.map(string).collect::<Vec<_>>().join(", "))
}

/// A complete submit script: `bash FILE` starts all shards, then merges their results.
pub(crate) fn script(engine: &Engine, facts: &Facts) -> String {
    let (shards, about) = (facts.shards, engine.about);
    let mut text = format!(
        "#!/bin/bash\n\
        # {about}: runs the {shards} shards of a sweep, then merges their results. Use: bash THIS_FILE\n\
        # After a failure run it again: finished runs are kept.\n\
        set -euo pipefail\n\n"
    );
    let own = |name: &str| {
        let word = engine.words.iter().find(|(known, _)| *known == name).map(|(_, word)| *word);
        word.or_else(|| engine.index.filter(|_| name == "index"))
    };
    for line in engine.template.lines() {
        let line = filled(line, &|name| own(name).map_or_else(|| Some(format!("{{{{{name}}}}}")), word));
        let line = line.and_then(|line| filled(&line, &|name| facts.value(name)));
        text.extend(line.map(|line| line + "\n"));
    }
    text
}

fn word(word: &str) -> Option<String> {
    Some(word.to_owned())
}

/// A line with the values of the names in double braces; none if one of them has no value.
fn filled(line: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, behind)) = rest.split_once("{{") {
        let (name, after) = behind.split_once("}}")?;
        text += before;
        text += &value(name)?;
        rest = after;
    }
    Some(text + rest)
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

/// A time limit of PBS, `hours:minutes:seconds`.
fn walltime(limit: Duration) -> String {
    let seconds = limit.as_secs().saturating_add(1);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Command, Output};
    use std::{env, fs};

    use notation::yaml::{Content, Node, tree};

    use super::*;
    use crate::engines::ENGINES;

    /// The engine of a name.
    fn engine(name: &str) -> &'static Engine {
        ENGINES.iter().find(|engine| engine.name == name).unwrap()
    }

    fn facts() -> Facts {
        Facts {
            program: "/opt/oversim/bin/oversim".to_owned(),
            scenario: "study.yaml".to_owned(),
            directory: "/scratch/study".to_owned(),
            volume: Some("/scratch".to_owned()),
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
            volume: Some(folder.display().to_string()),
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
        for engine in &ENGINES {
            let name = engine.name;
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
        for engine in &ENGINES {
            let name = engine.name;
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
        let qsub = "#!/bin/bash\nexport PBS_ARRAY_INDEX=2 PBS_ARRAYID=2 PBS_O_WORKDIR=\"$PWD\"\n\
            bash >&2\necho '7[].here'\n";
        program(&folder.join("bin/qsub"), qsub);
        let requeue = format!(
            "#!/bin/bash\necho \"scontrol $*\" >>{}\n",
            quoted(&folder.join("calls").display().to_string())
        );
        program(&folder.join("bin/scontrol"), &requeue);
    }

    #[test]
    fn names_with_spaces_and_quotes_reach_the_program() {
        // Where tasks see only a volume, no shell reads the words.
        for engine in ENGINES.iter().filter(|engine| !engine.volume) {
            let name = engine.name;
            let folder = tempfile::tempdir().unwrap();
            let facts = hostile(folder.path());
            engines(folder.path(), &facts);
            let output = bash(folder.path(), &script(engine, &facts), &[]);
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
            let choice = if name == "hyperqueue" { "" } else { "--shard\n2/3\n" };
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
            let text = script(engine("slurm"), &facts)
                .replace("set -euo pipefail", &format!("export CODE={code} SLURM_RESTART_COUNT={restarts}"));
            let output = bash(folder.path(), &text, &[]);
            let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
            assert_eq!(calls.contains("END\nscontrol requeue 7_2\n"), again, "{code} {restarts}: {output:?}");
        }
    }

    /// The documents of a script for `kubectl`.
    fn documents(text: &str) -> Vec<Node> {
        let parts = text.split("<<'END_OF_").skip(1).map(|part| part.split_once('\n').unwrap().1);
        parts.map(|part| tree(0, part.split_once("\nEND_OF_").unwrap().0).unwrap()).collect()
    }

    fn at<'a>(node: &'a Node, path: &[&str]) -> &'a Node {
        path.iter().fold(node, |node, key| match &node.content {
            Content::List(items) => &items[key.parse::<usize>().unwrap()],
            _ => &node.get(key).unwrap_or_else(|| panic!("{key} of {path:?}")).value,
        })
    }

    fn words(node: &Node) -> Vec<&str> {
        let Content::List(items) = &node.content else { panic!("no list") };
        items.iter().map(text_of).collect()
    }

    fn text_of(node: &Node) -> &str {
        let Content::Scalar(text) = &node.content else { panic!("no scalar") };
        text
    }

    #[test]
    fn the_jobs_of_kubernetes_have_the_words_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for facts in [facts(), hostile(folder.path())] {
            let all = documents(&script(engine("kubernetes"), &facts));
            let [shards, merge] = &all[..] else { panic!("{} documents", all.len()) };
            let container = ["spec", "template", "spec", "containers", "0"];
            let of = |job, key| at(at(job, &container), &[key]);
            let jobs = facts.jobs.to_string();
            let mut sweep = vec!["sweep", &facts.scenario, "-o", &facts.directory, "--jobs", &jobs];
            sweep.extend(facts.extra.iter().map(String::as_str));
            assert_eq!(words(of(shards, "args")), sweep);
            assert_eq!(words(of(merge, "args")), ["sweep", "merge", &facts.directory]);
            assert_eq!(text_of(at(shards, &["spec", "completionMode"])), "Indexed");
            assert_eq!(text_of(at(shards, &["spec", "completions"])), facts.shards.to_string());
            assert_eq!(text_of(at(of(shards, "env"), &["0", "value"])), facts.shards.to_string());
            for job in [shards, merge] {
                let mount = at(of(job, "volumeMounts"), &["0", "mountPath"]);
                assert_eq!(Some(text_of(mount)), facts.volume.as_deref());
            }
        }
    }

    #[test]
    fn a_line_without_its_value_is_left_out_and_values_are_not_read_again() {
        let facts = hostile(Path::new("/{{merge}}"));
        for engine in &ENGINES {
            let text = script(engine, &facts);
            let limit = ["--time", "walltime", "--time-limit"].iter().any(|word| text.contains(word));
            assert!(!limit, "{text}");
            assert!(text.contains("{{merge}}/out 100%"), "{text}");
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
        assert_eq!(walltime(Duration::from_secs(25 * 3600 + 61)), "25:01:02");
    }
}
