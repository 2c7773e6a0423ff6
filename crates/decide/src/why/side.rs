//! The two sides of a difference: two scenarios, two policies of one, or two values of one of its settings.

use notation::diagnostics::{Diagnostic, Sources};
use notation::yaml::{self, Content};

use crate::flow;
use crate::trial::{Setting, Subject};

/// The most characters of a label in sentences.
const MOST_LABEL: usize = 40;

/// Two runs that differ; both have the seeds of the first one.
#[derive(Clone)]
pub struct Pair<'a> {
    /// The scenarios, twice the same one unless two were given.
    pub subjects: [Subject<'a>; 2],
    /// What is set on each side.
    pub settings: [Setting; 2],
    /// What each side is called in sentences; never the same.
    pub labels: [String; 2],
    /// The word before such a name: `under` a policy, `with` a value, `in` a scenario.
    pub how: &'static str,
    /// Two scenarios were given.
    pub files: bool,
}

/// Two scenarios, each under its first policy. The second one runs with the seeds of the first one.
#[must_use]
pub fn of_files<'a>(first: &Subject<'a>, second: &Subject<'a>) -> Pair<'a> {
    let short = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        notation::text::cut(name.trim_end_matches(".yaml").trim_end_matches(".yml"), MOST_LABEL)
    };
    let mut labels = [short(first.name), short(second.name)];
    if labels[0] == labels[1] {
        labels = [first.name, second.name].map(|name| notation::text::cut(name, MOST_LABEL));
    }
    if labels[0] == labels[1] {
        labels = ["the first scenario".into(), "the second scenario".into()];
    }
    Pair {
        subjects: [first.clone(), second.clone()],
        settings: [Setting::default(), Setting::default()],
        labels,
        how: "in",
        files: true,
    }
}

/// Two policies of one scenario.
#[must_use]
pub fn of_policies<'a>(subject: &Subject<'a>, policies: [&str; 2]) -> Pair<'a> {
    let setting = |policy: &str| Setting { set: Vec::new(), policy: Some(policy.to_owned()) };
    let mut labels = policies.map(|policy| notation::text::cut(policy, MOST_LABEL));
    if labels[0] == labels[1] {
        labels = ["the first policy".into(), "the second policy".into()];
    }
    let subjects = [subject.clone(), subject.clone()];
    Pair { subjects, settings: policies.map(setting), labels, how: "under", files: false }
}

/// Two values of one setting, written as `PATH=V1,V2`, under one policy.
///
/// # Errors
/// A rendered diagnostic: it is not a path with two values.
pub fn of_values<'a>(subject: &Subject<'a>, policy: Option<&str>, vary: &str) -> Result<Pair<'a>, String> {
    let mut sources = Sources::new("scenario", "");
    let source = sources.add("--vary", vary);
    let whole = || notation::diagnostics::Place::range(source, 0..vary.len());
    let refused = |problem: Diagnostic, sources: Sources| {
        notation::diagnostics::Problems::new(sources, vec![problem]).to_string()
    };
    let hint = "write `path=a,b`";
    let Some((path, values)) = vary.split_once('=') else {
        return Err(refused(Diagnostic::new(whole(), "the values are missing").hint(hint), sources));
    };
    let padded = format!("{}[{values}]", " ".repeat(path.len()));
    let items = match yaml::tree(source, &padded) {
        Err(problem) => return Err(refused(problem, sources)),
        Ok(node) => match node.content {
            Content::List(items) => items,
            _ => Vec::new(),
        },
    };
    let [first, second] = &items[..] else {
        let message = format!("`--vary` has {}, and a difference is between two", count(items.len()));
        return Err(refused(Diagnostic::new(whole(), message).hint(hint), sources));
    };
    let path = path.trim();
    let values = [first, second].map(flow::written);
    if values[0] == values[1] {
        let message = "both values are the same";
        return Err(refused(Diagnostic::new(whole(), message).hint(hint), sources));
    }
    let short = path.rsplit('.').next().unwrap_or(path);
    let labels = values.clone().map(|value| notation::text::cut(&format!("{short}={value}"), MOST_LABEL));
    let labels = if labels[0] == labels[1] {
        ["the first value".to_owned(), "the second value".to_owned()]
    } else {
        labels
    };
    let settings = values
        .map(|value| Setting { set: vec![format!("{path}={value}")], policy: policy.map(str::to_owned) });
    let subjects = [subject.clone(), subject.clone()];
    Ok(Pair { subjects, settings, labels, how: "with", files: false })
}

fn count(values: usize) -> String {
    notation::number::plural(values, "value", "values")
}

#[cfg(test)]
mod tests {
    use super::*;
    use policies::PolicyRegistry;
    use scenario::Overrides;

    #[test]
    fn two_values_make_two_sides_and_others_are_refused() {
        let policies = PolicyRegistry::default();
        let subject = Subject { policies: &policies, name: "s", text: "", base: Overrides::default() };
        let pair = of_values(&subject, None, "kernel={ linux-6.18: { tick: 1ms } },linux-2.6.28").unwrap();
        assert_eq!(pair.settings[0].set, ["kernel={ linux-6.18: { tick: 1ms } }"]);
        assert_eq!(pair.labels[1], "kernel=linux-2.6.28");
        for (wrong, why) in [
            ("seed", "the values are missing"),
            ("a=1", "1 value"),
            ("a=1,2,3", "3 values"),
            ("a=1,1", "the same"),
            ("a=[1,2", "error"),
        ] {
            let refused = of_values(&subject, None, wrong).err().unwrap();
            assert!(refused.contains(why) && refused.contains("--vary"), "{refused}");
        }
    }
}
