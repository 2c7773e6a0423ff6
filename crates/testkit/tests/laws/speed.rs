//! User-level balancing: what SPEED and JUGGLE gain on uneven thread counts, what bounds them, and what
//! misleads them.

use std::sync::Arc;

use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::CpuSet;
use sim_core::outcome::RunReport;
use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View};
use sim_core::program::{AppSpec, Op};
use sim_core::time::{Span, Speed, Time};
use sim_core::wait::WaitMode;

use crate::support::{SIXTEEN, Setting, Trial, app, compute, hogs, on_cpu, registry, seconds};

/// Tasks that all compute `total_ms` in this many equal pieces, each followed by a barrier.
fn program(tasks: u32, total_ms: u64, pieces: u32, wait: WaitMode) -> AppSpec {
    let piece = Span::from_us(total_ms * 1_000 / u64::from(pieces));
    app(tasks, vec![Op::Repeat(pieces), compute(piece), Op::Barrier, Op::End], wait)
}

/// Mean of run times over seeds, and the largest over the smallest of them minus one.
fn times(trial: &Trial, policy: &'static str, settings: &[Setting], seeds: u64) -> (f64, f64) {
    let time = |seed| trial.clone().policy(policy, settings).seed(seed).seconds();
    let all: Vec<f64> = (1..=seeds).map(time).collect();
    let (least, most) = all.iter().fold((f64::MAX, 0.0f64), |(l, m), t| (l.min(*t), m.max(*t)));
    (all.iter().sum::<f64>() / all.len() as f64, most / least - 1.0)
}

fn moved(report: &RunReport) -> u64 {
    report.apps[0].counters.migrations
}

/// The most that taking turns can gain over T + 1 threads on a core for ever: (T + 1) M / N - 1.
fn possible(cores: u32, tasks: u32) -> f64 {
    f64::from(tasks.div_ceil(cores)) * f64::from(cores) / f64::from(tasks) - 1.0
}

#[test]
fn threads_that_do_not_divide_the_cores_gain_up_to_the_ceiling_and_never_more() {
    for (cores, tasks) in [(2, 3), (2, 5), (4, 5), (4, 7), (12, 16), (13, 16), (14, 16), (15, 16), (16, 17)] {
        let machine = format!("package:1 core:{cores}");
        let trial = Trial::on(&machine).app(program(tasks, 10_000, 1, WaitMode::Yield));
        let (pin, _) = times(&trial, "PIN", &[], 1);
        let (load, _) = times(&trial, "LOAD", &[], 3);
        let (speed, _) = times(&trial, "SPEED", &[], 3);
        let (juggle, _) = times(&trial, "JUGGLE", &[], 3);
        let ceiling = possible(cores, tasks);
        let gains = [pin / speed - 1.0, pin / juggle - 1.0];
        let label = format!("{tasks} on {cores}: gains {gains:.3?} of {ceiling:.3}; LOAD {load:.2} s");
        assert!(gains.iter().all(|gain| *gain <= ceiling + 0.001), "{label}");
        assert!(gains[0] > 0.4 * ceiling && gains[1] > 0.93 * ceiling, "{label}");
        // Inside one package this kernel's queue lengths make the odd thread go round as well.
        assert!(speed < 1.05 * load && juggle < load, "{label}");
    }
}

#[test]
fn sixteen_threads_on_some_of_sixteen_cpus() {
    // The set-up of the SPEED paper: Tigerton, 2.6.28, the program confined to 12 to 15 cpus. Groups of a
    // pair count as one unit of power for LOAD whatever the mask leaves of them.
    for cpus in 12..=15 {
        let mut code = program(16, 4_000, 1, WaitMode::Yield);
        code.allowed = Some(CpuSet::of((0..cpus).map(CpuId)));
        let trial = Trial::on("tigerton").app(code);
        let [pin, load, speed, juggle] =
            ["PIN", "LOAD", "SPEED", "JUGGLE"].map(|policy| times(&trial, policy, &[], 3).0);
        let label =
            format!("{cpus} cpus: PIN {pin:.2}, LOAD {load:.2}, SPEED {speed:.2}, JUGGLE {juggle:.2}");
        assert!(load / speed > 1.2 && pin / speed > 1.2 && speed / juggle > 1.02, "{label}");
        assert!(juggle > 4.0 * 16.0 / f64::from(cpus), "{label}");
    }
}

#[test]
fn threads_that_divide_the_cores_are_left_alone() {
    for cores in [2, 4, 8, 16] {
        let trial = Trial::on(&format!("package:1 core:{cores}")).app(program(16, 1_000, 5, WaitMode::Yield));
        let (pin, _) = times(&trial, "PIN", &[], 1);
        for policy in ["SPEED", "JUGGLE"] {
            let report = trial.clone().policy(policy, &[]).run();
            let time = seconds(&report, 0);
            assert!((time / pin - 1.0).abs() < 0.003, "{policy} on {cores}: {time} s, pinned {pin} s");
            assert_eq!(moved(&report), 0, "{policy} on {cores}");
        }
    }
}

/// Gain of a policy over PIN for this many equal pieces of 10 s with three threads on two cores.
fn gain(policy: &'static str, pieces: u32) -> f64 {
    let trial = Trial::on("package:1 core:2").app(program(3, 10_000, pieces, WaitMode::Yield));
    times(&trial, "PIN", &[], 1).0 / times(&trial, policy, &[], 4).0 - 1.0
}

#[test]
fn balancing_pays_only_when_barriers_are_far_apart() {
    // (T + 1) S > 2 ceil(SQ / FQ) B: here 2 S > 2 B, S > 100 ms. Possible is a third.
    let (ceiling, under, far) = (possible(2, 3), 400, 10);
    let (speed, juggle) = (gain("SPEED", under), gain("JUGGLE", under));
    assert!(speed.abs() < 0.03 && juggle.abs() < 0.09, "S = 25 ms: {speed:.3}, {juggle:.3}");
    let (speed, juggle) = (gain("SPEED", far), gain("JUGGLE", far));
    assert!(speed > 0.7 * ceiling && juggle > 0.85 * ceiling, "S = 1 s: {speed:.3}, {juggle:.3}");
    // A shorter interval reaches down to shorter distances.
    let trial = Trial::on("package:1 core:2").app(program(3, 10_000, under, WaitMode::Yield));
    let (slow, _) = times(&trial, "JUGGLE", &[], 2);
    let (fast, _) = times(&trial, "JUGGLE", &[("interval", 10_000_000)], 2);
    assert!(slow / fast > 1.05, "rounds every 100 ms {slow} s, every 10 ms {fast} s");
}

/// A program beside a hog on cpu 0.
fn beside_a_hog(machine: &str, tasks: u32) -> Trial {
    let mut hog = hogs(1, 60_000);
    hog.background = true;
    Trial::on(machine).app(program(tasks, 160_000 / u64::from(tasks), 1, WaitMode::Yield)).app(on_cpu(0, hog))
}

#[test]
fn a_hog_on_cpu_0_is_shared_by_all() {
    // The hog takes half of one core of sixteen: 15.5 / 16 are left, while the thread beside it has half a
    // core.
    let [pin, load, speed, juggle] =
        ["PIN", "LOAD", "SPEED", "JUGGLE"].map(|policy| times(&beside_a_hog(SIXTEEN, 16), policy, &[], 4).0);
    let label = format!("PIN {pin:.2}, LOAD {load:.2}, SPEED {speed:.2}, JUGGLE {juggle:.2}");
    assert!((pin / 20.0 - 1.0).abs() < 0.03, "{label}");
    assert!(juggle > 10.0 * 16.0 / 15.5 && juggle < 1.05 * 10.0 * 16.0 / 15.5, "{label}");
    // SPEED leaves the hog's core, which counts as a free one from then on: sixteen threads on fifteen cores.
    assert!(speed > 10.0 * 16.0 / 15.0 && speed < 0.7 * pin && load < 0.7 * pin, "{label}");
    // The published set-up, two threads a core on Tigerton: SPEED is best among PIN, LOAD and SPEED.
    let [pin, load, speed] =
        ["PIN", "LOAD", "SPEED"].map(|policy| times(&beside_a_hog("tigerton", 32), policy, &[], 4).0);
    assert!(speed < 0.95 * load && load < pin, "PIN {pin:.2}, LOAD {load:.2}, SPEED {speed:.2}");
}

#[test]
fn juggling_varies_less_than_queue_lengths_and_is_faster_beside_few_strangers() {
    // Published: a quarter less variation and up to half faster than Linux in multiprogrammed use.
    for (machine, tasks) in [(SIXTEEN, 17), ("barcelona", 18)] {
        let mut trial = Trial::on(machine).app(program(tasks, 4_000, 1, WaitMode::Yield));
        trial.options.start_jitter = trial.model.tick;
        let spread = |policy| times(&trial, policy, &[], 6).1;
        let (load, juggle) = (spread("LOAD"), spread("JUGGLE"));
        assert!(juggle < 0.75 * load, "{tasks} on {machine}: LOAD {load:.3}, JUGGLE {juggle:.3}");
    }
    let trial = Trial::on("tigerton").app(program(16, 3_000, 30, WaitMode::Yield));
    let trial = trial.app(registry("make", &[], "block", 4));
    let [load, juggle] = ["LOAD", "JUGGLE"].map(|policy| times(&trial, policy, &[], 6).0);
    assert!(
        (1.1..1.5).contains(&(load / juggle)),
        "beside make -j 4: LOAD {load:.2} s, JUGGLE {juggle:.2} s"
    );
}

#[test]
fn a_stranger_on_every_core_makes_speed_chase_time_slices() {
    // Slices of this kernel are 30 ms, an interval 100 to 200 ms: by luck a thread gets a third or two thirds
    // of its fair half, and the threshold is 90 %. Short slices, or queue lengths for a measure, and it
    // rests.
    let pulls = |latency: u64, settings: &[Setting]| {
        let kernel = [("latency", latency), ("min_granularity", latency / 5)];
        let mut strangers = hogs(4, 60_000);
        strangers.background = true;
        let trial = Trial::on("package:1 core:4").kernel(&kernel);
        let trial =
            trial.placed((0..4).chain(0..4)).app(program(4, 5_000, 5, WaitMode::Yield)).app(strangers);
        let report = trial.policy("SPEED", settings).run();
        (moved(&report), seconds(&report, 0))
    };
    let (long, time) = pulls(60_000_000, &[]);
    let (short, quiet) = pulls(2_000_000, &[]);
    let (queues, _) = pulls(60_000_000, &[("measure", 1)]);
    let label = format!("pulls {long} in {time:.2} s, short slices {short} in {quiet:.2} s, queues {queues}");
    assert!(long > 30 && short * 5 < long && queues * 5 < long && time > 1.05 * quiet, "{label}");
}

#[test]
fn threads_that_sleep_at_barriers_mislead_speed_until_they_are_skipped() {
    // Work varies by a fifth: who waits asleep looks slow and is pulled to a core that has a thread already.
    let code =
        registry("spmd", &[("work", 20_000_000_000), ("intervals", 20), ("spread", 2_000)], "block", 5);
    let trial = Trial::on("package:1 core:4").app(code);
    let (counted, _) = times(&trial, "SPEED", &[], 6);
    let (skipped, _) = times(&trial, "SPEED", &[("sleepers", 1)], 6);
    assert!(counted / skipped > 1.05, "counted {counted:.2} s, skipped {skipped:.2} s");
}

/// Rank r on cpu r; reads progress and cpu time of both tasks in microseconds at given times.
struct Reader(Vec<[u64; 4]>);

impl Policy for Reader {
    fn init(&mut self, system: &mut dyn System) {
        for ms in [5, 15, 30] {
            system.at(Time::from_ns(ms * 1_000_000), Timer::Token(0));
        }
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuId(view.task(task).rank).into()
    }
    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        let [a, b] = [TaskId(0), TaskId(1)].map(|t| [system.progress(t), system.cpu_time(t)]);
        self.0.push([a[0], a[1], b[0], b[1]].map(|span| span.ns() / 1_000));
    }
}

#[test]
fn progress_is_work_and_cpu_time_is_polling_too() {
    // 10 ms of work on a core of nominal speed, 20 ms on one of half that speed; then they meet.
    let mut code = app(2, vec![compute(Span::from_ms(20)), Op::Barrier], WaitMode::Yield);
    code.rank_scale = vec![500, 1_000];
    let mut trial = Trial::on("package:1 core:2").free().app(code);
    trial.machine.core_speed = vec![Speed::NOMINAL, Speed::ratio(1, 2)];
    let mut reader = Reader(Vec::new());
    let (machine, model) = (Arc::new(trial.machine), Arc::new(trial.model));
    Simulation::new(machine, model, trial.apps, trial.options).unwrap().run(&mut reader, &mut ());
    let wanted =
        [[5_000, 5_000, 2_500, 5_000], [10_000, 15_000, 7_500, 15_000], [10_000, 30_000, 15_000, 30_000]];
    assert_eq!(reader.0.len(), wanted.len());
    for (read, wanted) in reader.0.iter().flatten().zip(wanted.iter().flatten()) {
        assert!(read.abs_diff(*wanted) <= 2, "{:?}", reader.0);
    }
}
