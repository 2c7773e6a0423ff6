//! Help and manual pages: complete, and every example of the help runs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::oversim;
use assert_cmd::Command;

/// Examples that take too long here: shorter forms run, or `.ci/run` runs them with an optimised program.
/// Measurements of this host have tests of their own.
const LONG: [&str; 33] = [
    // Directories of workers that share no disk.
    "oversim sweep status worker-1 worker-2",
    "oversim sweep merge worker-1 worker-2",
    // Needs a study.
    "oversim artifact pack results regions figures claims.yaml -o study.tar.gz",
    // The whole suite, and policy files.
    "oversim leaderboard -o board",
    "oversim leaderboard --policy LOAD,VTIME,./mine.wasm",
    "oversim tune SPEED -o best.yaml",
    "oversim tune ./mine.wasm.slice_ns --scenarios my_suite",
    "oversim tune ./mine.order --expressions -o better.order",
    // Needs clang.
    "oversim scx build examples/scx/vtime.bpf.c",
    // Needs its policy file.
    "oversim scx compare LOAD ./vtime.wasm --on general --timeline worst.svg",
    "oversim scx build examples/scx/per_llc.bpf.c -o per_llc.wasm --format json",
    "oversim scx build main.bpf.c util.bpf.c -I include -D DEBUG=0",
    // Needs the predictions of students.
    "oversim lesson --grade ann.yaml ben.yaml",
    // Needs a process.
    "oversim profile --pid 4711 --for 10s -o job.yaml",
    // Needs root.
    "oversim twin record -o run.trace.gz -- ./program",
    "oversim twin record --marks --cpus 0-3 -- mpirun -np 4 ./program",
    "oversim twin record --for 5s -- ./server",
    "oversim kernel diff linux-2.6.28 linux-2.6.30",
    "oversim kernel diff linux-6.12.0 linux-6.18 --output effects.svg",
    "oversim kernel diff linux-2.6.28 linux-2.6.30 --format csv > effects.csv",
    "oversim run cg_ft_share --repeat 1",
    "oversim calibrate",
    "oversim calibrate --check",
    "oversim reproduce --quick",
    "oversim machine import --host",
    "oversim calibrate host",
    "oversim calibrate host -o mine.yaml",
    "oversim calibrate host --check mine.yaml",
    "oversim measure spin_yield_block --machine mine.yaml --set apps.code.runtime=block",
    "oversim measure two_hogs_one_core --machine mine.yaml --tolerance 10",
    "oversim measure --suite --machine mine.yaml -o suite.json",
    "oversim measure my_scenario.yaml --machine mine.yaml --real",
    "oversim measure --suite real --machine mine.yaml --kind libgomp",
];

fn help(command: &[String]) -> String {
    let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let (code, out, err) = oversim(&args, "");
    assert!(code == 0 && err.is_empty(), "{command:?}: {err}");
    out
}

/// All commands, those of commands too, by what their help lists.
fn commands() -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut next = 0;
    while next < all.len() {
        let text = help(&all[next]);
        let listed =
            text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
        // Continued lines are indented further.
        let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
        for name in names.into_iter().filter(|name| *name != "help") {
            let path = all[next].iter().cloned().chain([name.to_owned()]).collect();
            all.push(path);
        }
        next += 1;
    }
    assert!(all.len() > 12, "{all:?}");
    all
}

/// The long flags that a help describes.
fn flags(text: &str) -> Vec<&str> {
    let options = text.split_once("\nOptions:\n").unwrap().1.split("\nExamples:").next().unwrap();
    let described = options.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    described.filter_map(|line| line.split([' ', ',', '[']).find(|word| word.starts_with("--"))).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A folder with the files that examples name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for linked in ["scenarios", "examples"] {
        std::os::unix::fs::symlink(root().join(linked), folder.path().join(linked)).unwrap();
    }
    let measured = [
        ("perf.csv", "3600.10,msec,task-clock,1,100.00,1.999,CPUs utilized\n"),
        (
            "time.txt",
            "Command being timed: \"./a\"\nUser time (seconds): 3.6\n\
             Elapsed (wall clock) time (h:mm:ss or m:ss): 0:01.82\n",
        ),
        ("jobs.txt", "JobID|JobName|Elapsed|TotalCPU|AllocCPUS\n1|a|00:01:00|00:08:00|8\n"),
    ];
    for (file, text) in measured {
        fs::write(folder.path().join(file), text).unwrap();
    }
    for (file, seed) in [("old.json", "1"), ("new.json", "1")] {
        let args =
            ["run", "scenarios/two_hogs_one_core.yaml", "--repeat", "2", "--seed", seed, "--format", "json"];
        let output = Command::cargo_bin("oversim").unwrap().current_dir(&folder).args(args).output().unwrap();
        fs::write(folder.path().join(file), output.stdout).unwrap();
    }
    let args = ["run", "scenarios/two_hogs_one_core.yaml", "-o", "study"];
    assert!(Command::cargo_bin("oversim").unwrap().current_dir(&folder).args(args).ok().is_ok());
    let topology = fs::read_to_string(root().join("crates/machines/tests/data/vm-2cpu.xml")).unwrap();
    fs::write(folder.path().join("box.xml"), topology).unwrap();
    for (file, log) in [("one.txt", "stream-1.txt"), ("stream.txt", "stream-16.txt")] {
        let text = fs::read_to_string(root().join("crates/machines/tests/logs").join(log)).unwrap();
        fs::write(folder.path().join(file), text.replace("= 16\n", "= 128\n")).unwrap();
    }
    let claims = fs::read_to_string(root().join("crates/validation/data/claims.yaml")).unwrap();
    let (head, rest) = claims.split_once("\n- ").unwrap();
    let one = rest.split("\n- ").find(|claim| claim.contains("group: imbalanced")).unwrap();
    for (file, text) in [
        ("video.json", "{ \"tasks\": { \"decoder\": { \"run\": 2000, \"sleep\": 8000 } } }"),
        ("log.swf", "; MaxProcs: 8\n1 0 -1 100 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
        (
            "pod.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec:\n  containers:\n  - name: main\n    \
             resources: { limits: { cpu: 2 } }\n",
        ),
        ("groups/a/cpu.weight", "50\n"),
        ("run.txt", crate::twin_reports::RECORDING),
    ] {
        fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
        fs::write(folder.path().join(file), text).unwrap();
    }
    fs::write(folder.path().join("mine.yaml"), format!("{head}\n- {one}\n")).unwrap();
    folder
}

/// The words of an example up to a pipe, and the file that goes to its standard input.
fn words(example: &str, folder: &Path) -> (Vec<String>, String) {
    let command = [" | ", " > "].iter().fold(example, |text, cut| text.split(cut).next().unwrap());
    let (command, input) = command.split_once(" < ").unwrap_or((command, ""));
    let input =
        if input.is_empty() { String::new() } else { fs::read_to_string(folder.join(input)).unwrap() };
    let mut words: Vec<String> = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        match part {
            quoted if at % 2 == 1 => words.push(quoted.to_owned()),
            plain => words.extend(plain.split_whitespace().map(str::to_owned)),
        }
    }
    if let Some(at) = words.iter().position(|word| word == "scenarios/*.yaml") {
        let files = fs::read_dir(folder.join("scenarios")).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.is_file()).map(|path| path.to_string_lossy().into_owned());
        words.splice(at..=at, files.collect::<Vec<_>>());
    }
    (words, input)
}

#[test]
fn the_help_of_every_command_has_examples_that_run_and_states_the_exit_status() {
    let folder = folder();
    for command in commands() {
        let text = help(&command);
        assert!(text.contains("\nExit status:"), "{command:?}: {text}");
        let examples = text.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{command:?}: {text}")).1;
        let examples: Vec<&str> = examples.lines().map_while(|line| line.strip_prefix("  ")).collect();
        assert!(!examples.is_empty());
        let own =
            ["oversim"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        for example in &examples {
            assert!(example.starts_with(&own), "{own}: {example}");
            if LONG.contains(example) {
                assert!(examples.len() > 1);
                continue;
            }
            let (words, input) = words(example, folder.path());
            let mut run = Command::cargo_bin("oversim").unwrap();
            // `init` and `new` replace nothing.
            let empty = tempfile::tempdir().unwrap();
            let place =
                if ["init", "new"].contains(&words[1].as_str()) { empty.path() } else { folder.path() };
            if words[1] == "new" {
                // The place is in a checkout, and one is named.
                std::os::unix::fs::symlink(root().join("crates"), empty.path().join("crates")).unwrap();
                std::os::unix::fs::symlink(root(), empty.path().join("oversim")).unwrap();
            }
            let output = run.current_dir(place).args(&words[1..]).write_stdin(input).output().unwrap();
            let (code, said) = (output.status.code(), String::from_utf8_lossy(&output.stderr));
            // A comparison that finds a slowdown has done its work.
            let fine = match words[1].as_str() {
                "compare" => matches!(code, Some(0 | 1)),
                // What a job log cannot state is listed.
                "import" | "export" => matches!(code, Some(0 | 3)),
                _ => code == Some(0),
            };
            assert!(
                fine && (!output.stdout.is_empty() || words.contains(&"-o".into())),
                "{example}: {code:?} {said}"
            );
        }
    }
}

#[test]
fn every_command_has_a_manual_page_with_all_its_flags() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    let directory = out.to_str().unwrap();
    let (code, said, err) = oversim(&["man", "-o", directory], "");
    assert!(code == 0 && said.is_empty() && err.is_empty(), "{err}");
    for command in commands() {
        let name =
            ["oversim"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        let page = fs::read_to_string(out.join(format!("{name}.1"))).unwrap();
        let printed: Vec<&str> = ["man"].into_iter().chain(command.iter().map(String::as_str)).collect();
        assert_eq!(oversim(&printed, "").1, page);
        assert!(
            page.contains(&format!(".TH {} 1", name.to_uppercase())) && page.contains("Exit status"),
            "{page}"
        );
        for flag in flags(&help(&command)) {
            assert!(page.contains(&flag.replace('-', "\\-")), "{name}: {flag}\n{page}");
        }
    }
    let (code, _, err) = oversim(&["man", "-o", directory], "");
    assert!(code == 2 && err.contains("--force"), "{err}");
    let (code, _, err) = oversim(&["man", "nope"], "");
    assert!(code == 2 && err.contains("no command is called `nope`. Valid: run, compare"), "{err}");
}

fn coloured(args: &[&str], variables: &[(&str, &str)]) -> bool {
    let mut command = Command::cargo_bin("oversim").unwrap();
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
        command.env_remove(name);
    }
    let output = command.args(args).envs(variables.iter().copied()).output().unwrap();
    [output.stdout, output.stderr].concat().contains(&0x1b)
}

#[test]
fn colour_goes_to_terminals_unless_it_is_refused() {
    for args in [&["explain", "nope"][..], &["--help"], &["frobnicate"]] {
        assert!(!coloured(args, &[]), "{args:?}: no terminal, no colour");
        assert!(coloured(args, &[("CLICOLOR_FORCE", "1")]), "{args:?}");
        assert!(!coloured(args, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{args:?}");
    }
}

#[test]
fn quiet_and_verbose_are_for_all_commands_and_touch_standard_error_only() {
    let scenario = root().join("scenarios/two_hogs_one_core.yaml");
    let scenario = scenario.to_str().unwrap();
    let (code, plain, err) = oversim(&["run", scenario], "");
    assert!(code == 0 && err.is_empty(), "{err}");
    let (_, loud, err) = oversim(&["run", scenario, "--verbose"], "");
    assert!(loud == plain && err.contains("4 runs (") && err.contains(" s\n"), "{err}");
    for args in [vec!["-q", "run", scenario], vec!["run", scenario, "-q"]] {
        assert_eq!(oversim(&args, ""), (0, plain.clone(), String::new()), "{args:?}");
    }
    assert_eq!(oversim(&["list", "policies", "-q"], "").0, 0);
    assert_eq!(oversim(&["run", scenario, "-q", "-v"], "").0, 2);
}

#[test]
fn the_default_kernel_is_that_of_the_program() {
    for command in [&["profile"][..], &["twin", "import"], &["duel"], &["advise", "wait"]] {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let text = help(&command);
        let named = ["Default: ", "[default: "].map(|before| format!("{before}{}", scenario::DEFAULT_KERNEL));
        assert!(named.iter().any(|named| text.contains(named)), "{command:?}: {text}");
    }
}
