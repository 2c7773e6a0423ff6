//! The commands that simulate nothing: check, schema, list, help.

use crate::support::{self, flat};

use serde_json::Value;

fn oversim(args: &[&str]) -> (i32, String, String) {
    support::oversim(args, "")
}

#[test]
fn lists_come_from_the_registries_as_text_and_json() {
    for (registry, one) in [
        ("policies", "SPEED"),
        ("workloads", "npb"),
        ("machines", "barcelona"),
        ("kernels", "linux-2.6.28"),
        ("runtimes", "upc"),
        ("metrics", "throughput"),
        ("scenarios", "cg_ft_share"),
    ] {
        let (code, text, _) = oversim(&["list", registry]);
        assert_eq!(code, 0);
        let (_, json, _) = oversim(&["list", registry, "--format", "json"]);
        let rows: Value = serde_json::from_str(&json).unwrap();
        let names: Vec<_> = rows.as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
        assert!(names.contains(&one), "{names:?}");
        let begins = |name: &&str| text.lines().any(|line| line.trim_start().starts_with(name));
        assert!(names.iter().all(begins), "{text}");
    }
}

#[test]
fn one_entry_is_shown_with_its_parameters() {
    let (code, text, _) = oversim(&["list", "policies", "speed"]);
    assert!(code == 0 && text.starts_with("SPEED") && text.contains("Parameters:"), "{text}");
}

#[test]
fn any_name_is_explained_as_text_markdown_and_json() {
    for (name, says) in [
        ("speed", "Worked example"),
        ("linux-6.18", "Parameters"),
        ("openmp", "200 ms"),
        ("npb", "name: example"),
        ("barcelona", "Values and their sources"),
        ("slowdown", "dedicated runs"),
    ] {
        let (code, text, _) = oversim(&["explain", name]);
        assert!(code == 0 && text.to_lowercase().starts_with(name) && text.contains(says), "{text}");
        let (_, page, _) = oversim(&["explain", name, "--format", "markdown"]);
        assert!(page.starts_with("# ") && page.contains("\n## "), "{page}");
        let (_, json, _) = oversim(&["explain", name, "--format", "json"]);
        let pages: Value = serde_json::from_str(&json).unwrap();
        assert!(pages[0]["name"].as_str().unwrap().eq_ignore_ascii_case(name), "{json}");
    }
    let (code, _, said) = oversim(&["explain", "linux-2.6.82"]);
    assert!(code == 2 && said.contains("did you mean `linux-2.6.28`?"), "{said}");
    let (code, all, _) = oversim(&["explain"]);
    assert!(code == 0 && all.contains("\n  SPEED ") && all.contains("\n  dissemination "), "{all}");
}

#[test]
fn the_schema_is_json() {
    let (code, text, _) = oversim(&["schema"]);
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(code == 0 && schema["$schema"].as_str().unwrap().contains("draft-07"));
}

#[test]
fn check_names_good_files_and_shows_what_is_wrong_with_bad_ones() {
    let bad = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(bad.path(), "name: x\nmachine: nowhere\n").unwrap();
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/two_hogs_one_core.yaml");
    let (code, out, err) = oversim(&["check", good]);
    assert!(code == 0 && flat(&out).contains("two_hogs_one_core.yaml: ok, ") && err.is_empty(), "{out}{err}");
    let bad = bad.path().to_str().unwrap();
    let (code, out, err) = oversim(&["check", bad, good]);
    assert_eq!(code, 2);
    assert!(flat(&out).contains("two_hogs_one_core.yaml: ok"), "a bad file does not hide the others: {out}");
    assert!(err.contains(bad) && err.contains("nowhere"), "{err}");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let (code, out, err) = oversim(&["--help"]);
    assert!(code == 0 && out.contains("oversim run cg_ft_share") && err.is_empty());
    let (code, out, _) = oversim(&["--version"]);
    assert!(code == 0 && out.starts_with("oversim "));
    let (code, out, err) = oversim(&[]);
    assert!(code == 2 && out.is_empty() && !err.is_empty());
}
