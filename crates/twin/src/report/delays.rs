//! Many durations in bounded memory, for their quantiles.

use sim_core::histogram::Histogram;
use sim_core::time::Span;

/// So many durations are kept as they are; more go into a histogram. Most threads of a recording have few.
const FEW: usize = 256;

/// Durations: exact as long as there are few, then within 0.8 %.
#[derive(Clone, Default, Debug)]
pub(super) struct Delays {
    few: Vec<u64>,
    many: Option<Box<Histogram>>,
}

impl Delays {
    /// Counts one, in ns.
    pub(super) fn add(&mut self, ns: u64) {
        if let Some(many) = &mut self.many {
            return many.add(Span::from_ns(ns));
        }
        self.few.push(ns);
        if self.few.len() > FEW {
            self.spill();
        }
    }

    fn spill(&mut self) -> &mut Histogram {
        let few = std::mem::take(&mut self.few);
        let many = self.many.get_or_insert_default();
        few.into_iter().for_each(|ns| many.add(Span::from_ns(ns)));
        many
    }

    /// Counts all of another one.
    pub(super) fn merge(&mut self, other: &Self) {
        match &other.many {
            Some(more) => self.spill().merge(more),
            None => other.few.iter().for_each(|ns| self.add(*ns)),
        }
    }

    /// The shortest that so many thousandths of all do not exceed (nearest rank), in ns.
    pub(super) fn quantile(&self, thousandths: u64) -> Option<u64> {
        if let Some(many) = &self.many {
            return many.quantile(thousandths).map(Span::ns);
        }
        let mut few = self.few.clone();
        few.sort_unstable();
        let rank = (few.len() as u64 * thousandths).div_ceil(1_000).max(1);
        few.get(rank as usize - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_for_few_and_near_for_many() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantile(500), None);
        (1..=100).for_each(|ns| delays.add(ns * 1_000));
        assert_eq!((delays.quantile(500), delays.quantile(990)), (Some(50_000), Some(99_000)));
        let mut more = Delays::default();
        (101..=1_000).for_each(|ns| more.add(ns * 1_000));
        delays.merge(&more);
        assert!(delays.quantile(500).unwrap().abs_diff(500_000) <= 500_000 / 100);
        assert!(delays.quantile(990).unwrap().abs_diff(990_000) <= 990_000 / 100);
    }
}
