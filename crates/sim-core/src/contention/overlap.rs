//! Cores that wait for each load: tasks use the bus of a package only while they wait for memory, so they
//! meet there by chance.

use super::law::{ONE, stretch};

/// The tasks that compute on the cpus of one bus and access memory at all.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BusUsers {
    tasks: u64,
    /// Sum of the shares of their time in which they wait for memory, 1/65,536.
    shares: u64,
    /// Sum of what each demands meanwhile, bytes per second.
    peaks: u64,
}

impl BusUsers {
    /// A task that waits for memory during this share of its time and demands so many bytes per second in the
    /// mean begins to compute or stops. While it waits it demands at most what a core can draw.
    pub(super) fn change(&mut self, share: u64, bytes: u64, core: u64, begins: bool) {
        let Some(peak) = (u128::from(bytes) << 16).checked_div(u128::from(share)) else { return };
        let peak = peak.min(u128::from(core)) as u64;
        let each = [(&mut self.tasks, 1), (&mut self.shares, share), (&mut self.peaks, peak)];
        for (sum, by) in each {
            *sum = if begins { *sum + by } else { *sum - by };
        }
    }

    /// Expected stretch for a task that waits for memory during this share of its time, 1/65,536. While it
    /// waits, so does each other task with the chance of its own share. The stretch is known for whole
    /// numbers of tasks that wait at once, each with the mean demand; between them it is linear in the
    /// expected number, which is exact for two tasks.
    pub(super) fn stretch(&self, table: &[u32], capacity: u64, share: u64) -> u64 {
        let Some(mean) = self.peaks.checked_div(self.tasks) else { return ONE };
        let others = self.shares.saturating_sub(share);
        let of = |tasks: u64| stretch(table, mean.saturating_mul(tasks), capacity);
        let (whole, rest) = (others >> 16, others & (ONE - 1));
        let low = of(1 + whole);
        if rest == 0 { low } else { low + ((of(2 + whole).saturating_sub(low) * rest) >> 16) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::stretch_table;
    use super::*;

    /// Tasks of these shares (1/65,536), each with 1.6 GB/s while it waits.
    fn askers(shares: &[u64]) -> BusUsers {
        let mut all = BusUsers::default();
        shares.iter().for_each(|share| all.change(*share, (1_600_000_000 * share) >> 16, u64::MAX, true));
        all
    }

    #[test]
    fn a_pair_meets_by_the_product_of_its_shares() {
        // One alone has the bus of 2.4 GB/s for itself; two ask for 4/3 of it.
        let table = stretch_table(16);
        for (mine, other) in [(ONE, ONE), (ONE / 2, ONE / 2), (ONE, ONE / 4), (ONE / 4, ONE), (ONE / 2, 0)] {
            let s = askers(&[mine, other]).stretch(&table, 2_400_000_000, mine);
            let law = ONE + other / 3;
            assert!(s.abs_diff(law) < ONE / 500, "{mine} beside {other}: {s}, not {law}");
        }
    }

    #[test]
    fn more_tasks_meet_by_their_expected_number() {
        // Three that always wait ask for twice the bus; a fourth that never waits changes nothing.
        let table = stretch_table(16);
        for shares in [&[ONE, ONE, ONE][..], &[ONE, ONE, ONE, 0]] {
            assert!(askers(shares).stretch(&table, 2_400_000_000, ONE).abs_diff(2 * ONE) < 9);
        }
        let mut gone = askers(&[ONE, ONE / 2]);
        gone.change(ONE / 2, 800_000_000, u64::MAX, false);
        assert!(gone == askers(&[ONE]));
    }
}
