//! What to type: every row of the table, exact lines, and the cpus of lists against those of the policy PIN.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "typed/lines.rs"]
mod exact;
#[path = "typed/pin.rs"]
mod pin;
#[path = "typed/rows.rs"]
mod rows;

use decide::typed::{Advice, Dialect, Layer, Layout, Node, Place, Program, Unit, Waiting, lines};
use machines::{Lists, build, generic_values, parse_topology};
use notation::cpus::Numbering;
use sim_core::machine::Machine;

/// Two packages of four cores with two hardware threads; Linux counts the second ones from 8.
pub(crate) const SHAPE: &str = "package:2 numa:1 core:4 pu:2";

pub(crate) struct Host {
    pub(crate) machine: Machine,
    pub(crate) numbering: Numbering,
}

impl Host {
    pub(crate) fn new(shape: &str, linux: Vec<u32>) -> Self {
        let topology = parse_topology(shape).unwrap();
        let machine = build("mine", &topology, &generic_values(&topology), &Lists::default());
        let numbering = Numbering { machine: "mine".into(), cpus: machine.cpus(), linux };
        Self { machine, numbering }
    }

    /// The machine of [`SHAPE`].
    pub(crate) fn smt() -> Self {
        Self::new(SHAPE, (0..8).flat_map(|core| [core, core + 8]).collect())
    }

    /// Four cores of one thread, numbered as in the simulator.
    pub(crate) fn small() -> Self {
        Self::new("package:1 core:4", Vec::new())
    }

    pub(crate) fn node(&self) -> Node<'_> {
        Node { machine: &self.machine, numbering: &self.numbering }
    }

    pub(crate) fn typed(&self, advice: &Advice, dialects: &[Dialect]) -> Vec<String> {
        lines(advice, &self.node(), dialects).into_iter().map(|line| line.text).collect()
    }

    pub(crate) fn one(&self, program: Program, dialect: Dialect) -> Vec<String> {
        self.typed(&Advice { programs: vec![program], ..Advice::default() }, &[dialect])
    }
}

/// A program called `cg`.
pub(crate) fn cg() -> Program {
    Program { name: "cg".into(), ..Program::default() }
}

pub(crate) fn layer(runtime: &str, number: u32, wait: Option<Waiting>) -> Option<Layer> {
    Some(Layer { runtime: runtime.into(), number, set: true, wait })
}

/// The same, with a number that is not part of the advice.
pub(crate) fn there(runtime: &str, number: u32, wait: Option<Waiting>) -> Option<Layer> {
    Some(Layer { runtime: runtime.into(), number, set: false, wait })
}

pub(crate) fn bound(layout: Layout, unit: Unit) -> Option<Place> {
    Some(Place::Bound { layout, unit, offset: 0 })
}
