//! Strings of scenarios, machine files, schedules, claims and results: refused in plain words, or harmless in
//! every output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use crate::support::oversim;
use experiment::PolicyRegistry;
use experiment::compare::contrast::{self, Named, Wanted};
use experiment::compare::report as comparison;
use experiment::neutral::is_invisible;
use experiment::report::{FORMATS, View};
use experiment::result::{self, Results};
use experiment::run::run;
use explain::machine_view;
use pictures::figures;
use pictures::page::{Slot, Story, page};
use pictures::timeline::{self, Medium, Request, Subject, draw, terminal};
use scenario::plan::Experiment;
use scenario::{Overrides, load};
use serde_json::Value;
use validation::claims;
use validation::report as claims_report;
use validation::reproduce::Reproduction;
use validation::score;
use validation::verdict::{Finding, Verdict};

/// What attacks consist of.
const PIECES: [&str; 44] = [
    "\u{1b}[31m",
    "\u{1b}]0;pwn\u{7}",
    "\u{1b}",
    "\u{7}",
    "\0",
    "\u{8}",
    "\u{7f}",
    "\u{85}",
    "\u{9b}31m",
    "\u{9d}0;x\u{9c}",
    "\u{202a}",
    "\u{202e}",
    "\u{2066}",
    "\u{2069}",
    "\u{200e}",
    "\u{200f}",
    "\u{61c}",
    "\u{2028}",
    "\u{2029}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{ad}",
    "\u{2060}",
    "\u{e0041}",
    "\r",
    "\t",
    "\n",
    "<bad onload=x>",
    "</bad>",
    "<!--",
    "-->",
    "&amp;",
    "\"",
    "'",
    "|",
    "](x)",
    "```",
    "=1+1",
    "@x",
    "+x",
    "-x",
    "#",
    "a",
];

/// Random numbers, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    /// A string of some pieces.
    fn nasty(&mut self) -> String {
        let count = 1 + self.below(4);
        let words = ["", "ok", "two words "];
        (0..count).map(|_| format!("{}{}", PIECES[self.below(PIECES.len())], words[self.below(3)])).collect()
    }
}

/// A string as YAML in double quotes.
fn quoted(text: &str) -> String {
    let each = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if is_invisible(c) => format!("\\U{:08x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", each.collect::<String>())
}

/// Asserts that nothing in a text acts on a terminal.
fn visible(text: &str, what: &str) {
    let bad = text.find(|c| is_invisible(c) && c != '\n');
    let start = bad.map(|at| text[..at].char_indices().rev().nth(40).map_or(0, |(at, _)| at));
    assert!(bad.is_none(), "{what}: {:?}", &text[start.unwrap_or_default()..]);
}

/// Asserts that no program for tables takes a cell for a formula.
fn without_formulas(text: &str, what: &str) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    for cell in reader.records().flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()) {
        let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        assert!(!formula || cell == "-" || cell.parse::<f64>().is_ok(), "{what}: {cell}");
    }
}

/// Asserts that a text in a format of documents is harmless.
fn harmless(format: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    match format {
        "json" | "ndjson" | "parquet" => return,
        "csv" | "tidy" => without_formulas(text, format),
        "markdown" | "html" => assert!(!text.contains("<bad") && !text.contains("</bad"), "{format}: {text}"),
        "svg" => drop(roxmltree::Document::parse(text).unwrap()),
        _ => {}
    }
    visible(text, format);
}

/// All outputs of a result.
fn outputs(results: &Results, file: &str) {
    for format in FORMATS {
        for full in [true, false] {
            let mut out = Vec::new();
            let view = View { full, subject: Some(file), ..View::FILE };
            format.write(results, &mut out, &view).unwrap();
            if format.form().name != "parquet" {
                harmless(format.form().name, &out);
            }
        }
    }
    let wanted = Wanted { policies: Vec::new(), metrics: Vec::new(), threshold: 0.0 };
    if let Ok(all) = contrast::policies(Named { file, results }, &wanted) {
        for form in comparison::FORMS {
            let mut out = Vec::new();
            form.write(&all, &mut out, &View::FILE).unwrap();
            harmless(form.form().name, &out);
        }
    }
    for figure in figures::draw(results, &[]).figures {
        harmless("svg", figure.picture.svg().as_bytes());
        harmless("csv", figure.data.csv().unwrap().as_bytes());
    }
}

/// The page and the timelines of an experiment.
fn pictures(experiment: &Experiment, results: &Results, file: &str) {
    let subjects = [Subject { label: "first", place: "here", plan: &experiment.runs[0] }];
    let title = format!("{} {file}", experiment.about);
    let recorded = timeline::record(&subjects, &Request::default(), Medium::Picture).unwrap();
    let picture = draw::picture(&recorded, &title);
    harmless("svg", picture.svg().as_bytes());
    let recorded = timeline::record(&subjects, &Request::default(), Medium::Text(60)).unwrap();
    harmless("text", terminal::text(&recorded, &title, 80, false).as_bytes());
    let slot = Slot { about: title.clone(), picture, command: file.to_owned(), detail: None };
    let drawn = figures::draw(results, &[]);
    let policies = PolicyRegistry::default();
    let story = Story {
        experiment,
        results,
        policies: &policies,
        drawn: &drawn,
        timeline: Some(&slot),
        command: file,
        file,
    };
    harmless("html", page(&story).as_bytes());
}

/// A scenario with a string at one of its places.
fn scenario(place: usize, text: &str) -> String {
    let at = |which: usize, good: &str| if which == place { quoted(text) } else { good.to_owned() };
    format!(
        "name: {}\nabout: {}\nmachine: {}\nthreads_per_core: 1\napps: {{ {}: {{ workload: {{ spmd: {{ work: 4ms, \
         intervals: 2 }} }}, runtime: {} }} }}\npolicies: [LOAD, {{ {}: {{ interval: {} }}, as: {} }}]\nsweep: {{ {}: [1, \
         {}], machine: [core:2, {}] }}\nrepeat: {} # {}\n",
        at(0, "small"),
        at(1, "a scenario"),
        at(2, "core:2"),
        at(3, "job"),
        at(4, "upc"),
        at(5, "SPEED"),
        at(6, "50ms"),
        at(7, "fast"),
        at(8, "threads_per_core"),
        at(9, "2"),
        at(10, "core:1"),
        at(11, "2"),
        at(12, "comment").replace('\n', " "),
    )
}

#[test]
fn strings_of_scenarios_are_refused_or_harmless() {
    let mut dice = Dice(0x5eed);
    let mut accepted = 0;
    for round in 0..300 {
        let place = if round % 4 == 0 { 1 } else { dice.below(13) };
        let text = dice.nasty();
        let file = format!("{}.yaml", dice.nasty());
        match load(&file, &scenario(place, &text), &Overrides::default()) {
            Err(said) => visible(&said, "error"),
            Ok(experiment) => {
                accepted += 1;
                let results = run(&experiment, 1, &|_, _| ()).unwrap();
                outputs(&results, &file);
                if accepted % 4 == 0 {
                    pictures(&experiment, &results, &file);
                }
            }
        }
    }
    assert!(accepted > 20, "{accepted}");
}

#[test]
fn strings_of_changes_are_refused_or_harmless() {
    let mut dice = Dice(0xc4a);
    for _ in 0..120 {
        let text = dice.nasty();
        let pair = match dice.below(4) {
            0 => format!("about={}", quoted(&text)),
            1 => format!("repeat=2 # {text}"),
            2 => format!("{text}=1"),
            _ => text.clone(),
        };
        let overrides = match dice.below(3) {
            0 => Overrides { sweep: vec![pair], ..Overrides::default() },
            1 => Overrides { policies: vec![text], ..Overrides::default() },
            _ => Overrides { set: vec![pair], ..Overrides::default() },
        };
        match load("a.yaml", &scenario(99, ""), &overrides) {
            Err(said) => visible(&said, "error"),
            Ok(experiment) => {
                let results = run(&experiment, 1, &|_, _| ()).unwrap();
                outputs(&results, "a.yaml");
                pictures(&experiment, &results, "a.yaml");
            }
        }
    }
}

#[test]
fn strings_and_names_of_machine_files_are_refused_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let good =
        "name: mine\nsummary: two cores\nabout: a machine\ntopology: { value: \"core:2\", source: a book }\n";
    let mut dice = Dice(0x3ac4);
    let mut accepted = 0;
    for _ in 0..200 {
        let text = dice.nasty();
        let (key, old) =
            [("name", "mine"), ("summary", "two cores"), ("about", "a machine"), ("name", "mine")]
                [dice.below(4)];
        let machine = good.replace(&format!("{key}: {old}"), &format!("{key}: {}", quoted(&text)));
        let name =
            if dice.below(2) == 0 { "./m.yaml".to_owned() } else { format!("./m{}.yaml", dice.nasty()) };
        let path = folder.path().join(name.trim_start_matches("./").replace(['/', '\0'], "_"));
        fs::write(&path, if dice.below(2) == 0 { good.to_owned() } else { machine }).unwrap();
        match machine_view::show(&path.display().to_string(), None) {
            Err(machine_view::Refusal::Rendered(said)) => visible(&said, "error"),
            Err(machine_view::Refusal::Sentence(_)) => {}
            Ok(view) => {
                let mut out = Vec::new();
                machine_view::write_text(&view, &mut out).unwrap();
                harmless("text", &out);
            }
        }
        let scenario = scenario(10, &name);
        match load(&folder.path().join("s.yaml").display().to_string(), &scenario, &Overrides::default()) {
            Err(said) => visible(&said, "error"),
            Ok(experiment) => {
                accepted += 1;
                let results = run(&experiment, 1, &|_, _| ()).unwrap();
                outputs(&results, "a.yaml");
                pictures(&experiment, &results, "a.yaml");
            }
        }
    }
    assert!(accepted > 10, "{accepted}");
}

/// A result with a sweep, notes and all.
fn small() -> Value {
    let experiment = load("small.yaml", &scenario(99, ""), &Overrides::default()).unwrap();
    serde_json::to_value(run(&experiment, 1, &|_, _| ()).unwrap()).unwrap()
}

/// Calls `change` with every string below a value.
fn strings(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(all) => all.iter_mut().for_each(|one| strings(one, change)),
        Value::Object(all) => all.values_mut().for_each(|one| strings(one, change)),
        _ => {}
    }
}

#[test]
fn strings_of_results_are_refused_or_harmless() {
    let good = small();
    let mut words = std::collections::BTreeSet::new();
    strings(&mut good.clone(), &mut |text| {
        words.insert(text.clone());
    });
    let words: Vec<String> = words.into_iter().collect();
    let mut dice = Dice(0x4e5);
    for _ in 0..120 {
        let (word, bad) = (&words[dice.below(words.len())], dice.nasty());
        let mut value = good.clone();
        // Everywhere, so that the result stays whole; or at one place.
        let only = (dice.below(2) == 0).then(|| dice.below(40));
        let mut seen = 0;
        strings(&mut value, &mut |text| {
            if text == word {
                if only.is_none_or(|only| only == seen) {
                    text.clone_from(&bad);
                }
                seen += 1;
            }
        });
        let text = value.to_string();
        match result::read(&format!("{bad}.json"), &text) {
            Err(said) => visible(&said, "error"),
            Ok(results) => outputs(&results, "r.json"),
        }
        // The writers do not rely on the reader.
        if let Ok(results) = serde_json::from_str::<Results>(&text) {
            outputs(&results, &format!("{bad}.json"));
        }
    }
}

const CLAIM: &str = "claims:\n- {id: a, kind: prediction, group: g, machine: m, workload: w, class: c, model: upc, threads: t, \
policy: P, baseline: b, yield: posix, environment: e, metric: x, form: qualitative, value: text, tolerance: {type: bool}}\n";

#[test]
fn strings_of_claims_are_refused_or_harmless() {
    let keys = [
        "id: a",
        "group: g",
        "machine: m",
        "workload: w",
        "policy: P",
        "metric: x",
        "value: text",
        "form: qualitative",
    ];
    let mut dice = Dice(0xc1a1);
    let mut accepted = 0;
    for _ in 0..600 {
        let key = keys[dice.below(keys.len())];
        let bad = dice.nasty();
        let name = key.split(':').next().unwrap();
        let text = CLAIM.replace(key, &format!("{name}: {}", quoted(&bad)));
        match claims::read(&format!("{bad}.yaml"), &text) {
            Err(said) => visible(&said, "error"),
            Ok(claims) => {
                accepted += 1;
                let finding = Finding {
                    verdict: Verdict::Uncovered,
                    points: Vec::new(),
                    pairs: Vec::new(),
                    error: None,
                    reason: bad,
                    margin: None,
                };
                let findings = vec![finding];
                let groups = score::groups(&claims, &findings);
                let done = Reproduction {
                    claims,
                    findings,
                    groups,
                    score: score::Score::default(),
                    cells: std::collections::BTreeMap::new(),
                };
                for form in claims_report::FORMS {
                    let mut out = Vec::new();
                    form.write(&done, &mut out, &View::FILE).unwrap();
                    harmless(form.form().name, &out);
                }
            }
        }
    }
    assert!(accepted > 10, "{accepted}");
}

#[test]
fn the_command_line_shows_what_is_not_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let about = |about: &str| scenario(1, about);
    // An `about` with control characters is refused with its place.
    let (code, out, err) = oversim(&["run", "-"], &about("\u{1b}]0;pwn\u{7}\u{1b}[31m"));
    assert!(code == 2 && out.is_empty() && err.contains("<stdin>:2:8") && err.contains("U+001B"), "{err}");
    // Tags of an `about` are text in Markdown and on the page.
    let (code, out, _) = oversim(&["run", "-", "--format", "markdown"], &about("<script>alert(1)</script>"));
    assert!(code == 0 && out.contains("&lt;script>") && !out.contains("<script"), "{out}");
    // A name in a result is one that a scenario could have.
    let (code, json, _) = oversim(&["run", "-", "--format", "json"], &scenario(99, ""));
    assert_eq!(code, 0);
    for (bad, why) in [("\\u001b[31mX", "U+001B"), ("=HYPERLINK(1)", "letters, digits")] {
        fs::write(path("x.json"), json.replace("\"job\"", &format!("\"{bad}\""))).unwrap();
        for command in [&["compare", &path("x.json")][..], &["plot", &path("x.json"), "-o", &path("figures")]]
        {
            let (code, out, err) = oversim(command, "");
            assert!(code == 2 && out.is_empty() && err.contains(why) && err.contains("x.json: `"), "{err}");
            visible(&err, "error");
        }
    }
    assert!(!folder.path().join("figures").exists());
    // File names and words of the command line.
    let nasty = "\u{1b}[31m\u{202e}\u{9b}";
    let schedule = path("schedule.jsonl");
    fs::write(&schedule, format!("{{\"schema\":\"{nasty}\"}}\n")).unwrap();
    fs::write(path("claims.yaml"), format!("claims:\n- {{id: \"{}\"}}\n", "\\e[31m")).unwrap();
    fs::write(path(&format!("{nasty}.yaml")), scenario(99, "")).unwrap();
    let (code, out, _) = oversim(&["check", &path(&format!("{nasty}.yaml"))], "");
    assert_eq!(code, 0);
    visible(&out, "check");
    for command in [
        &["run", nasty][..],
        &[nasty],
        &["run", "-", nasty, nasty],
        &["run", "-", "--seed", nasty],
        &["run", "-", "--policy", nasty],
        &["run", "-", "--set", nasty],
        &["run", "-", "--format", nasty],
        &["plot", nasty, "--figure", nasty],
        &["explain", nasty],
        &["docs", nasty],
        &["machine", "show", nasty],
        &["timeline", "-", "-o", nasty],
        &["timeline", "-", "--from", nasty],
        &["run", "-", "--replay-schedule", &schedule],
        &["reproduce", "--claims", &path("claims.yaml")],
    ] {
        let (code, out, err) = oversim(command, &scenario(99, ""));
        assert!(code == 2 && out.is_empty(), "{command:?}: {code} {err}");
        visible(&err, &format!("{command:?}"));
    }
}

#[test]
fn every_error_about_a_file_has_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let utf_16: Vec<u8> = "name: t\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files: [(&str, &[u8], &str, &str); 6] = [
        ("latin.yaml", b"name: t\nabout: caf\xe9\n", ":2:11", "Latin-1"),
        ("wide.yaml", &utf_16, ":1:1", "UTF-16"),
        ("binary.yaml", b"\x7fELF\x02\x01\xff\xfe", ":1:1", "not a text file"),
        ("empty.yaml", b"", ":1:1", "is empty"),
        ("empty.json", b"", ":1:1", "not a JSON object"),
        (
            "large.yaml",
            &vec![b'#'; (1 << 20) + 5],
            ":1:1",
            "1048581 bytes, and at most 1048576 bytes (1 MiB)",
        ),
    ];
    let scenario = scenario(2, "./m.yaml");
    fs::write(folder.path().join("s.yaml"), &scenario).unwrap();
    for (name, bytes, place, why) in files {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let command = if name.ends_with("json") { "compare" } else { "check" };
        let (code, out, err) = oversim(&[command, &path.display().to_string()], "");
        assert!(code == 2 && out.is_empty(), "{name}: {err}");
        let wanted = if name == "binary.yaml" { ":1:7" } else { place };
        assert!(err.contains(&format!("{name}{wanted}")) && err.contains(why), "{name}: {err}");
        if name.ends_with("yaml") {
            // The same as a machine file.
            fs::copy(&path, folder.path().join("m.yaml")).unwrap();
            let why = why.replace("1048576 bytes (1 MiB)", "");
            let other = scenario.replace("core:2, core:1", "core:2");
            fs::write(folder.path().join("s.yaml"), other.replace("machine: [core:2], ", "")).unwrap();
            for command in [
                &["check", &folder.path().join("s.yaml").display().to_string()][..],
                &["machine", "show", &folder.path().join("m.yaml").display().to_string()],
            ] {
                let (code, _, err) = oversim(command, "");
                assert!(
                    code == 2 && err.contains(&format!("m.yaml{wanted}")) && err.contains(&why),
                    "{name}: {err}"
                );
            }
        }
    }
    let clash = "summary: s\nname: barcelona\ntopology: { value: \"core:2\", source: s }\n";
    fs::write(folder.path().join("m.yaml"), clash).unwrap();
    let (code, _, err) = oversim(&["check", &folder.path().join("s.yaml").display().to_string()], "");
    assert!(code == 2 && err.contains("m.yaml:2:7") && err.contains("2 | name: barcelona"), "{err}");
    let (code, _, err) = oversim(&["check", "cg_ft_share", "--set", ""], "");
    assert!(code == 2 && err.contains("--set:1:1") && err.contains("write `path=value`"), "{err}");
}
