//! The runs of a sweep as one table: a row for each measured value, with the columns of the samples of
//! `oversim run`. A run that did not complete has one row without a value. What a configuration leaves to a
//! default is written, so that programs for tables do not drop its rows.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use experiment::metrics::METRICS;
use notation::neutral;
use notation::parameter::Parameter;
use notation::yaml::tree;
use scenario::configuration::{Setting, Settings};

use crate::column::Column;
#[cfg(feature = "parquet")]
use crate::columns::Table;
use crate::plan::Plan;
use crate::read::configurations;
use crate::row::Row;
use crate::status::Status;
use crate::store::{Store, StoreError};
use crate::unnamed::Unnamed;

/// The form of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// CSV with a header line.
    Csv,
    /// Parquet: the same rows, with types.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// How an export ended.
#[derive(Debug)]
pub enum Exported {
    /// All runs were there: the number of rows.
    Whole(u64),
    /// Runs are missing, and nothing was written.
    Missing(Status),
}

/// What stands for a parameter that the choice of a configuration does not have, among texts; among numbers
/// the field is empty.
const NONE: &str = "none";
/// The columns before and behind the settings.
const HEAD: [&str; 4] = ["run", "configuration", "replicate", "seed"];
const TAIL: [&str; 6] = ["policy", "app", "metric", "unit", "outcome", "value"];

/// Writes the table of all runs to a file, which gets its name when it is whole.
///
/// # Errors
/// A part is damaged or of another plan, or a file cannot be read or written.
pub fn export(store: &Store, plan: &Plan, form: Form, path: &Path) -> Result<Exported, StoreError> {
    let (status, index) = Status::with_index(store, plan)?;
    if !status.is_complete() {
        return Ok(Exported::Missing(status));
    }
    let mut columns: Vec<Column> = Vec::new();
    configurations(plan, &index, &mut |rows| {
        rows.first().into_iter().for_each(|row| gather(&mut columns, &row.settings));
        Ok(())
    })?;
    let failed = |error: io::Error| StoreError::failed("write", path, &error);
    let file = Unnamed::new(path).map_err(failed)?;
    let mut table = Open::new(form, file, plan, &columns).map_err(failed)?;
    let mut count = 0;
    configurations(plan, &index, &mut |mut rows: Vec<Row>| {
        for row in &mut rows {
            complete(&mut row.settings, &columns);
            count += row.values.values().map(|metrics| metrics.len() as u64).sum::<u64>().max(1);
        }
        table.add(&rows, &columns).map_err(failed)
    })?;
    table.finish().and_then(Unnamed::finish).map_err(failed)?;
    Ok(Exported::Whole(count))
}

/// Adds the paths of a configuration.
fn gather(columns: &mut Vec<Column>, settings: &Settings) {
    for (path, value) in &settings.0 {
        let number = matches!(value, Setting::Number(_));
        match columns.iter_mut().find(|column| column.path == *path) {
            Some(column) => column.numbers &= number,
            None => {
                // The parameters of a choice stand behind it.
                let owner = path.rsplit_once('.').map_or("", |(owner, _)| owner);
                let beside = |column: &Column| {
                    column
                        .path
                        .strip_prefix(owner)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                };
                let place = columns.iter().rposition(beside).filter(|_| !owner.is_empty());
                let place = place.map_or(columns.len(), |at| at + 1);
                columns.insert(place, Column { path: path.clone(), numbers: number });
            }
        }
    }
}

/// Adds what a configuration leaves to defaults.
fn complete(settings: &mut Settings, columns: &[Column]) {
    for column in columns {
        if settings.get(&column.path).is_some() {
            continue;
        }
        let missing = || (!column.numbers).then(|| Setting::Text(NONE.to_owned()));
        if let Some(value) = default(&column.path, settings).or_else(missing) {
            settings.0.push((column.path.clone(), value));
        }
    }
}

/// The default of a parameter of what the configuration chooses.
fn default(path: &str, settings: &Settings) -> Option<Setting> {
    let (owner, key) = path.rsplit_once('.')?;
    let Some(Setting::Text(chosen)) = settings.get(owner) else { return None };
    let table: Vec<Parameter> = match owner.rsplit('.').next()? {
        "kernel" => kernels::KERNELS.resolve(chosen).ok()?.parameters.to_vec(),
        "machine" => machines::resolve(chosen).ok()?.values.table().to_vec(),
        "workload" => workloads::WORKLOADS.resolve(chosen).ok()?.parameters.to_vec(),
        "runtime" | "mpi" | "openmp" => {
            workloads::runtimes::RUNTIMES.resolve(chosen).ok()?.parameters.to_vec()
        }
        _ => return None,
    };
    let parameter = table.iter().find(|parameter| parameter.name == key)?;
    let written = tree(0, &parameter.kind.show(parameter.default)).ok()?;
    let mut read = Settings::default();
    read.add(path, &written);
    read.get(path).cloned()
}

/// A table in the making.
enum Open {
    Csv(Box<csv::Writer<Unnamed>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<Table>),
}

impl Open {
    fn new(form: Form, file: Unnamed, _plan: &Plan, columns: &[Column]) -> io::Result<Self> {
        match form {
            Form::Csv => {
                let mut writer = csv::Writer::from_writer(file);
                let paths = columns.iter().map(|column| column.path.as_str());
                let names = HEAD.into_iter().chain(paths).chain(TAIL);
                writer.write_record(names.map(|name| neutral::cell(name).into_owned()))?;
                Ok(Self::Csv(Box::new(writer)))
            }
            #[cfg(feature = "parquet")]
            Form::Parquet => Ok(Self::Parquet(Box::new(Table::new(file, _plan, columns.to_vec())?))),
        }
    }

    fn add(&mut self, rows: &[Row], columns: &[Column]) -> io::Result<()> {
        match self {
            Self::Csv(writer) => rows.iter().try_for_each(|row| lines(writer, row, columns)),
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.add(rows),
        }
    }

    fn finish(self) -> io::Result<Unnamed> {
        match self {
            Self::Csv(writer) => writer.into_inner().map_err(csv::IntoInnerError::into_error),
            #[cfg(feature = "parquet")]
            Self::Parquet(table) => table.finish(),
        }
    }
}

/// The lines of a run.
fn lines(writer: &mut csv::Writer<impl Write>, row: &Row, columns: &[Column]) -> io::Result<()> {
    let units: BTreeMap<&str, &str> = METRICS.iter().map(|metric| (metric.name, metric.unit)).collect();
    let text = |text: &str| neutral::cell(text).into_owned();
    let numbers = [row.run, row.configuration, u64::from(row.replicate), row.seed].map(|n| n.to_string());
    let setting = |column: &Column| match row.settings.get(&column.path) {
        Some(value @ Setting::Text(_)) => text(&value.to_string()),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let head: Vec<String> = numbers.into_iter().chain(columns.iter().map(setting)).collect();
    let mut line = |app: &str, metric: &str, value: String| -> io::Result<()> {
        let unit = units.get(metric).copied().unwrap_or_default();
        let tail = [&row.policy, app, metric, unit, &row.outcome].map(text).into_iter().chain([value]);
        Ok(writer.write_record(head.iter().cloned().chain(tail))?)
    };
    for (app, metrics) in &row.values {
        metrics.iter().try_for_each(|(metric, value)| line(app, metric, value.to_string()))?;
    }
    if row.values.is_empty() {
        line(row.app.as_deref().unwrap_or_default(), "", String::new())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_what_a_configuration_chooses() {
        let chosen = |owner: &str, name: &str| Settings(vec![(owner.into(), Setting::Text(name.into()))]);
        let of = |path: &str, settings: &Settings| default(path, settings).map(|value| value.to_string());
        let kernel = kernels::KERNELS.resolve("linux-2.6.28").unwrap();
        let given = kernel.parameters.iter().find(|parameter| parameter.name == "yield").unwrap();
        assert_eq!(
            of("kernel.yield", &chosen("kernel", "linux-2.6.28")),
            Some(given.kind.show(given.default))
        );
        assert_eq!(of("kernel.no_such", &chosen("kernel", "linux-2.6.28")), None);
        assert_eq!(of("kernel.yield", &Settings::default()), None);
    }

    #[test]
    fn a_text_that_does_not_apply_is_named_and_a_number_is_left_out() {
        let columns =
            ["kernel.x", "kernel.y"].map(|path| Column { path: path.into(), numbers: path.ends_with('y') });
        let mut settings = Settings::default();
        complete(&mut settings, &columns);
        assert_eq!(settings.0, [("kernel.x".to_owned(), Setting::Text("none".into()))]);
    }
}
