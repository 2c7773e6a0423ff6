//! Programs and runtimes as the cells of several studies name them.

use notation::declare::Choice;

use crate::claims::{BlockTime, Classes, Code, Model, Wait, Way, Workload};
use crate::lab::{Cell, Setting};

/// The codes of the figures of the papers on oversubscription.
const CODES: [Code; 6] = [Code::Ep, Code::Ft, Code::Is, Code::Sp, Code::Mg, Code::Cg];
/// Codes with the classes that each runs in: its own where it has one.
pub(super) fn codes(workload: &Workload, classes: &Classes) -> Vec<(Code, char)> {
    let mut named = workload.codes.clone();
    if named.is_empty() {
        named = CODES.iter().map(|code| (*code, None)).collect();
    }
    let classes = classes.each();
    let of = |(code, class): (Code, Option<char>)| {
        let classes = class.map_or_else(|| classes.clone(), |class| vec![class]);
        classes.into_iter().map(move |class| (code, class))
    };
    named.into_iter().flat_map(of).collect()
}

/// A code, of which a part is simulated if a scale is given.
pub(super) fn npb(code: Code, class: char, scale: Option<&str>) -> Setting {
    let mut settings = vec![("benchmark", code.word().into()), ("class", class.into())];
    settings.extend(scale.map(|scale| ("scale", scale.into())));
    Setting::named("npb", &settings)
}

/// The cell with this runtime. Workers of the OpenMP runtime of 2008, which the papers used, sleep at the
/// barrier before the program (Iancu et al., IPDPS 2010, V.B); later releases poll there.
pub(super) fn run_by(cell: Cell, app: char, model: Model, runtime: impl Into<Setting>) -> Cell {
    let path = format!("apps.{app}.runtime");
    let cell = cell.set(&path, runtime);
    if model == Model::OpenMp { cell.set(&format!("{path}.start_sleep"), "true") } else { cell }
}

/// A program that is a part of a longer run begins at any instant of the cycle of yields.
pub(super) fn at_any_phase(cell: Cell, app: char, model: Model) -> Cell {
    if model != Model::OpenMp {
        return cell;
    }
    cell.set(&format!("apps.{app}.runtime.yield_phase"), "random")
}

/// How many times as long a whole run takes as this share of it (per cent): by the synchronisations of a
/// task.
pub(super) fn whole((code, class, model): (Code, char, Model), tasks: u32, share: f64) -> f64 {
    let class = class.to_string();
    let program = (code.word(), class.as_str(), model.word());
    let count = |share: f64| workloads::npb::synchronisations(program, tasks, (share * 100.0).round() as u64);
    match (count(100.0), count(share)) {
        (Ok(all), Ok(part)) => (all as f64 / part.max(1) as f64).max(1.0),
        // A code that has none runs whole.
        _ => 1.0,
    }
}

/// Hardware contexts of a machine: what the papers call cores.
pub(super) fn contexts(machine: &str) -> u32 {
    machines::resolve(machine).map_or(16, |entry| entry.machine().cpus())
}

/// Whether a code runs with so many tasks.
pub(super) fn runs(code: Code, class: char, model: Model, tasks: u32) -> bool {
    workloads::npb::intervals(code.word(), &class.to_string(), model.word(), tasks).is_ok()
}

/// The runtime of a programming model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Runtime {
    pub(super) model: Model,
    /// An option that is not as installed, and its value.
    option: Option<(&'static str, &'static str)>,
}

impl Runtime {
    /// As installed.
    pub(super) const fn usual(model: Model) -> Self {
        Self { model, option: None }
    }

    /// As a claim has tasks wait: OpenMP by its block time, the others asleep where it names only sleep.
    pub(super) fn waiting(model: Model, wait: &Wait) -> Self {
        let asleep = !wait.open && wait.ways.contains(&Way::Sleep) && !wait.ways.contains(&Way::Poll);
        match model {
            Model::OpenMp if asleep => Self::polling(model, BlockTime::Zero),
            Model::OpenMp => Self::polling(model, wait.block_time),
            Model::Upc | Model::Mpi if asleep => Self::blocking(model),
            Model::Upc | Model::Mpi => Self::usual(model),
        }
    }

    /// Tasks that wait sleep.
    pub(super) const fn blocking(model: Model) -> Self {
        Self { model, option: Some(("wait", "block")) }
    }

    /// Barriers that poll for so long.
    pub(super) fn polling(model: Model, time: BlockTime) -> Self {
        let option = (time != BlockTime::Usual).then(|| ("block_time", time.word()));
        Self { model, option }
    }

    /// As a cell has it.
    pub(super) fn setting(self) -> Setting {
        let name = self.model.word();
        self.option.map_or_else(|| name.into(), |(key, value)| Setting::named(name, &[(key, value.into())]))
    }
}
