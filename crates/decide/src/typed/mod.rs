//! What to type: the lines by which a user gives programs the settings that were chosen for them.
//!
//! Each row of [`ROWS`] is one variable, option, command, file or field of a library, launcher or system:
//! what it sets, the text of its value, since when there is such a thing, and where that is written.
//! [`lines`] asks every row, and joins what they say: a command, some files or a container for each program,
//! shared variables once. Cpus have the numbers of Linux.
//!
//! ```
//! use decide::typed::{Advice, Dialect, Layer, Layout, Node, Place, Program, Unit, Waiting, lines};
//! use machines::{Lists, build, generic_values, parse_topology};
//! use notation::cpus::Numbering;
//!
//! // A machine of four cores with two hardware threads: for Linux the second ones are 4 to 7.
//! let shape = parse_topology("package:1 core:4 pu:2")?;
//! let machine = build("mine", &shape, &generic_values(&shape), &Lists::default());
//! let linux = vec![0, 4, 1, 5, 2, 6, 3, 7];
//! let numbering = Numbering { machine: "mine".into(), cpus: 8, linux };
//! let node = Node { machine: &machine, numbering: &numbering };
//!
//! let layer = |number, wait| Layer { runtime: "libgomp".into(), number, set: true, wait };
//! let place = Place::Bound { layout: Layout::Even, unit: Unit::Cpu, offset: 0 };
//! let cg = Program {
//!     name: "cg".into(),
//!     threads: Some(layer(4, Some(Waiting::Sleep))),
//!     place: Some(place),
//!     ..Program::default()
//! };
//! let advice = Advice { programs: vec![cg], ..Advice::default() };
//! let typed = lines(&advice, &node, &[Dialect::Shell]);
//! let text = "OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive OMP_PROC_BIND=close OMP_PLACES='{0}:4' cg";
//! assert_eq!(typed[0].text, text);
//! # Ok::<(), String>(())
//! ```

mod advice;
mod case;
mod compose;
mod layout;
mod libraries;
mod line;
mod lists;
mod names;
mod remarks;
mod row;
mod table;
mod values;
mod variables;
mod waits;

pub use advice::{
    Advice, Dialect, Layer, Layout, Lever, Node, Pages, Place, Program, Quota, Shared, Unit, Waiting,
};
pub use compose::{lines, usual};
pub use libraries::LIBRARIES;
pub use line::{Kind, Line, Said};
pub use row::{Form, Row};
pub use table::ROWS;
pub use waits::simulated;
pub(crate) use waits::{Pair, parameters, step};
