//! Every simulated cell as a table: one application of a cell per row.

use std::io::{self, Write};

use experiment::statistics::summarise;
use notation::neutral;

use crate::reproduce::Reproduction;

/// Writes it: study, policy, settings; application; replicates; mean, interval and extremes of its timed run
/// time in seconds.
///
/// # Errors
/// The table cannot be written.
pub fn write(reproduction: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let header = [
        "study",
        "policy",
        "settings",
        "app",
        "n",
        "timed_s",
        "ci95_low",
        "ci95_high",
        "min",
        "max",
        "trouble",
    ];
    table.write_record(header).map_err(io::Error::other)?;
    for (key, runs) in &reproduction.cells {
        let mut words = key.splitn(3, ' ');
        let word = |text: &str| neutral::cell(text).into_owned();
        let mut next = || word(words.next().unwrap_or_default());
        let cell = [next(), next(), next()];
        let trouble = runs.iter().find_map(|run| run.trouble.as_deref()).unwrap_or_default();
        let trouble = word(trouble);
        let Some(first) = runs.first() else { continue };
        for (at, app) in first.apps.iter().enumerate() {
            let times: Vec<f64> = runs.iter().filter_map(|run| Some(run.apps.get(at)?.timed)).collect();
            let summary = summarise(&times);
            let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
            let ends = summary.and_then(|s| s.ci95);
            let numbers = [
                times.len().to_string(),
                number(summary.map(|s| s.mean)),
                number(ends.map(|[low, _]| low)),
                number(ends.map(|[_, high]| high)),
                number(summary.map(|s| s.min)),
                number(summary.map(|s| s.max)),
                trouble.clone(),
            ];
            let name = [word(&app.name)];
            table.write_record(cell.iter().chain(&name).chain(&numbers)).map_err(io::Error::other)?;
        }
        if first.apps.is_empty() {
            let empty = vec![String::new(); 7];
            let last = [trouble];
            table.write_record(cell.iter().chain(&empty).chain(&last)).map_err(io::Error::other)?;
        }
    }
    table.flush()
}
