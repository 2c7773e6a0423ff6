//! What unmodified kernels give programs side by side (cases/vm-kernels.csv), beside the rows of rules that
//! stand for them.

use std::collections::BTreeMap;

use experiment::result::Results;
use experiment::run::run;
use scenario::{Overrides, load};

/// A row of vm-kernels.csv: a metric of a case on a release.
#[derive(Debug)]
struct Row<'a> {
    release: &'a str,
    kernel: &'a str,
    /// The machine and the name of the case.
    case: (&'a str, &'a str),
    /// `share`, `cpu`, `switches` or `wait` of an application, `last` of all.
    metric: &'a str,
    median: f64,
    least: f64,
    most: f64,
    /// How near the model has to be, %.
    within: f64,
    /// Why the model is farther off than that, where it is.
    miss: &'a str,
}

/// What is how near by nature, where the cause of a difference is not known to be a rule.
const USUAL: [(&str, f64); 5] =
    [("share", 5.0), ("cpu", 5.0), ("last", 10.0), ("switches", 25.0), ("wait", 25.0)];

/// Shorter waits than this are costs, which an emulated machine has of its own, ms.
const SHORT_WAIT: f64 = 0.25;

/// Fewer switches a second than this are those of the kernel's own threads.
const FEW: f64 = 5.0;

fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split('|').collect())
}

fn rows() -> Vec<Row<'static>> {
    let rows = lines(include_str!("cases/vm-kernels.csv")).map(|at| {
        let number = |i: usize| at[i].parse::<f64>().unwrap();
        Row {
            release: at[0],
            kernel: at[1],
            case: (at[2], at[3]),
            metric: at[4],
            median: number(5),
            least: number(6),
            most: number(7),
            within: number(8),
            miss: at[9],
        }
    });
    rows.collect()
}

/// The results of a case under a kernel, five seeds. The programs start in their order, as those of cases.c
/// do.
fn simulated(kernel: &str, machine: &str, [how, apps, groups]: [&str; 3]) -> Results {
    let window = if how.is_empty() { String::new() } else { format!("{how}\nwarm_up: 500ms\n") };
    // Hardware threads are full cpus there.
    let full = "smt_compute: 1, smt_memory: 1, smt_poll: 1";
    let text = format!(
        "name: t\nmachine: {{ \"{machine}\": {{ {full} }} }}\nkernel: {{ {kernel} }}\nbaseline: \
         none\nrepeat: 5\nstart_jitter: 0s\nlatencies: true\n{window}policies: [LOAD]\napps: {{ {apps} \
         }}\ncgroups: {{ {groups} }}\n"
    );
    let experiment = load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{text}{said}"));
    run(&experiment, 1, &|_, _| {}).unwrap()
}

/// A metric of an application, the sum of its kinds if it has several (`a-KIND`).
fn of(results: &Results, app: &str, metric: &str) -> f64 {
    let is = |name: &str| name == app || name.strip_prefix(app).is_some_and(|rest| rest.starts_with('-'));
    let cells = results.cells.iter().filter(|cell| cell.metric == metric && cell.policy == "LOAD");
    let cells = cells.filter(|cell| is(&cell.app));
    cells.map(|cell| cell.summary.median).sum()
}

/// The simulated value of a row, in its unit.
fn value(row: &Row<'_>, results: &Results, how: &str) -> f64 {
    let seconds = || how.trim_start_matches("window: ").trim_end_matches("ms").parse::<f64>().unwrap() / 1e3;
    let (what, whose) = row.metric.split_once(' ').unwrap_or((row.metric, ""));
    let names = ["a", "b", "c", "d", "e", "f"];
    let all = || names.map(|app| of(results, app, "cpu_share")).iter().sum::<f64>();
    match what {
        "last" => of(results, "all", "makespan"),
        "share" => of(results, whose, "cpu_share") / all(),
        "switches" => of(results, whose, "context_switches") / seconds(),
        "wait" => 1e3 * of(results, whose, "wakeup_latency_p90"),
        "cpu" => of(results, whose, "work_rate"),
        _ => panic!("{row:?}: no such metric"),
    }
}

/// How far the model is off the runs of the kernel, %; 0 where it lies between them.
fn distance(row: &Row<'_>, found: f64) -> f64 {
    let margin = match row.metric.split_once(' ') {
        Some(("wait", _)) => SHORT_WAIT,
        Some(("switches", _)) => FEW,
        _ => 0.0,
    };
    let between = (row.least - margin..=row.most + margin).contains(&found);
    if between { 0.0 } else { 100.0 * (found / row.median - 1.0) }
}

#[test]
fn programs_share_cpus_as_on_kernels_that_people_run() {
    let cases: BTreeMap<(&str, &str), [&str; 3]> =
        lines(include_str!("cases/vm-cases.csv")).map(|at| ((at[0], at[1]), [at[2], at[3], at[4]])).collect();
    let mut done = BTreeMap::new();
    let mut far = Vec::new();
    for row in rows() {
        let case = cases[&row.case];
        let key = (row.kernel, row.case);
        let results = done.entry(key).or_insert_with(|| simulated(row.kernel, row.case.0, case));
        let found = value(&row, results, case[0]);
        let off = distance(&row, found);
        let (release, (machine, name), metric) = (row.release, row.case, row.metric);
        let (median, least, most) = (row.median, row.least, row.most);
        let line = format!(
            "{release}, {machine}, {name}: {metric} {found:.4} for {median} ({least} to {most}), {off:+.1} %"
        );
        println!("{line} {}", row.miss);
        let usual = USUAL.iter().find(|(metric, _)| row.metric.starts_with(metric)).unwrap().1;
        if off.abs() > row.within || (row.miss.is_empty() && row.within > usual) {
            far.push(line);
        } else if !row.miss.is_empty() && off.abs() <= usual {
            far.push(format!("{line}: no longer a miss"));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}
