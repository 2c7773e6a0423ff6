//! Machines: files, edits of shipped files, descriptions of hwloc and Linux.

use std::fs;

use machines::Entry;
use machines::benchmarks::Log;
use machines::import::{Description, Imported, Refused, export_synthetic, import};
use notation::diagnostics::{Diagnostic, Sources};
use notation::encoding::decode;
use scenario::Overrides;
use sim_core::machine::Level;

use crate::edits::{MACHINES, written};
use crate::tape::Tape;
use crate::{archive, promise, scenarios};

/// A machine with all lists and some values.
pub(crate) const SMALL: &str = "name: small\nsummary: a test\nabout: more words\nkernel: linux-6.18\n\
    topology: { value: \"package:2 numa:1 core:2 pu:2\", source: a page }\n\
    values:\n  node_bandwidth: { value: 10GB/s, source: a page, range: [8GB/s, 12GB/s] }\n\
    \x20 shared_cache: { value: 8MiB, source: a page, uncertain: true }\n\
    lists:\n  distances: { value: [[1, 2], [2, 1]], source: a page }\n\
    \x20 core_speeds: { value: [1, 1, 0.5, 0.5], source: a page }\n\
    \x20 idle_exit: { value: [[20us, 1us], [200us, 5us]], source: a page }\n\
    \x20 cpu_numbers: { value: [0, 4, 1, 5, 2, 6, 3, 7], source: a page }\n";

/// The name of the file in messages.
const NAME: &str = "m.yaml";
/// Largest machine that is built.
const MOST_CPUS: u32 = 4_096;
/// Largest machine on which a scenario runs.
const MOST_RUN: u32 = 32;

/// The text of a machine file.
pub(crate) fn text(bytes: &[u8]) {
    match decode(bytes.to_vec()) {
        Ok(text) => check(&text),
        Err(refused) => promise::placed_refusal(&refused.render(NAME), &[NAME]),
    }
}

/// Edits of the tree of a shipped machine.
pub(crate) fn tree(bytes: &[u8]) {
    check(&written(&MACHINES.edited(&mut Tape(bytes))));
}

fn refused(problems: &[Diagnostic], name: &str, text: &str) {
    assert!(!problems.is_empty(), "a refusal without a reason");
    promise::placed_refusal(&Sources::new(name, text).render(problems), &[name]);
}

/// Reads a machine file; what is accepted can be built, exported, imported and simulated.
fn check(text: &str) {
    let entry = match machines::read_file(0, text) {
        Ok(entry) => entry,
        Err(problems) => return refused(&problems, NAME, text),
    };
    accepted(&entry);
    match scenario::machine_files::entry(0, text) {
        Err(problems) => refused(&problems, NAME, text),
        Ok(entry) if entry.topology.cpus() <= MOST_RUN => {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(NAME), text).unwrap();
            let path = folder.path().join("s.yaml").display().to_string();
            let machine = scenarios::SMALL.replace("package:1 numa:2 core:2", "./m.yaml");
            scenarios::check(&path, &machine, &Overrides::default());
        }
        Ok(_) => {}
    }
}

/// What holds for every machine that a reader accepts.
fn accepted(entry: &Entry) {
    [&entry.name, &entry.summary, &entry.about].into_iter().for_each(|text| promise::visible(text));
    assert_eq!(entry.check(), Ok(()), "a machine that was read is not consistent");
    if entry.topology.cpus() > MOST_CPUS {
        return;
    }
    let machine = entry.machine();
    assert_eq!(machine.cpus(), entry.topology.cpus());
    let Ok(exported) = export_synthetic(entry) else { return };
    promise::visible(&exported.text);
    let again = import(Description::Synthetic(&exported.text), "again", false);
    let again =
        again.unwrap_or_else(|why| panic!("what was exported is refused: {}: {why:?}", exported.text));
    let shape =
        |entry: &Entry| [Level::Package, Level::Core, Level::Thread].map(|level| entry.topology.count(level));
    assert_eq!(shape(&again.entry), shape(entry), "{}", exported.text);
}

/// A machine by its name or description.
pub(crate) fn topology(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match machines::resolve(text) {
        Ok(entry) => accepted(&entry),
        Err(why) => assert!(!why.is_empty()),
    }
    for largest in [false, true] {
        imported(import(Description::Synthetic(text), "m", largest), "--synthetic", text);
    }
}

/// The XML of `lstopo`.
pub(crate) fn xml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for largest in [false, true] {
        imported(import(Description::Xml { name: "l.xml", text }, "m", largest), "l.xml", text);
    }
}

/// A tree of files as Linux has them below `/sys` and `/proc`.
pub(crate) fn sysfs(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = archive::files(text).into_iter().map(|(path, body)| (path, body.as_bytes().to_vec()));
    archive::write(folder.path(), files);
    for largest in [false, true] {
        imported(import(Description::Host(folder.path()), "m", largest), "", "");
    }
}

/// The output of benchmarks: what is taken is in the text that is written.
pub(crate) fn benchmarks(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for machine in ["package:2 numa:1 core:8 pu:2", "core:1"] {
        let entry = machines::resolve(machine).unwrap();
        match machines::benchmarks::set(&entry, "m", &[Log { name: "b.txt", text }], &[]) {
            Ok(changed) => {
                promise::visible(&changed.text);
                assert!(!changed.set.is_empty());
                assert_eq!(machines::read_file(0, &changed.text).as_ref(), Ok(&changed.entry));
                accepted(&changed.entry);
            }
            Err(Refused::Sentence(why)) => assert!(!why.trim().is_empty()),
            Err(Refused::Problems(problems)) => refused(&problems, "b.txt", text),
        }
    }
}

/// What an import promises: its text is that of its machine.
fn imported(imported: Result<Imported, Refused>, name: &str, text: &str) {
    match imported {
        Ok(imported) => {
            promise::visible(&imported.text);
            imported.remarks.iter().for_each(|remark| assert!(!remark.is_empty()));
            assert_eq!(machines::read_file(0, &imported.text).as_ref(), Ok(&imported.entry));
            accepted(&imported.entry);
        }
        Err(Refused::Sentence(why)) => assert!(!why.trim().is_empty()),
        Err(Refused::Problems(problems)) => refused(&problems, name, text),
    }
}
