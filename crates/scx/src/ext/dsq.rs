//! Dispatch queues: tasks that no cpu has yet, first come first served or by virtual time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sim_core::ids::TaskId;

/// The place of a task in a queue: its virtual time (0 where the queue has none), then the order of entry.
pub(crate) type Key = (i64, i64);

/// The tasks of a dispatch queue.
#[derive(Default, Debug)]
pub(crate) struct Dsq {
    tasks: BTreeMap<Key, TaskId>,
    /// Whether the tasks in it are ordered by virtual time.
    timed: bool,
    first: i64,
    last: i64,
    entries: u64,
}

impl Dsq {
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether it holds tasks of the other order than this one.
    pub(crate) fn refuses(&self, timed: bool) -> bool {
        !self.tasks.is_empty() && self.timed != timed
    }

    /// Number of entries so far.
    pub(crate) const fn entries(&self) -> u64 {
        self.entries
    }

    /// Puts a task behind all others, or before them. Returns its place and the number of its entry.
    pub(crate) fn insert(&mut self, task: TaskId, head: bool) -> (Key, u64) {
        self.timed = false;
        let order = if head {
            self.first -= 1;
            self.first
        } else {
            self.last += 1;
            self.last
        };
        self.enter((0, order), task)
    }

    /// Puts a task behind all of the same or an earlier virtual time. Times may wrap around, as those of the
    /// kernel do; two in one queue are less than 2^63 apart.
    pub(crate) fn insert_timed(&mut self, task: TaskId, vtime: u64) -> (Key, u64) {
        self.timed = true;
        self.last += 1;
        self.enter((vtime.cast_signed(), self.last), task)
    }

    fn enter(&mut self, key: Key, task: TaskId) -> (Key, u64) {
        self.entries += 1;
        self.tasks.insert(key, task);
        (key, self.entries)
    }

    pub(crate) fn remove(&mut self, key: Key) {
        self.tasks.remove(&key);
    }

    pub(crate) fn first(&self) -> Option<TaskId> {
        self.tasks.first_key_value().map(|(_, task)| *task)
    }

    /// The tasks, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.tasks.values().copied()
    }

    /// The task after a place, or the last one before it.
    pub(crate) fn after(&self, place: Option<Key>, backwards: bool) -> Option<(Key, TaskId)> {
        let found = match (place, backwards) {
            (None, false) => self.tasks.first_key_value(),
            (None, true) => self.tasks.last_key_value(),
            (Some(key), false) => {
                self.tasks.range((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded)).next()
            }
            (Some(key), true) => self.tasks.range(..key).next_back(),
        };
        found.map(|(key, task)| (*key, *task))
    }
}

/// The dispatch queues that a scheduler has created, by id.
#[derive(Default, Debug)]
pub(crate) struct UserDsqs(BTreeMap<u64, Dsq>);

impl UserDsqs {
    /// False when there is one of this id.
    pub(crate) fn create(&mut self, id: u64) -> bool {
        match self.0.entry(id) {
            Entry::Vacant(place) => {
                place.insert(Dsq::default());
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    pub(crate) fn destroy(&mut self, id: u64) {
        self.0.remove(&id);
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Dsq> {
        self.0.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Dsq> {
        self.0.get_mut(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(dsq: &Dsq) -> Vec<u32> {
        dsq.iter().map(|task| task.0).collect()
    }

    #[test]
    fn the_first_come_is_first_unless_another_goes_to_the_head() {
        let mut dsq = Dsq::default();
        dsq.insert(TaskId(1), false);
        dsq.insert(TaskId(2), false);
        let (key, entry) = dsq.insert(TaskId(3), true);
        dsq.insert(TaskId(4), true);
        assert_eq!((order(&dsq), entry, dsq.len()), (vec![4, 3, 1, 2], 3, 4));
        dsq.remove(key);
        assert_eq!((order(&dsq), dsq.first()), (vec![4, 1, 2], Some(TaskId(4))));
    }

    #[test]
    fn virtual_times_order_and_may_wrap() {
        let mut dsq = Dsq::default();
        for (task, vtime) in [(1, 20), (2, 0_u64.wrapping_sub(5)), (3, 20), (4, 10)] {
            dsq.insert_timed(TaskId(task), vtime);
        }
        assert_eq!(order(&dsq), [2, 4, 1, 3]);
    }

    #[test]
    fn a_queue_has_one_order_until_it_is_empty() {
        let mut dsq = Dsq::default();
        let (key, _) = dsq.insert(TaskId(1), false);
        assert!(dsq.refuses(true) && !dsq.refuses(false));
        dsq.remove(key);
        assert!(!dsq.refuses(true));
        dsq.insert_timed(TaskId(1), 3);
        assert!(dsq.refuses(false));
    }

    #[test]
    fn an_iteration_goes_on_after_a_place_that_is_gone() {
        let mut dsq = Dsq::default();
        let keys: Vec<Key> = (0..4).map(|task| dsq.insert(TaskId(task), false).0).collect();
        dsq.remove(keys[1]);
        assert_eq!(dsq.after(Some(keys[1]), false), Some((keys[2], TaskId(2))));
        assert_eq!(dsq.after(Some(keys[1]), true), Some((keys[0], TaskId(0))));
        assert_eq!(dsq.after(None, true).map(|(_, task)| task), Some(TaskId(3)));
        assert_eq!(dsq.after(Some(keys[3]), false), None);
    }
}
