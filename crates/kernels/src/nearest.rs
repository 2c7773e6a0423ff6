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

/// The release of a row in numbers: that of its packages, else that of its name. None if it is not Linux.
#[must_use]
pub fn numbers_of(entry: &Entry) -> Option<Vec<u32>> {
    match entry.own.package {
        Some(package) => Some(numbers(package.release)),
        None => Some(numbers(entry.name.strip_prefix("linux-")?)),
    }
}

/// The nearest row to a release as `uname -r` prints it: the newest that is not newer, of the mainline and of
/// the distribution that its name tells (`.el9`, `-generic`), that of the distribution first. None if it does
/// not begin with a number.
#[must_use]
pub fn nearest(release: &str) -> Option<Nearest> {
    let runs = numbers(release);
    if runs.is_empty() {
        return None;
    }
    let fits = |entry: &&Entry| entry.own.package.is_none_or(|package| release.contains(package.mark));
    // Of rows of one release that of the distribution, then the one of which others are variations.
    let rank = |entry: &Entry| (!entry.own.is_mainline(), entry.own.base.is_none());
    let of = |entry: &'static Entry| Some((numbers_of(entry)?, rank(entry), entry));
    let mut known: Vec<_> = KERNELS.entries.iter().filter(fits).filter_map(of).collect();
    known.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let not_newer = known.iter().rev().find(|(known, ..)| *known <= runs);
    let (found, _, entry) = not_newer.or(known.first())?;
    let fit = match not_newer {
        Some(_) if runs.starts_with(found) => Fit::Exact,
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
        assert_eq!(of("6.18.0-rc1"), Some(("linux-6.18.0", Fit::Exact)));
        for (release, name) in [
            ("3.10.0-1160.71.1.el7.x86_64", "rhel-7.9"),
            ("4.18.0-193.28.1.el8_2.x86_64", "rhel-8.2"),
            ("4.18.0-147.5.1.el8_1.x86_64", "rhel-8.0"),
            ("4.18.0-372.9.1.el8.x86_64", "rhel-8.6"),
            ("4.18.0-553.el8_10.x86_64", "rhel-8.10"),
            ("5.14.0-427.13.1.el9_4.x86_64", "rhel-9.4"),
            ("5.14.0-362.8.1.el9_3.x86_64", "rhel-9.2"),
            ("6.12.0-55.9.1.el10_0.x86_64", "rhel-10.0"),
            ("6.1.0-18-cloud-amd64", "debian-12"),
            ("6.12.74-amd64", "linux-6.12.65"),
            ("5.15.0-91-generic", "ubuntu-22.04"),
            ("6.8.0-31-generic", "ubuntu-24.04"),
            ("5.14.21-150400.24.46-default", "sles-15"),
            ("6.9.7-1.el8.elrepo.x86_64", "linux-6.8"),
            ("5.4.0-150-generic", "linux-5.4"),
            ("6.18.1", "linux-6.18.0"),
            ("6.18.2-cloud-amd64", "linux-6.18"),
        ] {
            assert_eq!(of(release).map(|found| found.0), Some(name), "{release}");
        }
        assert_eq!(of("2.6.29-rc1"), Some(("linux-2.6.28", Fit::NotNewer)));
        assert_eq!(of("2.4.37"), Some(("linux-2.6.18", Fit::Oldest)));
        assert_eq!(of("unknown"), None);
    }
}
