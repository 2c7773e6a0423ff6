//! How far all programs come together, against their dedicated runs.

/// A program beside others and alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Program {
    /// Mean turnaround of its copies, or time for each second of work in a window, seconds.
    pub time: f64,
    /// The same of its dedicated run with the same seed.
    pub alone: f64,
    /// Its slowdown: against the mean of its dedicated runs.
    pub slowdown: f64,
    /// Its copies.
    pub copies: usize,
}

/// What the programs of a run reach together. Copies count as their application does on average.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Together {
    /// System throughput: the sum of progress (Eyerman, Eeckhout, IEEE Micro 28, 2008), as the weighted
    /// speed-up of Snavely and Tullsen (ASPLOS 2000).
    pub stp: f64,
    /// Average normalized turnaround time (Eyerman, Eeckhout 2008).
    pub antt: f64,
    /// Jain's index of progress: square of the sum over n times the sum of squares (Jain, Chiu, Hawe, DEC
    /// TR-301, 1984).
    pub jain: f64,
    /// The largest slowdown.
    pub worst: f64,
}

impl Together {
    /// Of these programs; `None` for fewer than two, copies included, and where a time is zero.
    #[must_use]
    pub fn of(programs: &[Program]) -> Option<Self> {
        let count: usize = programs.iter().map(|program| program.copies).sum();
        if count < 2 || programs.iter().any(|p| p.time <= 0.0 || p.alone <= 0.0) {
            return None;
        }
        let sum = |of: fn(&Program) -> f64| -> f64 {
            programs.iter().map(|program| of(program) * program.copies as f64).sum()
        };
        let (progress, squares) =
            (sum(|p| p.alone / p.time), sum(|p| (p.alone / p.time) * (p.alone / p.time)));
        Some(Self {
            stp: progress,
            antt: sum(|p| p.time / p.alone) / count as f64,
            jain: progress * progress / (count as f64 * squares),
            worst: programs.iter().map(|program| program.slowdown).fold(0.0, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_programs_by_hand() {
        let program = |time: f64, alone: f64| Program { time, alone, slowdown: time / alone, copies: 1 };
        // One runs undisturbed, the other takes four times as long.
        let both = Together::of(&[program(2.0, 2.0), program(4.0, 1.0)]).unwrap();
        assert_eq!((both.stp, both.antt, both.worst), (1.25, 2.5, 4.0));
        assert!((both.jain - 1.5625 / (2.0 * 1.0625)).abs() < 1e-12);
        let copies = Together::of(&[Program { copies: 2, ..program(2.0, 1.0) }]).unwrap();
        assert_eq!((copies.stp, copies.antt, copies.jain), (1.0, 2.0, 1.0));
        assert_eq!(Together::of(&[program(2.0, 1.0)]), None);
    }
}
