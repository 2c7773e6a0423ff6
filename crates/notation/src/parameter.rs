//! Declared parameters: every policy, kernel, runtime, machine and workload states its parameters as a table,
//! from which scenarios are checked, `oversim list` and the reference pages are made.

use std::ops::RangeInclusive;

/// What a parameter is measured in, and so how its value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A length of time with a unit, `100ms`; held in nanoseconds. `infinite` is u64::MAX.
    Duration,
    /// A number of bytes with a unit, `2MiB`.
    Size,
    /// Bytes per second with a unit, `4.5GB/s`.
    Rate,
    /// A whole number without unit.
    Count,
    /// A whole number that may be negative, `-4`; held as [`Kind::signed`] has it, in the same order.
    Signed,
    /// A plain decimal number, `1.3`, or a percentage of 1, `62%`; held in thousandths.
    Factor,
    /// A percentage, `15%`; held in hundredths of a per cent (1,500).
    Percent,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`; held as 1 or 0.
    Flag,
    /// Cpus in an order, each once: `0-3,8`, `0-15:4` or `[0, 2, 4]`. The range of the parameter is that of
    /// one cpu; the default is the empty list.
    Cpus,
    /// Whole numbers in an order: `[12, 4]` or `12,4`. The range of the parameter is that of one number; the
    /// default is the empty list.
    Counts,
    /// A value of this kind for all applications, or one for each: `{ cg: VALUE, ft: VALUE }`; applications
    /// that are not named have the default.
    PerApp(&'static Self),
}

/// A declared parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The value when a scenario says nothing.
    pub default: u64,
    /// Smallest legal value.
    pub min: u64,
    /// Largest legal value.
    pub max: u64,
    /// What it means and where the default comes from.
    pub about: &'static str,
}

impl Parameter {
    /// The same with this range, both ends legal.
    #[must_use]
    pub const fn within(self, range: &RangeInclusive<u64>) -> Self {
        Self { min: *range.start(), max: *range.end(), ..self }
    }

    /// The numbers of the default: none for a list.
    fn defaults(&self) -> Vec<u64> {
        if self.kind.is_list() { Vec::new() } else { vec![self.default] }
    }

    /// The same with this default.
    #[must_use]
    pub const fn with(self, default: u64) -> Self {
        Self { default, ..self }
    }
}

/// A table with the same parameters as `base`, those of `changed` in place of the parameters with their
/// names: what a release, a runtime or a machine has of its own.
///
/// # Panics
/// The table lacks a parameter of `changed`, or `N` is not its length. In a constant, this is an error of the
/// compiler.
#[must_use]
pub const fn changed<const N: usize>(base: &[Parameter], changed: &[Parameter]) -> [Parameter; N] {
    assert!(base.len() == N && N > 0, "the table has another length");
    let mut all = [base[0]; N];
    let (mut at, mut found) = (0, 0);
    while at < N {
        all[at] = base[at];
        let mut other = 0;
        while other < changed.len() {
            if is_same(changed[other].name.as_bytes(), base[at].name.as_bytes()) {
                all[at] = changed[other];
                found += 1;
            }
            other += 1;
        }
        at += 1;
    }
    assert!(found == changed.len(), "the table has no parameter of this name");
    all
}

/// A table and then another one.
///
/// # Panics
/// `N` is not the length of both, or a name occurs twice. In a constant, this is an error of the compiler.
#[must_use]
pub const fn joined<const N: usize>(first: &[Parameter], second: &[Parameter]) -> [Parameter; N] {
    assert!(first.len() + second.len() == N && N > 0, "the tables have another length");
    let mut all = [if first.is_empty() { second[0] } else { first[0] }; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        let mut other = 0;
        while other < at {
            assert!(!is_same(all[other].name.as_bytes(), all[at].name.as_bytes()), "a name occurs twice");
            other += 1;
        }
        at += 1;
    }
    all
}

/// Comparison in a constant.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    match (a, b) {
        ([], []) => true,
        ([x, a @ ..], [y, b @ ..]) => *x == *y && is_same(a, b),
        _ => false,
    }
}

/// The values of a table of parameters: what carries them from a scenario to the struct that declares them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    table: Vec<Parameter>,
    rows: Vec<Row>,
}

/// The value of one parameter.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Row {
    /// For all applications: one number, or any number of them when the kind is a list.
    pub all: Vec<u64>,
    /// What single applications have instead.
    pub apps: Vec<(String, Vec<u64>)>,
}

impl Values {
    /// The defaults of a table.
    #[must_use]
    pub fn defaults(table: &[Parameter]) -> Self {
        Self {
            table: table.to_vec(),
            rows: table.iter().map(|p| Row { all: p.defaults(), apps: Vec::new() }).collect(),
        }
    }

    /// The values of some of the parameters.
    #[must_use]
    pub fn only(&self, chosen: impl Fn(&Parameter) -> bool) -> Self {
        let both = self.table.iter().zip(&self.rows).filter(|(p, _)| chosen(p));
        let (table, rows) = both.map(|(p, row)| (*p, row.clone())).unzip();
        Self { table, rows }
    }

    /// The declarations.
    #[must_use]
    pub fn table(&self) -> &[Parameter] {
        &self.table
    }

    /// The values, in the order of the declarations.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The declaration of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Parameter> {
        self.table.iter().find(|p| p.name == name)
    }

    /// Sets a value, for all applications alike when they can differ.
    ///
    /// # Errors
    /// A sentence: no such parameter, or out of its range.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), String> {
        self.set_list(name, vec![value])
    }

    /// Sets a list (of one number when the kind is no list), for all applications alike when they can differ.
    ///
    /// # Errors
    /// A sentence: no such parameter, or something out of its range.
    pub fn set_list(&mut self, name: &str, list: Vec<u64>) -> Result<(), String> {
        let at = self.checked(name, &list)?;
        let all = if list.is_empty() { self.table[at].defaults() } else { list };
        self.rows[at] = Row { all, apps: Vec::new() };
        Ok(())
    }

    /// Sets the value of one application: a list, or one number of a kind that is none.
    ///
    /// # Errors
    /// A sentence: no such parameter, it is the same for all applications, or something is out of its range.
    pub fn set_for(&mut self, name: &str, app: &str, list: Vec<u64>) -> Result<(), String> {
        let at = self.checked(name, &list)?;
        if !matches!(self.table[at].kind, Kind::PerApp(_)) {
            return Err(format!("`{name}` is the same for all applications"));
        }
        let apps = &mut self.rows[at].apps;
        match apps.iter_mut().find(|(other, _)| other == app) {
            Some((_, old)) => *old = list,
            None => apps.push((app.to_owned(), list)),
        }
        Ok(())
    }

    /// The place of a parameter in the table, when it takes these numbers.
    fn checked(&self, name: &str, list: &[u64]) -> Result<usize, String> {
        let Some(at) = self.table.iter().position(|p| p.name == name) else {
            return Err(format!("unknown parameter `{name}`"));
        };
        let p = &self.table[at];
        if list.iter().any(|value| *value < p.min || *value > p.max) {
            let (min, max) = (p.kind.show(p.min), p.kind.show(p.max));
            return Err(format!("`{name}` must lie between {min} and {max}"));
        }
        Ok(at)
    }

    /// The number of a parameter for all applications, for lists of parameters; none when the table lacks it
    /// or the value is an empty list. Programs read values through the struct that declares them.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        let at = self.table.iter().position(|p| p.name == name)?;
        self.rows[at].all.first().copied()
    }

    /// The value of a parameter for all applications, as a scenario would write it; none when the table lacks
    /// it.
    #[must_use]
    pub fn shown(&self, name: &str) -> Option<String> {
        let (p, row) = self.table.iter().zip(&self.rows).find(|(p, _)| p.name == name)?;
        Some(p.kind.show_all(&row.all))
    }

    /// Names and values that differ from the defaults, as written in a scenario.
    #[must_use]
    pub fn changed(&self) -> Vec<(&'static str, String)> {
        let shown = |(p, row): (&Parameter, &Row)| {
            if row.apps.is_empty() && row.all == p.defaults() {
                return None;
            }
            let one = |list: &[u64]| p.kind.show_all(list);
            let apps: Vec<String> =
                row.apps.iter().map(|(app, list)| format!("{app}: {}", one(list))).collect();
            Some((p.name, if apps.is_empty() { one(&row.all) } else { format!("{{{}}}", apps.join(", ")) }))
        };
        self.table.iter().zip(&self.rows).filter_map(shown).collect()
    }
}

/// The name of which this is that of a copy: `cg` for `cg-2`.
#[must_use]
pub fn original(name: &str) -> Option<&str> {
    let (name, number) = name.rsplit_once('-')?;
    let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    (digits && !name.is_empty()).then_some(name)
}

impl Kind {
    /// How a number that may be negative is held: so that the order is the same.
    #[must_use]
    pub const fn signed(number: i64) -> u64 {
        number.cast_unsigned() ^ (1 << 63)
    }

    /// The number that is held so.
    #[must_use]
    pub const fn of_signed(held: u64) -> i64 {
        (held ^ (1 << 63)).cast_signed()
    }

    /// Writes a value as a scenario would.
    #[must_use]
    pub fn show(self, value: u64) -> String {
        match self {
            Self::Duration if value == u64::MAX => "infinite".into(),
            Self::Duration => {
                scaled(value, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
            }
            Self::Size => scaled(value, &[(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")]),
            Self::Rate => {
                scaled(value, &[(1_000_000_000, "GB/s"), (1_000_000, "MB/s"), (1_000, "kB/s"), (1, "B/s")])
            }
            Self::Count => value.to_string(),
            Self::Signed => Self::of_signed(value).to_string(),
            Self::Factor => decimal(value, 1_000),
            Self::Percent => format!("{}%", decimal(value, 100)),
            Self::Choice(words) => (*words.get(value as usize).unwrap_or(&"?")).into(),
            Self::Flag => (value != 0).to_string(),
            Self::Cpus | Self::Counts => value.to_string(),
            Self::PerApp(kind) => kind.show(value),
        }
    }

    /// Writes a list (or the one number of a kind that is none) as a scenario would.
    #[must_use]
    pub fn show_all(self, list: &[u64]) -> String {
        match (self.of_one(), list) {
            (Self::Cpus | Self::Counts, _) => {
                let items: Vec<String> = list.iter().map(u64::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            (kind, [value, ..]) => kind.show(*value),
            (_, []) => String::new(),
        }
    }

    /// The kind that one application has: what stands inside [`Self::PerApp`], else the kind itself.
    #[must_use]
    pub const fn of_one(self) -> Self {
        match self {
            Self::PerApp(kind) => *kind,
            kind => kind,
        }
    }

    /// True for lists of numbers.
    #[must_use]
    pub const fn is_list(self) -> bool {
        matches!(self.of_one(), Self::Cpus | Self::Counts)
    }
}

/// The value in the largest unit in which it is at least 1, exact to three decimals or in a smaller unit.
fn scaled(value: u64, units: &[(u64, &str)]) -> String {
    for (size, unit) in units {
        let (thousandths, size) = (u128::from(value) * 1_000, u128::from(*size));
        if u128::from(value) < size || thousandths % size != 0 {
            continue;
        }
        if let Ok(shown) = u64::try_from(thousandths / size) {
            return format!("{}{unit}", decimal(shown, 1_000));
        }
    }
    format!("{value}{}", units.last().map_or("", |u| u.1))
}

/// `value / scale` without trailing zeros; `scale` is a power of ten.
fn decimal(value: u64, scale: u64) -> String {
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = scale.ilog10() as usize;
    format!("{whole}.{}", format!("{rest:0digits$}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Parameter] = &[Parameter {
        name: "interval",
        kind: Kind::Duration,
        default: 100_000_000,
        min: 1_000_000,
        max: 10_000_000_000,
        about: "test",
    }];

    #[test]
    fn values_keep_to_their_range() {
        let mut values = Values::defaults(TABLE);
        assert!(values.set("interval", 5_000_000).is_ok());
        assert_eq!(values.changed(), [("interval", "5ms".to_owned())]);
        assert_eq!(values.set("interval", 5).unwrap_err(), "`interval` must lie between 1ms and 10s");
        assert!(values.set("nope", 5).is_err());
    }

    #[test]
    fn lists_and_values_per_application() {
        let parameter = |name, kind| Parameter { name, kind, default: 0, min: 0, max: 9, about: "test" };
        let table = [
            parameter("cpus", Kind::PerApp(&Kind::Cpus)),
            parameter("layout", Kind::PerApp(&Kind::Choice(&["even", "list"]))),
            parameter("sizes", Kind::Counts),
        ];
        let mut values = Values::defaults(&table);
        assert!(values.changed().is_empty());
        values.set_list("cpus", vec![4, 0]).unwrap();
        values.set("layout", 1).unwrap();
        values.set_for("cpus", "cg", vec![7]).unwrap();
        values.set_for("layout", "ft", vec![0]).unwrap();
        values.set_list("sizes", vec![9, 3]).unwrap();
        let changed = values.changed().into_iter().map(|(name, text)| format!("{name}={text}"));
        assert_eq!(changed.collect::<Vec<_>>(), ["cpus={cg: [7]}", "layout={ft: even}", "sizes=[9, 3]"]);
        assert!(values.set_for("sizes", "cg", vec![1]).unwrap_err().contains("the same for all"));
        assert!(values.set_list("sizes", vec![1, 10]).unwrap_err().contains("between 0 and 9"));
        assert_eq!(
            [original("cg-2"), original("cg-"), original("a-b"), original("-1")],
            [Some("cg"), None, None, None]
        );
    }

    #[test]
    fn values_show_as_written() {
        assert_eq!(Kind::Duration.show(1_500_000), "1.5ms");
        assert_eq!(Kind::Duration.show(u64::MAX), "infinite");
        assert_eq!(Kind::Rate.show(4_500_000_000), "4.5GB/s");
        assert_eq!(Kind::Size.show(2 << 20), "2MiB");
        assert_eq!(Kind::Factor.show(1_300), "1.3");
        assert_eq!(Kind::Percent.show(1_500), "15%");
        assert_eq!(
            [i64::MIN, -4, 0, 7, i64::MAX].map(Kind::signed).map(Kind::of_signed),
            [i64::MIN, -4, 0, 7, i64::MAX]
        );
        assert!(Kind::signed(-4) < Kind::signed(0) && Kind::Signed.show(Kind::signed(-4)) == "-4");
    }
}
