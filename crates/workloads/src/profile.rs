//! What calibration derives for a program (work, memory demand, serial sections), and the data files it is
//! read from.

use std::collections::BTreeMap;

use notation::parameter::Kind;
use serde::Deserialize;
use sim_core::program::{Program, Spread};
use sim_core::time::Span;

use crate::spmd::{Spmd, Transfers};

/// Derived profile of a program in its reference class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// Work of the whole problem: nanoseconds of one nominal core (Opteron 8350, 2.0 GHz) without contention.
    pub serial: Span,
    /// Memory traffic of one task while it computes alone, bytes per second, 0 to 10^12.
    pub demand: u64,
    /// Share of the work that rank 0 does alone, in hundredths of a per cent, 0 to 10,000.
    pub serial_share: u32,
    /// Work that rank 0 does alone for each other task over the whole run.
    pub per_task: Span,
}

/// A profile and the class it belongs to (empty for programs without classes).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Derived {
    pub(crate) class: String,
    pub(crate) profile: Profile,
    /// The same on machines where it was measured apart.
    pub(crate) on: BTreeMap<String, Profile>,
}

/// A program with a given profile, cut short: what calibration simulates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// What each rank runs.
    pub program: Program,
    /// Intervals left in it.
    pub intervals: u32,
    /// Intervals of the whole run, so that its time is about `of / intervals` times as long.
    pub of: u32,
}

/// This share (hundredths of a per cent) of `whole`, rounded to the nearest, at least 1.
pub(crate) const fn scaled(whole: u64, share: u64) -> u64 {
    let part = (whole as u128 * share as u128 + 5_000) / 10_000;
    if part == 0 { 1 } else { part as u64 }
}

impl Trial {
    /// The first `most` intervals of a problem, with their share of the work and of the transfers.
    pub(crate) fn of(spmd: &Spmd, tasks: u32, most: u32) -> Result<Self, String> {
        let (intervals, of) = (spmd.intervals.min(most.max(1)), spmd.intervals);
        let share = |n: u64| (u128::from(n) * u128::from(intervals) / u128::from(of.max(1))) as u64;
        let transfers = spmd.transfers.map(|t| Transfers { count: share(u64::from(t.count)) as u32, ..t });
        let (serial, alone) = (Span::from_ns(share(spmd.serial.ns())), Span::from_ns(share(spmd.alone.ns())));
        let cut = Spmd { serial, alone, intervals, transfers, warm_up: 0, ..*spmd };
        Ok(Self { program: cut.program(tasks)?, intervals, of })
    }
}

/// A number of a data file with where it comes from.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Datum {
    pub(crate) value: String,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) uncertain: bool,
}

impl Datum {
    /// The value, when it says where it comes from.
    pub(crate) fn read(&self, file: &str, name: &str, kind: Kind) -> Result<u64, String> {
        sourced(file, name, &self.source, self.uncertain)?;
        notation::units::parse(kind, &self.value).map_err(|e| format!("{file}: {name}: {e}"))
    }
}

/// Every number states its source; an uncertain one at least says why it was chosen.
pub(crate) fn sourced(file: &str, name: &str, source: &str, uncertain: bool) -> Result<(), String> {
    let word = if uncertain { "reason" } else { "source" };
    if source.trim().is_empty() { Err(format!("{file}: {name}: a number without {word}")) } else { Ok(()) }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    #[serde(default)]
    class: String,
    serial: Datum,
    demand: Datum,
    #[serde(default)]
    on: BTreeMap<String, Measured>,
    #[serde(default)]
    serial_share: Option<Datum>,
    #[serde(default)]
    per_task: Option<Datum>,
}

/// What of a profile was measured apart on a machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    #[serde(default)]
    serial: Option<Datum>,
    #[serde(default)]
    demand: Option<Datum>,
}

/// The profiles of a derived data file.
pub(crate) fn read(file: &str, text: &str) -> Result<BTreeMap<String, Derived>, String> {
    let records: BTreeMap<String, Record> = notation::typed::parse(file, text)?;
    let derive = |(name, record): (String, Record)| {
        let optional =
            |datum: &Option<Datum>, kind| datum.as_ref().map_or(Ok(0), |datum| datum.read(file, &name, kind));
        let profile = Profile {
            serial: Span::from_ns(record.serial.read(file, &name, Kind::Duration)?),
            demand: record.demand.read(file, &name, Kind::Rate)?,
            serial_share: u32::try_from(optional(&record.serial_share, Kind::Percent)?.min(10_000))
                .unwrap_or(10_000),
            per_task: Span::from_ns(optional(&record.per_task, Kind::Duration)?),
        };
        let mut on = BTreeMap::new();
        for (machine, there) in &record.on {
            let mut profile = profile;
            if let Some(serial) = &there.serial {
                profile.serial = Span::from_ns(serial.read(file, &name, Kind::Duration)?);
            }
            if let Some(demand) = &there.demand {
                profile.demand = demand.read(file, &name, Kind::Rate)?;
            }
            on.insert(machine.clone(), profile);
        }
        Ok((name, Derived { class: record.class, profile, on }))
    };
    records.into_iter().map(derive).collect()
}

/// Half-width of the variation of the work between two synchronisations, hundredths of a per cent, for every
/// catalogued code. No input determines it: chosen once on the mean gain of 6 % of the POSIX yield (Iancu et
/// al., IPDPS 2010).
pub(crate) const VARIATION: u64 = 1_500;

/// The same as a half-width of the simulator.
pub(crate) const fn half_width(hundredths: u64) -> Spread {
    Spread((hundredths * Spread::MAX as u64 / 10_000) as u32)
}
