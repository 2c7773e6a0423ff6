//! Measured runs, and a run beside itself.

use scenario::Overrides;

use super::*;
use crate::samples::team_of_sleepers;
use crate::stream::US;

const TINY: &str = "\
name: tiny
machine: 'core:2'
start_jitter: 0s
apps:
  a: { workload: { spmd: { work: 40ms, intervals: 10 } }, runtime: block, tasks: 2 }
  b: { workload: { hog: { work: 5ms } }, tasks: 1 }
policies: [LOAD]
";

#[test]
fn sums_are_those_of_the_stints() {
    let (followed, _) = team_of_sleepers().follow();
    let one = followed.gather.sum(&[Id(3)]);
    // 1.3 ms and 9 us in each region, and 1 us before.
    assert_eq!((one.threads, one.cpu, one.runs.len()), (1, (10 * 1_309 + 1) * US, 11));
    assert_eq!((one.queued, one.migrations), (11 * US, 0));
    assert_eq!(one.latencies, vec![US; 10]);
    let ids: Vec<Id> = followed.follower.threads.iter().map(|(id, _)| id).collect();
    let all = followed.gather.sum(&ids);
    assert_eq!((all.threads, all.lasted), (4, 19_230 * US));
    assert_eq!(Measured::quantile(&[1, 2, 3], 0.5), Some(2));
    assert_eq!((Measured::quantile(&[], 0.5), Measured::quantile(&[7], 1.0)), (None, Some(7)));
}

#[test]
fn a_run_beside_itself_is_equal() {
    let experiment = scenario::load("tiny", TINY, &Overrides::default()).unwrap();
    let plan = experiment.runs.iter().find(|run| run.alone.is_none()).unwrap();
    let (one, names) = simulate(plan).unwrap();
    let count = |app: &str| names.values().filter(|name| *name == app).count();
    assert_eq!((count("a"), count("b")), (2, 1));
    let ours: BTreeSet<Id> = names.iter().filter(|(_, name)| *name == "a").map(|(id, _)| *id).collect();
    let kinds = ours.iter().map(|id| (*id, "a".to_owned())).collect();
    let compared = compare(&one, &ours, &kinds, (&one, &names), "a");
    assert_eq!(compared.recorded.cpu, compared.replayed.cpu);
    let [error, cpu] = [compared.error(), compared.cpu_error()].map(Option::unwrap);
    assert!(error.abs() < 0.01 && cpu.abs() < 1e-9, "{compared:?}");
    assert_eq!(compared.each.len(), 1);
}

#[test]
fn a_recording_of_nothing_has_no_error() {
    assert_eq!((share(46, 0), share(3, 2)), (None, Some(0.5)));
    let lasts = |lasted, cpu| Measured { lasted, cpu, ..Measured::default() };
    let beside = |recorded| Compared { recorded, replayed: lasts(46_600, 9_000), each: Vec::new() };
    let short = beside(lasts(0, 0));
    assert_eq!((short.error(), short.cpu_error()), (None, None));
    assert_eq!(
        crate::make::sentence(&short),
        "the replay takes 46us for what took 0ns in the recording, and 9us of cpu time for 0ns; a recording \
         of less than 100us is too short to state an error"
    );
    // At 1 us a step, an error of 1 % is the least that can be told.
    assert_eq!(beside(lasts(SHORTEST - 1, 1)).error(), None);
    let long = beside(lasts(SHORTEST, 0));
    assert!(long.error().is_some() && long.cpu_error().is_none());
    assert!(crate::make::sentence(&long).ends_with("(-53.4 %), and 9us of cpu time for 0ns"));
}

#[test]
fn a_recording_of_days_is_refused() {
    let text = "\
        a 1/1 [000] 1.000000000: sched:sched_waking: comm=b pid=2 prio=120 target_cpu=000\n\
        a 1/1 [000] 900000.000000000: sched:sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S \
        ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
    let mut from = text.as_bytes();
    let input = Input { name: "long.txt", from: &mut from, after: None, before: None };
    let refused = follow(input.name, |sink| read(input, &mut |_| {}, sink)).unwrap_err();
    assert!(
        matches!(&refused, Refused::Sentence(text) if text.contains("249 hours, and at most 27")),
        "{refused:?}"
    );
}
