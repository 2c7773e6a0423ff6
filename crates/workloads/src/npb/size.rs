//! Sizes of the problem classes, and what follows from them by formula: operations, iterations, footprints.

use serde::Deserialize;

/// Size of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Cg(Cg),
    Mg(Mg),
    Ft(Ft),
    Ep(Ep),
}

/// Order of the matrix, non-zeros per row (a parameter of the generator), outer iterations of 25 inner steps each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cg {
    pub(crate) na: u64,
    pub(crate) nonzer: u64,
    pub(crate) iterations: u32,
}

/// Side of the cube, V-cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mg {
    pub(crate) side: u64,
    pub(crate) iterations: u32,
}

/// Grid points as a power of two, iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ft {
    pub(crate) log2_points: u32,
    pub(crate) iterations: u32,
}

/// Pairs of random numbers as a power of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ep {
    pub(crate) log2_pairs: u32,
}

impl Size {
    /// Operations of a run as the benchmark itself counts them (NPB 3.3 sources; ep counts random numbers), at least 1.
    pub(crate) fn operations(&self) -> u128 {
        let count = match *self {
            Self::Cg(Cg { na, nonzer, iterations }) => {
                let row = nonzer * (nonzer + 1);
                2 * u128::from(iterations) * u128::from(na) * u128::from(3 + row + 25 * (5 + row) + 3)
            }
            Self::Mg(Mg { side, iterations }) => 58 * u128::from(iterations) * u128::from(side).pow(3),
            Self::Ft(ft) => ft.operations(),
            Self::Ep(Ep { log2_pairs }) => 2 << log2_pairs.min(100),
        };
        count.max(1)
    }

    /// Outer iterations.
    pub(crate) const fn iterations(&self) -> u32 {
        match self {
            Self::Cg(cg) => cg.iterations,
            Self::Mg(mg) => mg.iterations,
            Self::Ft(ft) => ft.iterations,
            Self::Ep(_) => 1,
        }
    }

    /// Levels of the multigrid hierarchy; 0 for the others.
    pub(crate) const fn levels(&self) -> u32 {
        match self {
            Self::Mg(mg) if mg.side > 0 => mg.side.ilog2(),
            _ => 0,
        }
    }

    /// Points of the transposed grid; 0 for codes without one.
    pub(crate) const fn points(&self) -> u64 {
        match self {
            Self::Ft(ft) => 1 << if ft.log2_points < 40 { ft.log2_points } else { 40 },
            _ => 0,
        }
    }

    /// Bytes of the arrays of the whole problem, within 30 %: cg 12 B per matrix element (upper bound), mg three
    /// hierarchies of 8 B, ft 40 B per point (two complex arrays and the index map). For ep 0: it has none.
    pub(crate) const fn footprint(&self) -> u64 {
        match self {
            Self::Cg(cg) => 12 * cg.na * (cg.nonzer + 1).pow(2),
            // The finest right-hand side, and two hierarchies, each 8/7 of its finest grid.
            Self::Mg(mg) => 8 * (mg.side + 2).pow(3) * 23 / 7,
            Self::Ft(_) => 40 * self.points(),
            Self::Ep(_) => 0,
        }
    }

    /// Bytes one task works on.
    pub(crate) fn working_set(&self, tasks: u32) -> u64 {
        match self {
            // Every task has its own batch of 2^16 pairs of doubles (ep.f, MK = 16).
            Self::Ep(_) => 1 << 20,
            _ => self.footprint() / u64::from(tasks.max(1)),
        }
    }
}

impl Ft {
    /// N (14.8157 + 7.19641 ln N + (5.23518 + 7.21113 ln N) it), in integers: coefficients in 10^-5, ln 2 in 10^-6.
    fn operations(self) -> u128 {
        let ln = u128::from(self.log2_points) * 693_147;
        let once = 1_481_570 * 1_000_000 + 719_641 * ln;
        let each = 523_518 * 1_000_000 + 721_113 * ln;
        let per_point = once + each * u128::from(self.iterations);
        (per_point << self.log2_points.min(60)) / 100_000_000_000
    }
}
