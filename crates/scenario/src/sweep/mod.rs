//! The configurations of a sweep: every combination of the rows of its factors that its conditions admit.

mod condition;
mod sample;

use std::collections::BTreeSet;

use notation::diagnostics::Place;
use notation::number::plural;
use notation::yaml::{Content, Entry, Node};

use crate::Reader;
use crate::configuration::{Axis, Configuration, Settings, written};
use crate::key::Edit;
use crate::limits::MAX_SAMPLES;
use crate::paths;
use crate::range;
use condition::{Condition, Type, Value};
use sample::{Method, Source};

/// The keys of `sample`.
const SAMPLE: [&str; 4] = ["count", "seed", "method", "over"];

/// A swept path.
#[derive(Clone, PartialEq, Debug)]
struct Path {
    name: String,
    place: Place,
}

/// Paths whose values change together: a path alone, those of a `zip` or those of a `sample`.
struct Factor {
    paths: Vec<Path>,
    /// A value for each path.
    rows: Vec<Vec<Node>>,
    /// For each row and path the position of the value among the different ones of this path.
    places: Vec<Vec<usize>>,
    /// The values are computed, so that some of them stand for all.
    drawn: bool,
}

/// A sweep that has been read.
#[derive(Default)]
pub(crate) struct Sweep {
    factors: Vec<Factor>,
    axes: Vec<Axis>,
    conditions: Vec<Condition>,
    /// For each path that conditions name: its factor, and its value in each row.
    operands: Vec<(usize, Vec<Value>)>,
}

/// A configuration and what it sets.
pub(crate) struct Combination<'a> {
    pub(crate) configuration: Configuration,
    settings: Vec<(&'a Path, &'a Node)>,
}

impl Combination<'_> {
    /// What this configuration changes in a scenario: the keys that its paths reach into, with their new
    /// values.
    pub(crate) fn edits(&self, root: &Node) -> Node {
        let mut edits = Node::empty_map(root.place);
        for (path, value) in &self.settings {
            let key = path.name.split('.').next().unwrap_or_default();
            if let (None, Some(entry)) = (edits.get(key), root.get(key)) {
                edits.set(key, entry.place, entry.value.clone());
            }
            // Each path has been tried before: it cannot fail.
            let set = paths::set(&mut edits, &path.name, path.place, (*value).clone(), Edit::Sweep);
            debug_assert!(set.is_ok(), "{} was set before", path.name);
        }
        edits
    }
}

impl Factor {
    fn new(paths: Vec<Path>, rows: Vec<Vec<Node>>, drawn: bool) -> (Self, Vec<Axis>) {
        let mut places = vec![Vec::with_capacity(paths.len()); rows.len()];
        let mut axes = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let mut known = std::collections::BTreeMap::new();
            let mut texts: Vec<String> = Vec::new();
            for (row, places) in rows.iter().zip(&mut places) {
                let text = written(&row[at]);
                let place = *known.entry(text.clone()).or_insert_with(|| {
                    texts.push(text);
                    texts.len() - 1
                });
                places.push(place);
            }
            axes.push(Axis::new(&path.name, texts));
        }
        (Self { paths, rows, places, drawn }, axes)
    }
}

impl Sweep {
    /// Reads `sweep`; without it there is one configuration. A wrong path is left out, so that the other
    /// errors are found as well. More than `most` combinations are an error.
    pub(crate) fn read(root: &Node, reader: &mut Reader, most: usize) -> Self {
        let mut sweep = Self::default();
        let Some(entry) = root.get("sweep") else { return sweep };
        let Content::Map(entries) = &entry.value.content else {
            let hint = "write `sweep: { threads_per_core: [1, 2, 4] }`";
            reader.wrong_node(&entry.value, "`sweep` must be a mapping of paths to lists of values", hint);
            return sweep;
        };
        let mut trial = root.clone();
        let mut names = BTreeSet::new();
        for entry in entries {
            let factors = match entry.key.as_str() {
                "when" => continue,
                "zip" => zips(&entry.value, reader),
                "sample" => sampled(&entry.value, reader).into_iter().collect(),
                _ => single(entry, reader).into_iter().collect(),
            };
            for (paths, rows) in factors {
                if !tried(&mut trial, (&paths, &rows), &mut names, reader) {
                    continue;
                }
                if sweep.size().saturating_mul(rows.len() as u64) > most as u64 {
                    let message = format!("the sweep has more than {most} configurations");
                    let hint = "`oversim sweep` runs larger ones, up to 10,000,000 configurations";
                    let hint = if most <= crate::limits::MAX_CONFIGURATIONS { hint } else { "" };
                    reader.wrong_with_hint(entry.place, message, hint);
                    return sweep;
                }
                let (factor, axes) = Factor::new(paths, rows, entry.key == "sample");
                sweep.factors.push(factor);
                sweep.axes.extend(axes);
            }
        }
        // A path with wrong values is no axis, so conditions on it would be wrong as well.
        let when = root.get("sweep").and_then(|sweep| sweep.value.get("when"));
        if let Some(when) = when.filter(|_| reader.is_clean()) {
            sweep.read_conditions(&when.value, reader);
        }
        sweep
    }

    /// The paths with their different values, in the order written.
    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Combinations of rows, also those that no condition admits.
    pub(crate) fn size(&self) -> u64 {
        self.factors.iter().map(|factor| factor.rows.len() as u64).fold(1, u64::saturating_mul)
    }

    /// The combination of this number, if the conditions admit it; the first factor is the slowest.
    pub(crate) fn at(&self, index: u64) -> Option<Combination<'_>> {
        let rows = self.rows(index);
        if !self.admits(&rows) {
            return None;
        }
        let configuration =
            Configuration { label: String::new(), settings: Settings::default(), places: Vec::new() };
        let mut combination = Combination { configuration, settings: Vec::new() };
        for (factor, row) in self.factors.iter().zip(rows) {
            let Configuration { label, settings, places } = &mut combination.configuration;
            for (path, value) in factor.paths.iter().zip(&factor.rows[row]) {
                let comma = if label.is_empty() { "" } else { ", " };
                label.push_str(&format!("{comma}{}={}", path.name, written(value)));
                settings.add(&path.name, value);
                combination.settings.push((path, value));
            }
            places.extend(&factor.places[row]);
        }
        Some(combination)
    }

    /// Whether the conditions admit the combination of this number.
    pub(crate) fn has(&self, index: u64) -> bool {
        self.conditions.is_empty() || self.admits(&self.rows(index))
    }

    /// Numbers of combinations in which each value of each path appears, the others as in the first one. Of a
    /// `sample`, three rows stand for all.
    pub(crate) fn trials(&self) -> Vec<u64> {
        let mut trials = vec![0];
        let mut stride = 1;
        for factor in self.factors.iter().rev() {
            let length = factor.rows.len() as u64;
            let step = if factor.drawn { (length / 2).max(1) } else { 1 };
            trials.extend((1..length).step_by(step as usize).map(|row| row * stride));
            stride *= length;
        }
        trials
    }

    fn rows(&self, index: u64) -> Vec<usize> {
        let mut rest = index;
        let mut rows: Vec<usize> = Vec::with_capacity(self.factors.len());
        for factor in self.factors.iter().rev() {
            let length = factor.rows.len() as u64;
            rows.push((rest % length) as usize);
            rest /= length;
        }
        rows.reverse();
        rows
    }

    fn admits(&self, rows: &[usize]) -> bool {
        let value = |at: usize| {
            let (factor, values) = &self.operands[at];
            values[rows[*factor]].clone()
        };
        self.conditions.iter().all(|condition| condition.holds(&value))
    }

    fn read_conditions(&mut self, node: &Node, reader: &mut Reader) {
        let conditions: &[Node] = match &node.content {
            Content::List(all) => all,
            _ => std::slice::from_ref(node),
        };
        let mut names: Vec<(String, Type)> = Vec::new();
        for (factor, at) in
            self.factors.iter().enumerate().flat_map(|(n, f)| (0..f.paths.len()).map(move |at| (n, at)))
        {
            let Factor { paths, rows, .. } = &self.factors[factor];
            let name = &paths[at].name;
            let value = |row: &Vec<Node>| {
                let mut settings = Settings::default();
                settings.add(name, &row[at]);
                settings.get(name).map_or_else(|| Value::Text(written(&row[at])), Value::of)
            };
            let mut values: Vec<Value> = rows.iter().map(value).collect();
            let kind = values.first().map_or(Type::Text, Value::kind);
            let alike = values.iter().all(|value| value.kind() == kind);
            if !alike {
                values = rows.iter().map(|row| Value::Text(written(&row[at]))).collect();
            }
            names.push((name.clone(), if alike { kind } else { Type::Text }));
            self.operands.push((factor, values));
        }
        for node in conditions {
            let Some(text) = reader.text(node, "a condition of `when`") else { continue };
            let path = |name: &str| {
                let at = names.iter().position(|(known, _)| known == name)?;
                Some((at, names[at].1))
            };
            match Condition::read(text, &path) {
                Ok(condition) => self.conditions.push(condition),
                Err((at, why)) => {
                    let swept: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
                    let hint = format!("{}; the scenario sweeps {}", condition::HOW, swept.join(", "));
                    reader.wrong_node(node, format!("{why}, at character {} of the condition", at + 1), hint);
                }
            }
        }
        if reader.is_clean() && (0..self.size()).all(|index| !self.has(index)) {
            reader.wrong_node(node, "no configuration fulfils the conditions", "");
        }
    }
}

/// Paths and, for each row, their values.
type Rows = (Vec<Path>, Vec<Vec<Node>>);

/// Whether the scenario has these paths, each for the first time.
fn tried(
    trial: &mut Node,
    (paths, rows): (&[Path], &[Vec<Node>]),
    names: &mut BTreeSet<String>,
    reader: &mut Reader,
) -> bool {
    let Some(first) = rows.first() else { return false };
    let mut all = true;
    for (path, value) in paths.iter().zip(first) {
        if !names.insert(path.name.clone()) {
            reader.wrong(path.place, format!("`{}` is swept twice", path.name));
            all = false;
        } else if let Err(problem) = paths::set(trial, &path.name, path.place, value.clone(), Edit::Sweep) {
            reader.add(problem);
            all = false;
        }
    }
    all
}

/// A path with its values.
fn single(entry: &Entry, reader: &mut Reader) -> Option<Rows> {
    let values = different(entry, reader)?;
    let path = Path { name: entry.key.clone(), place: entry.place };
    Some((vec![path], values.into_iter().map(|value| vec![value]).collect()))
}

/// The values of a path, which must all be different.
fn different(entry: &Entry, reader: &mut Reader) -> Option<Vec<Node>> {
    let values = values(entry, reader)?;
    // Values that are written differently are different.
    let mut earlier: std::collections::BTreeMap<String, Vec<&Node>> = std::collections::BTreeMap::new();
    for value in &values {
        let alike = earlier.entry(written(value)).or_default();
        let twice = alike.iter().any(|earlier| earlier.content == value.content);
        alike.push(value);
        if twice {
            reader.wrong_node(value, format!("`{}` has the same value twice", entry.key), "");
        }
    }
    Some(values)
}

/// The values of a path: a list or a range.
fn values(axis: &Entry, reader: &mut Reader) -> Option<Vec<Node>> {
    let ranged = |text: &str, node: &Node, reader: &mut Reader| match range::values(text) {
        Ok(texts) => {
            let value = |text: String| Node { used: node.used, ..Node::scalar(node.place, &text) };
            Some(texts.into_iter().map(value).collect())
        }
        Err(why) => {
            reader.wrong_node(node, why, range::HOW);
            None
        }
    };
    let values = match &axis.value.content {
        Content::Scalar(text) if range::is_range(text) => return ranged(text, &axis.value, reader),
        Content::List(values) => values,
        _ => {
            let what = axis.value.what();
            let message = format!("the values of `{}` must be a list or a range, not {what}", axis.key);
            reader.wrong_node(&axis.value, message, "write `[first, second]` or `1..64:*2`");
            return None;
        }
    };
    // `--sweep PATH=1..8` is a list of one range.
    if let [Node { content: Content::Scalar(text), .. }] = values.as_slice()
        && range::is_range(text)
    {
        return ranged(text, &values[0], reader);
    }
    if values.is_empty() {
        reader.wrong_node(&axis.value, format!("`{}` has no values", axis.key), "");
        return None;
    }
    for value in values {
        if written(value).contains('\n') {
            reader.wrong_node(value, format!("a value of `{}` must be on one line", axis.key), "");
        }
    }
    Some(values.clone())
}

/// The paths of each `zip`, a mapping or a list of them.
fn zips(node: &Node, reader: &mut Reader) -> Vec<Rows> {
    let all: &[Node] = match &node.content {
        Content::List(all) => all,
        _ => std::slice::from_ref(node),
    };
    all.iter().filter(|zip| zip.what() != "nothing").filter_map(|zip| zipped(zip, reader)).collect()
}

fn zipped(node: &Node, reader: &mut Reader) -> Option<Rows> {
    let Content::Map(entries) = &node.content else {
        let hint = "write `zip: { threads_per_core: [1, 2], kernel.tick: [1ms, 4ms] }`";
        reader.wrong_node(node, "`zip` must be a mapping of paths to lists of values", hint);
        return None;
    };
    let columns: Vec<(Path, Vec<Node>)> = entries
        .iter()
        .filter_map(|entry| {
            let path = Path { name: entry.key.clone(), place: entry.place };
            Some((path, values(entry, reader)?))
        })
        .collect();
    let length = columns.first()?.1.len();
    if let Some((other, values)) = columns.iter().find(|(_, values)| values.len() != length) {
        let first = &columns[0].0.name;
        let count = |n: usize| plural(n, "value", "values");
        let message = format!(
            "`{first}` has {} and `{}` {}: paths of a `zip` need the same number",
            count(length),
            other.name,
            count(values.len())
        );
        reader.wrong(other.place, message);
        return None;
    }
    let rows: Vec<Vec<Node>> =
        (0..length).map(|at| columns.iter().map(|(_, values)| values[at].clone()).collect()).collect();
    let mut seen = BTreeSet::new();
    let text = |row: &Vec<Node>| row.iter().map(written).collect::<Vec<_>>();
    if let Some(twice) = rows.iter().find(|row| !seen.insert(text(row))) {
        reader.wrong_node(&twice[0], "the `zip` has the same values twice", "");
        return None;
    }
    Some((columns.into_iter().map(|(path, _)| path).collect(), rows))
}

/// The paths of a `sample`.
fn sampled(node: &Node, reader: &mut Reader) -> Option<Rows> {
    reader.mapping(node, "`sample`", &SAMPLE)?;
    let whole = |key: &str, least: u64, most: u64, reader: &mut Reader| {
        let entry = node.get(key)?;
        let text = reader.text(&entry.value, &format!("`{key}`"))?;
        let number: Option<u64> = text.parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("`{key}` must be a whole number between {least} and {most}");
            reader.wrong_node(&entry.value, message, "");
        }
        number
    };
    reader.required(node, "count")?;
    let count = whole("count", 1, MAX_SAMPLES, reader)?;
    let seed = if node.get("seed").is_some() { whole("seed", 0, u64::MAX, reader)? } else { 1 };
    let method = match node.get("method").map(|entry| &entry.value) {
        None => Method::Latin,
        Some(value) => match reader.text(value, "`method`")? {
            "latin" => Method::Latin,
            "random" => Method::Random,
            other => {
                reader.unknown(value.place, "method", other, &["latin", "random"]);
                return None;
            }
        },
    };
    let over = reader.required(node, "over")?;
    let Content::Map(entries) = &over.content else {
        let hint = "write `over: { apps.job.workload.interval: 100us..10ms:log, threads_per_core: 1..8 }`";
        reader.wrong_node(over, "`over` must be a mapping of paths to ranges or lists", hint);
        return None;
    };
    let sources: Vec<(String, Source)> =
        entries.iter().filter_map(|entry| Some((entry.key.clone(), source(entry, reader)?))).collect();
    if entries.is_empty() || sources.len() < entries.len() {
        if entries.is_empty() {
            reader.wrong_node(over, "`over` has no paths", "");
        }
        return None;
    }
    let node_of = |(text, entry): (&String, &Entry)| {
        let found = match &entry.value.content {
            Content::List(values) => values.iter().find(|value| written(value) == *text),
            _ => None,
        };
        found.cloned().unwrap_or_else(|| Node::scalar(entry.value.place, text))
    };
    let drawn = sample::draw(&sources, count as u32, seed, method);
    let rows = drawn.iter().map(|row| row.iter().zip(entries).map(node_of).collect()).collect();
    let paths = entries.iter().map(|entry| Path { name: entry.key.clone(), place: entry.place });
    Some((paths.collect(), rows))
}

/// What a path of a `sample` is drawn from.
fn source(entry: &Entry, reader: &mut Reader) -> Option<Source> {
    if let Content::Scalar(text) = &entry.value.content
        && range::is_range(text)
    {
        return match Source::read(text) {
            Ok(source) => Some(source),
            Err(why) => {
                reader.wrong_node(&entry.value, why, "write `1..8`, `1ms..1s`, `1ms..1s:log` or a list");
                None
            }
        };
    }
    Some(Source::Listed(different(entry, reader)?.iter().map(written).collect()))
}

#[cfg(test)]
mod tests {
    use crate::plan::Experiment;
    use crate::{Overrides, load};

    fn with(sweep: &str, overrides: &Overrides) -> Result<Experiment, String> {
        let head = "name: s\nmachine: package:1 core:4\npolicies: [LOAD]\n\
            apps: { job: { workload: { spmd: { work: 10ms, intervals: 10 } } } }\n";
        load("s.yaml", &format!("{head}sweep: {sweep}\n"), overrides)
    }

    fn labels(sweep: &str) -> Vec<String> {
        let experiment = with(sweep, &Overrides::default()).unwrap();
        experiment.configurations.into_iter().map(|configuration| configuration.label).collect()
    }

    fn wrong(sweep: &str) -> String {
        with(sweep, &Overrides::default()).err().unwrap()
    }

    #[test]
    fn factors_are_multiplied_and_the_paths_of_one_change_together() {
        let all = labels(
            "{ threads_per_core: 1..2, zip: { kernel.tick: [1ms, 4ms], apps.job.workload.work: [1s, 2s] } }",
        );
        assert_eq!(
            all,
            [
                "threads_per_core=1, kernel.tick=1ms, apps.job.workload.work=1s",
                "threads_per_core=1, kernel.tick=4ms, apps.job.workload.work=2s",
                "threads_per_core=2, kernel.tick=1ms, apps.job.workload.work=1s",
                "threads_per_core=2, kernel.tick=4ms, apps.job.workload.work=2s",
            ]
        );
    }

    #[test]
    fn conditions_leave_configurations_out() {
        let all = labels(
            "{ threads_per_core: 1..4, kernel.tick: [1ms, 4ms], \
                when: [threads_per_core * 1ms <= kernel.tick] }",
        );
        assert_eq!(all.len(), 5);
        assert!(all.contains(&"threads_per_core=1, kernel.tick=1ms".to_owned()));
        assert!(wrong("{ threads_per_core: 1..4, when: threads_per_core > 9 }").contains("no configuration"));
        let message = wrong("{ threads_per_core: 1..4, when: threads < 3 }");
        assert!(message.contains("never equal") && message.contains("sweeps threads_per_core"), "{message}");
    }

    #[test]
    fn samples_are_crossed_with_the_other_factors() {
        let sweep = "{ threads_per_core: [1, 2], sample: { count: 5, seed: 3, over: \
            { apps.job.workload.work: 1ms..1s:log, kernel.tick: [1ms, 4ms, 10ms] } } }";
        let experiment = with(sweep, &Overrides::default()).unwrap();
        assert_eq!(experiment.configurations.len(), 10);
        let [threads, work, tick] = experiment.axes.as_slice() else { panic!("three axes") };
        assert_eq!((threads.values.len(), work.values.len()), (2, 5));
        assert!(tick.values.len() <= 3 && work.numbers.is_some());
        for configuration in &experiment.configurations {
            let values: Vec<&str> = experiment
                .axes
                .iter()
                .zip(&configuration.places)
                .map(|(axis, place)| axis.values[*place].as_str())
                .collect();
            let label = format!(
                "threads_per_core={}, apps.job.workload.work={}, kernel.tick={}",
                values[0], values[1], values[2]
            );
            assert_eq!(configuration.label, label);
        }
    }

    #[test]
    fn a_setting_takes_a_path_out_of_a_zip_or_sample() {
        let zip = "{ zip: { threads_per_core: [1, 2], kernel.tick: [1ms, 4ms] } }";
        let set = |pairs: &[&str]| Overrides {
            set: pairs.iter().map(|pair| (*pair).to_owned()).collect(),
            ..Overrides::default()
        };
        let experiment = with(zip, &set(&["threads_per_core=3"])).unwrap();
        let all: Vec<&str> = experiment.configurations.iter().map(|c| c.label.as_str()).collect();
        assert_eq!(all, ["kernel.tick=1ms, threads_per_core=3", "kernel.tick=4ms, threads_per_core=3"]);
        let both = with(zip, &set(&["threads_per_core=3", "kernel.tick=2ms"])).unwrap();
        assert_eq!(both.configurations.len(), 1);
        let sample = "{ sample: { count: 3, over: { threads_per_core: 1..8, kernel.tick: 1ms..4ms } } }";
        let swept = Overrides { sweep: vec!["threads_per_core=1..8:*2".into()], ..Overrides::default() };
        assert_eq!(with(sample, &swept).unwrap().configurations.len(), 12);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(wrong("{ threads_per_core: 1..8:*1 }").contains("above 1"));
        assert!(wrong("{ threads_per_core: 2 }").contains("a list or a range"));
        assert!(wrong("{ zip: { threads_per_core: [1, 2], kernel.tick: [1ms] } }").contains("same number"));
        assert!(
            wrong("{ threads_per_core: [1, 2], zip: { threads_per_core: [1, 2] } }").contains("swept twice")
        );
        assert!(wrong("{ sample: { over: { threads_per_core: 1..2 } } }").contains("no `count`"));
        assert!(
            wrong("{ sample: { count: 3, method: best, over: { threads_per_core: 1..2 } } }")
                .contains("unknown method")
        );
        assert!(wrong("{ sample: { count: 0, over: { threads_per_core: 1..2 } } }").contains("between 1"));
        assert!(wrong("{ sample: { count: 3, over: {} } }").contains("no paths"));
        assert!(wrong("{ zip: 3 }").contains("mapping"));
    }
}
