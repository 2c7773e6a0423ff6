//! The pick of EEVDF: the earliest virtual deadline among those that are not ahead of the weighted mean
//! (`pick_eevdf`, kernel/sched/fair.c of Linux 6.18).

use crate::engine::state::Task;
use crate::ids::TaskId;
use crate::run_queue::FAR_KEY;
use crate::run_queue::cfs::weighted;
use crate::run_queue::eevdf_params::{EevdfParams, EevdfYield, Protection};
use crate::time::Span;

/// How long the requests of tasks are, up to how long one that was picked is protected, and what a yield
/// does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests {
    pub(crate) slice: Span,
    pub(crate) protected: Span,
    /// It is protected for the shortest slice of its queue at most.
    pub(crate) shared: bool,
    /// A yield moves the deadline on; it ends the protection as well.
    pub(crate) pushes: bool,
    pub(crate) unprotects: bool,
    /// A timer starts at each pick of another task.
    pub(crate) timed: bool,
}

impl Requests {
    pub(crate) fn of(params: &EevdfParams) -> Self {
        let pushes = params.yields == EevdfYield::Deadline;
        let unprotects = pushes && params.protection == Protection::Deadline;
        let shared = params.protection == Protection::MinSlice && params.protected.is_none();
        Self {
            slice: params.slice,
            protected: params.protected.unwrap_or(Span::MAX),
            shared,
            pushes,
            unprotects,
            timed: params.hrtick,
        }
    }
}

/// What a task competes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Contender {
    pub(crate) weight: u32,
    pub(crate) vruntime: i64,
    pub(crate) vdeadline: i64,
}

impl Contender {
    pub(crate) fn of(task: &Task) -> Self {
        Self { weight: task.weight, vruntime: task.vruntime, vdeadline: task.history.vdeadline }
    }

    /// Runs on by this much virtual time, with requests of `slice`; true when its request is used up
    /// and a new one begins.
    pub(crate) fn age(&mut self, by: i64, slice: Span) -> bool {
        self.vruntime += by;
        let used_up = self.vruntime >= self.vdeadline;
        if used_up {
            self.vdeadline = self.vruntime + weighted(slice, self.weight);
        }
        used_up
    }

    /// The same with requests of this virtual time.
    pub(crate) fn age_by(&mut self, by: i64, request: i64) {
        self.vruntime += by;
        if self.vruntime >= self.vdeadline {
            self.vdeadline = self.vruntime + request;
        }
    }

    /// Runs on `times` times by this much.
    pub(crate) fn age_often(&mut self, each: i64, times: i64, request: i64) {
        let mut rest = times;
        if each > 0 {
            let times_to = |virtual_time: i64| 1.max((virtual_time + each - 1) / each);
            let to_deadline = times_to(self.vdeadline - self.vruntime);
            if to_deadline <= rest {
                self.age_by(each * to_deadline, request);
                rest -= to_deadline;
                let whole = times_to(request);
                if rest >= whole {
                    self.age_by(each * whole * (rest / whole), request);
                    rest %= whole;
                }
            }
        }
        if rest > 0 {
            self.age_by(each * rest, request);
        }
    }

    /// Gives up the rest of its request.
    pub(crate) fn forfeit(&mut self, slice: Span) {
        self.vruntime = self.vdeadline;
        self.vdeadline += weighted(slice, self.weight);
    }

    /// Its deadline moves on by a request, so many times. Linux lets the numbers wrap around; here they stop
    /// far away, where only as many more yields as no run has make a difference.
    pub(crate) fn push(&mut self, request: i64, times: i64) {
        let pushed = self.vdeadline.saturating_add(request.saturating_mul(times));
        self.vdeadline = pushed.min(self.vruntime.saturating_add(FAR_KEY));
    }
}

/// The weighted mean of virtual runtimes, V, as two sums: comparing with it needs no division.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Average {
    pub(crate) load: i64,
    sum: i128,
}

impl Average {
    /// Adds a task.
    #[inline]
    pub(crate) fn add(&mut self, task: &Task) {
        self.load += i64::from(task.weight);
        self.sum += i128::from(task.weight) * i128::from(task.vruntime);
    }

    /// Takes a task out.
    #[inline]
    pub(crate) fn subtract(&mut self, task: &Task) {
        self.load -= i64::from(task.weight);
        self.sum -= i128::from(task.weight) * i128::from(task.vruntime);
    }

    /// The average with one more.
    pub(crate) fn with(mut self, one: Contender) -> Self {
        self.load += i64::from(one.weight);
        self.sum += i128::from(one.weight) * i128::from(one.vruntime);
        self
    }

    /// Eligible: not ahead of the mean.
    pub(crate) fn allows(&self, vruntime: i64) -> bool {
        i128::from(vruntime) * i128::from(self.load) <= self.sum
    }

    /// The mean, rounded down.
    pub(crate) fn value(&self) -> i64 {
        match i64::try_from(self.sum) {
            _ if self.load == 0 => 0,
            // 64-bit division is faster.
            Ok(sum) => sum.div_euclid(self.load),
            Err(_) => self.sum.div_euclid(i128::from(self.load)) as i64,
        }
    }
}

/// The pick (`pick_eevdf`): the current task (`None`) when it is eligible and protected, else the earliest
/// deadline among the eligible, the current one last among equals. Of the waiting ones the first among equals
/// wins.
pub(crate) struct Pick<'a> {
    average: &'a Average,
    /// The current task, if it is eligible.
    current: Option<Contender>,
    /// It is protected as well.
    protected: bool,
    best: Option<(TaskId, i64)>,
}

impl<'a> Pick<'a> {
    /// The current task, and up to where it is protected.
    pub(crate) fn new(average: &'a Average, current: Option<(Contender, i64)>) -> Self {
        let current = current.filter(|(one, _)| average.allows(one.vruntime));
        let protected = current.is_some_and(|(one, protection)| one.vruntime < protection);
        Self { average, current: current.map(|(one, _)| one), protected, best: None }
    }

    /// Another one waits. True when none with the same or a later deadline can be better.
    #[inline]
    pub(crate) fn consider(&mut self, id: TaskId, one: Contender) -> bool {
        if self.protected {
            return true;
        }
        let allowed = self.average.allows(one.vruntime);
        if allowed && self.best.is_none_or(|(_, deadline)| one.vdeadline < deadline) {
            self.best = Some((id, one.vdeadline));
        }
        allowed
    }

    pub(crate) fn result(self) -> Option<TaskId> {
        let (id, deadline) = self.best?;
        self.current.is_none_or(|one| one.vdeadline >= deadline).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn one(weight: u32, vruntime: i64, vdeadline: i64) -> Contender {
        Contender { weight, vruntime, vdeadline }
    }

    fn of(all: &[Contender]) -> Average {
        all.iter().fold(Average::default(), |average, one| average.with(*one))
    }

    #[test]
    fn the_mean_is_weighted_and_compared_without_rounding() {
        let average = of(&[one(2, 0, 0), one(1, 10, 0)]);
        // V = 3 1/3.
        assert!(average.allows(3) && !average.allows(4));
        assert_eq!(average.value(), 3);
        assert_eq!(of(&[one(2, 0, 0), one(1, -10, 0)]).value(), -4);
    }

    #[test]
    fn protection_counts_only_while_eligible() {
        let (me, other) = (one(1, 5, 20), one(1, 5, 10));
        let pick = |me: Contender, protection| {
            let average = of(&[me, other]);
            let mut pick = Pick::new(&average, Some((me, protection)));
            pick.consider(TaskId(7), other);
            pick.result()
        };
        assert_eq!(pick(me, 6), None);
        assert_eq!(pick(me, 5), Some(TaskId(7)));
        assert_eq!(pick(one(1, 6, 8), 8), Some(TaskId(7)), "ahead of the mean");
        assert_eq!(pick(one(1, 5, 10), 5), Some(TaskId(7)), "the waiting one first among equals");
        assert_eq!(pick(one(1, 5, 9), 5), None);
    }

    #[test]
    fn a_yield_costs_what_is_left_of_the_slice() {
        let slice = Span::from_us(1_400);
        let mut task = one(512, 1_000, 2_000);
        task.forfeit(slice);
        assert_eq!((task.vruntime, task.vdeadline), (2_000, 2_000 + 2 * 1_400_000));
        assert!(!task.age(10, slice) && task.age(3_000_000, slice));
        assert_eq!(task.vdeadline - task.vruntime, 2_800_000);
    }
}
