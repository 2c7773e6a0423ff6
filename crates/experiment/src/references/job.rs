//! An application in the models of the references: what it needs, and what it can use at most.

use std::collections::{BTreeMap, BTreeSet};

use sim_core::machine::{CpuSet, Machine, Memory};
use sim_core::outcome::AppReport;
use sim_core::program::{AppSpec, MemoryProfile, Op, Pages, Program};
use sim_core::time::{Span, Work};

use super::size::Size;
use super::{Dedicated, NS_PER_S};

/// When a job arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Arrival {
    /// At this time, seconds.
    At(f64),
    /// This many seconds after the end of an earlier job.
    After(usize, f64),
}

/// An application in the models of the references. Work is in seconds of the nominal core.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Job {
    pub(crate) arrival: Arrival,
    /// Its tasks.
    pub(crate) tasks: u32,
    /// Weight of a task; only ratios matter.
    pub(crate) weight: f64,
    /// Most work that a task does per second on average, above 0.
    pub(crate) want: f64,
    /// Work of all tasks; infinite for a background job.
    pub(crate) demand: f64,
    /// Bytes that it waits for, for each second of work.
    pub(crate) bytes: f64,
    /// The cpus that its tasks may ever use; all without a set.
    pub(crate) allowed: Option<CpuSet>,
    /// Its task group.
    pub(crate) group: Option<u16>,
    /// Run time that its user states; zero if none is.
    pub(crate) estimate: Span,
}

/// A job, and how many like it run.
pub(super) type Alike = (usize, f64);

impl Job {
    pub(crate) const fn foreground(&self) -> bool {
        self.demand.is_finite()
    }

    /// An application by its work and its sleeps alone.
    pub(super) fn of(spec: &AppSpec, app: &AppReport, memory: &Memory, size: &Size) -> Self {
        let arrival = match spec.after {
            Some(before) => Arrival::After(before.0 as usize, spec.start.ns() as f64 / NS_PER_S),
            None => Arrival::At(app.arrived.ns() as f64 / NS_PER_S),
        };
        let mean = Mean::of(&spec.program, memory);
        let asked = (super::asked(app), app.counters.sleep_asked_ns as f64 / NS_PER_S);
        let (work, asleep) = if spec.background { (mean.work, mean.asleep) } else { asked };
        // Of a device that has other work as well each waits longer; shares of cpus say nothing of that.
        let served = if mean.work > 0.0 { mean.served / mean.work * work } else { 0.0 };
        let asleep = asleep + served;
        // A mask that changes counts with all cpus that it ever allows.
        let allowed = spec.allowed.as_ref().map(|first| {
            CpuSet::of(first.iter().chain(spec.rebinds.iter().flat_map(|(_, later)| later.iter())))
        });
        // While it computes, a task has the fastest core to itself at best; else it sleeps.
        let fastest = size.fastest(allowed.as_ref());
        let awake = if asleep > 0.0 { work / (work + asleep * fastest) } else { 1.0 };
        let tasks = f64::from(spec.tasks);
        // Of several weights the mean counts: all tasks of an application want the same.
        let weights: f64 = (0..spec.tasks).map(|rank| f64::from(spec.weight_of(rank))).sum();
        Self {
            arrival,
            tasks: spec.tasks,
            weight: if spec.rank_weights.is_empty() { spec.weight.into() } else { weights / tasks },
            want: (fastest * awake).min(size.capacity(allowed.as_ref()) / tasks),
            demand: if spec.background { f64::INFINITY } else { work },
            bytes: mean.bytes,
            allowed,
            group: spec.group,
            estimate: spec.estimate.unwrap_or(Span::ZERO),
        }
    }

    /// The same with what only one of its tasks can do at a time, serial parts and critical sections, and
    /// with the memory controllers of the nodes that its pages lie on.
    pub(super) fn within_itself(mut self, spec: &AppSpec, machine: &Machine, size: &Size) -> Self {
        let tasks = f64::from(self.tasks);
        let alone = size.fastest(self.allowed.as_ref());
        if self.want > 0.0 && alone > 0.0 {
            self.want = Exclusive::of(&spec.program, tasks).most(self.want * tasks, alone) / tasks;
        }
        let served = homes(spec, self.allowed.as_ref(), machine) * machine.memory.node_bandwidth as f64;
        if size.bandwidth > 0.0 && self.bytes > 0.0 {
            self.want = self.want.min(served / (self.bytes * tasks));
        }
        self
    }

    /// The same by its dedicated run: it advances no faster than there, and each of its tasks keeps no more
    /// of a core busy.
    pub(super) fn beside_alone(mut self, alone: &Dedicated) -> Self {
        if alone.work > 0.0 {
            self.want = self.want.min(alone.work / alone.time / alone.tasks);
        } else {
            // A program without work, of barriers alone, takes the time of its dedicated run.
            self.demand = alone.time * f64::from(self.tasks) * self.want;
        }
        self
    }
}

/// Work that only one task of a program does at a time, of a run of all its tasks, in seconds.
#[derive(Clone, PartialEq, Debug, Default)]
struct Exclusive {
    /// All work.
    all: f64,
    /// That of the first task alone.
    serial: f64,
    /// That below each lock.
    locked: BTreeMap<u32, f64>,
    /// The other tasks may take the parallel work of the one that does the serial one.
    handed_out: bool,
}

impl Exclusive {
    /// Loops without end count once.
    fn of(program: &Program, tasks: f64) -> Self {
        let mut found = Self::default();
        // How often all tasks together do what comes next, and the locks that they hold meanwhile.
        let (mut times, mut held) = (vec![tasks], Vec::new());
        for op in program.ops() {
            let now: f64 = times.last().copied().unwrap_or(tasks);
            let seconds = |work: &Work| work.floor_ns() as f64 / NS_PER_S;
            match op {
                Op::Repeat(count) => times.push(now * f64::from((*count).max(1))),
                Op::RepeatShared(count) => {
                    found.handed_out = true;
                    times.push(now / tasks * f64::from((*count).max(1)));
                }
                Op::End => drop(times.pop()),
                Op::Lock(lock) => held.push(lock.0),
                Op::Unlock(lock) => held.retain(|other| *other != lock.0),
                Op::Compute { work, .. } => {
                    found.all += seconds(work) * now;
                    for lock in &held {
                        *found.locked.entry(*lock).or_default() += seconds(work) * now;
                    }
                }
                Op::Serial { work, .. } => {
                    found.all += seconds(work) * now / tasks;
                    found.serial += seconds(work) * now / tasks;
                }
                _ => {}
            }
        }
        found
    }

    /// The most work per second of all tasks, which do this much without exclusive work, where one task does
    /// `alone` at most: after Amdahl (1967) for the serial part, and a lock serves one task at a time.
    fn most(&self, all: f64, alone: f64) -> f64 {
        let part = |work: f64| if self.all > 0.0 { work / self.all } else { 0.0 };
        let serial = part(self.serial);
        let parallel = if self.handed_out { 0.0 } else { (1.0 - serial) / all };
        let by_serial = 1.0 / (serial / alone + parallel);
        let locked = self.locked.values().map(|work| part(*work)).fold(0.0, f64::max);
        all.min(by_serial).min(if locked > 0.0 { alone / locked } else { f64::INFINITY })
    }
}

/// The most nodes that pages of a program lie on: those on which its tasks can touch them first, or those
/// that the program names.
fn homes(spec: &AppSpec, allowed: Option<&CpuSet>, machine: &Machine) -> f64 {
    let touched = || {
        let nodes = |set: &CpuSet| set.iter().map(|cpu| machine.node_of(cpu)).collect::<BTreeSet<_>>().len();
        allowed.map_or(machine.nodes() as usize, nodes).min(spec.tasks as usize)
    };
    let of = |profile: &MemoryProfile| match profile.pages {
        Pages::FirstTouch | Pages::NextTouch | Pages::Team => touched(),
        // One of each process.
        Pages::Master => touched().min(spec.tasks.div_ceil(spec.process().max(1)) as usize),
        Pages::Node(_) => 1,
        Pages::Interleaved => machine.nodes() as usize,
    };
    let waits = spec.program.profiles().iter().filter(|profile| profile.demand > 0);
    waits.map(of).max().unwrap_or(1) as f64
}

/// The largest share of its time that any of these programs waits for memory, 0 to 1.
pub(super) fn most_bound(apps: &[AppSpec], memory: &Memory) -> f64 {
    let profiles = apps.iter().flat_map(|spec| spec.program.profiles());
    profiles.map(|profile| bound(profile, memory)).fold(0.0, f64::max)
}

/// What a pass of a program through all its loops has on average, of one task.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Mean {
    /// Seconds of work.
    work: f64,
    /// Seconds of sleep.
    asleep: f64,
    /// Seconds of work that it gives devices, for which it waits at least.
    served: f64,
    /// Bytes that it waits for, for each second of work.
    bytes: f64,
}

impl Mean {
    /// Loops without end count once.
    fn of(program: &Program, memory: &Memory) -> Self {
        let mut mean = Self::default();
        let mut times = vec![1.0];
        let mut bytes = 0.0;
        for op in program.ops() {
            let now: f64 = times.last().copied().unwrap_or(1.0);
            match op {
                Op::Repeat(count) | Op::RepeatShared(count) => times.push(now * f64::from((*count).max(1))),
                Op::End => drop(times.pop()),
                Op::Compute { work, profile, .. } | Op::Serial { work, profile, .. } => {
                    let work = work.floor_ns() as f64 / NS_PER_S * now;
                    mean.work += work;
                    let profile = program.profiles().get(profile.0 as usize);
                    bytes += work * profile.map_or(0.0, |profile| waited_for(profile, memory));
                }
                Op::Sleep { span, .. } => mean.asleep += span.ns() as f64 / NS_PER_S * now,
                Op::Io { span, .. } => mean.served += span.ns() as f64 / NS_PER_S * now,
                _ => {}
            }
        }
        mean.bytes = if mean.work > 0.0 { bytes / mean.work } else { 0.0 };
        mean
    }
}

/// The part of its bytes per second that a task waits for. Tasks with demands d and memory-bound shares b are
/// slowed so far that the sum of b x d stays below the bandwidth (see `sim_core::contention`); what they do
/// not wait for is not limited.
fn waited_for(profile: &MemoryProfile, memory: &Memory) -> f64 {
    profile.demand as f64 * bound(profile, memory)
}

/// The share of its time that a task alone waits for memory.
fn bound(profile: &MemoryProfile, memory: &Memory) -> f64 {
    let full = memory.node_bandwidth as f64 * f64::from(memory.bound_demand) / 1_000.0;
    let derived = match profile.demand {
        0 => 0.0,
        demand if full > 0.0 => (demand as f64 / full).min(1.0),
        _ => 1.0,
    };
    profile.bound.map_or(derived, |bound| (f64::from(bound) / 65_536.0).min(1.0))
}

#[cfg(test)]
impl Job {
    /// A job of tests, there from the start: so many tasks that want a cpu each, for this work in seconds.
    pub(crate) const fn plain(tasks: u32, demand: f64) -> Self {
        Self {
            arrival: Arrival::At(0.0),
            tasks,
            weight: 1.0,
            want: 1.0,
            demand,
            bytes: 0.0,
            allowed: None,
            group: None,
            estimate: Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use sim_core::ids::{DeviceId, LockId, ProfileId};
    use sim_core::program::Spread;
    use sim_core::time::Span;

    use super::*;

    fn compute(ms: u64) -> Op {
        Op::Compute { work: Work::from_span(Span::from_ms(ms)), spread: Spread::NONE, profile: ProfileId(0) }
    }

    #[test]
    fn one_task_at_a_time_does_serial_work_and_what_is_below_a_lock() {
        let most = |ops: Vec<Op>, tasks: f64| {
            let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
            Exclusive::of(&program, tasks).most(tasks, 1.0)
        };
        let serial = |ms| Op::Serial {
            work: Work::from_span(Span::from_ms(ms)),
            spread: Spread::NONE,
            profile: ProfileId(0),
        };
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-9, "{got}, not {want}");
        // Half of 20 ms is serial: four tasks do them in 10 ms + 10 ms / 4.
        near(most(vec![Op::Repeat(3), serial(10), Op::Barrier, compute(2), Op::End], 5.0), 20.0 / 12.0);
        // A tenth of each cycle is below the lock: ten tasks keep it busy, and more do no more.
        let lock = |tasks| {
            let taken = [Op::Lock(LockId(0)), compute(1), Op::Unlock(LockId(0))];
            let ops = [vec![Op::Repeat(7), compute(9)], taken.into(), vec![Op::End]].concat();
            most(ops, tasks)
        };
        near(lock(8.0), 8.0);
        near(lock(16.0), 10.0);
        // Portions are handed out: the others do them while one does the serial part.
        near(most(vec![serial(10), Op::RepeatShared(10), compute(1), Op::End], 4.0), 2.0);
        near(most(vec![compute(1)], 4.0), 4.0);
    }

    #[test]
    fn loops_multiply_what_is_in_them() {
        let sleep = Op::Sleep { span: Span::from_ms(40), spread: Spread::NONE };
        let ops = vec![Op::Repeat(5), compute(10), Op::Repeat(2), sleep, Op::End, Op::End, compute(50)];
        let profile = MemoryProfile { demand: 1_000, bound: Some(1 << 15), ..MemoryProfile::NONE };
        let program = Program::new(ops, vec![profile]).unwrap();
        let mean = Mean::of(&program, &Memory::unlimited());
        assert!((mean.work - 0.1).abs() < 1e-9 && (mean.asleep - 0.4).abs() < 1e-9, "{mean:?}");
        assert!((mean.bytes - 500.0).abs() < 1e-9, "half of its accesses wait");
    }

    #[test]
    fn what_devices_do_for_a_program_counts_besides_its_sleeps() {
        let io = Op::Io { device: DeviceId(0), span: Span::from_ms(30), spread: Spread::NONE };
        let ops = vec![Op::Repeat(4), compute(10), io, Op::End];
        let mean = Mean::of(&Program::new(ops, vec![MemoryProfile::NONE]).unwrap(), &Memory::unlimited());
        assert!((mean.work - 0.04).abs() < 1e-9 && (mean.served - 0.12).abs() < 1e-9, "{mean:?}");
        assert!(mean.asleep.abs() < 1e-12, "{mean:?}");
    }
}
