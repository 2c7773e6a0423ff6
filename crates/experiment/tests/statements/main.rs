//! No sentence contradicts its table: every statement and figure title about thousands of random results is
//! read back and recomputed.
//!
//! `OVERSIM_SWARM=100000` makes as many results, `OVERSIM_SEED=7` begins there.

mod answers;
mod causes;
mod cautions;
mod compared;
mod goal;
mod oracle;
mod random;
mod said;
mod sentences;
#[path = "../support/splitmix.rs"]
mod splitmix;
mod titles;

use experiment::report::{self, View};
use experiment::statements::causes::{Pair, causes};
use experiment::statements::{Extremes, Table, answer, doubts, each};

use oracle::Oracle;
use splitmix::Random;

/// Results of a usual run: a release is checked with `OVERSIM_SWARM=10000`.
const USUAL: u64 = 600;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

#[test]
fn no_sentence_contradicts_its_table() {
    let (first, count) = (setting("OVERSIM_SEED", 1), setting("OVERSIM_SWARM", USUAL));
    let (mut sentences, mut kinds) = (0_usize, std::collections::BTreeSet::new());
    for seed in first..first + count {
        let results = random::result(&mut Random(seed));
        let table = Table::of(&results);
        let oracle = Oracle::of(&results);
        let mut check = |label: &'static str, text: &str, verdict: oracle::Verdict| {
            sentences += 1;
            kinds.insert(label);
            if let Err(why) = verdict {
                panic!("seed {seed}: {label}: {text}\n{why}");
            }
        };
        let extremes = Extremes::of(&table);
        if let Some(extremes) = &extremes {
            for said in answer::said(&table, extremes) {
                let verdict = answers::statement(&oracle, extremes, &said.statement);
                check(said.label, &said.text, verdict);
                check(said.label, &said.text, said::says(&oracle, &said));
            }
            check("Mark", "", answers::marks(&oracle, &table, extremes));
            let pair = Pair::of(&table, extremes);
            if let Some(causes) = causes(&table, &pair) {
                check("Why", &causes.text, causes::why(&oracle, extremes, &pair, &causes));
            }
        }
        let doubts = doubts::doubts(&table, extremes.as_ref());
        for doubt in &doubts {
            check("Doubt", doubt, sentences::doubt(&oracle, extremes.as_ref(), doubt));
        }
        check("Doubt", &doubts.join(" "), causes::silence(&oracle, extremes.as_ref(), &doubts));
        for configuration in table.configurations() {
            for sentence in each::at(&table, configuration) {
                check("Each", &sentence, sentences::each(&oracle, configuration, &sentence));
            }
        }
        for (label, title) in titles::all(&table) {
            let text = title.to_string();
            check(label, &text, titles::check(&oracle, label, &text));
            check(label, &text, titles::shorter(&title));
        }
    }
    for label in [
        "Sharing",
        "Best",
        "Avoid",
        "Policy",
        "Sweep",
        "Fairness",
        "Response",
        "Inputs",
        "Note",
        "Why",
        "Doubt",
        "Each",
        "Locks",
        "Deadlines",
    ] {
        assert!(count < USUAL || kinds.contains(label), "no {label} among {sentences} sentences");
    }
}

#[test]
fn comparisons_say_what_the_pairs_show() {
    let mut verdicts = std::collections::BTreeSet::new();
    for seed in setting("OVERSIM_SEED", 1)..setting("OVERSIM_SEED", 1) + setting("OVERSIM_SWARM", USUAL) {
        let (a, b) = (random::result(&mut Random(seed)), random::result(&mut Random(seed + 1)));
        let threshold = [0.0, 1.0, 20.0][seed as usize % 3];
        for all in compared::all(&a, &b, threshold) {
            compared::check(&a, &b, &all).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            verdicts.extend(all.contrasts.iter().map(|one| one.verdict.word()));
        }
    }
    assert_eq!(verdicts.len(), 6, "{verdicts:?}");
}

#[test]
fn the_answer_fits_a_terminal() {
    // Random result 670 once had 42 lines.
    for seed in (1..=setting("OVERSIM_SWARM", USUAL) / 3).chain([670]) {
        let results = random::result(&mut Random(seed));
        for width in [70, 80, 100, 200] {
            let view = View { width, colour: false, full: false, subject: Some("x.yaml") };
            let mut out = Vec::new();
            report::format("text").unwrap().write(&results, &mut out, &view).unwrap();
            let text = String::from_utf8(out).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let most = if width < 100 { 60 } else { 40 };
            assert!(lines.len() <= most, "seed {seed}, {width} columns: {} lines\n{text}", lines.len());
            let long = lines.iter().find(|line| line.chars().count() > width.min(100));
            assert!(long.is_none(), "seed {seed}, {width} columns: {long:?}\n{text}");
            assert!(!text.contains("NaN") && !text.contains("inf "), "seed {seed}\n{text}");
        }
        let mut coloured = Vec::new();
        let view = View { width: 100, colour: true, full: false, subject: None };
        report::format("text").unwrap().write(&results, &mut coloured, &view).unwrap();
        let plain = View { colour: false, ..view };
        let mut bare = Vec::new();
        report::format("text").unwrap().write(&results, &mut bare, &plain).unwrap();
        let stripped = without_colours(&String::from_utf8(coloured).unwrap());
        let bare = String::from_utf8(bare).unwrap();
        assert_eq!(without_bars(&stripped), without_bars(&bare), "seed {seed}: colours change the text");
    }
}

/// A text with blanks for its bars: blocks where there are colours, else `#`.
fn without_bars(text: &str) -> String {
    let blank = |letter: char| {
        if letter == '#' || ('\u{2588}'..='\u{258f}').contains(&letter) { ' ' } else { letter }
    };
    let lines = text.lines().map(|line| line.chars().map(blank).collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A text without the codes that colour it.
fn without_colours(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        bare.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    bare + rest
}
