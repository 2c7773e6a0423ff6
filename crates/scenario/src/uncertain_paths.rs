//! The key `uncertain`: reads its paths with their ranges, sets the values of a draw, and tries the ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use machines::Draw;
use notation::diagnostics::{Diagnostic, Place};
use notation::parameter::{Kind, Parameter};
use notation::yaml::{Content, Entry, Node};

use crate::Reader;
use crate::key::{Edit, Inside, Key};
use crate::keys::{APPLICATION, SCENARIO, Scenario};
use crate::limits::{MAX_GRID, MAX_UNCERTAIN};
use crate::paths;
use crate::range::is_range;
use crate::resolve::resolve_configuration;
use crate::settable::{self, SettablePath};
use crate::sweep::Sweep;
use crate::uncertain::{UncertainValue, Wrong};

/// How a range is written, as the end of a sentence.
const HOW: &str = "write the smallest and the largest value, as `1GB/s..5GB/s`";

/// An uncertain value, and where its range is written.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) value: UncertainValue,
    range: Node,
}

/// What the paths of a scenario can be.
struct Paths<'a> {
    root: &'a Node,
    known: Vec<SettablePath>,
    /// The paths that are swept, with their places.
    swept: Vec<(&'a str, Place)>,
}

/// Reads `uncertain`; what is wrong goes to the reader. Values of the machine among them count no more as
/// estimates of its file.
pub(crate) fn read(root: &Node, reader: &mut Reader) -> Vec<Found> {
    let Some(entry) = root.get("uncertain") else { return Vec::new() };
    let Content::Map(entries) = &entry.value.content else {
        let message = format!("`uncertain` must be a mapping of paths to ranges, not {}", entry.value.what());
        let hint = "write `uncertain: { apps.job.workload.demand: 1GB/s..5GB/s }`";
        reader.wrong_node(&entry.value, message, hint);
        return Vec::new();
    };
    if let Some(first) = entries.get(MAX_UNCERTAIN) {
        reader.wrong(first.place, format!("a scenario has at most {MAX_UNCERTAIN} uncertain values"));
        return Vec::new();
    }
    let paths = Paths::of(root, reader);
    let mut trial = root.clone();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let earlier = entries.iter().take(at);
        match paths.value(entry, earlier, &mut trial) {
            Ok(value) => found.push(Found { value, range: entry.value.clone() }),
            Err(problem) => reader.add(problem),
        }
    }
    let of_machine = found.iter().filter_map(|one| one.value.path.strip_prefix("machine."));
    reader.context.stated = Arc::new(of_machine.map(str::to_owned).collect::<BTreeSet<_>>());
    found
}

/// Replaces each uncertain value by that of a draw.
pub(crate) fn set_drawn(root: &mut Node, found: &[Found], draw: Draw) {
    for Found { value, range } in found {
        set(root, value, range, &value.at(value.place(draw)));
    }
}

/// Sets an uncertain value; its range stands for it in messages.
fn set(root: &mut Node, value: &UncertainValue, range: &Node, text: &str) {
    let node = Node { used: range.used, ..Node::scalar(range.place, text) };
    // Each path has been tried before: it cannot fail.
    let set = paths::set(root, &value.path, range.place, node, Edit::Sweep);
    debug_assert!(set.is_ok(), "{} was set before", value.path);
}

/// Resolves the first configuration with each end of each range; what is wrong with one goes to the reader.
pub(crate) fn try_ends(root: &Node, found: &[Found], reader: &mut Reader) {
    if found.is_empty() {
        return;
    }
    let sweep = Sweep::read(root, &mut Reader::new(reader.context.clone()), MAX_GRID);
    let Some(first) = (0..sweep.size()).find_map(|number| sweep.at(number)) else { return };
    for Found { value, range } in found {
        for end in [&value.low, &value.high] {
            let mut changed = root.clone();
            set(&mut changed, value, range, end);
            let edits = first.edits(&changed);
            let mut trial = Reader::new(reader.context.clone());
            resolve_configuration(&Scenario::edited(&changed, Some(&edits)), &mut trial);
            if let Some(Diagnostic { message, hint, .. }) = trial.problems().into_iter().next() {
                let path = &value.path;
                reader.wrong_node(range, format!("`{path}` cannot be `{end}`: {message}"), hint);
                break;
            }
        }
    }
}

impl<'a> Paths<'a> {
    fn of(root: &'a Node, reader: &Reader) -> Self {
        let name = settable::machine_name(root);
        let machine = name.and_then(|name| match reader.context.machines.get(name) {
            Some(file) => file.clone(),
            None => machines::resolve(name).ok(),
        });
        let known = settable::paths_on(&reader.context.policies, Some(root), Edit::Sweep, machine.as_ref());
        Self { root, known, swept: swept(root) }
    }

    /// An entry as read. `trial` has the values of the earlier ones.
    fn value<'b>(
        &self,
        entry: &Entry,
        mut earlier: impl Iterator<Item = &'b Entry>,
        trial: &mut Node,
    ) -> Result<UncertainValue, Diagnostic> {
        let Entry { key: path, place, value: range } = entry;
        let written = paths::get(self.root, path);
        let known = self.known.iter().find(|known| same(known, path));
        if known.is_none() && written.is_none() {
            return Err(paths::unknown_path(self.root, path, *place, Edit::Sweep));
        }
        let low = Node::scalar(range.place, "1");
        paths::set(trial, path, *place, low, Edit::Sweep)?;
        if let Some(twice) =
            earlier.find(|other| paths::replaces(&other.key, path) || paths::replaces(path, &other.key))
        {
            return Err(Diagnostic::new(*place, format!("`{path}` is given twice"))
                .related(twice.place, "given here"));
        }
        if let Some((swept, at)) = self.swept.iter().find(|(swept, _)| paths::replaces(swept, path)) {
            let message = format!("`{path}` is uncertain, and the sweep of `{swept}` sets it");
            let hint = "leave it out of `uncertain` or of `sweep`";
            return Err(Diagnostic::new(*place, message).hint(hint).related(*at, "swept here"));
        }
        let parameter = known.and_then(|known| known.parameter);
        let text = text_of(path, range, parameter.as_ref())?;
        let value = self.single(path, *place, written, parameter.as_ref())?;
        UncertainValue::read(path, &value, text, parameter.as_ref())
            .map_err(|wrong| refused(wrong, (path, range, text), (&value, written)))
    }

    /// The value that ordinary runs have, as written or by default.
    fn single(
        &self,
        path: &str,
        place: Place,
        written: Option<&Node>,
        parameter: Option<&Parameter>,
    ) -> Result<String, Diagnostic> {
        if let Some(node) = written {
            let Content::Scalar(text) = &node.content else {
                let message =
                    format!("`{path}` is uncertain, and its value is {}, not a single number", node.what());
                return Err(Diagnostic::new(place, message).related(node.start(), "its value"));
            };
            return Ok(text.clone());
        }
        let default = match parameter {
            Some(parameter) => Some(parameter.kind.of_one().show(parameter.default)),
            None => default_of_key(path).map(str::to_owned),
        };
        default.ok_or_else(|| {
            let message = format!("`{path}` is uncertain, and the scenario has no value for it");
            let hint = "runs without `--uncertainty` need a single value: write it where it belongs";
            Diagnostic::new(place, message).hint(hint)
        })
    }
}

/// Whether a known path is this one, labels of policies in upper or lower case.
fn same(known: &SettablePath, path: &str) -> bool {
    known.path == path || (path.starts_with("policies.") && known.path.eq_ignore_ascii_case(path))
}

/// The text of a range of numbers, if the path can have numbers.
fn text_of<'a>(path: &str, range: &'a Node, parameter: Option<&Parameter>) -> Result<&'a str, Diagnostic> {
    let wrong = |message: String, hint: String| {
        let problem = Diagnostic::new(range.place, message).hint(hint);
        match range.used {
            Some(used) => problem.related(used, "used here"),
            None => problem,
        }
    };
    let sweeps = format!("`sweep: {{ {path}: [first, second] }}` compares them");
    match parameter.map(|parameter| parameter.kind.of_one()) {
        Some(Kind::Choice(_)) => return Err(wrong(format!("`{path}` is a name, not a number"), sweeps)),
        Some(Kind::Flag) => {
            return Err(wrong(format!("`{path}` is `true` or `false`, not a number"), sweeps));
        }
        Some(Kind::Cpus | Kind::Counts) => {
            return Err(wrong(format!("`{path}` is a list, not a number"), sweeps));
        }
        _ => {}
    }
    match &range.content {
        Content::Scalar(text) if is_range(text) => Ok(text),
        Content::Scalar(text) if text.contains("..") => {
            Err(wrong(format!("`{text}` is no range of numbers"), HOW.to_owned()))
        }
        Content::Scalar(text) => {
            Err(wrong(format!("`{path}` needs a range, and `{text}` is a single value"), HOW.to_owned()))
        }
        _ => Err(wrong(format!("`{path}` needs a range, not {}", range.what()), HOW.to_owned())),
    }
}

/// What is said about a range, or about the value that should lie in it.
fn refused(
    wrong: Wrong,
    (path, range, text): (&str, &Node, &str),
    (value, written): (&str, Option<&Node>),
) -> Diagnostic {
    let (message, hint, written) = match wrong {
        Wrong::Range(why) => (why, HOW, None),
        Wrong::Value => (
            format!("`{path}` is `{value}`, which is no number like the ends of `{text}`"),
            "a value and its range need the same unit",
            written,
        ),
        Wrong::Outside => {
            let by = if written.is_some() { "" } else { " by default" };
            (
                format!("`{path}` is `{value}`{by}, outside its range `{text}`"),
                "runs without `--uncertainty` keep the value: widen the range or change the value",
                written,
            )
        }
    };
    let problem = Diagnostic::new(range.place, message).hint(hint);
    match (written.filter(|node| node.place.is_known()), range.used) {
        (Some(node), _) => problem.related(node.place, "the value"),
        (None, Some(used)) => problem.related(used, "used here"),
        (None, None) => problem,
    }
}

/// The default of a path that is a key and no parameter, if it has one of its own.
fn default_of_key(path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('.').collect();
    let find = |keys: &'static [Key], name: &str| keys.iter().find(|key| key.name == name);
    let inner = |keys: &'static [Key], rest: &[&str]| match rest {
        [name] => find(keys, name),
        [name, rest @ .., last] => match (find(keys, name)?.inside, rest) {
            (Inside::Keys(keys), []) | (Inside::Named(keys), [_]) => find(keys, last),
            _ => None,
        },
        [] => None,
    };
    let key = match parts.as_slice() {
        ["apps", _, rest @ ..] => inner(APPLICATION, rest),
        rest => inner(SCENARIO, rest),
    }?;
    Some(key.default).filter(|default| !default.is_empty())
}

/// The paths that the file sweeps, those of `zip` and `sample` included, with their places.
fn swept(root: &Node) -> Vec<(&str, Place)> {
    let mut all = Vec::new();
    for entry in root.get("sweep").map_or(&[][..], |sweep| sweep.value.entries()) {
        let inner: Vec<&Node> = match (entry.key.as_str(), &entry.value.content) {
            ("when", _) => Vec::new(),
            ("zip", Content::List(each)) => each.iter().collect(),
            ("zip", _) => vec![&entry.value],
            ("sample", _) => entry.value.get("over").map(|over| &over.value).into_iter().collect(),
            (path, _) => {
                all.push((path, entry.place));
                Vec::new()
            }
        };
        all.extend(inner.into_iter().flat_map(Node::entries).map(|one| (one.key.as_str(), one.place)));
    }
    all
}
