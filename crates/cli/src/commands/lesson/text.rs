//! A lesson: its page in the manual, cut into the parts that the program shows one after the other.

use std::ops::RangeInclusive;

use experiment::text::{cut, hanging};

use crate::markdown::plain;

/// A lesson, read from its page.
pub(super) struct Lesson {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its title, without the number.
    pub(super) title: &'static str,
    /// The question.
    pub(super) question: String,
    /// The predictions to choose from.
    pub(super) predictions: Vec<String>,
    /// Which of them is right, from 1.
    pub(super) right: usize,
    /// The command to run, `run NAME ...`.
    pub(super) command: &'static str,
    /// What the picture shows.
    pub(super) caption: String,
    /// The command that draws the picture, `timeline NAME ...`, without the file.
    pub(super) picture: &'static str,
    /// The answer.
    pub(super) answer: &'static str,
    /// Questions and answers of the exercises.
    pub(super) exercises: Vec<(&'static str, &'static str)>,
    /// What publications report.
    pub(super) literature: &'static str,
}

/// The courses: a name, and the numbers of its lessons.
pub(super) const COURSES: [(&str, RangeInclusive<usize>); 2] =
    [("Operating systems", 11..=22), ("Parallel computing", 1..=10)];

/// How an answer names the prediction that is right, in order.
const RIGHT: [&str; 4] = [
    "The first prediction is right",
    "The second prediction is right",
    "The third prediction is right",
    "The fourth prediction is right",
];

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../../../docs/lessons/", $name, ".md"))),*]
    };
}

/// The pages of all lessons, in order.
const PAGES: &[&str] = pages![
    "01-time-slices",
    "02-waiting",
    "03-seventeen-on-sixteen",
    "04-load-balancing",
    "05-sched-yield",
    "06-gangs",
    "07-share-or-partition",
    "08-first-touch",
    "09-noise",
    "10-mpi-openmp",
    "11-first-come",
    "12-convoy",
    "13-mlfq",
    "14-lottery-and-stride",
    "15-cfs-and-eevdf-by-hand",
    "16-nice",
    "17-many-cpus",
    "18-work-conservation",
    "19-locks",
    "20-priority-inversion",
    "21-deadlines",
    "22-amdahl",
];

/// All lessons. Their pages have the same headings, which a test checks.
pub(super) fn all() -> Vec<Lesson> {
    PAGES.iter().enumerate().filter_map(|(at, page)| read(at + 1, page)).collect()
}

fn read(number: usize, page: &'static str) -> Option<Lesson> {
    let title = page.lines().next()?.split_once(". ")?.1;
    let answer = folded(section(page, "Answer")?);
    let exercises = section(page, "Exercises")?;
    let exercise = |text: &'static str| {
        let (question, answer) = text.split_once("<details>")?;
        Some((question.split_once('\n')?.1.trim(), folded(answer)))
    };
    Some(Lesson {
        number,
        title,
        question: plain(section(page, "Question")?),
        predictions: section(page, "Prediction")?
            .split("\n")
            .filter_map(|line| Some(plain(line.split_once(". ")?.1)))
            .collect(),
        command: commands(section(page, "Run")?).next()?,
        caption: plain(section(page, "Picture")?.split_once("![")?.1.split_once(']')?.0),
        picture: section(page, "Picture")?.split_once("\noversim ")?.1.split_once(" -o ")?.0,
        right: RIGHT.iter().position(|said| answer.contains(said))? + 1,
        answer,
        exercises: exercises.split("### Exercise ").skip(1).filter_map(exercise).collect(),
        literature: section(page, "Literature")?,
    })
}

/// The text under a heading, up to the next one.
fn section(page: &'static str, heading: &str) -> Option<&'static str> {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest).trim())
}

/// What is inside a fold.
fn folded(text: &'static str) -> &'static str {
    let text = text.split_once("</summary>").map_or(text, |(_, inside)| inside);
    text.split("</details>").next().unwrap_or(text).trim()
}

/// The commands of the `console` blocks of a text, without the name of the program.
pub(super) fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("$ oversim "))
}

/// The answer without its first block, which shows what has just been run.
pub(super) fn behind_first_block(answer: &str) -> &str {
    answer.split_once("```").and_then(|(_, rest)| rest.split_once("```")).map_or(answer, |(_, rest)| rest)
}

/// The paragraphs of a text without its blocks of code.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2);
    let paragraphs = prose.flat_map(|part| part.split("\n\n")).flat_map(items);
    paragraphs.map(|paragraph| plain(&paragraph)).filter(|paragraph| !paragraph.is_empty()).collect()
}

/// The items of a list one by one; a paragraph as it is.
fn items(paragraph: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in paragraph.lines().map(str::trim) {
        match items.last_mut() {
            Some(last) if !line.starts_with("- ") => {
                last.push(' ');
                last.push_str(line);
            }
            _ => items.push(line.to_owned()),
        }
    }
    items
}

/// A block of code: its commands, broken before a flag where they are long, and the lines that it shows.
fn block(text: &str, width: usize) -> Option<String> {
    let mut lines = Vec::new();
    for line in text.lines().skip(1) {
        match line.strip_prefix("$ ") {
            Some(command) => {
                lines.push(format!("  $ {}", continued(command, width.saturating_sub(4), "        ")));
            }
            None if line == "..." || line.is_empty() => {}
            None => lines.push(cut(&format!("  {line}"), width)),
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A command in lines of at most `width` columns where its flags allow it, each continued by a backslash.
pub(super) fn continued(command: &str, width: usize, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        // A flag and its value stay together.
        let value = words.next_if(|next| word.starts_with('-') && !next.starts_with('-'));
        let part = value.map_or_else(|| word.to_owned(), |value| format!("{word} {value}"));
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() + 2 <= width => {
                line.push(' ');
                line.push_str(&part);
            }
            Some(_) => lines.push(format!("{indent}{part}")),
            None => lines.push(part),
        }
    }
    lines.join(" \\\n")
}

/// A text in lines of at most `width` columns, with the commands of its blocks and what they print.
pub(super) fn shown(text: &str, width: usize) -> String {
    let mut parts = Vec::new();
    for (at, part) in text.split("```").enumerate() {
        if at % 2 == 1 {
            parts.extend(block(part, width));
            continue;
        }
        for paragraph in paragraphs(part) {
            let rest = if paragraph.starts_with("- ") { "  " } else { "" };
            parts.push(hanging(&paragraph, ["", rest], width).join("\n"));
        }
    }
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_all_parts() {
        let lessons = all();
        assert_eq!(lessons.len(), PAGES.len());
        for lesson in lessons {
            let at = lesson.number;
            assert!(lesson.question.ends_with('?'), "{at}: {}", lesson.question);
            assert!((2..=4).contains(&lesson.predictions.len()), "{at}: {:?}", lesson.predictions);
            assert!(lesson.command.starts_with("run "), "{at}: {}", lesson.command);
            assert!(lesson.picture.starts_with("timeline "), "{at}: {}", lesson.picture);
            assert!(lesson.answer.contains("$ oversim ") && lesson.answer.len() > 300, "{at}");
            assert!((1..=lesson.predictions.len()).contains(&lesson.right), "{at}: {}", lesson.right);
            let said = RIGHT.iter().filter(|said| lesson.answer.contains(**said)).count();
            assert_eq!(said, 1, "{at}: the answer says which prediction is right");
            let courses = COURSES.iter().filter(|(_, numbers)| numbers.contains(&at)).count();
            assert_eq!(courses, 1, "{at} belongs to one course");
            assert_eq!(lesson.exercises.len(), 2, "{at}");
            for (question, answer) in &lesson.exercises {
                assert!(question.len() > 30 && answer.contains("$ oversim "), "{at}: {question}");
            }
            assert!(lesson.literature.starts_with("- "), "{at}: {}", lesson.literature);
        }
    }

    /// The characters of the code spans of a text, without blanks.
    fn spans(text: &str) -> Vec<String> {
        let prose: String = text.split("```").step_by(2).collect();
        prose.split('`').skip(1).step_by(2).map(|code| code.split_whitespace().collect()).collect()
    }

    #[test]
    fn no_character_of_a_code_span_or_of_a_formula_is_lost() {
        let mut signs = 0;
        for (at, page) in PAGES.iter().enumerate() {
            for text in [section(page, "Answer"), section(page, "Exercises"), section(page, "Literature")] {
                let text = text.unwrap_or_default();
                let out = shown(text, 80);
                let out: String = out.split_whitespace().collect();
                for span in spans(text) {
                    assert!(out.contains(&format!("`{span}`")), "lesson {}: {span}", at + 1);
                }
                let prose: String = text.split("```").step_by(2).collect();
                let times = prose.split_whitespace().filter(|word| *word == "*").count();
                signs += times;
                let kept = paragraphs(text).join(" ");
                let kept = kept.split_whitespace().filter(|word| *word == "*").count();
                assert_eq!(kept, times, "lesson {}", at + 1);
            }
        }
        assert!(signs >= 2, "lesson 3 has a formula");
    }

    #[test]
    fn a_long_command_is_continued_at_a_flag() {
        let command = "oversim run spin --policy PIN --set a.b=1 --set c=2";
        assert_eq!(continued(command, 80, "  "), command);
        assert_eq!(
            continued(command, 30, "  "),
            "oversim run spin \\\n  --policy PIN --set a.b=1 \\\n  --set c=2"
        );
    }

    #[test]
    fn blocks_and_lists_are_shown() {
        assert_eq!(
            shown("A.\n\n```console\n$ oversim list\nb\n```\n\n- c\n- d\n", 40),
            "A.\n\n  $ oversim list\n  b\n\n- c\n\n- d"
        );
    }
}
