//! `oversim leaderboard`: every policy on every scenario of a suite.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use decide::board::{self, Board, COLUMNS, Request};
use decide::suite;
use decide::suite::bench::read_files;
use experiment::PolicyRegistry;
use experiment::export::{self, View};
use pictures::figures::board as map;
use pictures::figures::{Figure, Table};

use super::matrix::{failure, measured};
use crate::args::{Leaderboard, listed};
use crate::failure::Failure;
use crate::output::{self, Folder, to_stdout};

/// The files of a board.
const FILES: [&str; 4] = ["board.md", "board.svg", "board.csv", "board.json"];

/// Runs, ranks and prints.
pub(crate) fn leaderboard(args: &Leaderboard, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let folder = args.output.as_deref().map(|path| Folder::check(path, args.force, FILES.into_iter()));
    let folder = folder.transpose()?;
    let cells = suite::load(&args.scenarios).map_err(failure)?;
    let names = match &args.policies[..] {
        [] => policies.entries().map(|entry| entry.name.to_owned()).collect(),
        some => listed(some),
    };
    let (policies, files) = read_files(policies, &names).map_err(Failure::Input)?;
    let request = Request {
        suite: args.scenarios.clone(),
        policies: names,
        seed: args.seed,
        replicates: args.repeat,
        objective: args.objective.clone(),
        files,
    };
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let found = measured(jobs, |means| board::board(&cells, &policies, &request, means))?;
    if let Some((folder, _)) = folder {
        write(&found, args, &folder)?;
    }
    to_stdout(|out| args.format.write(&found, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes all files of a board.
fn write(found: &Board, args: &Leaderboard, folder: &Folder) -> Result<(), Failure> {
    let form = |name: &str| {
        let mut bytes = Vec::new();
        let written =
            export::find(board::FORMATS, name).map(|form| form.write(found, &mut bytes, &View::FILE));
        written.transpose().map_err(|error| Failure::Output(error.to_string()))?;
        Ok::<Vec<u8>, Failure>(bytes)
    };
    let figure = figure(found, args).map_err(Failure::Input)?;
    let mut page = form("markdown")?;
    page.extend(format!("\n![{}](board.svg)\n", figure.title).into_bytes());
    let numbers = figure.data.csv().map_err(Failure::Output)?;
    let bytes = [page, figure.picture.svg().into_bytes(), numbers.into_bytes(), form("json")?];
    let files: Vec<_> = FILES.iter().zip(&bytes).map(|(name, all)| (*name, output::bytes(all))).collect();
    folder.write(&files)
}

/// The heat map: a row for each scenario that counts, the policies in order of rank.
fn figure(found: &Board, args: &Leaderboard) -> Result<Figure, String> {
    let policies: Vec<String> = found.standings.iter().map(|standing| standing.policy.clone()).collect();
    let places: BTreeMap<&str, usize> =
        policies.iter().zip(0..).map(|(name, at)| (name.as_str(), at)).collect();
    let counted: Vec<_> = found.scenarios.iter().filter(|row| row.counts).collect();
    let mut values = Vec::new();
    for (at, row) in counted.iter().enumerate() {
        for entry in &row.entries {
            let place = places.get(entry.policy.as_str()).copied();
            values.extend(place.zip(entry.ratio).map(|(place, ratio)| (at, place, ratio.mean)));
        }
    }
    let empty = counted.len() * policies.len() - values.len();
    let empty = if empty > 0 { "; empty: refused or not completed" } else { "" };
    map::figure(&map::Board {
        scenarios: counted.iter().map(|row| row.cell.clone()).collect(),
        policies,
        values,
        reference: found.reference.clone(),
        setting: format!("{} seeds from {}, policies in order of rank{empty}", found.replicates, found.seed),
        source: format!("oversim leaderboard --scenarios {}", args.scenarios),
        data: Table {
            header: COLUMNS.to_vec(),
            rows: found.rows().into_iter().map(Vec::from).collect(),
            ..Table::default()
        },
    })
}
