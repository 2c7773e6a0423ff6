//! The time-sharing class of Solaris (illumos of 2005: uts/common/disp/ts.c and ts_dptbl.c): sixty
//! priorities, sinking with each quantum that is used up, rising with sleep and once a second.
//!
//! A key is the priority with its sign changed. Deviations: no kernel priorities, no preemption control, nice
//! ignored.

use crate::engine::state::Task;
use crate::policy::TaskState;
use crate::run_queue::multilevel::{Levels, Parent, Setting, Share};
use crate::run_queue::{Entry, at_least_1us};
use crate::time::{Span, Time};

/// Parameters of the time-sharing class (illumos, ts.c and ts_dptbl.c of 2005).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TsParams {
    /// The dispatch table for large servers instead of the default one.
    pub server_table: bool,
    /// Clock tick that the table's quanta count; at least 1 us. 10 ms.
    pub clock_tick: Span,
    /// Time between two updates of all priorities; at least 1 us. One second.
    pub update: Span,
    /// The update boosts running threads too, not only waiting ones.
    pub lift_running: bool,
    /// Every sleep earns the priority of a sleeper, as in System V Release 4; otherwise only one that began
    /// or went on across an update.
    pub every_sleep: bool,
    /// Priority of the first thread of a program, 0 to 59.
    pub start: u8,
}

/// The best priority.
const BEST: i64 = 59;
/// `ts_maxwait` of the best priority in the default table, updates: never lifted.
const LONGEST_WAIT: u32 = 32_000;

/// `ts_quantum`.
fn quantum(params: &TsParams, key: i64) -> Span {
    let ticks = match (params.server_table, -key) {
        (false, ..=9) => 20,
        (false, 10..=19) => 16,
        (false, 20..=29) => 12,
        (false, 30..=39) => 8,
        (false, 40..=58) => 4,
        (false, _) => 2,
        (true, ..=0) => 40,
        (true, 1..=19) => 38,
        (true, 20..=40) => 36,
        (true, _) => 34,
    };
    params.clock_tick * ticks
}

/// `ts_tqexp`: the priority after a quantum that was used up.
const fn sunk(params: &TsParams, priority: i64) -> i64 {
    if params.server_table && priority < 20 {
        priority / 2
    } else if priority < 10 {
        0
    } else {
        priority - 10
    }
}

/// `ts_slpret`: the priority after a sleep.
const fn rested(params: &TsParams, priority: i64) -> i64 {
    if params.server_table {
        return if priority < BEST { priority + 1 } else { BEST };
    }
    match priority {
        ..=9 => 50,
        10..=19 => 51,
        20..=29 => 52,
        30..=34 => 53,
        35..=39 => 54,
        40..=44 => 55,
        45 => 56,
        46 => 57,
        47..=58 => 58,
        _ => BEST,
    }
}

/// `ts_lwait`: the priority after having waited too long.
fn boosted(params: &TsParams, priority: i64) -> i64 {
    match (params.server_table, priority) {
        (true, _) => (priority + 1).clamp(40, BEST),
        (false, 49..) => BEST,
        (false, _) => rested(params, priority),
    }
}

/// `ts_maxwait`, in updates.
const fn allowed_wait(params: &TsParams, priority: i64) -> u32 {
    match (params.server_table, priority) {
        (true, _) => 2,
        (false, ..=58) => 0,
        (false, _) => LONGEST_WAIT,
    }
}

/// A forked thread has its parent's priority, a woken one that of a sleeper, both with a whole quantum.
fn place(params: &TsParams, task: &mut Task, parent: Option<&Parent>, entry: Entry) {
    match entry {
        Entry::Move => return,
        Entry::Fork => task.vruntime = parent.map_or(-i64::from(params.start), |parent| parent.key),
        Entry::Wake => {
            if !rests(params, task.vruntime, task.history.share.waited) {
                return;
            }
            task.vruntime = woken(params, task.vruntime, task.history.share.waited);
        }
    }
    task.history.share.used = 0;
    task.history.share.waited = 0;
}

const fn rests(params: &TsParams, key: i64, waited: u32) -> bool {
    params.every_sleep || waited > allowed_wait(params, -key)
}

/// The key with which a sleeping task wakes.
const fn woken(params: &TsParams, key: i64, waited: u32) -> i64 {
    if rests(params, key, waited) { -rested(params, -key) } else { key }
}

/// `ts_update_list` and `ts_trapret`, once per update: the new key of a task that has gone too long without a
/// whole quantum. Sleepers only count.
fn update(params: &TsParams, task: &mut Task, running: bool, asleep: bool) -> Option<i64> {
    task.history.share.waited += 1;
    let priority = -task.vruntime;
    if asleep
        || (running && !params.lift_running)
        || task.history.share.waited <= allowed_wait(params, priority)
    {
        return None;
    }
    task.history.share.waited = 0;
    let up = if running { rested(params, priority) } else { boosted(params, priority) };
    if running || up != priority {
        task.history.share.used = 0;
    }
    Some(-up)
}

impl Levels for TsParams {
    fn check_parameters(&self) -> Result<(), String> {
        at_least_1us("update", self.update.min(self.clock_tick))
    }

    fn update_period(&self) -> Option<Span> {
        Some(self.update)
    }

    fn updated(&self, task: &mut Task) -> Option<i64> {
        let (running, asleep) = match task.state {
            TaskState::Running => (true, false),
            TaskState::Queued => (false, false),
            TaskState::Sleeping => (false, true),
            TaskState::New | TaskState::Exited => return None,
        };
        let key = update(self, task, running, asleep)?;
        if running {
            task.history.share.expired = false;
        }
        Some(key)
    }

    fn dispatch_priority(&self, task: &Task) -> i64 {
        match task.state {
            TaskState::New => i64::from(self.start),
            TaskState::Sleeping => -woken(self, task.vruntime, task.history.share.waited),
            _ => -task.vruntime,
        }
    }

    fn quantum(&self, key: i64, _: u32, _: u32) -> Span {
        quantum(self, key)
    }

    /// `ts_tick`: the quantum is used up.
    fn expire(&self, _: &Setting, _: u32, key: i64, share: &mut Share, _: Time) -> i64 {
        share.waited = 0;
        -sunk(self, -key)
    }

    fn steady(&self, key: i64, _: u32, _: &Share) -> bool {
        key == 0
    }

    fn enter(&self, task: &mut Task, parent: Option<&mut Parent>, _: i64, (entry, _): (Entry, Time)) {
        place(self, task, parent.as_deref(), entry);
    }
}

/// The class of tests, with the table of `ts_dptbl(5)`.
#[cfg(test)]
pub(crate) const TIME_SHARING: TsParams = TsParams {
    server_table: false,
    clock_tick: Span::from_ms(10),
    update: Span::from_ms(1_000),
    lift_running: true,
    every_sleep: true,
    start: 59,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_as_printed() {
        let mut params = TIME_SHARING;
        let row = |p: &TsParams, l: i64| {
            [
                quantum(p, -l).ns() as i64 / 10_000_000,
                sunk(p, l),
                rested(p, l),
                i64::from(allowed_wait(p, l)),
                boosted(p, l),
            ]
        };
        assert_eq!(row(&params, 0), [20, 0, 50, 0, 50]);
        assert_eq!(row(&params, 19), [16, 9, 51, 0, 51]);
        assert_eq!(row(&params, 37), [8, 27, 54, 0, 54]);
        assert_eq!(row(&params, 46), [4, 36, 57, 0, 57]);
        assert_eq!(row(&params, 49), [4, 39, 58, 0, 59]);
        assert_eq!(row(&params, 59), [2, 49, 59, 32_000, 59]);
        params.server_table = true;
        assert_eq!(row(&params, 0), [40, 0, 1, 2, 40]);
        assert_eq!(row(&params, 7), [38, 3, 8, 2, 40]);
        assert_eq!(row(&params, 40), [36, 30, 41, 2, 41]);
        assert_eq!(row(&params, 58), [34, 48, 59, 2, 59]);
    }

    #[test]
    fn a_sleeping_thread_has_the_priority_it_will_wake_with() {
        let params = TIME_SHARING;
        let mut task = Task::new(crate::ids::AppId(0), 1024, crate::engine::state::ProcessId::NONE, 0);
        task.vruntime = -19;
        let mut in_state = |state| {
            task.state = state;
            params.dispatch_priority(&task)
        };
        let states = [TaskState::New, TaskState::Queued, TaskState::Running, TaskState::Sleeping];
        assert_eq!(states.map(&mut in_state), [59, 19, 19, 51]);
    }
}
