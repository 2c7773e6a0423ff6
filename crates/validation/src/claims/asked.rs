//! The cells that a claim names: a study, what is set in it, and the metric; or formulas over measures.

use std::collections::BTreeSet;

use notation::diagnostics::Diagnostic;
use notation::suggest::nearest;
use notation::yaml::{Content, Entry as Pair, Node};

use super::cells::{Entry, Load, Names, cell_of, metrics};
use super::formula::{self, split};
use super::named;
use crate::lab::{self, Cell, Function, Measure, Measured, Quantity, Setting, What, some};

/// The keys of a claim that names its cells.
pub(super) const KEYS: [&str; 9] =
    ["study", "policy", "app", "metric", "at", "set", "over", "rising", "cells"];
/// Texts that such a claim has, too.
pub(super) const TEXTS: [&str; 6] = ["id", "group", "machine", "workload", "threads", "metric"];
/// Keys of an entry of `cells`.
const PARTS: [&str; 4] = ["at", "points", "value", "label"];

/// What a claim asks of its cells: quantities with their names, in the unit of the claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked(pub(super) Vec<(String, Quantity)>);

/// Quantities of which a quick look takes some.
const MANY: usize = 8;

impl Asked {
    /// The quantities; of many alike some for a quick look.
    #[must_use]
    pub fn points(&self, quick: bool) -> Vec<(String, Quantity)> {
        let Self(all) = self;
        match quick {
            false => all.clone(),
            true if all.len() <= MANY || all.iter().any(conditional) => all.iter().map(quickly).collect(),
            true => some(all.iter()).map(quickly).collect(),
        }
    }

    /// Its cells.
    #[must_use]
    pub fn cells(&self, quick: bool) -> Vec<Cell> {
        let points = self.points(quick);
        let mut found = Vec::new();
        points.iter().for_each(|(_, quantity)| quantity.measures(&mut found));
        found.into_iter().map(|measure| measure.cell.clone()).collect()
    }
}

/// A quantity that its condition may leave out: of a few, none may be left.
fn conditional((_, quantity): &(String, Quantity)) -> bool {
    matches!(quantity, Quantity::Of { function: Function::OnlyIf, .. })
}

fn quickly((label, quantity): &(String, Quantity)) -> (String, Quantity) {
    (label.clone(), quantity.quick())
}

/// Reads the cells of a claim with the key `study` or `cells`. Those of a file of one's own are read as
/// scenarios.
pub(super) fn read(
    item: &Node,
    ordering: bool,
    names: &Names,
    load: Load<'_>,
    own: bool,
) -> Result<Asked, Vec<Diagnostic>> {
    let reader = Reader { item };
    let asked = match item.get("cells") {
        Some(cells) => formulas(&cells.value, names, load)?,
        None => reader.one_metric(ordering, load)?,
    };
    if own || item.get("cells").is_none() {
        reader.check(&asked).map_err(|problem| vec![problem])?;
    }
    Ok(asked)
}

/// The quantities of a list of formulas.
fn formulas(node: &Node, names: &Names, load: Load<'_>) -> Result<Asked, Vec<Diagnostic>> {
    let Content::List(items) = &node.content else {
        let problem = Diagnostic::new(node.place, format!("`cells` must be a list, not {}", node.what()));
        return Err(vec![problem.hint("write `- { at: names, value: formula }`")]);
    };
    let mut points = Vec::new();
    let mut problems = Vec::new();
    for item in items {
        match formula_of(item, names, load) {
            Ok(some) => points.extend(some),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(Asked(points)) } else { Err(problems) }
}

fn formula_of(item: &Node, names: &Names, load: Load<'_>) -> Result<Vec<(String, Quantity)>, Diagnostic> {
    let wrong = |node: &Node, why: String| Diagnostic::new(node.place, why).hint("see docs/claims.md");
    if let Some(stranger) = item.entries().iter().find(|entry| !PARTS.contains(&entry.key.as_str())) {
        let message = format!("an entry of `cells` has no key `{}`", stranger.key);
        return Err(Diagnostic::new(stranger.value.place, message).hint(advice(&stranger.key, &PARTS, "")));
    }
    let text = |key: &str| match item.get(key).map(|entry| &entry.value) {
        None => Ok(None),
        Some(Node { content: Content::Scalar(text), .. }) => Ok(Some(text.as_str())),
        Some(node) => Err(wrong(node, format!("`{key}` must be a text, not {}", node.what()))),
    };
    let formula = text("value")?.ok_or_else(|| wrong(item, "an entry of `cells` has no `value`".into()))?;
    let formula = formula::read(formula).map_err(|why| wrong(item, why))?;
    let at = Entry::of(split(text("at")?.unwrap_or_default(), ","));
    let label = text("label")?;
    let entries = match item.get("points").map(|entry| &entry.value) {
        None => vec![(label.map_or_else(|| at.label(), str::to_owned), at)],
        Some(points) => {
            points_of(points, names)?.into_iter().map(|(label, entry)| (label, at.and(&entry))).collect()
        }
    };
    let quantity = |(label, entry): (String, Entry)| {
        let quantity = names.quantity(&formula, &entry, load).map_err(|why| wrong(item, why))?;
        Ok((label, quantity))
    };
    entries.into_iter().map(quantity).collect()
}

/// The entries of `points` with their labels: lines, or one line for each label.
fn points_of(node: &Node, names: &Names) -> Result<Vec<(String, Entry)>, Diagnostic> {
    let entries = |lines: &[String]| {
        let wrong = |why| Diagnostic::new(node.place, why).hint("see docs/claims.md");
        names.entries(lines).map_err(wrong)
    };
    if let Content::Map(pairs) = &node.content {
        let one = |pair: &Pair| {
            let found = entries(&lines(&pair.value)?)?;
            Ok(found.into_iter().map(|entry| (pair.key.clone(), entry)).collect::<Vec<_>>())
        };
        return Ok(pairs.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat());
    }
    Ok(entries(&lines(node)?)?.into_iter().map(|entry| (entry.label(), entry)).collect())
}

/// A text, or a list of texts.
pub(super) fn lines(node: &Node) -> Result<Vec<String>, Diagnostic> {
    let line = |node: &Node| match &node.content {
        Content::Scalar(text) => Ok(text.clone()),
        _ => Err(Diagnostic::new(node.place, format!("this must be a text, not {}", node.what()))
            .hint("write names, separated by commas")),
    };
    match &node.content {
        Content::List(items) => items.iter().map(line).collect(),
        _ => line(node).map(|line| vec![line]),
    }
}

struct Reader<'a> {
    item: &'a Node,
}

impl Reader<'_> {
    fn node(&self, key: &str) -> &Node {
        self.item.get(key).map_or(self.item, |entry| &entry.value)
    }

    fn wrong(&self, key: &str, message: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.node(key).place, message).hint(hint)
    }

    fn word(&self, key: &str, hint: &str) -> Result<String, Diagnostic> {
        match self.item.get(key).map(|entry| &entry.value.content) {
            Some(Content::Scalar(word)) => Ok(word.clone()),
            Some(_) => Err(self.wrong(key, format!("`{key}` must be a name"), hint)),
            None => Err(self.wrong(key, format!("the claim has no `{key}`"), hint)),
        }
    }

    /// A metric of one cell, its ratio to another, or its order over several.
    fn one_metric(&self, ordering: bool, load: Load<'_>) -> Result<Asked, Vec<Diagnostic>> {
        let start = self.start(load).map_err(|problem| vec![problem])?;
        let (metric, app) = (self.metric(), self.word("app", "apps.NAME of the study"));
        let cells = self.comparison(&start, ordering);
        match (metric, app, cells) {
            (Ok(metric), Ok(app), Ok(comparison)) => Ok(comparison.asked(&metric, &app)),
            (metric, app, cells) => {
                let problems = [metric.err(), app.err(), cells.err()];
                Err(problems.into_iter().flatten().collect())
            }
        }
    }

    /// The study under its policy, with what `at` sets.
    fn start(&self, load: Load<'_>) -> Result<Cell, Diagnostic> {
        let name = self.word("study", "a study, or the path of a scenario")?;
        let policy = match self.item.get("policy") {
            None => "LOAD".to_owned(),
            Some(_) => self.word("policy", "one of `oversim list policies`")?,
        };
        if lab::find(&name).is_some_and(|study| !study.measured) {
            let message = format!("the study `{name}` keeps no metrics");
            return Err(self.wrong("study", message, "name a study `modern_*`, or use `cells`"));
        }
        let cell = cell_of(&name, &policy, load).map_err(|why| self.wrong("study", why, STUDIES))?;
        match self.item.get("at") {
            None => Ok(cell),
            Some(at) => settings(cell, &at.value),
        }
    }

    fn metric(&self) -> Result<String, Diagnostic> {
        let name = self.word("metric", "a metric of an application")?;
        let known: Vec<&str> = metrics().map(|metric| metric.name).collect();
        if known.contains(&name.as_str()) {
            return Ok(name);
        }
        let hint = advice(&name, &known, "`oversim list metrics` has all; those of applications count here");
        Err(self.wrong("metric", format!("no metric of an application is called `{name}`"), hint))
    }

    fn comparison(&self, start: &Cell, ordering: bool) -> Result<Comparison, Diagnostic> {
        let part = |key: &str| self.item.get(key).map(|entry| settings(start.clone(), &entry.value));
        if ordering {
            let hint = "write the settings of at least two cells, from the smallest value to the largest";
            return match self.item.get("rising").map(|entry| &entry.value.content) {
                Some(Content::List(cells)) if cells.len() > 1 => {
                    let cells = cells.iter().map(|cell| settings(start.clone(), cell));
                    cells.collect::<Result<_, _>>().map(Comparison::Rising)
                }
                _ => Err(self.wrong("rising", "an ordering needs a list `rising`", hint)),
            };
        }
        if self.item.get("rising").is_some() {
            let hint = "write `form: ordering`, or `set` and `over`";
            return Err(self.wrong("rising", "only an ordering has `rising`", hint));
        }
        let cell = part("set").unwrap_or_else(|| Ok(start.clone()))?;
        match part("over") {
            None => Ok(Comparison::Value(cell)),
            Some(over) => Ok(Comparison::Ratio(cell, over?)),
        }
    }

    /// Reads the scenario of every cell.
    fn check(&self, asked: &Asked) -> Result<(), Diagnostic> {
        let mut measures = Vec::new();
        asked.0.iter().for_each(|(_, quantity)| quantity.measures(&mut measures));
        let mut seen = BTreeSet::new();
        for Measure { cell, app, .. } in measures {
            if !seen.insert((cell.key(), app.clone())) {
                continue;
            }
            let place = if self.item.get("cells").is_some() { "cells" } else { "study" };
            let apps = lab::apps(cell).map_err(|why| {
                self.wrong(place, format!("a cell of the claim cannot be read: {}", why.trim()), "")
            })?;
            // Copies are written out in some scenarios.
            let is_there = |name: &String| name == app || name.starts_with(&format!("{app}-"));
            if !app.is_empty() && !apps.iter().any(is_there) {
                let known: Vec<&str> = apps.iter().map(String::as_str).collect();
                let message = format!("the study has no application `{app}`");
                return Err(self.wrong("app", message, advice(app, &known, "")));
            }
        }
        Ok(())
    }
}

/// What a study may be.
const STUDIES: &str = "a study `modern_*`, or the path of a scenario that ends with `.yaml`";

/// The cells of a claim about one metric.
enum Comparison {
    /// The metric in one cell.
    Value(Cell),
    /// The metric in the first cell over its mean in the second.
    Ratio(Cell, Cell),
    /// The metric does not fall from cell to cell.
    Rising(Vec<Cell>),
}

impl Comparison {
    fn asked(self, metric: &str, app: &str) -> Asked {
        let label = |cell: &Cell| format!("{metric} of {app}: {}", settings_of(cell));
        let measure = |cell: &Cell| {
            // A metric of the report by its name, not a measure of the same name.
            let what = match named(metric) {
                Some(What::CpuShare) => Measured::What(What::CpuShare),
                _ => Measured::Metric(metric.to_owned()),
            };
            let (cell, app) = (cell.clone(), app.to_owned());
            Quantity::Measure(Box::new(Measure { what, cell, app, barriers: 1.0, task: None, beside: None }))
        };
        let ratio = |cell: &Cell, over: &Cell| {
            let mean = Quantity::of(Function::Mean, false, vec![measure(over)]);
            Quantity::of(Function::Divide, false, vec![measure(cell), mean])
        };
        Asked(match self {
            Self::Value(cell) => vec![(label(&cell), measure(&cell))],
            Self::Ratio(cell, over) => {
                vec![(format!("{} over {}", label(&cell), settings_of(&over)), ratio(&cell, &over))]
            }
            Self::Rising(cells) => {
                let step = |pair: &[Cell]| {
                    let parts = vec![ratio(&pair[1], &pair[0]), Quantity::Number(1.0)];
                    (label(&pair[1]), Quantity::of(Function::Subtract, false, parts))
                };
                cells.windows(2).map(step).collect()
            }
        })
    }
}

fn settings_of(cell: &Cell) -> String {
    let all = cell.settings().iter().map(|(path, value)| format!("{path}={value}"));
    std::iter::once(cell.study().to_owned()).chain(all).collect::<Vec<_>>().join(" ")
}

fn settings(cell: Cell, node: &Node) -> Result<Cell, Diagnostic> {
    let Content::Map(entries) = &node.content else {
        let message = format!("settings must be a mapping, not {}", node.what());
        return Err(Diagnostic::new(node.place, message).hint("write `{ apps.team.tasks: 8 }`"));
    };
    entries.iter().try_fold(cell, |cell, entry| match Setting::of(&entry.value) {
        Ok(value) => Ok(cell.set(&entry.key, value)),
        Err(why) => Err(Diagnostic::new(entry.value.place, why).hint("write a name, a number or a mapping")),
    })
}

fn advice(name: &str, known: &[&str], otherwise: &str) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {} {otherwise}", known.join(", ")).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, read_with};

    const ONE: &str = "claims:\n- {id: a, kind: prediction, group: g, machine: m, workload: w, threads: 8, \
        study: modern_team, app: team, metric: timed_run_time, set: {apps.team.tasks: 8}, over: \
        {apps.team.tasks: 4}, form: exact, value: 2, tolerance: {type: rel, value: 0.1}}\n";

    #[test]
    fn a_claim_that_names_its_cells_is_read() {
        let claims = read("f", ONE).unwrap();
        let cells = claims[0].asked.as_ref().unwrap().cells(false).len();
        assert_eq!((claims.len(), cells), (1, 2));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let changes = [
            ("study: modern_team", "study: modern_teem", "did you mean `modern_team`"),
            ("study: modern_team", "study: dedicated", "the study `dedicated` keeps no metrics"),
            ("study: modern_team", "study: mine.yaml", "a built-in claim"),
            ("app: team", "app: teem", "did you mean `team`"),
            ("timed_run_time", "timed_runtime", "did you mean `timed_run_time`"),
            ("set: {apps.team.tasks: 8}", "set: {apps.team.taks: 8}", "apps.team.taks"),
            ("set: {apps.team.tasks: 8}", "set: [8]", "settings must be a mapping"),
            ("form: exact, value: 2", "form: ordering, value: more", "needs a list `rising`"),
            ("set: {", "sett: {", "did you mean `set`"),
        ];
        for (old, new, part) in changes {
            let error = read("file.yaml", &ONE.replacen(old, new, 1)).unwrap_err();
            assert!(error.contains(part) && error.contains("file.yaml:2"), "{new}: {error}");
        }
    }

    #[test]
    fn a_claim_may_name_a_scenario_of_its_own() {
        let scenario = "name: mine\nmachine: core:2\npolicies: [LOAD]\n\
            apps: { team: { workload: { hog: { work: 1s } }, tasks: 2 } }\n";
        let text =
            ONE.replace("study: modern_team", "study: mine.yaml").replace("timed_run_time", "cpu_time");
        let load = |path: &str| match path {
            "mine.yaml" => Ok(scenario.to_owned()),
            _ => Err("no".into()),
        };
        assert_eq!(read_with("f", &text, &load).unwrap().len(), 1);
    }
}
