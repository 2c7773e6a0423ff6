//! When loads have changed: growth, stretches, the speeds of the classes they concern, and their next
//! completions.

use super::Contention;
use super::class::{Class, GROUP, SLOT};
use super::heap::Heaps;
use super::law::{CacheLaw, Demand, Distances, ONE};
use super::loads::{List, Loads};
use super::teams::Teams;
use crate::time::Time;

/// When the next member of a class completes.
#[inline]
fn next(id: u32, class: &Class, heaps: &Heaps) -> Time {
    heaps.first(id).map_or(Time::NEVER, |target| class.when(target))
}

/// Speed of a class's clock under the present stretches.
#[inline]
fn rate(class: &Class, loads: &Loads, distances: &Distances, teams: &Teams) -> u64 {
    let (bound, one) = (u64::from(class.bound), ONE);
    let team = teams.shares(class.key.slot);
    // At most 2^47: stretches have 40 bits, distances 23.
    let slow = if class.spread == 0 && team.is_none() {
        (loads.way(class, class.key.slot, class.is_far) * u64::from(class.distance)) >> 16
    } else {
        spread_cost(class, loads, distances, team)
    };
    let slow = (bound * slow) >> 16;
    if class.growth == ONE {
        return ((1 << 36) / (one - bound + slow).max(1)).max(1);
    }
    let memory = (u128::from(slow) * u128::from(class.growth)) >> 16;
    let denominator = (u128::from(one - bound) + memory).max(1);
    u64::try_from(denominator).map_or(1, |denominator| ((1 << 36) / denominator).max(1))
}

/// Mean cost of the accesses of a class of which a share is spread over all nodes, or the pages are a team's,
/// 1/65,536.
fn spread_cost(class: &Class, loads: &Loads, distances: &Distances, team: Option<&[u64]>) -> u64 {
    let share = u64::from(class.spread);
    let distance = |page| distances.cost(distances.between(class.node, page));
    let mut slow = 0;
    if share < ONE {
        let own = match team {
            Some(shares) => loads.team_cost(class, shares, distance),
            None => u128::from(loads.way(class, class.key.slot, class.is_far) * u64::from(class.distance)),
        };
        slow += u128::from(ONE - share) * own;
    }
    if share > 0 {
        slow += u128::from(share) * loads.mean_cost(class, distance);
    }
    // Back from 48 fraction bits to 16.
    (slow >> 32) as u64
}

/// Growth of the demand of a class in its shared cache.
fn growth(class: &Class, cache: &CacheLaw, demands: &[Demand], sets: u128) -> u64 {
    cache.growth(sets, demands[class.key.profile as usize].working_set)
}

impl Contention {
    /// A class gets its first member: its clocks are set to now, its growth and rate to the present ones.
    pub(super) fn open(&mut self, class: u32, now: Time) {
        let (id, class) = (class, &mut self.classes.records[class as usize]);
        class.retime(now);
        if self.cache.span > 0 {
            class.growth = growth(class, &self.cache, &self.demands, self.loads.settled(class.group));
        }
        class.rate = rate(class, &self.loads, &self.distances, &self.teams);
        if class.listed != class.kinds {
            self.loads.enlist(id, class);
        }
    }

    /// Brings growth, stretches and rates up to date; tells `changed` the next completion of each class where
    /// it may have moved.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time, mut changed: impl FnMut(u32, Time)) {
        if !std::mem::replace(&mut self.loads.touched, false) {
            return;
        }
        if self.loads.plain {
            for at in 0..self.loads.dirty_nodes.len() {
                let node = self.loads.dirty_nodes[at];
                if self.loads.settle_node(node as usize) {
                    self.rerate((SLOT, node), now, &mut changed);
                }
            }
            self.loads.dirty_nodes.clear();
        } else {
            self.refresh_all(now, &mut changed);
        }
        let Self { loads, classes, heaps, .. } = self;
        for id in &loads.moved {
            let class = &mut classes.records[*id as usize];
            class.moved = false;
            changed(*id, next(*id, class, heaps));
        }
        loads.moved.clear();
    }

    /// The stretches and speeds where they depend on more than one resource.
    #[inline(never)]
    fn refresh_all(&mut self, now: Time, changed: &mut impl FnMut(u32, Time)) {
        while let Some(group) = self.loads.dirty_groups.pop() {
            self.refresh_group(group, now);
        }
        self.loads.settle();
        while let Some(list) = self.loads.changed.pop() {
            self.rerate(list, now, changed);
        }
    }

    /// Works out the speeds of the classes of a list under the present stretches. Where one is what it was,
    /// nothing moves.
    #[inline(always)]
    fn rerate(&mut self, list: List, now: Time, changed: &mut impl FnMut(u32, Time)) {
        let Self { loads, classes, heaps, distances, teams, .. } = self;
        let first = *loads.head(list);
        let first = classes.each_of(list.0, first, |id, class| {
            let rate = rate(class, loads, distances, teams);
            if rate == class.rate {
                return;
            }
            class.retime(now);
            class.rate = rate;
            if !class.moved {
                changed(id, next(id, class, heaps));
            }
        });
        *loads.head(list) = first;
    }

    /// Growth of demand where working sets have come or gone.
    fn refresh_group(&mut self, group: u32, now: Time) {
        let Self { loads, classes, cache, demands, teams, .. } = self;
        let Some(sets) = loads.settle_group(group) else { return };
        let list = (GROUP, group);
        let first = *loads.head(list);
        let first = classes.each_of(GROUP, first, |_, class| {
            let growth = growth(class, cache, demands, sets);
            if class.growth == growth {
                return;
            }
            class.retime(now);
            let team = teams.shares(class.key.slot);
            loads.shift(class, team, class.bytes, false);
            class.growth = growth;
            loads.shift(class, team, class.bytes, true);
        });
        *loads.head(list) = first;
        loads.changed.push(list);
    }
}
