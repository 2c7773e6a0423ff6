//! No sentence about a response contradicts its values: sentences about thousands of small random responses
//! are read back and computed again.
//!
//! `OVERSIM_SWARM=100000` makes as many responses, `OVERSIM_SEED=7` begins there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use crate::splitmix::Random;
use experiment::response::map::{Map, MapCell};
use experiment::response::{Point, Response, effects, regions};
use scenario::configuration::Axis;

/// Responses of a usual run.
const USUAL: u64 = 4_000;
/// Student's t, two-sided 95 %, for 1 to 4 degrees of freedom.
const T: [f64; 4] = [12.706_204_736, 4.302_652_730, 3.182_446_305, 2.776_445_105];

const AXES: [(&str, &[&str]); 4] = [
    ("threads_per_core", &["1", "2", "4", "8", "3"]),
    ("apps.cg.runtime", &["spin", "yield", "block"]),
    ("machine.switch_thread", &["2ms", "500us", "8ms", "10ms", "1us", "40ms"]),
    ("kernel.yield", &["cfs", "posix"]),
];
const POLICIES: [&str; 4] = ["LOAD", "PIN", "gang", "SPEED"];

/// A random response: ties, holes, failed runs, one to five seeds, one to three axes.
fn response(random: &mut Random) -> Response {
    let mut axes: Vec<Axis> = Vec::new();
    for (path, values) in AXES {
        if axes.len() < 3 && random.chance(0.6) {
            let count = 2 + random.below(values.len() - 1);
            axes.push(Axis::new(path, values[..count].iter().map(|value| (*value).to_owned()).collect()));
        }
    }
    if axes.is_empty() {
        axes.push(Axis::new("threads_per_core", vec!["1".into(), "2".into()]));
    }
    let policies = 2 + random.below(3);
    let replicates = random.pick(&[1, 2, 3, 5]);
    let (hole, failed) = (random.pick(&[0.0, 0.0, 0.1, 0.6]), random.pick(&[0.0, 0.0, 0.05, 0.4]));
    // Small integers make ties; a slope makes regions.
    let (levels, noise, slope) =
        (random.pick(&[1, 2, 4, 50]), random.pick(&[0, 1, 3]), random.pick(&[0, 1, 5]));
    let metric = random.pick(&["makespan", "makespan", "throughput", "migrations"]);
    let least = if metric == "migrations" { 0.0 } else { 1.0 };
    let mut places: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in &axes {
        let all =
            (0..axis.values.len()).flat_map(|at| places.iter().map(move |of| [&of[..], &[at]].concat()));
        places = all.collect();
    }
    let mut points = Vec::new();
    for places in places {
        if random.chance(hole) {
            continue;
        }
        let mut values = Vec::new();
        for policy in 0..policies {
            let level = random.below(levels) + slope * policy * places[0];
            let value = |random: &mut Random| {
                let value = (level + random.below(noise + 1)) as f64 + least;
                (!random.chance(failed)).then_some(value)
            };
            values.push((0..replicates).map(|_| value(random)).collect());
        }
        points.push(Point { places, values });
    }
    Response {
        scenario: "random".into(),
        axes,
        policies: POLICIES[..policies].iter().map(|name| (*name).to_owned()).collect(),
        app: "all".into(),
        metric: metric.into(),
        unit: "s".into(),
        points,
        ..Response::default()
    }
}

/// What a test knows of a configuration: the best policy, and whether it is significantly ahead of the second
/// one (`None`: no interval), if there is a second one.
type Known = Option<(usize, Option<Option<bool>>)>;

/// The winner of a configuration, from its values alone.
fn known(response: &Response, at: usize) -> Known {
    let values = &response.points[at].values;
    let sign = if response.metric == "throughput" { -1.0 } else { 1.0 };
    let done = |of: &[Option<f64>]| of.iter().flatten().count();
    let most = values.iter().map(|of| done(of)).max().filter(|most| *most > 0)?;
    let mean = |of: &[Option<f64>]| of.iter().flatten().sum::<f64>() / done(of) as f64;
    let part = (0..values.len()).filter(|policy| done(&values[*policy]) == most);
    let mut ranked: Vec<(f64, usize)> = part.map(|policy| (sign * mean(&values[policy]), policy)).collect();
    ranked.sort_by(|a, b| if (a.0 - b.0).abs() < 1e-9 { a.1.cmp(&b.1) } else { a.0.total_cmp(&b.0) });
    let best = ranked[0].1;
    let Some((_, second)) = ranked.get(1) else { return Some((best, None)) };
    let pairs: Vec<(f64, f64)> =
        values[best].iter().zip(&values[*second]).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    // How much worse the second one is: logarithms where there is no zero.
    let logs = pairs.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
    let worse = |(a, b): &(f64, f64)| sign * if logs { (b / a).ln() } else { b - a };
    let worse: Vec<f64> = pairs.iter().map(worse).collect();
    let count = worse.len() as f64;
    if worse.len() < 2 {
        return Some((best, Some(None)));
    }
    let mean = worse.iter().sum::<f64>() / count;
    let variance = worse.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    Some((best, Some(Some(mean - T[worse.len() - 2] * (variance / count).sqrt() > 1e-9))))
}

/// Whether a condition, such as `switch_thread <= 2ms`, holds for a configuration.
fn holds(response: &Response, condition: &str, at: usize) -> bool {
    let (name, rest) = condition.split_once(' ').unwrap();
    let axis = response.names().iter().position(|known| known == name).unwrap();
    let place = response.points[at].places[axis];
    let number = |text: &str| {
        let values = &response.axes[axis].values;
        let known = values.iter().position(|value| value == text).unwrap_or_else(|| panic!("{text}"));
        response.axes[axis].numbers.as_ref().unwrap()[known]
    };
    let own = || number(&response.axes[axis].values[place]);
    if let Some(value) = rest.strip_prefix("<= ") {
        return own() <= number(value);
    }
    if let Some(value) = rest.strip_prefix(">= ") {
        return own() >= number(value);
    }
    if let Some(range) = rest.strip_prefix("from ") {
        let (low, high) = range.split_once(" to ").unwrap();
        return (number(low)..=number(high)).contains(&own());
    }
    let values = rest.strip_prefix("= ").unwrap_or_else(|| panic!("{condition}"));
    values.split(" or ").flat_map(|part| part.split(", ")).any(|v| v == response.axes[axis].values[place])
}

/// The cells that a description of a region means: `for a <= 2 with b = 1, and for a = 4`.
fn described<'a>(response: &Response, cells: &[&'a MapCell], text: &str) -> Vec<&'a MapCell> {
    let part = |text: &str, at: usize| text.split(" with ").all(|condition| holds(response, condition, at));
    let any = |at: usize| text.split(", and for ").any(|one| part(one.trim_start_matches("for "), at));
    let inside = |cell: &&&MapCell| {
        let all = cell.points.iter().filter(|at| any(**at)).count();
        assert!(all == 0 || all == cell.points.len(), "{text} divides a cell");
        all > 0
    };
    cells.iter().filter(inside).copied().collect()
}

/// Checks `P is best for ... (3 configurations, 1 not significant); Q is best elsewhere (...)` of a panel.
fn body(response: &Response, map: &Map, panel: usize, text: &str) {
    let cells: Vec<&MapCell> =
        map.cells.iter().filter(|cell| cell.panel == panel && cell.winner.is_some()).collect();
    let mut named: BTreeSet<usize> = BTreeSet::new();
    for clause in text.split("; ") {
        let (head, counts) = clause.trim_end_matches(')').rsplit_once(" (").unwrap();
        let (policy, place) = head.split_once(" is best ").unwrap();
        let policy = response.policies.iter().position(|known| known == policy).unwrap();
        let own: Vec<&MapCell> =
            cells.iter().filter(|c| c.winner.as_ref().unwrap().best == policy).copied().collect();
        let number = |text: &str| text.split(' ').next().unwrap().parse::<usize>().unwrap();
        let (count, unsure) = counts.split_once(", ").unwrap_or((counts, "0"));
        assert_eq!(number(count), own.len(), "{clause}");
        let doubtful = own.iter().filter(|cell| {
            cell.winner.as_ref().unwrap().margin.is_some_and(|m| m.significant == Some(false))
        });
        assert_eq!(number(unsure), doubtful.count(), "{clause}");
        if place == "everywhere" {
            assert_eq!(own.len(), cells.len(), "{clause}");
        } else if place == "elsewhere" {
            let others = cells.iter().map(|cell| cell.winner.as_ref().unwrap().best);
            assert!(others.into_iter().all(|best| best == policy || named.contains(&best)), "{clause}");
        } else if let Some(range) = place.strip_prefix("in some of the cells with ") {
            let around = described(response, &cells, &range.replace(" and ", " with "));
            assert!(own.iter().all(|cell| around.contains(cell)), "{clause}");
        } else if place != "in scattered cells" {
            assert_eq!(described(response, &cells, place), own, "{clause}");
        }
        named.insert(policy);
    }
}

/// Checks a sentence about the regions of panels.
fn region(response: &Response, map: &Map, text: &str) {
    let text = text.trim_end_matches('.');
    let Some((settings, text)) = text.strip_prefix("With ").and_then(|rest| rest.split_once(": ")) else {
        return body(response, map, 0, text);
    };
    let settings = settings.trim_end_matches(", for each");
    for setting in settings.split(" and with ").flat_map(|part| part.split(", with ")) {
        let wanted: Vec<&str> = setting.split(" and ").collect();
        let panel = map.panels.iter().position(|panel| *panel == wanted);
        body(response, map, panel.unwrap_or_else(|| panic!("{setting} in {:?}", map.panels)), text);
    }
}

/// Checks the first sentence and those about significance against values and cells.
fn counts(response: &Response, map: &Map, sentences: &[String]) {
    let cells = map.winners();
    let of = |policy: usize| cells.iter().filter(|(_, winner)| winner.best == policy).count();
    for (at, policy) in response.policies.iter().enumerate() {
        let first = &sentences[0];
        let count = of(at);
        let named = first.contains(&format!(" {policy} in {count}"))
            || first.contains(&format!(" {policy} is best in {count} of {}", cells.len()))
            || first.contains(&format!(" {policy} is best in all {count}"));
        assert_eq!(named, count > 0, "{policy}: {first}");
    }
    if !map.is_exact() {
        return;
    }
    let own: Vec<_> = map.cells.iter().filter_map(|cell| known(response, cell.points[0])).collect();
    let said = |begin: &str, end: &str| {
        let found = sentences.iter().find(|text| text.starts_with("In ") && text.contains(end));
        found.map_or(0, |text| text[begin.len()..].split(' ').next().unwrap().parse::<usize>().unwrap())
    };
    let unsure = own.iter().filter(|(_, margin)| *margin == Some(Some(false))).count();
    assert_eq!(said("In ", "not significantly ahead"), unsure, "{sentences:?}");
    let alone = own.iter().filter(|(_, margin)| margin.is_none()).count();
    assert_eq!(said("In ", "only the best policy"), alone, "{sentences:?}");
    assert_eq!(said("In ", "no run completed"), map.cells.len() - own.len(), "{sentences:?}");
}

/// Checks that percentages of effects are those of the shares.
fn shares(response: &Response, found: &effects::Effects) {
    for sentence in found.sentences(response) {
        let share = |name: &str| {
            let share = found.shares.iter().find(|share| share.name == name);
            share.unwrap_or_else(|| panic!("{name}: {sentence}")).share
        };
        let sentence = sentence.trim_end_matches('.');
        for part in sentence.replace(" and ", ", ").split(", ").flat_map(|part| part.split("; ")) {
            let part = part.replace(" explains ", " ").replace(" adds ", " ").replace(" cause ", " ");
            let part = part.trim_start_matches("Of interactions, ");
            let skipped = ["the other", "each of the other", "no ", "No "];
            if !part.ends_with(" %") || skipped.iter().any(|begin| part.starts_with(begin)) {
                continue;
            }
            let (name, percent) = part.trim_end_matches(" %").rsplit_once(' ').unwrap();
            let name = if name == "Seeds" { "seeds" } else { name };
            assert_eq!(effects::percent(share(name)), format!("{percent} %"), "{sentence}");
        }
        let small = |kinds: &[effects::Kind]| found.of(kinds).iter().filter(|one| one.share < 0.01).count();
        let main = [effects::Kind::Parameter, effects::Kind::Policy];
        if let Some((_, rest)) = sentence.split_once("each of the other ") {
            assert_eq!(rest.split(' ').next().unwrap(), small(&main).to_string(), "{sentence}");
        }
        if sentence.contains("the other one explains") {
            assert_eq!(small(&main), 1, "{sentence}");
        }
    }
    assert!(found.shares.iter().all(|share| (0.0..=1.000_001).contains(&share.share)), "{found:?}");
    let sum: f64 = found.shares.iter().map(|share| share.share).sum();
    assert!(sum > 0.999_999 || found.unknown.len() + found.shares.len() < 2, "{found:?}");
}

#[test]
fn no_sentence_about_a_response_contradicts_its_values() {
    let setting = |name: &str, usual| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual);
    let (first, count) = (setting("OVERSIM_SEED", 1), setting("OVERSIM_SWARM", USUAL));
    let (mut exact, mut around, mut scattered, mut shared) = (0, 0, 0, 0);
    for seed in first..first + count {
        let response = response(&mut Random(seed));
        let Ok(map) = response.map(None, None) else { continue };
        for cell in map.cells.iter().filter(|cell| cell.points.len() == 1) {
            let found = cell.winner.as_ref().map(|winner| {
                (winner.best, winner.second.map(|_| winner.margin.and_then(|margin| margin.significant)))
            });
            assert_eq!(
                found,
                known(&response, cell.points[0]),
                "seed {seed}: {:?}",
                response.points[cell.points[0]]
            );
        }
        if map.winners().is_empty() {
            continue;
        }
        let sentences = regions::sentences(&response, &map);
        counts(&response, &map, &sentences);
        for sentence in sentences[1..].iter().filter(|text| text.contains(" is best ")) {
            region(&response, &map, sentence);
            exact += usize::from(sentence.contains(" is best for "));
            around += usize::from(sentence.contains("in some of the cells"));
            scattered += usize::from(sentence.contains("in scattered cells"));
            shared += usize::from(sentence.contains(", for each: "));
        }
        if let Ok(found) = response.effects() {
            shares(&response, &found);
        }
    }
    assert!(
        count < USUAL || exact > 0 && around > 0 && scattered > 0 && shared > 0,
        "{exact} {around} {scattered} {shared}"
    );
}
