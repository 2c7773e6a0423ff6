//! The row that comes nearest to a kernel that runs somewhere, from its `uname -r`.

use crate::{Entry, KERNELS};

/// A row for a running kernel.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// The row.
    pub entry: &'static Entry,
    /// How far it fits.
    pub fit: Fit,
}

/// How far a row fits a running kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// It is this release.
    Exact,
    /// It is the newest row of the same system that is not newer.
    NotNewer,
    /// All rows of the system are newer; this is the oldest one.
    Oldest,
}

/// The numbers at the beginning of a release, `5.14.0-427` as 5, 14, 0, 427.
fn numbers(release: &str) -> Vec<u32> {
    release.split(['.', '-', '+', '~', '_']).map_while(|part| part.parse().ok()).take(4).collect()
}

/// The numbers of a row: those of its system's packages, else those of its name.
fn numbers_of(entry: &Entry) -> Option<Vec<u32>> {
    match entry.own.package {
        Some(package) => Some(numbers(package.release)),
        None => Some(numbers(entry.name.strip_prefix("linux-")?)),
    }
}

/// From which release on a row has its rules: `linux-6.18` is 6.18.2, as 6.18.0 has a row of its own.
fn since(entry: &Entry) -> Option<Vec<u32>> {
    if entry.name == "linux-6.18" { Some(vec![6, 18, 2]) } else { numbers_of(entry) }
}

/// The nearest row to a release as `uname -r` prints it: one of the distribution that its name tells (`.el9`,
/// `-generic`), else one of the mainline. None if it does not begin with a number.
#[must_use]
pub fn nearest(release: &str) -> Option<Nearest> {
    let runs = numbers(release);
    if runs.is_empty() {
        return None;
    }
    let rows = |mark: Option<&str>| -> Vec<(Vec<u32>, &'static Entry)> {
        let of = |entry: &&Entry| entry.own.package.map(|package| package.mark) == mark;
        let rows = KERNELS.entries.iter().filter(of).filter_map(|entry| Some((since(entry)?, entry)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    };
    let marks = KERNELS.entries.iter().filter_map(|entry| entry.own.package).map(|package| package.mark);
    let mark = marks.into_iter().find(|mark| release.contains(mark));
    let known = rows(mark);
    let not_newer = known.iter().rev().find(|(known, _)| *known <= runs);
    let (_, entry) = not_newer.or(known.first())?;
    let fit = match not_newer {
        Some(_) if numbers_of(entry).is_some_and(|named| runs.starts_with(&named)) => Fit::Exact,
        Some(_) => Fit::NotNewer,
        None => Fit::Oldest,
    };
    Some(Nearest { entry, fit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_kernel_has_a_nearest_row() {
        let of = |release: &str| nearest(release).map(|found| (found.entry.name, found.fit));
        assert_eq!(of("6.18.9-arch1"), Some(("linux-6.18", Fit::Exact)));
        assert_eq!(of("6.18.1-200.fc43"), Some(("linux-6.18.0", Fit::NotNewer)));
        assert_eq!(of("6.12.43+deb13-amd64"), Some(("linux-6.12.0", Fit::NotNewer)));
        assert_eq!(of("2.6.29-rc1"), Some(("linux-2.6.28", Fit::NotNewer)));
        assert_eq!(of("2.4.37"), Some(("linux-2.6.18", Fit::Oldest)));
        assert_eq!(of("unknown"), None);
    }
}
