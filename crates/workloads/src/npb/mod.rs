//! `npb`: the NAS Parallel Benchmarks for UPC, MPI and OpenMP, from the data files `data/npb.yaml` and
//! `data/npb_profiles.yaml`.

mod data;
pub use data::PROFILES;
mod size;

use notation::declare::{Choice, Factor, Percent};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Pages, Program, Spread, TransferOrder};
use sim_core::time::{Span, Work};

use crate::entry::{Built, Context, Entry};
use crate::profile::{Profile, Trial, VARIATION, half_width, scaled};
use crate::spmd::inline::serial_part;
use crate::spmd::{HandedOut, Spmd, Transfers, Variation};
use data::{Code, Model, catalogue};

choices! {
    /// The codes.
    enum Benchmark {
        Cg = "cg",
        Ft = "ft",
        Ep = "ep",
        Mg = "mg",
        Is = "is",
        Bt = "bt",
        Sp = "sp",
        Lu = "lu",
    }
}

choices! {
    /// The problem classes.
    enum Class { S = "S", W = "W", A = "A", B = "B", C = "C" }
}

choices! {
    /// The programming models; `auto` goes by the runtime of the application, UPC for runtimes that are none
    /// of them.
    enum ProgrammingModel { Auto = "auto", Upc = "upc", Mpi = "mpi", Openmp = "openmp" }
}

choices! {
    /// The words of `transfer_order`.
    enum ReadOrder { Auto = "auto", Sequential = "sequential", Rotated = "rotated" }
}

choices! {
    /// The words of `schedule`.
    enum Schedule { Static = "static", Dynamic = "dynamic", Guided = "guided" }
}

parameters! {
    /// Parameters of `npb`.
    struct Parameters {
        /// Code: cg is conjugate gradient (fine-grained), ft Fourier transform (coarse-grained, all-to-all),
        /// ep embarrassingly parallel, mg multigrid, is integer sort (all-to-all). bt, sp and lu are flow
        /// solvers: block-tridiagonal and scalar pentadiagonal (both with sweeps) and lower-upper
        /// (wavefront).
        benchmark: Benchmark = Benchmark::Cg;
        /// Problem class, from small to large.
        class: Class = Class::B;
        /// Programming model that defines the synchronisations. `auto` takes the model of the runtime, and
        /// UPC for runtimes without a programming model.
        model: ProgrammingModel = ProgrammingModel::Auto;
        /// Half-width of the variation of the work between two synchronisations, for up to 10ms of work. For
        /// longer work it falls with the square root of the length. No input determines it. The value of 15%
        /// was chosen once, for all codes, from the published mean gain of 6% of the POSIX yield (Iancu et
        /// al., IPDPS 2010).
        variation: Percent = VARIATION, in 0..=percent(100);
        /// Bytes of the all-to-all transfers of ft and is, relative to one copy of the grid (ft) or of the
        /// keys (is) per iteration.
        transfer_volume: Factor = 1_000, in 0..=1_000_000;
        /// Order in which the tasks of ft and is read from the other tasks. With `auto`, all tasks start at
        /// task 0 in UPC, and each task starts at its successor in MPI.
        transfer_order: ReadOrder = ReadOrder::Auto;
        /// How OpenMP hands out the iterations of loops: `static` divides them evenly in advance, `dynamic`
        /// hands them out one by one to tasks that are free, `guided` hands out portions that shrink. With
        /// `dynamic` and `guided` the accesses of a task spread over all nodes, because other tasks touched
        /// the data first. Codes with exchanges are always static.
        schedule: Schedule = Schedule::Static;
        /// Share of the run to simulate. It covers the first iterations, at least one (for ep the first
        /// pairs). Each iteration is unchanged, so ratios of times are those of the whole run. Only start-up
        /// weighs more.
        scale: Percent = percent(100), in 1..=percent(100);
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "npb",
    summary: "NAS Parallel Benchmarks cg, ft, ep, mg, is, bt, sp, lu, classes S to C, for UPC, MPI and \
        OpenMP",
    source: "NPB 2.4 UPC, NPB 3.3 MPI and OpenMP; Iancu et al., IPDPS 2010; Hofmeyr et al., PPoPP 2010",
    example: "ft: { workload: { npb: { benchmark: ft, class: S } }, runtime: mpi, tasks: 16 }",
    parameters: Parameters::TABLE,
    own: build,
};

fn build(values: &Values, context: &Context<'_>) -> Result<Built, String> {
    let values = Parameters::from(values);
    let benchmark = values.benchmark.word();
    let model = match values.model {
        ProgrammingModel::Auto => model_of(context.runtime),
        named => named.word(),
    };
    let code = catalogue()?.code(benchmark, values.class.word())?;
    let model_data = code.model(model)?;
    model_data.admits(benchmark, model, context.tasks)?;
    let spmd = problem(&code, model_data, &code.profile(context.machine)?, &values, context.tasks)?;
    let transfers = transfers(&code, model, model_data, &values);
    let mut whole = Spmd { transfers, ..spmd };
    whole.handed_out = handed_out(values.schedule, code.size.passes(), context.tasks);
    if whole.handed_out.is_some() {
        // Whoever is free takes the passes: each task works on everybody's pages.
        whole.profile.shared = 1 << 16;
    }
    let part = first(&whole, u64::from(code.size.iterations()), values.scale.hundredths());
    let init = if model == "upc" { 0 } else { filling(code.size.working_set(context.tasks)) };
    Ok(Built { nominal: true, ..Built::even(initialised(&part.program(context.tasks)?, init)?) })
}

/// Length of an operation that fills arrays.
const FILLING: Span = Span::from_ms(1);

/// Time in which a task of MPI or OpenMP fills so many bytes before the measured part, in nanoseconds: at the
/// rate of SPEC OMP's `init`, 70 MB in 100 ms. UPC programs have touched their shared data before `main`,
/// while the runtime came up.
fn filling(bytes: u64) -> u64 {
    (u128::from(bytes) * 100 / 70) as u64
}

/// The program behind `ns` nanoseconds in which its arrays are filled. Its pages follow the task at no price,
/// as those it has yet to touch.
fn initialised(program: &Program, ns: u64) -> Result<Program, String> {
    let untouched = MemoryProfile { pages: Pages::NextTouch, ..MemoryProfile::NONE };
    let mut profiles = program.profiles().to_vec();
    let profile = ProfileId(profiles.len() as u32);
    profiles.push(untouched);
    let piece = Op::Compute { work: Work::from_span(FILLING), spread: Spread::NONE, profile };
    let pieces = (ns / FILLING.ns()) as u32;
    let mut ops = Vec::new();
    if pieces > 0 {
        ops.extend([Op::Repeat(pieces), piece, Op::End]);
    }
    ops.extend_from_slice(program.ops());
    Program::new(ops, profiles)
}

/// A code with this profile instead of the one in the data file, cut to at most `most` intervals: what
/// calibration runs.
///
/// # Errors
/// A sentence: no such code, class or model, or not with so many tasks.
pub fn trial(
    (benchmark, class, model): (&str, &str, &str),
    tasks: u32,
    profile: &Profile,
    most: u32,
) -> Result<Trial, String> {
    let values = Parameters::from(&Values::defaults(Parameters::TABLE));
    let code = catalogue()?.code(benchmark, class)?;
    let model_data = code.model(model)?;
    model_data.admits(benchmark, model, tasks)?;
    let spmd = problem(&code, model_data, profile, &values, tasks)?;
    Trial::of(&Spmd { transfers: transfers(&code, model, model_data, &values), ..spmd }, tasks, most)
}

/// Synchronisations of a task in the timed section of a share of a run (hundredths of a per cent): exchanges
/// and barriers.
///
/// # Errors
/// A sentence: no such code, class or model.
pub fn synchronisations(
    (benchmark, class, model): (&str, &str, &str),
    tasks: u32,
    share: u64,
) -> Result<u64, String> {
    let values = Parameters::from(&Values::defaults(Parameters::TABLE));
    let code = catalogue()?.code(benchmark, class)?;
    let data = code.model(model)?;
    let whole = problem(&code, data, &code.profile("")?, &values, tasks)?;
    let whole = Spmd { transfers: transfers(&code, model, data, &values), ..whole };
    let part = first(&whole, u64::from(code.size.iterations()), share);
    let intervals = u64::from(part.intervals) * u64::from(part.synchronisations(tasks));
    Ok(intervals + u64::from(part.bare.saturating_sub(1)))
}

/// Intervals between two barriers in a whole run of a code, at least 1.
///
/// # Errors
/// A sentence: no such code, class or model, or not with so many tasks.
pub fn intervals(benchmark: &str, class: &str, model: &str, tasks: u32) -> Result<u32, String> {
    let values = Parameters::from(&Values::defaults(Parameters::TABLE));
    let code = catalogue()?.code(benchmark, class)?;
    let model_data = code.model(model)?;
    model_data.admits(benchmark, model, tasks)?;
    let profile = code.profile(ANY_MACHINE)?;
    Ok(problem(&code, model_data, &profile, &values, tasks)?.intervals)
}

/// A machine of the profiles, where none matters.
const ANY_MACHINE: &str = "barcelona";

/// The derived profile of a code in a class on a machine.
///
/// # Errors
/// A sentence: no such code or class.
pub fn profile(benchmark: &str, class: &str, machine: &str) -> Result<Profile, String> {
    catalogue()?.code(benchmark, class)?.profile(machine)
}

/// Operations of a code in a class, as the benchmark counts them.
///
/// # Errors
/// A sentence: no such code or class.
pub fn operations(benchmark: &str, class: &str) -> Result<u128, String> {
    Ok(catalogue()?.code(benchmark, class)?.size.operations())
}

/// What taking passes from the counter of a loop costs: its line comes from another socket, 100 to 250 ns on
/// machines of 2008. That takers queue up for it is left out.
const TAKE: u64 = 200;
/// Portions per task that stand for the single passes of `dynamic`: enough to balance the work.
const PORTIONS: u64 = 8;

/// How a loop of so many passes is handed out: `dynamic` pass by pass, `guided` in tasks x ln(passes / tasks)
/// portions (each is what is left over the number of tasks).
fn handed_out(schedule: Schedule, passes: u64, tasks: u32) -> Option<HandedOut> {
    let tasks = u64::from(tasks.max(1));
    let (portions, takes) = match schedule {
        Schedule::Dynamic => (passes.min(PORTIONS * tasks), passes),
        Schedule::Guided => {
            let doublings = u64::from((passes / tasks).max(2).ilog2());
            let portions = (tasks * doublings * 7 / 10).clamp(1, passes.max(1));
            (portions, portions)
        }
        Schedule::Static => return None,
    };
    let portions = portions.max(1);
    Some(HandedOut { portions: portions as u32, cost: Span::from_ns(takes.div_ceil(portions) * TAKE) })
}

/// The first iterations of a problem: this share of them (hundredths of a per cent), at least one. Its
/// intervals and transfers are those of the whole; a problem of one interval is cut within it.
fn first(spmd: &Spmd, iterations: u64, share: u64) -> Spmd {
    if share >= 10_000 {
        return *spmd;
    }
    let part = |whole: u64, of: (u64, u64)| {
        (u128::from(whole) * u128::from(of.0)).div_ceil(u128::from(of.1.max(1))) as u64
    };
    let all = u64::from(spmd.intervals);
    let (intervals, kept) = match spmd.transfers {
        _ if all == 1 => (1, (share, 10_000)),
        Some(transfers) => {
            let count = u64::from(transfers.count);
            let intervals = part(all, (scaled(count, share), count));
            (intervals, (intervals, all))
        }
        None => {
            let intervals = scaled(all, share).max(all / iterations.max(1)).max(1);
            (intervals, (intervals, all))
        }
    };
    let transfers =
        spmd.transfers.map(|t| Transfers { count: scaled(u64::from(t.count), share) as u32, ..t });
    let shorten = |span: Span| Span::from_ns(part(span.ns(), kept));
    Spmd {
        serial: shorten(spmd.serial),
        alone: shorten(spmd.alone),
        intervals: intervals as u32,
        transfers,
        ..*spmd
    }
}

/// The all-to-all transfers of codes that have them.
fn transfers(code: &Code, name: &str, model: &Model, values: &Parameters) -> Option<Transfers> {
    let volume =
        u128::from(code.size.all_to_all()) * u128::from(values.transfer_volume.thousandths()) / 1_000;
    model.transposes.then(|| Transfers {
        count: code.size.iterations(),
        volume: u64::try_from(volume).unwrap_or(u64::MAX),
        order: match values.transfer_order {
            ReadOrder::Auto if name == "mpi" => TransferOrder::Rotated,
            ReadOrder::Rotated => TransferOrder::Rotated,
            ReadOrder::Auto | ReadOrder::Sequential => TransferOrder::Sequential,
        },
    })
}

/// The model that a runtime stands for; UPC for those that are no programming model's own.
fn model_of(runtime: &str) -> &'static str {
    match runtime {
        "mpi" | "mpich2" | "openmpi" => "mpi",
        "openmp" | "libgomp" | "sun-openmp" | "open64" => "openmp",
        _ => "upc",
    }
}

/// The problem without its transfers.
fn problem(
    code: &Code,
    model: &Model,
    profile: &Profile,
    values: &Parameters,
    tasks: u32,
) -> Result<Spmd, String> {
    let barriers = model.synchronisations(&code.size);
    let (intervals, warm_up) = match model.iteration(&code.size) {
        _ if model.single => (1, 0),
        // The counts are of whole runs, the untimed iteration included.
        each if barriers > each => (barriers - each, each),
        _ => (barriers, 0),
    };
    let (serial, alone) =
        serial_part(profile.serial.ns(), u64::from(profile.serial_share), profile.per_task.ns(), tasks)?;
    // What is moved because the problem is cut, at the rate at which the code draws on memory.
    let moved = u128::from(model.moved(&code.size, tasks)) * u128::from(tasks) * 1_000_000_000;
    let moving = u64::try_from(moved.checked_div(u128::from(profile.demand)).unwrap_or(0))
        .map_err(|_| "the problem takes more than 584 years".to_owned())?;
    Ok(Spmd {
        serial: serial + Span::from_ns(moving),
        alone,
        intervals,
        warm_up,
        bare: if model.single { barriers - intervals } else { 0 },
        variation: Variation::Pieces(if model.single {
            Spread::NONE
        } else {
            half_width(values.variation.hundredths())
        }),
        profile: MemoryProfile {
            demand: profile.demand,
            bound: if profile.demand == 0 { Some(0) } else { None },
            working_set: code.size.working_set(tasks),
            pages: Pages::FirstTouch,
            shared: 0,
        },
        exchanges: model.exchanges(&code.size, tasks),
        messages_only: model.messages_only,
        transfers: None,
        long: None,
        handed_out: None,
    })
}

#[cfg(test)]
mod tests;
