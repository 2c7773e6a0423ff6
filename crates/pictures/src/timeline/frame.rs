//! Where everything in the picture of a timeline goes.

/// Where everything goes, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    /// Height of a row.
    pub(crate) row: f64,
    /// Height of the strip below it that shows the length of the queue; 0 without one.
    pub(crate) queue: f64,
    pub(crate) node_gap: f64,
    pub(crate) margin: f64,
    /// In nanoseconds.
    pub(crate) window: (u64, u64),
    /// The part that is magnified below, in nanoseconds.
    pub(crate) marked: Option<(u64, u64)>,
}

impl Frame {
    /// Where an instant is.
    pub(crate) fn x(&self, at: u64) -> f64 {
        let (from, to) = self.window;
        let part = at.clamp(from, to) - from;
        self.left + part as f64 / (to - from) as f64 * (self.right - self.left)
    }
}
