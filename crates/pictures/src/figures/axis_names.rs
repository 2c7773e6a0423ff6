//! What a swept parameter is called on an axis: in words, with its unit. The words are those of the key's
//! documentation where they are short and name a quantity, else those of the key itself.

use std::sync::LazyLock;

use experiment::PolicyRegistry;
use experiment::response::Response;
use experiment::sweep::Varied;
use scenario::configuration::{Axis, plain};

use super::page::LABEL;
use crate::canvas::font;

/// The most letters of a name from the documentation: it fits below a narrow figure.
const LONGEST: usize = 45;
/// Where the name of a quantity ends in the sentence that documents it.
const ENDS: [&str; 8] = [".", ",", ";", ":", " (", " while ", " when ", " whose "];

/// Keys that have numbers of the machine and of the kernel, with what documents them.
static DOCUMENTED: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let all = scenario::settable(&PolicyRegistry::default(), None, true);
    let quantities = all.into_iter().filter(|path| path.words.is_empty());
    let named = quantities.filter_map(|path| Some((documented(&path.about)?, path.path)));
    let named: Vec<(String, String)> =
        named.filter(|(_, path)| path.starts_with("machine.") || path.starts_with("kernel.")).collect();
    // What two keys have in common names neither.
    let single = |name: &String| named.iter().filter(|(other, _)| other == name).count() == 1;
    named.iter().filter(|(name, _)| single(name)).map(|(name, path)| (path.clone(), name.clone())).collect()
});

/// The name of a quantity at the beginning of the sentence that documents it.
fn documented(about: &str) -> Option<String> {
    let end = ENDS.iter().filter_map(|end| about.find(end)).min().unwrap_or(about.len());
    let name = &about[..end];
    let noun = name.contains(' ') && !name.contains('`') && !name.starts_with("Use ");
    let mut letters = name.chars();
    let first = letters.next()?;
    // Abbreviations keep their capitals.
    let abbreviated = name.chars().nth(1).is_some_and(char::is_uppercase);
    let first = if abbreviated { first.to_string() } else { first.to_lowercase().to_string() };
    (noun && name.len() <= LONGEST).then(|| first + letters.as_str())
}

/// A swept path in words.
fn words(path: &str) -> String {
    if let Some((_, name)) = DOCUMENTED.iter().find(|(known, _)| known == path) {
        return name.clone();
    }
    let said = |key: &str| key.replace('_', " ");
    let parts: Vec<&str> = path.split('.').collect();
    match parts[..] {
        ["apps", app, .., key] | ["policies", app, .., key] => format!("{} of {app}", said(key)),
        [whole @ ("machine" | "kernel"), key] => format!("{} of the {whole}", said(key)),
        [.., key] => said(key),
        [] => String::new(),
    }
}

/// A name where it has room; else the last part of its path in words.
pub(crate) fn within(name: &str, path: &str, most: f64) -> String {
    if font::width(name, LABEL) <= most {
        return name.to_owned();
    }
    path.rsplit('.').next().unwrap_or(path).replace('_', " ")
}

/// A parameter on an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    /// Its name in words, without the unit.
    pub(crate) name: String,
    /// The unit of the labels; empty if they have none or their own.
    pub(crate) unit: String,
    /// A label for each value.
    pub(crate) labels: Vec<String>,
}

impl Named {
    /// The name with the unit of the labels: `grain of pool (ms)`.
    pub(crate) fn title(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }
}

/// The names of all parameters of a sweep; those that would be alike keep their short ones.
pub(crate) fn names(varied: &[Varied]) -> Vec<String> {
    distinct(varied.iter().map(|one| (one.axis.path.as_str(), one.short.clone())))
}

/// The names of the parameters of a response.
pub(crate) fn of_response(response: &Response) -> Vec<String> {
    distinct(response.axes.iter().map(|axis| axis.path.as_str()).zip(response.names()))
}

/// Names of paths; those that would be alike keep the short ones beside them.
fn distinct<'a>(paths: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let all: Vec<(String, String)> = paths.map(|(path, short)| (words(path), short)).collect();
    let name = |(name, short): &(String, String)| {
        let alike = all.iter().filter(|(other, _)| other == name).count() > 1;
        if alike { short.clone() } else { name.clone() }
    };
    all.iter().map(name).collect()
}

/// A parameter of a sweep on an axis of its own.
pub(crate) fn named(varied: &[Varied], at: usize) -> Named {
    let (name, axis) = (names(varied).swap_remove(at), &varied[at].axis);
    let written = axis.values.iter().map(|value| plain(value)).collect();
    match measured(axis) {
        Some((unit, labels)) => Named { name, unit, labels },
        None => Named { name, unit: String::new(), labels: written },
    }
}

/// Numbers of one unit for all values; none where they have no unit or would look alike.
fn measured(axis: &Axis) -> Option<(String, Vec<String>)> {
    let numbers = axis.numbers.as_ref()?;
    let units: &[(&str, f64)] = match axis.unit.as_str() {
        "s" => &[("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)],
        "B" => &[("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("B", 1.0)],
        "B/s" => &[("GB/s", 1e9), ("MB/s", 1e6), ("KB/s", 1e3), ("B/s", 1.0)],
        "share" => &[("%", 0.01)],
        _ => return None,
    };
    let least = numbers.iter().copied().filter(|number| *number > 0.0).fold(f64::INFINITY, f64::min);
    // The largest unit in which the smallest value is not below a tenth.
    let (unit, length) = *units.iter().find(|(_, length)| least >= length * 0.1).or(units.last())?;
    let labels: Vec<String> = numbers.iter().map(|number| short(number / length)).collect();
    let distinct = labels.iter().enumerate().all(|(at, label)| !labels[..at].contains(label));
    distinct.then(|| (unit.to_owned(), labels))
}

/// A number with at most four digits, without zeros at its end.
fn short(number: f64) -> String {
    let decimals = match number.abs() {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varied(path: &str, values: &[&str]) -> Varied {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Varied::new(Axis::new(path, values), path)
    }

    #[test]
    fn names_are_words_and_values_share_a_unit() {
        let grain = named(&[varied("apps.pool.workload.grain", &["100us", "1ms", "20ms"])], 0);
        assert_eq!(
            (grain.title().as_str(), grain.labels.join(" ")),
            ("grain of pool (ms)", "0.1 1 20".into())
        );
        let bound = named(&[varied("machine.core_bandwidth", &["2GB/s", "500MB/s"])], 0);
        assert_eq!(bound.title(), "memory bandwidth that one core can draw (GB/s)");
        let threads = named(&[varied("threads_per_core", &["1", "2"])], 0);
        assert_eq!(threads.title(), "threads per core");
        assert_eq!(words("kernel"), "kernel");
        assert_eq!(words("apps.pool.workload"), "workload of pool");
        assert_eq!(words("kernel.no_such_rule"), "no such rule of the kernel");
    }

    #[test]
    fn names_that_are_alike_keep_their_paths() {
        let both = [varied("apps.a.workload.grain", &["1ms"]), varied("apps.a.runtime.grain", &["1ms"])];
        assert_eq!(names(&both), ["apps.a.workload.grain", "apps.a.runtime.grain"]);
        // Both are documented as the relative speed of a hardware thread.
        assert_eq!(words("machine.smt_compute"), "smt compute of the machine");
    }

    #[test]
    fn names_from_the_documentation_are_quantities() {
        for (path, name) in DOCUMENTED.iter() {
            assert!(name.len() <= LONGEST && !name.ends_with(' ') && name.contains(' '), "{path}: {name}");
        }
        assert!(DOCUMENTED.iter().any(|(path, name)| {
            path == "machine.slow_cores" && name == "number of slow cores per package"
        }));
    }

    #[test]
    fn values_that_would_look_alike_are_as_written() {
        let axis = Axis::new("x", vec!["1000000ns".into(), "1000001ns".into()]);
        assert_eq!(measured(&axis), None);
        let zero = Axis::new("x", vec!["0s".into(), "2ms".into()]);
        assert_eq!(measured(&zero), Some(("ms".into(), vec!["0".into(), "2".into()])));
    }
}
