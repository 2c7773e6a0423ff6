//! Former names on the command line ([`experiment::renamed`]): commands, flags and metrics get their present
//! names before the line is parsed.

use std::ffi::OsString;

use experiment::renamed::{Renamed, What, former};

/// Flags whose values are metrics.
const METRICS: &str = "--metric";

/// The words of a command line behind the name of the program, with present names.
pub(crate) struct Words {
    /// The words.
    pub(crate) words: Vec<OsString>,
    /// What to say of those that were changed: sentences without full stop, each once.
    pub(crate) remarks: Vec<String>,
}

impl Words {
    /// The words with the present names of this table.
    pub(crate) fn of(table: &'static [Renamed], given: impl IntoIterator<Item = OsString>) -> Self {
        let mut done = Self { words: Vec::new(), remarks: Vec::new() };
        let (mut behind_dashes, mut is_metric, mut names_command) = (false, false, true);
        for word in given {
            let Some(text) = word.to_str().filter(|_| !behind_dashes) else {
                done.words.push(word);
                continue;
            };
            behind_dashes = text == "--";
            let present = if is_metric {
                done.metrics(table, text)
            } else if let Some((flag, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
                let flag = done.name(table, What::Flag, flag);
                let value = if flag == METRICS { done.metrics(table, value) } else { value.to_owned() };
                format!("{flag}={value}")
            } else if text.starts_with('-') {
                done.name(table, What::Flag, text)
            } else if names_command {
                done.name(table, What::Command, text)
            } else {
                text.to_owned()
            };
            names_command &= text.starts_with('-');
            is_metric = present == METRICS;
            done.words.push(present.into());
        }
        done
    }

    fn metrics(&mut self, table: &'static [Renamed], list: &str) -> String {
        let names: Vec<String> = list.split(',').map(|name| self.name(table, What::Metric, name)).collect();
        names.join(",")
    }

    fn name(&mut self, table: &'static [Renamed], what: What, name: &str) -> String {
        let Some(row) = former(table, what, name) else { return name.to_owned() };
        let remark = row.remark();
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
        row.new.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use experiment::renamed::RENAMED;

    const fn row(what: What, old: &'static str, new: &'static str) -> Renamed {
        Renamed { what, old, new, since: "1.1.0", refused: None }
    }

    const TABLE: &[Renamed] = &[
        row(What::Flag, "--seeds", "--repeat"),
        row(What::Command, "simulate", "run"),
        row(What::Metric, "spread", "variation"),
        row(What::Flag, "--quantity", "--metric"),
    ];

    #[test]
    fn former_words_get_their_present_names() {
        for (given, wanted, remarks) in [
            ("simulate a --seeds 3", "run a --repeat 3", 2),
            ("run a --seeds=3", "run a --repeat=3", 1),
            ("-q simulate a", "-q run a", 1),
            (
                "compare a --metric spread,run_time,spread",
                "compare a --metric variation,run_time,variation",
                1,
            ),
            ("compare a --quantity=spread", "compare a --metric=variation", 2),
            ("run simulate --set name=--seeds", "run simulate --set name=--seeds", 0),
            ("run a -- --seeds", "run a -- --seeds", 0),
        ] {
            let done = Words::of(TABLE, given.split(' ').map(OsString::from));
            let words: Vec<&str> = done.words.iter().filter_map(|word| word.to_str()).collect();
            assert_eq!(words.join(" "), wanted);
            assert_eq!(done.remarks.len(), remarks, "{given}: {:?}", done.remarks);
        }
    }

    #[test]
    fn no_former_name_is_that_of_a_command_or_flag_of_today() {
        let mut program = crate::args::Arguments::command();
        program.build();
        let mut all = vec![program];
        let mut names = Vec::new();
        while let Some(command) = all.pop() {
            names.extend(command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))));
            names.extend(command.get_subcommands().map(|sub| sub.get_name().to_owned()));
            all.extend(command.get_subcommands().cloned());
        }
        for row in RENAMED.iter().filter(|row| matches!(row.what, What::Command | What::Flag)) {
            assert!(!names.iter().any(|name| name == row.old), "{row:?}");
            assert!(names.iter().any(|name| name == row.new), "{row:?}");
        }
    }
}
