//! The slices of every cpu of a run as a stream, and traces of runs for Perfetto and readers of ftrace's
//! text.
//!
//! A run is observed by a [`Tracer`], which keeps what it sees as small records. The trace is written when
//! the run is over, in order of time.
#![cfg_attr(
    not(feature = "perfetto"),
    expect(dead_code, reason = "what is collected for Perfetto alone is a part of the same records")
)]

mod collect;
mod events;
mod ftrace;
#[cfg(feature = "perfetto")]
pub mod messages;
#[cfg(feature = "perfetto")]
mod perfetto;
pub mod slices;
mod sort;
pub mod threads;
mod tracks;
mod ways;

use std::io::{self, Write};
use std::path::Path;

use experiment::run::simulate_one;
use scenario::plan::RunPlan;
use sim_core::outcome::RunReport;

pub use collect::Tracer;

/// A form of traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Perfetto's protobuf.
    Perfetto,
    /// The text of Linux's ftrace.
    Ftrace,
}

impl Form {
    /// The form that the name of a file asks for: `.pftrace`, `.perfetto-trace`, or `.ftrace`, `.txt`.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pftrace" | "perfetto-trace" => Some(Self::Perfetto),
            "ftrace" | "txt" => Some(Self::Ftrace),
            _ => None,
        }
    }
}

/// Where a trace comes from: names and values that go into it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct About {
    /// Names and values in order.
    pub facts: Vec<(String, String)>,
}

/// Why there is no trace.
#[derive(Debug)]
pub enum Failure {
    /// The simulator refuses the run.
    Refused(String),
    /// The trace could not be written.
    Write(io::Error),
}

/// Simulates a run and writes its trace.
///
/// # Errors
/// A run that is refused, or a failure to write.
pub fn run(plan: &RunPlan, about: &About, form: Form, out: &mut dyn Write) -> Result<RunReport, Failure> {
    let mut tracer = Tracer::new(&plan.machine, &plan.apps).with(&plan.apps, &plan.objects);
    let report = simulate_one(plan, &mut tracer).map_err(Failure::Refused)?;
    let mut about = about.clone();
    about.facts.push(("digest of the run".into(), format!("{:016x}", report.digest)));
    write(tracer, &about, form, out).map_err(Failure::Write)?;
    Ok(report)
}

/// Writes the trace of a run that is over.
///
/// # Errors
/// What `out` says.
pub fn write(tracer: Tracer, about: &About, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let (records, tracks) = tracer.finish();
    let events = events::Events::new(&tracks);
    match form {
        #[cfg(feature = "perfetto")]
        Form::Perfetto => events.write(&records, &mut perfetto::Perfetto::begin(&tracks, about, out)?),
        #[cfg(not(feature = "perfetto"))]
        Form::Perfetto => Err(io::Error::other("this program writes no traces for Perfetto")),
        Form::Ftrace => events.write(&records, &mut ftrace::Ftrace::begin(&tracks, about, out)?),
    }
}

/// Appends a number in decimal with at least `least` digits.
fn decimal(text: &mut String, number: u64, least: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number);
    text.extend((digits.len()..least).map(|_| '0'));
    text.push_str(digits);
}
