//! What criterion has measured, as one CSV table to archive: `cargo run -p testkit --example summarise --
//! COMMIT >docs/performance/DATE.csv`.

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A benchmark: its name, the median of one run in nanoseconds, and how many elements a run has.
struct Row {
    name: String,
    median_ns: f64,
    elements: f64,
}

fn json(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// All results below a folder.
fn collect(folder: &Path, rows: &mut Vec<Row>) -> Result<(), String> {
    let entries =
        fs::read_dir(folder).map_err(|e| format!("{}: {e}; run the benchmarks first", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.is_dir()) {
        if !path.ends_with("new") {
            collect(&path, rows)?;
            continue;
        }
        let (what, estimates) = (json(&path.join("benchmark.json"))?, json(&path.join("estimates.json"))?);
        rows.push(Row {
            name: what["full_id"].as_str().unwrap_or_default().to_owned(),
            median_ns: estimates["median"]["point_estimate"].as_f64().unwrap_or(f64::NAN),
            elements: what["throughput"]["Elements"].as_f64().unwrap_or(1.0),
        });
    }
    Ok(())
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "unknown processor".to_owned(), |(_, name)| name.to_owned())
}

fn main() -> Result<(), String> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let commit = std::env::args().nth(1).unwrap_or_else(|| "unknown commit".into());
    let mut rows = Vec::new();
    collect(&Path::new(&target).join("criterion"), &mut rows)?;
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    println!("# {}, commit {commit}; medians of criterion on one core", processor());
    println!("benchmark,median_ms,elements,ns_per_element,elements_per_second");
    for Row { name, median_ns, elements } in rows {
        let (each, rate) = (median_ns / elements, elements * 1e9 / median_ns);
        println!("{name},{:.3},{elements},{each:.1},{rate:.0}", median_ns / 1e6);
    }
    Ok(())
}
