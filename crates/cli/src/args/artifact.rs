//! Flags of `oversim artifact`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{jobs, seed, size};
use crate::help;

/// Most bytes that an archive unpacks to, unless another number is asked for: five million runs of a sweep,
/// of which each takes about 3 kB.
const MOST: &str = "16GiB";

#[derive(Subcommand, Debug)]
pub(crate) enum Artifact {
    /// Put results, sweeps, claims, figures and other files into one archive, with all that they were
    /// calculated from.
    #[command(after_help = help::artifact::PACK)]
    Pack(ArtifactPack),
    /// Calculate what an archive contains again, from its files alone, and compare bytes.
    #[command(after_help = help::artifact::VERIFY)]
    Verify(ArtifactVerify),
    /// List what an archive contains, who packed it, and the command that made each part.
    #[command(after_help = help::artifact::SHOW)]
    Show(ArtifactShow),
}

#[derive(Args, Debug)]
pub(crate) struct ArtifactPack {
    /// What to pack: directories that `oversim run -o` or `oversim sweep -o` wrote, files of claims,
    /// directories with figures, and any other file or directory.
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Write the archive to this file, a tar file compressed by gzip.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Threads that simulate claims. Default: as many as this process may use. The archive does not depend on
    /// it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub(crate) struct ArtifactVerify {
    /// The archive.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,
    /// Calculate only so many configurations of each sweep again, chosen at random. Default: all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) sample: Option<u64>,
    /// Seed of the choice of --sample.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, requires = "sample")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Compare checksums only, and calculate nothing.
    #[arg(long, conflicts_with_all = ["sample", "jobs"])]
    pub(crate) checksums: bool,
    /// Keep the unpacked files in this new directory. Default: they are removed.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) into: Option<PathBuf>,
    /// Most bytes that the archive may unpack to.
    #[arg(long, value_name = "SIZE", default_value = MOST, value_parser = size)]
    pub(crate) most: u64,
    /// Threads that simulate. Default: as many as this process may use. The outcome does not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

#[derive(Args, Debug)]
pub(crate) struct ArtifactShow {
    /// The archive.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,
    /// Print the manifest, JSON.
    #[arg(long)]
    pub(crate) manifest: bool,
}
