//! The merged runs as a Parquet file: one row for each measured value, with the columns of the samples of
//! `oversim run`. A run that did not complete has one row without a value.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use experiment::metrics::METRICS;
use experiment::report::parquet::setting_column;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use scenario::configuration::{Axis, Setting};

use crate::column::Column;
use crate::plan::Plan;
use crate::row::Row;
use crate::unnamed::Unnamed;

/// Rows handed to the writer at once.
const BATCH: usize = 65_536;
/// Rows of a group of the file, which the writer holds in memory.
const GROUP: usize = 1 << 19;

/// Columns besides those of the axes.
const TEXTS: [&str; 5] = ["policy", "app", "metric", "unit", "outcome"];
const NUMBERS: [&str; 4] = ["run", "configuration", "replicate", "seed"];

/// A table in the making.
pub(crate) struct Table {
    writer: ArrowWriter<Unnamed>,
    schema: SchemaRef,
    columns: Vec<Column>,
    units: std::collections::BTreeMap<&'static str, &'static str>,
    rows: Vec<Value>,
}

/// The columns of the axes of a sweep.
pub(crate) fn of_axes(axes: &[Axis]) -> Vec<Column> {
    let column = |axis: &Axis| Column { path: axis.path.clone(), numbers: axis.numbers.is_some() };
    axes.iter().map(column).collect()
}

/// A row of the table.
struct Value {
    numbers: [u64; 4],
    settings: Vec<Option<Setting>>,
    texts: [Option<String>; 5],
    value: Option<f64>,
}

impl Table {
    /// An empty table in a file.
    pub(crate) fn new(file: Unnamed, plan: &Plan, columns: Vec<Column>) -> io::Result<Self> {
        let mut fields: Vec<Field> =
            NUMBERS.iter().map(|name| Field::new(*name, DataType::UInt64, false)).collect();
        let kind = |column: &Column| if column.numbers { DataType::Float64 } else { DataType::Utf8 };
        fields.extend(columns.iter().map(|column| Field::new(&column.path, kind(column), true)));
        fields.extend(TEXTS.iter().map(|name| Field::new(*name, DataType::Utf8, true)));
        fields.push(Field::new("value", DataType::Float64, true));
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let text = serde_json::to_string(plan)?;
        let properties = WriterProperties::builder()
            .set_created_by(format!("oversim version {}", plan.provenance.version))
            .set_compression(Compression::UNCOMPRESSED)
            .set_max_row_group_row_count(Some(GROUP))
            .set_key_value_metadata(Some(vec![KeyValue::new("oversim.plan".to_owned(), text)]))
            .build();
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, schema.clone(), options).map_err(failed)?;
        let units = METRICS.iter().map(|metric| (metric.name, metric.unit)).collect();
        Ok(Self { writer, schema, columns, units, rows: Vec::new() })
    }

    /// Adds the values of runs.
    pub(crate) fn add(&mut self, runs: &[Row]) -> io::Result<()> {
        for run in runs {
            let numbers = [run.run, run.configuration, u64::from(run.replicate), run.seed];
            let settings: Vec<Option<Setting>> =
                self.columns.iter().map(|column| run.settings.get(&column.path).cloned()).collect();
            let mut row = |app: Option<&str>, metric: Option<&str>, value| {
                let unit = metric.and_then(|metric| self.units.get(metric).copied());
                let texts = [Some(run.policy.as_str()), app, metric, unit, Some(run.outcome.as_str())];
                let texts = texts.map(|text| text.map(str::to_owned));
                self.rows.push(Value { numbers, settings: settings.clone(), texts, value });
            };
            for (app, metrics) in &run.values {
                metrics.iter().for_each(|(metric, value)| row(Some(app), Some(metric), Some(*value)));
            }
            if run.values.is_empty() {
                row(run.app.as_deref(), None, None);
            }
        }
        if self.rows.len() >= BATCH { self.write() } else { Ok(()) }
    }

    /// Writes the end of the file.
    pub(crate) fn finish(mut self) -> io::Result<Unnamed> {
        self.write()?;
        self.writer.into_inner().map_err(failed)
    }

    fn write(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let mut columns: Vec<ArrayRef> = Vec::new();
        for at in 0..NUMBERS.len() {
            columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.numbers[at]))));
        }
        for (at, column) in self.columns.iter().enumerate() {
            let values = rows.iter().map(|row| row.settings[at].as_ref());
            columns.push(setting_column(values, column.numbers));
        }
        for at in 0..TEXTS.len() {
            columns.push(Arc::new(StringArray::from_iter(rows.iter().map(|row| row.texts[at].as_deref()))));
        }
        columns.push(Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.value))));
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(failed)
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
