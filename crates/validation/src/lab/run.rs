//! Runs cells: each is read as a scenario and planned; every different run is simulated once, several at a
//! time.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use experiment::provenance::MODEL;
use experiment::run::{STACK, simulate_one, thread_count};
use experiment::snapshots::watch;
use hmac_sha256::Hash;
use policies::Choice;
use rayon::prelude::*;
use scenario::plan::RunPlan;
use scenario::{Overrides, load};
use sim_core::program::Objects;
use sim_core::time::Span;

use super::cell::Cell;
use super::sample::RunSample;
use super::store::Store;
use super::study::{self, Study};

/// How a campaign is run.
#[derive(Clone, Copy)]
pub struct Campaign<'a> {
    /// Threads; 0 = as many as this process may use.
    pub jobs: usize,
    /// Few replicates and short programs.
    pub quick: bool,
    /// What is set otherwise than stated in a cell, as `path=value`; [`super::as_stated`] for nothing.
    pub adjusted: &'a (dyn Fn(&Study, &Cell) -> Vec<String> + Sync),
    /// Called after each run with the number of finished and of all runs.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// What earlier campaigns left.
    pub store: &'a Store,
}

/// What is noted of a run.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Time between two snapshots of where tasks are.
    snapshots: Option<Span>,
    /// Metrics besides times.
    measured: bool,
}

/// A run to be made.
struct Task {
    plan: RunPlan,
    seen: Seen,
    /// What it is, as a checksum.
    name: String,
}

/// Simulates the runs of cells that the store does not have; the answers by key. A cell that cannot be read
/// or planned says so in its samples.
///
/// # Errors
/// The threads cannot be started.
pub fn simulate(
    cells: &[Cell],
    campaign: &Campaign<'_>,
) -> Result<BTreeMap<String, Arc<Vec<RunSample>>>, String> {
    let threads = thread_count(cells.len(), campaign.jobs);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    let pool = pool.map_err(|e| format!("cannot start {} threads: {e}", campaign.jobs))?;
    let planned: Vec<Result<Vec<Task>, String>> =
        pool.install(|| cells.par_iter().map(|cell| tasks(cell, campaign)).collect());
    let mut names: Vec<Result<Vec<String>, String>> = Vec::new();
    let mut missing: BTreeMap<String, Task> = BTreeMap::new();
    for tasks in planned {
        names.push(tasks.map(|tasks| {
            let name = |task: Task| {
                let name = task.name.clone();
                if !campaign.store.found.contains_key(&name) {
                    missing.entry(name.clone()).or_insert(task);
                }
                name
            };
            tasks.into_iter().map(name).collect()
        }));
    }
    let made = make(missing.into_values().collect(), &pool, campaign);
    let sample = |name: &String| campaign.store.found.get(name).or_else(|| made.get(name)).cloned();
    let of = |names: Result<Vec<String>, String>| match names {
        Ok(names) => names.iter().filter_map(sample).collect(),
        Err(reason) => vec![RunSample::refused(reason)],
    };
    Ok(cells.iter().zip(names).map(|(cell, names)| (cell.key(), Arc::new(of(names)))).collect())
}

/// Makes these runs, the longest ones first, so that no thread is left with one at the end.
fn make(
    mut tasks: Vec<Task>,
    pool: &rayon::ThreadPool,
    campaign: &Campaign<'_>,
) -> BTreeMap<String, RunSample> {
    tasks.sort_by_key(|task| std::cmp::Reverse(size(&task.plan)));
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let made = Mutex::new(BTreeMap::new());
    pool.broadcast(|_| {
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let sample = run(task);
            campaign.store.keep(&task.name, &sample);
            made.lock().unwrap_or_else(PoisonError::into_inner).insert(task.name.clone(), sample);
            (campaign.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
        }
    });
    made.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How long a run takes, roughly: tasks of all programs.
fn size(plan: &RunPlan) -> u64 {
    plan.apps.iter().map(|app| u64::from(app.tasks)).sum()
}

fn run(Task { plan, seen, .. }: &Task) -> RunSample {
    let sample = match seen.snapshots {
        Some(every) => watch(plan, every).map(|(report, seen)| RunSample::watched(&report, &seen)),
        None if seen.measured => simulate_one(plan, &mut ()).map(|report| RunSample::measured(&report)),
        None => simulate_one(plan, &mut ()).map(|report| RunSample::of(&report)),
    };
    sample.unwrap_or_else(RunSample::refused)
}

/// All replicates of a cell.
fn tasks(cell: &Cell, campaign: &Campaign<'_>) -> Result<Vec<Task>, String> {
    let study = study_of(cell)?;
    let experiment = load(&study.name, &study.text, &overrides(study, cell, campaign))?;
    let seen = Seen { snapshots: study.snapshots, measured: study.measured };
    let task = |plan: RunPlan| {
        let name = name(&plan, seen);
        Task { plan, seen, name }
    };
    Ok(experiment.runs.into_iter().map(task).collect())
}

/// Writes into a checksum.
struct Sum(Hash);

impl Write for Sum {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// The checksum of all that makes a run: the version of the model, the machine, the kernel, the programs,
/// the policy and the options, after everything is resolved, and what is noted of it. How its scenario
/// and its cell are called does not matter.
fn name(plan: &RunPlan, seen: Seen) -> String {
    let mut sum = Sum(Hash::new());
    let RunPlan { machine, kernel, apps, objects, policy_choice, options, window, latencies, .. } = plan;
    // Writing into a checksum does not fail.
    let _ =
        write!(sum, "{MODEL}|{machine:?}|{kernel:?}|{apps:?}|{options:?}|{window:?}|{latencies}|{seen:?}|");
    // Most programs share no objects; their checksums stay.
    if **objects != Objects::default() {
        let _ = write!(sum, "{objects:?}|");
    }
    policy(policy_choice, &mut sum);
    sum.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn policy(choice: &Choice, sum: &mut Sum) {
    let _ = write!(sum, "{}|{:?}|{:?}|", choice.entry.name, choice.values, choice.perturb);
    if let Some(over) = &choice.over {
        policy(over, sum);
    }
}

fn study_of(cell: &Cell) -> Result<&Study, String> {
    let found = cell.own().or_else(|| study::find(cell.study()));
    found.ok_or_else(|| format!("there is no study {}", cell.study()))
}

/// The names of the applications of a cell.
///
/// # Errors
/// Its study does not exist, or its scenario cannot be read: the rendered message.
pub fn apps(cell: &Cell) -> Result<Vec<String>, String> {
    let study = study_of(cell)?;
    let changes = Overrides {
        set: stated(cell),
        policies: vec![cell.policy().to_owned()],
        without_sweep: true,
        repeat: Some(1),
        ..Overrides::default()
    };
    Ok(load(&study.name, &study.text, &changes)?.apps)
}

/// What a cell sets, as `path=value`.
fn stated(cell: &Cell) -> Vec<String> {
    let settings = cell.settings().iter().map(|(path, value)| format!("{path}={value}"));
    std::iter::once("baseline=none".to_owned()).chain(settings).collect()
}

/// What the cell changes in its study's scenario.
fn overrides(study: &Study, cell: &Cell, campaign: &Campaign<'_>) -> Overrides {
    let mut set = stated(cell);
    if campaign.quick {
        // Last: a cell may set whole workloads.
        set.extend(study.quick.iter().map(ToString::to_string));
    }
    set.extend((campaign.adjusted)(study, cell));
    Overrides { set, policies: vec![cell.policy().to_owned()], without_sweep: true, ..Overrides::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::as_stated;

    fn names(cell: &Cell, adjusted: &(dyn Fn(&Study, &Cell) -> Vec<String> + Sync)) -> Vec<String> {
        let store = Store::none();
        let campaign = Campaign { jobs: 1, quick: true, adjusted, progress: &|_, _| (), store: &store };
        tasks(cell, &campaign).unwrap().into_iter().map(|task| task.name).collect()
    }

    #[test]
    fn what_makes_a_run_names_it() {
        let cell = Cell::new("dedicated", "PIN").set("apps.a.workload.benchmark", "is");
        let one = names(&cell, &as_stated);
        assert_eq!(one.len(), 1);
        assert_eq!(one, names(&cell, &as_stated));
        // The values of the file, once more: another cell, the same run.
        let said = cell.clone().set("machine", "tigerton").set("apps.a.tasks", 16);
        assert_ne!(cell.key(), said.key());
        assert_eq!(one, names(&said, &as_stated));
        // Another value of the cell, of the machine, of the policy, or another seed: another run.
        for (path, value) in [
            ("apps.a.tasks", "32"),
            ("machine.switch_thread", "1us"),
            ("policies.PIN.layout", "random"),
            ("seed", "9"),
        ] {
            assert_ne!(one, names(&cell.clone().set(path, value), &as_stated), "{path}");
        }
        assert_ne!(one, names(&cell.clone().under("LOAD"), &as_stated));
        let turned = |_: &Study, _: &Cell| vec!["machine.private_cache=1MiB".to_owned()];
        assert_ne!(one, names(&cell, &turned));
        // More replicates: the first stays.
        let store = Store::none();
        let full =
            Campaign { jobs: 1, quick: false, adjusted: &as_stated, progress: &|_, _| (), store: &store };
        let of = |repeat: u32| -> Vec<String> {
            let cell = cell.clone().set("repeat", repeat);
            tasks(&cell, &full).unwrap().into_iter().map(|task| task.name).collect()
        };
        assert_eq!(of(2), of(3)[..2]);
    }
}
