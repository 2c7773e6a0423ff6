//! Recorded schedules: what is read can be written, read again, and replayed.

use std::io::Cursor;
use std::sync::LazyLock;

use experiment::schedule::{ReplayError, read, replay, write};
use scenario::Overrides;
use scenario::plan::Experiment;
use testkit::house::root;

use crate::promise;

/// Cpus of the machine on which schedules are replayed.
const CPUS: u32 = 2;

/// The scenario of the schedules in the corpus.
static EXPERIMENT: LazyLock<Experiment> = LazyLock::new(|| {
    let path = root().join("crates/testkit/tests/fuzz/replayed.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    scenario::load("replayed.yaml", &text, &Overrides::default()).unwrap()
});

/// Any bytes.
pub(crate) fn text(bytes: &[u8]) {
    let (recording, sha256) = match read("s.ndjson", &mut Cursor::new(bytes), CPUS) {
        Ok(read) => read,
        Err(why) => {
            let no_schedule = why.contains("is not a schedule of oversim");
            return if no_schedule { promise::refusal(&why) } else { promise::worded_refusal(&why) };
        }
    };
    let mut written = Vec::new();
    write(&recording, &mut written).unwrap();
    let again = read("again.ndjson", &mut Cursor::new(&written), CPUS);
    assert_eq!(again.map(|(again, _)| again).as_ref(), Ok(&recording), "written and read again");
    match replay(&EXPERIMENT, &recording, &sha256, 1, &|_, _| ()) {
        Ok(results) => crate::output::results(&results),
        Err(ReplayError::Foreign(why)) => promise::refusal(&why),
        Err(ReplayError::Run(error)) => promise::refusal(&error.to_string()),
    }
}
