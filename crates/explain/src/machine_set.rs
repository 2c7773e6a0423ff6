//! Machines with values that benchmarks measured.

use machines::benchmarks::{self, Log};
use machines::import::Refused;
use notation::diagnostics::Sources;

use crate::machine_import::name_of;
use crate::machine_view::{self, Refusal};

pub use machines::benchmarks::{Changed, Given, MAX_BYTES};

/// Sets values of a machine (a name, a file's path or a description) from the output of benchmarks, each a
/// name and a text, and from values that are given. The new machine is called as `title` says, or as the
/// old one.
///
/// # Errors
/// What is wrong with the machine or a text, and what does not fit the machine.
pub fn set(
    machine: &str,
    title: Option<&str>,
    logs: &[(String, String)],
    given: &[Given<'_>],
) -> Result<Changed, Refusal> {
    let entry = machine_view::find(machine)?;
    let name = name_of(title.unwrap_or(&entry.name), "measured");
    let texts: Vec<Log<'_>> = logs.iter().map(|(name, text)| Log { name, text }).collect();
    benchmarks::set(&entry, &name, &texts, given).map_err(|refused| match refused {
        Refused::Sentence(sentence) => Refusal::Sentence(sentence),
        Refused::Problems(problems) => {
            let mut sources = Sources::new("", "");
            if let Some(((name, text), others)) = logs.split_first() {
                sources = Sources::new(name, text);
                for (name, text) in others {
                    sources.add(name, text);
                }
            }
            Refusal::Rendered(sources.render(&problems))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_shown_with_its_file_and_line() {
        let good = "Intel(R) Memory Latency Checker - v3.9\n".to_owned();
        let bad = "STREAM version $Revision: 5.10 $\nNumber of Threads counted = many\n".to_owned();
        let logs = [("a.txt".to_owned(), good), ("b.txt".to_owned(), bad)];
        let Err(Refusal::Rendered(text)) = set("epyc", None, &logs, &[]) else { panic!("accepted") };
        assert!(text.contains("b.txt:2:29") && text.contains("number of threads"), "{text}");
    }

    #[test]
    fn a_built_in_machine_gets_another_name() {
        let given = [Given { name: "poll", value: "80ns", source: "mine" }];
        let named = |machine, title| set(machine, title, &[], &given).unwrap().entry.name;
        assert_eq!((named("epyc", None), named("epyc", Some("box"))), ("epyc-measured".into(), "box".into()));
        assert_eq!(named("package:2 core:4", None), "package-2-core-4");
    }
}
