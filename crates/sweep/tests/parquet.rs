//! The Parquet file has each value of the merged lines, with their types.
#![cfg(feature = "parquet")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::atomic::AtomicBool;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use policies::PolicyRegistry;
use scenario::{Grid, Overrides};
use sweep::merge::{Merged, NDJSON, PARQUET, merge};
use sweep::plan::{Plan, Shard};
use sweep::request::Request;
use sweep::row::Row;
use sweep::store::Store;
use sweep::work::work;

/// Some of the runs are cut off at the horizon.
const TEXT: &str = "name: table\nmachine: core:2\nkernel: linux-2.6.28\npolicies: [LOAD, PIN]\n\
    apps: { job: { workload: { spmd: { work: 4ms, intervals: 4 } } } }\n\
    sweep: { threads_per_core: [1, 2], horizon: [1ms, 1s], kernel.yield: [default, posix] }\n";

#[test]
fn parquet_has_the_values_of_the_lines() {
    let grid = Grid::load(&PolicyRegistry::default(), "t.yaml", TEXT, &Overrides::default()).unwrap();
    let plan = Plan::new(&grid, None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &plan).unwrap();
    let request = Request {
        shard: Shard::WHOLE,
        jobs: 2,
        stop: &AtomicBool::new(false),
        limit: None,
        begin: &|_, _| (),
        progress: &|| (),
        waits: &|| (),
        unlocked: &|| (),
    };
    work(&grid, &plan, &store, request).unwrap();
    assert!(matches!(merge(&store, &plan).unwrap(), Merged::Whole(24, files) if files.len() == 2));
    let text = fs::read_to_string(folder.path().join(NDJSON)).unwrap();
    let mut expected = BTreeMap::new();
    for line in text.lines().skip(1) {
        let row = Row::read(line).unwrap();
        for (app, metrics) in &row.values {
            for (metric, value) in metrics {
                expected.insert((row.run, app.clone(), metric.clone()), *value);
            }
        }
    }
    let file = File::open(folder.path().join(PARQUET)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(metadata.iter().any(|entry| entry.key == "oversim.plan"));
    let (mut found, mut empty) = (BTreeMap::new(), 0);
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        let text = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().clone();
        let runs = batch.column_by_name("run").unwrap().as_primitive::<UInt64Type>().clone();
        let values = batch.column_by_name("value").unwrap().as_primitive::<Float64Type>().clone();
        let horizons = batch.column_by_name("horizon").unwrap().as_primitive::<Float64Type>().clone();
        let (apps, metrics, outcomes) = (text("app"), text("metric"), text("outcome"));
        assert!(["default", "posix"].contains(&text("kernel.yield").value(0)));
        for row in 0..batch.num_rows() {
            if values.is_null(row) {
                assert_eq!((outcomes.value(row), horizons.value(row)), ("horizon", 0.001));
                empty += 1;
                continue;
            }
            let key = (runs.value(row), apps.value(row).to_owned(), metrics.value(row).to_owned());
            assert!(found.insert(key, values.value(row)).is_none());
        }
    }
    assert_eq!(empty, 12);
    assert_eq!(found, expected);
}
