//! `npb`: the NAS Parallel Benchmarks cg, ft, ep and mg for UPC, MPI and OpenMP, from the data file `data/npb.yaml`.

mod data;
mod size;

use notation::parameter::{Kind, Parameter, Values};
use sim_core::program::{MemoryProfile, Pages, Spread};
use sim_core::time::Span;

use crate::registry::{Built, Context, Entry};
use crate::spmd::inline::{order, spread};
use crate::spmd::{Spmd, Transfers, Variation};
use data::{Code, Model, catalogue};

/// The codes.
pub const BENCHMARKS: &[&str] = &["cg", "ft", "ep", "mg"];
/// The problem classes.
pub const CLASSES: &[&str] = &["S", "W", "A", "B", "C"];
/// The programming models; `auto` goes by the application's runtime, UPC for runtimes that are none of them.
pub const MODELS: &[&str] = &["auto", "upc", "mpi", "openmp"];

const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: u64,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind: Kind::Choice(words), default, min: 0, max: words.len() as u64 - 1, about }
}

const PARAMETERS: &[Parameter] = &[
    choice(
        "benchmark",
        BENCHMARKS,
        0,
        "Conjugate gradient (fine-grained), Fourier transform (coarse, all-to-all), embarrassingly parallel, multigrid",
    ),
    choice("class", CLASSES, 3, "Problem class, small to large"),
    choice(
        "model",
        MODELS,
        0,
        "Programming model whose synchronisations it has; `auto` = that of the runtime, UPC for the plain ones",
    ),
    Parameter {
        name: "variation",
        kind: Kind::Percent,
        default: 1_500,
        min: 0,
        max: 10_000,
        about: "Half-width of the variation of the work between two synchronisations, for up to 10ms of work; falls with the root of the length beyond. No input determines it: 15% was chosen once, for all codes, on the published mean gain of 6% of the POSIX yield (Iancu et al., IPDPS 2010)",
    },
    Parameter {
        name: "transfer_volume",
        kind: Kind::Factor,
        default: 1_000,
        min: 0,
        max: 1_000_000,
        about: "Bytes of ft's transposes against one copy of the grid per iteration",
    },
    choice(
        "transfer_order",
        &["auto", "sequential", "rotated"],
        0,
        "Order in which ft's tasks read from the others; `auto` = all start at task 0 in UPC, each at its successor in MPI",
    ),
];

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "npb",
    summary: "NAS Parallel Benchmarks cg, ft, ep, mg, classes S to C, for UPC, MPI and OpenMP",
    about: "A fixed problem, whatever the number of tasks: operation totals and sizes by the benchmarks' own formulas, serial \
            speed and memory demand fitted to measured speed-ups, numbers of barriers as counted.",
    source: "NPB 2.4 UPC, NPB 3.3 MPI and OpenMP; Iancu et al., IPDPS 2010; Hofmeyr et al., PPoPP 2010",
    parameters: PARAMETERS,
    build,
};

fn build(values: &Values, context: &Context<'_>) -> Result<Built, String> {
    let catalogue = catalogue()?;
    let benchmark = values.choice("benchmark");
    let model = match values.choice("model") {
        "auto" => model_of(context.runtime),
        name => name,
    };
    let code = catalogue.code(benchmark, values.choice("class"))?;
    let spmd = problem(&code, code.model(model)?, values, context.tasks)?;
    let transposing = code.model(model)?.transposes;
    let transfers = transposing.then(|| Transfers {
        count: code.size.iterations(),
        volume: u64::try_from(
            u128::from(code.size.points())
                * u128::from(catalogue.transpose_bytes)
                * u128::from(values.get("transfer_volume"))
                / 1_000,
        )
        .unwrap_or(u64::MAX),
        order: match values.choice("transfer_order") {
            "auto" => order(u64::from(model == "mpi")),
            word => order(u64::from(word == "rotated")),
        },
    });
    Ok(Built::even(Spmd { transfers, ..spmd }.program(context.tasks)?))
}

/// The model that a runtime stands for.
fn model_of(runtime: &str) -> &'static str {
    MODELS[1..].iter().copied().find(|model| *model == runtime).unwrap_or("upc")
}

/// The problem without its transfers.
fn problem(code: &Code, model: &Model, values: &Values, tasks: u32) -> Result<Spmd, String> {
    let barriers = model.synchronisations(&code.size);
    let intervals = if model.single { 1 } else { barriers };
    Ok(Spmd {
        serial: Span::from_ns(code.serial_ns()?),
        intervals,
        bare: barriers - intervals,
        variation: Variation::Pieces(if model.single {
            Spread::NONE
        } else {
            spread(values.get("variation"))
        }),
        profile: MemoryProfile {
            demand: code.demand,
            bound: if code.demand == 0 { Some(0) } else { None },
            working_set: code.size.working_set(tasks),
            pages: Pages::FirstTouch,
            shared: 0,
        },
        exchanges: model.exchanges,
        transfers: None,
    })
}

#[cfg(test)]
mod tests;
