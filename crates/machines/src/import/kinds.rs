//! The types of levels in hwloc's synthetic descriptions, by name.

use notation::diagnostics::{Diagnostic, Place};
use notation::suggest::nearest;

use super::elements::Problem;
use super::found::CACHE_LEVELS;

/// The type of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Package,
    Die,
    Group,
    Numa,
    /// A data or unified cache, 1 for L1.
    Cache(usize),
    /// An instruction cache, which is not simulated.
    Instructions,
    Core,
    Pu,
}

/// Names of the types. A word of at least two letters that begins one of them stands for it.
const NAMES: &[(&str, Kind)] = &[
    ("package", Kind::Package),
    ("socket", Kind::Package),
    ("die", Kind::Die),
    ("group", Kind::Group),
    ("numanode", Kind::Numa),
    ("node", Kind::Numa),
    ("core", Kind::Core),
    ("pu", Kind::Pu),
];

pub(super) fn wrong(place: Place, message: impl Into<String>, hint: impl Into<String>) -> Problem {
    Diagnostic::new(place, message).hint(hint).into()
}

/// The type of a name, which may be abbreviated to two letters.
pub(super) fn kind_of(name: &str, place: Place) -> Result<Kind, Problem> {
    let lower = name.to_ascii_lowercase();
    let begins = |whole: &str| lower.len() >= 2 && whole.starts_with(&lower);
    if let Some(kind) = cache(&lower) {
        return Ok(kind);
    }
    // hwloc writes the depth of groups behind their name.
    if lower.strip_prefix("group").is_some_and(|depth| depth.bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(Kind::Group);
    }
    if let Some((_, kind)) = NAMES.iter().find(|(whole, _)| begins(whole)) {
        return Ok(*kind);
    }
    if begins("machine") {
        let hint = "leave it out; its attributes open the description, as `(memory=64GB)`";
        return Err(wrong(place, "the machine is not a level", hint));
    }
    // A word may be a mistyped abbreviation, too.
    let words = NAMES.iter().map(|(whole, _)| *whole).chain(["pack", "numa", "l3", "l2", "l1d", "l3cache"]);
    let hint = nearest(&lower, words).map_or_else(
        || "types are package, die, group, numanode, l1 to l5, core and pu".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err(wrong(place, format!("unknown type `{name}`"), hint))
}

/// `l3`, `l3cache`, `l1d`, `l1icache`
fn cache(lower: &str) -> Option<Kind> {
    let rest = lower.strip_prefix('l')?;
    let level = rest.get(..1)?.parse::<usize>().ok().filter(|level| (1..=CACHE_LEVELS).contains(level))?;
    let rest = rest.get(1..)?;
    let (instructions, rest) = match rest.strip_prefix('i') {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix(['d', 'u']).unwrap_or(rest)),
    };
    let kind = if instructions { Kind::Instructions } else { Kind::Cache(level) };
    "cache".starts_with(rest).then_some(kind)
}
