//! Derives the catalogue's profiles from published measurements alone, and says how well the measurements
//! come back.
//!
//! [`derive()`] runs short simulations of one program alone until simulated and measured values agree;
//! [`files`] turns the result into the data files of the catalogue; [`residuals()`] compares complete runs
//! with every measurement.

pub mod bench;
pub mod document;
pub mod files;
pub mod law;
pub mod measurements;
pub mod npb;
pub mod parbench;
pub mod residuals;
pub mod sensitivity;
pub mod spec_omp;
pub mod transfers;

use measurements::Measurements;
use residuals::Row;

/// Everything derived.
#[derive(Clone, PartialEq, Debug)]
pub struct Derivation {
    /// NAS Parallel Benchmarks.
    pub npb: Vec<npb::Derived>,
    /// SPEC OMP 2001.
    pub spec_omp: Vec<spec_omp::Derived>,
    /// PARbench.
    pub parbench: parbench::Derived,
    /// What a package of Tigerton serves of all-to-all transfers, bytes per second.
    pub transfers: u64,
}

impl Derivation {
    /// The derived profile of a code on the machine of the transfers.
    fn of_transfers(npb: &[npb::Derived], code: &str) -> Option<workloads::Profile> {
        npb.iter().find(|derived| derived.code == code).map(|derived| derived.on(transfers::MACHINE))
    }
}

/// Derives all profiles.
///
/// # Errors
/// A sentence: an input is missing or a run failed.
pub fn derive(data: &Measurements) -> Result<Derivation, String> {
    let npb = npb::derive(data)?;
    let is = Derivation::of_transfers(&npb, "is").ok_or("there is no profile of is")?;
    Ok(Derivation {
        transfers: transfers::derive(&data.npb, &is)?,
        npb,
        spec_omp: spec_omp::derive(data)?,
        parbench: parbench::derive(data)?,
    })
}

/// Every measurement against complete simulated runs with these profiles.
///
/// # Errors
/// A sentence: a run failed.
pub fn residuals(data: &Measurements, d: &Derivation) -> Result<Vec<Row>, String> {
    let mut rows = npb::residuals(data, &d.npb)?;
    let profile = |code: &str| Derivation::of_transfers(&d.npb, code);
    rows.extend(transfers::residuals(&data.npb, profile, d.transfers)?);
    rows.extend(spec_omp::residuals(&d.spec_omp)?);
    rows.extend(parbench::residuals(data, &d.parbench)?);
    Ok(rows)
}
