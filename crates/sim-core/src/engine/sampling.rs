//! Sampled runs: the passes of the programs' loops are simulated until their mean length is known, and most
//! of the remaining ones are extrapolated ([`crate::outcome::Options::sampled`]).
//!
//! A *phase* is a time in which the same tasks run in the same loops. Within it, the engine notes when each
//! application begins another pass of its outermost loop. Batch means (Conway, Management Science 10, 1963;
//! Schmeiser, Operations Research 30, 1982) give the confidence interval of the mean length. The warm-up is
//! the shortest beginning of the phase without which all intervals are narrow enough. The engine then takes
//! the same span of passes from what is left of all programs, at most to the end of the first one, and adds
//! what they would have taken, in proportion, to the clock of the run, the cpu-time breakdowns and the
//! counters. It simulates the rest, and with it the change to the next phase.

use crate::account::{Account, Category};
use crate::engine::Engine;
use crate::engine::segments::polls_as;
use crate::engine::shared::Shared;
use crate::engine::state::{Activity, App, Cpu, Stage, Task};
use crate::ids::{AppId, CpuId, IdVec, TaskId};
use crate::outcome::Counters;
use crate::program::Op;
use crate::time::{Span, Time, WORK_FRACTION_BITS};

/// Largest half-width of the confidence interval of a mean length, relative to it.
const PRECISION: f64 = 0.01;
/// At least one pass in this number of passes of a loop is simulated.
const LEAST: u64 = 5;
/// The fewest passes, or batches of passes, in a sample.
const FEWEST: usize = 3;
/// The most batches in a sample (Schmeiser, Operations Research 30, 1982: more than 30 gain nothing; few are
/// long, and long ones are nearly independent).
const BATCHES: usize = 10;
/// Passes that remain of each loop: the present one.
const REMAINDER: u32 = 1;
/// The shortest sample. Balancers of kernels act at intervals of up to about a second, and the placement that
/// they leave lasts for some of them: in samples of 1 s, batches were not independent (docs/performance.md).
const SHORTEST: Span = Span::from_ms(2_000);
/// A sample is at least this number of times as long as the longest timer of the policy.
const PERIODS: u64 = 5;
/// Largest part of an extrapolated span that whole passes of a program may lack or exceed.
const ROUNDING: f64 = 0.002;
/// Spans tried for that.
const TRIALS: u32 = 64;
/// The most instants that are kept as possible ends of the warm-up.
const MARKS: usize = 8;
/// Two-sided 95 % quantiles of Student's t distribution for 2 to 9 degrees of freedom.
const STUDENT: [f64; BATCHES - FEWEST + 1] = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// What the tasks of an application do in a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    /// All its tasks run in the loop that begins here.
    Loop(u32),
    /// All its tasks run in an endless loop.
    Endless,
    /// Its last task has ended.
    Ended,
    /// Anything else.
    Changing,
}

/// What a run has measured up to an instant.
#[derive(Clone, Default, Debug)]
pub(super) struct Measured {
    pub(super) cpus: Vec<Account>,
    pub(super) apps: Vec<Counters>,
    pub(super) tasks: Vec<Span>,
}

/// A possible end of the warm-up.
struct Mark {
    at: Time,
    /// Passes begun by each application up to here.
    passes: Vec<usize>,
    state: Measured,
}

/// How far an application is in the loop that it is in, over all phases.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The application's count of passes where the loop began.
    before: u64,
    /// Passes that were extrapolated.
    taken: u64,
}

/// The state of sampling.
#[derive(Default)]
pub(super) struct Sampling {
    /// What the applications do in the present phase.
    phase: Vec<Doing>,
    /// Of each application.
    progress: Vec<Progress>,
    /// When rank 0 of each application began a pass, in the present phase.
    begun: Vec<Vec<Time>>,
    /// The pass counts of the applications at the last instant that was checked.
    seen: Vec<u64>,
    marks: Vec<Mark>,
    /// The number of passes of the slowest application at which the sample is checked next.
    next: usize,
    /// Nothing more can be taken from this phase.
    over: bool,
    /// The longest span for which the policy has armed a timer.
    longest_timer: Span,
    /// What has been added to the run.
    pub(super) added: Measured,
    /// Half-width of the 95 % interval of the time that has been added.
    pub(super) error: Span,
}

/// The mean length of a pass.
#[derive(Clone, Copy, Debug)]
struct Length {
    mean: f64,
    /// Half-width of its 95 % confidence interval.
    half: f64,
}

impl Length {
    /// From the instants at which passes began, by batch means; none from too few. What does not fill a batch
    /// is left out at the beginning.
    fn of(begun: &[Time]) -> Option<Self> {
        let passes = begun.len().checked_sub(1)?;
        let batches = passes.min(BATCHES);
        if batches < FEWEST {
            return None;
        }
        let size = passes / batches;
        let begun = &begun[passes - batches * size..];
        let length = |batch: usize| {
            let span = begun[(batch + 1) * size].since(begun[batch * size]);
            span.ns() as f64 / size as f64
        };
        let count = batches as f64;
        let mean = (0..batches).map(length).sum::<f64>() / count;
        let squares: f64 = (0..batches).map(|batch| (length(batch) - mean) * (length(batch) - mean)).sum();
        let deviation = (squares / (count - 1.0) / count).sqrt();
        Some(Self { mean, half: STUDENT[batches - FEWEST] * deviation })
    }

    fn is_known(&self) -> bool {
        self.half <= PRECISION * self.mean
    }
}

/// Half-width of the 95 % interval of what the passes of a span would have taken, from the relative
/// half-width of the mean length that was found in a window: a prediction interval. The mean of those passes
/// varies, too, and its variance is to that of the window's mean as the window is to the span.
fn half_of_rest(relative: f64, window: f64, span: f64) -> f64 {
    relative * span * (1.0 + window / span).sqrt()
}

impl Engine<'_> {
    /// The end of an instant of a sampled run.
    #[cold]
    pub(super) fn sample(&mut self) {
        let passes = self.shared.apps.iter().map(|app| app.passes);
        if self.sampling.seen.iter().copied().eq(passes) {
            return;
        }
        let phase: Vec<Doing> = self
            .shared
            .apps
            .iter()
            .map(|app| doing(app, &self.shared.tasks, self.shared.elapsed()))
            .collect();
        if phase != self.sampling.phase {
            let passes = self.shared.apps.iter().map(|app| app.passes).collect();
            self.sampling.begin_phase(phase, self.shared.now, passes);
            return;
        }
        for (at, app) in self.shared.apps.iter().enumerate() {
            if std::mem::replace(&mut self.sampling.seen[at], app.passes) != app.passes {
                self.sampling.begun[at].push(self.shared.now);
            }
        }
        let slowest = self.sampling.looping().map(|at| self.sampling.begun[at].len()).min().unwrap_or(0);
        if self.sampling.over || slowest < self.sampling.next {
            return;
        }
        self.sampling.next = slowest + (slowest / 8).max(1);
        let state = self.measured();
        self.extrapolate(&state);
        self.sampling.keep(self.shared.now, state);
    }

    /// Takes passes from all programs if the lengths of their passes are known.
    fn extrapolate(&mut self, state: &Measured) {
        let left: Vec<u32> =
            self.shared.apps.iter().map(|app| passes_left(app, &self.shared.tasks)).collect();
        let Some((mark, lengths)) = self.sampling.known(self.shared.now) else { return };
        let mean = |at: &usize| lengths[*at].map_or(0.0, |length| length.mean);
        let room = |at: usize| f64::from(left[at].saturating_sub(REMAINDER)) * mean(&at);
        let most = self.sampling.looping().map(room).fold(f64::INFINITY, f64::min);
        // Less is not taken early: nothing more is taken from this phase.
        let enough = |at: usize| {
            let Progress { before, taken } = self.sampling.progress[at];
            let simulated = self.shared.apps[AppId(at as u32)].passes - before;
            (simulated * (LEAST - 1)) as f64 >= taken as f64 + most / mean(&at)
        };
        if !self.sampling.looping().all(enough) {
            return;
        }
        let Some(longest) = self.sampling.looping().max_by(|a, b| mean(a).total_cmp(&mean(b))) else {
            return;
        };
        // Whole passes of the program with the longest ones, if they are nearly whole passes of the others.
        let taken = |span: f64, at: usize| (span / mean(&at)).round().min(f64::from(left[at] - REMAINDER));
        let rounding = |span: f64| {
            let of = |at: usize| (span - taken(span, at) * mean(&at)).abs();
            self.sampling.looping().map(of).fold(0.0, f64::max)
        };
        let whole = (most / mean(&longest)).floor();
        let spans = (0..TRIALS).map(|fewer| (whole - f64::from(fewer)).max(0.0) * mean(&longest));
        let window = self.shared.now.since(mark.at);
        let fits = |span: &f64| *span >= window.ns() as f64 && rounding(*span) <= ROUNDING * span;
        let Some(span) = spans.into_iter().find(fits) else { return };
        let (length, rounding) = (Span::from_ns(span as u64), rounding(span));
        let horizon = &mut self.shared.options.horizon;
        if self.shared.now.saturating_add(length) >= *horizon {
            return;
        }
        // On the clock of the engine, which the span is not part of, the run ends earlier.
        *horizon = horizon.saturating_sub(length);
        let relative = |length: &Option<Length>| length.map_or(0.0, |length| length.half / length.mean);
        let known = lengths.iter().map(relative).fold(0.0, f64::max);
        let error = half_of_rest(known, window.ns() as f64, span) + rounding;
        let mut added = state.grown(&mark.state, window, length, |cpu| {
            present(&self.cpus[CpuId(cpu as u32)], &self.shared.tasks)
        });
        let taken: Vec<(usize, u32)> =
            self.sampling.looping().map(|at| (at, taken(span, at) as u32)).collect();
        for (at, passes) in taken {
            self.sampling.progress[at].taken += u64::from(passes);
            let app = &self.shared.apps[AppId(at as u32)];
            for rank in 0..app.tasks {
                self.shared.tasks[app.task(rank)].skip_passes(&app.program, passes);
            }
            // The work of a pass is known: what the window had of it depends on where it begins and ends.
            let bandwidth = self.shared.machine.memory.core_bandwidth;
            let work = u64::from(passes) * work_of_pass(app, self.shared.tasks[app.first].pc, bandwidth);
            (added.apps[at].work_asked_ns, added.apps[at].work_done_ns) = (work, work);
        }
        self.sampling.added.add(added);
        self.sampling.error += Span::from_ns(error as u64);
        self.sampling.over = true;
        self.shared.extrapolated += length;
    }

    /// What the run has measured up to now. The open segments of computing and idle cpus are closed, and
    /// those of others are left.
    fn measured(&mut self) -> Measured {
        for cpu in 0..self.cpus.len() as u32 {
            let cpu = CpuId(cpu);
            self.settle(cpu);
            match self.cpus[cpu].activity {
                Activity::Compute => {
                    let Shared { segments, tasks, apps, sources, now, .. } = &mut self.shared;
                    segments.charge_so_far(&mut self.cpus[cpu], (tasks, apps), sources, *now);
                }
                Activity::Idle => self.shared.close_segment(&mut self.cpus[cpu]),
                Activity::Poll | Activity::Spin | Activity::Syscall => {}
            }
        }
        Measured {
            cpus: self.cpus.iter().map(|cpu| cpu.account).collect(),
            apps: self.shared.counters(),
            tasks: self.shared.tasks.iter().map(|task| task.cpu_time).collect(),
        }
    }
}

/// What the tasks of an application do at an instant on the clock of the run.
fn doing(app: &App, tasks: &IdVec<TaskId, Task>, now: Time) -> Doing {
    if app.end.is_some() {
        return Doing::Ended;
    }
    let rebinds = app.rebinds.iter().any(|(after, _)| app.begun.saturating_add(*after) > now);
    // While programs are still to come, a small error could change the order in which they run.
    if !app.started || app.forked < app.tasks || app.exited > 0 || rebinds {
        return Doing::Changing;
    }
    let outermost = |rank: u32| {
        let task = &tasks[app.task(rank)];
        (task.stage == Stage::Program).then(|| app.program.outermost(task.pc.into())).flatten()
    };
    let Some(start) = outermost(0).filter(|first| (1..app.tasks).all(|r| outermost(r) == Some(*first)))
    else {
        return Doing::Changing;
    };
    match app.program.ops()[start as usize] {
        Op::Repeat(0) => Doing::Endless,
        Op::Repeat(_) if app.program.synchronises() => Doing::Loop(start),
        _ => Doing::Changing,
    }
}

/// Mean work of all tasks of an application in one pass of the loop that they are in, in nanoseconds at
/// nominal speed. `pc`: where its first task is; a core draws `bandwidth` bytes per second.
fn work_of_pass(app: &App, pc: u16, bandwidth: u64) -> u64 {
    let Some(start) = app.program.outermost(pc.into()) else { return 0 };
    let bandwidth = bandwidth.max(1);
    let tasks = u128::from(app.tasks);
    // What all tasks compute, what rank 0 alone computes, what all transfer; how often all tasks together
    // do the present operation.
    let [mut each, mut first, mut transferred, mut times] = [0, 0, 0, tasks];
    let mut around: Vec<u128> = Vec::new();
    for op in &app.program.ops()[start as usize + 1..app.program.partner(start) as usize] {
        match op {
            Op::Compute { work, spread, .. } => {
                each += times * u128::from(app.program.mean(work.raw(), *spread));
            }
            Op::Serial { work, spread, .. } => {
                first += times * u128::from(app.program.mean(work.raw(), *spread)) / tasks;
            }
            Op::Transfer { block, .. } => {
                let ns = u128::from(*block) * 1_000_000_000 / u128::from(bandwidth);
                transferred += times * (tasks - 1) * (ns << WORK_FRACTION_BITS);
            }
            Op::Repeat(passes) => {
                around.push(times);
                times *= u128::from(*passes);
            }
            Op::RepeatShared(passes) => {
                around.push(times);
                times = times * u128::from(*passes) / tasks;
            }
            Op::End => times = around.pop().unwrap_or(tasks),
            _ => {}
        }
    }
    let scale = |rank: u32| app.rank_scale.get(rank as usize).map_or(1_000, |scale| u128::from(*scale));
    let all: u128 = (0..app.tasks).map(scale).sum();
    // The scale of a rank is not that of the blocks that it reads.
    ((each * all / tasks / 1_000 + first * scale(0) / 1_000 + transferred) >> WORK_FRACTION_BITS) as u64
}

/// The passes that every task of an application still has before it, the present one included.
fn passes_left(app: &App, tasks: &IdVec<TaskId, Task>) -> u32 {
    let left = |rank| tasks[app.task(rank)].passes_left(&app.program);
    (0..app.tasks).map(left).min().unwrap_or(0)
}

/// The category of what a cpu does now.
fn present(record: &Cpu, tasks: &IdVec<TaskId, Task>) -> Category {
    match record.activity {
        Activity::Idle => Category::Idle,
        Activity::Compute => Category::Compute,
        Activity::Poll | Activity::Spin => polls_as(&tasks[record.current]),
        Activity::Syscall => Category::Kernel,
    }
}

impl Sampling {
    /// The tasks begin to do something else; passes of the applications so far.
    fn begin_phase(&mut self, phase: Vec<Doing>, now: Time, passes: Vec<u64>) {
        self.over = phase.contains(&Doing::Changing);
        // A program that has just begun a pass is in the sample from here on.
        let begun = passes.iter().zip(&self.seen).map(|(passes, seen)| passes != seen);
        self.begun = begun.map(|begun| if begun { vec![now] } else { Vec::new() }).collect();
        self.begun.resize(phase.len(), Vec::new());
        self.seen = passes;
        self.progress.resize(phase.len(), Progress::default());
        for (at, doing) in phase.iter().enumerate() {
            if self.phase.get(at) != Some(doing) {
                self.progress[at] = Progress { before: self.seen[at], taken: 0 };
            }
        }
        self.marks.clear();
        self.next = 1;
        self.phase = phase;
    }

    /// The policy arms a timer.
    pub(super) fn armed(&mut self, span: Span) {
        self.longest_timer = self.longest_timer.max(span);
    }

    /// The applications in loops that end.
    fn looping(&self) -> impl Iterator<Item = usize> {
        let phase = self.phase.iter().enumerate();
        phase.filter(|(_, doing)| matches!(doing, Doing::Loop(_))).map(|(at, _)| at)
    }

    /// Another possible end of the warm-up. Of too many, every second one is kept.
    fn keep(&mut self, at: Time, state: Measured) {
        if self.marks.len() == MARKS {
            let mut kept = false;
            self.marks.retain(|_| {
                kept = !kept;
                kept
            });
        }
        let passes = self.begun.iter().map(Vec::len).collect();
        self.marks.push(Mark { at, passes, state });
    }

    /// The shortest warm-up behind which the lengths of all passes are known, and these lengths. At least
    /// half of the passes must lie behind it.
    fn known(&self, now: Time) -> Option<(&Mark, Vec<Option<Length>>)> {
        let lengths = |mark: &Mark| {
            let mut lengths = vec![None; self.phase.len()];
            for at in self.looping() {
                let (all, before) = (self.begun[at].len(), mark.passes[at]);
                // The pass that had begun at the mark is the first one behind it.
                let known = Length::of(&self.begun[at][before.saturating_sub(1)..]);
                lengths[at] = Some(known.filter(|length| 2 * before <= all && length.is_known())?);
            }
            Some(lengths)
        };
        let shortest = SHORTEST.max(Span::from_ns(PERIODS * self.longest_timer.ns()));
        let mut long = self.marks.iter().filter(|mark| now.since(mark.at) >= shortest);
        long.find_map(|mark| Some((mark, lengths(mark)?)))
    }
}

impl Measured {
    /// What `span` adds in proportion to what was measured in `window`, which began with `before`; `present`:
    /// the category of a cpu in which no segment ended in the window.
    fn grown(&self, before: &Self, window: Span, span: Span, present: impl Fn(usize) -> Category) -> Self {
        let grow = |value: u64| share(value, span, window);
        let account = |(cpu, (now, before)): (usize, (&Account, &Account))| {
            let measured = now.since(before);
            let total = measured.total();
            if total == Span::ZERO {
                return Account::of(present(cpu), span);
            }
            let mut account = Account::default();
            for category in Category::ALL {
                account.add(category, Span::from_ns(share(measured.get(category).ns(), span, total)));
            }
            // What rounding has left belongs to the largest part.
            let largest = Category::ALL.into_iter().max_by_key(|category| account.get(*category));
            account.add(largest.unwrap_or(Category::Idle), span - account.total());
            account
        };
        let counters = |(now, before): (&Counters, &Counters)| now.since(before).each(grow);
        let cpu_time = |(now, before): (&Span, &Span)| Span::from_ns(grow((*now - *before).ns()));
        Self {
            cpus: self.cpus.iter().zip(&before.cpus).enumerate().map(account).collect(),
            apps: self.apps.iter().zip(&before.apps).map(counters).collect(),
            tasks: self.tasks.iter().zip(&before.tasks).map(cpu_time).collect(),
        }
    }

    /// Adds what another phase has added.
    fn add(&mut self, other: Self) {
        if self.cpus.is_empty() {
            *self = other;
            return;
        }
        self.cpus.iter_mut().zip(&other.cpus).for_each(|(mine, theirs)| mine.merge(theirs));
        self.apps.iter_mut().zip(&other.apps).for_each(|(mine, theirs)| *mine = mine.plus(theirs));
        self.tasks.iter_mut().zip(&other.tasks).for_each(|(mine, theirs)| *mine += *theirs);
    }
}

/// `value` x `part` / `whole`.
fn share(value: u64, part: Span, whole: Span) -> u64 {
    (u128::from(value) * u128::from(part.ns()) / u128::from(whole.ns().max(1))) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::Simulation;
    use crate::engine::setup::test_simulation;
    use crate::ids::ProfileId;
    use crate::machine::CpuSet;
    use crate::observe::{Observation, Observer};
    use crate::outcome::{Outcome, RunReport};
    use crate::policy::{CpuChoice, Placement, Policy, View};
    use crate::program::{AppSpec, MemoryProfile, Program, Spread, TransferOrder};
    use crate::time::Work;
    use crate::wait::WaitMode;

    /// Rank r on cpu r modulo the number of cpus.
    struct Fixed;

    impl Policy for Fixed {
        fn select_cpu(&mut self, view: &dyn View, task: TaskId, _why: Placement) -> CpuChoice {
            CpuId(view.task(task).rank % view.machine().cpus()).into()
        }
    }

    struct Facts(u64);

    impl Observer for Facts {
        fn observe(&mut self, _at: Time, _what: &Observation) {
            self.0 += 1;
        }
    }

    /// Passes of a computation of `ms` and a barrier.
    fn passes(count: u32, ms: u64, spread: Spread) -> Arc<Program> {
        let work = Work::from_span(Span::from_ms(ms));
        let compute = Op::Compute { work, spread, profile: ProfileId(0) };
        let ops = vec![Op::Repeat(count), compute, Op::Barrier, Op::End];
        Arc::new(Program::new(ops, vec![MemoryProfile::NONE]).unwrap())
    }

    /// Two tasks on two cpus that sleep at their barriers.
    fn simulation(program: Arc<Program>) -> Simulation {
        let mut simulation = test_simulation(2, 2);
        simulation.apps[0].program = program;
        simulation.apps[0].runtime.wait = WaitMode::Block;
        simulation.options.sampled = true;
        simulation
    }

    /// The same, and another program beside it.
    fn with_second(first: Arc<Program>, second: Arc<Program>) -> Simulation {
        let mut simulation = simulation(first);
        let other = AppSpec { program: second, name: "second".into(), ..simulation.apps[0].clone() };
        simulation.apps.push(other);
        simulation
    }

    /// An exact run and a sampled one.
    fn both(make: impl Fn() -> Simulation) -> [RunReport; 2] {
        [false, true].map(|sampled| {
            let mut simulation = make();
            simulation.options.sampled = sampled;
            simulation.run(&mut Fixed, &mut ())
        })
    }

    /// `a` is `b` but for this part of it.
    fn near(a: u64, b: u64, part: f64) -> bool {
        a.abs_diff(b) as f64 <= part * b as f64
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn steady_passes_are_extrapolated_and_everything_is_counted() {
        let [exact, sampled] = both(|| simulation(passes(6_000, 10, Spread::NONE)));
        assert_eq!((exact.extrapolated, exact.error), (Span::ZERO, Span::ZERO));
        // A fifth is simulated, and the pass after it.
        let share = sampled.extrapolated.ns() as f64 / sampled.makespan.ns() as f64;
        assert!((0.75..0.8).contains(&share) && sampled.error == Span::ZERO, "{share}");
        assert!(near(sampled.makespan.ns(), exact.makespan.ns(), 1e-6));
        let (counted, all) = (sampled.apps[0].counters, exact.apps[0].counters);
        assert_eq!((counted.work_asked_ns, counted.work_done_ns), (all.work_asked_ns, all.work_done_ns));
        assert!(near(counted.barriers, all.barriers, 1e-3) && near(counted.cpu_ns, all.cpu_ns, 1e-3));
        for (cpu, task) in sampled.cpus.iter().zip(&sampled.apps[0].task_cpu) {
            assert_eq!(cpu.total().ns(), sampled.makespan.ns());
            assert!(near(task.ns(), 60_000_000_000, 1e-3), "{task:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn two_programs_keep_their_pace_up_to_their_ends() {
        let make = || with_second(passes(9_000, 5, Spread(6_554)), passes(300, 100, Spread(6_554)));
        let [exact, sampled] = both(make);
        for (exact, sampled) in exact.apps.iter().zip(&sampled.apps) {
            let (end, of_sampled) = (exact.end.unwrap().ns(), sampled.end.unwrap().ns());
            assert!(near(of_sampled, end, 0.01), "{of_sampled} instead of {end}");
        }
        assert!(sampled.extrapolated.ns() > sampled.makespan.ns() / 8, "{:?}", sampled.extrapolated);
        assert!(sampled.error > Span::ZERO && sampled.relative_error() < 0.01, "{:?}", sampled.error);
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn a_fifth_of_a_loop_is_enough_whoever_runs_beside_it() {
        // The second program varies too much: the time in which both run is simulated.
        let make = || with_second(passes(9_000, 10, Spread::NONE), passes(20, 1_000, Spread::EXPONENTIAL));
        let [exact, sampled] = both(make);
        let both_run = sampled.apps[1].end.unwrap();
        assert_eq!(exact.apps[1].end, Some(both_run));
        let alone = (sampled.makespan - both_run).ns();
        let simulated = alone - sampled.extrapolated.ns();
        // More than a fifth of the first program's passes are over by then.
        assert!(alone > 45_000_000_000 && alone < 72_000_000_000, "{alone}");
        assert!((2_000_000_000..4_000_000_000).contains(&simulated), "{simulated}");
        assert!(near(sampled.makespan.ns(), exact.makespan.ns(), 1e-4), "{:?}", sampled.makespan);
        // Where the first program has all cpus at once, a fifth of it is simulated there.
        let [_, sampled] = both(|| with_second(passes(9_000, 10, Spread::NONE), passes(5, 10, Spread::NONE)));
        let simulated = sampled.makespan.ns() - sampled.extrapolated.ns();
        assert!((18_000_000_000..20_500_000_000).contains(&simulated), "{simulated}");
    }

    #[test]
    fn what_varies_is_simulated_as_a_whole() {
        let [exact, sampled] = both(|| simulation(passes(60, 1_000, Spread::EXPONENTIAL)));
        assert_eq!(exact, sampled);
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn nothing_is_extrapolated_past_the_horizon() {
        let [exact, sampled] = both(|| {
            let mut simulation = simulation(passes(6_000, 10, Spread::NONE));
            simulation.options.horizon = Time::from_ns(40_000_000_000);
            simulation
        });
        assert_eq!((exact.outcome, sampled.outcome.clone()), (Outcome::Horizon, Outcome::Horizon));
        assert_eq!((sampled.makespan.ns(), sampled.extrapolated), (40_000_000_000, Span::ZERO));
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn the_horizon_cuts_a_run_off_after_a_part_of_it_was_extrapolated() {
        let [exact, sampled] = both(|| {
            let (spread, profile) = (Spread::NONE, ProfileId(0));
            let compute = |ms| Op::Compute { work: Work::from_span(Span::from_ms(ms)), spread, profile };
            // 60 s of passes, then 100 s of computing.
            let ops =
                vec![Op::Repeat(6_000), compute(10), Op::Barrier, Op::End, compute(100_000), Op::Barrier];
            let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
            let mut simulation = simulation(Arc::new(program));
            simulation.options.horizon = Time::from_ns(100_000_000_000);
            simulation
        });
        assert!(sampled.extrapolated > Span::ZERO, "nothing was extrapolated");
        assert_eq!((exact.outcome, sampled.outcome), (Outcome::Horizon, Outcome::Horizon));
        assert_eq!(exact.makespan.ns(), 100_000_000_000);
        assert_eq!(sampled.makespan, exact.makespan, "the horizon is on the clock of the run");
        for cpu in &sampled.cpus {
            assert_eq!(cpu.total().ns(), sampled.makespan.ns());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn programs_that_are_to_come_and_masks_that_are_to_change_are_waited_for() {
        let late = Time::from_ns(30_000_000_000);
        let [exact, sampled] = both(|| {
            let mut simulation = with_second(passes(6_000, 10, Spread::NONE), passes(100, 10, Spread::NONE));
            simulation.apps[1].start = late;
            simulation
        });
        assert_eq!((exact.apps[1].start, sampled.apps[1].start), (late, late));
        assert!(near(sampled.makespan.ns(), exact.makespan.ns(), 1e-3) && sampled.extrapolated > Span::ZERO);
        let [exact, sampled] = both(|| {
            let mut simulation = simulation(passes(6_000, 10, Spread::NONE));
            simulation.apps[0].rebinds = vec![(Span::from_ms(30_000), CpuSet::of([CpuId(0)]))];
            simulation
        });
        // For 30 s on two cpus, then on one.
        assert!(near(exact.makespan.ns(), 90_000_000_000, 1e-3), "{:?}", exact.makespan);
        assert!(near(sampled.makespan.ns(), exact.makespan.ns(), 1e-3) && sampled.extrapolated > Span::ZERO);
    }

    #[test]
    #[cfg_attr(miri, ignore = "runs of thousands of passes")]
    fn an_observed_run_is_exact() {
        let exact = &both(|| simulation(passes(6_000, 10, Spread::NONE)))[0];
        let mut facts = Facts(0);
        let observed = simulation(passes(6_000, 10, Spread::NONE)).run(&mut Fixed, &mut facts);
        assert_eq!(exact, &observed);
        assert!(facts.0 > 10_000);
    }

    #[test]
    fn batch_means_by_hand() {
        let at = |instants: &[u64]| instants.iter().map(|ns| Time::from_ns(*ns)).collect::<Vec<_>>();
        // Lengths 9, 10, 11: mean 10, standard error 1 / sqrt 3, t = 4.303.
        let length = Length::of(&at(&[0, 9, 19, 30])).unwrap();
        assert!((length.mean - 10.0).abs() < 1e-12 && (length.half - 2.4843).abs() < 1e-3, "{length:?}");
        assert!(Length::of(&at(&[0, 10, 20])).is_none());
        // 25 passes in ten batches of two; the first five are left out.
        let odd: Vec<u64> = (0..26).map(|n| if n < 5 { n } else { 5 + 100 * (n - 5) }).collect();
        let length = Length::of(&at(&odd)).unwrap();
        assert!((length.mean - 100.0).abs() < 1e-12 && length.half == 0.0, "{length:?}");
        // Batches of three passes with a mean that no float equals: the deviation is that of rounding only.
        let thirds: Vec<u64> = (0..=30).map(|n| n * 10_000_001 / 3).collect();
        let length = Length::of(&at(&thirds)).unwrap();
        assert!(length.half < 1e-6 && length.is_known(), "{length:?}");
    }

    #[test]
    fn what_is_extrapolated_varies_as_what_was_sampled() {
        // The standard errors of two means of equal samples add up to the square root of two of one.
        assert!((half_of_rest(0.01, 50.0, 50.0) - 0.5 * f64::sqrt(2.0)).abs() < 1e-12);
        assert!((half_of_rest(0.01, 1.0, 3.0) - 0.03 * f64::sqrt(4.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn the_work_of_a_pass_by_hand() {
        let (spread, profile) = (Spread::NONE, ProfileId(0));
        let ms = |n| Work::from_span(Span::from_ms(n));
        // A block of 1 ms at 5 GB/s.
        let transfer = Op::Transfer { block: 5_000_000, order: TransferOrder::Rotated };
        let serial = Op::Serial { work: ms(4), spread, profile };
        let compute = Op::Compute { work: ms(10), spread, profile };
        let ops = vec![Op::Repeat(9), compute, serial, transfer, Op::Barrier, Op::End];
        let mut simulation = test_simulation(3, 3);
        simulation.apps[0].program = Arc::new(Program::new(ops, vec![MemoryProfile::NONE]).unwrap());
        simulation.apps[0].rank_scale = vec![4_000, 1_000, 1_000];
        let mut observer = ();
        let engine = Engine::new(simulation, &mut observer);
        let app = &engine.shared.apps[AppId(0)];
        // Three tasks compute for 20 ms in the mean and read two blocks each, in the same time; rank 0 alone
        // computes for 4 ms, four times.
        assert_eq!(work_of_pass(app, 1, 5_000_000_000), (3 * 20 + 3 * 2 + 4 * 4) * 1_000_000);
    }
}
