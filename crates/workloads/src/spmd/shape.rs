//! From a problem of fixed size to the program of one of n ranks.

use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread, TransferOrder};
use sim_core::time::{Span, WORK_FRACTION_BITS, Work};

/// How the work between two synchronisations varies over ranks and executions: uniformly, by this half-width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variation {
    /// The same half-width whatever the length.
    Fixed(Spread),
    /// This half-width up to [`Variation::PIECE`]; beyond, an interval is a sum of independent pieces, so it
    /// falls with the square root of the length (and coarse programs such as EP have nothing to gain from
    /// it).
    Pieces(Spread),
}

impl Variation {
    /// Length up to which an interval is one piece, 10 ms.
    pub const PIECE: Span = Span::from_ms(10);

    /// The half-width for work of this length.
    #[must_use]
    pub const fn spread(self, length: Span) -> Spread {
        match self {
            Self::Fixed(spread) => spread,
            Self::Pieces(spread) if length.ns() <= Self::PIECE.ns() => spread,
            Self::Pieces(spread) => {
                let share = ((Self::PIECE.ns() as u128) << 40) / length.ns() as u128;
                Spread(((spread.0 as u128 * share.isqrt()) >> 20) as u32)
            }
        }
    }
}

/// All-to-all transfers at the end of some intervals, before the barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfers {
    /// How many, evenly spread over the run; at most one per interval.
    pub count: u32,
    /// Bytes that all ranks together move in one of them: each reads a block of `volume / n^2` from every
    /// other.
    pub volume: u64,
    /// Order of the sources.
    pub order: TransferOrder,
}

/// How the work between two barriers is handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandedOut {
    /// Portions of an interval, which whoever is free takes one after another.
    pub portions: u32,
    /// What it costs to take the passes of a portion from the common counter, of nominal speed.
    pub cost: Span,
}

/// Intervals with more work than the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Long {
    /// Every so many intervals one is long; at least 1.
    pub every: u32,
    /// Its work, as a multiple of that of the others; at least 1.
    pub factor: u32,
}

/// A problem of fixed size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spmd {
    /// Work of the whole problem at nominal speed, divided evenly among ranks and intervals.
    pub serial: Span,
    /// Part of it that rank 0 does alone, in serial sections evenly spread over the intervals, each before
    /// the interval's parallel work and ended by a barrier of its own (Amdahl 1967; fork and join of a
    /// parallel region).
    pub alone: Span,
    /// Number of pieces of work with a barrier behind them, whatever the number of ranks; at least 1.
    pub intervals: u32,
    /// Intervals as the others, the last with a transfer if the program has any, before the program starts
    /// its clock: the iteration that benchmarks leave untimed. 0: the clock starts with the program. They
    /// come on top of `intervals` and `serial`.
    pub warm_up: u32,
    /// Number of barriers without work before them: one at the start, behind which the clock starts, the
    /// others at the end.
    pub bare: u32,
    /// Variation of each piece of compute.
    pub variation: Variation,
    /// Memory profile of the compute.
    pub profile: MemoryProfile,
    /// Point-to-point exchanges within an interval, at distances 1, 2, 4, ... ranks.
    pub exchanges: u32,
    /// Ranks wait for messages only: an interval ends with its last exchange instead of a barrier, and a
    /// transfer with an exchange at each distance, so that all have sent before any continues.
    pub messages_only: bool,
    /// All-to-all transfers.
    pub transfers: Option<Transfers>,
    /// Intervals that are longer than the others.
    pub long: Option<Long>,
    /// How the work is handed out; `None`: divided evenly beforehand. With exchanges it is always even.
    pub handed_out: Option<HandedOut>,
}

impl Spmd {
    /// Most exchanges per interval: each is an operation of the program.
    pub const MAX_EXCHANGES: u32 = 1_000;

    /// The program of one of `tasks` ranks.
    ///
    /// # Errors
    /// A sentence: no interval, or more work in one piece than a compute operation holds (about 36 minutes).
    pub fn program(&self, tasks: u32) -> Result<Program, String> {
        let tasks = tasks.max(1);
        if self.intervals == 0 {
            return Err("an SPMD program needs at least one interval".into());
        }
        if self.alone > self.serial {
            return Err("the serial part is larger than the whole work".into());
        }
        let body = self.interval(tasks)?;
        let mut ops = Vec::new();
        let transfers = self.transfers.filter(|t| tasks > 1 && t.count > 0 && t.volume > 0);
        let mut plain = self.intervals;
        if self.bare > 0 {
            ops.extend([Op::Barrier, Op::StartClock]);
        }
        if self.warm_up > 0 {
            let one = transfers.map(|t| (t.volume, t.order));
            repeat(&mut ops, self.warm_up - u32::from(one.is_some()), &body);
            if let Some((volume, order)) = one {
                self.transfer(&mut ops, &body, tasks, Op::Transfer { block: block(volume, tasks), order });
            }
            ops.push(Op::StartClock);
        }
        if let Some(transfer) = transfers {
            let count = transfer.count.min(self.intervals);
            let every = self.intervals / count;
            plain -= count * every;
            ops.push(Op::Repeat(count));
            repeat(&mut ops, every - 1, &body);
            let block = block(transfer.volume, tasks);
            self.transfer(&mut ops, &body, tasks, Op::Transfer { block, order: transfer.order });
            ops.push(Op::End);
        }
        match self.long {
            None => repeat(&mut ops, plain, &body),
            Some(_) if transfers.is_some() => {
                return Err("a program has either transfers or long intervals".into());
            }
            Some(long) => mixed(&mut ops, plain, &body, long)?,
        }
        repeat(&mut ops, self.bare.saturating_sub(1), &[Op::Barrier]);
        let mut profiles = vec![self.profile];
        if self.handed_out.is_some() {
            profiles.push(MemoryProfile::NONE);
        }
        Program::new(ops, profiles)
    }

    /// Work of one rank between two synchronisations (exchange or barrier).
    ///
    /// # Errors
    /// A sentence: more than a compute operation holds.
    pub fn piece(&self, tasks: u32) -> Result<Work, String> {
        let pieces =
            u128::from(self.lengths()) * u128::from(self.synchronisations(tasks)) * u128::from(tasks.max(1));
        part(Span::from_ns(self.serial.ns() - self.alone.min(self.serial).ns()), pieces)
    }

    /// The intervals, long ones counted as many times as they are longer.
    #[must_use]
    pub fn lengths(&self) -> u64 {
        let more = self.long.map_or(0, |long| {
            u64::from(self.intervals / long.every.max(1)) * u64::from(long.factor.saturating_sub(1))
        });
        u64::from(self.intervals) + more
    }

    /// Synchronisations of an interval: its exchanges and its barrier.
    #[must_use]
    pub const fn synchronisations(&self, tasks: u32) -> u32 {
        self.exchanges_of(tasks) + !self.ends_with_exchange(tasks) as u32
    }

    const fn ends_with_exchange(&self, tasks: u32) -> bool {
        self.messages_only && self.exchanges_of(tasks) > 0
    }

    /// An interval with a transfer at its end.
    fn transfer(&self, ops: &mut Vec<Op>, body: &[Op], tasks: u32, transfer: Op) {
        if !self.ends_with_exchange(tasks) {
            ops.extend_from_slice(&body[..body.len() - 1]);
            return ops.extend([transfer, Op::Barrier]);
        }
        ops.extend_from_slice(body);
        ops.push(transfer);
        ops.extend((0..distances(tasks)).map(|i| Op::Exchange { shift: 1 << i }));
    }

    const fn exchanges_of(&self, tasks: u32) -> u32 {
        // A lone rank has nobody to talk to.
        if tasks <= 1 { 0 } else { self.exchanges }
    }

    /// Compute and exchange in turn, then compute and barrier.
    fn interval(&self, tasks: u32) -> Result<Vec<Op>, String> {
        let exchanges = self.exchanges_of(tasks);
        if exchanges > Self::MAX_EXCHANGES {
            return Err(format!("an interval can have at most {} exchanges", Self::MAX_EXCHANGES));
        }
        let work = self.piece(tasks)?;
        let spread = self.variation.spread(Span::from_ns(work.floor_ns()));
        let compute = Op::Compute { work, spread, profile: ProfileId(0) };
        // The distances over and over.
        let distances = distances(tasks);
        let mut ops = Vec::new();
        if self.alone > Span::ZERO {
            let work = part(self.alone, u128::from(self.intervals))?;
            let spread = self.variation.spread(Span::from_ns(work.floor_ns()));
            ops.extend([Op::Serial { work, spread, profile: ProfileId(0) }, Op::Barrier]);
        }
        if let Some(handed) = self.handed_out.filter(|_| exchanges == 0) {
            let whole = u128::from(work.raw()) * u128::from(tasks);
            let work = Work::from_raw((whole / u128::from(handed.portions.max(1))) as u64);
            let portion = Op::Compute { work, spread, profile: ProfileId(0) };
            let cost = Work::from_span(handed.cost);
            let taking = Op::Compute { work: cost, spread: Spread::NONE, profile: ProfileId(1) };
            ops.extend([Op::RepeatShared(handed.portions.max(1)), taking, portion, Op::End, Op::Barrier]);
            return Ok(ops);
        }
        for i in 0..exchanges {
            ops.extend([compute, Op::Exchange { shift: 1 << (i % distances) }]);
        }
        if !self.ends_with_exchange(tasks) {
            ops.extend([compute, Op::Barrier]);
        }
        Ok(ops)
    }
}

/// Distances 1, 2, 4, ... below the number of ranks.
const fn distances(tasks: u32) -> u32 {
    let last = if tasks < 2 { 1 } else { tasks - 1 };
    u32::BITS - last.leading_zeros()
}

/// Bytes that each of so many ranks reads from every other when all together move this volume.
fn block(volume: u64, tasks: u32) -> u64 {
    (volume / u64::from(tasks) / u64::from(tasks)).max(1)
}

/// One of `pieces` equal parts of this much work.
fn part(whole: Span, pieces: u128) -> Result<Work, String> {
    let total = u128::from(whole.ns()) << WORK_FRACTION_BITS;
    let raw = (total + pieces / 2).checked_div(pieces).unwrap_or(u128::MAX);
    u64::try_from(raw).ok().filter(|raw| *raw <= Work::MAX.raw() / 4).map(Work::from_raw).ok_or_else(|| {
        "a task computes for more than 36 minutes between two synchronisations; use more intervals".to_owned()
    })
}

/// Appends so many intervals, of which one in `long.every` has more work: the last of them.
fn mixed(ops: &mut Vec<Op>, intervals: u32, body: &[Op], long: Long) -> Result<(), String> {
    let every = long.every.max(1);
    let longer = |op: &Op| match *op {
        Op::Compute { work, spread, profile } => {
            let raw = work.raw().checked_mul(u64::from(long.factor));
            let work = raw.filter(|raw| *raw <= Work::MAX.raw() / 4).map(Work::from_raw);
            let work = work.ok_or("a task computes for more than 36 minutes in a long interval")?;
            Ok(Op::Compute { work, spread, profile })
        }
        other => Ok(other),
    };
    let long: Result<Vec<Op>, String> = body.iter().map(longer).collect();
    let mut cycle = Vec::new();
    repeat(&mut cycle, every - 1, body);
    cycle.extend(long?);
    repeat(ops, intervals / every, &cycle);
    repeat(ops, intervals % every, body);
    Ok(())
}

/// Appends `body` to be executed `times` times.
fn repeat(ops: &mut Vec<Op>, times: u32, body: &[Op]) {
    match times {
        0 => {}
        1 => ops.extend_from_slice(body),
        _ => {
            ops.push(Op::Repeat(times));
            ops.extend_from_slice(body);
            ops.push(Op::End);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What one rank executes: (barriers, exchanges, transfers, raw work).
    pub(crate) fn census(program: &Program) -> (u64, u64, u64, u128) {
        let (mut times, mut stack) = (1u64, Vec::new());
        let (mut barriers, mut exchanges, mut transfers, mut work) = (0, 0, 0, 0);
        for op in program.ops() {
            match op {
                Op::Repeat(n) => {
                    stack.push(times);
                    times *= u64::from(*n);
                }
                Op::End => times = stack.pop().unwrap(),
                Op::Barrier => barriers += times,
                Op::Exchange { .. } => exchanges += times,
                Op::Transfer { .. } => transfers += times,
                Op::Compute { work: w, .. } => work += u128::from(w.raw()) * u128::from(times),
                _ => {}
            }
        }
        (barriers, exchanges, transfers, work)
    }

    const PROBLEM: Spmd = Spmd {
        serial: Span::from_ms(7_001),
        alone: Span::ZERO,
        intervals: 1_237,
        warm_up: 0,
        bare: 0,
        variation: Variation::Pieces(Spread(9_830)),
        profile: MemoryProfile::NONE,
        exchanges: 3,
        messages_only: false,
        handed_out: None,
        long: None,
        transfers: Some(Transfers { count: 10, volume: 1 << 30, order: TransferOrder::Sequential }),
    };

    #[test]
    fn some_intervals_are_longer_and_the_work_is_the_same() {
        let problem = Spmd {
            intervals: 10,
            exchanges: 0,
            transfers: None,
            long: Some(Long { every: 4, factor: 3 }),
            serial: Span::from_ms(28),
            ..PROBLEM
        };
        // 8 short intervals and 2 of three times their length: 14 lengths of 1 ms for each of 2 ranks.
        assert_eq!(problem.lengths(), 14);
        let program = problem.program(2).unwrap();
        let (barriers, .., work) = census(&program);
        assert_eq!((barriers, work >> WORK_FRACTION_BITS), (10, 14_000_000));
        let works: Vec<u64> = program
            .ops()
            .iter()
            .filter_map(|op| if let Op::Compute { work, .. } = op { Some(work.floor_ns()) } else { None })
            .collect();
        assert_eq!(works, [1_000_000, 3_000_000, 1_000_000]);
        assert!(Spmd { transfers: PROBLEM.transfers, ..problem }.program(2).is_err());
    }

    #[test]
    fn the_problem_is_the_same_for_any_number_of_ranks() {
        let total = u128::from(PROBLEM.serial.ns()) << WORK_FRACTION_BITS;
        for tasks in [1, 2, 3, 16, 17, 1_000] {
            let (barriers, exchanges, transfers, work) = census(&PROBLEM.program(tasks).unwrap());
            assert_eq!(barriers, 1_237);
            if tasks > 1 {
                assert_eq!((exchanges, transfers), (3 * 1_237, 10));
            } else {
                assert_eq!((exchanges, transfers), (0, 0));
            }
            // Rounding: half a unit of a millionth of a nanosecond per piece and rank.
            let all = work * u128::from(tasks);
            assert!(all.abs_diff(total) <= u128::from(tasks) * 1_237 * 4 / 2, "{tasks}: {all} of {total}");
        }
    }

    #[test]
    fn blocks_shrink_with_the_square_of_the_ranks() {
        let block = |tasks| {
            let program = PROBLEM.program(tasks).unwrap();
            program.ops().iter().find_map(|op| match op {
                Op::Transfer { block, .. } => Some(*block),
                _ => None,
            })
        };
        assert_eq!((block(1), block(2), block(16)), (None, Some(1 << 28), Some(1 << 22)));
    }

    #[test]
    fn exchanges_reach_a_partner_other_than_oneself() {
        for tasks in [2, 3, 4, 5, 64, 100] {
            for op in PROBLEM.program(tasks).unwrap().ops() {
                if let Op::Exchange { shift } = op {
                    assert!(*shift >= 1 && *shift < tasks, "{shift} of {tasks}");
                }
            }
        }
    }

    #[test]
    fn variation_falls_with_the_root_of_the_length() {
        let width = |ms| Variation::Pieces(Spread(9_830)).spread(Span::from_ms(ms)).0;
        assert_eq!((width(0), width(10)), (9_830, 9_830));
        assert!(width(40).abs_diff(9_830 / 2) <= 1, "{}", width(40));
        assert!(width(1_000).abs_diff(983) <= 1, "{}", width(1_000));
        assert_eq!(Variation::Fixed(Spread(77)).spread(Span::from_ms(1_000)), Spread(77));
    }

    #[test]
    fn serial_sections_are_rank_0_s_alone() {
        let problem = Spmd { alone: Span::from_ms(1_001), transfers: None, exchanges: 0, ..PROBLEM };
        let program = problem.program(16).unwrap();
        let serial: u128 = program
            .ops()
            .iter()
            .map(|op| if let Op::Serial { work, .. } = op { u128::from(work.raw()) * 1_237 } else { 0 })
            .sum();
        let expected = 1_001_000_000u128 << WORK_FRACTION_BITS;
        assert!(serial.abs_diff(expected) <= 1_237);
        let (barriers, _, _, parallel) = census(&program);
        assert_eq!(barriers, 2 * 1_237, "fork and join");
        assert!((16 * parallel).abs_diff(6_000_000_000u128 << WORK_FRACTION_BITS) <= 16 * 1_237);
        assert!(Spmd { alone: Span::from_ms(7_002), ..PROBLEM }.program(4).is_err());
    }

    #[test]
    fn impossible_problems_are_refused() {
        assert!(Spmd { intervals: 0, ..PROBLEM }.program(4).is_err());
        assert!(Spmd { serial: Span::MAX, ..PROBLEM }.program(1).is_err());
        assert!(Spmd { exchanges: 10_000, ..PROBLEM }.program(2).is_err());
    }
}
