//! Flags of `oversim leaderboard`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::engine::ArgValueCompleter as Completer;
use decide::board::{self, Board};
use decide::suite::GENERAL;
use experiment::export::Exported;
use scenario::objective::Objective;

use super::{form, jobs, seed};
use crate::complete;

#[derive(Args, Debug)]
pub(crate) struct Leaderboard {
    /// Scenarios to run: `general`, the built-in suite; a directory; files or built-in scenarios, with commas
    /// between them. In a directory those of the folder `holdout` are the second half.
    #[arg(long, value_name = "SUITE", default_value = GENERAL, add = Completer::new(complete::scenario))]
    pub(crate) scenarios: String,
    /// Compare these policies: A,B or repeated; names, `./mine.wasm`, or with parameters `{ SPEED: {
    /// interval: 50ms } }`. Times are over that of LOAD, or of the first one without it. Default: all
    /// built-in policies.
    #[arg(long = "policy", value_name = "NAMES", add = Completer::new(complete::policies))]
    pub(crate) policies: Vec<String>,
    /// Judge all scenarios by this objective. Default: each by its own.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Objective::NAMES))]
    pub(crate) objective: Option<String>,
    /// Seed of the first replicate; replicate i uses seed + i.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Seeds of each policy in each scenario, the same for all.
    #[arg(short, long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) repeat: u32,
    /// Also write board.md, board.svg, board.csv and board.json to this directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Form of the board on standard output.
    #[arg(long, default_value = "text", value_parser = form(board::FORMATS))]
    pub(crate) format: Exported<Board>,
    /// Threads that simulate. Default: as many as this process may use. Results do not depend on it.
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// The parts between the commas of a list, those within braces and brackets left together.
pub(crate) fn listed(texts: &[String]) -> Vec<String> {
    let mut parts = Vec::new();
    for text in texts {
        let (mut depth, mut part) = (0_u32, String::new());
        for c in text.chars() {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    parts.push(std::mem::take(&mut part));
                    continue;
                }
                _ => {}
            }
            part.push(c);
        }
        parts.push(part);
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_braces_belong_to_a_policy() {
        let texts = ["LOAD, { SPEED: { interval: 50ms, measure: queue } }".to_owned(), "PIN".to_owned()];
        assert_eq!(listed(&texts), ["LOAD", "{ SPEED: { interval: 50ms, measure: queue } }", "PIN"]);
        assert_eq!(listed(&["}{,".to_owned()]), ["}{,"]);
    }
}
