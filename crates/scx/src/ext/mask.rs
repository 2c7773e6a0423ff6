//! Sets of cpus as words of bits, as `struct cpumask` has them.

use sim_core::ids::CpuId;

/// Bits of a word.
const BITS: u32 = u64::BITS;

/// A set of cpus of a machine: bit `n % 64` of word `n / 64` stands for cpu `n`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuMask {
    words: Vec<u64>,
}

impl CpuMask {
    /// The empty set for a machine of so many cpus.
    #[must_use]
    pub fn empty(cpus: u32) -> Self {
        Self { words: vec![0; cpus.div_ceil(BITS) as usize] }
    }

    /// The first so many cpus.
    #[must_use]
    pub fn full(cpus: u32) -> Self {
        let mut mask = Self::empty(cpus);
        for (at, word) in mask.words.iter_mut().enumerate() {
            let left = cpus - at as u32 * BITS;
            *word = if left >= BITS { u64::MAX } else { (1 << left) - 1 };
        }
        mask
    }

    /// The cpus of a range.
    #[must_use]
    pub fn range(cpus: u32, members: std::ops::Range<u32>) -> Self {
        let mut mask = Self::empty(cpus);
        members.for_each(|cpu| mask.set(CpuId(cpu), true));
        mask
    }

    /// From words; bits beyond the machine of so many cpus are left out, and missing words are empty.
    #[must_use]
    pub fn from_words(cpus: u32, words: &[u64]) -> Self {
        let mut mask = Self::full(cpus);
        for (at, word) in mask.words.iter_mut().enumerate() {
            *word &= words.get(at).copied().unwrap_or(0);
        }
        mask
    }

    /// The words, the one of cpu 0 first.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether a cpu is in it.
    #[must_use]
    #[inline]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words.get((cpu.0 / BITS) as usize).is_some_and(|word| word >> (cpu.0 % BITS) & 1 == 1)
    }

    /// Puts a cpu in or takes it out; nothing happens for a cpu that the machine lacks words for.
    #[inline]
    pub fn set(&mut self, cpu: CpuId, present: bool) {
        if let Some(word) = self.words.get_mut((cpu.0 / BITS) as usize) {
            let bit = 1 << (cpu.0 % BITS);
            *word = if present { *word | bit } else { *word & !bit };
        }
    }

    /// Puts in or takes out all cpus of another set.
    pub fn set_all(&mut self, others: &Self, present: bool) {
        for (word, other) in self.words.iter_mut().zip(&others.words) {
            *word = if present { *word | other } else { *word & !other };
        }
    }

    /// The number of its cpus.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no cpu is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether each of its cpus is in the other one.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().enumerate().all(|(at, word)| word & !other.word(at) == 0)
    }

    /// Whether a cpu is in both.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().enumerate().any(|(at, word)| word & other.word(at) != 0)
    }

    /// The cpus that are in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().enumerate().map(|(at, word)| word & other.word(at));
        Self { words: words.collect() }
    }

    /// The first cpu that is in this set and in all `others`, from cpu `start` on and then from cpu 0.
    #[must_use]
    pub fn first_common(&self, others: &[&Self], start: u32) -> Option<CpuId> {
        let common = |at: usize| others.iter().fold(self.word(at), |word, other| word & other.word(at));
        let (count, first) = (self.words.len(), (start / BITS) as usize);
        if first >= count {
            return (0..count).find_map(|at| lowest(at, common(at)));
        }
        let from = u64::MAX << (start % BITS);
        lowest(first, common(first) & from)
            .or_else(|| (first + 1..count).find_map(|at| lowest(at, common(at))))
            .or_else(|| (0..first).find_map(|at| lowest(at, common(at))))
            .or_else(|| lowest(first, common(first) & !from))
    }

    /// The first cpu.
    #[must_use]
    pub fn first(&self) -> Option<CpuId> {
        self.first_common(&[], 0)
    }

    /// Its cpus in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let found = lowest(at, left);
                left &= left.wrapping_sub(1);
                found
            })
        })
    }

    fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }
}

/// The cpu of the lowest bit of a word.
fn lowest(at: usize, word: u64) -> Option<CpuId> {
    (word != 0).then(|| CpuId(at as u32 * BITS + word.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(mask: &CpuMask) -> Vec<u32> {
        mask.iter().map(|cpu| cpu.0).collect()
    }

    #[test]
    fn a_set_holds_the_cpus_of_its_machine_only() {
        assert_eq!(CpuMask::full(70).count(), 70);
        assert_eq!(CpuMask::from_words(70, &[0, u64::MAX, u64::MAX]).count(), 6);
        assert_eq!(cpus(&CpuMask::range(130, 62..67)), [62, 63, 64, 65, 66]);
        assert!(CpuMask::empty(70).is_empty() && !CpuMask::full(1).is_empty());
    }

    #[test]
    fn a_search_goes_around() {
        let (all, some) = (CpuMask::full(200), CpuMask::from_words(200, &[1 << 3, 1 << 2, 0, 1 << 1]));
        let found = |start| all.first_common(&[&some], start).map(|cpu| cpu.0);
        assert_eq!([0, 3, 4, 66, 67, 193, 194, 400].map(found), [3, 3, 66, 66, 193, 193, 3, 3].map(Some));
        assert_eq!(all.first_common(&[&some, &CpuMask::empty(200)], 7), None);
    }

    #[test]
    fn sets_are_joined_and_compared() {
        let (low, high) = (CpuMask::range(100, 0..70), CpuMask::range(100, 60..100));
        assert_eq!(cpus(&low.and(&high)), (60..70).collect::<Vec<_>>());
        assert!(low.intersects(&high) && !low.is_subset(&high) && low.and(&high).is_subset(&low));
        let mut rest = low.clone();
        rest.set_all(&high, false);
        assert_eq!(cpus(&rest), (0..60).collect::<Vec<_>>());
    }
}
