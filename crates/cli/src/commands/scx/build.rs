//! `oversim scx build`: from a scheduler in BPF C to a policy file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use scx::build::{Failed, Request, is_policy_file, text};

use crate::args::{AnswerFormat, ScxBuild};
use crate::failure::Failure;
use crate::output::{self, Target};
use crate::say;

/// Compiles, writes the file and says what is in it.
pub(crate) fn build(args: &ScxBuild) -> Result<ExitCode, Failure> {
    let path = args.output.clone().unwrap_or_else(|| named_after(args.sources.first()));
    let target = target(&path, args.force)?;
    let request = Request {
        sources: args.sources.clone(),
        include: args.include.clone(),
        define: args.define.clone(),
        ops: args.ops.clone(),
        name: args.name.clone(),
        clang: args.clang.clone(),
    };
    let built = scx::build::build(&request).map_err(|failed| match failed {
        Failed::Tools(text) | Failed::Refused(text) => Failure::Input(text),
        // The compiler says where and what by itself.
        Failed::Compiler(text) => Failure::Rendered(text),
    })?;
    if !built.warnings.trim().is_empty() && !say::quiet() {
        say::line(built.warnings.trim_end());
    }
    target.write(&output::bytes(&built.bytes))?;
    let shown = path.display().to_string();
    let size = built.bytes.len();
    let text = match args.format {
        AnswerFormat::Text => text::text(&built.file, &shown, size, output::width().min(100)),
        AnswerFormat::Json => text::json(&built.file, &shown, size),
        AnswerFormat::Markdown => text::markdown(&built.file, &shown, size),
    };
    output::to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// `src/vtime.bpf.c` gives `vtime.wasm`.
fn named_after(source: Option<&PathBuf>) -> PathBuf {
    let name = source.and_then(|source| source.file_name()).unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    PathBuf::from(if stem.is_empty() { "policy.wasm".to_owned() } else { format!("{stem}.wasm") })
}

/// A policy file may be replaced by its next build; anything else only with `--force`.
fn target(path: &Path, force: bool) -> Result<Target, Failure> {
    let replaced = path.is_file() && fs::read(path).is_ok_and(|bytes| is_policy_file(&bytes));
    Target::check(path, force || replaced)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::named_after;

    #[test]
    fn the_file_has_the_name_of_the_first_source() {
        assert_eq!(named_after(Some(&PathBuf::from("src/vtime.bpf.c"))), PathBuf::from("vtime.wasm"));
        assert_eq!(named_after(None), PathBuf::from("policy.wasm"));
    }
}
