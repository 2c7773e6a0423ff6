//! Names that have changed. A former name is read like the present one, with a remark, for at least one minor
//! version; after that it is refused with the present name as the hint (`docs/promises.md`).

/// What a name is the name of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A command of the program.
    Command,
    /// A flag of the program, with its dashes.
    Flag,
    /// A key of scenarios: a dotted path whose `*` stands for any name, `apps.*.tasks`.
    Key,
    /// A key of machine files: a dotted path.
    MachineKey,
    /// A metric.
    Metric,
}

/// A name that has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Renamed {
    /// What it names.
    pub what: What,
    /// The former name.
    pub old: &'static str,
    /// The present name. That of a key is its last part alone.
    pub new: &'static str,
    /// The first version with the present name.
    pub since: &'static str,
    /// The first version that refuses the former name; none as long as it is read.
    pub refused: Option<&'static str>,
}

/// A metric that the development versions before 1.0 (until 2026-11-22) called otherwise.
const fn metric(old: &'static str, new: &'static str) -> Renamed {
    Renamed { what: What::Metric, old, new, since: "1.0.0", refused: None }
}

/// All names that have changed.
pub const RENAMED: &[Renamed] = &[
    metric("account_compute", "breakdown_compute"),
    metric("account_daemon", "breakdown_daemon"),
    metric("account_idle", "breakdown_idle"),
    metric("account_kernel", "breakdown_kernel"),
    metric("account_memory_stall", "breakdown_memory_stall"),
    metric("account_migration", "breakdown_migration"),
    metric("account_refill", "breakdown_refill"),
    metric("account_remote", "breakdown_remote"),
    metric("account_smt", "breakdown_smt"),
    metric("account_spin", "breakdown_spin"),
    metric("account_switch", "breakdown_switch"),
    metric("account_yield", "breakdown_yield"),
    metric("gap_closed", "recovered"),
    metric("spread", "variation"),
];

impl Renamed {
    /// A sentence without full stop: what the name is now.
    #[must_use]
    pub fn remark(&self) -> String {
        let (old, new) = (self.old.rsplit('.').next().unwrap_or(self.old), self.new);
        format!("`{old}` is called `{new}` since version {}; use that name", self.since)
    }

    pub(crate) const fn is_read(&self) -> bool {
        self.refused.is_none()
    }
}

/// The change of a name that is still read.
#[must_use]
pub fn former(table: &'static [Renamed], what: What, name: &str) -> Option<&'static Renamed> {
    table.iter().find(|row| row.what == what && row.old == name && row.is_read())
}

/// The candidate that the table has as the present name of a word: a name, or a path that ends with it. Names
/// of metrics are those of parameters, too, so they do not count here.
pub(crate) fn present<'a>(
    table: &[Renamed],
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let (start, end) = word.rsplit_once('.').map_or(("", word), |(start, end)| (start, end));
    let is_old = |row: &&Renamed| row.what != What::Metric && row.old.rsplit('.').next() == Some(end);
    let row = table.iter().find(is_old)?;
    let path = if start.is_empty() { row.new.to_owned() } else { format!("{start}.{}", row.new) };
    candidates.into_iter().find(|candidate| *candidate == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Major and minor version.
    fn minor(version: &str) -> (u32, u32) {
        let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap());
        (parts.next().unwrap(), parts.next().unwrap())
    }

    #[test]
    fn the_table_keeps_its_own_rule() {
        let this = minor(env!("CARGO_PKG_VERSION"));
        for row in RENAMED {
            assert!(minor(row.since) <= this, "{row:?} is of a later version");
            if let Some(refused) = row.refused {
                let read = minor(refused) > minor(row.since);
                assert!(read, "{row:?}: the former name is read in at least one minor version");
            }
            let old = |other: &&Renamed| other.what == row.what && other.old == row.old;
            assert_eq!(RENAMED.iter().filter(old).count(), 1, "{row:?} is there twice");
            let chain = |other: &Renamed| other.what == row.what && other.old == row.new;
            assert!(!RENAMED.iter().any(chain), "{row:?} leads to another former name");
        }
    }

    #[test]
    fn a_former_name_is_found_until_it_is_refused_and_then_a_hint() {
        let key =
            Renamed { what: What::Key, old: "apps.*.ranks", new: "tasks", since: "1.1.0", refused: None };
        for refused in [None, Some("1.3.0")] {
            let table: &'static [Renamed] = Box::leak(Box::new([Renamed { refused, ..key }]));
            assert_eq!(former(table, What::Key, "apps.*.ranks").is_some(), refused.is_none());
            assert_eq!(present(table, "ranks", ["nice", "tasks"]), Some("tasks"));
            assert_eq!(present(table, "apps.a.ranks", ["apps.a.tasks"]), Some("apps.a.tasks"));
            assert_eq!(present(table, "ranks", ["nice"]), None);
        }
        assert_eq!(former(RENAMED, What::Metric, "spread").map(|row| row.new), Some("variation"));
        assert_eq!(former(RENAMED, What::Flag, "spread"), None);
    }
}
