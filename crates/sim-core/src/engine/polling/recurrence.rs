//! Finds that the polling of a queue repeats itself, and skips whole periods of it.
//!
//! The state of a queue has recurred when the same task is current and each task that has run since is as far
//! ahead of the others as it was: its key has grown by what theirs have. The rules compare keys, so that all
//! dispatches in between happen again, however long the period is. The discipline states for how many periods
//! this holds. The length is unknown; Brent's method finds it: the state is compared with a marked one, and
//! the mark is renewed in growing distances.
//!
//! With task groups nothing is skipped: EEVDF has `members` for them.

use crate::engine::polling::queue_copy::{Done, QueueCopy};
use crate::engine::polling::visible_at;
use crate::engine::state::Task;
use crate::ids::TaskId;
use crate::run_queue::{FAR_KEY, FastForward, Growth, Keys, Picked, Standing};
use crate::time::{Span, Time};

/// Periods must be shorter than this number of cycles from the next event for a mark to be set.
const WORTHWHILE: u64 = 8;

/// The state of a task at the beginning of a dispatch.
#[derive(Clone, Copy)]
struct Earlier {
    keys: Keys,
    done: Done,
    used: Span,
}

/// The state of polling at the beginning of a dispatch, to recognise it when it recurs.
#[derive(Default)]
pub(crate) struct Mark {
    tasks: Vec<Earlier>,
    order: Vec<TaskId>,
    current: Option<TaskId>,
    overhead: Span,
    since: Time,
    switching: Span,
    cycles: u64,
    switches: u64,
    minimum: i64,
    /// Number of its dispatch, returns of its current task, and how many of these it is kept for.
    dispatch: usize,
    returns: u32,
    allowed: u32,
}

impl Mark {
    /// There is none before a dispatch.
    pub(crate) fn clear(&mut self, dispatch: usize) {
        self.current = None;
        (self.dispatch, self.returns, self.allowed) = (dispatch, 0, 1);
    }
}

impl QueueCopy {
    /// At the beginning of a dispatch: skips as many whole periods as pass without event; true when they
    /// continue forever.
    #[inline]
    pub(crate) fn skip_periods(&mut self, rules: &impl FastForward, limit: Time, dispatches: usize) -> bool {
        if self.cpu.rare.group_count > 0 {
            return false;
        }
        if self.mark.current.is_none() {
            if self.mark.dispatch <= dispatches && self.is_worthwhile(limit) {
                self.set_mark(dispatches);
            }
            return false;
        }
        if self.mark.current == Some(self.cpu.current) && self.mark.overhead == self.overhead {
            return self.returns(rules, limit, dispatches);
        }
        if dispatches > 2 * self.mark.dispatch + 2 * self.done.len() + 16 {
            self.set_mark(dispatches);
        }
        false
    }

    /// The next event is far enough. At the very start of a run less of a switch is charged than later.
    fn is_worthwhile(&self, limit: Time) -> bool {
        let head = self.cpu.head.some().map_or(Time::NEVER, |head| visible_at(&self.tasks[head]));
        let end = limit.min(head).min(visible_at(&self.tasks[self.cpu.current]));
        self.cpu.charged > Time::ZERO && end.since(self.cpu.since) > self.cycle(self.cpu.current) * WORTHWHILE
    }

    fn set_mark(&mut self, dispatches: usize) {
        let Self { tasks, done, cpu, mark, .. } = self;
        mark.tasks.clear();
        mark.tasks.extend(tasks.iter().zip(done.iter()).map(|(task, done)| Earlier {
            keys: Keys::of(task),
            done: *done,
            used: task.cpu_time,
        }));
        mark.order.clear();
        mark.order.extend(std::iter::successors(cpu.head.some(), |id| tasks[*id].next.some()));
        mark.current = Some(cpu.current);
        mark.minimum = cpu.min_vruntime;
        mark.since = cpu.since;
        (mark.dispatch, mark.returns) = (dispatches, 0);
        (mark.overhead, mark.switching) = (self.overhead, self.switching);
        (mark.cycles, mark.switches) = (self.cycles, self.switches);
    }

    /// The task that was current at the mark is current again.
    fn returns(&mut self, rules: &impl FastForward, limit: Time, dispatches: usize) -> bool {
        let Some(periods) = self.periods(rules) else {
            self.mark.returns += 1;
            if self.mark.returns >= self.mark.allowed {
                self.mark.allowed *= 2;
                self.set_mark(dispatches);
            }
            return false;
        };
        // Every skipped cycle ends before the limit, and every skipped poll precedes every visibility time.
        let end = self.next_visible().min(limit);
        if end.is_never() && periods == u64::MAX {
            return true;
        }
        let room = end.since(self.cpu.since).ns().saturating_sub(1) / (self.cpu.since - self.mark.since).ns();
        let wanted = if end.is_never() { periods } else { periods.min(room) };
        let times = wanted.min(self.most_by_keys());
        // Less than a period is left, or another pattern follows.
        let bounded = wanted == periods || times < wanted;
        if times > 0 {
            self.repeat(rules, times);
        }
        self.mark.clear(if bounded { dispatches + 1 } else { usize::MAX });
        false
    }

    /// For how many periods no key becomes so large that the origin moves ([`FastForward::move_origin`]).
    fn most_by_keys(&self) -> u64 {
        let room = |(task, then): (&Task, &Earlier)| {
            let growth = task.vruntime - then.keys.vruntime;
            (growth > 0).then(|| (FAR_KEY - 1 - task.vruntime).max(0) as u64 / growth as u64)
        };
        self.tasks.iter().zip(&self.mark.tasks).filter_map(room).min().unwrap_or(u64::MAX)
    }

    /// It has run since the mark.
    fn has_run(&self, id: TaskId) -> bool {
        let then = self.mark.tasks.get(id.0 as usize).map_or(0, |then| then.done.cycles);
        self.done[id.0 as usize].cycles > then
    }

    /// When one of those that run observes the end of its wait.
    fn next_visible(&self) -> Time {
        let ran = self.tasks.ids().take(self.members()).filter(|id| self.has_run(*id));
        let first = ran.map(|id| visible_at(&self.tasks[id])).min().unwrap_or(Time::NEVER);
        if self.directed { first.min(self.able()) } else { first }
    }

    /// How often what has happened since the mark will happen again, if the state has recurred.
    fn periods(&self, rules: &impl FastForward) -> Option<u64> {
        let (mark, current) = (&self.mark, self.cpu.current);
        let priority = self.tasks[current].priority;
        let key = self.tasks[current].vruntime - mark.tasks[current.0 as usize].keys.vruntime;
        let growth = Growth { key, minimum: self.cpu.min_vruntime - mark.minimum };
        let (mut most, mut last, mut beyond) = (u64::MAX, i64::MIN, i64::MAX);
        for (number, done) in self.done.iter().enumerate() {
            let id = TaskId(number as u32);
            let task = &self.tasks[id];
            let then = mark.tasks.get(number).filter(|then| done.cycles > then.done.cycles);
            let Some(then) = then else {
                if done.cycles > 0 && number >= mark.tasks.len() {
                    return None;
                }
                if task.priority == priority {
                    beyond = beyond.min(task.vruntime);
                    if !rules.bears_waiting(growth) {
                        return None;
                    }
                }
                continue;
            };
            let standing = if id == current { Standing::Current } else { Standing::Waiting };
            let recurs = rules.recurs(task, &then.keys, growth, standing);
            if task.vruntime - then.keys.vruntime != growth.key || !recurs {
                return None;
            }
            last = last.max(task.vruntime);
            most = most.min(rules.periods(task, &self.cpu, done.charged - then.done.charged));
        }
        if growth.key > 0 && beyond < i64::MAX {
            // Behind those that are further ahead no task falls.
            most = most.min((beyond - last - 1).max(0) as u64 / growth.key as u64);
        }
        self.is_in_order().then_some(most)
    }

    /// Those that have run since the mark are queued in the same order.
    fn is_in_order(&self) -> bool {
        let here = |id: &TaskId| self.has_run(*id);
        self.queue().filter(here).eq(self.mark.order.iter().copied().filter(here))
    }

    /// What has happened since the mark happens again, this number of times.
    fn repeat(&mut self, rules: &impl FastForward, times: u64) {
        let period = self.cpu.since - self.mark.since;
        for number in 0..self.mark.tasks.len() {
            let (then, done) = (&self.mark.tasks[number], &mut self.done[number]);
            let task: &mut Task = &mut self.tasks[TaskId(number as u32)];
            let key = (task.vruntime - then.keys.vruntime) * times as i64;
            if done.cycles == then.done.cycles {
                continue;
            }
            let charged = (done.charged - then.done.charged) * times;
            rules.repeat(task, &then.keys, &self.cpu, (charged, key));
            done.cycles += (done.cycles - then.done.cycles) * times;
            done.switches += (done.switches - then.done.switches) * times;
            done.charged += charged;
            task.cpu_time += (task.cpu_time - then.used) * times;
            task.last_ran += period * times;
        }
        self.switching += (self.switching - self.mark.switching) * times;
        self.cycles += (self.cycles - self.mark.cycles) * times;
        self.switches += (self.switches - self.mark.switches) * times;
        self.cpu.since += period * times;
        self.cpu.charged += period * times;
        rules.advance_minimum(&self.tasks, &mut self.cpu);
        rules.picked(&mut self.tasks, &mut self.cpu, Picked::Again);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::polling::Look;
    use crate::engine::state::{Prices, ProcessId};
    use crate::ids::AppId;
    use crate::rng;
    use crate::run_queue::eevdf::EevdfParams;
    use crate::run_queue::insert_by;

    /// A queue of tasks whose keys are at most two cycles apart, with requests of all lengths.
    fn queue(params: &EevdfParams, tasks: u32, mut noise: u64) -> QueueCopy {
        let (ns, each) = (Span::from_ns, Span::from_ns(40));
        let look = Look { each, poll: each, category: crate::account::Category::Spin };
        let mut copy = QueueCopy::new(&[look]);
        copy.prices = Prices { call: ns(300), thread: ns(900), process: ns(900) };
        copy.cpu.charged = Time::from_ns(1);
        let mut draw = |bound: u64| ((u64::from(rng::next(&mut noise)) * bound) >> 32) as i64;
        for number in 0..tasks {
            let mut task = Task::new(AppId(0), 1_024, ProcessId::NONE, 0);
            task.vruntime = draw(2_500);
            task.history.vdeadline = task.vruntime + 1 + draw(params.slice.ns().min(1 << 30));
            task.history.protection = task.history.vdeadline;
            let id = copy.tasks.push(task);
            copy.done.push(Done { task: id, directed: false, cycles: 0, switches: 0, charged: Span::ZERO });
            if number == 0 {
                copy.cpu.current = id;
            } else {
                insert_by(params, &mut copy.tasks, &mut copy.cpu, id);
            }
        }
        copy
    }

    /// All that polling changes.
    fn state(copy: &QueueCopy) -> impl PartialEq + std::fmt::Debug + use<> {
        let keys: Vec<Keys> = copy.tasks.iter().map(Keys::of).collect();
        let done: Vec<(u64, u64)> = copy.done.iter().map(|done| (done.cycles, done.switches)).collect();
        let now = (copy.cpu.current, copy.cpu.since, copy.cpu.charged, copy.switching);
        (keys, done, copy.queue().collect::<Vec<_>>(), now)
    }

    fn one_by_one(copy: &mut QueueCopy, params: &EevdfParams, limit: Time) {
        loop {
            let end = copy.cpu.since + copy.overhead + copy.cycle(copy.cpu.current);
            if end >= limit {
                break;
            }
            let caller = copy.cpu.current;
            copy.yields(params, end);
            params.move_origin(&mut copy.tasks, &mut copy.cpu, caller);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of polls one by one")]
    fn skipped_periods_are_those_that_happen_one_by_one() {
        let params = EevdfParams::scaled(1);
        for case in 0..120 {
            let of = || queue(&params, 2 + case % 4, case.into());
            let (mut skips, mut each) = (of(), of());
            let limit = Time::from_ns(4_000_000 + 1_000 * u64::from(case));
            assert_eq!(skips.run(&params, limit), limit);
            one_by_one(&mut each, &params, limit);
            assert_eq!(state(&skips), state(&each), "case {case}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of polls one by one")]
    fn the_origin_of_virtual_time_moves_before_64_bits_end() {
        // At the weight of `SCHED_IDLE` a yield is a 27,000th of 64 bits.
        let params = EevdfParams { slice: Span::from_ms(1_000_000), ..EevdfParams::scaled(1) };
        for case in 0..12 {
            let of = || {
                let mut copy = queue(&params, 2 + case % 4, case.into());
                copy.tasks.iter_mut().for_each(|task| task.weight = 3);
                copy
            };
            let (mut skips, mut each) = (of(), of());
            let limit = Time::from_ns(50_000_000);
            assert_eq!(skips.run(&params, limit), limit);
            one_by_one(&mut each, &params, limit);
            assert!(each.cycles > 30_000, "{} yields", each.cycles);
            assert!(each.tasks.iter().all(|task| task.vruntime < FAR_KEY), "case {case}");
            assert_eq!(state(&skips), state(&each), "case {case}");
        }
    }
}
