//! Names in reports: which words can be one, and which belong to references and dedicated runs; names in
//! programs.

use notation::yaml::Entry;
use workloads::program::{Name, is_name};

use crate::Reader;

/// Label of the best static partition.
pub const BEST_PARTITION: &str = "best-partition";
/// The policy named in cells of dedicated runs: one application alone, pinned: one thread per core,
/// or all tasks where each has separate work.
pub const DEDICATED: &str = "dedicated";
/// Label of the fair share.
pub const FAIR_SHARE: &str = "fair-share";
/// Label of the lower bound.
pub const LOWER_BOUND: &str = "lower-bound";

/// Labels that no policy may have, whatever the case.
pub(crate) const RESERVED: [&str; 4] = [BEST_PARTITION, FAIR_SHARE, LOWER_BOUND, DEDICATED];

/// True for 1 to 64 ASCII letters, digits, `_` and `-`.
pub(crate) fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.chars().count() <= 64 && text.chars().all(fits)
}

/// A name of an object.
pub(crate) fn name(reader: &mut Reader, entry: &Entry) -> Option<Name> {
    if is_name(&entry.key) && is_word(&entry.key) {
        return Some(Name { text: entry.key.clone(), place: entry.place });
    }
    let message = format!("`{}` is not a valid name", entry.key);
    reader.wrong_with_hint(entry.place, message, "use letters, digits, `_` and `-`");
    None
}
