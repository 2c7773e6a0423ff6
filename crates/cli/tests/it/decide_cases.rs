//! The four cases of docs/how-to/decide.md, from measurements to what is typed: the page shows what the
//! commands print (`OVERSIM_UPDATE=1` renews it).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Most lines of an answer, and of a matrix, whose table has a line for each program.
const LINES: [usize; 2] = [25, 30];
/// One case at a time renews the page.
static PAGE: Mutex<()> = Mutex::new(());

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to")
}

/// A command of the page, the lines below it, and what it printed.
struct Step {
    command: String,
    shown: Vec<String>,
    printed: String,
}

impl Step {
    fn is_answer(&self) -> bool {
        self.command.contains(" advise ") || self.command.contains(" matrix ")
    }
}

/// The commands in the section of the page with this number.
fn steps(page: &str, number: u32) -> Vec<Step> {
    let heading = format!("\n## {number}. ");
    let section = page.split(&heading).nth(1).unwrap().split("\n## ").next().unwrap();
    let block = section.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), shown: Vec::new(), printed: String::new() });
        } else {
            steps.last_mut().unwrap().shown.push(line.to_owned());
        }
    }
    steps
}

/// A command as a shell runs it in a folder, where `oversim` is the program under test.
fn shell(folder: &Path, command: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin("oversim");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap()
}

/// Whether these lines are shown; a line `...` stands for any lines.
fn is_shown(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=printed.len()).any(|skip| is_shown(rest, &printed[skip..]))
        }
        Some((line, rest)) => {
            printed.first().is_some_and(|first| first.trim_end() == line) && is_shown(rest, &printed[1..])
        }
    }
}

/// The excerpt as it is now: for each line the next one that begins with the same word.
fn renewed(shown: &[String], printed: &[&str]) -> Vec<String> {
    let mut from = 0;
    let mut lines = Vec::new();
    for line in shown {
        let word = line.split_whitespace().next();
        let same = |printed: &&str| printed.split_whitespace().next() == word;
        // What is indented continues the line before it.
        let next = if line.starts_with(' ') { Some(0) } else { printed[from..].iter().position(same) };
        let next = next.filter(|at| from + at < printed.len());
        match next.filter(|_| line != "...") {
            Some(at) => {
                lines.push(printed[from + at].trim_end().to_owned());
                from += at + 1;
            }
            None => lines.push(line.clone()),
        }
    }
    lines
}

/// The folder of a case after its commands, and what they printed.
fn case(number: u32) -> (tempfile::TempDir, Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(docs().join("decide")).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let page = fs::read_to_string(docs().join("decide.md")).unwrap();
    let mut steps = steps(&page, number);
    for step in &mut steps {
        let done = shell(folder.path(), &step.command);
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}\n{errors}", step.command);
        step.printed = String::from_utf8(done.stdout).unwrap();
        let lines: Vec<&str> = step.printed.lines().collect();
        let most = LINES[usize::from(step.command.contains(" matrix "))];
        let few = !step.is_answer() || lines.len() <= most;
        assert!(few, "{}: {} lines\n{}", step.command, lines.len(), step.printed);
        if is_shown(&step.shown, &lines) {
            continue;
        }
        assert!(
            std::env::var_os("OVERSIM_UPDATE").is_some(),
            "`{}` prints something else; OVERSIM_UPDATE=1 renews docs/how-to/decide.md\n{}",
            step.command,
            step.printed
        );
        let _alone = PAGE.lock().unwrap();
        let page = fs::read_to_string(docs().join("decide.md")).unwrap();
        let block = |lines: &[String]| format!("$ {}\n{}\n", step.command, lines.join("\n"));
        let (old, new) = (block(&step.shown), block(&renewed(&step.shown, &lines)));
        fs::write(docs().join("decide.md"), page.replacen(&old, &new, 1)).unwrap();
    }
    (folder, steps)
}

/// What was printed by the step with this text in its command, in single spaces.
fn printed(steps: &[Step], part: &str) -> String {
    let step = steps.iter().find(|step| step.command.contains(part)).unwrap();
    step.printed.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_hybrid_job_gets_one_socket_beside_a_service_and_both_when_only_it_counts() {
    let (_folder, steps) = case(1);
    let service = printed(&steps, "response_p99");
    assert!(service.starts_with("Advice bound close together"), "{service}");
    // Two hardware threads of two cores for each rank.
    assert!(service.contains("mpirun -np 8 --map-by slot:PE=2 --bind-to core"), "{service}");
    assert!(service.contains("Sure") && service.contains("Measured"), "{service}");
    let job = printed(&steps, "run_time");
    assert!(job.starts_with("Advice bound far apart"), "{job}");
}

#[test]
fn eleven_codes_share_nodes_two_at_a_time_and_memory_goes_with_arithmetic() {
    let (folder, steps) = case(2);
    let matrix = printed(&steps, "matrix");
    assert!(matrix.starts_with("11 programs, up to 2 at a time"), "{matrix}");
    assert!(matrix.contains("roms + raxml") && matrix.contains("Avoid nothing"), "{matrix}");
    let share = printed(&steps, "share");
    assert!(share.contains("OverSubscribe=FORCE:2") && share.contains("Answer up to 2 jobs"), "{share}");
    let csv = shell(folder.path(), "oversim matrix codes.yaml --repeat 3 --format csv");
    let csv = String::from_utf8(csv.stdout).unwrap();
    let slowdown = |pair: &str| -> f64 {
        let row = csv.lines().find(|line| line.starts_with(pair)).unwrap();
        row.split(',').nth(2).unwrap().parse().unwrap()
    };
    assert!(slowdown("roms,roms,") > slowdown("roms,raxml,") + 0.3, "{csv}");
}

#[test]
fn a_pod_gets_the_smallest_limit_and_the_check_fails_under_more_load() {
    let (_folder, steps) = case(3);
    let pod = printed(&steps, "pod.yaml");
    assert!(pod.contains("limit 1, GOMAXPROCS 2) meets p99 <= 50ms"), "{pod}");
    assert!(pod.contains("limits: { cpu: 900m }") && pod.contains("cpu.max: 90000 100000"), "{pod}");
    // The page shows the check of this limit pass, and fail under more load.
    let checks = steps.iter().filter(|step| step.command.contains("--check"));
    let checks: Vec<&str> = checks.map(|step| step.printed.as_str()).collect();
    assert!(checks[0].contains(" meets ") && checks[1].ends_with("exit status 1\n"), "{checks:?}");
}

#[test]
fn a_build_farm_runs_two_jobs_of_make_for_each_cpu() {
    let (_folder, steps) = case(4);
    for step in &steps {
        assert!(step.printed.starts_with("Advice    32 processes\n"), "{}: {}", step.command, step.printed);
    }
}
