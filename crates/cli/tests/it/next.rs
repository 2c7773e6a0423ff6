//! What `Next` proposes runs as it is printed, and is about the question that is left open.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

/// The shell's view of a command in a directory where the program is found by its name.
fn shell(directory: &Path, command: &str) -> (bool, String) {
    let program = cargo_bin("oversim");
    let folder = program.parent().expect("it is in a folder").display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let done = Command::new("sh").args(["-c", command]).current_dir(directory).env("PATH", path).output();
    let done = done.expect("there is a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.success(), text(&done.stdout) + &text(&done.stderr))
}

/// The commands below `Next` of an answer.
fn commands(answer: &str) -> Vec<String> {
    let (_, next) = answer.split_once("\nNext ").unwrap_or_else(|| panic!("no commands\n{answer}"));
    let joined = next.replace(" \\\n", " ");
    let lines = joined.lines().map(str::trim);
    // The version has a line of its own where it fits behind no command.
    let version = concat!("oversim ", env!("CARGO_PKG_VERSION"));
    let commands = lines.filter(|line| line.starts_with("oversim ") && !line.starts_with(version));
    commands.map(str::to_owned).collect()
}

/// Commands of a scenario, each of which has run.
fn proposed(text: &str, flags: &str) -> String {
    let directory = TempDir::new().expect("a directory");
    std::fs::write(directory.path().join("a case.yaml"), text).expect("a file");
    let (done, answer) = shell(directory.path(), &format!("oversim run 'a case.yaml' --quiet {flags}"));
    assert!(done, "{answer}");
    let commands = commands(&answer);
    assert!((1..=2).contains(&commands.len()), "{answer}");
    for command in &commands {
        let (done, said) = shell(directory.path(), command);
        assert!(done, "{command}\n{said}");
    }
    commands.join("\n")
}

fn scenario(machine: &str, apps: &str, rest: &str) -> String {
    format!("name: x\nmachine: '{machine}'\nkernel: linux-6.18\napps: {{ {apps} }}\n{rest}\n")
}

#[test]
fn commands_run_as_printed_and_answer_what_is_open() {
    let hogs = "h: { workload: { hog: { work: 20ms } }, tasks: 3 }";
    let team = "t: { workload: { spmd: { work: 40ms, intervals: 20 } }, runtime: spin }";
    let lock = "l: { workload: { critical-section: { count: 20, outside: 900us, inside: 100us } } }";
    for (text, flags, expected) in [
        // A team that polls on all cpus: what if it does not?
        (
            scenario("core:4", team, "policies: [LOAD]"),
            "",
            "oversim run 'a case.yaml' --set apps.t.runtime=block",
        ),
        // Two hardware threads: what if they lose?
        (
            scenario("core:2 pu:2", "h: { workload: { hog: { work: 9ms } }, tasks: 4 }", "policies: [LOAD]"),
            "--seed 3",
            "oversim run 'a case.yaml' --seed 3 --set machine.smt_compute=0.45",
        ),
        // Small differences of one seed.
        (
            scenario("core:2", hogs, "policies: [LOAD, PIN]\nsweep: { apps.h.workload.work: [20ms, 30ms] }"),
            "--set kernel.tick=10ms --policy LOAD,PIN",
            "oversim timeline 'a case.yaml' --policy",
        ),
        // A sweep over different work: not its first and dullest case.
        (
            scenario("core:16", lock, "policies: [LOAD]\nsweep: { apps.l.tasks: [1, 16] }\nbaseline: none"),
            "",
            "--set apps.l.tasks=16\noversim explain lock_wait_share",
        ),
        // The part that differs, and the policy that does better.
        (
            scenario(
                "core:2",
                &team.replace("runtime: spin", "runtime: spin, tasks: 4"),
                "policies: [LOAD, gang]",
            ),
            "--sweep threads_per_core=1,2 --objective run_time",
            "oversim explain gang",
        ),
    ] {
        let commands = proposed(&text, flags);
        assert!(commands.contains(expected), "{expected}\n{commands}");
    }
}

#[test]
fn more_seeds_are_proposed_where_an_interval_is_wide() {
    let queue = "j: { workload: { hog: { work: 1s } }, tasks: 1, copies: 40, arrival: { mean: 1250ms } }";
    let text = scenario("core:1", queue, "policies: [LOAD]\nadmission: { jobs: 1 }\nrepeat: 2");
    let commands = proposed(&text, "--set apps.j.arrival.mean=1200ms");
    let again = "oversim run 'a case.yaml' --set apps.j.arrival.mean=1200ms --repeat ";
    assert!(commands.contains(again), "{commands}");
}
