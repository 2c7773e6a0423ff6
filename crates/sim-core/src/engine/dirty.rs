//! Cpus whose current task or waits have changed, for policies that watch waits.

use crate::ids::{CpuId, Id};

/// The list holds each cpu once, so its capacity suffices even if no policy reads it.
#[derive(Default)]
pub(crate) struct Dirty {
    list: Vec<CpuId>,
    /// Whether a cpu is in the list. Empty if no policy watches waits.
    noted: Vec<bool>,
}

impl Dirty {
    pub(crate) fn watching(cpus: usize) -> Self {
        Self { list: Vec::with_capacity(cpus), noted: vec![false; cpus] }
    }

    /// True if a policy watches waits.
    pub(crate) const fn watches(&self) -> bool {
        !self.noted.is_empty()
    }

    #[inline]
    pub(crate) fn note(&mut self, cpu: CpuId) {
        if let Some(noted) = self.noted.get_mut(cpu.index())
            && !std::mem::replace(noted, true)
        {
            self.list.push(cpu);
        }
    }

    /// Empties the list.
    pub(crate) fn take(&mut self, found: &mut dyn FnMut(CpuId)) {
        for cpu in self.list.drain(..) {
            self.noted[cpu.index()] = false;
            found(cpu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_is_told_once_and_again_after_it_was_taken() {
        let mut dirty = Dirty::watching(4);
        let taken = |dirty: &mut Dirty| {
            let mut all = Vec::new();
            dirty.take(&mut |cpu| all.push(cpu.0));
            all
        };
        [2, 0, 2].into_iter().for_each(|cpu| dirty.note(CpuId(cpu)));
        assert_eq!(taken(&mut dirty), [2, 0]);
        assert_eq!(taken(&mut dirty), []);
        dirty.note(CpuId(2));
        assert_eq!(taken(&mut dirty), [2]);
        let mut unwatched = Dirty::default();
        unwatched.note(CpuId(1));
        assert_eq!(taken(&mut unwatched), []);
    }
}
