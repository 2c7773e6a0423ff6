//! What Linux and compilers say of a host: executables, load, and predictions that were published for it.

use std::fs;

use host::load::{Load, Snapshot};
use host::predictions::Predictions;
use host::recorder::elf::{Elf, Table};

use crate::{archive, promise};

/// An executable or a library in which `twin record` looks for functions.
pub(crate) fn executable(bytes: &[u8]) {
    let said = |text: String| promise::refusal(&text);
    let Some(elf) = Elf::read(bytes).unwrap_or_else(|why| {
        said(why);
        None
    }) else {
        return;
    };
    for table in [Table::All, Table::Dynamic] {
        match elf.symbols(table, &|name| name.starts_with("MPI_") || name.contains("omp")) {
            Ok(symbols) => assert!(symbols.unwrap_or_default().len() <= bytes.len() / 24),
            Err(why) => said(why),
        }
    }
    let _ = elf.links().map_err(said);
    let _ = elf.interpreter().map_err(said);
}

/// `/proc` before and after: the folders `first` and `second`.
pub(crate) fn load(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = archive::files(text);
    archive::write(folder.path(), files.iter().map(|(path, body)| (*path, body.as_bytes().to_vec())));
    let read = |name: &str| Snapshot::read(&folder.path().join(name), &[0, 1]);
    for name in ["first", "second"] {
        let _ = fs::create_dir(folder.path().join(name));
    }
    let load = Load::between(&read("first"), &read("second"), 2, 1);
    promise::refusal(&load.sentence());
    assert!(load.others.is_finite() && load.steal.is_finite(), "{load:?}");
    let _ = load.quiet();
}

/// Predictions that were published before a measurement.
pub(crate) fn predictions(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Predictions::read("p.json", text) {
        Ok(predictions) => {
            promise::visible(&predictions.report().unwrap());
            let json = predictions.json().unwrap();
            assert_eq!(Predictions::read("p.json", &json).as_ref(), Ok(&predictions), "{json}");
            if let Err(why) = predictions.expect("no hash\u{1b}") {
                promise::refusal(&why);
            }
        }
        Err(why) => {
            promise::refusal(&why);
            assert!(why.contains("p.json"), "the file is not named: {why}");
        }
    }
}
