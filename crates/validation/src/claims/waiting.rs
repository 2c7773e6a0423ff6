//! How the tasks of a claim wait: what `sched_yield` does, and whether barriers poll or sleep.

use notation::choices;

use super::text::{first, meanings, numbers};

choices! {
    /// What `sched_yield` does.
    pub enum Yield {
        Posix = "posix",
        Default = "default",
    }
}

/// The yields named; `cfs` is the default of the kernel.
pub(super) fn yields(text: &str) -> Vec<Yield> {
    let named =
        meanings(text, &[("posix", Yield::Posix), ("cfs", Yield::Default), ("default", Yield::Default)]);
    [Yield::Posix, Yield::Default].into_iter().filter(|mode| named.contains(mode)).collect()
}

choices! {
    /// How long a barrier of the OpenMP runtime polls before it sleeps.
    pub enum BlockTime {
        Usual = "200ms",
        Zero = "0s",
        Infinite = "infinite",
    }
}

/// The block time in a text like `blocktime 0`, the usual one where it is another.
pub(super) fn block_time(text: &str) -> BlockTime {
    let text = text.to_lowercase();
    let mut words = text.split([' ', ',']).skip_while(|word| !word.contains("blocktime"));
    match words.nth(1).map(|word| word.trim_end_matches(')')) {
        Some("0" | "0s" | "0ms") => BlockTime::Zero,
        Some("infinite" | "infinity" | "inf") => BlockTime::Infinite,
        _ => BlockTime::Usual,
    }
}

/// The block times of barriers that sleep, as in `blocktime default/0`; zero where none is named.
pub(super) fn asleep(text: &str) -> Vec<BlockTime> {
    let usual = first(text, &[("default", BlockTime::Usual), ("200", BlockTime::Usual)]);
    let zero = numbers(text).contains(&0) || usual.is_none();
    usual.into_iter().chain(zero.then_some(BlockTime::Zero)).collect()
}

/// A way to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Look again and again.
    Poll,
    /// Leave the cpu.
    Sleep,
    /// A call or an option that blocks.
    Block,
}

const WAYS: [(&str, Way); 5] = [
    ("poll", Way::Poll),
    ("yield", Way::Poll),
    ("infinite", Way::Poll),
    ("sleep", Way::Sleep),
    ("block", Way::Block),
];

/// How tasks wait at barriers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The ways named.
    pub ways: Vec<Way>,
    /// Any way is meant: all, or the text does not say.
    pub open: bool,
    /// Sleeping is compared with another way.
    pub compared: bool,
    /// The block time of OpenMP.
    pub block_time: BlockTime,
}

impl Wait {
    pub(super) fn read(text: &str) -> Self {
        let ways = meanings(text, &WAYS);
        let lower = text.to_lowercase();
        Self {
            open: lower.starts_with("all") || lower.starts_with("not ") || ways.is_empty(),
            compared: ways.contains(&Way::Sleep) && lower.contains(" vs "),
            block_time: block_time(text),
            ways,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_times_as_written() {
        assert_eq!(block_time("poll+yield vs blocktime 0, blocktime 200ms"), BlockTime::Zero);
        assert_eq!(block_time("polling (blocktime inf)"), BlockTime::Infinite);
        assert_eq!(block_time("blocktime 200ms"), BlockTime::Usual);
        assert_eq!(asleep("sleeping barriers (blocktime default/0)"), [BlockTime::Usual, BlockTime::Zero]);
        assert_eq!(asleep("none"), [BlockTime::Zero]);
    }

    #[test]
    fn ways_to_wait() {
        let open = Wait::read("not stated (polling is best)");
        assert_eq!((open.ways, open.open), (vec![Way::Poll], true));
        assert!(Wait::read("sleep vs sched_yield").compared);
        assert!(!Wait::read("poll+yield vs blocktime 200ms").compared);
        assert_eq!(yields("cfs and posix"), [Yield::Posix, Yield::Default]);
    }
}
