//! Figures of small results: which are drawn, that nothing overlaps or is cut, that bytes repeat.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drawing::{font, png};
use experiment::result::Results;
use experiment::run::run;
use experiment::scenario::{Overrides, load};
use figures::{Drawn, Figure, draw, names};

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
    draw(results, &[]).unwrap()
}

/// A text of a picture and the pixels that it covers: left, top, right, bottom.
struct Written {
    text: String,
    covers: [f64; 4],
}

fn attribute(tag: &str, name: &str) -> String {
    let start = format!(" {name}=\"");
    tag.split_once(&start).map(|(_, rest)| rest.split('"').next().unwrap().to_owned()).unwrap_or_default()
}

fn size(svg: &str) -> (f64, f64) {
    let head = svg.lines().next().unwrap();
    (attribute(head, "width").parse().unwrap(), attribute(head, "height").parse().unwrap())
}

fn written(svg: &str) -> Vec<Written> {
    let texts = svg.split("<text").skip(1).map(|rest| rest.split_once('>').unwrap());
    let text = |(tag, rest): (&str, &str)| {
        let number = |name: &str| attribute(tag, name).parse::<f64>().unwrap() / 4.0;
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        let text = rest.split('<').next().unwrap().trim();
        let text = text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        let bold = attribute(tag, "font-weight") == "bold";
        let wide = if bold { font::bold_width(&text, size) } else { font::width(&text, size) };
        let from = match attribute(tag, "text-anchor").as_str() {
            "end" => wide,
            "middle" => wide / 2.0,
            _ => 0.0,
        };
        // Capital letters are 0.73 of the font size high, and stand around the configuration.
        let half = size * 0.38;
        let covers = if attribute(tag, "transform").is_empty() {
            [x - from, y - half, x - from + wide, y + half]
        } else {
            [x - half, y - wide + from, x + half, y + from]
        };
        Written { text, covers }
    };
    texts.map(text).collect()
}

/// Every text lies within the picture and on no other one.
fn check(figure: &Figure, of: &str) {
    let (width, height) = size(&figure.svg);
    let texts = written(&figure.svg);
    assert!(texts.len() > 5, "{of} {}: {} texts", figure.name, texts.len());
    for (at, one) in texts.iter().enumerate() {
        let [left, top, right, bottom] = one.covers;
        let inside = left >= 0.0 && top >= 0.0 && right <= width && bottom <= height;
        assert!(
            inside,
            "{of} {}: `{}` is cut: {:?} of {width} x {height}",
            figure.name, one.text, one.covers
        );
        for other in &texts[..at] {
            let [l, t, r, b] = other.covers;
            let apart = right <= l || r <= left || bottom <= t || b <= top;
            assert!(apart, "{of} {}: `{}` lies on `{}`", figure.name, one.text, other.text);
        }
    }
    assert!(!figure.data.rows.is_empty(), "{of} {}: no numbers", figure.name);
    assert!(figure.data.rows.iter().all(|row| row.len() == figure.data.header.len()));
    let picture = png::from_svg(&figure.svg, 0.5).unwrap();
    assert!(picture.len() > 2000, "{of} {}: an empty picture", figure.name);
}

#[test]
fn a_full_result_has_all_figures_and_the_same_bytes_twice() {
    let results = results(SCENARIO);
    let first = drawn(&results);
    let kinds: Vec<&str> = first.figures.iter().map(|figure| figure.name).collect();
    assert_eq!(kinds, names().collect::<Vec<_>>(), "{:?}", first.omitted);
    assert_eq!(first, drawn(&results));
    for figure in &first.figures {
        check(figure, "full");
        assert!(figure.svg.contains("font-family=\"sans-serif\""));
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
    assert!(drawn.omitted.iter().all(|omitted| !omitted.why.is_empty()));
}

#[test]
fn figures_can_be_chosen() {
    let results = results(&SCENARIO.replace("repeat: 5", "repeat: 2"));
    let chosen = draw(&results, &["account".to_owned()]).unwrap();
    assert_eq!((chosen.figures.len(), chosen.omitted.len()), (1, 0));
}

#[test]
fn one_policy_has_its_points_as_rows() {
    let text = SCENARIO.replace("[LOAD, PIN, gang]", "[PIN]").replace("repeat: 5", "repeat: 2");
    let drawn = drawn(&results(&text));
    for figure in &drawn.figures {
        check(figure, "lone");
    }
    let speedup = drawn.omitted.iter().find(|omitted| omitted.name == "speedup").unwrap();
    assert!(speedup.why.contains("only one policy"));
    let slowdown = &drawn.figures[0];
    assert!(slowdown.about.contains("2\u{a0}replicates"), "{}", slowdown.about);
    assert!(slowdown.svg.contains("rows: threads_per_core"), "{}", slowdown.svg);
}

#[test]
fn one_replicate_has_no_intervals_and_no_distribution() {
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
    let slowdown = written(&drawn.figures[0].svg);
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
    assert!(map.title.contains("beside") || map.title.contains("disturb"), "{}", map.title);
}
