//! A measure in the runs of a cell.

use super::quantity::{Measure, Measured, What};
use super::sample::{AppSample, RunSample};
use super::setting::Setting;

/// Seconds that SPEC OMP programs fill their arrays before the measured regions: 100 ms of the nominal core
/// on one 1.2 times as fast.
const INIT: f64 = 0.1 / 1.2;
/// Barriers of that.
const INIT_BARRIERS: f64 = 5.0;
/// Seconds of work of one of twelve threads in a region.
const REGION: f64 = 0.02;

/// Its value in a run; `None` where the run has none.
pub(super) fn value(measure: &Measure, run: &RunSample) -> Option<f64> {
    let apps: Vec<&AppSample> = copies(run, &measure.app).collect();
    match &measure.what {
        Measured::What(What::Balance) => {
            let most = run.user.iter().copied().fold(0.0, f64::max);
            Some(run.user.iter().copied().fold(most, f64::min) / most)
        }
        Measured::What(What::Makespan) => Some(run.makespan),
        Measured::What(What::SlowestJobTime) => {
            let jobs = run.apps.iter().filter(|app| app.barriers > 0.0);
            Some(jobs.map(|app| job_time(measure, app)).fold(0.0, f64::max))
        }
        Measured::What(What::CpuShare) => {
            let cpu = |apps: &mut dyn Iterator<Item = &AppSample>| -> f64 {
                apps.flat_map(|app| &app.task_cpu).sum()
            };
            let all = cpu(&mut run.apps.iter());
            (!apps.is_empty() && all > 0.0).then(|| cpu(&mut apps.iter().copied()) / all)
        }
        Measured::What(What::CpuPerTime) => {
            mean(apps.iter().map(|app| Some(app.task_cpu.iter().sum::<f64>()))).map(|x| x / run.makespan)
        }
        Measured::What(What::Home) => of_tasks(measure, run, &apps, |app| &app.home),
        Measured::What(What::Moved) => of_tasks(measure, run, &apps, |app| &app.moved),
        Measured::What(what) => mean(apps.iter().map(|app| of_app(*what, measure, app))),
        Measured::Metric(metric) => mean(apps.iter().map(|app| app.metrics.get(metric).copied())),
    }
}

/// A measure of one application.
fn of_app(what: What, measure: &Measure, app: &AppSample) -> Option<f64> {
    let cpu = || app.task_cpu.iter().sum::<f64>();
    Some(match what {
        What::Timed => app.timed,
        What::RunTime => app.run_time,
        What::WholeTime => return whole(measure, app),
        What::JobTime => job_time(measure, app),
        What::JobCpuTime => cpu() / app.barriers.max(1.0) * measure.barriers,
        What::CpuPerBarrier => cpu() / app.barriers.max(1.0),
        What::BytesPerWork => app.bytes_per_work,
        What::Waiting => {
            let threads = app.task_cpu.len().max(1) as f64;
            100.0 * (1.0 - cpu() / threads / app.run_time.max(1e-9))
        }
        _ => return None,
    })
}

/// Run time of the whole job, of which only the first part may have been simulated.
fn job_time(measure: &Measure, app: &AppSample) -> f64 {
    app.run_time * measure.barriers / app.barriers.max(1.0)
}

/// The run time of a whole SPEC OMP program from that of its first regions.
fn whole(measure: &Measure, app: &AppSample) -> Option<f64> {
    let path = format!("apps.{}.workload.program", measure.app);
    let program = measure.cell.settings().get(&path).and_then(Setting::name)?;
    let profile = workloads::spec_omp::profile(program).ok()?;
    let serial = profile.serial_share > 0 || profile.per_task.ns() > 0;
    let regions = (profile.serial.ns() as f64 / 1e9 / 12.0 / REGION).floor();
    let barriers = regions * if serial { 2.0 } else { 1.0 };
    // The start-up barrier is not counted.
    let simulated = app.barriers - INIT_BARRIERS;
    Some(INIT + (app.timed - INIT) * barriers / simulated)
}

/// The mean over tasks: all of the application's copies or one of each, and those beside.
fn of_tasks(
    measure: &Measure,
    run: &RunSample,
    apps: &[&AppSample],
    what: impl Fn(&AppSample) -> &Vec<f64>,
) -> Option<f64> {
    let tasks = apps.iter().flat_map(|app| what(app).iter().enumerate());
    let own =
        tasks.filter(|(at, _)| measure.task.is_none_or(|task| task == *at)).map(|(_, rate)| Some(*rate));
    let beside = measure.beside.iter().flat_map(|app| copies(run, app));
    mean(own.chain(beside.flat_map(|app| what(app).iter().map(|rate| Some(*rate)))))
}

/// The copies of an application in a run: `name`, `name-1`, `name-2`.
fn copies<'a>(run: &'a RunSample, name: &'a str) -> impl Iterator<Item = &'a AppSample> {
    run.apps.iter().filter(move |app| {
        let rest = app.name.strip_prefix(name);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())
        })
    })
}

/// The mean of values that are all there, and any.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Cell;

    fn measure(what: What, app: &str) -> Measure {
        let cell = Cell::new("swomps_binding", "PIN").set("apps.a.workload.program", "swim");
        Measure {
            what: Measured::What(what),
            cell,
            app: app.into(),
            barriers: 10.0,
            task: None,
            beside: None,
        }
    }

    fn app(name: &str, home: &[f64]) -> AppSample {
        AppSample { name: name.into(), run_time: 2.0, home: home.to_vec(), ..AppSample::default() }
    }

    #[test]
    fn copies_are_told_from_others() {
        let apps = ["job-1", "job-12", "jobless", "seq"].map(|name| app(name, &[])).into();
        let run = RunSample { apps, ..RunSample::default() };
        assert_eq!(copies(&run, "job").count(), 2);
        assert_eq!(value(&measure(What::RunTime, "job"), &run), Some(2.0));
        assert_eq!(value(&measure(What::RunTime, "no"), &run), None);
    }

    #[test]
    fn rates_are_means_over_tasks() {
        let apps =
            vec![app("job-1", &[100.0, 50.0]), app("job-2", &[90.0, 0.0]), app("sequential-1", &[80.0])];
        let run = RunSample { apps, ..RunSample::default() };
        let of = |app: &str, task, beside: Option<&str>| {
            let beside = beside.map(str::to_owned);
            value(&Measure { task, beside, ..measure(What::Home, app) }, &run)
        };
        assert_eq!((of("sequential", None, None), of("job", None, None)), (Some(80.0), Some(60.0)));
        assert_eq!(of("job", Some(1), None), Some(25.0));
        assert_eq!(of("job", Some(0), Some("sequential")), Some(90.0));
    }

    #[test]
    fn shortened_programs_are_extrapolated_by_their_regions() {
        let profile = workloads::spec_omp::profile("swim").unwrap();
        let regions = (profile.serial.ns() / 12 / 20_000_000) as f64;
        // A tenth of the run, two barriers a region.
        let app =
            AppSample { barriers: 2.0 * regions / 10.0 + 5.0, timed: 40.0 + INIT, ..AppSample::default() };
        assert!((whole(&measure(What::WholeTime, "a"), &app).unwrap() - 400.0 - INIT).abs() < 1e-6);
    }
}
