//! Machines for tests, those of this crate's `tests` too.

use sim_core::machine::{Clocks, Costs, Level, Machine, Memory, Smt, Topology};
use sim_core::time::Speed;

/// A machine whose costs are free.
pub(crate) fn machine(levels: &[(Level, u32)]) -> Machine {
    Machine {
        name: "test".into(),
        topology: Topology::new(levels).unwrap(),
        costs: Costs::free(),
        memory: Memory::unlimited(),
        core_speed: Vec::new(),
        work_unit: Speed::NOMINAL,
        smt: Smt::NONE,
        turbo: Vec::new(),
        clocks: Clocks::HIGHEST,
    }
}
