//! From scenarios to pictures: windows, rows, marks, and the same bytes every time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use pictures::timeline::draw;
use pictures::timeline::record::Cell;
use pictures::timeline::states::{Owner, State};
use pictures::timeline::steps::{Kind, Step, steps};
use pictures::timeline::{
    Aim, Medium, Request, Rows, Subject, Timeline, record, record_rows, steps_text, terminal,
};
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

/// Two threads on one cpu: one has a lock for 3 ms at a time, the other one wants it; a third one only sleeps
/// for a disk.
const LOCKED: &str = "\
name: locked
machine: core:1
kernel: linux-6.18
apps:
  pair:
    program:
      devices: { disk: 1 }
      kinds:
        owner: { code: \"repeat 4 { lock door; run 3ms; unlock door; sleep 5ms }\" }
        guest: { code: \"repeat 4 { run 1ms; lock door; run 1ms; unlock door }\" }
        reader: { code: \"repeat 4 { io disk 4ms; run 100us }\" }
policies: [LOAD]
baseline: none
";

fn threads(text: &str, list: Option<&str>, medium: Medium) -> Timeline {
    let experiment = load("x.yaml", text, &Overrides::default()).unwrap();
    let plan = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
    let subject = Subject { label: "LOAD", place: "under LOAD", plan };
    let rows = Rows::Threads(list.map(str::to_owned));
    record_rows(&[subject], &Request::default(), &rows, medium).unwrap()
}

#[test]
fn the_row_of_a_thread_says_what_it_does_all_its_life() {
    for medium in [Medium::Picture, Medium::Text(69)] {
        let timeline = threads(LOCKED, None, medium);
        let recording = &timeline.tracks[0].recording;
        assert_eq!((timeline.rows.len(), recording.rows.len()), (3, 3));
        for cells in &recording.rows {
            // From its creation to its end without gaps, and no more time than there is.
            for pair in cells.windows(2) {
                assert!(pair[0].to == pair[1].from, "{medium:?}: {pair:?}");
            }
            // It may begin and end in the middle of a column.
            for cell in cells.iter().skip(1).rev().skip(1) {
                let missing = (cell.to - cell.from).abs_diff(cell.mix.total());
                assert!(missing < 10_000, "{medium:?}: {missing} ns of {cell:?}");
            }
        }
        // One cpu runs one of them at a time.
        let on_cpu =
            |cell: &Cell| -> u64 { cell.mix.parts().filter(|part| part.1.on_cpu()).map(|part| part.2).sum() };
        let ran: u64 = recording.rows.iter().flatten().map(on_cpu).sum();
        assert!(ran <= timeline.window.to - timeline.window.from, "{ran}");
        let spent = |row: usize, state: State| -> u64 {
            recording.rows[row].iter().map(|cell| cell.mix.of(state)).sum()
        };
        let row = |app: &str| {
            let app = timeline.apps.iter().position(|name| name == app).unwrap() as u32;
            timeline.rows.iter().position(|row| row.thread == Some((app, 0))).unwrap()
        };
        let (owner, guest, reader) = (row("pair-owner"), row("pair-guest"), row("pair-reader"));
        assert_eq!((spent(owner, State::Blocked), spent(reader, State::Blocked)), (0, 0), "{medium:?}");
        assert!(spent(guest, State::Blocked) > 1_000_000, "{medium:?}");
        assert!(spent(owner, State::Asleep) > 15_000_000 && spent(reader, State::Asleep) > 15_000_000);
        assert!(spent(guest, State::Ready) > 0 && spent(guest, State::Asleep) == 0, "{medium:?}");
        // The owner wakes the guest; a timer wakes the owner, the disk the reader.
        let woken = |row: usize| recording.wakes.iter().filter(move |wake| wake.to == row);
        assert!(woken(guest).count() > 0 && woken(guest).all(|wake| wake.from == Some(owner) && wake.by));
        assert!(woken(owner).all(|wake| !wake.by && wake.text == "a timer wakes pair-owner.0"));
        assert!(woken(reader).count() == 4, "{:?}", recording.wakes);
        assert!(woken(reader).all(|wake| wake.text == "disk wakes pair-reader.0"));
        if medium == Medium::Picture {
            let blocked = recording.rows[guest].iter().find(|cell| cell.mix.of(State::Blocked) > 0).unwrap();
            assert_eq!(blocked.label, "door");
            let svg = picture(&timeline);
            for text in ["blocked on a lock", "queued for a cpu", "wakes up", "(door)"] {
                assert!(svg.contains(text), "{text}");
            }
            assert_eq!(svg, picture(&threads(LOCKED, None, medium)));
        }
    }
    let two = threads(LOCKED, Some("pair-guest"), Medium::Picture);
    assert_eq!(two.rows.len(), 1);
    // Its waker has no row.
    assert!(two.tracks[0].recording.wakes.iter().all(|wake| wake.from.is_none() && wake.by));
}

#[test]
fn a_thread_that_polls_keeps_its_colour_and_the_others_are_queued() {
    let text = "\
name: spinning
machine: core:1
kernel: linux-6.18
apps: { job: { workload: { spmd: { work: 40ms, intervals: 4 } }, runtime: spin, tasks: 2 } }
policies: [PIN]
baseline: none
";
    let timeline = threads(text, None, Medium::Picture);
    let spins = |row: &Vec<Cell>| row.iter().map(|cell| cell.mix.of(State::Spin)).sum::<u64>();
    let recording = &timeline.tracks[0].recording;
    assert!(recording.rows.iter().any(|row| spins(row) > 1_000_000));
    // Never both: one cpu has one of them.
    let total: u64 = recording.rows.iter().flatten().map(|cell| cell.mix.of(State::Spin)).sum();
    let in_total: u64 = recording.total.of(State::Spin);
    assert!(total.abs_diff(in_total) < 100_000, "{total} {in_total}");
    let experiment = load("x.yaml", text, &Overrides::default()).unwrap();
    let plan = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
    let subject = Subject { label: "PIN", place: "under PIN", plan };
    let by_cpu = record(&[subject], &Request::default(), Medium::Picture).unwrap();
    let of_several = by_cpu.tracks[0].recording.rows.iter().flatten().flat_map(|cell| cell.mix.parts());
    assert_eq!(of_several.filter(|part| part.0 == Owner::Several).count(), 0);
    // One of the two waits in the queue until one ends: the strip shows it.
    let queued: u64 = by_cpu.tracks[0].recording.queues[0].iter().sum();
    let ready: u64 = recording.rows.iter().flatten().map(|cell| cell.mix.of(State::Ready)).sum();
    assert!(queued > 10_000_000 && queued.abs_diff(ready) < 1_000, "{queued} {ready}");
    assert!(picture(&by_cpu).contains("threads queued there"));
}

#[test]
fn steps_tell_who_was_picked_why_and_in_which_order_the_queue_stands() {
    let experiment = load("x.yaml", LOCKED, &Overrides::default()).unwrap();
    let plan = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
    let all = steps(plan, &Request::default(), 10_000).unwrap();
    assert_eq!((all.more, all.apps.len()), (0, 3));
    assert!(all.end_ns.is_some() && all.steps.is_sorted_by_key(|step| step.at_ns));
    let mut eligible = 0;
    let decided = |step: &&Step| step.kind == Kind::Picked && !step.reason.is_empty();
    for step in all.steps.iter().filter(decided) {
        let running = step.running.as_ref().unwrap();
        assert_eq!(Some(&running.thread), step.thread.as_ref());
        assert!(running.keys.iter().any(|key| key.0 == "deadline"), "{step:?}");
        assert!(step.queue.iter().all(|one| one.thread != running.thread), "{step:?}");
        eligible += running.keys.iter().filter(|key| key.0 == "eligible" && key.1 == "yes").count();
    }
    assert!(eligible > 3);
    let told =
        |kind: Kind, text: &str| all.steps.iter().any(|step| step.kind == kind && step.text.contains(text));
    assert!(told(Kind::LockAwaited, "pair-guest.0 finds door taken"));
    assert!(told(Kind::Sleeps, "pair-guest.0 falls asleep and waits for door"));
    assert!(told(Kind::Woken, "pair-guest.0 is woken by pair-owner.0"));
    assert!(told(Kind::Woken, "pair-reader.0 is woken by disk"));
    assert!(told(Kind::LockObtained, "pair-guest.0 gets door") && told(Kind::Ended, "ends"));
    // Whoever falls asleep does not run.
    for step in all.steps.iter().filter(|step| step.kind == Kind::Sleeps) {
        assert_ne!(step.running.as_ref().map(|one| &one.thread), step.thread.as_ref(), "{step:?}");
    }
    // Cut, and within a window.
    let cut = steps(plan, &Request::default(), 5).unwrap();
    assert_eq!((cut.steps.len(), cut.more), (5, all.steps.len() as u64 - 5));
    assert_eq!(cut.steps[..], all.steps[..5]);
    let request = Request { from: Some(5_000_000), to: Some(9_000_000), ..Request::default() };
    let part = steps(plan, &request, 10_000).unwrap();
    let inside = |at: u64| (5_000_000..=9_000_000).contains(&at);
    assert!(!part.steps.is_empty() && part.steps.iter().all(|step| inside(step.at_ns)));
    assert!(part.steps.iter().zip(all.steps.iter().filter(|step| inside(step.at_ns))).all(|(a, b)| a == b));
    let text = steps_text::paragraph(&all.steps[0], 60);
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    let beyond = Request { from: Some(u64::MAX / 2), ..Request::default() };
    assert!(steps(plan, &beyond, 5).unwrap_err().contains("but the run ends at"));
    let nowhere = Request { cpus: Some(vec![7]), ..Request::default() };
    assert!(steps(plan, &nowhere, 5).unwrap_err().contains("there is no cpu 7"));
}
