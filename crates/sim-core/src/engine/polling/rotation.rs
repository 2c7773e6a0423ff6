//! Polling in a round-robin cycle, computed in place. A yield puts its caller behind all others of its
//! priority, so each polling task runs for one poll and one yield, in the order of the queue.
//!
//! The same as one cycle after the other: polls, dispatches and instants agree to the nanosecond.

use crate::account::{Account, Category};
use crate::engine::polling::{Look, cycles_before, polls, polls_before, visible_at};
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, Prices, Task};
use crate::ids::TaskId;
use crate::machine::Costs;
use crate::os::Discipline;
use crate::policy::{THROTTLED, TaskState};
use crate::run_queue::cfs::weighted;
use crate::run_queue::{self, Picks, Rules, Tasks, Turns};
use crate::time::{Span, Time};
use crate::wait::WaitMode;

/// The price of a switch between two tasks of a cpu.
#[inline]
fn price(costs: &Costs, record: &Cpu, from: &Task, to: &Task) -> Span {
    Prices::of(costs).between(record.several, from, to)
}

/// The rounds of the cycle: the number of members, when the first cycle of the current one ends, how long a
/// round takes, the instant before which cycles are done, and how much the key of each member grows in a
/// round.
struct Rounds {
    members: u32,
    end: Time,
    round: Span,
    limit: Time,
    gain: i64,
}

/// Who runs next: the task, the one before it, its number in the order of the beginning, the price of the
/// switch.
struct Place {
    next: TaskId,
    before: TaskId,
    number: u32,
    cost: Span,
}

const NO_PLACE: Place = Place { next: TaskId::NONE, before: TaskId::NONE, number: 0, cost: Span::ZERO };

impl Shared<'_> {
    /// True when the current task of a cpu, which polls, and its rivals run in a round-robin cycle.
    #[inline]
    pub(crate) fn in_rotation(&self, record: &Cpu) -> bool {
        if !matches!(self.picks, Picks::InTurns(_)) {
            return false;
        }
        let priority = self.tasks[record.current].priority;
        let before = |head: TaskId| self.tasks[head].priority < priority;
        // At the very start of a run less of a switch is charged than later.
        let begun = record.since >= Time::ZERO + record.switch_charge(&self.machine.costs);
        begun && priority < THROTTLED && !record.head.some().is_some_and(before)
    }

    /// Keys grow by the time that the caller of a yield is charged for.
    #[inline]
    const fn is_charged(&self) -> bool {
        matches!(self.picks, Picks::InTurns(Turns::Charged))
    }

    /// When the round-robin cycle next causes something: a task observes the end of its wait, one that does
    /// not poll follows, or a directed yield may find a task. The first poll of the current task is without
    /// success.
    pub(crate) fn predict_rotation(&self, record: &Cpu) -> Time {
        let soonest = self.next_in_rotation(record);
        if self.directed { soonest.min(self.directed_in_rotation(record)) } else { soonest }
    }

    /// From when on a directed yield may find a task to which it yields: one of an application in which there
    /// are such yields observes the end of its wait, or does not poll.
    pub(crate) fn directed_from(&self, record: &Cpu) -> Time {
        let level = self.tasks[record.current].priority;
        let able = |id: TaskId| {
            let task = &self.tasks[id];
            let directed = self.apps[task.app()].runtimes().any(|of| of.wait == WaitMode::YieldTo);
            match task.priority == level && directed {
                true if polls(task) => visible_at(task),
                true => Time::ZERO,
                false => Time::NEVER,
            }
        };
        let waiting = run_queue::list(&self.tasks, record.head);
        std::iter::once(record.current).chain(waiting).map(able).min().unwrap_or(Time::NEVER)
    }

    /// The end of the first cycle after which a directed yield may find a task.
    #[cold]
    fn directed_in_rotation(&self, record: &Cpu) -> Time {
        let able = self.directed_from(record);
        let first = &self.tasks[record.current];
        let begin = record.since + record.overhead.total() + self.cycle(first);
        if able <= begin || able.is_never() {
            return able.max(begin);
        }
        let mut ends = vec![begin];
        let (mut end, mut last, mut at) = (begin, first, record.head);
        while let Some(task) = at.some().map(|id| &self.tasks[id]).filter(|of| of.priority == first.priority)
        {
            end += self.between(record, last, task) + self.cycle(task);
            ends.push(end);
            (last, at) = (task, task.next);
        }
        let round = end + self.between(record, last, first) + self.cycle(first) - begin;
        let whole = round * (able.since(begin).ns() / round.ns());
        ends.push(begin + round);
        ends.iter().map(|end| *end + whole).find(|end| *end >= able).unwrap_or(begin)
    }

    /// As [`Shared::predict_rotation`], with yields that find no task.
    fn next_in_rotation(&self, record: &Cpu) -> Time {
        let costs = &self.machine.costs;
        let first = &self.tasks[record.current];
        let start = record.since + record.overhead.total();
        let own = self.look(first);
        let mut end = start + own.poll + costs.yield_call;
        let mut last = first;
        let mut at = record.head;
        let mut unaware = visible_at(first).is_never();
        // The first dispatch of each of the others.
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            if task.priority != first.priority {
                break;
            }
            if !polls(task) {
                return end;
            }
            let (begins, look) = (end + self.between(record, last, task), self.look(task));
            let poll = begins + look.poll;
            if visible_at(task) <= poll {
                return look.sees(begins, visible_at(task));
            }
            unaware &= visible_at(task).is_never();
            end = poll + costs.yield_call;
            (last, at) = (task, task.next);
        }
        if unaware {
            return Time::NEVER;
        }
        // From here on the same poll comes once a round.
        let again = end + self.between(record, last, first);
        let round = again - start;
        let mut soonest = self.seen_after(first, again, round);
        end = start + own.poll + costs.yield_call;
        (last, at) = (first, record.head);
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            if task.priority != first.priority {
                break;
            }
            let begins = end + self.between(record, last, task);
            soonest = soonest.min(self.seen_after(task, begins, round));
            end = begins + self.cycle(task);
            (last, at) = (task, task.next);
        }
        soonest
    }

    /// When a task observes what it waits for: its polls begin at `begins` and once a round later.
    #[inline]
    fn seen_after(&self, task: &Task, begins: Time, round: Span) -> Time {
        let (visible, look) = (visible_at(task), self.look(task));
        if visible.is_never() {
            return Time::NEVER;
        }
        let rounds = visible.since(begins + look.poll).ns().div_ceil(round.ns());
        look.sees(begins + round * rounds, visible)
    }

    /// The price of the switch between two members of a rotation, none for a task alone.
    #[inline]
    fn between(&self, record: &Cpu, from: &Task, to: &Task) -> Span {
        if std::ptr::eq(from, to) { Span::ZERO } else { price(&self.machine.costs, record, from, to) }
    }

    /// Does all cycles of a rotation that end before `limit` and before anything but polling is due.
    pub(crate) fn rotate(&mut self, record: &mut Cpu, limit: Time) {
        if self.rotate_once(record, limit) {
            return;
        }

        let first = &self.tasks[record.current];
        let mut soonest = visible_at(first);
        let mut last = first;
        let (mut members, mut at) = (1, record.head);
        // From the end of the first cycle of the current task to that of the last member.
        let mut length = Span::ZERO;
        let switch_charge = record.switch_charge(&self.machine.costs);
        let charged = self.is_charged();
        let charge = |task: &Task| switch_charge + self.cycle(task);
        let growth = |task: &Task| 1 + if charged { weighted(charge(task), task.weight) } else { 0 };
        let mut gain = growth(first);
        while let Some(id) = at.some() {
            let task = &self.tasks[id];
            if task.priority != first.priority {
                break;
            }
            soonest = soonest.min(if polls(task) { visible_at(task) } else { Time::ZERO });
            length += self.between(record, last, task) + self.cycle(task);
            members += 1;
            gain += growth(task);
            (last, at) = (task, task.next);
        }
        // What is armed is what was predicted, unless something has happened since at this very instant.
        let open = soonest < limit
            && (self.rounds.is_marked(record.id) || self.sources.get(record.id.0 as usize) < limit);
        let limit = if open { limit.min(self.predict_rotation(record)) } else { limit };
        let check = record.since + record.overhead.total() + self.look(first).poll;
        let end = check + self.machine.costs.yield_call;
        if end >= limit {
            return;
        }
        if members == 1 {
            self.rotate_alone(record, check, limit);
        } else {
            let round = length + self.between(record, last, first) + self.cycle(first);
            self.rotate_all(record, &Rounds { members, end, round, limit, gain });
        }
    }

    /// The most frequent case: the current task completes its cycle, and that of the next one does not end
    /// before `limit`.
    fn rotate_once(&mut self, record: &mut Cpu, limit: Time) -> bool {
        let charged = self.is_charged();
        let Self { tasks, apps, machine, model, segments, directed, .. } = self;
        let costs = &machine.costs;
        let Some(next) = record.head.some().filter(|_| !*directed) else { return false };
        let (task, rival) = (&tasks[record.current], &tasks[next]);
        let poll_of = |task: &Task| segments.look(task).poll;
        let look = segments.look(task);
        let poll = look.poll;
        let check = record.since + record.overhead.total() + poll;
        let end = check + costs.yield_call;
        let cost = price(costs, record, task, rival);
        let follows =
            rival.priority == task.priority && polls(rival) && visible_at(task) > check && end < limit;
        if !follows || end + cost + poll_of(rival) + costs.yield_call < limit {
            return false;
        }
        let place = Place { next, before: record.current, number: 1, cost };
        let last = run_queue::last_of_priority(tasks, record, task.priority).unwrap_or(next);
        end_cycle((&model.discipline, charged), (look, costs.yield_call), tasks, record, (Some(last), end));
        let counters = &mut apps[tasks[place.before].app()].counters;
        counters.polls += 1;
        counters.yields += 1;
        counters.voluntary_switches += 1;
        record.polled.1 += 1;
        relink(tasks, record, last, &place);
        begin_dispatch(&model.discipline, costs, tasks, record, &place);
        true
    }

    /// Charges the dispatches of all members of the cycle, at least two, and determines which is current
    /// then.
    fn rotate_all(&mut self, record: &mut Cpu, rounds: &Rounds) {
        let charged = self.is_charged();
        let (first, priority) = (record.current, self.tasks[record.current].priority);
        let last = run_queue::last_of_priority(&self.tasks, record, priority).unwrap_or(first);
        let most = 1 + (rounds.limit - rounds.end - Span::from_ns(1)).ns() / rounds.round.ns();
        let mut key = self.tasks[last].vruntime;
        if charged {
            key = key.max(self.tasks[first].vruntime - 1);
        }
        let mut charge = rounds.end.since(record.charged);
        let switch_charge = record.switch_charge(&self.machine.costs);
        let (mut end, mut span) = (rounds.end, rounds.end - record.since);
        let (mut from, mut id, mut following) = (last, first, record.head);
        let (mut dispatches, mut place) = (0, NO_PLACE);
        let (mut polling, mut switching) = (Account::default(), Span::ZERO);
        for number in 0..rounds.members {
            let cost = price(&self.machine.costs, record, &self.tasks[from], &self.tasks[id]);
            let look = self.look(&self.tasks[id]);
            let cycle = look.poll + self.machine.costs.yield_call;
            if number > 0 {
                (charge, span) = (switch_charge + cycle, cost + cycle);
                end += span;
            }
            let times = if end + rounds.round * (most - 1) < rounds.limit { most } else { most - 1 };
            if times < most && place.next.is_none() {
                place = Place { next: id, before: from, number, cost };
            }
            if times == 0 {
                break;
            }
            let task = &mut self.tasks[id];
            key += 1 + if charged { weighted(charge, task.weight) } else { 0 };
            task.vruntime = key + rounds.gain * (times as i64 - 1);
            task.cpu_time += span + (cost + cycle) * (times - 1);
            task.last_ran = end + rounds.round * (times - 1);
            let counters = &mut self.apps[task.app()].counters;
            counters.polls += times;
            counters.yields += times;
            counters.voluntary_switches += times;
            dispatches += times;
            polling.add(look.category, look.poll * times);
            switching += cost * if number == 0 { times - 1 } else { times };
            from = id;
            id = following;
            following = id.some().map_or(TaskId::NONE, |id| self.tasks[id].next);
        }
        if place.next.is_none() {
            // Whole rounds.
            let cost = price(&self.machine.costs, record, &self.tasks[last], &self.tasks[first]);
            place = Place { next: first, before: last, number: 0, cost };
        }
        self.charge_rotation(record, dispatches, (&polling, switching));

        relink(&mut self.tasks, record, last, &place);
        begin_dispatch(&self.model.discipline, &self.machine.costs, &self.tasks, record, &place);
        record.forget_buddies(record.since);
    }

    /// The cpu-time accounting of a cpu after a number of dispatches, and of their switches except the
    /// pending overhead.
    fn charge_rotation(&self, record: &mut Cpu, dispatches: u64, (polling, switching): (&Account, Span)) {
        record.pay_all();
        record.account.add(Category::Switch, switching);
        record.account.merge(polling);
        record.account.add(Category::Yield, self.machine.costs.yield_call * dispatches);
        record.polled.0 += dispatches;
        record.polled.1 += dispatches;
    }

    /// The current task, alone in its priority, completes all its cycles that end before `limit` and before
    /// it observes the end of its wait.
    fn rotate_alone(&mut self, record: &mut Cpu, check: Time, limit: Time) {
        let (look, call) = (self.look(&self.tasks[record.current]), self.machine.costs.yield_call);
        let cycle = look.poll + call;
        let unaware = polls_before(visible_at(&self.tasks[record.current]), check, cycle);
        let before = cycles_before(limit, check + call, cycle);
        let more = unaware.min(before) - 1;

        let (priority, picked) = (self.tasks[record.current].priority, record.picked);
        let last = run_queue::last_of_priority(&self.tasks, record, priority);
        let (charged, discipline) = (self.is_charged(), &self.model.discipline);
        end_cycle((discipline, charged), (look, call), &mut self.tasks, record, (last, check + call));
        let task = &mut self.tasks[record.current];
        if charged {
            task.vruntime += weighted(cycle, task.weight) * more as i64;
        }
        task.cpu_time += cycle * more;
        record.since += cycle * more;
        record.charged = record.since;
        task.last_ran = record.since;
        self.model.discipline.follow_yield(&self.tasks, record);
        record.picked = if self.renews_slice { record.since } else { picked };
        record.forget_buddies(record.since);
        record.polled.0 += more;
        record.account.add(look.category, look.poll * more);
        record.account.add(Category::Yield, call * more);
        let counters = &mut self.apps[self.tasks[record.current].app()].counters;
        counters.polls += 1 + more;
        counters.yields += 1 + more;
    }
}

/// The queue once those before `place` have gone behind `last`.
fn relink(tasks: &mut Tasks, record: &mut Cpu, last: TaskId, place: &Place) {
    let (first, next, head) = (record.current, place.next, record.head);
    if next == first {
        return;
    }
    let rest = tasks[last].next;
    tasks[first].state = TaskState::Queued;
    tasks[next].state = TaskState::Running;
    let follower = if next == last { TaskId::NONE } else { tasks[next].next };
    if follower.is_none() {
        record.head = first;
        tasks[first].previous = TaskId::NONE;
    } else {
        record.head = follower;
        tasks[follower].previous = TaskId::NONE;
        tasks[last].next = first;
        tasks[first].previous = last;
    }
    let end = if place.number > 1 {
        tasks[first].next = head;
        tasks[head].previous = first;
        place.before
    } else {
        first
    };
    tasks[end].next = rest;
    if rest.is_none() {
        record.tail = end;
    } else {
        tasks[rest].previous = end;
    }
    tasks[next].previous = TaskId::NONE;
    tasks[next].next = TaskId::NONE;
    record.current = next;
}

/// A dispatch begins where the one of the task before has ended.
#[inline]
fn begin_dispatch(discipline: &Discipline, costs: &Costs, tasks: &Tasks, record: &mut Cpu, place: &Place) {
    let before = &tasks[place.before];
    record.last_process = if record.several { before.process } else { tasks[place.next].process };
    record.since = before.last_ran;
    record.picked = record.since;
    record.set_switch(place.cost);
    record.charged = (record.since + place.cost).saturating_sub(record.switch_charge(costs));
    discipline.advance_minimum(tasks, record);
}

/// The current task pays its overhead, polls and yields; its cycle ends at `end`. `last`: the last one of its
/// priority in the queue.
#[inline]
fn end_cycle(
    (discipline, charged): (&Discipline, bool),
    (look, call): (Look, Span),
    tasks: &mut Tasks,
    record: &mut Cpu,
    (last, end): (Option<TaskId>, Time),
) {
    let last = last.map(|last| tasks[last].vruntime);
    let task = &mut tasks[record.current];
    if charged {
        let behind = last.map_or(task.vruntime, |last| task.vruntime.max(last + 1));
        task.vruntime = behind + weighted(end.since(record.charged), task.weight);
    } else {
        task.vruntime = last.map_or(0, |last| last + 1);
    }
    task.cpu_time += end - record.since;
    task.last_ran = end;
    record.pay_all();
    record.since = end;
    record.charged = end;
    record.picked = end;
    record.forget_buddies(end);
    discipline.follow_yield(tasks, record);
    record.polled.0 += 1;
    record.account.add(look.category, look.poll);
    record.account.add(Category::Yield, call);
}
