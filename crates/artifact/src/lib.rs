//! A study in one archive: results, sweeps, figures and claims with all that they were calculated from, and
//! whether they come out again.
//!
//! [`gather`](gather::gather) makes the members of an archive, [`archive::write`] the archive. Its bytes
//! depend on the files only. [`archive::unpack`] checks an archive against its manifest, and
//! [`verify`](verify::verify) calculates again from the unpacked files alone and compares bytes.

pub mod archive;
mod claimed;
mod compare;
mod drawing;
mod facts;
pub mod gather;
pub mod manifest;
mod readme;
mod result;
mod sample;
mod sweeping;
pub mod verify;

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::Path;

use experiment::neutral;
use sweep::store::StoreError;

pub use sample::{Sample, unseen};

/// Why something cannot be packed or verified.
#[derive(Debug)]
pub enum Trouble {
    /// The files are not right, or belong to another version: sentences.
    Refused(String),
    /// A file cannot be read or written, or a run cannot be simulated here: a sentence.
    Failed(String),
}

impl Display for Trouble {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (Self::Refused(why) | Self::Failed(why)) = self;
        f.write_str(why)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(why) => Self::Refused(why),
            StoreError::Failed(why) => Self::Failed(why),
        }
    }
}

impl Trouble {
    fn failed(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("cannot {what} {}: {error}", path.display()))
    }

    fn refused(why: &str) -> Self {
        Self::Refused(neutral::lines(why).into_owned())
    }
}

/// What calculates, and whom it tells.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The policies that scenarios can name.
    pub policies: &'a experiment::PolicyRegistry,
    /// Threads, 0 = as many as this process may use. Nothing depends on it.
    pub jobs: usize,
    /// Called after each run, with the runs that are done and all of them.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}
