//! `oversim calibrate`: from published measurements to the catalogue's profiles, and back to the
//! measurements.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use validation::calibration::measurements::{Measurements, measurements};
use validation::calibration::{self, Derivation, document, files};

use crate::args::Calibrate;
use crate::failure::{BAD_END, Failure};
use crate::output::{self, Folder, to_stdout};

/// Derives everything; then checks, writes or shows it.
pub(crate) fn calibrate(args: &Calibrate) -> Result<ExitCode, Failure> {
    let data = measurements().map_err(Failure::Output)?;
    let derived = calibration::derive(&data).map_err(Failure::Output)?;
    if args.check {
        return check(&derived, &data);
    }
    let rows = calibration::residuals(&data, &derived).map_err(Failure::Output)?;
    let residuals = calibration::residuals::table(&rows);
    let sensitivity = if args.sensitivity || args.write.is_some() {
        Some(calibration::sensitivity::table().map_err(Failure::Output)?)
    } else {
        None
    };
    if let Some(root) = &args.write {
        write(root, &derived, &data, &residuals, sensitivity.as_deref().unwrap_or_default())?;
    }
    to_stdout(|out| {
        out.write_all(residuals.as_bytes())?;
        match sensitivity.filter(|_| args.sensitivity) {
            Some(table) => write!(out, "\n{table}"),
            None => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Compares the derived files with those built in.
fn check(derived: &Derivation, data: &Measurements) -> Result<ExitCode, Failure> {
    let new = files::texts(derived, data);
    let mut stale: Vec<&str> = new
        .iter()
        .zip(files::committed())
        .filter(|((_, new), (_, old))| new != old)
        .map(|((name, _), _)| *name)
        .collect();
    if !files::machine_is_current(derived).map_err(Failure::Output)? {
        stale.push(files::MACHINE);
    }
    to_stdout(|out| {
        if stale.is_empty() {
            return writeln!(out, "the profiles equal those that the measurements give");
        }
        writeln!(
            out,
            "different from what the measurements give: {}; `oversim calibrate --write .` writes them",
            stale.join(", ")
        )
    })?;
    Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) })
}

/// Writes the data files and the tables of the document.
fn write(
    root: &Path,
    derived: &Derivation,
    data: &Measurements,
    residuals: &str,
    sensitivity: &str,
) -> Result<(), Failure> {
    let document = root.join(document::PATH);
    let failed = |path: &Path, e: &std::io::Error| Failure::Output(format!("{}: {e}", path.display()));
    let page = fs::read_to_string(&document).map_err(|e| failed(&document, &e))?;
    let page = document::with_section(&page, document::RESIDUALS, residuals)
        .and_then(|page| document::with_section(&page, document::SENSITIVITY, sensitivity))
        .ok_or_else(|| Failure::Input(format!("{} has no markers for the tables", document.display())))?;
    let machine = root.join(files::MACHINE);
    let text = fs::read_to_string(&machine).map_err(|e| failed(&machine, &e))?;
    let text = files::machine(derived, &text)
        .ok_or_else(|| Failure::Input(format!("{} has no `transfer_bandwidth`", machine.display())))?;
    let texts = files::texts(derived, data);
    let mut all: Vec<_> = texts
        .iter()
        .map(|(name, text)| (Path::new(files::FOLDER).join(name), output::bytes(text.as_bytes())))
        .collect();
    all.push((files::MACHINE.into(), output::bytes(text.as_bytes())));
    all.push((document::PATH.into(), output::bytes(page.as_bytes())));
    let (folder, _) = Folder::check(root, true, std::iter::empty())?;
    folder.write(&all)
}
