//! Marks predictions: which of them the answers of the lessons call right.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use experiment::neutral;
use experiment::number::plural;
use experiment::text::hanging;

use super::WIDEST;
use super::text::Lesson;
use crate::args::Marks;
use crate::failure::Failure;
use crate::{input, output};

/// Most bytes of a file with predictions.
const MOST: u64 = 100_000;

/// What a student predicted, lesson by lesson.
struct Student {
    name: String,
    predictions: Vec<(usize, usize)>,
}

/// Reads the files and prints the marks.
pub(super) fn grade(lessons: &[Lesson], files: &[PathBuf], form: Marks) -> Result<(), Failure> {
    let students: Result<Vec<Student>, Failure> = files.iter().map(|file| student(lessons, file)).collect();
    let students = students?;
    output::to_stdout(|out| match form {
        Marks::Text => text(lessons, &students, out),
        Marks::Csv => csv(lessons, &students, out),
    })
}

/// The predictions of a file, which is named after its student.
fn student(lessons: &[Lesson], file: &Path) -> Result<Student, Failure> {
    let (name, text) = input::file(file, MOST, "predictions")?;
    let mut predictions: Vec<(usize, usize)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let one =
            prediction(lessons, line).map_err(|why| Failure::Input(format!("{name}:{}: {why}", at + 1)))?;
        if predictions.iter().any(|(number, _)| *number == one.0) {
            return Err(Failure::Input(format!("{name}:{}: lesson {} stands here already", at + 1, one.0)));
        }
        predictions.push(one);
    }
    predictions.sort_unstable();
    let stem = file.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok(Student { name: stem, predictions })
}

/// A line `LESSON: PREDICTION`.
fn prediction(lessons: &[Lesson], line: &str) -> Result<(usize, usize), String> {
    let (lesson, choice) = line
        .split_once(':')
        .ok_or_else(|| format!("`{line}` is no line `LESSON: PREDICTION`, such as `2: 3`"))?;
    let (lesson, choice) = (lesson.trim(), choice.trim());
    let found = lessons.iter().find(|known| known.number.to_string() == lesson);
    let Some(found) = found else {
        return Err(format!("there is no lesson `{lesson}`: the lessons are 1 to {}", lessons.len()));
    };
    let choices = found.predictions.len();
    match choice.parse() {
        Ok(number) if (1..=choices).contains(&number) => Ok((found.number, number)),
        _ => Err(format!("lesson {lesson} has the predictions 1 to {choices}, and not `{choice}`")),
    }
}

/// The lesson of a number that a file named.
fn of(lessons: &[Lesson], number: usize) -> Option<&Lesson> {
    lessons.iter().find(|lesson| lesson.number == number)
}

fn is_right(lessons: &[Lesson], (number, prediction): (usize, usize)) -> bool {
    of(lessons, number).is_some_and(|lesson| lesson.right == prediction)
}

fn text(lessons: &[Lesson], students: &[Student], out: &mut dyn Write) -> io::Result<()> {
    let width = output::width().min(WIDEST);
    for student in students {
        let right = student.predictions.iter().filter(|one| is_right(lessons, **one)).count();
        let all = student.predictions.len();
        writeln!(
            out,
            "{}: {right} of {} right",
            neutral::line(&student.name),
            plural(all, "prediction", "predictions")
        )?;
        for (number, prediction) in &student.predictions {
            let Some(lesson) = of(lessons, *number) else { continue };
            let said = if lesson.right == *prediction {
                format!("{prediction} is right: {}", lesson.predictions[lesson.right - 1])
            } else {
                format!(
                    "{prediction} is wrong; {} is right: {}",
                    lesson.right,
                    lesson.predictions[lesson.right - 1]
                )
            };
            writeln!(out, "{}", hanging(&said, [&format!("  {number:>2}  "), "      "], width).join("\n"))?;
        }
    }
    if students.len() < 2 {
        return Ok(());
    }
    writeln!(out, "\nThe class, by lesson")?;
    let mut votes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, prediction) in students.iter().flat_map(|student| &student.predictions) {
        votes.entry(*number).or_default().push(*prediction);
    }
    for (number, votes) in &votes {
        let Some(lesson) = of(lessons, *number) else { continue };
        let right = votes.iter().filter(|vote| **vote == lesson.right).count();
        let each: Vec<String> = (1..=lesson.predictions.len())
            .map(|choice| format!("{choice}: {}", votes.iter().filter(|vote| **vote == choice).count()))
            .collect();
        writeln!(out, "  {number:>2}  {right} of {} right ({})", votes.len(), each.join(", "))?;
    }
    Ok(())
}

fn csv(lessons: &[Lesson], students: &[Student], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "student,lesson,prediction,right")?;
    for student in students {
        for one in &student.predictions {
            let right = if is_right(lessons, *one) { "yes" } else { "no" };
            writeln!(out, "{},{},{},{right}", neutral::cell(&student.name), one.0, one.1)?;
        }
    }
    Ok(())
}
