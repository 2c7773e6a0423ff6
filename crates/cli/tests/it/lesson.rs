//! `oversim lesson`: every lesson runs, its picture is current, slides are written completely or not at all, and
//! predictions are marked.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::columns::{COLUMNS, too_long};

/// Number of lessons.
const LESSONS: usize = 22;

fn oversim(args: &[&str]) -> (Option<i32>, String, String) {
    oversim_in(100, args)
}

/// On a terminal of so many columns.
fn oversim_in(columns: usize, args: &[&str]) -> (Option<i32>, String, String) {
    let columns = columns.to_string();
    let done = Command::cargo_bin("oversim").unwrap().args(args).env("COLUMNS", columns).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

fn pages() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lessons");
    let mut pages: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into(), fs::read_to_string(path).unwrap()))
        .filter(|(name, _)| name != "README")
        .collect();
    pages.sort();
    pages
}

#[test]
fn the_list_has_every_page_of_the_manual() {
    let (code, list, _) = oversim(&["lesson"]);
    assert_eq!((code, pages().len()), (Some(0), LESSONS));
    for (at, (name, page)) in pages().iter().enumerate() {
        let title = page.lines().next().unwrap().strip_prefix(&format!("# {}. ", at + 1)).unwrap();
        assert!(name.starts_with(&format!("{:02}-", at + 1)) && list.contains(title), "{name}: {list}");
    }
}

#[test]
fn every_lesson_runs_without_a_terminal_and_keeps_to_the_columns() {
    for number in 1..=LESSONS {
        let (code, text, errors) = oversim_in(COLUMNS, &["lesson", &number.to_string(), "--quiet"]);
        assert_eq!(code, Some(0), "lesson {number}: {errors}");
        // The run and the timeline are those of the moment, and nothing is left of the form of the page.
        for part in [", digest ", "\nAnswer\n", "seed 1", "\nExercise 2\n", "\nLiterature\n"] {
            assert!(text.contains(part), "lesson {number} has no `{part}`: {text}");
        }
        assert!(!text.contains("```") && !text.contains("](") && !text.contains("<details>"), "{text}");
        assert_eq!(too_long(&text), [""; 0], "lesson {number}");
    }
}

#[test]
fn the_pictures_of_the_pages_are_current() {
    let folder = tempfile::tempdir().unwrap();
    for (name, page) in pages() {
        let command = page.split("\noversim timeline ").nth(1).unwrap().lines().next().unwrap();
        let (command, file) = command.split_once(" -o ").unwrap();
        let drawn = folder.path().join(file);
        let mut args = vec!["timeline"];
        args.extend(command.split_whitespace());
        args.extend(["-o", drawn.to_str().unwrap(), "--quiet"]);
        let (code, _, errors) = oversim(&args);
        assert_eq!(code, Some(0), "{name}: {errors}");
        let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lessons/pictures").join(file);
        if std::env::var_os("OVERSIM_UPDATE").is_some() {
            fs::copy(&drawn, &shown).unwrap();
        }
        let same = fs::read(drawn).unwrap() == fs::read(&shown).unwrap();
        assert!(same, "{} differs from `oversim timeline {command}`", shown.display());
    }
}

#[test]
fn the_curve_of_lesson_3_is_current() {
    let folder = tempfile::tempdir().unwrap();
    let (_, page) = pages().into_iter().find(|(name, _)| name.starts_with("03")).unwrap();
    let command = page.split("$ oversim run ").nth(1).unwrap().lines().next().unwrap();
    let mut args = vec!["plot"];
    args.extend(command.split_whitespace());
    args.extend(["--figure", "sweep", "-o", folder.path().to_str().unwrap(), "--force", "--quiet"]);
    let (code, _, errors) = oversim(&args);
    assert_eq!(code, Some(0), "{errors}");
    let drawn = fs::read_to_string(folder.path().join("sweep.svg")).unwrap();
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lessons/pictures/03-sweep.svg");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&shown, &drawn).unwrap();
    }
    assert!(drawn == fs::read_to_string(&shown).unwrap(), "{} is not current", shown.display());
}

#[test]
fn slides_are_one_page_with_all_parts_and_the_answers_as_notes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waiting.html");
    let file = path.to_str().unwrap();
    let (code, _, errors) = oversim(&["lesson", "2", "--slides", file]);
    assert_eq!(code, Some(0), "{errors}");
    let page = fs::read_to_string(&path).unwrap();
    for part in [
        "<title>2. Spin, yield or block?</title>",
        "Spinning is much slower than the others",
        "$ oversim run spin_yield_block",
        "<svg",
        "Exercise 2",
        "class=\"notes\"",
        "Oversubscription on Multicore Processors",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // It loads nothing, and nothing of the form of the manual's page is left.
    assert!(!page.contains("src=") && !page.contains("<details>") && !page.contains("](../"), "{page}");
    // A second time nothing is replaced without --force.
    let (code, _, errors) = oversim(&["lesson", "2", "--slides", file]);
    assert!(code == Some(2) && errors.contains("--force"), "{errors}");
    assert_eq!(oversim(&["lesson", "2", "--slides", file, "--force"]).0, Some(0));
    let (code, _, errors) = oversim(&["lesson", "2", "--slides", "slides"]);
    assert!(
        code == Some(2) && errors.contains("should end in .html") && !Path::new("slides").exists(),
        "{errors}"
    );
}

#[test]
fn predictions_are_marked_for_each_student_and_for_the_class() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (ann, ben) = (file("ann.yaml", "2: 3\n1: 1\n"), file("ben.yaml", "2: 1\n"));
    let (code, marks, errors) = oversim(&["lesson", "--grade", &ann, &ben]);
    assert_eq!(code, Some(0), "{errors}");
    for line in [
        "ann: 1 of 2 predictions right",
        "2  3 is right: Spinning is much slower than the others.",
        "1  1 is wrong; 2 is right: ",
        "ben: 0 of 1 prediction right",
        "2  1 of 2 right (1: 1, 2: 0, 3: 1)",
    ] {
        assert!(marks.contains(line), "{line}: {marks}");
    }
    let (_, marks, _) = oversim(&["lesson", "--grade", &ann, &ben, "--format", "csv"]);
    assert_eq!(marks, "student,lesson,prediction,right\nann,1,1,no\nann,2,3,yes\nben,2,1,no\n");
    for (text, said) in [
        ("23: 1\n", "the lessons are 1 to 22"),
        ("\n2: 4\n", "wrong.yaml:2: lesson 2 has the predictions 1 to 3, and not `4`"),
        ("two: 3\n", "there is no lesson `two`"),
        ("2: three\n", "and not `three`"),
        ("2: 1\n2: 1\n", "wrong.yaml:2: lesson 2 stands here already"),
        ("- 3\n", "such as `2: 3`"),
    ] {
        let (code, out, errors) = oversim(&["lesson", "--grade", &file("wrong.yaml", text)]);
        assert!(code == Some(2) && out.is_empty() && errors.contains(said), "{text}: {errors}");
    }
}

#[test]
fn predictions_and_names_of_students_bring_no_control_characters_and_no_formulas() {
    let folder = tempfile::tempdir().unwrap();
    let control = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
    for text in ["\u{1b}[31m: 1\n", "2: \u{7}\u{9b}\n", "2\u{202e}: 1\n", "\0", "2: 18446744073709551616\n"] {
        let path = folder.path().join("ann.yaml");
        fs::write(&path, text).unwrap();
        let (code, out, errors) = oversim(&["lesson", "--grade", path.to_str().unwrap()]);
        assert!(code == Some(2) && out.is_empty() && !control(&errors), "{text:?}: {errors:?}");
        assert!(errors.contains("ann.yaml"), "{errors}");
    }
    let path = folder.path().join("=1+1,\"\u{1b}]0;pwn\u{7}.yaml");
    fs::write(&path, "2: 3\n").unwrap();
    for form in ["text", "csv"] {
        let (code, out, errors) = oversim(&["lesson", "--grade", path.to_str().unwrap(), "--format", form]);
        assert!(code == Some(0) && !control(&out), "{out:?} {errors}");
        assert!(!out.lines().any(|line| form == "csv" && line.starts_with('=')), "{out}");
    }
}

#[test]
fn an_unknown_lesson_is_answered_with_the_range() {
    let (code, out, errors) = oversim(&["lesson", "23"]);
    assert!(code == Some(2) && out.is_empty() && errors.contains("1 to 22"), "{errors}");
    assert_eq!(oversim(&["lesson", "--all"]).0, Some(2));
}
