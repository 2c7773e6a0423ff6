//! `oversim docs`: the list, the search and the pages of the manual, without the repository.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::columns::COLUMNS;
use crate::support::flat;

/// On a terminal of 80 columns, in an empty folder.
fn oversim(args: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::cargo_bin("oversim").unwrap();
    let program = program.current_dir(&folder).args(args).env("COLUMNS", COLUMNS.to_string());
    let done = program.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

/// The names of the pages that a search finds, in order: lines that are not indented, up to a blank line.
fn found(words: &[&str]) -> Vec<String> {
    let (code, out, errors) = oversim(&[&["docs"], words].concat());
    assert_eq!(code, Some(0), "{words:?}: {errors}");
    let hits = out.split("\n\n").next().unwrap().lines().filter(|line| !line.starts_with(' '));
    hits.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The pages of the summary that `oversim explain` does not make.
fn summary() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SUMMARY.md");
    let summary = fs::read_to_string(path).unwrap();
    let paths = summary.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(".md)"));
    let own = |path: &&str| {
        *path != "glossary" && (!path.starts_with("reference/") || *path == "reference/showcases")
    };
    paths.filter(own).map(|path| path.strip_suffix("/README").unwrap_or(path).to_owned()).collect()
}

#[test]
fn the_list_has_all_pages_and_each_is_printed() {
    let (code, list, _) = oversim(&["docs"]);
    let pages = summary();
    assert!(code == Some(0) && pages.len() > 40, "{pages:?}");
    for page in pages {
        assert!(list.contains(&format!("\n  {page} ")), "{page}: {list}");
        let (code, text, errors) = oversim(&["docs", &page]);
        assert_eq!(code, Some(0), "{page}: {errors}");
        let marks = ["](", "```", "\n#", "<!--", "<details>", "\n|"];
        // What is code is indented.
        let prose: Vec<&str> = text.lines().filter(|line| !line.starts_with("  ")).collect();
        let prose = prose.join("\n");
        for mark in marks {
            assert!(!prose.contains(mark), "{page} shows `{mark}`");
        }
        let long: Vec<&str> = prose.lines().filter(|line| line.chars().count() > COLUMNS).collect();
        let one_word = |line: &&str| line.trim_start().trim_start_matches("- ").contains(' ');
        assert_eq!(long.into_iter().filter(one_word).collect::<Vec<_>>(), [""; 0], "{page}");
    }
}

#[test]
fn a_search_finds_pages_by_title_then_heading_then_text() {
    assert_eq!(found(&["lock"])[0], "how-to/locks");
    assert_eq!(found(&["real-time", "tasks"])[..1], ["model/groups"]);
    assert_eq!(found(&["cache", "refills"])[0], "model/memory");
    assert_eq!(found(&["LOCK"]), found(&["lock"]));
    let (_, out, _) = oversim(&["docs", "sched_yield", "caller"]);
    assert!(out.to_lowercase().contains("sched_yield") && out.contains("  #"), "{out}");
    let (_, out, _) = oversim(&["docs", "speed"]);
    assert!(flat(&out).contains("`oversim explain` has pages for SPEED,"), "{out}");
}

#[test]
fn a_section_is_printed_alone() {
    let (code, text, _) = oversim(&["docs", "model/memory#bandwidth"]);
    assert!(code == Some(0) && text.starts_with("Bandwidth\n") && !text.contains("\nPages\n"), "{text}");
    // As links of the repository name it.
    assert_eq!(oversim(&["docs", "docs/model/memory.md#bandwidth"]).1, text);
}

#[test]
fn what_is_not_there_gets_advice() {
    for (args, says) in [
        (&["model/memroy"][..], "did you mean `model/memory`?"),
        (&["tutoriel.md"], "did you mean `tutorial`?"),
        (&["nowhere/at/all"], "`oversim docs` lists all pages"),
        (&["model/memory#pagse"], "did you mean `pages`?"),
        (&["bandwith"], "did you mean `bandwidth`?"),
        (&["xyzzyplugh"], "the manual does not have `xyzzyplugh`. `oversim docs` lists all pages"),
        (&["lock", "xyzzyplugh"], "`xyzzyplugh`"),
        (&["gymnasium", "gangs", "convoy", "hyperqueue"], "fewer words find more"),
        (&["?"], "a search needs a word"),
    ] {
        let (code, out, errors) = oversim(&[&["docs"], args].concat());
        assert!(code == Some(2) && out.is_empty() && errors.contains(says), "{args:?}: {errors}");
    }
}
