//! Declared parameters: every policy, kernel, runtime, machine and workload states its parameters as a table, from
//! which scenarios are checked, `oversim list` and the reference pages are made.

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
    /// A plain decimal number, `1.3`; held in thousandths.
    Factor,
    /// A percentage, `15%`; held in hundredths of a per cent (1,500).
    Percent,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`; held as 1 or 0.
    Flag,
}

/// A value: a number in the unit of its kind, or the position of the chosen word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value(pub u64);

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

/// The values of a table of parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    table: Vec<Parameter>,
    values: Vec<u64>,
}

impl Values {
    /// The defaults of a table.
    #[must_use]
    pub fn defaults(table: &[Parameter]) -> Self {
        Self { table: table.to_vec(), values: table.iter().map(|p| p.default).collect() }
    }

    /// The declarations.
    #[must_use]
    pub fn table(&self) -> &[Parameter] {
        &self.table
    }

    /// The declaration of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Parameter> {
        self.table.iter().find(|p| p.name == name)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// A sentence: no such parameter, or out of its range.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), String> {
        let Some(at) = self.table.iter().position(|p| p.name == name) else {
            return Err(format!("unknown parameter `{name}`"));
        };
        let p = &self.table[at];
        if value < p.min || value > p.max {
            return Err(format!(
                "`{name}` must lie between {} and {}",
                p.kind.show(p.min),
                p.kind.show(p.max)
            ));
        }
        self.values[at] = value;
        Ok(())
    }

    /// The value of a declared parameter; 0 for a name the table lacks (a mistake of the programmer, caught by tests).
    #[must_use]
    pub fn get(&self, name: &str) -> u64 {
        let at = self.table.iter().position(|p| p.name == name);
        debug_assert!(at.is_some(), "parameter {name} is not declared");
        at.map_or(0, |at| self.values[at])
    }

    /// A flag.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) != 0
    }

    /// The chosen word.
    #[must_use]
    pub fn choice(&self, name: &str) -> &'static str {
        match self.find(name).map(|p| p.kind) {
            Some(Kind::Choice(words)) => words.get(self.get(name) as usize).copied().unwrap_or(""),
            _ => "",
        }
    }

    /// Names and values that differ from the defaults, as written in a scenario.
    #[must_use]
    pub fn changed(&self) -> Vec<(&'static str, String)> {
        let pairs = self.table.iter().zip(&self.values);
        pairs.filter(|(p, v)| p.default != **v).map(|(p, v)| (p.name, p.kind.show(*v))).collect()
    }
}

impl Kind {
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
            Self::Factor => decimal(value, 1_000),
            Self::Percent => format!("{}%", decimal(value, 100)),
            Self::Choice(words) => (*words.get(value as usize).unwrap_or(&"?")).into(),
            Self::Flag => (value != 0).to_string(),
        }
    }
}

/// The value in the largest unit in which it is at least 1, exact to three decimals or in a smaller unit.
fn scaled(value: u64, units: &[(u64, &str)]) -> String {
    for (size, unit) in units {
        let thousandths = u128::from(value) * 1_000;
        if value >= *size && thousandths % u128::from(*size) == 0 {
            return format!("{}{unit}", decimal((thousandths / u128::from(*size)) as u64, 1_000));
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
    fn values_show_as_written() {
        assert_eq!(Kind::Duration.show(1_500_000), "1.5ms");
        assert_eq!(Kind::Duration.show(u64::MAX), "infinite");
        assert_eq!(Kind::Rate.show(4_500_000_000), "4.5GB/s");
        assert_eq!(Kind::Size.show(2 << 20), "2MiB");
        assert_eq!(Kind::Factor.show(1_300), "1.3");
        assert_eq!(Kind::Percent.show(1_500), "15%");
    }
}
