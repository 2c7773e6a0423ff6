//! A lesson as slides: what the page says, cut for a projector, with the answers of the exercises as notes.

use pictures::canvas::Picture;
use pictures::deck::{Body, Slide, deck, divided};

use super::text::Lesson;

/// Parts of a result on its slide, between empty lines: the verdict and a table.
const MOST_PARTS: usize = 2;

/// The slides of a lesson as one HTML page.
pub(super) fn slides(lesson: &Lesson, timeline: &Picture) -> String {
    let title = format!("{}. {}", lesson.number, lesson.title);
    let numbered = |text: &str| {
        let lines = lesson.predictions.iter().enumerate();
        lines.fold(text.to_owned(), |text, (at, prediction)| format!("{text}\n{}. {prediction}", at + 1))
    };
    let slide = |title: &str, body: String, notes: String| Slide {
        title: title.to_owned(),
        body: Body::Text(body),
        notes,
    };
    let mut all = Vec::new();
    for text in divided(&lesson.question) {
        all.push(slide(&title, text, String::new()));
    }
    all.push(slide(
        "Prediction",
        numbered(""),
        "Let the class vote before anything runs. `oversim lesson --grade` marks predictions in files."
            .into(),
    ));
    all.push(slide("Run", format!("```text\n$ oversim {}\n```", wrapped(lesson.command)), String::new()));
    if let Some(result) = result(lesson) {
        all.push(slide("Result", result, String::new()));
    }
    all.push(Slide {
        title: "Picture".into(),
        body: Body::Picture { svg: timeline.svg(), caption: lesson.caption.clone() },
        notes: format!("```text\n$ oversim {}\n```", wrapped(lesson.picture)),
    });
    for text in divided(&broken(super::text::behind_first_block(lesson.answer))) {
        all.push(slide("Answer", text, String::new()));
    }
    for (at, (question, answer)) in lesson.exercises.iter().enumerate() {
        all.push(slide(&format!("Exercise {}", at + 1), (*question).to_owned(), broken(answer)));
    }
    all.push(slide("Literature", lesson.literature.to_owned(), String::new()));
    let origin = format!("oversim {}", env!("CARGO_PKG_VERSION"));
    deck(&title, &origin, &all)
}

/// What the run printed, without what cannot be read from the last row: the verdict and the first table.
fn result(lesson: &Lesson) -> Option<String> {
    let block = lesson.answer.split("```").nth(1)?;
    let printed = block.split_once('\n')?.1.split_once('\n')?.1;
    let lines: Vec<&str> = printed.lines().filter(|line| *line != "...").collect();
    let text = lines.join("\n");
    // The head has the name of the scenario and its question.
    let name = lesson.command.split_whitespace().nth(1)?;
    let is_head = |part: &&str| part.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "));
    let parts: Vec<&str> = text.split("\n\n").map(str::trim_end).filter(|part| !part.is_empty()).collect();
    let skipped = parts.iter().take(1).filter(|part| is_head(part)).count();
    let shown: Vec<&str> = parts.into_iter().skip(skipped).take(MOST_PARTS).collect();
    (!shown.is_empty()).then(|| format!("```text\n{}\n```", shown.join("\n\n")))
}

/// A text with its long commands in several lines.
fn broken(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("$ ") {
        Some(command) => format!("$ {}", wrapped(command)),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A command in lines that can be read from the last row.
fn wrapped(command: &str) -> String {
    /// Columns of a line.
    const COLUMNS: usize = 72;
    super::text::continued(command, COLUMNS, "      ")
}
