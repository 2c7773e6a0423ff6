//! The documents tell the truth: their commands run, their links lead somewhere, and the checks by hand come
//! out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The generated pages; tests of their own run the scenarios that they name.
const REFERENCE: &str = "docs/reference";

/// The first example takes half a minute here. `.ci/run` compares the output of an optimised program with
/// README.md; with `OVERSIM_UPDATE` this test does.
const FIRST: &str = "run scenarios/cg_ft_share.yaml";

/// Words that make a command quicker whose output is not shown, by how it begins: no flag of these is there yet.
const SHORTER: [(&str, &[&str]); 3] = [
    ("run ", &["--repeat", "1"]),
    // Tests of `kernel diff` run programs.
    ("kernel diff ", &["--rules-only"]),
    ("advise pools ", &["--work", "100ms"]),
];

/// The Markdown files of a folder and, for `docs`, of the folders below it.
fn markdown(folder: &Path, paths: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && path.starts_with(root().join("docs")) {
            markdown(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

/// Every document of the repository: path and text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    markdown(&root(), &mut paths);
    markdown(&root().join("docs"), &mut paths);
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// A command of a `console` block, and what the block shows below it.
struct Shown<'a> {
    command: &'a str,
    /// The lines below it; empty when nothing is shown.
    output: Vec<&'a str>,
}

/// The commands of the `console` blocks of a page.
fn commands(page: &str) -> Vec<Shown<'_>> {
    let blocks = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut found: Vec<Shown<'_>> = Vec::new();
    for block in blocks {
        let first = found.len();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => found.push(Shown { command, output: Vec::new() }),
                None if found.len() > first => found.last_mut().unwrap().output.push(line),
                None => panic!("a block begins with `{line}`, not with a command"),
            }
        }
        for shown in &mut found[first..] {
            while shown.output.last().is_some_and(|line| line.is_empty()) {
                shown.output.pop();
            }
        }
    }
    found
}

/// Whether a text is what is shown; a line `...` stands for any lines.
fn is_shown(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|skip| is_shown(rest, &printed[skip..])),
        Some((line, rest)) => {
            printed.first().is_some_and(|p| p.trim_end() == line.trim_end()) && is_shown(rest, &printed[1..])
        }
    }
}

/// What a line of an output is about: its words before the first bar or number.
fn about(line: &str) -> Vec<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let Some(bar) = words.iter().position(|word| word.starts_with('#')) {
        return words[..bar].to_vec();
    }
    let number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    // A row may begin with a number.
    let end = words.iter().skip(1).position(number).map_or(words.len(), |at| at + 1);
    words[..end].to_vec()
}

/// The lines of an output that an excerpt with `...` shows, as they are now; none if one of them is gone, or
/// if it is no excerpt.
fn excerpt(shown: &[&str], printed: &[&str]) -> Option<Vec<String>> {
    shown.contains(&"...").then_some(())?;
    let mut rest = printed;
    let mut lines: Vec<(Option<usize>, String)> = Vec::new();
    for line in shown.iter().filter(|line| **line != "...") {
        let at = rest.iter().position(|printed| about(printed) == about(line))?;
        lines.push((Some(printed.len() - rest.len() + at), rest[at].trim_end().to_owned()));
        rest = &rest[at + 1..];
    }
    let mut out = vec!["...".to_owned()];
    let mut last: Option<usize> = None;
    for (at, line) in lines {
        if last.is_some_and(|last| Some(last + 1) != at) {
            out.push("...".to_owned());
        }
        last = at;
        out.push(line);
    }
    out.push("...".to_owned());
    Some(out)
}

#[test]
fn an_excerpt_is_renewed_line_by_line() {
    let printed = ["title", "PIN   ###  2.0", "LOAD  ##   1.5", "17    ####  9.9", "end"];
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        excerpt(&["...", "PIN   ##  1.0", "17    ##  8.0", "..."], &printed),
        Some(lines(&["...", "PIN   ###  2.0", "...", "17    ####  9.9", "..."]))
    );
    assert_eq!(excerpt(&["...", "ULE 3", "..."], &printed), None);
    assert_eq!(excerpt(&["title"], &printed), None);
}

/// The words of a command, as a shell splits them: spaces between single quotes do not separate.
fn split(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quoted, mut inside) = (false, false);
    for c in command.chars() {
        if c == '\'' {
            quoted = !quoted;
        } else if c.is_whitespace() && !quoted {
            inside = false;
            continue;
        }
        if !inside {
            words.push(String::new());
            inside = true;
        }
        if c != '\'' {
            words.last_mut().unwrap().push(c);
        }
    }
    words
}

/// The arguments of a command: comments off, quotes off, files of `scenarios/` by their full path.
fn arguments(command: &str) -> Vec<String> {
    let command = command.split(" # ").next().unwrap_or(command);
    let mut words = Vec::new();
    for word in split(command) {
        match word.strip_prefix("scenarios/") {
            Some("*.yaml") => {
                let files = fs::read_dir(root().join("scenarios")).unwrap();
                let files = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
                words.extend(files.map(|path| path.to_string_lossy().into_owned()));
            }
            Some(_) => words.push(root().join(&word).to_string_lossy().into_owned()),
            None => words.push(word),
        }
    }
    words
}

#[test]
fn every_command_of_the_documents_runs_and_prints_what_is_shown() {
    let (ran, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let left = Mutex::new(pages().into_iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((path, page)) = next else { break };
                    let [some, of_them] = run_page(&path, &page);
                    ran.fetch_add(some, Ordering::Relaxed);
                    compared.fetch_add(of_them, Ordering::Relaxed);
                }
            });
        }
    });
    let (ran, compared) = (ran.into_inner(), compared.into_inner());
    assert!(ran >= 8 && compared >= 1, "only {ran} commands found, {compared} with output");
}

/// Runs the commands of a page: how many there are, and how many have their output compared.
fn run_page(path: &Path, page: &str) -> [usize; 2] {
    let (mut ran, mut compared) = (0, 0);
    let folder = tempfile::tempdir().unwrap();
    // Commands that name files of the repository by their path print that path.
    std::os::unix::fs::symlink(root().join("scenarios"), folder.path().join("scenarios")).unwrap();
    // `oversim new` finds a checkout.
    std::os::unix::fs::symlink(root().join("crates"), folder.path().join("crates")).unwrap();
    let mut renewed = page.to_owned();
    for Shown { command, output } in commands(page) {
        let bare =
            command.strip_prefix("cargo run --release -- ").or_else(|| command.strip_prefix("oversim "));
        let Some(rest) = bare else { continue };
        if rest == FIRST && std::env::var_os("OVERSIM_UPDATE").is_none() {
            continue;
        }
        let mut words = if output.is_empty() { arguments(rest) } else { split(rest) };
        if words[0] == "run" && path.starts_with(root().join(REFERENCE)) {
            "check".clone_into(&mut words[0]);
        }
        for (begin, more) in SHORTER {
            let given = words.iter().any(|word| word == more[0] || word == "--on");
            if output.is_empty() && words.join(" ").starts_with(begin) && !given {
                words.extend(more.iter().map(|word| (*word).to_owned()));
            }
        }
        if words[0] == "run" {
            words.push("--quiet".into());
        }
        let done = Command::cargo_bin("oversim").unwrap().current_dir(&folder).args(&words).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        // `compare` reports a slowdown with exit status 1.
        let slower = words[0] == "compare" && done.status.code() == Some(1);
        assert!(done.status.success() || slower, "{}: {command}\n{said}", path.display());
        ran += 1;
        if output.is_empty() {
            continue;
        }
        compared += 1;
        let printed = String::from_utf8(done.stdout).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        if is_shown(&output, &lines) {
            continue;
        }
        let renewing = std::env::var_os("OVERSIM_UPDATE").is_some();
        if renewing && let Some(lines) = excerpt(&output, &lines) {
            renewed = renewed.replacen(&output.join("\n"), &lines.join("\n"), 1);
            continue;
        }
        let update = renewing && !output.contains(&"...");
        assert!(
            update,
            "{}: `{command}` prints something else; OVERSIM_UPDATE=1 cargo test -p oversim --test \
                docs\n{printed}",
            path.display()
        );
        renewed = renewed.replacen(&output.join("\n"), printed.trim_end(), 1);
    }
    if renewed != page {
        fs::write(path, renewed).unwrap();
    }
    [ran, compared]
}

/// The anchors of a page: its headings in lower case, with hyphens for spaces and without other punctuation;
/// the second one of a text ends in `-1`.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let texts = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-"));
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    texts
        .map(|text| {
            let text: String = text.chars().filter(kept).collect();
            let before = times.entry(text.clone()).or_default();
            *before += 1;
            if *before == 1 { text } else { format!("{text}-{}", *before - 1) }
        })
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_to_one_of_its_headings() {
    for (path, page) in pages() {
        for target in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let at = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            if !anchor.is_empty() && at.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&at).unwrap_or_default();
                assert!(anchors(&text).contains(anchor), "{} links to {target}: no heading", path.display());
            }
            // The playground is built beside the manual.
            let elsewhere = target.starts_with("http") || target.starts_with("../playground/");
            if file.is_empty() || elsewhere || target.contains(char::is_whitespace) {
                continue;
            }
            assert!(at.exists(), "{} links to {target}, which is not there", path.display());
        }
    }
}

#[test]
fn every_document_is_a_page_of_the_book() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for (path, _) in pages() {
        let Ok(name) = path.strip_prefix(&docs) else { continue };
        let line = format!("]({})", name.display());
        let times = summary.matches(&line).count();
        assert!(
            name == Path::new("SUMMARY.md") || times == 1,
            "{} is {times} times in the summary",
            name.display()
        );
    }
}

/// The most words of a page that somebody has written: what one reads in about a quarter of an hour.
const MOST_WORDS: usize = 4_000;

/// The pages that a command writes, by the beginning of their path, and what each says of that command.
const GENERATED: [(&str, &str); 4] = [
    ("reference/", "OVERSIM_UPDATE=1"),
    ("glossary.md", "OVERSIM_UPDATE=1"),
    ("validation.md", "oversim reproduce --write ."),
    ("validation-host.md", "oversim measure --write ."),
];

/// The words of a text: what has a letter or a digit.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[test]
fn no_page_by_hand_is_too_long_and_generated_pages_say_what_writes_them() {
    let (docs, mut broken) = (root().join("docs"), Vec::new());
    for (path, page) in pages() {
        let Ok(name) = path.strip_prefix(&docs).map(|name| name.display().to_string()) else { continue };
        let words = words(&page);
        match GENERATED.iter().find(|(begin, _)| name.starts_with(begin)) {
            Some((_, command)) if !page.contains(command) => {
                broken.push(format!("{name} does not say that `{command}` writes it"));
            }
            None if words > MOST_WORDS => {
                broken.push(format!(
                    "{name} has {words} words, {MOST_WORDS} are allowed: divide or shorten it"
                ));
            }
            _ => {}
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_readme_counts_the_claims() {
    let claims = validation::claims::shipped().unwrap();
    let modern = claims.iter().filter(|claim| claim.group.starts_with("modern-")).count();
    let row =
        format!("{} published outcomes beside the simulation, {modern} of them from 2015", claims.len());
    assert!(fs::read_to_string(root().join("README.md")).unwrap().contains(&row), "{row}");
}

/// The mean of a time of an application in seconds, by configuration.
fn times(args: &[&str], policy: &str, app: &str, metric: &str) -> Vec<f64> {
    let mut command = Command::cargo_bin("oversim").unwrap();
    let output =
        command.current_dir(root()).args(args).args(["--quiet", "--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = result["cells"].as_array().unwrap().iter();
    let wanted = cells.filter(|c| c["policy"] == policy && c["app"] == app && c["metric"] == metric);
    wanted.map(|cell| cell["mean"].as_f64().unwrap()).collect()
}

#[test]
fn two_equal_hogs_on_one_core_take_twice_as_long() {
    let times = times(&["run", "scenarios/two_hogs_one_core.yaml"], "LOAD", "hogs", "run_time");
    let [one, two] = times[..] else { panic!("{times:?}") };
    assert!((two / one - 2.0).abs() < 0.001, "{two} s against {one} s");
    // The timer ticks take a little of the core.
    assert!((2.0..2.01).contains(&one), "{one} s for 2 s of work");
}

#[test]
fn ep_takes_the_same_time_with_eight_threads_per_core() {
    // What EP times itself: the threads come up, and meet for the first time, before that.
    let times = times(&["run", "scenarios/ep_eight_per_core.yaml"], "PIN", "ep", "timed_run_time");
    let [one, eight] = times[..] else { panic!("{times:?}") };
    assert!((eight / one - 1.0).abs() < 0.01, "{eight} s against {one} s");
}

/// A cell of the study of docs/sweeps.
struct Cell {
    cfs: bool,
    noise: String,
    grain_us: u64,
    threads: u32,
    best: String,
    ratio: f64,
    significant: bool,
}

/// The cells of docs/sweeps/policy_regions.csv.
fn cells() -> Vec<Cell> {
    let mut file = csv::Reader::from_path(root().join("docs/sweeps/policy_regions.csv")).unwrap();
    let rows = file.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
    rows.map(|row| {
        let grain: u64 = row["x"].trim_end_matches(['u', 'm', 's']).parse().unwrap();
        Cell {
            cfs: row["panel"].contains("2.6.28"),
            noise: row["panel"].rsplit_once('=').unwrap().1.into(),
            grain_us: if row["x"].ends_with("us") { grain } else { grain * 1_000 },
            threads: row["y"].parse().unwrap(),
            best: row["best"].clone(),
            ratio: row["ratio"].parse().unwrap(),
            significant: row["significant"] == "yes",
        }
    })
    .collect()
}

#[test]
fn the_study_of_sweeps_counts_its_cells() {
    let text = fs::read_to_string(root().join("docs/sweeps.md")).unwrap().replace('\n', " ");
    let cells = cells();
    // "20 of 21 (16)": cells in which a policy is best, all cells, and those with a significant margin.
    let won = |best: &str, among: &dyn Fn(&Cell) -> bool| {
        let all: Vec<&Cell> = cells.iter().filter(|cell| among(cell)).collect();
        let best: Vec<&&Cell> = all.iter().filter(|cell| cell.best == best).collect();
        (best.len(), all.len(), best.iter().filter(|cell| cell.significant).count())
    };
    let shared = |cfs: bool, noise: &str| {
        let (best, all, clear) = won("PIN", &|c| c.threads > 1 && c.cfs == cfs && c.noise == noise);
        format!("{best} of {all} ({clear})")
    };
    let (best, all, clear) = won("DWRR", &|cell| cell.threads == 1);
    let long = |cell: &Cell| cell.cfs && cell.noise == "5ms" && cell.threads > 1;
    let speed = won("SPEED", &|cell| long(cell) && cell.grain_us >= 2_000);
    let open = |cell: &&Cell| !cell.cfs && cell.noise == "5ms";
    let pin: Vec<&Cell> = cells.iter().filter(|cell| cell.best == "PIN").collect();
    let load = won("LOAD", &|_| true);
    let cfs = |noise| shared(true, noise).replace(" (", " cells (");
    for sentence in [
        format!("in {} with bursts of 10 us, and in {}", cfs("10us"), shared(true, "1ms")),
        format!("Under EEVDF it is best in {} and in {}.", shared(false, "10us"), shared(false, "1ms")),
        format!("`DWRR` is best**: in {best} of {all} cells ({clear})."),
        format!("in {} of {} cells ({}). Below, no", speed.0, speed.1, speed.2),
        format!(
            "{} of {} cells have a significant margin",
            cells.iter().filter(open).filter(|cell| cell.significant).count(),
            cells.iter().filter(open).count()
        ),
        format!("below 5 % in {} of its {} cells", pin.iter().filter(|c| c.ratio < 1.05).count(), pin.len()),
        format!("`LOAD` is best in {} cells, none of them significant", load.0),
    ] {
        assert!(text.contains(&sentence), "docs/sweeps.md does not say: {sentence}");
    }
    assert!(load.2 == 0 && !cells.iter().any(|cell| long(cell) && cell.grain_us < 2_000 && cell.significant));
}
