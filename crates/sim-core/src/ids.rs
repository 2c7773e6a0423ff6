//! Dense ids and the flat maps they index: a `CpuId` can only index a per-cpu map.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense id that counts from zero.
pub trait Id: Copy {
    /// The position in a flat map.
    fn index(self) -> usize;
    /// The id at a position.
    fn new(index: usize) -> Self;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
        impl Id for $name {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
            #[inline]
            fn new(index: usize) -> Self {
                Self(index as u32)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id!(/// A hardware thread, the thing a run queue belongs to.
    CpuId, "cpu");
id!(/// A task: a thread or a single-threaded process.
    TaskId, "task");
id!(/// An application: a set of tasks that run one program.
    AppId, "app");
id!(/// A NUMA node (one memory controller).
    NodeId, "node");
id!(/// A memory profile of a program (see [`crate::program::MemoryProfile`]).
    ProfileId, "profile");
id!(/// A lock: of an application, or of the run.
    LockId, "lock");
id!(/// A counted event of the run (see [`crate::program::Event`]).
    EventId, "event");
id!(/// A device of the run (see [`crate::program::Device`]).
    DeviceId, "device");
id!(/// A pool of jobs of the run (see [`crate::program::Pool`]).
    PoolId, "pool");

impl TaskId {
    /// "No task" in packed records.
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline]
    pub(crate) const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }

    #[inline]
    pub(crate) const fn some(self) -> Option<Self> {
        if self.is_none() { None } else { Some(self) }
    }
}

/// A vector that only ids of one kind can index.
#[derive(Clone, Debug)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    kind: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// `len` copies of `item`.
    #[must_use]
    pub fn filled(len: usize, item: T) -> Self
    where
        T: Clone,
    {
        Self { items: vec![item; len], kind: PhantomData }
    }

    /// The number of entries.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when there is no entry.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The entries in id order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The entries in id order, mutable.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All ids.
    #[inline]
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// The entry of an id, if there is one.
    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Makes room for this many more entries.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    /// Adds this many copies of an item.
    pub(crate) fn extend(&mut self, more: usize, item: T)
    where
        T: Clone,
    {
        self.items.resize(self.items.len() + more, item);
    }

    /// Adds an entry and returns its id.
    #[inline]
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::new(self.items.len() - 1)
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    #[inline]
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self { items: items.into_iter().collect(), kind: PhantomData }
    }
}

impl<I, T> Default for IdVec<I, T> {
    #[inline]
    fn default() -> Self {
        Self { items: Vec::new(), kind: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}
impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}
