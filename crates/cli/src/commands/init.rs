//! `oversim init`: writes a scenario to start from.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use experiment::report::quoted;
use scenario::built_in::{self, BuiltIn, STARTER};

use crate::args::Init;
use crate::failure::Failure;
use crate::output::Target;
use crate::{advice, output};

/// The schema for editors, as `oversim schema > oversim.schema.json` writes it.
const SCHEMA: &str = "oversim.schema.json";

/// Writes the starter scenario or a copy of a built-in one, and prints what to do next.
pub(crate) fn init(args: &Init) -> Result<ExitCode, Failure> {
    let scenario = match &args.name {
        Some(name) => built_in::find(name).ok_or_else(|| Failure::Input(advice::no_scenario(name)))?,
        None => &STARTER,
    };
    let default = PathBuf::from(format!("{}.yaml", scenario.name));
    let path = args.output.as_deref().unwrap_or(&default);
    if path.as_os_str() == "-" {
        output::to_stdout(|out| out.write_all(scenario.copy(scenario.name, None).as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let target = Target::check(path, args.force)?;
    let text = copy(scenario, path);
    target.write(&|out| out.write_all(text.as_bytes()))?;
    let file = quoted(&path.display().to_string());
    output::to_stdout(|out| {
        writeln!(out, "wrote {file}; next:\n  oversim check {file}\n  oversim run {file}")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The text for this file: named like it, and with the schema beside it if there is one.
fn copy(scenario: &BuiltIn, path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let text_of =
        |part: Option<&OsStr>| part.map_or_else(String::new, |part| part.to_string_lossy().into_owned());
    let schema = folder.join(SCHEMA).is_file().then_some(SCHEMA);
    let text = scenario.copy(&text_of(path.file_stem()), schema);
    // The commands in the comment of the starter name its file.
    text.replace(&format!("{}.yaml", STARTER.name), &quoted(&text_of(path.file_name())))
}
