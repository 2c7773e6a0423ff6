//! Figures of small results: which are drawn, that nothing overlaps or is cut, that bytes repeat.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use experiment::result::Results;
use experiment::run::run;
use pictures::figures::caption::{Included, latex};
use pictures::figures::{self, Asked, Drawn, Figure, Target, draw, names};
use scenario::{Overrides, load};
use support::{Written, attribute, check, written};

const SCENARIO: &str = "\
name: small
machine: \"package:2 numa:1 core:2\"
apps:
  fine: { workload: { spmd: { work: 40ms, intervals: 20, spread: 20% } }, runtime: upc }
  coarse: { workload: { spmd: { work: 60ms, intervals: 2, spread: 20% } }, runtime: openmp }
policies: [LOAD, PIN, gang]
sweep: { threads_per_core: [1, 2] }
repeat: 5
";

fn results(text: &str) -> Results {
    let experiment = load("small.yaml", text, &Overrides::default()).unwrap();
    run(&experiment, 1, &|_, _| ()).unwrap()
}

fn drawn(results: &Results) -> Drawn {
    draw(results, &[])
}

#[test]
fn a_full_result_has_all_figures_and_the_same_bytes_twice() {
    let results = results(SCENARIO);
    let first = drawn(&results);
    let kinds: Vec<&str> = first.figures.iter().map(|figure| figure.name).collect();
    // Programs that share a machine are judged by throughput.
    assert_eq!(kinds[0], "throughput");
    let mut all: Vec<&str> = names().filter(|name| *name != "throughput").collect();
    all.insert(0, "throughput");
    assert_eq!(kinds, all, "{:?}", first.omitted);
    assert_eq!(first, drawn(&results));
    for figure in &first.figures {
        check(figure, "full");
        assert!(figure.picture.svg().contains("font-family=\"sans-serif\""));
    }
}

#[test]
fn nothing_measured_is_nothing_drawn() {
    let mut results = results(&SCENARIO.replace("repeat: 5", "repeat: 2"));
    results.cells.clear();
    results.comparisons.clear();
    let drawn = drawn(&results);
    assert!(drawn.figures.is_empty());
    assert_eq!(drawn.omitted.len(), names().count());
    assert!(drawn.omitted.iter().all(|omitted| omitted.why == "no run completed"), "{:?}", drawn.omitted);
}

#[test]
fn figures_can_be_chosen() {
    let results = results(&SCENARIO.replace("repeat: 5", "repeat: 2"));
    let chosen = draw(&results, &["breakdown".to_owned()]);
    assert_eq!((chosen.figures.len(), chosen.omitted.len()), (1, 0));
}

#[test]
fn one_policy_has_its_configurations_as_rows() {
    let text = SCENARIO.replace("[LOAD, PIN, gang]", "[PIN]").replace("repeat: 5", "repeat: 2");
    let drawn = drawn(&results(&text));
    for figure in &drawn.figures {
        check(figure, "lone");
    }
    let speedup = drawn.omitted.iter().find(|omitted| omitted.name == "speedup").unwrap();
    assert!(speedup.why.contains("needs two policies"));
    let slowdown = &drawn.figures[0];
    assert!(slowdown.about.contains("2\u{a0}seeds"), "{}", slowdown.about);
    assert!(slowdown.picture.svg().contains("rows: threads per core"), "{}", slowdown.picture.svg());
}

#[test]
fn one_seed_has_no_intervals_and_no_distribution() {
    let drawn = drawn(&results(&SCENARIO.replace("repeat: 5", "repeat: 1")));
    for figure in &drawn.figures {
        check(figure, "single");
    }
    assert!(drawn.omitted.iter().any(|omitted| omitted.name == "run-time"));
    let slowdown = &drawn.figures[0];
    assert!(slowdown.about.contains("no\u{a0}intervals"), "{}", slowdown.about);
    let lo = slowdown.data.header.iter().position(|name| *name == "ci95_lo").unwrap();
    assert!(slowdown.data.rows.iter().all(|row| row[lo].is_empty()));
}

/// The result with policies of other names, each of the old ones several times.
fn renamed(results: &Results, names: &[String]) -> Results {
    let old = results.provenance.policies.clone();
    let mut new = results.clone();
    new.provenance.policies = names.to_vec();
    new.provenance.stacks = names.to_vec();
    new.cells.retain(|cell| !old.contains(&cell.policy));
    new.comparisons.clear();
    for (at, name) in names.iter().enumerate() {
        let source = &old[at % old.len()];
        let cells = results.cells.iter().filter(|cell| cell.policy == *source);
        new.cells.extend(cells.cloned().map(|mut cell| {
            cell.policy.clone_from(name);
            cell
        }));
        let twin = &old[1 + at % (old.len() - 1)];
        let compared = results.comparisons.iter().filter(|c| at > 0 && c.policy == *twin);
        new.comparisons.extend(compared.cloned().map(|mut comparison| {
            comparison.policy.clone_from(name);
            comparison.baseline.clone_from(&names[0]);
            comparison
        }));
    }
    new
}

#[test]
fn twelve_policies_with_long_names_fit() {
    let results = results(&SCENARIO.replace("repeat: 5", "repeat: 3"));
    let names: Vec<String> =
        (0..12).map(|n| format!("SPEED-over-DWRR-with-a-long-interval-and-a-label-{n}")).collect();
    let drawn = drawn(&renamed(&results, &names));
    assert_eq!(drawn.figures.len(), figures::names().count());
    for figure in &drawn.figures {
        check(figure, "twelve");
    }
}

#[test]
fn a_huge_range_gets_a_logarithmic_axis() {
    let mut results = results(&SCENARIO.replace("repeat: 5", "repeat: 3"));
    for cell in results.cells.iter_mut().filter(|cell| cell.policy == "LOAD" && cell.metric == "slowdown") {
        let s = &mut cell.summary;
        (s.mean, s.median, s.min, s.max) = (s.mean * 1e4, s.median * 1e4, s.min * 1e4, s.max * 1e4);
        s.ci95 = s.ci95.map(|ends| ends.map(|end| end * 1e4));
    }
    let drawn = drawn(&results);
    for figure in &drawn.figures {
        check(figure, "huge");
    }
    let slowdown = drawn.figures.iter().find(|figure| figure.name == "slowdown").unwrap();
    let slowdown = written(&slowdown.picture.svg());
    assert!(slowdown.iter().any(|one| one.text == "1000"), "no powers of ten");
}

#[test]
fn pairs_of_programs_make_a_map_per_policy_and_application() {
    let text = SCENARIO.replace(
        "sweep: { threads_per_core: [1, 2] }",
        "sweep:\n  apps.fine.workload.work: [20ms, 40ms]\n  apps.coarse.workload.work: [30ms, 60ms]",
    );
    let drawn = drawn(&results(&text.replace("repeat: 5", "repeat: 2")));
    let map = drawn.figures.iter().find(|figure| figure.name == "heatmap").unwrap();
    check(map, "pairs");
    assert_eq!(map.data.rows.len(), 2 * 3 * 4, "applications x policies x pairs");
    assert!(map.title.starts_with("Slowdown") && map.title.contains("beside"), "{}", map.title);
    // Without runs alone each program is compared with itself, and the picture says so.
    let text = text.replace("repeat: 5", "repeat: 2\nbaseline: none");
    let map = figure(&results(&text), "heatmap");
    check(&map, "pairs without runs alone");
    assert!(map.title.starts_with("Run time / shortest of the same program: up to "), "{}", map.title);
    assert!(map.about.contains("divided by the shortest one of the same program"), "{}", map.about);
}

/// The figure of this name.
fn figure(results: &Results, name: &str) -> Figure {
    draw(results, &[name.to_owned()]).figures.swap_remove(0)
}

/// A program alone, swept as given.
fn swept(sweep: &str, policies: &str) -> Results {
    results(&format!(
        "name: swept\nmachine: \"core:4\"\nbaseline: none\nrepeat: 2\npolicies: [{policies}]\nsweep: {{ \
            {sweep} }}\napps:\n  \
         code: {{ workload: {{ spmd: {{ work: 40ms, intervals: 20, spread: 20% }} }}, runtime: block }}\n"
    ))
}

/// The texts of a picture that are one of these, with their places.
fn found(figure: &Figure, wanted: &[&str]) -> Vec<Written> {
    written(&figure.picture.svg()).into_iter().filter(|one| wanted.contains(&one.text.as_str())).collect()
}

#[test]
fn two_parameters_make_a_grid_with_names_at_its_edges() {
    let results =
        swept("apps.code.runtime: [spin, yield, block, upc], threads_per_core: [1, 2]", "LOAD, PIN, SPEED");
    for name in ["slowdown", "speedup", "breakdown", "run-time", "barrier"] {
        let figure = figure(&results, name);
        check(&figure, "grid");
        let columns = ["spin", "yield", "block", "upc"].map(|value| format!("code.runtime={value}"));
        let columns = found(&figure, &columns.each_ref().map(String::as_str));
        let rows = found(&figure, &["threads_per_core=1", "threads_per_core=2"]);
        assert_eq!((columns.len(), rows.len()), (4, 2), "{name}: each name once");
        assert!(columns.windows(2).all(|pair| pair[0].covers[0] < pair[1].covers[0]), "{name}");
        assert!(columns.iter().all(|column| (column.covers[1] - columns[0].covers[1]).abs() < 1.0), "{name}");
        assert!(rows[0].covers[1] < rows[1].covers[1] && rows[0].covers[0] < columns[0].covers[0], "{name}");
        assert_eq!(found(&figure, &["PIN"]).len(), 2, "{name}: policies are named once for each row");
    }
}

#[test]
fn three_parameters_are_a_grid_of_curves_and_four_are_refused() {
    let three = "apps.code.workload.grain: [500us, 2ms, 8ms], threads_per_core: [1, 2], apps.code.runtime: \
        [spin, block]";
    let drawn = drawn(&swept(three, "LOAD, PIN"));
    for figure in &drawn.figures {
        check(figure, "three");
    }
    let sweep = drawn.figures.iter().find(|figure| figure.name == "sweep").unwrap();
    assert!(sweep.picture.svg().contains("grain of code (ms) (log scale)"), "the numeric one lies along");
    assert_eq!(found(sweep, &["threads_per_core=1", "threads_per_core=2"]).len(), 2);
    assert_eq!(found(sweep, &["code.runtime=spin", "code.runtime=block"]).len(), 2);
    let four = format!("{three}, apps.code.workload.spread: [5%, 10%]");
    let drawn = draw(&swept(&four, "LOAD, PIN"), &["slowdown".to_owned(), "sweep".to_owned()]);
    assert!(drawn.figures.is_empty());
    for omitted in drawn.omitted {
        assert!(
            omitted.why.contains("4 parameters are swept") && omitted.why.contains("--set"),
            "{}",
            omitted.why
        );
    }
}

#[test]
fn durations_lie_on_a_numeric_axis() {
    let results =
        swept("apps.code.runtime: [{openmp: {block_time: 0s}}, {openmp: {block_time: 1ms}}]", "PIN");
    assert!(!figure(&results, "sweep").picture.svg().contains("log scale"), "names have no scale");
    let results = swept("machine.switch_thread: [1us, 10us, 1ms]", "PIN, LOAD");
    let sweep = figure(&results, "sweep");
    check(&sweep, "durations");
    let middle = |one: &Written| f64::midpoint(one.covers[0], one.covers[2]);
    let mut labels = found(&sweep, &["1", "10", "1000"]);
    // Those of the upright axis stand higher.
    let lowest = labels.iter().map(|one| one.covers[1]).fold(0.0, f64::max);
    labels.retain(|one| (one.covers[1] - lowest).abs() < 1.0);
    let mut places: Vec<f64> = labels.iter().map(middle).collect();
    places.sort_by(f64::total_cmp);
    let ratio = (places[2] - places[1]) / (places[1] - places[0]);
    assert!((ratio - 2.0).abs() < 0.05, "two powers of ten take twice the room of one: {places:?}");
    let name = "context switch between threads of one process (µs) (log scale)";
    assert!(sweep.picture.svg().contains(name), "{}", sweep.picture.svg());
}

#[test]
fn one_program_has_no_throughput_but_copies_of_it_have() {
    let alone = "name: lone\nmachine: \"core:4\"\npolicies: [LOAD, PIN]\napps:\n  code: { workload: { spmd: \
        { work: 40ms } } }\n";
    let why = |text: &str| draw(&results(text), &["throughput".to_owned()]).omitted;
    assert_eq!(why(alone)[0].why, "needs two applications");
    assert!(why(&alone.replace("} } }", "} }, copies: 2 }")).is_empty());
}

#[test]
fn two_numbers_are_not_joined_by_a_curve() {
    let pair = figure(&swept("apps.code.tasks: [5, 7]", "PIN, LOAD"), "sweep");
    check(&pair, "pair");
    assert!(pair.about.contains("the course between the two values is not known"), "{}", pair.about);
    let many = figure(&swept("apps.code.tasks: [5, 6, 7]", "PIN, LOAD"), "sweep");
    assert!(!many.about.contains("not known"), "{}", many.about);
    // The first series.
    let thick = |figure: &Figure| {
        figure
            .picture
            .svg()
            .lines()
            .any(|line| line.contains("stroke=\"#0072B2\"") && line.contains("stroke-width=\"2\""))
    };
    assert!(thick(&many) && !thick(&pair), "a curve is two pixels thick");
}

#[test]
fn the_best_policy_comes_first_and_references_last_in_every_figure() {
    let results = results(&SCENARIO.replace("repeat: 5", "repeat: 3"));
    let mean = |policy: &str| {
        let own = results.cells.iter().filter(|c| c.policy == policy && c.metric == "throughput");
        own.map(|c| c.summary.mean.ln()).sum::<f64>()
    };
    let mut best = ["LOAD", "PIN", "gang"];
    best.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    assert_ne!(best, ["LOAD", "PIN", "gang"], "else the order of the scenario would do");
    let order: Vec<&str> = best.into_iter().chain(["fair share", "dedicated"]).collect();
    // A phase diagram has its policies by cells, and effects have none.
    let others = |figure: &Figure| !["phase", "effects"].contains(&figure.name);
    for figure in drawn(&results).figures.into_iter().filter(others) {
        let mut rows = found(&figure, &order);
        let (left, top) = (|one: &Written| one.covers[0], |one: &Written| one.covers[1]);
        if figure.name == "sweep" {
            rows.sort_by(|a, b| left(a).total_cmp(&left(b)));
        } else {
            rows.sort_by(|a, b| top(a).total_cmp(&top(b)));
        }
        let names: Vec<&str> = rows.iter().map(|one| one.text.as_str()).collect();
        let shown: Vec<&str> = order.iter().copied().filter(|name| names.contains(name)).collect();
        let first = &names[..shown.len()];
        assert_eq!(first, shown, "{}", figure.name);
        assert!(figure.about.contains("best policy first"), "{}", figure.about);
    }
}

#[test]
fn a_map_of_the_same_work_shows_run_times_and_others_say_what_they_are_relative_to() {
    let mut results = swept("threads_per_core: [1, 2]", "PIN, LOAD");
    let same = figure(&results, "heatmap");
    check(&same, "same work");
    assert!(same.title.starts_with("Run time: from "), "{}", same.title);
    let least = results
        .cells
        .iter()
        .filter(|c| c.metric == "run_time" && ["PIN", "LOAD"].contains(&c.policy.as_str()));
    let least = least.map(|c| c.summary.mean).fold(f64::INFINITY, f64::min);
    let shown = same.data.rows.iter().map(|row| row[3].parse::<f64>().unwrap()).fold(f64::INFINITY, f64::min);
    assert!((least - shown).abs() < 1e-12, "the values are run times");
    assert!(!same.picture.svg().contains("log scale"));
    for cell in results.cells.iter_mut().filter(|c| c.metric == "run_time" && c.policy == "LOAD") {
        cell.summary.mean *= 50.0;
    }
    assert!(figure(&results, "heatmap").picture.svg().contains("(log scale); darker is slower"));
    let other = figure(&swept("apps.code.workload.work: [20ms, 80ms]", "PIN, LOAD"), "heatmap");
    check(&other, "other work");
    assert!(other.title.starts_with("Run time / shortest of its column: up to "), "{}", other.title);
    assert!(other.about.contains("because the work differs"), "{}", other.about);
    assert!(other.picture.svg().contains("run time / shortest of its column; darker"));
}

#[test]
fn run_times_of_different_work_come_with_a_warning() {
    let other = swept("apps.code.workload.work: [20ms, 80ms]", "PIN, LOAD");
    let same = swept("threads_per_core: [1, 2]", "PIN, LOAD");
    for name in ["slowdown", "sweep", "run-time"] {
        assert!(figure(&other, name).about.contains("the work differs"), "{name}");
        assert!(!figure(&same, name).about.contains("the work differs"), "{name}");
    }
}

#[test]
fn titles_take_two_lines_whatever_the_names() {
    let mut results = swept(
        "apps.code.runtime: [{openmp: {block_time: 200ms}}, {openmp: {block_time: infinite}}], \
            threads_per_core: [1, 2]",
        "PIN, LOAD",
    );
    results.provenance.sweep[1].path = "a.very.long.path.of_a_parameter_whose_name_is_long".into();
    for figure in drawn(&results).figures {
        check(&figure, "long");
        let svg = figure.picture.svg();
        let bold = svg.split("<text").filter(|text| text.contains("font-weight=\"bold\""));
        let sizes = bold.filter_map(|text| attribute(text, "font-size").parse::<f64>().ok());
        let lines = sizes.filter(|size| *size > 12.0).count();
        assert!((1..=2).contains(&lines), "{}: {lines} lines", figure.name);
    }
}

#[test]
fn numbers_of_neighbouring_panels_stay_apart() {
    let breakdown = figure(&results(&SCENARIO.replace("repeat: 5", "repeat: 1")), "breakdown");
    let mut ends = found(&breakdown, &["0", "100"]);
    ends.retain(|one| one.covers[1] > ends_of(&breakdown));
    ends.sort_by(|a, b| a.covers[0].total_cmp(&b.covers[0]));
    let texts: Vec<&str> = ends.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["0", "100", "0", "100"]);
    assert!(
        ends[2].covers[0] - ends[1].covers[2] > 12.0,
        "too close: {:?} {:?}",
        ends[1].covers,
        ends[2].covers
    );
}

/// Below the bars of a picture.
fn ends_of(figure: &Figure) -> f64 {
    found(figure, &["LOAD", "PIN", "gang"]).iter().map(|one| one.covers[3]).fold(0.0, f64::max)
}

#[test]
fn parts_of_the_breakdown_have_the_names_of_the_tables() {
    let breakdown = figure(&results(&SCENARIO.replace("repeat: 5", "repeat: 1")), "breakdown");
    let known: Vec<&str> = experiment::statements::causes::PARTS.iter().map(|part| part.name).collect();
    let shown = found(&breakdown, &[&known[..], &["other overhead"]].concat());
    assert!(
        shown.len() >= 3 && shown[0].text == "useful work",
        "{:?}",
        shown.iter().map(|s| &s.text).collect::<Vec<_>>()
    );
}

#[test]
fn figures_of_papers_and_slides_have_their_size_and_nothing_is_cut() {
    let results = results(SCENARIO);
    for (target, width) in [
        (Target::Paper(85.0), "85mm"),
        (Target::Paper(180.0), "180mm"),
        (Target::Paper(75.0), "75mm"),
        (Target::Slide, "338.67mm"),
    ] {
        let drawn = figures::drawn(&results, &Asked { target, ..Asked::default() });
        assert_eq!(drawn.figures.len(), names().count(), "{:?}", drawn.omitted);
        for figure in &drawn.figures {
            check(figure, width);
            let svg = figure.picture.svg();
            assert_eq!(attribute(&svg, "width"), width, "{}", figure.name);
            let slide = target == Target::Slide;
            assert!(!slide || attribute(&svg, "height") == "190.5mm", "{}", figure.name);
            let said = |one: &Written| one.text.len() > 3 && figure.title.starts_with(&one.text);
            assert!(slide || !written(&svg).iter().any(said), "{}: {}", figure.name, figure.title);
            assert!(!svg.contains(&results.provenance.digest[..16]), "{}", figure.name);
            let pdf = figure.picture.pdf().unwrap();
            assert_eq!(pdf, figure.picture.pdf().unwrap());
        }
    }
}

#[test]
fn the_caption_has_what_the_picture_leaves_out() {
    let results = results(&SCENARIO.replace("repeat: 5", "repeat: 2"));
    let figure = figure(&results, "slowdown");
    let command = "oversim plot small.yaml --for paper";
    let of = |width| {
        let included = Included { figure: &figure, file: "f/slowdown.pdf", width, command };
        latex(&included, &results)
    };
    let one = of(85.0);
    assert!(one.starts_with(&format!("% {command}\n\\begin{{figure}}\n")), "{one}");
    assert!(one.contains("\\includegraphics[width=85mm]{f/slowdown.pdf}\n"), "{one}");
    let digest = &results.provenance.digest[..16];
    for wanted in [digest, "2~seeds", "linux-6.18", "95 \\% interval", "\\label{fig:slowdown}"] {
        assert!(one.contains(wanted), "{wanted}: {one}");
    }
    assert!(of(180.0).contains("\\begin{figure*}"));
}

#[test]
fn what_has_no_news_is_drawn_only_if_asked_for() {
    let calm = "name: calm\nmachine: \"core:2\"\nrepeat: 2\npolicies: [PIN, LOAD]\nbaseline: none\n\
        sweep: { threads_per_core: [1, 2] }\n\
        apps:\n  code: { workload: { spmd: { work: 400ms } } }\n";
    let mut results = results(calm);
    for cell in results.cells.iter_mut().filter(|cell| cell.metric == "run_time") {
        (cell.summary.min, cell.summary.max) = (cell.summary.mean, cell.summary.mean);
    }
    let all = drawn(&results);
    let why = |name: &str| {
        let found = all.omitted.iter().find(|omitted| omitted.name == name);
        found.map(|omitted| omitted.why.clone()).unwrap_or_default()
    };
    assert_eq!(why("effects"), "4 values are too few for shares of their variance");
    assert_eq!(why("run-time"), "all seeds have the same run times", "{:?}", all.omitted);
    for name in ["effects", "run-time"] {
        assert_eq!(draw(&results, &[name.to_owned()]).figures.len(), 1, "{name}");
    }
}

#[test]
fn the_figure_of_the_objective_comes_first() {
    for (objective, name) in
        [("turnaround", "turnaround"), ("throughput", "throughput"), ("makespan", "makespan")]
    {
        let text = format!("objective: {objective}\n{}", SCENARIO.replace("repeat: 5", "repeat: 2"));
        let all = drawn(&results(&text));
        assert_eq!(all.figures[0].name, name, "{:?}", all.omitted);
        assert_eq!(all.figures.iter().filter(|figure| figure.name == name).count(), 1);
    }
}

#[test]
fn curves_that_lie_on_one_another_are_one_with_both_names() {
    let mut results = swept("apps.code.tasks: [5, 6, 7]", "PIN, LOAD");
    let apart = figure(&results, "sweep");
    assert!(!apart.about.contains('='), "{}", apart.about);
    let pin: Vec<f64> = results
        .cells
        .iter()
        .filter(|cell| cell.policy == "PIN" && cell.metric == "run_time" && cell.app == "code")
        .map(|cell| cell.summary.mean)
        .collect();
    let load = results
        .cells
        .iter_mut()
        .filter(|cell| cell.policy == "LOAD" && cell.metric == "run_time" && cell.app == "code");
    for (cell, mean) in load.zip(&pin) {
        cell.summary.mean = mean * 1.001;
    }
    let one = figure(&results, "sweep");
    let legend = found(&one, &["PIN = LOAD", "LOAD = PIN"]);
    assert_eq!(legend.len(), 1, "{}", one.picture.svg());
    assert!(one.about.contains("differ nowhere by more than 0.25 %"), "{}", one.about);
}

#[test]
fn numbers_have_a_column_for_each_parameter_and_no_commas() {
    let results = swept("apps.code.workload.grain: [500us, 2ms], threads_per_core: [1, 2]", "PIN, LOAD");
    for name in ["sweep", "run-time", "slowdown"] {
        let csv = figure(&results, name).data.csv().unwrap();
        let mut lines = csv.lines();
        let head = lines.next().unwrap();
        assert!(head.ends_with(",apps.code.workload.grain,threads_per_core"), "{name}: {head}");
        let fields = head.split(',').count();
        assert!(lines.clone().all(|line| line.split(',').count() == fields && !line.contains('"')), "{csv}");
        assert!(lines.next().unwrap().ends_with(",0.0005,1"), "{csv}");
    }
}
