//! Reads a file of claims; what is wrong with it is said with file and line.

use std::collections::BTreeSet;

use notation::declare::Choice;
use notation::diagnostics::{Diagnostic, Sources};
use notation::suggest::nearest;
use notation::yaml::{self, Content, Node};

use super::asked;
use super::cells::{Load, Names};
use super::claim::{Claim, Texts};
use super::form::{Form, Tolerance, ToleranceKind, Value};
use super::named;
use crate::lab::Setting;

/// Texts that every prediction has.
const TEXTS: [&str; 15] = [
    "id",
    "group",
    "source",
    "machine",
    "workload",
    "class",
    "model",
    "threads",
    "policy",
    "baseline",
    "yield",
    "wait",
    "environment",
    "metric",
    "unit",
];
/// Texts that may be left out: they explain and are not resolved.
const OPTIONAL: [&str; 3] = ["source", "wait", "unit"];
/// Those of them that name files, headings and rows of reports.
const NAMES: [&str; 3] = ["id", "group", "metric"];
/// What else a claim has.
const OTHERS: [&str; 6] = ["kind", "form", "value", "tolerance", "uncertain", "uncertain_reason"];

/// The predictions of a file; entries of the kind `calibration` are inputs and left out, other keys than
/// those of a [`Claim`] ignored.
///
/// # Errors
/// All that is wrong with it, rendered with file, line and column.
pub fn read(name: &str, text: &str) -> Result<Vec<Claim>, String> {
    read_file(name, text, &|path| Err(format!("a built-in claim cannot name a file: `{path}`")), false)
}

/// The same of a file whose claims may name scenarios by their paths. A claim without cells takes those of
/// the shipped claim that is the same statement at the same conditions.
///
/// # Errors
/// As [`read`].
pub fn read_with(name: &str, text: &str, load: Load<'_>) -> Result<Vec<Claim>, String> {
    let mut claims = read_file(name, text, load, true)?;
    if claims.iter().any(|claim| claim.asked.is_none()) {
        let shipped = super::shipped()?;
        for claim in claims.iter_mut().filter(|claim| claim.asked.is_none()) {
            claim.asked =
                shipped.iter().find(|other| other.asks_as(claim)).and_then(|other| other.asked.clone());
        }
    }
    Ok(claims)
}

fn read_file(name: &str, text: &str, load: Load<'_>, own: bool) -> Result<Vec<Claim>, String> {
    let sources = Sources::new(name, text);
    let mut reader = Reader { problems: Vec::new(), load, own, names: Names::default() };
    let root = yaml::data_tree(0, text).map_err(|problem| sources.render(&[problem]))?;
    let claims = reader.file(&root);
    if reader.problems.is_empty() { Ok(claims) } else { Err(sources.render(&reader.problems)) }
}

struct Reader<'a> {
    problems: Vec<Diagnostic>,
    load: Load<'a>,
    /// Not built in: every cell is read as a scenario.
    own: bool,
    names: Names,
}

impl Reader<'_> {
    fn wrong(&mut self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(Diagnostic::new(node.place, message).hint(hint));
    }

    fn file(&mut self, root: &Node) -> Vec<Claim> {
        if !matches!(root.content, Content::Map(_)) {
            self.wrong(
                root,
                format!("a file of claims must be a mapping, not {}", root.what()),
                "write a list `claims`",
            );
            return Vec::new();
        }
        let Some(list) = root.get("claims") else {
            self.wrong(root, "there is no list `claims`", "write `claims:` and its entries");
            return Vec::new();
        };
        let Content::List(items) = &list.value.content else {
            let message = format!("`claims` must be a list, not {}", list.value.what());
            self.wrong(&list.value, message, "each entry starts with `- id:`");
            return Vec::new();
        };
        self.names(root);
        let mut seen = BTreeSet::new();
        let mut claims = Vec::new();
        for item in items {
            let Some(claim) = self.entry(item) else { continue };
            if !seen.insert(claim.id.clone()) {
                self.wrong(item, format!("the id `{}` is given twice", claim.id), "");
            }
            claims.push(claim);
        }
        claims
    }

    /// The names of settings and the lists of the file.
    fn names(&mut self, root: &Node) {
        let entries = |key: &str| root.get(key).map_or(&[][..], |entry| entry.value.entries());
        for named in entries("names") {
            let setting = |entry: &yaml::Entry| match Setting::of(&entry.value) {
                Ok(value) => Ok((entry.key.clone(), value)),
                Err(why) => {
                    Err(Diagnostic::new(entry.value.place, why).hint("write a name, a number or a mapping"))
                }
            };
            match named.value.entries().iter().map(setting).collect::<Result<_, _>>() {
                Ok(settings) => drop(self.names.settings.insert(named.key.clone(), settings)),
                Err(problem) => self.problems.push(problem),
            }
        }
        for list in entries("lists") {
            match asked::lines(&list.value) {
                Ok(lines) => drop(self.names.lists.insert(list.key.clone(), lines)),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    /// A prediction; `None` for inputs, and for what is wrong.
    fn entry(&mut self, item: &Node) -> Option<Claim> {
        if !matches!(item.content, Content::Map(_)) {
            self.wrong(item, format!("a claim must be a mapping, not {}", item.what()), "");
            return None;
        }
        match self.text(item, "kind")?.as_str() {
            "prediction" => {}
            "calibration" => return None,
            other => {
                let hint = advice(other, &["prediction", "calibration"]);
                self.wrong(item, format!("unknown kind `{other}`"), hint);
                return None;
            }
        }
        let texts: Vec<Option<String>> = TEXTS.iter().map(|key| self.text(item, key)).collect();
        NAMES.iter().for_each(|key| self.name(item, key));
        let form = self.form(item);
        let tolerance = self.tolerance(item);
        let uncertain = self.uncertain(item);
        let asked = self.asked(item, form);
        let value = self.value(item, form?)?;
        let mut texts = texts.into_iter();
        let mut next = || texts.next().flatten();
        let (id, group, source) = (next()?, next()?, next()?);
        let texts = Texts {
            machine: next()?,
            workload: next()?,
            class: next()?,
            model: next()?,
            threads: next()?,
            policy: next()?,
            baseline: next()?,
            yields: next()?,
            wait: next()?,
            environment: next()?,
            metric: next()?,
            unit: next()?,
        };
        Some(Claim {
            id,
            group,
            source,
            texts,
            asked: asked?,
            form: form?,
            value,
            tolerance: tolerance?,
            uncertain: uncertain?,
        })
    }

    fn text(&mut self, item: &Node, key: &str) -> Option<String> {
        match item.get(key).map(|entry| &entry.value) {
            None if OPTIONAL.contains(&key) => Some(String::new()),
            None if item.get("study").is_some() && TEXTS.contains(&key) && !asked::TEXTS.contains(&key) => {
                Some(String::new())
            }
            None => {
                self.wrong(item, format!("the claim has no `{key}`"), "");
                None
            }
            Some(node) => match &node.content {
                Content::Scalar(text) => Some(text.clone()),
                _ => {
                    self.wrong(node, format!("`{key}` must be a text, not {}", node.what()), "");
                    None
                }
            },
        }
    }

    /// The cells of a claim that names its study; `Some(None)` for other claims.
    fn asked(&mut self, item: &Node, form: Option<Form>) -> Option<Option<asked::Asked>> {
        if !names_cells(item) {
            return Some(None);
        }
        let Content::Map(entries) = &item.content else { return None };
        let known = || TEXTS.into_iter().chain(OTHERS).chain(asked::KEYS);
        // Claims with `cells` may have other keys, as those without have.
        let strangers: Vec<&yaml::Entry> = if item.get("study").is_none() {
            Vec::new()
        } else {
            entries.iter().filter(|entry| !known().any(|key| key == entry.key)).collect()
        };
        for entry in &strangers {
            let hint = advice(&entry.key, &known().collect::<Vec<_>>());
            let message = format!("a claim that names its study has no key `{}`", entry.key);
            self.wrong(&entry.value, message, hint);
        }
        let ordering = matches!(form?, Form::Ordering | Form::Qualitative);
        match asked::read(item, ordering, &self.names, self.load, self.own) {
            Ok(asked) => strangers.is_empty().then_some(Some(asked)),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    /// Checks that a text, if it is there, is a name.
    fn name(&mut self, item: &Node, key: &str) {
        let Some(node) = item.get(key).map(|entry| &entry.value) else { return };
        let Content::Scalar(text) = &node.content else { return };
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if text.is_empty() || !text.chars().all(fits) {
            self.wrong(node, format!("`{text}` is not a valid `{key}`"), "use letters, digits, `_` and `-`");
        }
    }

    fn form(&mut self, item: &Node) -> Option<Form> {
        let name = self.text(item, "form")?;
        let form = named(&name);
        if form.is_none() {
            let node = item.get("form").map_or(item, |entry| &entry.value);
            self.wrong(node, format!("unknown form `{name}`"), advice(&name, Form::WORDS));
        }
        form
    }

    fn tolerance(&mut self, item: &Node) -> Option<Tolerance> {
        let Some(node) = item.get("tolerance").map(|entry| &entry.value) else {
            self.wrong(item, "the claim has no `tolerance`", "write `tolerance: { type: rel, value: 0.1 }`");
            return None;
        };
        let name = match node.get("type").map(|entry| &entry.value.content) {
            Some(Content::Scalar(name)) => name.as_str(),
            _ => "",
        };
        let Some(kind) = named(name) else {
            let hint = advice(name, ToleranceKind::WORDS);
            self.wrong(node, format!("unknown type of tolerance `{name}`"), hint);
            return None;
        };
        let amount = match node.get("value").map(|entry| &entry.value) {
            Some(amount) => self.number(amount)?,
            None if kind == ToleranceKind::Bool => 0.0,
            None => {
                self.wrong(node, "the tolerance has no `value`", "");
                return None;
            }
        };
        let least = if kind == ToleranceKind::Factor { 1.0 } else { 0.0 };
        if amount < least {
            self.wrong(node, format!("a tolerance of {amount} admits no value"), format!("at least {least}"));
            return None;
        }
        Some(Tolerance { kind, amount })
    }

    fn uncertain(&mut self, item: &Node) -> Option<Option<String>> {
        let flag = match item.get("uncertain").map(|entry| &entry.value.content) {
            None => false,
            Some(Content::Scalar(text)) if text == "false" => false,
            Some(Content::Scalar(text)) if text == "true" => true,
            Some(_) => {
                self.wrong(item, "`uncertain` must be true or false", "");
                return None;
            }
        };
        let reason = match item.get("uncertain_reason").map(|entry| &entry.value.content) {
            Some(Content::Scalar(text)) => text.clone(),
            _ => String::new(),
        };
        Some(flag.then_some(reason))
    }

    fn number(&mut self, node: &Node) -> Option<f64> {
        let parsed = match &node.content {
            Content::Scalar(text) => text.parse::<f64>().ok().filter(|x| x.is_finite()),
            _ => None,
        };
        if parsed.is_none() {
            self.wrong(node, "this must be a number", "");
        }
        parsed
    }

    /// The value, which must suit the form.
    fn value(&mut self, item: &Node, form: Form) -> Option<Value> {
        let nothing = Node { place: item.place, used: None, content: Content::Null };
        let node = item.get("value").map_or(&nothing, |entry| &entry.value);
        match form {
            Form::Missing => Some(Value::None),
            Form::Ordering | Form::Qualitative | Form::Correlation => match &node.content {
                Content::Scalar(text) => Some(Value::Text(text.clone())),
                _ => {
                    self.wrong(
                        node,
                        format!("the value of a claim of the form {} must be a text", form.word()),
                        "",
                    );
                    None
                }
            },
            Form::Range => match &node.content {
                Content::List(ends) if ends.len() == 2 => {
                    let (low, high) = (self.number(&ends[0])?, self.number(&ends[1])?);
                    if low > high {
                        self.wrong(node, format!("{low} is above {high}"), "write `[lower, upper]`");
                        return None;
                    }
                    Some(Value::Range(low, high))
                }
                _ => {
                    self.wrong(node, "a range must be two numbers", "write `[lower, upper]`");
                    None
                }
            },
            _ => match &node.content {
                Content::Map(entries) if !entries.is_empty() => {
                    let part = |entry: &yaml::Entry| Some((entry.key.clone(), self.number(&entry.value)?));
                    entries.iter().map(part).collect::<Option<Vec<_>>>().map(Value::Parts)
                }
                _ => self.number(node).map(Value::Number),
            },
        }
    }
}

/// Whether a claim names its cells.
fn names_cells(item: &Node) -> bool {
    item.get("study").is_some() || item.get("cells").is_some()
}

fn advice(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "claims:\n- {id: a, kind: prediction, group: g, machine: m, workload: w, class: c, \
        model: upc, threads: t, policy: P, baseline: b, yield: posix, environment: e, metric: x, form: \
    exact, value: 1.5, tolerance: {type: pp, value: 2}}\n";

    #[test]
    fn a_claim_is_read() {
        let claims = read("f", ONE).unwrap();
        assert_eq!(claims.len(), 1);
        assert_eq!(claims[0].value, Value::Number(1.5));
        assert_eq!(claims[0].tolerance, Tolerance { kind: ToleranceKind::Pp, amount: 2.0 });
        assert_eq!(claims[0].uncertain, None);
    }

    #[test]
    fn inputs_are_left_out_whatever_they_hold() {
        let text = "claims:\n- {id: a, kind: calibration, value: [x, y]}\n";
        assert!(read("f", text).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let cases = [
            ("", "mapping"),
            ("claims: 3\n", "must be a list"),
            ("claim: []\n", "no list `claims`"),
            ("claims:\n- 7\n", "a claim must be a mapping"),
            ("claims:\n- {id: a, kind: guess}\n", "unknown kind `guess`"),
        ];
        for (text, part) in cases {
            let error = read("file.yaml", text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
        let changes = [
            ("form: exact", "form: exactly", "did you mean `exact`"),
            ("type: pp", "type: percent", "unknown type of tolerance"),
            ("value: 2}", "value: -2}", "admits no value"),
            ("value: 1.5", "value: nan", "must be a number"),
            ("policy: P", "polcy: P", "no `policy`"),
            ("form: exact, value: 1.5", "form: range, value: [2, 1]", "2 is above 1"),
        ];
        for (old, new, part) in changes {
            let error = read("file.yaml", &ONE.replacen(old, new, 1)).unwrap_err();
            assert!(error.contains(part) && error.contains("file.yaml:2"), "{new}: {error}");
        }
    }

    #[test]
    fn the_shipped_claims_are_read() {
        let claims = read(super::super::SHIPPED_NAME, super::super::SHIPPED).unwrap();
        assert!(claims.len() > 250, "{}", claims.len());
    }
}
