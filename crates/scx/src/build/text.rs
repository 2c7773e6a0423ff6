//! What a build says of its policy file: as text, as Markdown, as JSON.

use std::fmt::Write as _;

use super::describe::map_kind;
use crate::policy_file::{Global, PolicyFile};

/// Names of variables that are shown; the JSON has all.
const SHOWN: usize = 12;

/// The columns before the names.
const INDENT: usize = 14;

/// Lines to read, of at most `width` columns where names allow it: `path` is the file, `size` its bytes.
pub fn text(file: &PolicyFile, path: &str, size: usize, width: usize) -> String {
    let mut out = format!("{path}: the policy {}, {} bytes\n\n", file.name, grouped(size));
    for (label, names) in rows(file) {
        if names.is_empty() {
            let _ = writeln!(out, "  {label:<12}none");
        } else {
            hang(&mut out, &label, &names, width);
        }
    }
    let _ = write!(out, "\nIn a scenario:  policies: [LOAD, {}]\n", reference(path));
    if let Some(global) = settable(file).find(|global| global.count.is_none()) {
        let reference = reference(path);
        let (name, value) = (&global.name, shown_value(global));
        let _ = writeln!(out, "  with a value:  policies: [{{policy: {reference}, {name}: {value}}}]");
    }
    out
}

/// The same lines in Markdown.
pub fn markdown(file: &PolicyFile, path: &str, size: usize) -> String {
    let mut out =
        format!("`{path}`: the policy `{}`, {} bytes\n\n| | |\n|---|---|\n", file.name, grouped(size));
    for (label, names) in rows(file) {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let _ = writeln!(out, "| {label} | {names} |");
    }
    out
}

/// One JSON object: the path, the size in bytes, and the whole description.
pub fn json(file: &PolicyFile, path: &str, size: usize) -> String {
    let value = serde_json::json!({ "path": path, "bytes": size, "policy": file });
    // A value of plain maps, texts and numbers is always JSON.
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}

/// Labels and names.
fn rows(file: &PolicyFile) -> [(String, Vec<String>); 4] {
    let maps = file.maps.iter().map(|map| {
        let entries = if map.max_entries == 0 { String::new() } else { format!(" of {}", map.max_entries) };
        format!("{} ({}{entries})", map.symbol, map_kind(map.kind))
    });
    let all: Vec<&Global> = settable(file).collect();
    let mut variables: Vec<String> =
        all.iter().take(SHOWN).map(|global| format!("{} = {}", global.name, shown_value(global))).collect();
    if all.len() > SHOWN {
        variables.push(format!("{} more (--format json)", all.len().saturating_sub(SHOWN)));
    }
    let programs = file.programs.iter().map(|program| program.name.clone());
    [
        ("operations".to_owned(), file.ops.given.clone()),
        ("maps".to_owned(), maps.collect()),
        ("variables".to_owned(), variables),
        ("programs".to_owned(), programs.collect()),
    ]
}

/// Variables, those first that the scheduler itself never changes: they are its settings.
fn settable(file: &PolicyFile) -> impl Iterator<Item = &Global> {
    let of = |constant: bool| file.globals.iter().filter(move |global| global.constant == constant);
    of(true).chain(of(false))
}

fn shown_value(global: &Global) -> String {
    match global.count {
        Some(count) => format!("[{count} values]"),
        None if global.boolean => (global.value != 0).to_string(),
        None => global.value.to_string(),
    }
}

/// The path as a scenario beside the file names it: with `./`, so that it is no name of a built-in policy.
fn reference(path: &str) -> String {
    if path.contains('/') { path.to_owned() } else { format!("./{path}") }
}

/// `1234567` is `1 234 567`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len().saturating_sub(at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Names with commas between them, continued below the first one.
fn hang(out: &mut String, label: &str, names: &[String], width: usize) {
    let _ = write!(out, "  {label:<12}");
    let mut column = INDENT;
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        let length = name.chars().count().saturating_add(comma.len());
        if at > 0 && column.saturating_add(length).saturating_add(1) > width {
            let _ = write!(out, "\n{:INDENT$}", "");
            column = INDENT;
        } else if at > 0 {
            out.push(' ');
            column = column.saturating_add(1);
        }
        let _ = write!(out, "{name}{comma}");
        column = column.saturating_add(length);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::{grouped, json, markdown, text};
    use crate::policy_file::{ABI, Global, Map, Ops, PolicyFile, Program};

    fn file() -> PolicyFile {
        let global = |name: &str, constant: bool, value: i128| Global {
            name: name.to_owned(),
            address: 1024,
            size: 8,
            signed: false,
            boolean: name == "fifo",
            constant,
            count: None,
            value,
        };
        PolicyFile {
            abi: ABI,
            name: "simple".to_owned(),
            compiler: "clang version 14.0.6".to_owned(),
            sources: vec!["simple.bpf.c".to_owned()],
            sha256: "00".to_owned(),
            ops: Ops {
                symbol: "simple_ops".to_owned(),
                address: 2048,
                given: ["select_cpu", "enqueue", "dispatch"].map(str::to_owned).to_vec(),
            },
            maps: vec![Map {
                symbol: "stats".to_owned(),
                address: 4096,
                kind: 6,
                key_size: 4,
                value_size: 8,
                max_entries: 2,
                flags: 0,
                references: Vec::new(),
                inner: Vec::new(),
            }],
            globals: vec![global("vtime", false, 7), global("fifo", true, 1)],
            programs: Vec::<Program>::new(),
        }
    }

    #[test]
    fn the_text_names_operations_maps_and_variables_and_how_to_use_the_file() {
        let expected = "simple.wasm: the policy simple, 11 536 bytes\n\n  operations  select_cpu, \
                        enqueue,\n              dispatch\n  maps        stats (PERCPU_ARRAY of 2)\n  \
                        variables   fifo = true, vtime = 7\n  programs    none\n\nIn a scenario:  \
                        policies: [LOAD, ./simple.wasm]\n  with a value:  policies: [{policy: \
                        ./simple.wasm, fifo: true}]\n";
        assert_eq!(text(&file(), "simple.wasm", 11_536, 38), expected);
    }

    #[test]
    fn markdown_and_json_have_the_same() {
        let markdown = markdown(&file(), "a/simple.wasm", 999);
        assert!(markdown.contains("| maps | `stats (PERCPU_ARRAY of 2)` |"), "{markdown}");
        let json = json(&file(), "a/simple.wasm", 999);
        assert!(json.contains("\"bytes\": 999") && json.contains("\"symbol\": \"simple_ops\""), "{json}");
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([1, 999, 1000, 1_234_567].map(grouped), ["1", "999", "1 000", "1 234 567"]);
    }
}
