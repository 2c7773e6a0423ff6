//! Results of the version before: their JSON with the names of this version, and the sweep read from the
//! labels.

use notation::yaml;
use scenario::configuration::{Axis, Configuration, Setting, Settings};
use serde_json::{Map, Value, json};

use super::SCHEMA;

/// The version that is understood.
pub(super) const OLDER: &str = "oversim.result/2";

/// Metrics and labels of references that have other names now.
const RENAMED: [(&str, &str); 5] = [
    ("spread", "variation"),
    ("gap_closed", "recovered"),
    ("fluid", "fair-share"),
    ("bound", "lower-bound"),
    ("best-cut", "best-partition"),
];

/// The beginning of the names of cpu-time shares, before and now.
const BREAKDOWN: (&str, &str) = ("account_", "breakdown_");

/// A result of the older version in the form of this one.
///
/// # Errors
/// A sentence: what is not as that version wrote it.
pub(super) fn upgraded(mut result: Value) -> Result<Value, String> {
    let root = result.as_object_mut().ok_or("it is no object")?;
    root.insert("schema".into(), SCHEMA.into());
    let provenance =
        root.get_mut("provenance").and_then(Value::as_object_mut).ok_or("it has no `provenance`")?;
    let labels: Vec<String> = match provenance.remove("points") {
        Some(points) => serde_json::from_value(points).map_err(|e| format!("`points`: {e}"))?,
        None => return Err("its provenance has no `points`".into()),
    };
    let (axes, configurations) = sweep(&labels);
    provenance.insert("sweep".into(), json!(axes));
    provenance.insert("configurations".into(), json!(configurations));
    if let Some(machines) = provenance.get_mut("machines").and_then(Value::as_array_mut) {
        for machine in machines {
            *machine = json!({ "name": machine });
        }
    }
    for list in ["cells", "comparisons", "best_partitions", "notes", "replays"] {
        for entry in root.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(entry) = entry.as_object_mut() {
                rename(entry, &configurations, list == "cells");
            }
        }
    }
    Ok(result)
}

/// Gives an entry the names of this version; cells also get their settings.
fn rename(entry: &mut Map<String, Value>, configurations: &[Configuration], cell: bool) {
    if let Some(point) = entry.remove("point") {
        if cell {
            let found = configurations.iter().find(|c| Some(c.label.as_str()) == point.as_str());
            entry
                .insert("settings".into(), json!(found.map(|c| &c.settings).unwrap_or(&Settings::default())));
        }
        entry.insert("configuration".into(), point);
    }
    for key in ["metric", "policy"] {
        if let Some(Value::String(name)) = entry.get_mut(key) {
            if let Some((_, now)) = RENAMED.iter().find(|(before, _)| before == name) {
                (*now).clone_into(name);
            } else if let Some(part) = name.strip_prefix(BREAKDOWN.0).filter(|_| key == "metric") {
                *name = format!("{}{part}", BREAKDOWN.1);
            }
        }
    }
}

/// Axes and configurations from labels such as `threads_per_core=1, machine.turbo=on`; labels of another form
/// become one axis.
fn sweep(labels: &[String]) -> (Vec<Axis>, Vec<Configuration>) {
    let read: Option<Vec<Vec<(String, String)>>> = labels.iter().map(|label| settings(label)).collect();
    let alike = |all: &Vec<Vec<(String, String)>>| {
        all.iter().all(|one| one.iter().map(|s| &s.0).eq(all[0].iter().map(|s| &s.0)))
    };
    let all = read.filter(|all| !all.is_empty() && alike(all)).unwrap_or_else(|| {
        labels.iter().map(|label| vec![("configuration".to_owned(), label.clone())]).collect()
    });
    let paths = all.first().map_or(0, Vec::len);
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for at in 0..paths {
        let mut values: Vec<String> = Vec::new();
        for one in &all {
            if !values.contains(&one[at].1) {
                values.push(one[at].1.clone());
            }
        }
        axes.push((all[0][at].0.clone(), values));
    }
    let configuration = |(label, one): (&String, &Vec<(String, String)>)| {
        let mut settings = Settings::default();
        for (path, value) in one {
            // What was written as YAML is read as YAML.
            match yaml::tree(0, value) {
                Ok(node) => settings.add(path, &node),
                Err(_) => settings.0.push((path.clone(), Setting::Text(value.clone()))),
            }
        }
        let place = |((_, values), (_, value)): (&(String, Vec<String>), &(String, String))| {
            values.iter().position(|known| known == value).unwrap_or_default()
        };
        Configuration { label: label.clone(), settings, places: axes.iter().zip(one).map(place).collect() }
    };
    let configurations = labels.iter().zip(&all).map(configuration).collect();
    (axes.into_iter().map(|(path, values)| Axis::new(&path, values)).collect(), configurations)
}

/// Paths and values of a label; `None` when it has another form.
fn settings(label: &str) -> Option<Vec<(String, String)>> {
    let mut parts: Vec<String> = vec![String::new()];
    let (mut depth, mut rest) = (0_usize, label);
    while let Some(next) = rest.chars().next() {
        if depth == 0 && rest.starts_with(", ") {
            parts.push(String::new());
            rest = &rest[2..];
            continue;
        }
        match next {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        parts.last_mut()?.push(next);
        rest = &rest[next.len_utf8()..];
    }
    let split = |part: &String| {
        let (path, value) = part.split_once('=')?;
        Some((path.to_owned(), value.to_owned()))
    };
    if label.is_empty() { Some(Vec::new()) } else { parts.iter().map(split).collect() }
}

#[cfg(test)]
mod tests {
    use crate::result::{SCHEMA, read};
    use scenario::configuration::Setting;

    /// A result as version 2 wrote it, with fewer cells.
    const OLD: &str = include_str!("../../tests/support/result-2.json");

    #[test]
    fn a_result_of_the_version_before_is_read() {
        let results = read("old.json", OLD).unwrap();
        assert_eq!(results.schema, SCHEMA);
        let p = &results.provenance;
        assert_eq!(p.machines[0].name, "core:2");
        assert_eq!(
            p.sweep.iter().map(|a| a.path.as_str()).collect::<Vec<_>>(),
            ["threads_per_core", "apps.a.runtime"]
        );
        assert_eq!(p.sweep[0].numbers, Some(vec![1.0]));
        let second = &p.configurations[1];
        assert_eq!(second.settings.get("apps.a.runtime"), Some(&Setting::Text("openmp".into())));
        assert_eq!(second.settings.get("apps.a.runtime.block_time"), Some(&Setting::Number(0.0)));
        assert_eq!(
            (p.configurations[0].places.as_slice(), second.places.as_slice()),
            (&[0, 0][..], &[0, 1][..])
        );
        for (policy, app, metric) in
            [("LOAD", "a", "variation"), ("PIN", "all", "breakdown_idle"), ("fair-share", "all", "makespan")]
        {
            let found = p.configurations.iter().any(|c| results.get(&c.label, policy, app, metric).is_some());
            assert!(found, "{policy} {app} {metric}");
        }
        let cell = results.cells.iter().find(|c| c.configuration == second.label).unwrap();
        assert_eq!(*cell.settings, second.settings);
        assert!(crate::statements::Extremes::of(&crate::statements::Table::of(&results)).is_some());
    }

    #[test]
    fn a_broken_result_of_the_version_before_is_refused() {
        let broken = OLD.replacen("\"points\"", "\"pints\"", 1);
        assert!(read("old.json", &broken).unwrap_err().contains("no `points`"));
    }
}
