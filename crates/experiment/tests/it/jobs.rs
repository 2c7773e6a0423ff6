//! Copies, arrivals, chains and admission: from the scenario's text to what is measured.

use experiment::result::Results;
use scenario::plan::{Experiment, RunPlan};
use scenario::{Overrides, load};
use sim_core::admission::Admission;
use sim_core::ids::AppId;

fn resolved(text: &str, set: &[&str]) -> Experiment {
    let set = set.iter().map(|pair| (*pair).to_owned()).collect();
    load("test.yaml", text, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|said| panic!("{said}"))
}

const STREAM: &str = "\
name: stream
machine: 'core:4'
apps:
  cg: { workload: { hog: { work: 40ms } }, tasks: 2, copies: 400, arrival: { mean: 100ms }, start: 1s }
  ft: { workload: { hog: { work: 30ms } }, tasks: 4, copies: 3, arrival: queue, start: 2s }
  ep: { workload: { hog: { work: 20ms } }, tasks: 1, after: ft, start: 3s }
policies: [LOAD, PIN]
repeat: 2
";

fn starts(run: &RunPlan, entry: usize) -> Vec<u64> {
    let of = run.entries.iter().zip(&run.apps).filter(|(at, _)| **at == entry);
    of.map(|(_, app)| app.start.ns()).collect()
}

#[test]
fn copies_are_written_out() {
    let experiment = resolved(STREAM, &[]);
    assert_eq!(experiment.apps, ["cg", "ft", "ep"], "results are by application, not by copy");
    let run = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
    let names: Vec<&str> = run.apps.iter().map(|app| app.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[399]), (404, "cg-1", "cg-400"));
    assert_eq!(names[400..], ["ft-1", "ft-2", "ft-3", "ep"]);
    let after: Vec<Option<AppId>> = run.apps[399..].iter().map(|app| app.after).collect();
    assert_eq!(after, [None, None, Some(AppId(400)), Some(AppId(401)), Some(AppId(402))]);
    assert_eq!((starts(run, 1), starts(run, 2)), (vec![2_000_000_000, 0, 0], vec![3_000_000_000]));
    assert_eq!(run.options.admission, Admission::UNLIMITED);
    let baselines: Vec<_> = experiment.runs.iter().filter(|run| run.alone.is_some()).collect();
    assert_eq!(baselines.len(), 3 * 2, "one copy of each runs alone");
    assert!(baselines.iter().all(|run| run.apps.len() == 1 && run.apps[0].after.is_none()));
}

#[test]
fn exponential_arrivals_have_the_mean_and_belong_to_the_seed() {
    let experiment = resolved(STREAM, &[]);
    let shared: Vec<_> = experiment.runs.iter().filter(|run| run.alone.is_none()).collect();
    let [load, load_again, pin, pin_again] = shared[..] else { panic!() };
    let times = starts(load, 0);
    assert_eq!(times[0], 1_000_000_000, "the first copy comes at `start`");
    let mean = (times[399] - times[0]) as f64 / 399.0 / 1e6;
    assert!((mean / 100.0 - 1.0).abs() < 0.15, "{mean} ms: 400 intervals vary by 5 %");
    // In an exponential distribution 1 - 1/e of the intervals are shorter than the mean.
    let short = times.windows(2).filter(|pair| pair[1] - pair[0] < 100_000_000).count() as f64 / 399.0;
    assert!((short - 0.632).abs() < 0.08, "{short}");
    assert_eq!((starts(pin, 0), starts(pin_again, 0)), (times.clone(), starts(load_again, 0)));
    assert_ne!(starts(load_again, 0), times, "another seed, other arrivals");
    // Neither more copies nor other applications shift them.
    let more = resolved(STREAM, &["apps.cg.copies=500", "apps.ft.copies=9"]);
    let run = more.runs.iter().find(|run| run.alone.is_none()).unwrap();
    assert_eq!(starts(run, 0)[..400], times);
    let every = resolved(STREAM, &["apps.cg.arrival={ every: 7ms }"]);
    let run = every.runs.iter().find(|run| run.alone.is_none()).unwrap();
    assert_eq!(starts(run, 0)[399], 1_000_000_000 + 399 * 7_000_000);
}

fn mean(results: &Results, app: &str, metric: &str) -> f64 {
    results.get("", "PIN", app, metric).unwrap_or_else(|| panic!("{app} has no {metric}")).mean
}

#[test]
fn results_are_means_over_the_copies() {
    // Four jobs of 40 ms on all of two cores, all there at 0: the i-th waits for i others.
    let text = "\
name: line
machine: { 'core:2': { tick: 0ns, fork: 0ns, switch_thread: 0ns, switch_process: 0ns, idle_exit: 0ns, ipi: \
0ns } }
apps:
  job: { workload: { hog: { work: 40ms } }, copies: 4 }
admission: { jobs: 1 }
start_jitter: 0s
policies: [PIN]
";
    let measured = |set: &[&str]| experiment::run::run(&resolved(text, set), 1, &|_, _| {}).unwrap();
    let near = |results: &Results, app, metric, want: f64| {
        let got = mean(results, app, metric);
        assert!((got - want).abs() < 1e-4, "{metric}: {got}, not {want}");
    };
    let line = measured(&[]);
    assert!(line.all_completed());
    for (metric, want) in [("run_time", 0.04), ("queue_time", 0.06), ("turnaround", 0.1), ("slowdown", 1.0)] {
        near(&line, "job", metric, want);
    }
    near(&line, "all", "makespan", 0.16);
    near(&line, "all", "throughput", 1.0);
    // Two at a time: each takes nearly twice as long (one of two is a slice of 20 ms ahead), nobody gets more
    // done.
    let pairs = measured(&["admission.jobs=2"]);
    let (run, queue) = (mean(&pairs, "job", "run_time"), mean(&pairs, "job", "queue_time"));
    assert!((0.065..=0.08).contains(&run) && (0.03..=0.04).contains(&queue), "{run} s, {queue} s queued");
    near(&pairs, "job", "turnaround", run + queue);
    near(&pairs, "all", "makespan", 0.16);
    // Four slots: room for two jobs of two tasks.
    let slots = measured(&["admission={ threads: 4 }"]);
    near(&slots, "job", "queue_time", queue);
    // A job that comes every 50 ms never waits.
    let apart = measured(&["apps.job.arrival={ every: 50ms }"]);
    near(&apart, "job", "queue_time", 0.0);
    near(&apart, "all", "makespan", 0.19);
    let back_to_back = measured(&["apps.job.arrival=queue", "admission.jobs=4"]);
    near(&back_to_back, "job", "turnaround", 0.04);
    near(&back_to_back, "all", "makespan", 0.16);
}

#[test]
fn copies_and_limits_can_be_swept() {
    let text = format!(
        "{STREAM}sweep: {{ apps.ft.copies: [1, 2], admission: [{{ jobs: 1 }}, {{ threads: 8 }}] }}\n"
    );
    let experiment = resolved(&text, &["apps.cg.copies=1", "apps.cg.arrival={ every: 1s }"]);
    let labels: Vec<&str> =
        experiment.configurations.iter().map(|configuration| configuration.label.as_str()).collect();
    assert_eq!(labels[0], "apps.ft.copies=1, admission={jobs: 1}");
    assert_eq!(labels[3], "apps.ft.copies=2, admission={threads: 8}");
    let last = experiment.runs.last().unwrap();
    assert_eq!((last.apps.len(), last.options.admission.tasks), (4, 8));
}
