//! The rate at which a package of Tigerton serves the readers of an all-to-all transfer, from the time of
//! is in UPC.
//!
//! The same source times is in OpenMP, which moves its keys in the work between barriers, and in UPC,
//! which moves them in transfers in lock step. The difference is more than memory and buses explain.

use workloads::{Profile, npb};

use crate::calibration::bench::{Bench, first};
use crate::calibration::measurements::{Measurement, Quantity, find};
use crate::calibration::residuals::Row;

/// The machine.
pub const MACHINE: &str = "tigerton";
const TASKS: u32 = 16;
/// The limit is derived in steps of this, bytes per second.
const STEP: u64 = 10_000_000;
/// The largest limit that is tried: beyond the bandwidth of all buses together it has no effect.
const MOST: u64 = 20_000_000_000;

/// Seconds from the number of barriers of the UPC version and the interval between them.
fn measured(list: &[Measurement], code: &str) -> Result<f64, String> {
    let interval = find(list, code, MACHINE, Quantity::UpcInterval, "")?;
    Ok(interval * find(list, code, MACHINE, Quantity::UpcBarriers, "")? / 1e3)
}

/// Seconds of the timed section of a code in UPC where a package serves `limit` bytes per second.
fn seconds(code: (&str, &str), profile: &Profile, limit: u64) -> Result<f64, String> {
    let mut machine = machines::resolve(MACHINE)?;
    machine.values.set("transfer_bandwidth", limit)?;
    let program = npb::trial((code.0, code.1, "upc"), TASKS, profile, u32::MAX)?.program;
    Bench::with(&machine)?.seconds(program, "upc", &first(TASKS))
}

/// The limit with which is.C takes its measured time, bytes per second. `profile`: that of is on Tigerton.
///
/// # Errors
/// A sentence: an input is missing, a run failed, or no limit explains the time.
pub fn derive(list: &[Measurement], profile: &Profile) -> Result<u64, String> {
    let wanted = measured(list, "is")?;
    let time = |steps: u64| seconds(("is", "C"), profile, steps * STEP);
    let (mut low, mut high) = (1, MOST / STEP);
    if time(high)? > wanted || time(low)? < wanted {
        return Err(format!("no rate of transfers gives is in UPC the measured {wanted} s"));
    }
    // The time falls with the limit: halve the steps between.
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        *(if time(middle)? > wanted { &mut low } else { &mut high }) = middle;
    }
    let nearer = time(low)? - wanted < wanted - time(high)?;
    Ok(if nearer { low } else { high } * STEP)
}

/// is in UPC, which is the input, and ft, which checks it by the time of an iteration.
///
/// # Errors
/// A sentence: an input is missing or a run failed.
pub fn residuals(
    list: &[Measurement],
    profile: impl Fn(&str) -> Option<Profile>,
    limit: u64,
) -> Result<Vec<Row>, String> {
    let profile = |code: &str| profile(code).ok_or_else(|| format!("there is no profile of {code}"));
    let is = seconds(("is", "C"), &profile("is")?, limit)?;
    // Barriers of a run of ft in UPC: 1, and 6 in each iteration.
    let barriers = find(list, "ft", MACHINE, Quantity::UpcBarriers, "")?;
    let iterations = (barriers / 6.0).floor();
    let ft = seconds(("ft", "B"), &profile("ft")?, limit)? / 20.0;
    let what = "run time in UPC, 16 threads, s";
    let each = "iteration in UPC, 16 threads, s";
    Ok(vec![
        Row::new("is.C", MACHINE, what, measured(list, "is")?, is, true),
        Row::new("ft.B", MACHINE, each, measured(list, "ft")? / iterations, ft, false),
    ])
}

#[cfg(test)]
mod tests {
    use sim_core::time::Span;

    use super::*;
    use crate::calibration::measurements::measurements;

    /// Of 5.0 GB in all, 16 tasks read 60 blocks of 2 MiB from each package and iteration: at 1 GB/s 5.0
    /// s in lock step from one package after the other, and a quarter of that from all four at once. A
    /// rank that skips its own block is ahead of the others, so the truth lies between. It is inverse to
    /// the rate.
    #[test]
    fn the_time_of_transfers_lies_between_lock_step_and_all_packages_at_once() {
        let list = measurements().unwrap().npb;
        assert!((measured(&list, "is").unwrap() - 5.544).abs() < 1e-9);
        let none = Profile { serial: Span::from_ms(1), ..Profile::default() };
        let [slow, fast] = [1, 2].map(|gb| seconds(("is", "C"), &none, gb * 1_000_000_000).unwrap());
        let law = 10.0 * 240.0 * f64::from(1 << 21) / 1e9;
        assert!((0.25 * law..law).contains(&slow), "{slow} s, law {law} s");
        assert!((0.48..0.54).contains(&(fast / slow)), "{slow} {fast}");
    }
}
