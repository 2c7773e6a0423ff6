//! `spec-omp`: the eleven programs of SPEC OMP 2001 (medium), from the data files `data/spec_omp.yaml` and
//! `spec_omp_profiles.yaml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use notation::declare::{Choice, Duration, Percent};
use notation::parameter::{Kind, Values};
use notation::{choices, parameters};
use serde::Deserialize;
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Pages, Program, Spread};
use sim_core::time::{Span, Work};

use crate::entry::{Built, Context, Entry};
use crate::profile::{self, Datum, Derived, Profile, Trial, VARIATION, half_width};
use crate::spmd::inline::serial_part;
use crate::spmd::{Spmd, Variation};

/// The programs.
pub const PROGRAMS: &[&str] = Code::WORDS;

/// Threads at which `region` counts: those of the measurements.
const REGION_THREADS: u64 = 12;

/// Length of a region of the initialisation, that of the others by default.
const INIT_REGION: u64 = 20_000_000;

const FILE: &str = "spec_omp.yaml";
const TEXT: &str = include_str!("../data/spec_omp.yaml");
const PROFILES_FILE: &str = "spec_omp_profiles.yaml";
/// The data file of the derived profiles, as text.
pub const PROFILES: &str = include_str!("../data/spec_omp_profiles.yaml");

choices! {
    /// The words of `program`.
    enum Code {
        Wupwise = "wupwise",
        Swim = "swim",
        Mgrid = "mgrid",
        Applu = "applu",
        Galgel = "galgel",
        Equake = "equake",
        Apsi = "apsi",
        Gafort = "gafort",
        Fma3d = "fma3d",
        Art = "art",
        Ammp = "ammp",
    }
}

parameters! {
    /// Parameters of `spec-omp`.
    struct Parameters {
        /// Program, from bandwidth-bound (swim, mgrid) to compute-bound (apsi, ammp). galgel gets slower with
        /// more threads.
        program: Code = Code::Swim;
        /// Work of one of 12 threads between two barriers, which determines the number of parallel regions.
        /// No input determines the value: it is 20 ms for all programs.
        region: Duration = ms(20), in us(1)..=s(60);
        /// Half-width of the variation of the work between two barriers, as for `npb`.
        variation: Percent = VARIATION, in 0..=percent(100);
        /// Time that each task spends filling its arrays, in regions of 20 ms, before the measured part. Its
        /// pages lie where the task runs at the end of that time; all threads of gafort use all of its pages.
        /// The default corresponds to 70 MB per thread: 17,000 page faults of 1 to 2 us and a loop. It is the
        /// same for all programs and uncertain.
        init: Duration = ms(100), in 0..=s(60);
        /// Share of the run to simulate. It covers the first regions, for quick tests.
        scale: Percent = percent(100), in 1..=percent(100);
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "spec-omp",
    summary: "SPEC OMP 2001: wupwise, swim, mgrid, applu, galgel, equake, apsi, gafort, fma3d, art, ammp",
    source: "SPEC OMPM2001; Yan et al., How OpenMP Applications Get More Benefit from Many-Core Era, IWOMP \
        2010, Tables 1 and 2",
    example: "swim: { workload: { spec-omp: { program: swim, scale: 0.1% } }, runtime: openmp, tasks: 12 }",
    parameters: Parameters::TABLE,
    own: build,
};

/// What is known of a program besides its derived profile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    field: String,
    footprint: Fact,
    /// `team`: all threads use all of the data at random; else each uses its own part.
    pages: Option<Fact>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    value: String,
    source: String,
    #[serde(default)]
    uncertain: bool,
}

struct Catalogue {
    footprints: BTreeMap<String, u64>,
    /// Where pages lie.
    pages: BTreeMap<String, Pages>,
    profiles: BTreeMap<String, Derived>,
}

static CATALOGUE: LazyLock<Result<Catalogue, String>> = LazyLock::new(|| read(TEXT, PROFILES));

fn read(text: &str, profiles: &str) -> Result<Catalogue, String> {
    let facts: BTreeMap<String, Facts> = notation::typed::parse(FILE, text)?;
    let profiles = profile::read(PROFILES_FILE, profiles)?;
    let (mut footprints, mut pages) = (BTreeMap::new(), BTreeMap::new());
    for (name, facts) in facts {
        let Fact { value, source, uncertain } = facts.footprint;
        if facts.field.is_empty() {
            return Err(format!("{FILE}: {name}: `field` is empty"));
        }
        let bytes = Datum { value, source, uncertain }.read(FILE, &name, Kind::Size)?;
        footprints.insert(name.clone(), bytes);
        if let Some(Fact { value, source, uncertain }) = facts.pages {
            profile::sourced(FILE, &name, &source, uncertain)?;
            if value != "team" {
                return Err(format!("{FILE}: {name}: `pages` is `{value}`; it may be `team`"));
            }
            pages.insert(name, Pages::Team);
        }
    }
    for name in PROGRAMS {
        if !footprints.contains_key(*name) || !profiles.contains_key(*name) {
            return Err(format!("{FILE}, {PROFILES_FILE}: program {name} is missing"));
        }
    }
    Ok(Catalogue { footprints, pages, profiles })
}

/// The derived profile of a program.
///
/// # Errors
/// A sentence: no such program.
pub fn profile(program: &str) -> Result<Profile, String> {
    let catalogue = CATALOGUE.as_ref().map_err(Clone::clone)?;
    let derived = catalogue.profiles.get(program);
    Ok(derived.ok_or_else(|| format!("{PROFILES_FILE} has no program `{program}`"))?.profile)
}

/// A program with this profile instead of the one in the data file, cut to at most `most` regions
/// (calibration).
///
/// # Errors
/// A sentence: no such program.
pub fn trial(program: &str, tasks: u32, profile: &Profile, most: u32) -> Result<Trial, String> {
    let values = Parameters::from(&Values::defaults(Parameters::TABLE));
    Trial::of(&problem(program, profile, &values, tasks)?, tasks, most)
}

fn build(values: &Values, context: &Context<'_>) -> Result<Built, String> {
    let values = Parameters::from(values);
    let program = values.program.word();
    let spmd = problem(program, &profile(program)?, &values, context.tasks)?;
    let most = u64::from(spmd.intervals) * values.scale.hundredths() / 10_000;
    let trial = Trial::of(&spmd, context.tasks, most.max(1) as u32)?;
    Ok(Built { nominal: true, ..Built::even(initialised(&trial.program, values.init.ns())?) })
}

/// The program behind an initialisation of `ns` nanoseconds. Its pages follow the task at no price, as those
/// it has yet to touch.
fn initialised(program: &Program, ns: u64) -> Result<Program, String> {
    let regions = ns / INIT_REGION;
    let untouched = MemoryProfile { pages: Pages::NextTouch, ..MemoryProfile::NONE };
    let mut profiles = program.profiles().to_vec();
    let profile = ProfileId(profiles.len() as u32);
    profiles.push(untouched);
    let work = Work::from_span(Span::from_ns(ns / regions.max(1)));
    let init = [Op::Compute { work, spread: Spread::NONE, profile }, Op::Barrier];
    let mut ops = Vec::new();
    if ns > 0 {
        ops.push(Op::Repeat(regions.max(1) as u32));
        ops.extend(init);
        ops.push(Op::End);
    }
    ops.extend_from_slice(program.ops());
    Program::new(ops, profiles)
}

fn problem(program: &str, profile: &Profile, values: &Parameters, tasks: u32) -> Result<Spmd, String> {
    let catalogue = CATALOGUE.as_ref().map_err(Clone::clone)?;
    let (serial, alone) =
        serial_part(profile.serial.ns(), u64::from(profile.serial_share), profile.per_task.ns(), tasks)?;
    let regions = profile.serial.ns() / REGION_THREADS / values.region.ns().max(1);
    let footprint = catalogue.footprints.get(program).copied().unwrap_or(0);
    Ok(Spmd {
        long: None,
        handed_out: None,
        serial,
        alone,
        intervals: regions.clamp(1, 10_000_000) as u32,
        warm_up: 0,
        bare: 0,
        variation: Variation::Pieces(half_width(values.variation.hundredths())),
        profile: MemoryProfile {
            demand: profile.demand,
            bound: if profile.demand == 0 { Some(0) } else { None },
            working_set: footprint / u64::from(tasks.max(1)),
            pages: catalogue.pages.get(program).copied().unwrap_or(Pages::FirstTouch),
            shared: 0,
        },
        exchanges: 0,
        messages_only: false,
        transfers: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmd::census;
    use sim_core::program::Op;

    #[test]
    fn every_program_builds_with_its_serial_part() {
        for (i, name) in PROGRAMS.iter().enumerate() {
            let mut values = Values::defaults(Parameters::TABLE);
            values.set("program", i as u64).unwrap();
            let profile = profile(name).unwrap();
            for tasks in [1, 12, 24, 97] {
                let built = build(&values, &Context { tasks, runtime: "openmp", machine: "" }).unwrap();
                let serial = built.program.ops().iter().any(|op| matches!(op, Op::Serial { .. }));
                let any = profile.serial_share > 0 || (tasks > 1 && profile.per_task > Span::ZERO);
                assert_eq!(serial, any, "{name}");
                let (barriers, exchanges, transfers, _) = census(&built.program);
                let regions = profile.serial.ns() / 12 / 20_000_000;
                assert_eq!(barriers, 5 + if any { 2 * regions } else { regions }, "{name}");
                assert_eq!((exchanges, transfers), (0, 0));
            }
        }
    }

    #[test]
    fn broken_data_is_refused() {
        assert!(read(TEXT, "").is_err());
        assert!(read(&TEXT.replace("1.6GB", "1.6"), PROFILES).is_err());
        assert!(read(&TEXT.replace("\"team\"", "\"teem\""), PROFILES).is_err_and(|e| e.contains("teem")));
        assert!(read(TEXT, &PROFILES.replace("swim:", "swum:")).is_err_and(|e| e.contains("swim")));
    }
}
