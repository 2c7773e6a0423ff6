//! The cells that a claim names itself: a study, what is set in it, and the metric.

use std::sync::Arc;

use experiment::metrics::{METRICS, Reduction, Scope};
use notation::diagnostics::Diagnostic;
use notation::suggest::nearest;
use notation::yaml::{Content, Node};

use crate::lab::{self, Cell, Setting, Study};

/// The keys of a claim that names its cells.
pub(super) const KEYS: [&str; 8] = ["study", "policy", "app", "metric", "at", "set", "over", "rising"];
/// Texts that such a claim has, too.
pub(super) const TEXTS: [&str; 6] = ["id", "group", "machine", "workload", "threads", "metric"];
/// Cpu time of the application over that of all applications, as the metric of this name.
pub const CPU_SHARE: &str = "cpu_share";

/// What is measured in which cells.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    /// The metric: one of an application (docs/reference/metrics.md), or [`CPU_SHARE`].
    pub metric: String,
    /// The application.
    pub app: String,
    /// Which cells are compared.
    pub cells: Comparison,
}

/// The cells of a claim.
#[derive(Clone, PartialEq, Debug)]
pub enum Comparison {
    /// The metric in one cell.
    Value(Cell),
    /// The metric in the first cell over its mean in the second.
    Ratio(Cell, Cell),
    /// The metric does not fall from cell to cell.
    Rising(Vec<Cell>),
}

impl Comparison {
    fn cells(&self) -> Vec<&Cell> {
        match self {
            Self::Value(cell) => vec![cell],
            Self::Ratio(cell, over) => vec![cell, over],
            Self::Rising(cells) => cells.iter().collect(),
        }
    }
}

/// A scenario of the file of claims by the path it gives: its text, or why it cannot be read.
pub type Load<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Reads the cells of a claim with the key `study`.
pub(super) fn read(item: &Node, ordering: bool, load: Load<'_>) -> Result<Asked, Vec<Diagnostic>> {
    let reader = Reader { item };
    let start = reader.start(load).map_err(|problem| vec![problem])?;
    let (metric, app) = (reader.metric(), reader.word("app", "apps.NAME of the study"));
    let cells = reader.comparison(&start, ordering);
    let (metric, app, cells) = match (metric, app, cells) {
        (Ok(metric), Ok(app), Ok(cells)) => (metric, app, cells),
        (metric, app, cells) => {
            let problems = [metric.err(), app.err(), cells.err()];
            return Err(problems.into_iter().flatten().collect());
        }
    };
    let asked = Asked { metric, app, cells };
    reader.check(&asked).map_err(|problem| vec![problem])?;
    Ok(asked)
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

    /// The study under its policy, with what `at` sets.
    fn start(&self, load: Load<'_>) -> Result<Cell, Diagnostic> {
        let name = self.word("study", "a study, or the path of a scenario")?;
        let policy = match self.item.get("policy") {
            None => "LOAD".to_owned(),
            Some(_) => self.word("policy", "one of `oversim list policies`")?,
        };
        let file = std::path::Path::new(&name).extension().is_some_and(|end| end == "yaml" || end == "yml");
        let cell = if file {
            let text = load(&name).map_err(|why| self.wrong("study", why, ""))?;
            Cell::of(&Arc::new(Study::own(&name, text)), &policy)
        } else if let Some(study) = lab::find(&name).filter(|study| study.measured) {
            Cell::new(study.name.as_ref(), &policy)
        } else {
            let known: Vec<&str> =
                lab::STUDIES.iter().filter(|s| s.measured).map(|s| s.name.as_ref()).collect();
            let hint = advice(&name, &known, "or the path of a scenario that ends with `.yaml`");
            return Err(self.wrong("study", format!("no study is called `{name}`"), hint));
        };
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
        for cell in asked.cells.cells() {
            let apps = lab::apps(cell).map_err(|why| {
                self.wrong("study", format!("a cell of the claim cannot be read: {}", why.trim()), "")
            })?;
            if !apps.contains(&asked.app) {
                let known: Vec<&str> = apps.iter().map(String::as_str).collect();
                let message = format!("the study has no application `{}`", asked.app);
                return Err(self.wrong("app", message, advice(&asked.app, &known, "")));
            }
        }
        Ok(())
    }
}

/// The metrics that a claim may name.
fn metrics() -> impl Iterator<Item = &'static experiment::metrics::Metric> {
    METRICS.iter().filter(|m| m.scope == Scope::App && m.reduction == Reduction::Statistics)
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
        let cells = claims[0].asked.as_ref().unwrap().cells.cells().len();
        assert_eq!((claims.len(), cells), (1, 2));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let changes = [
            ("study: modern_team", "study: modern_teem", "did you mean `modern_team`"),
            ("study: modern_team", "study: dedicated", "no study is called `dedicated`"),
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
