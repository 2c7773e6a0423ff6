//! Parts of the program that a build may leave out, each a feature of the package. Releases have all of them.

use crate::failure::Failure;

/// A part.
pub(crate) struct Part {
    /// The feature of the package.
    pub(crate) feature: &'static str,
    /// Whether this program has it.
    pub(crate) is_here: bool,
    /// Commands that only a program with this part has.
    commands: &'static [&'static str],
}

/// Archives of what a publication rests on.
const ARTIFACT: Part =
    Part { feature: "artifact", is_here: cfg!(feature = "artifact"), commands: &["artifact"] };
/// Pictures as PNG and PDF, slides, traces for Perfetto, manual pages.
pub(crate) const FORMATS: Part =
    Part { feature: "formats", is_here: cfg!(feature = "formats"), commands: &["man"] };
/// What is measured on a real machine, and what authors of the model use.
pub(crate) const MEASURED: Part = Part {
    feature: "measured",
    is_here: cfg!(feature = "measured"),
    commands: &["calibrate", "measure", "reproduce", "twin"],
};
/// Schedulers of sched_ext and policy files.
pub(crate) const SCX: Part = Part { feature: "scx", is_here: cfg!(feature = "scx"), commands: &["scx"] };

impl Part {
    /// Refuses what needs this part if the program does not have it: `what` begins the sentence.
    pub(crate) fn need(&self, what: &str) -> Result<(), Failure> {
        if self.is_here { Ok(()) } else { Err(Failure::Input(self.sentence(what))) }
    }

    /// How to get a program that has it.
    pub(crate) fn sentence(&self, what: &str) -> String {
        format!(
            "{what} needs the feature `{}`, which this program was built without: releases have it, and \
             `cargo install --path crates/cli --features full` builds it",
            self.feature
        )
    }
}

/// What to say about a command that another build has.
pub(crate) fn elsewhere(command: &str) -> Option<String> {
    let all = [ARTIFACT, FORMATS, MEASURED, SCX];
    let part = all.iter().find(|part| !part.is_here && part.commands.contains(&command))?;
    Some(part.sentence(&format!("`{command}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_named() {
        let without = Part { is_here: false, ..SCX };
        assert_eq!(
            without.sentence("`scx`"),
            "`scx` needs the feature `scx`, which this program was built without: releases have it, and \
             `cargo install --path crates/cli --features full` builds it"
        );
        assert!(without.need("`scx`").is_err());
    }

    #[test]
    fn tests_are_of_the_whole_program() {
        assert!([ARTIFACT, FORMATS, MEASURED, SCX].iter().all(|part| part.is_here));
        assert_eq!(elsewhere("twin"), None);
    }
}
