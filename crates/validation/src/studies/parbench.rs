//! Jobs that fill a 144-core machine: cpu times, run times, homes, migrations.

use std::sync::Arc;

use super::contrast;
use super::general::{self, Run};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Feature, Form, Metric, Model, Threads, Together, Workload};
use crate::lab::{AppSample, Cell, Lab, RunSample};

/// The policy under which the machine runs, as the claims say `Solaris 9 scheduler`.
const POLICY: &str = "LGROUP";
/// Kernels of a parallel or sequential job as published: what is simulated of it stands for all.
const KERNELS: f64 = 5_000.0;
/// Kernels and seconds of a sequential job of [`SEQUENTIAL`] and [`MIXTURE`].
const COPY_KERNELS: f64 = 2_500.0;
/// Threads of all parallel jobs together: nine of 8. Of wider jobs the paper does not say how many there
/// were.
const PARALLEL: u32 = 72;
/// Kernel versions with a published row.
const VERSIONS: [u32; 16] = [61, 81, 101, 111, 121, 126, 141, 151, 201, 221, 226, 241, 246, 281, 286, 301];

const SEQUENTIAL: &str = "parbench_sequential";
const MIXTURE: &str = "parbench_mixture";
const JOBS: &str = "parbench_jobs";
const HOMES: &str = "parbench_homes";

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (at, words) = (&claim.at, matches!(claim.form, Form::Ordering | Form::Qualitative));
    if !is_sequential(claim) && !at.models.list.contains(&Model::OpenMp) {
        return Err(Trouble::uncovered(format!("PARbench has no jobs in the model `{}`", claim.texts.model)));
    }
    match at.metric {
        Some(Metric::RelCpuTime) if is_sequential(claim) && !words => relative_cpu_time(claim, lab),
        Some(Metric::RelExtension) if !words || widths(claim).len() > 1 => extension(claim, lab),
        Some(Metric::RelExtension) => contrast::signed(claim, lab, &extension, &runs),
        Some(Metric::Order) if words && at.workload.has(Feature::Versus) => worse_than_sequential(claim, lab),
        Some(Metric::Order) if words && at.baseline.none => knee(claim, lab),
        Some(Metric::HomeRate | Metric::MigrationRate) if claim.form == Form::Ordering => numbers(claim, lab),
        _ if contrast::is_comparison(claim) => contrast::answer(claim, lab, &numbers, &runs),
        _ => numbers(claim, lab),
    }
}

/// What the simulator says about a claim of numbers.
fn numbers(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::RelCpuTime) => relative_cpu_time(claim, lab),
        Some(Metric::WaitFraction) => wait_fraction(claim, lab),
        Some(Metric::JobRunTime | Metric::RunTime) if is_sequential(claim) => slowest(claim, lab),
        Some(Metric::JobRunTime | Metric::RunTime) => times(claim, lab, |app| whole(app, KERNELS)),
        Some(Metric::CpuTime) => cpu_times(claim, lab),
        Some(Metric::HomeRate) => rates(claim, lab, |app| &app.home),
        Some(Metric::MigrationRate) => rates(claim, lab, |app| &app.moved),
        _ => general::answer(claim, lab, &runs),
    }
}

/// The whole runs of jobs: of the parallel ones by their number of threads, or of sequential ones by kernel.
fn runs(claim: &Claim, lab: &mut Lab) -> Result<Vec<Run>, Trouble> {
    let answer = if is_sequential(claim) {
        slowest(claim, lab)?
    } else {
        times(claim, lab, |app| whole(app, KERNELS))?
    };
    Ok(answer
        .0
        .into_iter()
        .map(|p| Run { key: p.label.clone(), program: p.label, at: String::new(), times: p.series })
        .collect())
}

fn is_sequential(claim: &Claim) -> bool {
    claim.at.models.together == Together::Sequential
}

/// Run time of the whole job, of which only the first part may have been simulated.
fn whole(app: &AppSample, kernels: f64) -> f64 {
    app.run_time * kernels / app.barriers.max(1.0)
}

/// The copies of an application in a run.
fn copies<'a>(run: &'a RunSample, app: &'a str) -> impl Iterator<Item = &'a AppSample> {
    run.apps.iter().filter(move |sample| {
        sample.name.strip_prefix(app).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

/// The mean over the copies of an application, by replicate.
fn mean_of(runs: &[RunSample], app: &str, what: impl Fn(&AppSample) -> f64) -> Series {
    let one = |run: &RunSample| {
        let values: Vec<f64> = copies(run, app).map(&what).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    Series(runs.iter().map(one).collect())
}

fn cpu_time(app: &AppSample) -> f64 {
    app.task_cpu.iter().sum::<f64>() / app.barriers.max(1.0)
}

// ---- sequential jobs ----

fn sequential(lab: &mut Lab, kernel: &str, copies: u32) -> Result<Arc<Vec<RunSample>>, Trouble> {
    let cell = Cell::new(SEQUENTIAL, POLICY).set("apps.job.workload.kernel", kernel);
    lab.runs(&cell.set("apps.job.copies", copies))
}

/// The kernel versions that a claim names, as in `kernel 301, copies of one 100 s job`; all for `16 kernel
/// versions`.
fn kernels(workload: &Workload) -> Vec<String> {
    let named: Vec<u32> = match workload.kernel {
        Some(number) if VERSIONS.contains(&number) => vec![number],
        Some(_) if !workload.has(Feature::Versions) => vec![],
        _ => VERSIONS.to_vec(),
    };
    named.iter().map(|number| format!("k{number}")).collect()
}

/// The one kernel that jobs run: the version that a claim names, else the mix of all.
fn kernel_of(claim: &Claim) -> Result<String, Trouble> {
    match claim.at.workload.kernel {
        None => Ok("mix".to_owned()),
        Some(number) if VERSIONS.contains(&number) => Ok(format!("k{number}")),
        Some(number) => Err(Trouble::uncovered(format!("kernel {number} is no published version"))),
    }
}

/// Why there is nothing to run.
fn no_copies(claim: &Claim) -> Trouble {
    Trouble::uncovered(format!("`{}` names no number of copies", claim.texts.threads))
}

/// How many copies of a sequential job run, as in `144`, `144 user threads`, or `144 jobs on 144 cores`.
fn copies_of(claim: &Claim) -> Vec<u32> {
    let (threads, environment) = (&claim.at.threads.counts, &claim.at.environment.user_threads);
    let named = [threads, environment].into_iter().find(|named| !named.is_empty());
    named.cloned().unwrap_or_else(|| claim.at.workload.count.into_iter().collect())
}

/// Cpu time of a copy among many, in per cent of one alone; or, for `144 vs 140` copies, by how much more
/// than among fewer. Of parallel jobs in per cent of one job alone on the machine.
fn relative_cpu_time(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if !is_sequential(claim) {
        let load = stated(claim, 0)?;
        let alone = of_jobs(lab, Load { jobs: 1, sequential: 0, ..load }, cpu_time)?;
        let value = of_jobs(lab, load, cpu_time)?.over(&alone).map(|ratio| ratio * 100.0);
        return Ok(Answer::one(load.label(), &value));
    }
    let (many, few, change) = match copies_of(claim)[..] {
        [] => return Err(no_copies(claim)),
        [many] => (many, 1, false),
        [many, few, ..] => (many, few, true),
    };
    let kernels = kernels(&claim.at.workload);
    if kernels.is_empty() {
        let workload = &claim.texts.workload;
        return Err(Trouble::uncovered(format!("`{workload}` is no published kernel version")));
    }
    let mut points = Vec::new();
    for kernel in kernels {
        let over = mean_of(&sequential(lab, &kernel, many)?, "job", cpu_time);
        let under = mean_of(&sequential(lab, &kernel, few)?, "job", cpu_time);
        let ratio = over.over(&under);
        let value = if change { ratio.map(|r| (r - 1.0) * 100.0) } else { ratio.map(|r| r * 100.0) };
        points.push(Point::new(format!("{kernel}, {many} copies"), &value));
    }
    Ok(Answer(points))
}

/// Share of a job's run time in which it waits for a cpu, in per cent.
fn wait_fraction(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let waits = |app: &AppSample| {
        let threads = app.task_cpu.len().max(1) as f64;
        100.0 * (1.0 - app.task_cpu.iter().sum::<f64>() / threads / app.run_time.max(1e-9))
    };
    if !is_sequential(claim) {
        let load = stated(claim, 0)?;
        return Ok(Answer::one(load.label(), &of_jobs(lab, load, waits)?));
    }
    let Some(copies) = copies_of(claim).first().copied() else {
        return Err(Trouble::uncovered(format!("`{}` names no number of jobs", claim.texts.workload)));
    };
    let kernel = kernel_of(claim)?;
    let runs = sequential(lab, &kernel, copies)?;
    Ok(Answer::one(format!("{copies} sequential jobs"), &mean_of(&runs, "job", waits)))
}

/// Run time of the slowest of different jobs that fill the machine.
fn slowest(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if claim.at.workload.has(Feature::Different) {
        let runs = lab.runs(&Cell::new(MIXTURE, POLICY))?;
        let most = |run: &RunSample| {
            let jobs = run.apps.iter().filter(|app| app.barriers > 0.0);
            jobs.map(|app| whole(app, COPY_KERNELS)).fold(0.0, f64::max)
        };
        return Ok(Answer::one("the slowest of 144 jobs", &Series(runs.iter().map(most).collect())));
    }
    let Some(copies) = copies_of(claim).first().copied() else { return Err(no_copies(claim)) };
    let kernels = if claim.at.workload.kernel.is_some() || claim.at.workload.has(Feature::Versions) {
        kernels(&claim.at.workload)
    } else {
        vec!["mix".to_owned()]
    };
    if kernels.is_empty() {
        kernel_of(claim)?;
    }
    let mut points = Vec::new();
    for kernel in kernels {
        let runs = sequential(lab, &kernel, copies)?;
        let time = mean_of(&runs, "job", |app| whole(app, COPY_KERNELS));
        points.push(Point::new(format!("{kernel}, {copies} copies"), &time));
    }
    Ok(Answer(points))
}

// ---- parallel jobs among sequential ones ----

/// Jobs on the machine: parallel ones, their threads, and sequential ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Load {
    /// The kernel version of the parallel jobs, 0 for the mix of all.
    kernel: u32,
    jobs: u32,
    threads: u32,
    sequential: u32,
}

impl Load {
    fn label(self) -> String {
        format!("{}x1 + {}x{}", self.sequential, self.jobs, self.threads)
    }

    fn cell(self, study: &'static str) -> Cell {
        let mut cell = Cell::new(study, POLICY).set("apps.sequential.copies", self.sequential.max(1));
        if self.sequential == 0 {
            // There is one, which arrives after all others have ended: before the horizon of an hour.
            cell = cell.set("apps.sequential.start", "3599s");
        }
        if self.kernel > 0 {
            cell = cell.set("apps.job.workload.kernel", format!("k{}", self.kernel));
        }
        if (self.jobs, self.threads) == (9, 8) {
            return cell;
        }
        cell.set("apps.job.tasks", self.threads).set("apps.job.copies", self.jobs)
    }
}

/// Threads of a parallel job, in the order written; not of one thread.
fn widths(claim: &Claim) -> Vec<u32> {
    let Workload { jobs, widths, .. } = &claim.at.workload;
    let written: Vec<u32> = jobs.iter().map(|(_, threads)| *threads).filter(|n| *n > 1).collect();
    let named = [&written, &claim.at.threads.per_job, widths].into_iter().find(|named| !named.is_empty());
    named.cloned().unwrap_or_else(|| vec![8])
}

/// The load with parallel jobs of this width and so many user threads, `others` of which are no jobs of ours.
fn load(claim: &Claim, width: u32, total: u32, others: u32) -> Result<Load, Trouble> {
    kernel_of(claim)?;
    let kernel = claim.at.workload.kernel.unwrap_or(0);
    let written = &claim.at.workload.jobs;
    let jobs = written.iter().find(|(_, threads)| *threads == width && width > 1).map(|(jobs, _)| *jobs);
    let jobs = jobs.unwrap_or((PARALLEL / width.max(1)).max(1));
    let sequential = written.iter().find(|(_, threads)| *threads == 1).map(|(jobs, _)| *jobs);
    let rest = total.checked_sub(jobs.saturating_mul(width) + others);
    match sequential.or(rest) {
        Some(sequential) => Ok(Load { kernel, jobs, threads: width, sequential }),
        _ => Err(Trouble::uncovered(format!(
            "more threads than the claim has: {jobs} jobs of {width} threads, {total} in all"
        ))),
    }
}

/// The one load that a claim speaks of.
fn stated(claim: &Claim, others: u32) -> Result<Load, Trouble> {
    let width = widths(claim)[0];
    let named = claim.at.environment.user_threads.first().copied();
    let cpus =
        (claim.texts.threads.contains("cpus")).then(|| claim.at.threads.counts.first().copied()).flatten();
    load(claim, width, named.or(cpus).unwrap_or(144), others)
}

/// Something of the parallel jobs by replicate.
fn of_jobs(lab: &mut Lab, load: Load, what: impl Fn(&AppSample) -> f64) -> Result<Series, Trouble> {
    Ok(mean_of(&lab.runs(&load.cell(JOBS))?, "job", what))
}

fn times(claim: &Claim, lab: &mut Lab, what: impl Fn(&AppSample) -> f64) -> Result<Answer, Trouble> {
    let load = stated(claim, 0)?;
    Ok(Answer::one(load.label(), &of_jobs(lab, load, what)?))
}

/// Cpu times of the jobs, in seconds of the whole job.
fn cpu_times(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if !is_sequential(claim) {
        return times(claim, lab, |app| cpu_time(app) * KERNELS);
    }
    let Some(copies) = copies_of(claim).first().copied() else { return Err(no_copies(claim)) };
    let kernel = kernel_of(claim)?;
    let runs = sequential(lab, &kernel, copies)?;
    let times = mean_of(&runs, "job", |app| cpu_time(app) * COPY_KERNELS);
    Ok(Answer::one(format!("{kernel}, {copies} copies"), &times))
}

/// By how much jobs take longer in the fuller machine, in per cent.
fn longer(claim: &Claim, lab: &mut Lab, width: u32) -> Result<Series, Trouble> {
    let (full, free) = match claim.at.environment.user_threads[..] {
        [a, b, ..] => (a.max(b), a.min(b)),
        _ => (144, 140),
    };
    let over = of_jobs(lab, load(claim, width, full, 0)?, |app| whole(app, KERNELS))?;
    let under = of_jobs(lab, load(claim, width, free, 0)?, |app| whole(app, KERNELS))?;
    Ok(over.gain_over(&under))
}

/// The extension of one width, or for an ordering the differences from width to width.
fn extension(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    if is_sequential(claim) {
        let (full, free) = match copies_of(claim)[..] {
            [a, b, ..] => (a.max(b), a.min(b)),
            _ => (144, 140),
        };
        let kernel = kernel_of(claim)?;
        let over = mean_of(&sequential(lab, &kernel, full)?, "job", |app| whole(app, COPY_KERNELS));
        let under = mean_of(&sequential(lab, &kernel, free)?, "job", |app| whole(app, COPY_KERNELS));
        return Ok(Answer::one(format!("{kernel}, {full} and {free} copies"), &over.gain_over(&under)));
    }
    let widths = widths(claim);
    if claim.form != Form::Ordering {
        let mut points = Vec::new();
        for width in widths {
            points.push(Point::new(format!("{width} threads"), &longer(claim, lab, width)?));
        }
        return Ok(Answer(points));
    }
    let sign = if contrast::rises(claim, true) { 1.0 } else { -1.0 };
    let mut extensions = Vec::new();
    for width in &widths {
        extensions.push((*width, longer(claim, lab, *width)?));
    }
    let steps = extensions.windows(2).map(|pair| {
        let label = format!("{} over {} threads", pair[1].0, pair[0].0);
        Point::new(label, &pair[1].1.with(&pair[0].1, |more, less| sign * (more - less)))
    });
    Ok(Answer(steps.collect()))
}

/// Rises of less than this share of the run time are none.
const NOTABLE: f64 = 0.02;

/// Run times flat as long as there are cpus for the operating system (four), and notably longer beyond.
fn knee(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let (low, high) = match claim.at.environment.user_threads[..] {
        [a, b, ..] => (a.min(b), a.max(b)),
        _ => (138, 144),
    };
    let mut at =
        |total: u32| of_jobs(lab, load(claim, widths(claim)[0], total, 0)?, |app| whole(app, KERNELS));
    let (few, free, full) = (at(low)?, at(140)?, at(high)?);
    let flat = free.gain_over(&few).map(|rise| -(rise / 100.0).abs());
    let rise = full.gain_over(&free).map(|rise| rise / 100.0 - NOTABLE);
    Ok(Answer(vec![
        Point::new(format!("flat from {low} to 140"), &flat),
        Point::new(format!("a notable rise from 140 to {high}"), &rise),
    ]))
}

/// How much more parallel jobs lose in the full machine than sequential ones, in per cent of their run times.
fn worse_than_sequential(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let full = claim.at.environment.user_threads.first().copied().unwrap_or(144);
    let parallel = longer(claim, lab, 8)?;
    let over = mean_of(&sequential(lab, "mix", full)?, "job", |app| whole(app, COPY_KERNELS));
    let under = mean_of(&sequential(lab, "mix", 140)?, "job", |app| whole(app, COPY_KERNELS));
    let sequential = over.gain_over(&under);
    let more = parallel.with(&sequential, |parallel, sequential| parallel - sequential);
    let label = format!("parallel {:.1} %, sequential {:.1} %", parallel.mean(), sequential.mean());
    Ok(Answer::one(label, &more))
}

// ---- snapshots ----

/// Which tasks a rate is the mean of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Sequential,
    Parallel,
    /// A thread of the parallel jobs, counted from 0; with the sequential jobs, too, if they are pooled.
    Thread(usize, bool),
}

fn rate(runs: &[RunSample], who: Who, what: impl Fn(&AppSample) -> &Vec<f64>) -> Series {
    let one = |run: &RunSample| {
        let parallel = copies(run, "job").flat_map(|app| what(app).iter().copied().enumerate());
        let sequential = copies(run, "sequential").flat_map(|app| what(app).iter().copied());
        let values: Vec<f64> = match who {
            Who::Sequential => sequential.collect(),
            Who::Parallel => parallel.map(|(_, rate)| rate).collect(),
            Who::Thread(rank, pooled) => {
                let mine = parallel.filter(|(at, _)| *at == rank).map(|(_, rate)| rate);
                mine.chain(sequential.filter(|_| pooled)).collect()
            }
        };
        values.iter().sum::<f64>() / values.len() as f64
    };
    Series(runs.iter().map(one).collect())
}

fn who(claim: &Claim) -> Who {
    match claim.at.threads {
        Threads { thread: Some(number @ 1..), pooled, .. } => Who::Thread(number as usize - 1, pooled),
        _ if is_sequential(claim) => Who::Sequential,
        _ => Who::Parallel,
    }
}

/// Home or migration rates in the machine that is watched by `prstat`, which takes the place of a sequential
/// job. A claim that does not say how full the machine was holds with 140 and 144 user threads.
fn rates(
    claim: &Claim,
    lab: &mut Lab,
    what: impl Fn(&AppSample) -> &Vec<f64> + Copy,
) -> Result<Answer, Trouble> {
    let width = widths(claim).into_iter().find(|threads| *threads > 1).unwrap_or(8);
    let mut fullness = claim.at.environment.user_threads.clone();
    fullness.truncate(1);
    if fullness.is_empty() && claim.at.workload.jobs.iter().any(|(_, threads)| *threads == 1) {
        fullness = vec![144];
    }
    if fullness.is_empty() {
        fullness = vec![140, 144];
    }
    let mut points = Vec::new();
    for total in fullness {
        let load = load(claim, width, total, 1)?;
        let runs = lab.runs(&load.cell(HOMES))?;
        if claim.form == Form::Ordering {
            points.extend(decay(&runs, load, what));
        } else {
            points.push(Point::new(load.label(), &rate(&runs, who(claim), what)));
        }
    }
    Ok(Answer(points))
}

/// Mean home rate of the later half of a job's threads that is still practically none, in per cent: the
/// published means are 10 and 14.
const NONE: f64 = 14.0;

/// The master lives as sequential jobs do, each thread after it no better than the one before, the later half
/// practically nowhere.
fn decay(runs: &[RunSample], load: Load, what: impl Fn(&AppSample) -> &Vec<f64> + Copy) -> Vec<Point> {
    let thread = |rank: u32| rate(runs, Who::Thread(rank as usize, false), what);
    let half = (load.threads / 2).max(1);
    let master = thread(0).with(&rate(runs, Who::Sequential, what), |master, other| -(master - other).abs());
    let mut points = vec![Point::new("the master like sequential jobs", &master)];
    for rank in 1..half {
        let fall = thread(rank - 1).with(&thread(rank), |before, after| before - after);
        points.push(Point::new(format!("thread {} no better than {rank}", rank + 1), &fall));
    }
    let late: Vec<Series> = (half..load.threads).map(thread).collect();
    points.push(Point::new(
        "the later half almost never at home",
        &Series::mean_of(&late).map(|rate| NONE - rate),
    ));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_told_from_others() {
        let app = |name: &str| AppSample { name: name.into(), run_time: 2.0, ..AppSample::default() };
        let run = RunSample {
            apps: vec![app("job-1"), app("job-12"), app("jobless"), app("seq")],
            ..RunSample::default()
        };
        assert_eq!(copies(&run, "job").count(), 2);
        assert_eq!(mean_of(&[run], "job", |app| app.run_time).0, [2.0]);
    }

    #[test]
    fn rates_are_means_over_threads() {
        let app = |name: &str, home: &[f64]| AppSample {
            name: name.into(),
            home: home.to_vec(),
            ..AppSample::default()
        };
        let apps =
            vec![app("job-1", &[100.0, 50.0]), app("job-2", &[90.0, 0.0]), app("sequential-1", &[80.0])];
        let runs = [RunSample { apps, ..RunSample::default() }];
        let of = |who| rate(&runs, who, |app| &app.home).0[0];
        assert_eq!((of(Who::Sequential), of(Who::Parallel)), (80.0, 60.0));
        assert_eq!((of(Who::Thread(1, false)), of(Who::Thread(0, true))), (25.0, 90.0));
    }
}
