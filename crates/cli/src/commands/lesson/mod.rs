//! `oversim lesson`: a question, a prediction, a run, and the answer.

mod grade;
#[cfg(feature = "formats")]
mod slides;
mod text;

use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use experiment::PolicyRegistry;
use experiment::text::hanging;

#[cfg(feature = "formats")]
use super::timeline;
use crate::args::{Arguments, Command, Lesson as Args};
use crate::failure::Failure;
use crate::output;
#[cfg(feature = "formats")]
use crate::output::Target;
#[cfg(not(feature = "formats"))]
use crate::parts::FORMATS;
use text::Lesson;

/// Widest text: longer lines are hard to read.
const WIDEST: usize = 100;

/// Lists the lessons, or goes through one of them.
pub(crate) fn lesson(
    args: &Args,
    policies: &PolicyRegistry,
    execute: fn(&Command, &PolicyRegistry) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let lessons = text::all();
    if !args.grade.is_empty() {
        grade::grade(&lessons, &args.grade, args.format)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(number) = args.number else {
        return list(&lessons);
    };
    let Some(lesson) = lessons.iter().find(|lesson| lesson.number == number) else {
        let last = lessons.len();
        return Err(Failure::Input(format!(
            "there is no lesson {number}: the lessons are 1 to {last}; `oversim lesson` lists them"
        )));
    };
    if let Some(file) = &args.slides {
        return draw(lesson, file, args, policies);
    }
    let waits = !args.all && io::stdin().is_terminal() && io::stdout().is_terminal();
    walk(lesson, waits, |command| {
        let arguments = parsed(command)?;
        execute(&arguments.command, policies)
    })
}

/// The arguments of a command of a lesson.
fn parsed(command: &str) -> Result<Arguments, Failure> {
    let words = std::iter::once("oversim").chain(command.split_whitespace());
    Arguments::try_parse_from(words).map_err(|error| Failure::Output(error.to_string()))
}

fn list(lessons: &[Lesson]) -> Result<ExitCode, Failure> {
    let width = output::width().min(WIDEST);
    output::to_stdout(|out| {
        for (course, numbers) in text::COURSES {
            writeln!(out, "{course}")?;
            for lesson in lessons.iter().filter(|lesson| numbers.contains(&lesson.number)) {
                writeln!(out, "{:>2}  {}", lesson.number, lesson.title)?;
                writeln!(out, "{}", hanging(&lesson.question, ["    ", "    "], width).join("\n"))?;
            }
            writeln!(out)?;
        }
        writeln!(out, "`oversim lesson 2` goes through a lesson: predict, run, compare.")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Shows a lesson part by part. With `waits` the reader types a prediction and decides when the answers come.
fn walk(
    lesson: &Lesson,
    waits: bool,
    run: impl Fn(&str) -> Result<ExitCode, Failure>,
) -> Result<ExitCode, Failure> {
    let width = output::width().min(WIDEST);
    let wrapped = |text: &str| text::shown(text, width);
    output::to_stdout(|out| {
        writeln!(out, "{}. {}\n\n{}\n", lesson.number, lesson.title, wrapped(&lesson.question))?;
        for (at, prediction) in lesson.predictions.iter().enumerate() {
            let lines = hanging(prediction, [&format!("  {}. ", at + 1), "     "], width);
            writeln!(out, "{}", lines.join("\n"))?;
        }
        writeln!(out)
    })?;
    let predicted = if waits { ask(lesson.predictions.len())? } else { None };
    let typed_as = |command: &str| {
        let command = format!("oversim {command}");
        format!("$ {}", text::continued(&command, width.saturating_sub(2), "      "))
    };
    output::to_stdout(|out| writeln!(out, "{}\n", typed_as(lesson.command)))?;
    let code = run(lesson.command)?;
    pause(waits, "\nEnter shows the answer. ")?;
    output::to_stdout(|out| {
        writeln!(out, "\nAnswer\n")?;
        if let Some(number) = predicted {
            writeln!(out, "You predicted: {}\n", lesson.predictions[number - 1])?;
        }
        writeln!(out, "{}\n", wrapped(text::behind_first_block(lesson.answer)))?;
        writeln!(out, "{}\n\n{}\n", wrapped(&lesson.caption), typed_as(lesson.picture))
    })?;
    run(lesson.picture)?;
    for (at, (question, answer)) in lesson.exercises.iter().enumerate() {
        output::to_stdout(|out| writeln!(out, "\nExercise {}\n\n{}", at + 1, wrapped(question)))?;
        pause(waits, "\nEnter shows the answer. ")?;
        output::to_stdout(|out| writeln!(out, "\n{}", wrapped(answer)))?;
    }
    output::to_stdout(|out| writeln!(out, "\nLiterature\n\n{}", wrapped(lesson.literature)))?;
    Ok(code)
}

/// The prediction that the reader types; none when the line is empty or the input ends.
fn ask(choices: usize) -> Result<Option<usize>, Failure> {
    loop {
        let Some(line) = typed(&format!("Your prediction (1 to {choices}, Enter skips): "))? else {
            return Ok(None);
        };
        match line.trim() {
            "" => return Ok(None),
            number => match number.parse() {
                Ok(number) if (1..=choices).contains(&number) => return Ok(Some(number)),
                _ => output::to_stdout(|out| writeln!(out, "Type a number from 1 to {choices}."))?,
            },
        }
    }
}

fn pause(waits: bool, prompt: &str) -> Result<(), Failure> {
    if waits {
        typed(prompt)?;
    }
    Ok(())
}

/// A line that the reader types after a prompt; none at the end of the input.
fn typed(prompt: &str) -> Result<Option<String>, Failure> {
    output::to_stdout(|out| write!(out, "{prompt}"))?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let bytes = read.map_err(|error| Failure::Input(format!("cannot read standard input: {error}")))?;
    Ok((bytes > 0).then_some(line))
}

/// A program without slides.
#[cfg(not(feature = "formats"))]
fn draw(_: &Lesson, _: &Path, _: &Args, _: &PolicyRegistry) -> Result<ExitCode, Failure> {
    Err(Failure::Input(FORMATS.sentence("--slides")))
}

/// Writes the slides of a lesson.
#[cfg(feature = "formats")]
fn draw(lesson: &Lesson, path: &Path, args: &Args, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let ends = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
    if !ends {
        return Err(Failure::Input(format!("slides are a page: `{}` should end in .html", path.display())));
    }
    let target = Target::check(path, args.force)?;
    let Command::Timeline(picture) = parsed(lesson.picture)?.command else {
        return Err(Failure::Output(format!("`{}` draws no timeline", lesson.picture)));
    };
    let page = slides::slides(lesson, &timeline::picture(&picture, policies)?);
    target.write(&|out| out.write_all(page.as_bytes()))?;
    output::to_stdout(|out| writeln!(out, "slides of lesson {} in {}", lesson.number, path.display()))?;
    Ok(ExitCode::SUCCESS)
}
