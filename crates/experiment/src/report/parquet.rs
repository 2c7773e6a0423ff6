//! Parquet: the rows and columns of the tidy CSV with their types; where they come from is key-value
//! metadata.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use scenario::configuration::{self as settings, Configuration, Setting};

use super::tidy::COLUMNS;
use crate::export::{Exporter, Form, View};
use crate::result::{Cell, Results};

/// Types of [`COLUMNS`], in order.
const TYPES: [DataType; COLUMNS.len()] = [
    DataType::Utf8,
    DataType::Utf8,
    DataType::Utf8,
    DataType::Utf8,
    DataType::UInt64,
    DataType::UInt64,
    DataType::Float64,
];

/// Rows handed to the writer at once: enough to make calls rare, few enough that their texts stay far below
/// the 2 GiB of an array of texts.
const BATCH: usize = 65_536;

/// What a metadata key starts with, so that it meets no other program's.
const PREFIX: &str = "oversim.";

/// A measured value: its cell, replicate and seed.
type Sample<'a> = (&'a Cell, u32, u64, f64);

/// Writes the file. The writer of the library wants an end that may change threads, so the file is made in
/// memory.
#[derive(Debug)]
pub(super) struct Parquet;

impl Exporter<Results> for Parquet {
    fn form(&self) -> Form {
        Form {
            name: "parquet",
            file: Some("samples.parquet"),
            about: "One measured value per row, as Parquet",
        }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        out.write_all(&encoded(results)?)?;
        out.flush()
    }
}

fn encoded(results: &Results) -> io::Result<Vec<u8>> {
    let configurations = &results.provenance.configurations;
    let swept: Vec<(&str, DataType)> = settings::columns(configurations)
        .into_iter()
        .map(|path| (path, kind(configurations, path)))
        .collect();
    let fields = swept.iter().map(|(path, kind)| Field::new(*path, kind.clone(), true));
    let fields = [Field::new("scenario", DataType::Utf8, false)].into_iter().chain(fields);
    let fields =
        fields.chain(COLUMNS.into_iter().zip(TYPES).map(|(name, kind)| Field::new(name, kind, false)));
    let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    // Parquet's own types say all there is to say: no second schema in Arrow's form.
    let options =
        ArrowWriterOptions::new().with_properties(properties(results)?).with_skip_arrow_metadata(true);
    let failed = |e: ParquetError| io::Error::other(e);
    let mut writer =
        ArrowWriter::try_new_with_options(Vec::new(), schema.clone(), options).map_err(failed)?;
    let mut samples = results.samples();
    loop {
        let rows: Vec<Sample<'_>> = samples.by_ref().take(BATCH).collect();
        if rows.is_empty() {
            return writer.into_inner().map_err(failed);
        }
        let batch = RecordBatch::try_new(schema.clone(), columns(&rows, &swept)).map_err(io::Error::other)?;
        writer.write(&batch).map_err(failed)?;
    }
}

/// The type of a swept parameter's column: a number if it is one wherever it is set.
fn kind(configurations: &[Configuration], path: &str) -> DataType {
    let values = configurations.iter().filter_map(|c| c.settings.get(path));
    let numbers = values.into_iter().all(|value| matches!(value, Setting::Number(_)));
    if numbers { DataType::Float64 } else { DataType::Utf8 }
}

/// The rows, column by column.
fn columns(rows: &[Sample<'_>], swept: &[(&str, DataType)]) -> Vec<ArrayRef> {
    let texts = |of: fn(&Cell) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(|(cell, ..)| of(cell))))
    };
    let setting = |(path, kind): &(&str, DataType)| -> ArrayRef {
        let values = rows.iter().map(|(cell, ..)| cell.settings.get(path));
        setting_column(values, *kind == DataType::Float64)
    };
    let tail: [ArrayRef; COLUMNS.len()] = [
        texts(|cell| &cell.policy),
        texts(|cell| &cell.app),
        texts(|cell| &cell.metric),
        texts(|cell| &cell.unit),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| u64::from(row.1)))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.2))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.3))),
    ];
    let head = [texts(|cell| &cell.scenario)].into_iter().chain(swept.iter().map(setting));
    head.chain(tail).collect()
}

/// A column of a swept parameter: of numbers, or of texts.
pub fn setting_column<'a>(values: impl Iterator<Item = Option<&'a Setting>>, numbers: bool) -> ArrayRef {
    if !numbers {
        return Arc::new(StringArray::from_iter(values.map(|value| value.map(ToString::to_string))));
    }
    let number = |value: Option<&Setting>| match value {
        Some(Setting::Number(number)) => Some(*number),
        _ => None,
    };
    Arc::new(Float64Array::from_iter(values.map(number)))
}

/// No compression, which needs no further library: texts that repeat are dictionaries already.
fn properties(results: &Results) -> io::Result<WriterProperties> {
    let origin = &results.provenance;
    Ok(WriterProperties::builder()
        .set_created_by(format!("{} version {}", origin.tool, origin.version))
        .set_compression(Compression::UNCOMPRESSED)
        .set_key_value_metadata(Some(metadata(results)?))
        .build())
}

/// The schema's version and each field of the provenance: texts as they are, all else as JSON.
fn metadata(results: &Results) -> io::Result<Vec<KeyValue>> {
    let entry = |name: &str, value: String| KeyValue::new(format!("{PREFIX}{name}"), value);
    let mut entries = vec![entry("schema", results.schema.clone())];
    if let serde_json::Value::Object(fields) = serde_json::to_value(&results.provenance)? {
        entries.extend(fields.into_iter().map(|(name, value)| match value {
            serde_json::Value::String(text) => entry(&name, text),
            other => entry(&name, other.to_string()),
        }));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::report::tidy;
    use crate::result::{SCHEMA, fixture};

    /// What a reader finds: the rows, written as tidy CSV, and metadata with the creator as `created_by`.
    fn read(bytes: &[u8]) -> (String, BTreeMap<String, String>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let head = builder.metadata().file_metadata();
        let mut metadata: BTreeMap<String, String> = head
            .key_value_metadata()
            .unwrap()
            .iter()
            .map(|entry| (entry.key.clone(), entry.value.clone().unwrap()))
            .collect();
        metadata.insert("created_by".into(), head.created_by().unwrap().into());
        let names: Vec<String> = builder.schema().fields().iter().map(|f| f.name().clone()).collect();
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(names).unwrap();
        for batch in builder.build().unwrap() {
            let batch = batch.unwrap();
            for row in 0..batch.num_rows() {
                let entry = |column: &ArrayRef| match column.data_type() {
                    DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
                    DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
                    DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
                    other => panic!("{other}"),
                };
                csv.write_record(batch.columns().iter().map(entry)).unwrap();
            }
        }
        (String::from_utf8(csv.into_inner().unwrap()).unwrap(), metadata)
    }

    #[test]
    fn parquet_has_the_rows_of_the_tidy_csv_and_says_where_they_come_from() {
        let mut results = fixture::two_apps();
        results.provenance.seed = u64::MAX - 1;
        results.cells[0].values[1] = None;
        results.cells[0].policy = "a, \"b\"\nü".into();
        // More rows than one batch.
        results.cells[1].values = (0..70_000_u32).map(|i| Some(f64::from(i) / 7.0)).collect();
        let bytes = encoded(&results).unwrap();
        assert_eq!(bytes, encoded(&results).unwrap(), "the same bytes each time");
        let (rows, metadata) = read(&bytes);
        let mut csv = Vec::new();
        tidy::write(&results, &mut csv, &View::FILE).unwrap();
        assert!(rows == String::from_utf8(csv).unwrap(), "the rows differ");
        let origin = &results.provenance;
        assert_eq!(metadata["oversim.schema"], SCHEMA);
        assert_eq!(metadata["oversim.version"], origin.version);
        assert_eq!(metadata["oversim.seed"], "18446744073709551614");
        assert_eq!(metadata["oversim.digest"], origin.digest);
        assert_eq!(metadata["oversim.policies"], serde_json::to_string(&origin.policies).unwrap());
        assert_eq!(metadata["created_by"], format!("{} version {}", origin.tool, origin.version));
    }

    #[test]
    fn parquet_without_a_measured_value_has_no_row() {
        let mut results = fixture::two_apps();
        results.cells.clear();
        let (rows, _) = read(&encoded(&results).unwrap());
        assert_eq!(rows.trim_end(), format!("scenario,threads_per_core,{}", COLUMNS.join(",")));
    }
}
