//! What a task-step costs at every size and on the paths that users take, beside two lower bounds, all in one
//! run: `cost_per_step [FOLDER [LARGEST]]`.
//!
//! Prints the two tables of docs/performance.md. With a folder it writes `cost_per_step.csv` and
//! `cost_per_step.svg` there. LARGEST: the most cpus, 1,048,576 unless given; `draw`: measures nothing, and draws
//! the file of the folder again. The measurements of a size alternate, and the least of their rounds counts.

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

mod measure;
mod picture;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use testkit::cost::{CACHED, HEADING, Row, exponents, paths, rows, sizes};

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [folder, word] = &words[..]
        && word == "draw"
    {
        let folder = Path::new(folder);
        return draw(folder, &rows(&read(&folder.join(TABLE))?)?);
    }
    let largest =
        words.get(1).map_or(Ok(1 << 20), |word| word.parse().map_err(|e| format!("{word}: {e}")))?;
    if largest < measure::CPUS {
        return Err(format!("{largest} cpus are fewer than the smallest size, {}", measure::CPUS));
    }
    let mut measured = measure::paths()?;
    measured.extend(measure::sizes(largest)?);
    println!("{}\n{}", sizes(&measured), paths(&measured));
    for job in ["probe", "central", "tree"] {
        for (range, exponent) in ["up to", "beyond"].into_iter().zip(exponents(&measured, job)) {
            if let Some(exponent) = exponent {
                println!("{job}: the cost grows with cpus^{exponent:.2} {range} {CACHED} cpus");
            }
        }
    }
    if let Some(folder) = words.first() {
        store(Path::new(folder), &measured)?;
    }
    Ok(())
}

const TABLE: &str = "cost_per_step.csv";

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn draw(folder: &Path, rows: &[Row]) -> Result<(), String> {
    write(&folder.join("cost_per_step.svg"), &picture::draw(rows)?)
}

fn store(folder: &Path, rows: &[Row]) -> Result<(), String> {
    let mut text = format!("# cargo run --release -p testkit --example cost_per_step\n{HEADING}\n");
    for row in rows {
        let _ = writeln!(text, "{}", row.line());
    }
    write(&folder.join(TABLE), &text)?;
    draw(folder, rows)
}
