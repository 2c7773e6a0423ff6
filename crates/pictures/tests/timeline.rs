//! From scenarios to pictures: windows, rows, marks, and the same bytes every time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use pictures::timeline::draw;
use pictures::timeline::states::State;
use pictures::timeline::{Aim, Medium, Request, Subject, Timeline, record, terminal};
use scenario::plan::{Experiment, RunPlan};
use scenario::{Overrides, load};
use trace::slices::Slice;

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
    let subject = |plan| {
        let label: &str = &experiment.policies[RunPlan::clone(plan).policy];
        Subject { label, place: label, plan }
    };
    record(&runs.map(subject).collect::<Vec<_>>(), request, medium)
}

fn picture(timeline: &Timeline) -> String {
    draw::picture(timeline, "a<b&c").svg()
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
    assert_eq!(timeline.window.why, "the whole run");
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

/// Sixteen threads meet fifty times on eight cpus; the values of a sweep one above the other.
const SYNC: &str = "\
name: sync
machine: 'package:2 numa:1 core:4'
kernel: linux-2.6.28
apps:
  code: { workload: { spmd: { work: 1s, intervals: 50, spread: 10% } }, runtime: block, tasks: 16 }
policies: [PIN]
repeat: 1
";

/// The configurations of a scenario with some changes and one swept path.
fn varied(text: &str, sweep: &str, request: &Request, medium: Medium) -> Result<Timeline, String> {
    let overrides = Overrides { sweep: vec![sweep.to_owned()], ..Overrides::default() };
    let experiment = load("sync.yaml", text, &overrides).unwrap();
    let runs = experiment.runs.iter().filter(|run| run.alone.is_none());
    let label = |plan: &RunPlan| experiment.configurations[plan.configuration].label.clone();
    let named: Vec<(String, &RunPlan)> = runs.map(|plan| (label(plan), plan)).collect();
    let subjects: Vec<Subject<'_>> =
        named.iter().map(|(label, plan)| Subject { label, place: label, plan }).collect();
    record(&subjects, request, medium)
}

const WAYS: &str = "apps.code.runtime=spin,yield,block";

fn barriers() -> Request {
    Request { aim: Aim::Barriers, ..Request::default() }
}

#[test]
fn configurations_are_shown_for_a_few_barriers_in_rows_that_can_be_read() {
    for medium in [Medium::Picture, Medium::Text(100)] {
        let timeline = varied(SYNC, WAYS, &barriers(), medium).unwrap();
        let counts: Vec<u64> = timeline.tracks.iter().map(|track| track.recording.counts[2]).collect();
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
        assert!((3..=9).contains(counts.iter().max().unwrap()), "{counts:?}");
        // 24 rows are high enough.
        assert_eq!((timeline.rows.len(), timeline.remark.as_str()), (8, ""));
        assert!(timeline.window.close && timeline.window.why.contains("a few barriers of"));
    }
    let large = SYNC.replace("package:2 numa:1 core:4", "package:4 numa:1 core:16");
    let large = large.replace("tasks: 16", "tasks: 128");
    let timeline = varied(&large, WAYS, &barriers(), Medium::Picture).unwrap();
    assert_eq!(timeline.cpus(), "0-12");
    assert!(timeline.headline().contains("rows: cpus 0-12, sums: all 64 cpus (--cpus 0-63 draws all)"));
    // Sums are of all cpus all the same.
    let window = timeline.window.to - timeline.window.from;
    for track in &timeline.tracks {
        assert!(track.recording.total.total().abs_diff(64 * window) < 100_000);
    }
    // Who asks for cpus gets them.
    let request = Request { cpus: Some((0..64).collect()), ..barriers() };
    let timeline = varied(&large, WAYS, &request, Medium::Picture).unwrap();
    assert!(timeline.rows.len() == 4 && timeline.remark.contains("mean"), "{}", timeline.remark);
}

#[test]
fn one_application_has_a_colour_for_each_thread_and_several_have_theirs() {
    let one = picture(&varied(SYNC, WAYS, &barriers(), Medium::Picture).unwrap());
    for text in ["code computes (a colour for each thread, repeated)", "Numbers are thread ids.", "spins"] {
        assert!(one.contains(text), "{text}");
    }
    for hue in ["#0072B2", "#E69F00", "#009E73", "#56B4E9", "#CC79A7", "#F0E442", "#D55E00"] {
        assert!(one.contains(hue), "{hue}");
    }
    let two = SYNC
        .replace("apps:", "apps:\n  other: { workload: { spmd: { work: 1s, intervals: 50 } }, tasks: 8 }");
    let two = varied(&two, "apps.code.runtime=yield,block", &barriers(), Medium::Picture).unwrap();
    assert!(!two.threads);
    let two = picture(&two);
    assert!(two.contains(">other computes<") && two.contains(">code computes<") && !two.contains("#009E73"));
}

#[test]
fn the_legend_explains_what_is_drawn_and_nothing_else() {
    let legend = |timeline: &Timeline| {
        let svg = picture(timeline);
        let heading = svg.find("font-size=\"16\"").unwrap();
        svg[..heading].to_owned()
    };
    let block = legend(&varied(SYNC, "apps.code.runtime=block,yield", &barriers(), Medium::Picture).unwrap());
    assert!(block.contains(">idle<") && block.contains(">yields<") && block.contains(">barrier complete<"));
    for absent in ["migration", "decision", "memory stall", "shared core", "page init", "application ends"] {
        assert!(!block.contains(&format!(">{absent}")), "{absent}: {block}");
    }
    // Nothing migrates, and there is one policy: its decisions explain nothing.
    let whole = Request { from: Some(0), to: Some(40_000_000), ..Request::default() };
    let timeline = varied(SYNC, WAYS, &whole, Medium::Picture).unwrap();
    assert!(timeline.tracks.iter().all(|track| !track.recording.notes.is_empty()));
    assert!(!picture(&timeline).contains(">decisions<"));
    // Tasks migrate, or policies differ.
    assert!(picture(&take(&odd(&[]), &Request::default(), Medium::Picture).unwrap()).contains(">decisions<"));
}

#[test]
fn a_woken_task_that_stays_is_no_decision_worth_a_mark() {
    let whole = Request { from: Some(0), to: Some(u64::MAX), ..Request::default() };
    let timeline = varied(SYNC, WAYS, &whole, Medium::Picture).unwrap();
    let block = &timeline.tracks[2].recording;
    assert!(block.counts[2] > 40 && block.notes.iter().all(|note| !note.text.contains("woken")));
}

#[test]
fn fresh_pages_are_written_by_their_application_and_are_no_kernel_work() {
    let text = "\
name: pages
machine: barcelona
kernel: linux-2.6.28
apps:
  cg: { workload: { npb: { benchmark: cg, class: B, scale: 1% } }, runtime: upc, tasks: 16 }
policies: [PIN]
repeat: 1
";
    let request = Request { from: Some(0), to: Some(100_000_000), ..Request::default() };
    let timeline = varied(text, "threads_per_core=1", &request, Medium::Picture);
    let timeline = timeline.or_else(|_| varied(text, "horizon=1s", &request, Medium::Picture)).unwrap();
    let track = &timeline.tracks[0];
    assert!(timeline.facts(track).contains("page initialisation"), "{}", timeline.facts(track));
    assert!(picture(&timeline).contains(">page initialisation<"));
    let kernel = track.recording.total.of(State::Kernel);
    assert!(kernel * 20 < track.recording.total.of(State::PageInit), "{kernel}");
}

#[test]
fn runs_with_other_applications_keep_colours_and_other_machines_are_refused() {
    let text = SYNC.replace("apps:", "apps:\n  hog: { workload: { hog: {} }, tasks: 1, copies: 1 }");
    let timeline = varied(&text, "apps.hog.copies=2,1", &barriers(), Medium::Picture);
    let timeline = timeline.unwrap();
    assert_eq!(timeline.apps.len(), timeline.tracks[0].owners.apps());
    let code = timeline.apps.iter().position(|app| app == "code").unwrap();
    for track in &timeline.tracks {
        assert_eq!(
            track.recording.barriers.keys().collect::<Vec<_>>(),
            [&(code as u32)],
            "{:?}",
            timeline.apps
        );
        let slices = track.recording.rows.iter().flatten().filter_map(|cell| cell.slice);
        let app = |slice: Slice| slice.who.app(&track.owners);
        assert!(slices.filter_map(app).all(|app| (app.0 as usize) < timeline.apps.len()));
    }
    let refused = varied(
        SYNC,
        "machine=\"package:2 core:4\",\"package:1 numa:4 core:2\"",
        &barriers(),
        Medium::Picture,
    );
    assert!(refused.unwrap_err().contains("one picture cannot show both"));
}
