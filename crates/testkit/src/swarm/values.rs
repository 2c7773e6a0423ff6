//! Random legal values of declared parameters, as a scenario would write them.

use notation::parameter::{Kind, Parameter};
use notation::units;
use serde_json::{Map, Value, json};

use super::source::Source;

/// A smaller range of a parameter, so that a case stays small: name, smallest and largest value.
pub(super) type Limit = (&'static str, u64, u64);

/// What the values of a table depend on.
pub(super) struct Frame<'a> {
    /// Cpus of the machine.
    pub(super) cpus: u64,
    /// Names of the applications.
    pub(super) apps: &'a [String],
    /// Smaller ranges.
    pub(super) limits: &'a [Limit],
    /// One of so many parameters is set.
    pub(super) sparse: u64,
}

/// Each application has a session of its own under this kernel.
pub(super) fn groups_sessions(kernel: &Value) -> bool {
    kernel.to_string().contains("\"autogroup\":true")
}

/// A name with parameters, or without any.
pub(super) fn with(name: &str, parameters: &Map<String, Value>) -> Value {
    if parameters.is_empty() { json!(name) } else { json!({ name: parameters }) }
}

/// As a duration.
pub(super) fn time(ns: u64) -> Value {
    json!(Kind::Duration.show(ns))
}

/// The duration that a value states, in nanoseconds.
pub(super) fn duration(value: &Value) -> Option<u64> {
    units::parse(Kind::Duration, value.as_str()?).ok()
}

/// One of so many parameters is set.
pub(super) fn sparse(source: &mut Source<'_>) -> u64 {
    *source.pick(&[1_000, 12, 4, 2])
}

/// Random settings of a table.
pub(super) fn settings(
    source: &mut Source<'_>,
    table: &[Parameter],
    frame: &Frame<'_>,
) -> Map<String, Value> {
    let mut map = Map::new();
    for parameter in table {
        if !source.one_in(frame.sparse) {
            continue;
        }
        let limit = frame.limits.iter().find(|(name, ..)| *name == parameter.name);
        let limited = limit.map_or(*parameter, |(_, min, max)| Parameter {
            min: (*min).max(parameter.min),
            max: (*max).min(parameter.max),
            ..*parameter
        });
        if let Some(value) = setting(source, &limited, frame) {
            map.insert(parameter.name.to_owned(), value);
        }
    }
    map
}

fn setting(source: &mut Source<'_>, parameter: &Parameter, frame: &Frame<'_>) -> Option<Value> {
    if matches!(parameter.kind, Kind::PerApp(_)) && source.one_in(3) && !frame.apps.is_empty() {
        let app = source.pick(frame.apps).clone();
        return Some(json!({ app: one(source, parameter, frame)? }));
    }
    one(source, parameter, frame)
}

/// A value of one application, or of all alike.
fn one(source: &mut Source<'_>, parameter: &Parameter, frame: &Frame<'_>) -> Option<Value> {
    Some(match parameter.kind.of_one() {
        Kind::Cpus => Value::from(cpus(source, frame.cpus)),
        Kind::Counts => {
            let count = source.between(1, 3);
            let most = parameter.max.min(parameter.min + 3);
            Value::from((0..count).map(|_| source.between(parameter.min, most)).collect::<Vec<_>>())
        }
        kind => {
            let value = sensible(source, &Parameter { kind, ..*parameter });
            match kind {
                Kind::Count => json!(value),
                Kind::Flag => json!(value == 1),
                _ => json!(kind.show(value)),
            }
        }
    })
}

/// Some cpus in a random order, each once.
pub(super) fn cpus(source: &mut Source<'_>, cpus: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (0..cpus).collect();
    let wanted = source.between(1, cpus);
    (0..wanted).map(|_| all.swap_remove(source.below(all.len() as u64) as usize)).collect()
}

/// A legal number: near the default, one that fits the length of the cases, an end of the range, or anything
/// in between with every order of magnitude as likely as the others.
fn number(source: &mut Source<'_>, parameter: &Parameter) -> u64 {
    let (min, max) = (parameter.min, parameter.max);
    let default = parameter.default.clamp(min, max);
    let form = source.below(10);
    match (parameter.kind, form) {
        (Kind::Flag | Kind::Choice(_), _) => source.between(min, max),
        // No demand and no cache by default: typical ones.
        (Kind::Rate, 0..7) if default == 0 => source.magnitude(1_000_000, 20_000_000_000).clamp(min, max),
        (Kind::Size, 0..7) if default == 0 => source.magnitude(1 << 12, 1 << 26).clamp(min, max),
        (_, 0..5) => {
            let low = (default / 16).max(min);
            source.magnitude(low.max(1), default.saturating_mul(16).min(max).max(low.max(1))).clamp(min, max)
        }
        (_, 5..7) => (default / 200).max(min),
        (_, 7) => *source.pick(&[min, max]),
        _ => min + source.magnitude(1, (max - min).max(1)).min(max - min),
    }
}

/// The least rate that is drawn, 0 aside. At smaller ones operations take hours, or speeds are below 2^-20,
/// which engine and reference engine round differently.
const LEAST_RATE: u64 = 1_000_000;

/// A legal number of a kind, not too small for a rate.
fn sensible(source: &mut Source<'_>, parameter: &Parameter) -> u64 {
    match number(source, parameter) {
        small @ 1..LEAST_RATE if parameter.kind == Kind::Rate => LEAST_RATE.max(small).min(parameter.max),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_can_be_read_back() {
        let mut source = Source::seed(3);
        let frame = Frame { cpus: 4, apps: &["a0".into()], limits: &[], sparse: 1 };
        for entry in policies::ALL {
            for _ in 0..100 {
                let map = settings(&mut source, entry.parameters, &frame);
                assert_eq!(map.len(), entry.parameters.len(), "{}", entry.name);
                for parameter in entry.parameters {
                    let (kind, value) = (parameter.kind.of_one(), &map[parameter.name]);
                    if let (false, Some(text)) = (matches!(kind, Kind::Choice(_)), value.as_str()) {
                        let read = units::parse(kind, text).unwrap_or_else(|error| panic!("{text}: {error}"));
                        assert!(read >= parameter.min && read <= parameter.max, "{}: {text}", parameter.name);
                    }
                }
            }
        }
        assert_eq!(cpus(&mut source, 1), [0]);
    }
}
