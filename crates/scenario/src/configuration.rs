//! Configurations of a sweep: its axes, and what each combination of their values sets, in base units.

use std::fmt;

use notation::parameter::Kind;
use notation::units;
use notation::yaml::{Content, Entry, Node};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A swept path and the values that it takes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// The path, as in `sweep:`.
    pub path: String,
    /// Base unit of its numbers: `s`, `B`, `B/s`, `share` (0 to 1), or empty for plain numbers and names.
    pub unit: String,
    /// The values as the scenario writes them, in order.
    pub values: Vec<String>,
    /// The same as numbers in the base unit; `null` when one of them is not a number.
    pub numbers: Option<Vec<f64>>,
}

impl Axis {
    /// The axis of a path with these values as written.
    #[must_use]
    pub fn new(path: &str, values: Vec<String>) -> Self {
        let read: Option<Vec<(Unit, f64)>> = values.iter().map(|value| quantity(value)).collect();
        let alike = read.filter(|all| all.windows(2).all(|pair| pair[0].0 == pair[1].0) || all_factors(all));
        let mixed = alike.as_ref().is_some_and(|all| all.windows(2).any(|pair| pair[0].0 != pair[1].0));
        let unit = alike.as_ref().and_then(|all| all.first()).map_or("", |(unit, _)| unit.name());
        let unit = if mixed { Unit::Plain.name() } else { unit };
        let numbers = alike.map(|all| all.into_iter().map(|(_, number)| number).collect());
        Self { path: path.to_owned(), unit: unit.to_owned(), values, numbers }
    }
}

/// One combination of the values of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// `threads_per_core=2`; several settings are joined by `, `; empty without a sweep.
    pub label: String,
    /// Its values: a number in base units, a truth value or a name for each path. A value with parameters,
    /// such as a runtime, has one entry for its name and one for each parameter.
    pub settings: Settings,
    /// For each axis the position of its value.
    pub places: Vec<usize>,
}

/// Values by path, in the order of the axes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings(pub Vec<(String, Setting)>);

/// A value of a setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    /// `true` or `false`.
    Flag(bool),
    /// A number in its base unit.
    Number(f64),
    /// A name, a list or another text.
    Text(String),
}

/// Base units of quantities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Plain,
    Seconds,
    Bytes,
    BytesPerSecond,
    Share,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Seconds => "s",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Share => "share",
        }
    }
}

/// Whether these can be values of one factor: plain numbers and percentages of 1.
fn all_factors(values: &[(Unit, f64)]) -> bool {
    values.iter().all(|(unit, _)| matches!(unit, Unit::Plain | Unit::Share))
}

/// Keys whose value is a name with optional parameters.
const CHOICES: [&str; 7] = ["machine", "kernel", "workload", "runtime", "over", "mpi", "openmp"];

/// A number with its unit, in the base unit; `None` for anything else. Quantities carry their unit, so the
/// text alone defines the kind.
fn quantity(text: &str) -> Option<(Unit, f64)> {
    let text = text.trim();
    let bare = text.strip_prefix('-').unwrap_or(text);
    if bare.starts_with(|c: char| c.is_ascii_digit()) && bare.ends_with(|c: char| c.is_ascii_digit()) {
        let plain = bare.chars().all(|c| c.is_ascii_digit() || c == '.');
        if let Some(number) = text.parse().ok().filter(|_| plain) {
            return Some((Unit::Plain, number));
        }
    }
    let kinds = [
        (Kind::Percent, Unit::Share, 1e4),
        (Kind::Duration, Unit::Seconds, 1e9),
        (Kind::Rate, Unit::BytesPerSecond, 1.0),
        (Kind::Size, Unit::Bytes, 1.0),
    ];
    let read = |(kind, unit, scale): (Kind, Unit, f64)| {
        let value = units::parse(kind, text).ok().filter(|value| *value != u64::MAX)?;
        Some((unit, value as f64 / scale))
    };
    kinds.into_iter().find_map(read)
}

impl Setting {
    /// What a scalar sets.
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            _ => {
                quantity(text).map_or_else(|| Self::Text(text.to_owned()), |(_, number)| Self::Number(number))
            }
        }
    }
}

/// A whole number without decimals, others with as many as they need.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Number(number) => number.fmt(f),
            // Readers of tables know this word as a number.
            Self::Text(text) if text == "infinite" => f.write_str("inf"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Settings {
    /// What a value at a path sets.
    pub fn add(&mut self, path: &str, value: &Node) {
        let chosen = CHOICES.contains(&path.rsplit('.').next().unwrap_or(path));
        match &value.content {
            Content::Scalar(text) => self.0.push((path.to_owned(), Setting::of(text))),
            Content::Map(entries) => match entries.as_slice() {
                [entry] if chosen => {
                    self.0.push((path.to_owned(), Setting::Text(entry.key.clone())));
                    for parameter in entry.value.entries() {
                        self.add(&format!("{path}.{}", parameter.key), &parameter.value);
                    }
                }
                entries => entries.iter().for_each(|e| self.add(&format!("{path}.{}", e.key), &e.value)),
            },
            Content::Null | Content::List(_) => self.0.push((path.to_owned(), Setting::Text(written(value)))),
        }
    }

    /// The value at a path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Setting> {
        self.0.iter().find(|(known, _)| known == path).map(|(_, value)| value)
    }
}

/// A value on one line, as YAML: labels distinguish configurations, so all of it counts.
pub(crate) fn written(value: &Node) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match &value.content {
        Content::Scalar(text) => text.clone(),
        Content::Null => "null".to_owned(),
        Content::List(items) => format!("[{}]", joined(items.iter().map(written).collect())),
        Content::Map(entries) => {
            let each = |entry: &Entry| match &entry.value.content {
                Content::Null => entry.key.clone(),
                _ => format!("{}: {}", entry.key, written(&entry.value)),
            };
            format!("{{{}}}", joined(entries.iter().map(each).collect()))
        }
    }
}

/// A value without the signs of YAML around it: `{npb: {benchmark: ep}}` is `npb benchmark ep`.
#[must_use]
pub fn plain(value: &str) -> String {
    let bare: String = value.chars().filter(|c| !"{}[]\"".contains(*c)).collect();
    bare.replace(": ", " ")
}

/// Paths of all settings of these configurations, in order of first appearance: the columns of a table.
#[must_use]
pub fn columns(configurations: &[Configuration]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for (path, _) in configurations.iter().flat_map(|configuration| &configuration.settings.0) {
        if !columns.contains(&path.as_str()) {
            columns.push(path);
        }
    }
    columns
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            // Counts look like counts.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                serializer.serialize_i64(*number as i64)
            }
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = Setting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a truth value or a text")
            }
            fn visit_bool<E>(self, flag: bool) -> Result<Setting, E> {
                Ok(Setting::Flag(flag))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Setting, E> {
                Ok(Setting::Number(number as f64))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Setting, E> {
                Ok(Setting::Number(number as f64))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Setting, E> {
                Ok(Setting::Number(number))
            }
            fn visit_str<E>(self, text: &str) -> Result<Setting, E> {
                Ok(Setting::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (path, value) in &self.0 {
            map.serialize_entry(path, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Settings;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of settings by path")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
                let mut settings = Settings::default();
                while let Some(entry) = map.next_entry()? {
                    settings.0.push(entry);
                }
                Ok(settings)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl JsonSchema for Settings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Settings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Value of each swept path: a number in base units, a truth value or a name.",
            "additionalProperties": { "type": ["number", "boolean", "string"] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::yaml::tree;

    fn settings(path: &str, text: &str) -> Vec<(String, Setting)> {
        let mut settings = Settings::default();
        settings.add(path, &tree(0, text).unwrap());
        settings.0
    }

    fn entry(path: &str, value: Setting) -> (String, Setting) {
        (path.to_owned(), value)
    }

    #[test]
    fn quantities_are_numbers_in_base_units() {
        use Setting::{Flag, Number, Text};
        assert_eq!(settings("grain", "500us"), [entry("grain", Number(0.000_5))]);
        assert_eq!(settings("set", "2MiB"), [entry("set", Number(2_097_152.0))]);
        assert_eq!(settings("demand", "1.5GB/s"), [entry("demand", Number(1.5e9))]);
        assert_eq!(settings("spread", "15%"), [entry("spread", Number(0.15))]);
        assert_eq!(settings("tasks", "17"), [entry("tasks", Number(17.0))]);
        assert_eq!(settings("nice", "-20"), [entry("nice", Number(-20.0))]);
        assert_eq!(Axis::new("nice", vec!["-11".into(), "5".into()]).numbers, Some(vec![-11.0, 5.0]));
        assert_eq!(settings("turbo", "false"), [entry("turbo", Flag(false))]);
        assert_eq!(settings("class", "B"), [entry("class", Text("B".into()))]);
        assert_eq!(settings("cpus", "0-3"), [entry("cpus", Text("0-3".into()))]);
        assert_eq!(settings("cpus", "[0, 2]"), [entry("cpus", Text("[0, 2]".into()))]);
        assert_eq!(settings("block_time", "infinite"), [entry("block_time", Text("infinite".into()))]);
        assert_eq!(Text("infinite".into()).to_string(), "inf");
    }

    #[test]
    fn a_name_with_parameters_has_an_entry_for_each() {
        use Setting::{Number, Text};
        let path = "apps.job.runtime";
        assert_eq!(settings(path, "spin"), [entry(path, Text("spin".into()))]);
        assert_eq!(
            settings(path, "{openmp: {block_time: 0s, wait: yield}}"),
            [
                entry(path, Text("openmp".into())),
                entry("apps.job.runtime.block_time", Number(0.0)),
                entry("apps.job.runtime.wait", Text("yield".into())),
            ]
        );
        assert_eq!(settings("admission", "{jobs: 3}"), [entry("admission.jobs", Number(3.0))]);
    }

    #[test]
    fn an_axis_of_one_unit_has_numbers() {
        let axis = |values: &[&str]| Axis::new("x", values.iter().map(|v| (*v).to_owned()).collect());
        let durations = axis(&["500us", "2ms"]);
        assert_eq!((durations.unit.as_str(), durations.numbers), ("s", Some(vec![0.000_5, 0.002])));
        assert_eq!(axis(&["1", "2.5"]).numbers, Some(vec![1.0, 2.5]));
        assert_eq!(axis(&["1ms", "2"]).numbers, None);
        assert_eq!(axis(&["1ms", "infinite"]).numbers, None);
        assert_eq!(axis(&["spin", "yield"]).numbers, None);
    }

    #[test]
    fn settings_survive_json_in_order() {
        let mut all = Settings::default();
        for (path, text) in [("b", "2ms"), ("a", "17"), ("c", "true"), ("d", "x")] {
            all.add(path, &tree(0, text).unwrap());
        }
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(json, r#"{"b":0.002,"a":17,"c":true,"d":"x"}"#);
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), all);
    }
}
