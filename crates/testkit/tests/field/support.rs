//! A case of `cases`, run as a user would run it.

use std::fs;
use std::path::PathBuf;

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

/// Where the scenario files of the cases are.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/field/cases")
}

/// The results of one file of `cases`, with these settings (`path=value`).
pub(crate) fn results(file: &str, settings: &[&str]) -> Results {
    swept(file, settings, &[])
}

/// The same with these axes of the sweep (`path=a,b,c`).
pub(crate) fn swept(file: &str, settings: &[&str], sweep: &[&str]) -> Results {
    let path = folder().join(file);
    let text = fs::read_to_string(&path).unwrap();
    let overrides = Overrides {
        set: settings.iter().map(|setting| (*setting).to_owned()).collect(),
        sweep: sweep.iter().map(|axis| (*axis).to_owned()).collect(),
        ..Overrides::default()
    };
    let name = path.to_str().unwrap();
    let experiment = load(name, &text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    run(&experiment, 1, &|_, _| {}).unwrap()
}

/// The mean of a metric, for the configuration whose label contains `configuration`.
pub(crate) fn mean(results: &Results, configuration: &str, policy: &str, app: &str, metric: &str) -> f64 {
    let mut found = results.cells.iter().filter(|cell| {
        cell.configuration.contains(configuration)
            && cell.policy == policy
            && cell.app == app
            && cell.metric == metric
    });
    let cell = found.next().unwrap_or_else(|| panic!("no cell {configuration} {policy} {app} {metric}"));
    assert!(found.next().is_none(), "several cells {configuration} {policy} {app} {metric}");
    cell.summary.mean
}
