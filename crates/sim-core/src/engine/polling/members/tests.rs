//! Members poll as the rules of their discipline say, cycle by cycle, on the queue itself.

use super::*;
use crate::engine::polling::{polls, visible_at};
use crate::ids::{AppId, CpuId};
use crate::rng;
use crate::run_queue::cfs::CfsParams;
use crate::run_queue::eevdf_params::{EevdfParams, EevdfYield, Protection};
use crate::run_queue::multilevel::Levels;
use crate::run_queue::o1::{ARRAY, O1Params};
use crate::run_queue::ts::{TIME_SHARING, TsParams};
use crate::run_queue::ule::UleParams;
use crate::run_queue::virtual_time::VirtualTimeParams;
use crate::run_queue::{FastForward, Picked, Picks, Requests, groups, insert_by, list};

const LOOKS: [(u64, u64); 4] = [(40, 1), (40, 1), (190, 1), (110, 16)];

const PRICES: Prices =
    Prices { call: Span::from_ns(300), thread: Span::from_ns(900), process: Span::from_ns(1_700) };

fn looks() -> Vec<Look> {
    let look = |(ns, times)| {
        let each = Span::from_ns(ns);
        Look { each, poll: each * times, category: Category::Spin }
    };
    LOOKS.map(look).to_vec()
}

/// The polling of a cpu, one cycle after the other.
struct OneByOne<'r, R> {
    rules: &'r R,
    tasks: Tasks,
    cpu: Cpu,
    overhead: Span,
    switching: Span,
    cycles: u64,
    switches: u64,
    /// Cycles of each task, and how often it was switched out.
    done: Vec<(u64, u64)>,
}

impl<'r, R: FastForward> OneByOne<'r, R> {
    fn new(rules: &'r R, (tasks, cpu): (Tasks, Cpu)) -> Self {
        let (overhead, done) = (Span::ZERO, vec![(0, 0); tasks.len()]);
        Self { rules, tasks, cpu, overhead, switching: Span::ZERO, cycles: 0, switches: 0, done }
    }

    /// As [`Members::run`].
    fn run(&mut self, limit: Time) -> Time {
        loop {
            let (id, start) = (self.cpu.current, self.cpu.since + self.overhead);
            let look = looks()[self.tasks[id].polls as usize];
            let (poll, end) = (start + look.poll, start + look.poll + PRICES.call);
            if visible_at(&self.tasks[id]) <= poll {
                return look.sees(start, visible_at(&self.tasks[id]));
            }
            if end >= limit {
                return limit;
            }
            let task = &mut self.tasks[id];
            task.cpu_time += end - self.cpu.since;
            task.last_ran = end;
            self.rules.yield_key(&mut self.tasks, &mut self.cpu, id, end);
            let next = self.rules.choose(&mut self.tasks, &mut self.cpu, Some(id), end).unwrap();
            self.done[id.0 as usize].0 += 1;
            self.cycles += 1;
            (self.cpu.since, self.cpu.charged, self.overhead) = (end, end, Span::ZERO);
            if next == id {
                self.rules.picked(&mut self.tasks, &mut self.cpu, Picked::Again);
            } else {
                self.switch(id, next);
            }
            self.rules.move_origin(&mut self.tasks, &mut self.cpu, id);
            if !polls(&self.tasks[self.cpu.current]) {
                return end;
            }
        }
    }

    fn switch(&mut self, old: TaskId, next: TaskId) {
        let cost = PRICES.between(self.cpu.several, &self.tasks[old], &self.tasks[next]);
        self.done[old.0 as usize].1 += 1;
        self.switches += 1;
        run_queue::remove(&mut self.tasks, &mut self.cpu, next);
        insert_by(self.rules, &mut self.tasks, &mut self.cpu, old);
        self.cpu.current = next;
        (self.overhead, self.switching) = (cost, self.switching + cost);
        let charged = (self.cpu.since + cost).saturating_sub(PRICES.charged(self.cpu.several));
        self.cpu.charged = charged;
        let now = self.cpu.since;
        self.rules.picked(&mut self.tasks, &mut self.cpu, Picked::Anew(now));
    }

    /// Members have done the same.
    fn has_ended_as(&self, members: &Members) {
        let now = (members.since, members.overhead, members.charged, members.switching);
        assert_eq!(now, (self.cpu.since, self.overhead, self.cpu.charged, self.switching));
        assert_eq!((members.cycles, members.switches), (self.cycles, self.switches));
        if members.slack.is_some() && members.cycles > 0 {
            assert_eq!(members.marked(), self.cpu.rare.skip.some());
        }
        assert_eq!(members.members[members.current as usize].task, self.cpu.current);
        for (number, member) in members.members.iter().enumerate() {
            let (task, done) = (&self.tasks[member.task], self.done[member.task.0 as usize]);
            assert_eq!((member.key, member.cycles, member.switches), (task.vruntime, done.0, done.1));
            if member.cycles > 0 {
                assert_eq!((member.used, member.last_ran), (task.cpu_time, task.last_ran));
            }
            if members.by_deadline {
                let keys = (member.deadline, member.protection);
                assert_eq!(keys, (task.history.vdeadline, task.history.protection));
            }
            if let Some(share) = members.shares.get(number) {
                assert_eq!(*share, task.history.share);
                assert_eq!(members.base, self.cpu.min_vruntime);
            }
        }
        let next = |number: u32| members.members.get(number as usize);
        let order: Vec<TaskId> = if !members.divided {
            let listed = std::iter::successors(next(members.queue.first), |member| next(member.next));
            listed.map(|member| member.task).collect()
        } else {
            members.waiting_in_levels().iter().map(|at| members.members[*at as usize].task).collect()
        };
        let read = |id: &TaskId| members.members.iter().any(|member| member.task == *id);
        assert_eq!(order, list(&self.tasks, self.cpu.head).filter(read).collect::<Vec<_>>());
    }
}

/// A case is a state of a queue from which members run up to a limit, and in which one runs them.
fn compare<R: FastForward>(
    rules: &R,
    case: u32,
    queue: impl Fn() -> (Tasks, Cpu),
    run: impl Fn(&mut Members, (&Tasks, &Cpu), Time) -> Time,
) {
    let members = |limit: Time| {
        let ((tasks, cpu), mut members) = (queue(), Members::new(&looks()));
        members.load(&tasks, &cpu, PRICES);
        members.predicts = limit.is_never();
        let due = run(&mut members, (&tasks, &cpu), limit);
        members.sync_around();
        (members, due)
    };
    let (quick, due) = members(Time::NEVER);
    let mut end = Time::from_ns(100_000_000);
    // A run without event, or one so long that nobody follows it.
    if due < end {
        end = due;
        // After many dispatches an event continues a prediction.
        let later = OneByOne::new(rules, queue()).run(due + Span::from_ns(1));
        assert!(later == due || (later > due && quick.cycles > 500), "case {case}: {later:?} after {due:?}");
        let mut slow = OneByOne::new(rules, queue());
        slow.run(due);
        slow.has_ended_as(&quick);
    }
    let limit = Time::from_ns(2_000 * u64::from(case % 2_000)).min(end);
    let (quick, mine) = members(limit);
    let mut slow = OneByOne::new(rules, queue());
    assert_eq!(mine, slow.run(limit), "case {case}");
    slow.has_ended_as(&quick);
}

/// A queue whose tasks wait for instants of their own; every third case has tasks of several weights,
/// processes and polls. `keys` gives each its place.
fn plain(
    rules: &impl FastForward,
    case: u32,
    keys: impl Fn(&mut Task, &mut dyn FnMut(u64) -> u64),
) -> (Tasks, Cpu) {
    let mut noise = u64::from(case) + 1;
    let mut draw = |bound: u64| (u64::from(rng::next(&mut noise)) * bound) >> 32;
    let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
    let mixed = case.is_multiple_of(3);
    let nobody = case % 4 == 1;
    (cpu.several, cpu.charged, cpu.running) = (mixed, Time::from_ns(1), 1 + draw(8) as u32);
    for number in 0..cpu.running {
        let (weight, process) = if mixed {
            ([512, 1_024, 3_000][draw(3) as usize], ProcessId::of_app(AppId(draw(2) as u32)))
        } else {
            (1_024, ProcessId::NONE)
        };
        let mut task = Task::new(AppId(0), weight, process, 0);
        task.visible = Time::from_ns(draw(3_000_000));
        if nobody || draw(3) == 0 {
            task.visible = Time::NEVER;
        }
        task.polls = if mixed { 1 + draw(3) as u8 } else { 1 };
        if draw(12) == 0 && number > 0 && !nobody {
            task.polls = 0;
        }
        keys(&mut task, &mut draw);
        let id = tasks.push(task);
        if number == 0 {
            cpu.current = id;
        } else {
            insert_by(rules, &mut tasks, &mut cpu, id);
        }
    }
    (tasks, cpu)
}

fn by_key(rules: &impl FastForward) {
    let Picks::ByKey(slack) = rules.picks() else { panic!("another pick") };
    for case in 0..6_000 {
        let apart = [0, 2_500, 500_000][case as usize / 2 % 3];
        let queue = || plain(rules, case, |task, draw| task.vruntime = draw(apart + 1) as i64);
        compare(rules, case, queue, |members, (tasks, _), limit| members.run_by_key(slack, tasks, limit));
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn fair_yields_on_members_are_those_of_the_queue() {
    by_key(&VirtualTimeParams { slice: Span::from_ms(5) });
    // Buddies are forgotten at the first yield.
    by_key(&CfsParams { buddies: false, ..CfsParams::scaled(8) });
    // The yield that marks its caller; tasks are up to 500 us apart.
    for (us, weigh_woken) in [(1, true), (90, false), (90, true), (4_000, true)] {
        let wakeup_granularity = Span::from_us(us);
        by_key(&CfsParams { wakeup_granularity, weigh_woken, ..CfsParams::late(8) });
    }
}

fn by_slice<L: Levels>(levels: &L, keys: impl Fn(&mut Task, &mut dyn FnMut(u64) -> u64)) {
    for case in 0..1_500 {
        let queue = || {
            let (mut tasks, mut cpu) = plain(levels, case, &keys);
            levels.picked(&mut tasks, &mut cpu, Picked::Again);
            (tasks, cpu)
        };
        compare(levels, case, queue, |members, source, limit| members.run_by_slice(levels, source, limit));
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn the_arrays_of_o1_on_members_are_those_of_the_queue() {
    let ms = Span::from_ms;
    for (timeslice, bonus) in [(ms(100), true), (Span::from_us(30), true), (Span::from_us(5), false)] {
        let params = O1Params { timeslice, sleep_average: timeslice * 10, bonus };
        by_slice(&params, |task, draw| {
            task.vruntime = ARRAY * draw(2) as i64 + 118 + draw(4) as i64;
            task.history.share.used = draw(timeslice.ns() / 20);
            task.history.share.rest = draw(2) * draw(timeslice.ns() * 40);
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn the_slices_of_ule_on_members_are_those_of_the_queue() {
    for us in [96_000, 40] {
        let slice = Span::from_us(us);
        let params = UleParams { slice, min_slice: slice, interactive: 30, history: slice * 50 };
        by_slice(&params, |task, draw| {
            let share = &mut task.history.share;
            (share.used, share.ran) = (draw(slice.ns()), draw(slice.ns() * 20));
            (share.rest, task.vruntime) = match draw(3) {
                0 => (share.ran * 4, 12),
                1 => (share.ran * 2, 25),
                _ => (share.ran / 2, 256),
            };
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn the_quanta_of_ts_on_members_are_those_of_the_queue() {
    for us in [10_000, 2] {
        let params = TsParams { clock_tick: Span::from_us(us), ..TIME_SHARING };
        by_slice(&params, |task, draw| {
            task.vruntime = [0, 0, -9, -(draw(60) as i64)][draw(4) as usize];
            task.history.share.used = draw(us * 1_000);
        });
    }
}

/// A queue under EEVDF without task groups or with two around all of its tasks.
fn requests_of(params: &EevdfParams, case: u32) -> (Tasks, Cpu) {
    let mut noise = u64::from(case) + 1;
    let mut draw = |bound: u64| (u64::from(rng::next(&mut noise)) * bound) >> 32;
    let (mut tasks, mut cpu) = (Tasks::default(), Cpu::new(CpuId(0)));
    let (count, groups) = (1 + draw(8) as u32, [0, 3, 0, 2][case as usize % 4]);
    let mixed = case.is_multiple_of(3);
    cpu.several = mixed;
    let apart = [0, 2_500, 500_000][draw(3) as usize];
    for number in 0..count + groups {
        let (weight, process) = if mixed {
            ([512, 1_024, 3_000][draw(3) as usize], ProcessId::of_app(AppId(draw(2) as u32)))
        } else {
            (1_024, ProcessId::NONE)
        };
        let mut task = Task::new(AppId(0), weight, process, 0);
        task.vruntime = draw(apart + 1) as i64;
        task.visible = Time::from_ns(draw(3_000_000));
        if draw(3) == 0 {
            task.visible = Time::NEVER;
        }
        task.polls = if mixed { 1 + draw(2) as u8 } else { 1 };
        if mixed && case % 2 == 1 {
            task.history.slice = [Span::ZERO, Span::from_us(100), Span::from_ms(20)][draw(3) as usize];
            cpu.rare.own_slices = true;
        }
        if draw(12) == 0 && number > 0 {
            task.polls = 0;
        }
        task.history.vdeadline = task.vruntime + 1 + draw(params.slice.ns()) as i64;
        task.history.protection = task.vruntime + draw(params.slice.ns()) as i64;
        if case % 5 == 1 {
            // All are alike and change places in turn.
            (task.vruntime, task.history.vdeadline) = (0, 2_000);
            task.history.protection = i64::from(number == 0) * 2_000;
            task.visible = if number == 0 { Time::from_ns(2_500_000) } else { task.visible };
        }
        if case % 5 == 2 {
            // In each period one runs, and the others go on by a place.
            (task.weight, task.polls, task.process) = (1_024, 1, ProcessId::NONE);
            task.vruntime = i64::from(number) * (params.slice.ns() / u64::from(count)) as i64;
            task.history.vdeadline = task.vruntime + params.slice.ns() as i64;
            task.history.protection = 0;
        }
        // The second group is in the first one. Three groups compete with each other and with tasks.
        task.history.group = match groups {
            0 => 0,
            2 if number < count => 2,
            3 if number < count => draw(4) as u16,
            _ => u16::from(number == count + 1),
        };
        let id = tasks.push(task);
        if number == 0 {
            cpu.current = id;
        } else if number < count {
            insert_by(params, &mut tasks, &mut cpu, id);
        }
    }
    (cpu.rare.first_group, cpu.rare.group_count) = (TaskId(count), groups as u16);
    for group in groups::all(&cpu) {
        let holds = |task: TaskId| groups::chain(&tasks, &cpu, task).any(|around| around == group);
        let (queued, chosen) = ((0..count).map(TaskId).any(holds), holds(cpu.current));
        let history = &mut tasks[group].history;
        (history.queued, history.chosen) = (queued, chosen);
    }
    cpu.charged = Time::from_ns(1);
    cpu.running = count;
    (tasks, cpu)
}

fn requests(params: &EevdfParams) -> Requests {
    Requests::of(params)
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn requests_on_members_are_those_of_the_queue() {
    for case in 0..2_000 {
        let protected = [Some(Span::from_us(700)), None][case as usize / 4 % 2];
        let yields = [EevdfYield::Forfeit, EevdfYield::Deadline][case as usize / 8 % 2];
        let protection = [Protection::MinSlice, Protection::Deadline][case as usize / 16 % 2];
        let params = EevdfParams { protected, yields, protection, ..EevdfParams::scaled(8) };
        let queue = || requests_of(&params, case);
        compare(&params, case, queue, |members, source, limit| {
            members.run_by_deadline(requests(&params), source, limit)
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn the_origin_of_virtual_time_moves_before_64_bits_end() {
    // At the weight of `SCHED_IDLE` a yield is a 27,000th of 64 bits.
    let params = EevdfParams { slice: Span::from_ms(1_000_000), ..EevdfParams::scaled(1) };
    for case in 0..40 {
        let queue = || {
            let (mut tasks, cpu) = requests_of(&EevdfParams::scaled(1), case);
            for task in tasks.iter_mut() {
                (task.weight, task.visible, task.polls) = (3, Time::NEVER, 1);
            }
            (tasks, cpu)
        };
        let limit = Time::from_ns(50_000_000);
        let ((tasks, cpu), mut members) = (queue(), Members::new(&looks()));
        members.load(&tasks, &cpu, PRICES);
        let due = members.run_by_deadline(requests(&params), (&tasks, &cpu), limit);
        let mut slow = OneByOne::new(&params, queue());
        assert_eq!(due, slow.run(limit), "case {case}");
        assert!(members.members.iter().all(|member| member.key < run_queue::FAR_KEY));
        slow.has_ended_as(&members);
    }
}

#[test]
fn a_state_in_which_the_current_task_is_protected_longer_is_another_one() {
    let params = EevdfParams::scaled(8);
    let (tasks, cpu) = (0..).map(|case| requests_of(&params, case)).find(|(_, cpu)| cpu.running > 1).unwrap();
    let (mut members, requests) = (Members::new(&looks()), requests(&params));
    members.load(&tasks, &cpu, PRICES);
    members.read_level(requests, (&tasks, &cpu));
    let protected = |members: &mut Members, until: i64| {
        let current = &mut members.members[0];
        current.protection = current.key + until;
    };
    protected(&mut members, 2_000);
    members.set_mark(4);
    assert!(members.has_recurred());
    protected(&mut members, 1_000);
    assert!(!members.has_recurred());
    // One that has ended is like one that ended before.
    protected(&mut members, -1_000);
    members.set_mark(4);
    protected(&mut members, -2_000);
    assert!(members.has_recurred());
}
