//! The words of a timeline are true: every share in a heading or in the headline is that of the recording.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use pictures::timeline::message::{PARTS, Part, Run, message, parts, share};
use pictures::timeline::states::{Mix, Owner, State};
use pictures::timeline::{Aim, Medium, Request, Subject, Timeline, record};
use scenario::plan::Experiment;
use scenario::{Overrides, load};

/// Random recordings per test.
fn swarm() -> u64 {
    std::env::var("OVERSIM_SWARM").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

/// Numbers that look random (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % most
    }

    /// A mix in which some states dominate, some are slivers and some are missing.
    fn mix(&mut self, apps: u32) -> Mix {
        let mut mix = Mix::default();
        for state in State::ALL.into_iter().filter(|state| state.on_cpu()) {
            for app in 0..apps {
                let owner = if state.coloured() { Owner::App(app) } else { Owner::Nobody };
                let size = 10u64.pow(self.below(7) as u32);
                let ns = self.below(size * 10) * self.below(2);
                mix.add(owner, state, ns);
            }
        }
        mix
    }
}

/// The shares of a sentence or heading: what stands before each number, the number, and whether it is a
/// bound.
fn shares(text: &str) -> Vec<(String, f64, bool)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(" %") {
        let (before, behind) = rest.split_at(at);
        let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        let words = before[..digits].trim_end();
        let bound = words.ends_with("less than") || words.ends_with("more than");
        found.push((words.to_owned(), before[digits..].parse().unwrap(), bound));
        rest = &behind[2..];
    }
    found
}

/// A share as it is written is that share.
fn fits(written: f64, bound: bool, exact: f64) -> bool {
    match (bound, written as u32) {
        (true, 1) => exact > 0.0 && exact < 1.0,
        (true, 99) => exact > 99.0 && exact < 100.0,
        (true, _) => false,
        // Neither nothing nor all unless it is.
        (false, 0) => exact == 0.0,
        (false, 100) => exact > 99.999_999,
        (false, _) => (written - exact).abs() <= 0.5,
    }
}

/// The heading names every part of at least one per cent, with its share, and all of it is one hundred within
/// rounding.
fn check_heading(heading: &str, total: &Mix) {
    let all = shares(heading);
    for part in &PARTS {
        let exact = share(total, part);
        let named = all.iter().find(|(words, _, _)| words.ends_with(part.noun));
        match named {
            Some((_, written, _)) => assert!((written - exact).abs() <= 0.5, "{heading}: {exact}"),
            None => assert!(exact < 1.0, "{heading}: {} is {exact}", part.noun),
        }
    }
    let sum: f64 = all.iter().map(|(_, share, _)| share).sum();
    assert!((sum - 100.0).abs() <= 0.5 * (all.len() as f64 + 1.0), "{heading}: sums to {sum}");
}

/// The part that a clause of a sentence is about.
fn part_of(words: &str) -> Option<&'static Part> {
    let lower = words.to_lowercase();
    PARTS.iter().find(|part| lower.contains(&part.clause.0.to_lowercase()))
}

/// The share that a sentence about a state or an application states for a run.
fn exact(sentence: &str, total: &Mix, apps: &[String]) -> f64 {
    if let Some(part) = part_of(sentence) {
        return share(total, part);
    }
    let app = apps.iter().position(|app| sentence.starts_with(&format!("{app} "))).unwrap();
    let state = if sentence.contains("computes") { State::Compute } else { State::Memory };
    let time = total.parts().filter(|part| part.0 == Owner::App(app as u32) && part.1 == state);
    time.map(|part| part.2).sum::<u64>() as f64 * 100.0 / total.total().max(1) as f64
}

fn check_message(sentence: &str, runs: &[Run<'_>], apps: &[String]) {
    let all = shares(sentence);
    if runs.len() == 1 {
        for (words, written, bound) in &all {
            let clause = words.rsplit(';').next().unwrap();
            let part = part_of(clause).unwrap();
            assert!(fits(*written, *bound, share(runs[0].total, part)), "{sentence}");
        }
        return;
    }
    assert_eq!(all.len(), runs.len(), "{sentence}: every run is named");
    for ((_, written, bound), run) in all.iter().zip(runs) {
        let exact = exact(sentence, run.total, apps);
        assert!(fits(*written, *bound, exact), "{sentence}: {exact} {}", run.place);
        assert!(sentence.contains(run.place), "{sentence}");
    }
    // Nothing differs much more than what the sentence is about, unless that is an application while no state
    // differs.
    let spread = |of: &dyn Fn(&Mix) -> f64| {
        let values: Vec<f64> = runs.iter().map(|run| of(run.total)).collect();
        values.iter().copied().fold(0.0, f64::max) - values.iter().copied().fold(100.0, f64::min)
    };
    let named = spread(&|total| exact(sentence, total, apps));
    let widest = PARTS.iter().map(|part| spread(&|total| share(total, part))).fold(0.0, f64::max);
    assert!(named >= widest - 2.0, "{sentence}: {named} of {widest}");
}

#[test]
fn sentences_and_headings_are_true_for_random_recordings() {
    let names: Vec<String> = ["cg", "ft", "ep"].map(String::from).to_vec();
    let places = ["under LOAD", "under SPEED", "under gang", "under PIN"];
    for seed in 0..swarm() {
        let mut dice = Dice(seed);
        let apps = 1 + dice.below(3) as u32;
        let mut mixes: Vec<Mix> = (0..=dice.below(4)).map(|_| dice.mix(apps)).collect();
        mixes.retain(|mix| mix.total() > 0);
        if dice.below(5) == 0 {
            // Runs that hardly differ.
            let first = mixes.first().cloned().unwrap_or_default();
            mixes.fill(first);
        }
        for mix in &mixes {
            check_heading(&parts(mix), mix);
        }
        let runs: Vec<Run<'_>> =
            mixes.iter().zip(places).map(|(total, place)| Run { place, total, done: None }).collect();
        if !runs.is_empty() {
            check_message(&message(&runs, &names[..apps as usize]), &runs, &names[..apps as usize]);
        }
    }
}

const SPIN: &str = "\
name: spin
machine: 'package:1 numa:2 core:2 pu:2'
kernel: linux-2.6.28
apps:
  job: { workload: { spmd: { work: 400ms, intervals: 40, spread: 10% } }, runtime: spin, tasks: 12 }
policies: [PIN, LOAD]
repeat: 1
";

fn timelines() -> Vec<Timeline> {
    let taken = |sweep: &[&str], aim: Aim| {
        let sweep = sweep.iter().map(|axis| (*axis).to_owned()).collect();
        let loaded: Experiment = load("s.yaml", SPIN, &Overrides { sweep, ..Overrides::default() }).unwrap();
        let runs = loaded.runs.iter().filter(|run| run.alone.is_none()).take(4);
        let named: Vec<(String, _)> = runs.map(|plan| (format!("run{}", plan.configuration), plan)).collect();
        let subjects: Vec<Subject<'_>> =
            named.iter().map(|(name, plan)| Subject { label: name, place: name, plan }).collect();
        record(&subjects, &Request { aim, ..Request::default() }, Medium::Picture).unwrap()
    };
    vec![
        taken(&[], Aim::Difference),
        taken(&["apps.job.runtime=spin,yield,block"], Aim::Barriers),
        taken(&["apps.job.workload.demand=0GB/s,4GB/s"], Aim::Barriers),
    ]
}

#[test]
fn sentences_and_headings_are_true_for_runs() {
    for timeline in timelines() {
        let runs: Vec<Run<'_>> = timeline
            .tracks
            .iter()
            .map(|track| Run { place: &track.place, total: &track.recording.total, done: None })
            .collect();
        check_message(&timeline.message(), &runs, &timeline.apps);
        for track in &timeline.tracks {
            check_heading(timeline.facts(track).split(';').next().unwrap(), &track.recording.total);
        }
    }
}

#[test]
fn a_busy_sibling_is_named_and_no_memory_stall() {
    // No demand for memory, two hardware threads on each core.
    let timeline = &timelines()[1];
    let heading = timeline.facts(&timeline.tracks[2]);
    assert!(heading.contains("shared core") && !heading.contains("memory stall"), "{heading}");
}
