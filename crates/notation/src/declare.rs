//! Parameters declared once, as the fields of a struct: the macros [`parameters!`](crate::parameters) and
//! [`choices!`](crate::choices), and the types that a field can have.

use crate::parameter::{Kind, Parameter, Row, Values, original};

/// The type of a parameter: its kind, the range unless the declaration has one, and how the value is read.
pub trait Field: Sized {
    /// How its values are written.
    const KIND: Kind;
    /// Smallest legal number.
    const MIN: u64 = 0;
    /// Largest legal number.
    const MAX: u64 = u64::MAX;

    /// The value of these numbers: one number unless the kind is a list.
    fn from_numbers(numbers: &[u64]) -> Self;

    /// The value of a row of a table, or the default when the table lacks the parameter.
    fn from_row(row: Option<&Row>, default: u64) -> Self {
        row.map_or_else(|| Self::from_numbers(&[default]), |row| Self::from_numbers(&row.all))
    }
}

/// A parameter whose value is one of several words.
pub trait Choice: Field + Copy {
    /// The words, in the order of the variants.
    const WORDS: &'static [&'static str];

    /// The word of this value.
    fn word(self) -> &'static str;
}

/// The name of a field, `yield` for `r#yield`.
#[must_use]
pub const fn name(field: &'static str) -> &'static str {
    if let [b'r', b'#', rest @ ..] = field.as_bytes()
        && let Ok(name) = std::str::from_utf8(rest)
    {
        return name;
    }
    field
}

/// Reads the values of a table into the fields of a struct, one after the other.
#[derive(Debug)]
pub struct Reading<'a> {
    values: &'a Values,
    at: usize,
}

impl<'a> Reading<'a> {
    /// Begins with the first row.
    #[must_use]
    pub const fn new(values: &'a Values) -> Self {
        Self { values, at: 0 }
    }

    /// The value of the next declared parameter. A table may leave parameters out, but it keeps their order.
    pub fn next<T: Field>(&mut self, declared: &Parameter) -> T {
        let present = self.values.table().get(self.at).is_some_and(|row| row.name == declared.name);
        let row = self.values.rows().get(self.at).filter(|_| present);
        self.at += usize::from(present);
        T::from_row(row, declared.default)
    }

    /// Ends with the last row.
    pub fn end(self) {
        debug_assert_eq!(
            self.at,
            self.values.table().len(),
            "the table has other parameters than the struct"
        );
    }
}

fn first(numbers: &[u64]) -> u64 {
    numbers.first().copied().unwrap_or(0)
}

/// Ties a type with one number to its kind.
macro_rules! quantities {
    ($($(#[$about:meta])* $name:ident, $unit:ident;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct $name(u64);

        impl $name {
            $(#[$about])*
            #[must_use]
            pub const fn $unit(self) -> u64 {
                self.0
            }
        }

        impl Field for $name {
            const KIND: Kind = Kind::$name;

            fn from_numbers(numbers: &[u64]) -> Self {
                Self(first(numbers))
            }
        }
    )*};
}

quantities! {
    /// A length of time in nanoseconds; `u64::MAX` is infinite.
    Duration, ns;
    /// A size in bytes.
    Size, bytes;
    /// Bytes per second.
    Rate, bytes_per_second;
    /// A factor in thousandths.
    Factor, thousandths;
    /// A share in hundredths of a per cent.
    Percent, hundredths;
}

/// Ties integers to counts; a declared range must fit into the type.
macro_rules! counts {
    ($($name:ident)*) => {$(
        impl Field for $name {
            const KIND: Kind = Kind::Count;

            fn from_numbers(numbers: &[u64]) -> Self {
                Self::try_from(first(numbers)).unwrap_or(Self::MAX)
            }
        }
    )*};
}

counts!(u8 u32 i64 u64 usize);

impl Field for bool {
    const KIND: Kind = Kind::Flag;
    const MAX: u64 = 1;

    fn from_numbers(numbers: &[u64]) -> Self {
        first(numbers) != 0
    }
}

/// Cpus in an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cpus(pub Vec<u32>);

impl Field for Cpus {
    const KIND: Kind = Kind::Cpus;

    fn from_numbers(numbers: &[u64]) -> Self {
        Self(numbers.iter().map(|cpu| *cpu as u32).collect())
    }

    fn from_row(row: Option<&Row>, _default: u64) -> Self {
        Self::from_numbers(row.map_or(&[], |row| &row.all))
    }
}

/// Whole numbers in an order.
impl Field for Vec<u32> {
    const KIND: Kind = Kind::Counts;

    fn from_numbers(numbers: &[u64]) -> Self {
        numbers.iter().map(|number| *number as u32).collect()
    }

    fn from_row(row: Option<&Row>, _default: u64) -> Self {
        Self::from_numbers(row.map_or(&[], |row| &row.all))
    }
}

/// A parameter that some tables lack.
impl<T: Field> Field for Option<T> {
    const KIND: Kind = T::KIND;
    const MIN: u64 = T::MIN;
    const MAX: u64 = T::MAX;

    fn from_numbers(numbers: &[u64]) -> Self {
        Some(T::from_numbers(numbers))
    }

    fn from_row(row: Option<&Row>, default: u64) -> Self {
        row.map(|row| T::from_row(Some(row), default))
    }
}

/// A value that can differ between applications.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PerApp<T> {
    all: T,
    apps: Vec<(String, T)>,
}

impl<T> PerApp<T> {
    /// The value of one application; a copy `cg-2` of `cg` has that of `cg` unless it is named itself.
    #[must_use]
    pub fn of(&self, app: &str) -> &T {
        let named = |name: &str| self.apps.iter().find(|(other, _)| other == name);
        let found = named(app).or_else(|| named(original(app)?));
        found.map_or(&self.all, |(_, value)| value)
    }
}

impl<T: Field> Field for PerApp<T> {
    const KIND: Kind = Kind::PerApp(&T::KIND);
    const MIN: u64 = T::MIN;
    const MAX: u64 = T::MAX;

    fn from_numbers(numbers: &[u64]) -> Self {
        Self { all: T::from_numbers(numbers), apps: Vec::new() }
    }

    fn from_row(row: Option<&Row>, default: u64) -> Self {
        let apps = row.map_or(&[][..], |row| &row.apps);
        let apps = apps.iter().map(|(app, numbers)| (app.clone(), T::from_numbers(numbers))).collect();
        Self { all: T::from_row(row, default), apps }
    }
}

/// Declares an enum whose variants are the words of a parameter: `enum Measure { Share = "share", Work =
/// "work" }`.
#[macro_export]
macro_rules! choices {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$note:meta])* $variant:ident = $word:literal),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $(
                $(#[$note])*
                #[doc = concat!("Written `", $word, "`.")]
                $variant
            ),*
        }

        impl $crate::declare::Choice for $name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }

        impl $crate::declare::Field for $name {
            const KIND: $crate::parameter::Kind =
                $crate::parameter::Kind::Choice(<Self as $crate::declare::Choice>::WORDS);
            const MAX: u64 = <Self as $crate::declare::Choice>::WORDS.len() as u64 - 1;

            fn from_numbers(numbers: &[u64]) -> Self {
                const ALL: &[$name] = &[$($name::$variant),*];
                let chosen = numbers.first().and_then(|at| ALL.get(*at as usize));
                chosen.copied().unwrap_or(ALL[0])
            }
        }
    };
}

/// Declares parameters: a struct with one field for each, `name: Type = default, in smallest..=largest;`.
///
/// The documentation of a field is the text of the parameter. Defaults and ranges are numbers in the unit of
/// the type (a variant for a choice); the functions of [`amount`] may write them. The struct has an
/// associated constant for each declaration under the name of the field, `TABLE` with all of them, and
/// `From<&Values>`.
#[macro_export]
macro_rules! parameters {
    ($(#[$about:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $doc:literal])+ $field:ident: $kind:ty = $default:expr $(, in $range:expr)?;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        $vis struct $name {
            $($(#[doc = $doc])+ $vis $field: $kind,)*
        }

        #[allow(
            non_upper_case_globals, dead_code, missing_docs, unused_imports,
            reason = "constants have the names of their fields; few are used singly"
        )]
        impl $name {
            $($vis const $field: $crate::parameter::Parameter = {
                use $crate::declare::{Field, amount::*};
                let about = concat!($($doc),+).trim_ascii();
                let parameter = $crate::parameter::Parameter {
                    name: $crate::declare::name(stringify!($field)),
                    kind: <$kind as Field>::KIND,
                    default: $default as u64,
                    min: <$kind as Field>::MIN,
                    max: <$kind as Field>::MAX,
                    about,
                };
                $(let parameter = parameter.within(&$range);)?
                parameter
            };)*

            /// All declarations, in order.
            $vis const TABLE: &'static [$crate::parameter::Parameter] = &[$(Self::$field),*];
        }

        impl From<&$crate::parameter::Values> for $name {
            fn from(values: &$crate::parameter::Values) -> Self {
                let mut reading = $crate::declare::Reading::new(values);
                let read = Self { $($field: reading.next(&Self::$field)),* };
                reading.end();
                read
            }
        }
    };
}

/// Amounts with a unit, as declarations write them.
pub mod amount {
    /// Microseconds, in nanoseconds.
    #[must_use]
    pub const fn us(count: u64) -> u64 {
        count * 1_000
    }

    /// Milliseconds, in nanoseconds.
    #[must_use]
    pub const fn ms(count: u64) -> u64 {
        count * 1_000_000
    }

    /// Seconds, in nanoseconds.
    #[must_use]
    pub const fn s(count: u64) -> u64 {
        count * 1_000_000_000
    }

    /// Per cent, in hundredths.
    #[must_use]
    pub const fn percent(count: u64) -> u64 {
        count * 100
    }

    /// Binary megabytes, in bytes.
    #[must_use]
    pub const fn mib(count: u64) -> u64 {
        count << 20
    }

    /// Gigabytes per second, in bytes per second.
    #[must_use]
    pub const fn gb_per_s(count: u64) -> u64 {
        count * 1_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// How cpus are dealt.
        enum Layout { Even = "even", List = "a-list" }
    }

    parameters! {
        /// Parameters of a test.
        struct Parameters {
            /// Time between
            /// two checks.
            interval: Duration = ms(100), in ms(1)..=s(10);
            /// A flag.
            steal: bool = true;
            /// A choice.
            layout: PerApp<Layout> = Layout::List;
            /// Cpus.
            cpus: PerApp<Cpus> = 0, in 0..=9;
            /// Numbers.
            sizes: Vec<u32> = 0, in 1..=9;
            /// Only in some tables.
            spins: Option<u32> = 7, in 1..=9;
            /// A share.
            r#final: bool = false;
            /// A share.
            share: Percent = percent(15);
        }
    }

    #[test]
    fn declarations_have_name_kind_default_range_and_text() {
        let names: Vec<&str> = Parameters::TABLE.iter().map(|p| p.name).collect();
        assert_eq!(names, ["interval", "steal", "layout", "cpus", "sizes", "spins", "final", "share"]);
        let expected = Parameter {
            name: "interval",
            kind: Kind::Duration,
            default: 100_000_000,
            min: 1_000_000,
            max: 10_000_000_000,
            about: "Time between two checks.",
        };
        assert_eq!(Parameters::interval, expected);
        assert_eq!(Parameters::layout.kind, Kind::PerApp(&Kind::Choice(&["even", "a-list"])));
        assert_eq!((Parameters::layout.default, Parameters::layout.max), (1, 1));
        assert_eq!((Parameters::steal.default, Parameters::steal.min, Parameters::steal.max), (1, 0, 1));
        assert_eq!((Parameters::share.default, Parameters::share.max), (1_500, u64::MAX));
    }

    #[test]
    fn values_are_read_by_position() {
        let mut values = Values::defaults(Parameters::TABLE);
        let plain = Parameters::from(&values);
        assert_eq!((plain.interval.ns(), plain.steal, plain.spins), (100_000_000, true, Some(7)));
        assert_eq!((plain.sizes.len(), plain.share.hundredths()), (0, 1_500));
        assert_eq!((*plain.layout.of("cg"), plain.layout.of("cg").word()), (Layout::List, "a-list"));
        assert!(plain.cpus.of("cg").0.is_empty());
        values.set("interval", 5_000_000).unwrap();
        values.set("steal", 0).unwrap();
        values.set("layout", 0).unwrap();
        values.set_for("layout", "ft", vec![1]).unwrap();
        values.set_list("cpus", vec![4, 0]).unwrap();
        values.set_for("cpus", "cg", vec![7]).unwrap();
        values.set_list("sizes", vec![9, 3]).unwrap();
        let read = Parameters::from(&values);
        assert_eq!((read.interval.ns(), read.steal, &read.sizes[..]), (5_000_000, false, &[9, 3][..]));
        let cpus = ["cg", "cg-12", "cg-x", "ft"].map(|app| read.cpus.of(app).0.clone());
        assert_eq!(cpus, [vec![7], vec![7], vec![4, 0], vec![4, 0]]);
        let layouts = ["cg", "ft", "ft-1"].map(|app| *read.layout.of(app));
        assert_eq!(layouts, [Layout::Even, Layout::List, Layout::List]);
    }

    #[test]
    fn tables_may_lack_parameters_and_have_other_defaults() {
        let table = [Parameters::steal.with(0), Parameters::share.with(2_000)];
        let read = Parameters::from(&Values::defaults(&table));
        assert_eq!((read.steal, read.share.hundredths()), (false, 2_000));
        assert_eq!((read.interval.ns(), read.spins), (100_000_000, None));
        assert!(read.sizes.is_empty() && read.cpus.of("cg").0.is_empty());
    }
}
