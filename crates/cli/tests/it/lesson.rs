//! `oversim lesson`: every lesson runs, its picture is current, and slides are written completely or not at all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::columns::{COLUMNS, too_long};

/// Number of lessons.
const LESSONS: usize = 10;

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
        let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/pictures").join(file);
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
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/pictures/03-sweep.svg");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&shown, &drawn).unwrap();
    }
    assert!(drawn == fs::read_to_string(&shown).unwrap(), "{} is not current", shown.display());
}

#[test]
fn slides_have_the_form_of_a_projector() {
    let folder = tempfile::tempdir().unwrap();
    let slides = folder.path().join("slides");
    let slides = slides.to_str().unwrap();
    let (code, _, errors) = oversim(&["lesson", "2", "--slides", slides]);
    assert_eq!(code, Some(0), "{errors}");
    let mut names = Vec::new();
    for entry in fs::read_dir(slides).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("width=\"1920\" height=\"1080\""), "{}", path.display());
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    names.sort();
    assert_eq!(
        names,
        [
            "lesson-02-1-question.svg",
            "lesson-02-2-picture.svg",
            "lesson-02-3-answer.svg",
            "lesson-02-4-exercises.svg"
        ]
    );
    let question = fs::read_to_string(Path::new(slides).join(&names[0])).unwrap();
    assert!(question.contains("3. Spinning is much slower"), "{question}");
    // A second time nothing is replaced without --force.
    fs::remove_file(Path::new(slides).join(&names[0])).unwrap();
    let (code, _, errors) = oversim(&["lesson", "2", "--slides", slides]);
    assert!(code == Some(2) && errors.contains("--force"), "{errors}");
    assert!(!Path::new(slides).join(&names[0]).exists());
    assert_eq!(oversim(&["lesson", "2", "--slides", slides, "--force"]).0, Some(0));
}

#[test]
fn an_unknown_lesson_is_answered_with_the_range() {
    let (code, out, errors) = oversim(&["lesson", "11"]);
    assert!(code == Some(2) && out.is_empty() && errors.contains("1 to 10"), "{errors}");
    assert_eq!(oversim(&["lesson", "--all"]).0, Some(2));
}
