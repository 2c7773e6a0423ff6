//! From scenarios to pictures: windows, rows, marks, and the same bytes every time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use experiment::plan::Experiment;
use experiment::scenario::{Overrides, load};
use timeline::draw::{Caption, svg};
use timeline::{Medium, Request, Subject, Timeline, record, terminal};

/// Five threads on four cores; SPEED moves them about, PIN does not.
const ODD: &str = "\
name: odd
machine: 'package:1 numa:2 core:2'
kernel: linux-2.6.28
apps:
  job: { workload: { spmd: { work: 4s, intervals: 8 } }, runtime: upc, tasks: 5 }
policies: [SPEED, PIN]
repeat: 1
";

fn odd(changes: &[&str]) -> Experiment {
    let set = changes.iter().map(|change| (*change).to_owned()).collect();
    load("odd.yaml", ODD, &Overrides { set, ..Overrides::default() }).unwrap()
}

fn take(experiment: &Experiment, request: &Request, medium: Medium) -> Result<Timeline, String> {
    let runs = experiment.runs.iter().filter(|run| run.alone.is_none());
    let subjects: Vec<Subject<'_>> =
        runs.map(|plan| Subject { label: &experiment.policies[plan.policy], plan }).collect();
    record(&subjects, request, medium)
}

fn picture(timeline: &Timeline) -> String {
    svg(timeline, Caption { title: "a<b&c", prefix: "t" })
}

#[test]
fn a_picture_shows_both_policies_with_reasons_and_repeats_to_the_byte() {
    let experiment = odd(&[]);
    let timeline = take(&experiment, &Request::default(), Medium::Picture).unwrap();
    let first = picture(&timeline);
    assert_eq!(first, picture(&take(&experiment, &Request::default(), Medium::Picture).unwrap()));
    for text in [">SPEED<", ">PIN<", ">node 1<", "simulated time, s", "a&lt;b&amp;c", " -&gt; cpu"] {
        assert!(first.contains(text), "{text}");
    }
    assert!(!first.contains("a<b") && !first.contains("NaN") && !first.contains("inf"));
    assert!(timeline.window.why.starts_with("the whole run"), "{:?}", timeline.window);
    let moves: Vec<usize> = timeline.tracks.iter().map(|track| track.recording.moves.len()).collect();
    assert!(moves[0] > 0 && moves[1] == 0, "{moves:?}");
    assert!(timeline.tracks[0].recording.moves.iter().all(|moved| moved.text.contains(": ")));
}

#[test]
fn rows_have_no_gaps_whatever_the_medium() {
    let experiment = odd(&[]);
    let (from, to) = (100_000_000, 400_000_000);
    let request = Request { from: Some(from), to: Some(to), ..Request::default() };
    for medium in [Medium::Picture, Medium::Text(69)] {
        let timeline = take(&experiment, &request, medium).unwrap();
        for row in timeline.tracks.iter().flat_map(|track| &track.recording.rows) {
            let mut at = from;
            for cell in row {
                assert_eq!(cell.from, at, "{medium:?}");
                let missing = (cell.to - cell.from).abs_diff(cell.mix.total());
                assert!(missing < 1_000, "{medium:?}: {missing} ns of {cell:?}");
                at = cell.to;
            }
            assert_eq!(at, to, "{medium:?}");
            // The size of the picture bounds what is kept.
            assert!(row.len() <= 3 * 360, "{}", row.len());
        }
    }
}

#[test]
fn the_window_is_what_was_asked_for_or_refused() {
    let experiment = odd(&[]);
    let window = |from: Option<u64>, to: Option<u64>| {
        let request = Request { from, to, ..Request::default() };
        take(&experiment, &request, Medium::Text(60))
            .map(|timeline| (timeline.window.from, timeline.window.to))
    };
    let whole = window(None, None).unwrap();
    assert_eq!(window(Some(5), Some(1_000_000)), Ok((5, 1_000_000)));
    assert_eq!(window(Some(5), None), Ok((5, whole.1)));
    assert_eq!(window(None, Some(70)), Ok((0, 70)));
    // What lies behind the end of all runs is left out.
    assert_eq!(window(Some(5), Some(u64::MAX)), Ok((5, whole.1)));
    for (from, to, why) in [
        (Some(9), Some(9), "before it begins"),
        (Some(9), Some(3), "before it begins"),
        (Some(u64::MAX - 1), None, "the longest run ends at"),
        (Some(u64::MAX - 1), Some(u64::MAX), "the longest run ends at"),
        (None, Some(0), "empty"),
    ] {
        let refused = window(from, to).unwrap_err();
        assert!(refused.contains(why), "{from:?} {to:?}: {refused}");
    }
}

#[test]
fn only_the_cpus_asked_for_are_shown() {
    let experiment = odd(&[]);
    let cpus = |cpus: Vec<u32>| {
        take(&experiment, &Request { cpus: Some(cpus), ..Request::default() }, Medium::Picture)
    };
    let timeline = cpus(vec![3]).unwrap();
    assert_eq!((timeline.cpus().as_str(), timeline.tracks[0].recording.rows.len()), ("3", 1));
    assert!(!picture(&timeline).contains("node 0"));
    assert!(cpus(vec![4]).unwrap_err().contains("0-3"));
    assert!(cpus(Vec::new()).is_err());
}

#[test]
fn what_is_seen_is_the_same_when_every_poll_is_simulated() {
    let experiment = odd(&[]);
    let mut slow = experiment.clone();
    for run in &mut slow.runs {
        run.options.stepwise = true;
    }
    let seen = |experiment| take(experiment, &Request::default(), Medium::Picture).unwrap();
    assert!(seen(&experiment) == seen(&slow));
}

#[test]
fn many_cpus_are_rows_of_nodes_in_the_terminal() {
    let experiment = odd(&["machine=package:4 numa:2 core:8", "apps.job.tasks=64"]);
    let timeline = take(&experiment, &Request::default(), Medium::Text(terminal::columns(80))).unwrap();
    let text = terminal::text(&timeline, "odd", 80, false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("node 7") && text.contains("--cpus"), "{text}");
}
