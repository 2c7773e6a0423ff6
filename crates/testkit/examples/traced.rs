//! One run of the benchmark of observation and nothing else, to count instructions or to profile: `traced
//! FORM [FILE [INTERVALS]]`.
//!
//! Forms: `bare`, `collect` (records are sorted and thrown away), `perfetto`, `ftrace`.

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use experiment::run::simulate_one;
use scenario::{Overrides, load};
use testkit::job::OBSERVED;
use trace::{About, Form, Tracer, run};

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let form = words.first().map_or("bare", String::as_str);
    let path = words.get(1).map_or("/dev/null", String::as_str);
    let text = match words.get(2) {
        Some(count) => OBSERVED.replace("intervals: 500", &format!("intervals: {count}")),
        None => OBSERVED.to_owned(),
    };
    let experiment = load("observed", &text, &Overrides::default()).map_err(|said| said.to_string())?;
    let plan = experiment.runs.first().ok_or("no run")?;
    let begin = Instant::now();
    let report = match form {
        "bare" => simulate_one(plan, &mut ())?,
        "collect" => simulate_one(plan, &mut Tracer::new(&plan.machine, &plan.apps))?,
        _ => {
            let form = if form == "ftrace" { Form::Ftrace } else { Form::Perfetto };
            let mut out = BufWriter::new(File::create(path).map_err(|e| format!("{path}: {e}"))?);
            run(plan, &About::default(), form, &mut out).map_err(|e| format!("{e:?}"))?
        }
    };
    println!("{:.1} ms, digest {:016x}", begin.elapsed().as_secs_f64() * 1e3, report.digest);
    Ok(())
}
