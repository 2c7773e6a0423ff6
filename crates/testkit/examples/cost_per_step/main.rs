//! What a task-step costs at every size and on the paths that users take, beside two lower bounds, all in one
//! run: `cost_per_step [FOLDER [LARGEST]]`.
//!
//! Prints the two tables of docs/performance.md. With a folder it writes `cost_per_step.csv` and
//! `cost_per_step.svg` there. LARGEST: the most cpus, 1,048,576 unless given. The measurements of a size
//! alternate, and the least of their rounds counts.

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

mod measure;
mod picture;

use std::fmt::Write as _;
use std::path::Path;

use testkit::cost::{HEADING, Row, curve, exponent, paths, sizes};

/// The number of cpus from which the growth is stated: below, all records are in the caches.
const CACHED: u32 = 4_096;

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let largest = words.get(1).map_or(Ok(1 << 20), |word| word.parse().map_err(|e| format!("{word}: {e}")))?;
    let mut rows = measure::paths()?;
    rows.extend(measure::sizes(largest)?);
    println!("{}\n{}", sizes(&rows), paths(&rows));
    for job in ["probe", "central", "tree"] {
        let (small, large): (Vec<&Row>, Vec<&Row>) = curve(&rows, job).partition(|row| row.cpus <= CACHED);
        let (small, large) = (exponent(&small), exponent(&large));
        println!("{job}: the cost grows with cpus^{small:.2} up to {CACHED} cpus, cpus^{large:.2} beyond");
    }
    if let Some(folder) = words.first() {
        write(Path::new(folder), &rows)?;
    }
    Ok(())
}

fn write(folder: &Path, rows: &[Row]) -> Result<(), String> {
    let mut text = format!("# cargo run --release -p testkit --example cost_per_step\n{HEADING}\n");
    for row in rows {
        let _ = writeln!(text, "{}", row.line());
    }
    for (name, text) in [("cost_per_step.csv", text), ("cost_per_step.svg", picture::draw(rows)?)] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}
