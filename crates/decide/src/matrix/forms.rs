//! A matrix as tables and data for other programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use experiment::export::{Exported, Exporter, Form, View};
use notation::neutral;
use serde::Serialize;

use super::text::{write_markdown, write_text};
use super::{Estimate, Matrix, Together};

/// A form in which a `T` is written.
#[derive(Debug)]
pub(crate) struct Written<T> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) write: fn(&T, &mut dyn Write) -> io::Result<()>,
}

impl<T> Exporter<T> for Written<T>
where
    Self: std::fmt::Debug + Sync,
{
    fn form(&self) -> Form {
        Form { name: self.name, file: None, about: self.about }
    }

    fn write(&self, what: &T, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        (self.write)(what, out)
    }
}

/// The forms of a matrix.
pub const FORMATS: &[Exported<Matrix>] = &[
    &Written {
        name: "text",
        about: "The table, which programs go together, which do not",
        write: write_text,
    },
    &Written { name: "markdown", about: "The same, with a table of all groups", write: write_markdown },
    &Written { name: "csv", about: "A line for each program and what is beside it", write: write_csv },
    &Written { name: "json", about: "Everything", write: write_json },
    &Written {
        name: "batsim",
        about: "A workload of Batsim: a profile for each program, with its slowdowns beside others",
        write: write_batsim,
    },
];

/// A slowdown of a program beside others, as a line of the table.
pub(super) struct Line<'a> {
    pub(super) program: &'a str,
    pub(super) beside: String,
    pub(super) slowdown: Estimate,
    pub(super) group: &'a Together,
}

impl Matrix {
    /// Each program of each group once, beside the rest of the group.
    pub(super) fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for group in &self.groups {
            for (place, program) in group.programs.iter().enumerate() {
                if group.programs.iter().position(|other| other == program) != Some(place) {
                    continue;
                }
                let others = group.programs.iter().enumerate().filter(|(at, _)| *at != place);
                let beside: Vec<&str> = others.map(|(_, name)| name.as_str()).collect();
                let slowdown = group.slowdowns[place];
                lines.push(Line { program, beside: beside.join("+"), slowdown, group });
            }
        }
        lines
    }

    /// The table as rows of text: program, what is beside it, slowdown, ends of the interval, replicates.
    #[must_use]
    pub fn rows(&self) -> Vec<[String; 6]> {
        let end = |end: Option<f64>| end.map_or_else(String::new, |end| end.to_string());
        let row = |line: Line<'_>| {
            let Estimate { mean, low, high } = line.slowdown;
            let count = line.group.replicates.to_string();
            [line.program.to_owned(), line.beside, mean.to_string(), end(low), end(high), count]
        };
        self.lines().into_iter().map(row).collect()
    }
}

/// The columns of [`Matrix::rows`].
pub const COLUMNS: [&str; 6] = ["program", "beside", "slowdown", "low", "high", "replicates"];

/// Writes the table as CSV. Names have no comma and no quote.
///
/// # Errors
/// Of the writer.
fn write_csv(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    matrix.rows().iter().try_for_each(|row| {
        let cells: Vec<_> = row.iter().map(|text| neutral::cell(text)).collect();
        writeln!(out, "{}", cells.join(","))
    })
}

/// Writes everything as JSON.
///
/// # Errors
/// Of the writer.
fn write_json(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, matrix)?;
    writeln!(out)
}

/// A workload of Batsim.
#[derive(Serialize)]
struct Workload<'a> {
    nb_res: u32,
    jobs: [(); 0],
    profiles: BTreeMap<&'a str, Profile<'a>>,
}

/// A profile of Batsim: `delay` is a job that takes so many seconds. The other keys are for the scheduler,
/// to which Batsim can forward profiles.
#[derive(Serialize)]
struct Profile<'a> {
    r#type: &'static str,
    delay: f64,
    tasks: u32,
    slowdown_beside: BTreeMap<String, f64>,
    throughput_beside: BTreeMap<String, f64>,
    causes_beside: BTreeMap<String, &'a str>,
}

/// Writes a workload of Batsim (<https://batsim.readthedocs.io/en/latest/input-workload.html>): one machine,
/// no jobs, and for each program a profile of the type `delay` with its time alone. Batsim has no form for
/// what jobs do to each other on a node: the further keys of a profile say it, for the scheduler.
///
/// # Errors
/// Of the writer.
fn write_batsim(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    let profile = |alone: &super::Alone| Profile {
        r#type: "delay",
        delay: alone.seconds.mean,
        tasks: alone.tasks,
        slowdown_beside: BTreeMap::new(),
        throughput_beside: BTreeMap::new(),
        causes_beside: BTreeMap::new(),
    };
    let mut profiles: BTreeMap<&str, Profile<'_>> =
        matrix.programs.iter().map(|alone| (alone.program.as_str(), profile(alone))).collect();
    for line in matrix.lines() {
        let Some(profile) = profiles.get_mut(line.program) else { continue };
        profile.slowdown_beside.insert(line.beside.clone(), line.slowdown.mean);
        profile.throughput_beside.insert(line.beside.clone(), line.group.throughput.mean);
        if let Some(cause) = line.group.causes.first() {
            profile.causes_beside.insert(line.beside, cause.part);
        }
    }
    serde_json::to_writer_pretty(&mut *out, &Workload { nb_res: 1, jobs: [], profiles })?;
    writeln!(out)
}
