//! Programs: operations that have been checked.

use crate::ids::ProfileId;
use crate::limits::{MAX_LOOP_DEPTH, MAX_OPS};
use crate::machine::Memory;
use crate::program::ops::{MemoryProfile, Op, Pages};
use crate::program::{Change, Job, Pool};
use crate::spread::{Quantiles, Spread};
use crate::time::{Span, Speed, Work};

/// A program: validated operations, shared by all ranks of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    ops: Vec<Op>,
    profiles: Vec<MemoryProfile>,
    /// For each `Repeat` the position of its `End` and the reverse; itself otherwise.
    partner: Vec<u32>,
    /// How many loops begun by `Repeat` are around each operation, and behind the last one.
    around: Vec<u8>,
    locks: u32,
    per_pass: Vec<u32>,
    tables: Vec<Quantiles>,
    changes: Vec<Change>,
    /// Under which runtime each operation waits; empty: all under those of their application.
    by: Vec<u8>,
}

impl Program {
    /// A program of these operations; profile ids index `profiles`.
    ///
    /// # Errors
    /// As [`Program::with`].
    pub fn new(ops: Vec<Op>, profiles: Vec<MemoryProfile>) -> Result<Self, String> {
        Self::with(ops, profiles, Vec::new(), Vec::new())
    }

    /// The same with tables, which lengths name ([`Spread::table`]), and changes, which [`Op::Set`] names.
    ///
    /// # Errors
    /// A sentence: loops that do not nest, too deep or endless without consuming time, unknown profiles,
    /// tables or changes, jumps out of a loop or back, ends of regions that did not begin, too many
    /// operations.
    pub fn with(
        ops: Vec<Op>,
        profiles: Vec<MemoryProfile>,
        tables: Vec<Quantiles>,
        changes: Vec<Change>,
    ) -> Result<Self, String> {
        if ops.len() > MAX_OPS {
            return Err(format!("a program has at most {MAX_OPS} operations, this one has {}", ops.len()));
        }
        let partner = Self::loops(&ops)?;
        Self::regions(&ops)?;
        let mut locks = 0;
        for (i, op) in ops.iter().enumerate() {
            Self::check(op, &profiles, &tables, &changes)?;
            match op {
                Op::Lock(lock) | Op::Unlock(lock) => locks = locks.max(lock.0 + 1),
                Op::Arm(event) => {
                    let behind = match ops.get(i + 1) {
                        Some(Op::Unlock(_)) => ops.get(i + 2),
                        other => other,
                    };
                    if behind != Some(&Op::Take { event: *event, count: 1 }) {
                        return Err("a task begins to wait and does not wait next".into());
                    }
                }
                _ => {}
            }
        }
        // Numbers every execution that draws: a draw's index is a pure function of the position in the
        // program.
        let per_pass = ops.iter().map(|op| u32::from(Self::draws(op))).collect();
        let around = Self::around(&ops, &partner);
        Ok(Self { ops, profiles, partner, around, locks, per_pass, tables, changes, by: Vec::new() })
    }

    /// The same with its work and its demand for memory counted in seconds of another core, whose speed
    /// against the nominal one is `unit`. It was written in seconds of the nominal core, and has no jobs of a
    /// pool. Its memory-bound shares stay, so that it runs as before on a machine whose speeds count in this
    /// unit.
    ///
    /// # Errors
    /// A sentence: a piece of work is longer than any may be.
    pub fn in_unit(mut self, unit: Speed, memory: &Memory) -> Result<Self, String> {
        let (unit, nominal) = (u128::from(unit.raw()), u128::from(Speed::NOMINAL.raw()));
        for op in &mut self.ops {
            if let Op::Compute { work, .. } | Op::Serial { work, .. } = op {
                let raw = u128::from(work.raw()) * nominal / unit;
                let raw = u64::try_from(raw).unwrap_or(u64::MAX).max(u64::from(work.raw() > 0));
                *work = Work::from_raw(raw);
            }
        }
        for op in &self.ops {
            Self::check(op, &self.profiles, &self.tables, &self.changes)?;
        }
        for profile in &mut self.profiles {
            profile.bound = Some(profile.bound_on(memory));
            let demand = u128::from(profile.demand) * unit / nominal;
            profile.demand = u64::try_from(demand).unwrap_or(u64::MAX);
        }
        Ok(self)
    }

    /// The same, where each operation waits under another runtime of its application: 0 under the one that
    /// all or those of its team have, n under number n - 1 of [`super::AppSpec::own_runtimes`]. As many as
    /// operations, or none.
    ///
    /// # Errors
    /// A sentence: another number than that of operations, or an operation that does not wait.
    pub fn waiting(self, by: Vec<u8>) -> Result<Self, String> {
        if !by.is_empty() && by.len() != self.ops.len() {
            return Err(format!("{} operations and {} runtimes for them", self.ops.len(), by.len()));
        }
        if by.iter().zip(&self.ops).any(|(by, op)| *by > 0 && !op.waits()) {
            return Err("an operation has a runtime to wait under, and does not wait".into());
        }
        let by = if by.iter().any(|by| *by > 0) { by } else { Vec::new() };
        Ok(Self { by, ..self })
    }

    /// Under which runtime an operation waits ([`Program::waiting`]).
    #[must_use]
    #[inline]
    pub fn by(&self, at: usize) -> u8 {
        self.by.get(at).copied().unwrap_or(0)
    }

    /// The greatest number of a runtime under which one of its operations waits; 0: none has one of its own.
    #[must_use]
    pub fn own_runtimes(&self) -> u8 {
        self.by.iter().copied().max().unwrap_or(0)
    }

    /// For each `Repeat` the position of its `End` and the reverse, for other operations their own.
    fn loops(ops: &[Op]) -> Result<Vec<u32>, String> {
        let mut partner: Vec<u32> = (0..ops.len() as u32).collect();
        let mut open: Vec<usize> = Vec::new();
        for (i, op) in ops.iter().enumerate() {
            match op {
                Op::Repeat(_) | Op::RepeatShared(_) => {
                    open.push(i);
                    if open.len() > MAX_LOOP_DEPTH {
                        return Err(format!("loops nest at most {MAX_LOOP_DEPTH} deep"));
                    }
                    if *op == Op::RepeatShared(0) {
                        return Err("a shared loop has at least one pass".into());
                    }
                }
                Op::End => {
                    let Some(start) = open.pop() else {
                        return Err("a loop ends that was not begun".into());
                    };
                    partner[start] = i as u32;
                    partner[i] = start as u32;
                }
                _ => {}
            }
        }
        if !open.is_empty() {
            return Err("a loop is not ended".into());
        }
        let mut around = ops.len();
        let mut ends = vec![around];
        for (i, op) in ops.iter().enumerate() {
            match op {
                Op::Repeat(_) | Op::RepeatShared(_) => {
                    around = partner[i] as usize;
                    ends.push(around);
                    Self::passes(ops, &partner, i)?;
                }
                Op::End => {
                    ends.pop();
                    around = *ends.last().unwrap_or(&ops.len());
                }
                Op::Branch { to, .. } | Op::Jump(to) | Op::Lead(to) | Op::Apart { to, .. } => {
                    let to = usize::from(*to);
                    // A loop that begins between the two is over before the second.
                    let inside = (i + 1..to.min(ops.len())).all(|at| {
                        !matches!(ops[at], Op::Repeat(_) | Op::RepeatShared(_)) || (partner[at] as usize) < to
                    });
                    if to <= i || to > around || !inside {
                        return Err("a jump leads forward, and not out of a loop or into one".into());
                    }
                }
                _ => {}
            }
        }
        Ok(partner)
    }

    /// Refuses the body of a loop that can pass without taking time, or whose passes cannot be shared.
    fn passes(ops: &[Op], partner: &[u32], start: usize) -> Result<(), String> {
        let end = partner[start] as usize;
        // Which operations can be reached from the start of the body in no time.
        let mut at_once = vec![false; end + 1 - start];
        at_once[1] = true;
        for i in start + 1..end {
            if !at_once[i - start] || Self::takes_time(&ops[i]) {
                continue;
            }
            let behind = match ops[i] {
                Op::Branch { to, .. } | Op::Lead(to) | Op::Apart { to, .. } => {
                    [Some(usize::from(to)), Some(i + 1)]
                }
                Op::Jump(to) => [Some(usize::from(to)), None],
                // All its passes may be taken.
                Op::RepeatShared(_) => [Some(partner[i] as usize + 1), Some(i + 1)],
                _ => [Some(i + 1), None],
            };
            for next in behind.into_iter().flatten().filter(|next| *next <= end) {
                at_once[next - start] = true;
            }
        }
        if at_once[end - start] {
            return Err("a loop body must take time (compute, sleep, barrier or the like)".into());
        }
        if matches!(ops[start], Op::RepeatShared(_)) && ops[start + 1..end].iter().any(Self::is_shared_by_all)
        {
            return Err("tasks share the passes of a loop only if they do not meet in it".into());
        }
        Ok(())
    }

    /// Refuses an operation whose values cannot be.
    fn check(
        op: &Op,
        profiles: &[MemoryProfile],
        tables: &[Quantiles],
        changes: &[Change],
    ) -> Result<(), String> {
        match op {
            Op::Compute { work, spread, profile } | Op::Serial { work, spread, profile } => {
                Self::computes((*work, *spread, *profile), profiles, tables)?;
            }
            Op::Sleep { spread, .. } if !spread.is_legal(tables.len()) => {
                return Err("a sleep's variation is out of range".into());
            }
            Op::Io { span, spread, .. } if !spread.is_legal(tables.len()) || *span == Span::ZERO => {
                return Err("the work of a device is out of range".into());
            }
            Op::Take { count: 0, .. } => return Err("a task takes at least one unit of an event".into()),
            Op::Message(with) | Op::Apart { with, .. } if !with.is_legal() => {
                return Err("a rank has no such bit".into());
            }
            Op::Meet { parties: 0, .. } => return Err("at least one task meets".into()),
            Op::Until { period: Span::ZERO, .. } => return Err("a clock has a period above 0".into()),
            Op::Set(change) if usize::from(*change) >= changes.len() => {
                return Err(format!("the change {change} is not declared"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses work that cannot be computed with these profiles and tables.
    fn computes(
        (work, spread, profile): (Work, Spread, ProfileId),
        profiles: &[MemoryProfile],
        tables: &[Quantiles],
    ) -> Result<(), String> {
        // The greatest length, in means.
        let most = match spread.table_number() {
            Some(number) => tables.get(number).map_or(1, |table| u64::from(table.greatest() >> 16) + 1),
            None if spread == Spread::EXPONENTIAL => Spread::LONGEST,
            None => 2,
        };
        if profile.0 as usize >= profiles.len() {
            return Err(format!("{profile} is not declared"));
        }
        if !spread.is_legal(tables.len()) || work.raw() > Work::MAX.raw() / most {
            return Err("a compute operation is out of range".into());
        }
        Ok(())
    }

    /// Refuses a pool whose jobs its tasks cannot compute.
    pub(super) fn can_work(&self, pool: &Pool) -> Result<(), String> {
        let computes = |of: &Job| (of.work, of.spread, of.profile);
        pool.jobs.iter().try_for_each(|job| Self::computes(computes(job), &self.profiles, &self.tables))
    }

    /// Each end of a parallel region stands behind a barrier of the team that began it, in the same loop: at
    /// a tree, who has signalled the end waits at the next beginning.
    fn regions(ops: &[Op]) -> Result<(), String> {
        let mut begun = vec![false];
        for op in ops {
            match op {
                Op::Repeat(_) | Op::RepeatShared(_) => begun.push(false),
                Op::End => drop(begun.pop()),
                Op::TeamBarrier => begun.last_mut().into_iter().for_each(|begun| *begun = true),
                Op::Join if !begun.last_mut().is_some_and(std::mem::take) => {
                    return Err("a parallel region ends and has not begun in the same loop".into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// How many loops begun by `Repeat` are around each operation: their `End` is inside.
    fn around(ops: &[Op], partner: &[u32]) -> Vec<u8> {
        let mut depth = 0;
        let of = |(at, op): (usize, &Op)| {
            let around = depth;
            match op {
                Op::Repeat(_) => depth += 1,
                Op::End if matches!(ops[partner[at] as usize], Op::Repeat(_)) => depth -= 1,
                _ => {}
            }
            around
        };
        ops.iter().enumerate().map(of).chain([0]).collect()
    }

    const fn takes_time(op: &Op) -> bool {
        match op {
            Op::Compute { work, .. } => work.raw() > 0,
            Op::Sleep { span, .. } => span.ns() > 0,
            Op::Barrier | Op::TeamBarrier | Op::Respawn | Op::Yield | Op::Until { .. } | Op::Io { .. } => {
                true
            }
            Op::Work(_) => true,
            // Serial work takes no time of the other ranks. Units of an event may be there.
            Op::Serial { .. }
            | Op::LeadersBarrier
            | Op::Join
            | Op::Exchange { .. }
            | Op::Message(_)
            | Op::Transfer { .. }
            | Op::Lock(_)
            | Op::Unlock(_)
            | Op::StartClock
            | Op::Repeat(_)
            | Op::RepeatShared(_)
            | Op::End
            | Op::Post { .. }
            | Op::Take { .. }
            | Op::Arm(_)
            | Op::Meet { .. }
            | Op::Branch { .. }
            | Op::Jump(_)
            | Op::Lead(_)
            | Op::Apart { .. }
            | Op::Set(_)
            | Op::Done => false,
        }
    }

    /// Tasks wait for each other here, or the operation is one that ranks must execute equally often.
    const fn is_shared_by_all(op: &Op) -> bool {
        matches!(
            op,
            Op::Barrier
                | Op::TeamBarrier
                | Op::Join
                | Op::LeadersBarrier
                | Op::Exchange { .. }
                | Op::Message(_)
                | Op::Transfer { .. }
                | Op::RepeatShared(_)
        )
    }

    const fn draws(op: &Op) -> bool {
        matches!(
            op,
            Op::Compute { .. } | Op::Serial { .. } | Op::Sleep { .. } | Op::Io { .. } | Op::Branch { .. }
        )
    }

    /// The operations.
    #[must_use]
    #[inline]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The memory profiles.
    #[must_use]
    pub fn profiles(&self) -> &[MemoryProfile] {
        &self.profiles
    }

    /// Bytes a rank touches before it works on them: the largest working set whose pages lie by first touch.
    #[must_use]
    pub fn first_touched(&self) -> u64 {
        let by_touch =
            |p: &&MemoryProfile| matches!(p.pages, Pages::FirstTouch | Pages::NextTouch | Pages::Team);
        self.profiles.iter().filter(by_touch).map(|p| p.working_set).max().unwrap_or(0)
    }

    /// Bytes of a rank that automatic NUMA balancing scans: the largest working set in its reach.
    #[must_use]
    pub fn scanned(&self) -> u64 {
        let sets = self.profiles.iter().filter(|p| p.is_scanned()).map(|p| p.working_set);
        sets.max().unwrap_or(0)
    }

    /// True when its ranks ever wait for each other, at barriers or in exchanges.
    #[must_use]
    pub fn synchronises(&self) -> bool {
        let meets = |op: &Op| matches!(op, Op::Barrier | Op::TeamBarrier | Op::Join | Op::LeadersBarrier);
        let tells = |op: &Op| matches!(op, Op::Exchange { .. } | Op::Message(_));
        self.ops.iter().any(|op| meets(op) || tells(op))
    }

    /// A length varied by a uniform 32-bit draw.
    #[must_use]
    #[inline]
    pub fn vary(&self, mean: u64, spread: Spread, draw: u32) -> u64 {
        match spread.table_number().and_then(|number| self.tables.get(number)) {
            Some(table) => table.apply(mean, draw),
            None => spread.apply(mean, draw),
        }
    }

    /// The mean of lengths that vary so about a stated one.
    pub(crate) fn mean(&self, stated: u64, spread: Spread) -> u64 {
        let table = spread.table_number().and_then(|number| self.tables.get(number));
        table.map_or(stated, |table| table.mean(stated))
    }

    /// The tables that lengths name.
    #[must_use]
    pub fn tables(&self) -> &[Quantiles] {
        &self.tables
    }

    /// The changes that its tasks make to themselves.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The number of clocks of each of its tasks.
    #[must_use]
    pub fn clocks(&self) -> usize {
        let clock = |op: &Op| if let Op::Until { clock, .. } = op { usize::from(*clock) + 1 } else { 0 };
        self.ops.iter().map(clock).max().unwrap_or(0)
    }

    /// True when one of its clocks leaves out instants that have passed ([`Op::Until`]).
    #[must_use]
    pub fn skips(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Until { skips: true, .. }))
    }

    /// True when it uses what its run shares, clocks, branches, changes or messages that only some ranks wait
    /// for: its loops do not repeat alike.
    #[must_use]
    pub fn is_irregular(&self) -> bool {
        self.ops.iter().any(|op| {
            matches!(
                op,
                Op::Post { .. }
                    | Op::Take { .. }
                    | Op::Arm(_)
                    | Op::Meet { .. }
                    | Op::Until { .. }
                    | Op::Io { .. }
                    | Op::Branch { .. }
                    | Op::Jump(_)
                    | Op::Lead(_)
                    | Op::Apart { .. }
                    | Op::Set(_)
                    | Op::Work(_)
                    | Op::Message(_)
            )
        })
    }

    /// The number of locks it uses.
    #[must_use]
    pub const fn locks(&self) -> u32 {
        self.locks
    }

    /// The matching `Repeat` or `End` of a loop operation.
    #[must_use]
    #[inline]
    pub fn partner(&self, pc: u32) -> u32 {
        self.partner[pc as usize]
    }

    /// How many loops begun by `Repeat` are around a position.
    #[inline]
    pub(crate) fn loops_around(&self, pc: u16) -> usize {
        usize::from(self.around[usize::from(pc)])
    }

    /// The beginning of the outermost loop around a position.
    #[must_use]
    pub fn outermost(&self, pc: u32) -> Option<u32> {
        let mut at = 0;
        while at < pc {
            match self.ops.get(at as usize)? {
                Op::Repeat(_) | Op::RepeatShared(_) if pc <= self.partner(at) => return Some(at),
                Op::Repeat(_) | Op::RepeatShared(_) => at = self.partner(at) + 1,
                _ => at += 1,
            }
        }
        None
    }

    /// The number of variates one pass over the list draws.
    #[must_use]
    pub fn draws_per_pass(&self) -> u32 {
        self.per_pass.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EventId, LockId};

    #[test]
    fn shared_loops_hold_nothing_that_ranks_must_do_equally_often() {
        let nap = Op::Sleep { span: Span::from_ms(1), spread: Spread::EXPONENTIAL };
        let new = |ops: Vec<Op>| Program::new(ops, Vec::new());
        assert!(new(vec![Op::RepeatShared(3), nap, Op::Respawn, Op::End]).is_ok());
        assert!(new(vec![Op::RepeatShared(0), nap, Op::End]).is_err());
        for op in [Op::Barrier, Op::TeamBarrier, Op::LeadersBarrier, Op::Exchange { shift: 1 }] {
            assert!(new(vec![Op::RepeatShared(3), nap, op, Op::End]).is_err());
        }
        let begin = Op::TeamBarrier;
        assert!(new(vec![Op::Repeat(3), begin, nap, begin, Op::Join, Op::End]).is_ok());
        for ops in [
            vec![Op::Join],
            vec![begin, Op::Join, Op::Join],
            vec![begin, Op::Repeat(3), nap, Op::Join, Op::End],
        ] {
            assert!(new(ops).unwrap_err().contains("has not begun"));
        }
        assert!(new(vec![Op::RepeatShared(3), Op::RepeatShared(3), nap, Op::End, nap, Op::End]).is_err());
        assert!(
            new(vec![Op::Repeat(0), Op::LeadersBarrier, Op::End]).is_err(),
            "most tasks would not take time"
        );
    }

    #[test]
    fn malformed_programs_are_refused() {
        let compute = Op::Compute {
            work: Work::from_span(Span::from_ms(1)),
            spread: Spread::NONE,
            profile: ProfileId(0),
        };
        let new = |ops: Vec<Op>| Program::new(ops, vec![MemoryProfile::NONE]);
        assert!(new(vec![Op::Repeat(2), compute]).is_err());
        assert!(new(vec![Op::End]).is_err());
        assert!(new(vec![Op::Repeat(0), Op::Unlock(LockId(0)), Op::End]).is_err());
        assert!(new(vec![Op::Repeat(1); 9]).is_err());
        let serial = Op::Serial {
            work: Work::from_span(Span::from_ms(1)),
            spread: Spread::NONE,
            profile: ProfileId(0),
        };
        assert!(new(vec![Op::Repeat(0), serial, Op::End]).is_err(), "the other ranks would never end");
        let good = new(vec![Op::Repeat(2), compute, Op::Barrier, Op::End]).unwrap();
        assert_eq!((good.partner(0), good.partner(3)), (3, 0));
        let inner = [Op::RepeatShared(3), compute, Op::End, Op::Repeat(0), compute, Op::End];
        let nested = new([vec![Op::Repeat(2)], inner.to_vec(), vec![Op::End]].concat()).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|pc| nested.loops_around(pc)),
            [0, 1, 1, 1, 1, 2, 2, 1, 0]
        );
    }

    #[test]
    fn jumps_stay_in_their_loop_and_every_way_takes_time() {
        let nap = Op::Sleep { span: Span::from_ms(1), spread: Spread::NONE };
        let new = |ops: Vec<Op>| Program::new(ops, Vec::new());
        let branch = |to| Op::Branch { share: 1 << 31, to };
        assert!(new(vec![Op::Repeat(0), branch(4), nap, Op::Jump(5), nap, Op::End]).is_ok());
        // One of the two ways takes no time.
        assert!(new(vec![Op::Repeat(0), branch(3), nap, Op::End]).is_err());
        assert!(new(vec![Op::Repeat(0), branch(3), nap, nap, Op::End]).is_ok());
        // Out of a loop, into one, back, to itself, beyond the end.
        assert!(new(vec![Op::Repeat(2), Op::Jump(4), nap, Op::End, nap]).is_err());
        assert!(new(vec![Op::Jump(2), Op::Repeat(2), nap, Op::End]).is_err());
        assert!(new(vec![nap, Op::Jump(0)]).is_err());
        assert!(new(vec![Op::Jump(0)]).is_err());
        assert!(new(vec![nap, Op::Jump(3)]).is_err());
        assert!(new(vec![nap, Op::Jump(2)]).is_ok());
        assert!(new(vec![Op::Jump(4), Op::Repeat(2), nap, Op::End, nap]).is_ok());
    }

    #[test]
    fn operations_on_objects_are_checked() {
        let new = |ops: Vec<Op>| Program::new(ops, Vec::new());
        let (event, lock) = (EventId(2), LockId(0));
        let take = |count| Op::Take { event, count };
        assert!(new(vec![Op::Arm(event), Op::Unlock(lock), take(1)]).is_ok());
        assert!(new(vec![Op::Arm(event), Op::Unlock(lock)]).is_err());
        assert!(new(vec![take(0)]).is_err() && new(vec![Op::Set(0)]).is_err());
        assert!(new(vec![Op::Repeat(0), take(1), Op::End]).is_err());
        let until = |clock, period| Op::Until { clock, first: Span::ZERO, period, skips: false };
        assert!(new(vec![until(0, Span::ZERO)]).is_err());
        let program = new(vec![until(3, Span::from_ms(1)), take(1), Op::Lock(lock)]).unwrap();
        assert_eq!((program.clocks(), program.is_irregular(), program.locks()), (4, true, 1));
    }
}
