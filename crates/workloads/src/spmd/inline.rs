//! `spmd`: an SPMD program written inline in a scenario.

use notation::declare::{Duration, Percent, Rate, Size};
use notation::parameter::{Parameter, Values};
use notation::{choices, parameters};
use sim_core::ids::NodeId;
use sim_core::program::{MemoryProfile, Pages, TransferOrder};
use sim_core::rng::draw;
use sim_core::time::Span;

use super::{Long, Spmd, Transfers, Variation};
use crate::entry::{Built, Context, Entry};
use crate::variation::Varies;

/// Longest time of a parameter, ten years.
const LONGEST: u64 = 315_360_000_000_000_000;
/// Largest demand of one task, 1 TB/s: sums over all tasks of a run stay below 2^64.
pub(crate) const MAX_RATE: u64 = 1_000_000_000_000;
/// Largest size, 1 PiB.
pub(crate) const MAX_SIZE: u64 = 1 << 50;
/// Barriers are counted in 32 bits.
const MAX_INTERVALS: u64 = u32::MAX as u64;

choices! {
    /// The words of `shape`.
    enum Shape { Linear = "linear", OneSlow = "one-slow", Random = "random", Gradient = "gradient" }
}

choices! {
    /// The words of `pages`.
    enum Placement {
        FirstTouch = "first-touch",
        Interleaved = "interleaved",
        Node0 = "node0",
        NextTouch = "next-touch",
        Master = "master",
        Team = "team",
    }
}

choices! {
    /// The words of `transfer_order`.
    enum Order { Sequential = "sequential", Rotated = "rotated" }
}

parameters! {
    /// Parameters of `spmd`.
    struct Parameters {
        /// Work of the whole problem at nominal speed, divided among the tasks. It is ignored when `grain` is
        /// given.
        work: Duration = s(16), in 1..=LONGEST;
        /// Work of each task between two barriers, so that the problem grows with the number of tasks. 0s
        /// derives it from `work`.
        grain: Duration = 0, in 0..=LONGEST;
        /// Number of barriers, whatever the number of tasks.
        intervals: u32 = 100, in 1..=MAX_INTERVALS;
        /// Number of intervals of which one is longer than the others. 0 means that all are equal.
        long_every: u32 = 0, in 0..=MAX_INTERVALS;
        /// Work of a long interval, as a multiple of that of the others.
        long_factor: u32 = 10, in 1..=1_000_000;
        /// Half-width of the uniform variation of the work over tasks and intervals.
        spread: Percent = 0, in 0..=percent(100);
        /// Share of the work that rank 0 does alone while the others wait. Each interval then has a serial
        /// section and one more barrier.
        serial: Percent = 0, in 0..=percent(100);
        /// Work that rank 0 does alone for each other task over the whole run, in the same serial sections.
        /// This part grows with the number of tasks.
        serial_per_task: Duration = 0, in 0..=LONGEST;
        /// Largest permanent difference of a rank's work from the mean. `shape` defines how it is
        /// distributed.
        imbalance: Percent = 0, in 0..=percent(100);
        /// Distribution of the imbalance: the work rises linearly from rank 0 to the last rank (`linear`),
        /// only the last rank has more (`one-slow`), or the work is drawn at random, the same in every run
        /// (`random`). With `gradient` it rises linearly over the problem, by `imbalance` from the middle to
        /// either end, and each rank has one of equal parts: n ranks differ by n - 1 n-ths of that.
        shape: Shape = Shape::Linear;
        /// Variation of the pieces of work: uniform with the half-width `spread`, or exponential.
        variation: Varies = Varies::Uniform;
        /// Memory traffic of a task while it computes alone at nominal speed.
        demand: Rate = 0, in 0..=MAX_RATE;
        /// Share of its time that a task waits for memory. 0% derives it from the demand.
        bound: Percent = 0, in 0..=percent(100);
        /// Bytes that a task works on. They limit the refill of its caches after a migration.
        working_set: Size = 0, in 0..=MAX_SIZE;
        /// Where the memory pages lie: where each task first touched its pages (`first-touch`), spread over
        /// all nodes (`interleaved`), all on node 0 (`node0`), where each task last touched its pages, which
        /// are copied there (`next-touch`), where the first task of each process touched those of all its
        /// tasks (`master`), or where the tasks of a process touched parts of data that all of them then use
        /// at random (`team`).
        pages: Placement = Placement::FirstTouch;
        /// Share of the accesses that go to data of all tasks, which are spread over all nodes.
        shared: Percent = 0, in 0..=percent(100);
        /// Point-to-point exchanges within each interval, at distances of 1, 2, 4, ... ranks.
        exchanges: u32 = 0, in 0..=Spmd::MAX_EXCHANGES as u64;
        /// Bytes that all tasks together move in one all-to-all transfer. 0B means no transfers.
        transfer: Size = 0, in 0..=MAX_SIZE;
        /// Number of all-to-all transfers, evenly spread over the run, at most one per interval.
        transfers: u32 = 1, in 0..=MAX_INTERVALS;
        /// Order of the sources: all ranks start at rank 0 (`sequential`), or each rank starts at its
        /// successor (`rotated`).
        transfer_order: Order = Order::Sequential;
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "spmd",
    summary: "a program described in the scenario: intervals of compute, exchange, transfer and barrier",
    source: "the structure common to bulk-synchronous codes (Valiant 1990)",
    example: "solver: { workload: { spmd: { work: 1s, intervals: 50, spread: 15%, demand: 500MB/s } }, \
        runtime: openmp }",
    parameters: Parameters::TABLE,
    own: build,
};

fn build(values: &Values, context: &Context<'_>) -> Result<Built, String> {
    let values = Parameters::from(values);
    let intervals = values.intervals;
    let long =
        (values.long_every > 0).then_some(Long { every: values.long_every, factor: values.long_factor });
    let more = long.map_or(0, |long| u64::from(intervals / long.every) * u64::from(long.factor - 1));
    let serial = match values.grain.ns() {
        0 => Some(values.work.ns()),
        grain => (u64::from(intervals) + more)
            .checked_mul(u64::from(context.tasks))
            .and_then(|n| n.checked_mul(grain)),
    };
    let Some(serial) = serial else {
        return Err(
            "`grain` times `intervals` times the number of tasks is more than 584 years of work".into()
        );
    };
    let (serial, alone) =
        serial_part(serial, values.serial.hundredths(), values.serial_per_task.ns(), context.tasks)?;
    let spmd = Spmd {
        handed_out: None,
        long,
        warm_up: 0,
        bare: 0,
        serial,
        alone,
        intervals,
        variation: Variation::Fixed(values.variation.by(values.spread)),
        profile: profile(&values),
        exchanges: values.exchanges,
        messages_only: false,
        transfers: (values.transfer.bytes() > 0).then_some(Transfers {
            count: values.transfers,
            volume: values.transfer.bytes(),
            order: match values.transfer_order {
                Order::Sequential => TransferOrder::Sequential,
                Order::Rotated => TransferOrder::Rotated,
            },
        }),
    };
    let program = spmd.program(context.tasks)?;
    Ok(Built {
        rank_scale: imbalanced(values.imbalance.hundredths(), values.shape, context.tasks),
        ..Built::even(program)
    })
}

/// The whole work and rank 0's part of it: a share in hundredths of a per cent, and so much for each other
/// task.
pub(crate) fn serial_part(work: u64, share: u64, per_task: u64, tasks: u32) -> Result<(Span, Span), String> {
    let others = u64::from(tasks.saturating_sub(1));
    let sums = per_task.checked_mul(others).and_then(|extra| Some((extra, work.checked_add(extra)?)));
    let Some((extra, whole)) = sums else {
        return Err("the serial part is more than 584 years of work".into());
    };
    let alone = (u128::from(work) * u128::from(share.min(10_000)) / 10_000) as u64 + extra;
    Ok((Span::from_ns(whole), Span::from_ns(alone)))
}

/// The parameters that describe how a program uses memory.
pub(crate) const MEMORY: &[Parameter] =
    &[Parameters::demand, Parameters::bound, Parameters::working_set, Parameters::pages, Parameters::shared];

/// The memory profile of values of a table that [`MEMORY`] is a part of, in this order.
pub(crate) fn memory(values: &Values) -> MemoryProfile {
    profile(&Parameters::from(&values.only(is_memory)))
}

/// Whether a parameter is one of [`MEMORY`].
pub(crate) fn is_memory(parameter: &Parameter) -> bool {
    MEMORY.iter().any(|memory| memory.name == parameter.name)
}

fn profile(values: &Parameters) -> MemoryProfile {
    let demand = values.demand.bytes_per_second();
    let bound = match values.bound.hundredths() {
        0 if demand == 0 => Some(0),
        0 => None,
        share => Some((share * 65_536 / 10_000) as u32),
    };
    let pages = match values.pages {
        Placement::FirstTouch => Pages::FirstTouch,
        Placement::Interleaved => Pages::Interleaved,
        Placement::Node0 => Pages::Node(NodeId(0)),
        Placement::NextTouch => Pages::NextTouch,
        Placement::Master => Pages::Master,
        Placement::Team => Pages::Team,
    };
    let shared = (values.shared.hundredths() * 65_536 / 10_000) as u32;
    MemoryProfile { demand, bound, working_set: values.working_set.bytes(), pages, shared }
}

/// Thousandths of the mean for each rank; the mean stays 1,000 up to rounding.
fn imbalanced(imbalance: u64, shape: Shape, tasks: u32) -> Vec<u32> {
    if imbalance == 0 || tasks < 2 {
        return Vec::new();
    }
    let (half, last) = (imbalance as i64 / 10, i64::from(tasks) - 1);
    let ranks = 0..i64::from(tasks);
    let offsets: Vec<i64> = match shape {
        Shape::Linear => ranks.map(|rank| half * (2 * rank - last) / last).collect(),
        // The middle of part r of n lies at (2 r - (n - 1)) / n between -1 and 1.
        Shape::Gradient => ranks.map(|rank| half * (2 * rank - last) / (last + 1)).collect(),
        Shape::OneSlow => ranks.map(|rank| if rank == last { half } else { -half / last }).collect(),
        Shape::Random => {
            // Uniform; half the width on either side of their own mean.
            let drawn = |rank: i64| half * i64::from(draw(0, rank as u64 + 1) >> 12) / (1 << 19) - half;
            let mean = ranks.clone().map(drawn).sum::<i64>() / i64::from(tasks);
            ranks.map(|rank| drawn(rank) - mean).collect()
        }
    };
    // A rank has at least some work.
    offsets.into_iter().map(|offset| (1_000 + offset).max(1) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::super::shape::tests::census;
    use super::*;
    use notation::declare::Choice;

    fn built(settings: &[(&str, u64)], tasks: u32) -> Built {
        let mut values = Values::defaults(Parameters::TABLE);
        for (name, value) in settings {
            values.set(name, *value).unwrap();
        }
        build(&values, &Context { tasks, runtime: "upc", machine: "" }).unwrap()
    }

    #[test]
    fn grain_is_per_task_and_work_is_per_problem() {
        let work = |settings: &[(&str, u64)], tasks| census(&built(settings, tasks).program).3 >> 20;
        assert_eq!(work(&[("grain", 1_000_000)], 4), 100_000_000);
        assert_eq!(work(&[("grain", 1_000_000)], 16), 100_000_000);
        assert_eq!(work(&[("work", 1_600_000_000)], 16), 100_000_000);
        assert_eq!(work(&[("work", 1_600_000_000)], 4), 400_000_000);
    }

    #[test]
    fn imbalance_keeps_the_mean() {
        assert_eq!(built(&[("imbalance", 2_000)], 3).rank_scale, [800, 1_000, 1_200]);
        for tasks in [2, 7, 16, 1_000] {
            let scale = built(&[("imbalance", 1_230)], tasks).rank_scale;
            assert_eq!(scale.iter().sum::<u32>(), 1_000 * tasks);
            assert!(scale.is_sorted());
        }
        assert!(built(&[("imbalance", 2_000)], 1).rank_scale.is_empty());
    }

    #[test]
    fn shapes_of_imbalance() {
        assert_eq!(built(&[("imbalance", 3_000), ("shape", 1)], 4).rank_scale, [900, 900, 900, 1_300]);
        // Halves and quarters of one problem, whose density rises from 700 to 1,300.
        assert_eq!(built(&[("imbalance", 3_000), ("shape", 3)], 2).rank_scale, [850, 1_150]);
        assert_eq!(built(&[("imbalance", 3_000), ("shape", 3)], 4).rank_scale, [775, 925, 1_075, 1_225]);
        let random = built(&[("imbalance", 3_000), ("shape", 2)], 16).rank_scale;
        assert_eq!(random, built(&[("imbalance", 3_000), ("shape", 2)], 16).rank_scale);
        let sum = random.iter().sum::<u32>();
        assert!(sum.abs_diff(16_000) < 16, "{random:?}");
        assert!(!random.is_sorted() && random.iter().all(|scale| scale.abs_diff(1_000) < 600), "{random:?}");
    }

    #[test]
    fn the_serial_part_is_a_share_and_so_much_per_task() {
        assert_eq!(
            serial_part(1_000, 150, 0, 16).unwrap(),
            (Span::from_ns(1_000), Span::from_ns(15)),
            "1.5 % of the work, whatever the number of tasks"
        );
        assert_eq!(serial_part(1_000, 0, 7, 5).unwrap(), (Span::from_ns(1_028), Span::from_ns(28)));
        assert_eq!(serial_part(1_000, 0, 7, 1).unwrap(), (Span::from_ns(1_000), Span::ZERO));
        assert!(serial_part(1, 0, u64::MAX, 5).is_err());
    }

    #[test]
    fn every_way_to_lay_out_pages_can_be_chosen() {
        let node = Pages::Node(NodeId(0));
        let all = [Pages::FirstTouch, Pages::Interleaved, node, Pages::NextTouch, Pages::Master, Pages::Team];
        assert_eq!(all.len(), Placement::WORDS.len());
        for (at, pages) in (0..).zip(all) {
            let profile = built(&[("pages", at), ("shared", 2_500)], 2).program.profiles()[0];
            assert_eq!((profile.pages, profile.shared), (pages, 16_384));
        }
    }

    #[test]
    fn memory_settings_reach_the_profile() {
        let all = [("demand", 2_000_000_000), ("pages", 2), ("working_set", 4_096), ("bound", 5_000)];
        let built = built(&all, 2);
        let profile = built.program.profiles()[0];
        assert_eq!(
            (profile.demand, profile.bound, profile.working_set),
            (2_000_000_000, Some(32_768), 4_096)
        );
        assert_eq!(profile.pages, Pages::Node(NodeId(0)));
        let plain = self::built(&[("demand", 1)], 2);
        assert_eq!(plain.program.profiles()[0].bound, None);
    }

    #[test]
    fn overflow_is_an_error() {
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("grain", LONGEST).unwrap();
        values.set("intervals", MAX_INTERVALS).unwrap();
        assert!(build(&values, &Context { tasks: 100, runtime: "upc", machine: "" }).is_err());
    }
}
