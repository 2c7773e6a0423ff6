//! Sizes of the problem classes, and what follows from them by formula: operations, iterations, footprints.

use serde::Deserialize;

/// Size of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Cg(Cg),
    Mg(Mg),
    Ft(Ft),
    Ep(Ep),
    Is(Is),
    Bt(Grid),
    Sp(Grid),
    Lu(Grid),
}

/// Order of the matrix, non-zeros per row (a parameter of the generator), outer iterations of 25 inner steps
/// each.
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

/// Keys as a power of two, rankings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Is {
    pub(crate) log2_keys: u32,
    pub(crate) iterations: u32,
}

/// Side of the cube, time steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    pub(crate) side: u64,
    pub(crate) iterations: u32,
}

impl Size {
    /// Operations of a run as the benchmark itself counts them (NPB 3.3 sources; ep counts random numbers,
    /// is keys), at least 1.
    pub(crate) fn operations(&self) -> u128 {
        let count = match *self {
            Self::Cg(Cg { na, nonzer, iterations }) => {
                let row = nonzer * (nonzer + 1);
                2 * u128::from(iterations) * u128::from(na) * u128::from(3 + row + 25 * (5 + row) + 3)
            }
            Self::Mg(Mg { side, iterations }) => 58 * u128::from(iterations) * u128::from(side).pow(3),
            Self::Ft(ft) => ft.operations(),
            Self::Ep(Ep { log2_pairs }) => 2 << log2_pairs.min(100),
            Self::Is(Is { log2_keys, iterations }) => u128::from(iterations) << log2_keys.min(64),
            // Coefficients in 10^-4 operations.
            Self::Bt(grid) => grid.polynomial([34_788_000, -176_557_000, 280_237_000, 0]),
            Self::Sp(grid) => grid.polynomial([8_811_740, -46_839_100, 114_845_000, -192_724_000]),
            Self::Lu(grid) => grid.polynomial([19_847_700, -109_233_000, 277_709_000, -1_440_100_000]),
        };
        count.max(1)
    }

    /// Passes of a parallel loop of the OpenMP version: rows of cg, planes of grids, batches of 2^16 pairs of
    /// ep, keys of is.
    pub(crate) const fn passes(&self) -> u64 {
        match self {
            Self::Cg(cg) => cg.na,
            Self::Mg(mg) => mg.side,
            Self::Ft(ft) => power(ft.log2_points / 3),
            Self::Ep(ep) => power(ep.log2_pairs.saturating_sub(16)),
            Self::Is(is) => power(is.log2_keys),
            Self::Bt(grid) | Self::Sp(grid) | Self::Lu(grid) => grid.side,
        }
    }

    /// Outer iterations.
    pub(crate) const fn iterations(&self) -> u32 {
        match self {
            Self::Cg(cg) => cg.iterations,
            Self::Mg(mg) => mg.iterations,
            Self::Ft(ft) => ft.iterations,
            Self::Is(is) => is.iterations,
            Self::Bt(grid) | Self::Sp(grid) | Self::Lu(grid) => grid.iterations,
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

    /// Side of the grid that a wavefront passes; 0 for codes without one.
    pub(crate) const fn planes(&self) -> u64 {
        match self {
            Self::Lu(grid) => grid.side.saturating_sub(2),
            _ => 0,
        }
    }

    /// Bytes that all tasks together move in the all-to-all of one iteration: ft transposes its grid once,
    /// one double-complex value (16 B) per point (copies that write as well as read would count more:
    /// uncertain); is sends every key (4 B) to its bucket's owner. 0 for the others.
    pub(crate) const fn all_to_all(&self) -> u64 {
        match self {
            Self::Ft(ft) => 16 * power(ft.log2_points),
            Self::Is(is) => 4 * power(is.log2_keys),
            _ => 0,
        }
    }

    /// Bytes of the arrays of the whole problem, within 30 %: cg 12 B per matrix element (upper bound), mg
    /// three hierarchies of 8 B, ft 40 B per point (two complex arrays and the index map), is 8 B per key,
    /// and per grid point sp 180 B, bt 168 B, lu 17 doubles. For ep 0: it has none.
    pub(crate) const fn footprint(&self) -> u64 {
        match self {
            Self::Cg(cg) => 12 * cg.na * (cg.nonzer + 1).pow(2),
            // The finest right-hand side, and two hierarchies, each 8/7 of its finest grid.
            Self::Mg(mg) => 8 * (mg.side + 2).pow(3) * 23 / 7,
            Self::Ft(ft) => 40 * power(ft.log2_points),
            Self::Is(is) => 8 * power(is.log2_keys),
            Self::Sp(grid) => 180 * grid.side.pow(3),
            Self::Bt(grid) => 168 * grid.side.pow(3),
            Self::Lu(grid) => 136 * grid.side.pow(3),
            Self::Ep(_) => 0,
        }
    }

    /// Bytes that one of `tasks` tasks gets from others in an iteration because the problem is cut among
    /// them, all-to-all transfers apart; in NPB's MPI versions, from whose cuts those in UPC are taken.
    /// - cg (cg.f): tasks in a grid of columns and rows; 26 products with the matrix, each summed over a row
    ///   in log2(columns) exchanges of vectors of na / rows doubles, and one exchange of such a vector with
    ///   the transposed task;
    /// - mg (comm3 in mg.f): the faces of a task's box four times per level; the areas of all levels make 4/3
    ///   of the finest;
    /// - sp, bt (copy_faces.f, x_solve.f): `side / root P` boxes, root P of them for each task; their six
    ///   faces, two points of five doubles deep, and what three sweeps pass on from box to box, forth and
    ///   back: 32 doubles per point in sp, 35 in bt.
    ///
    /// 0 for the others and for a task alone.
    pub(crate) fn surface(&self, tasks: u32) -> u64 {
        if tasks <= 1 {
            return 0;
        }
        let log2 = tasks.ilog2();
        match *self {
            Self::Cg(Cg { na, .. }) => {
                let (rows, steps) = (1 << (log2 / 2), u64::from(log2.div_ceil(2)));
                26 * (steps + 1) * (na / rows) * 8
            }
            Self::Mg(Mg { side, .. }) => {
                // The axes are halved in turn.
                let edge = |axis: u32| (side >> ((log2 + axis) / 3)).max(1);
                let (a, b, c) = (edge(0), edge(1), edge(2));
                2 * (a * b + b * c + c * a) * 8 * 4 * 4 / 3
            }
            Self::Sp(grid) => grid.multipartition(tasks, 32),
            Self::Bt(grid) => grid.multipartition(tasks, 35),
            Self::Ft(_) | Self::Ep(_) | Self::Is(_) | Self::Lu(_) => 0,
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

/// 2^log2, at most 2^40: sizes above are not NPB's.
const fn power(log2: u32) -> u64 {
    1 << if log2 < 40 { log2 } else { 40 }
}

impl Grid {
    /// Bytes a task gets from others per step: faces of its boxes, and `passed` doubles per point of those
    /// that sweeps cross.
    fn multipartition(self, tasks: u32, passed: u64) -> u64 {
        let root = u64::from(tasks.isqrt()).max(1);
        let face = (self.side / root).max(1).pow(2);
        root * 6 * face * 2 * 5 * 8 + 3 * (root - 1) * face * passed * 8
    }

    /// iterations x (a n^3 + b n^2 + c n + d), coefficients in 10^-4.
    fn polynomial(self, coefficients: [i128; 4]) -> u128 {
        let n = i128::from(self.side.min(1 << 20));
        let [a, b, c, d] = coefficients;
        let step = ((a * n + b) * n + c) * n + d;
        u128::try_from(step * i128::from(self.iterations) / 10_000).unwrap_or(0)
    }
}

impl Ft {
    /// N (14.8157 + 7.19641 ln N + (5.23518 + 7.21113 ln N) it), in integers: coefficients in 10^-5, ln 2 in
    /// 10^-6.
    fn operations(self) -> u128 {
        let ln = u128::from(self.log2_points) * 693_147;
        let once = 1_481_570 * 1_000_000 + 719_641 * ln;
        let each = 523_518 * 1_000_000 + 721_113 * ln;
        let per_point = once + each * u128::from(self.iterations);
        (per_point << self.log2_points.min(60)) / 100_000_000_000
    }
}
