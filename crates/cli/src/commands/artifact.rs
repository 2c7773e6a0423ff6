//! `oversim artifact`: a study in one archive, and whether it comes out again.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use ::artifact::archive::{self, Unpacked};
use ::artifact::gather::gather;
use ::artifact::manifest::{Kind, Manifest, Part};
use ::artifact::verify::{Checked, verify};
use ::artifact::{Sample, Trouble, Work};
use experiment::number::{bytes, plural};
use experiment::{PolicyRegistry, neutral};
use sweep::unfinished::UnfinishedDirectory;

use crate::args::{Artifact, ArtifactPack, ArtifactShow, ArtifactVerify};
use crate::bar::Bar;
use crate::failure::{BAD_END, Failure};
use crate::output::Target;
use crate::{output, say};

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            // Diagnostics of scenarios are several lines and begin with their own `error`.
            Trouble::Refused(why) if why.starts_with("error") => Self::Rendered(why),
            Trouble::Refused(why) => Self::Input(why),
            Trouble::Failed(why) => Self::Output(why),
        }
    }
}

/// Executes the command.
pub(crate) fn artifact(what: &Artifact, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    match what {
        Artifact::Pack(args) => pack(args, policies),
        Artifact::Verify(args) => verified(args, policies),
        Artifact::Show(args) => show(args, policies),
    }
}

/// A directory for files on the way, which is removed.
fn room(above: &Path) -> Result<UnfinishedDirectory, Failure> {
    UnfinishedDirectory::new(above).map_err(|error| {
        Failure::Output(format!(
            "cannot make a directory for temporary files in {}: {error}",
            above.display()
        ))
    })
}

fn pack(args: &ArtifactPack, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = Target::check(&args.output, args.force)?;
    let inputs: Vec<&Path> = args.paths.iter().map(AsRef::as_ref).collect();
    output::distinct(&[&target], &inputs)?;
    let above = args.output.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let room = room(above)?;
    let bar = Bar::new(0, "runs");
    let work = Work {
        policies,
        jobs: args.jobs.map_or(0, NonZeroUsize::get),
        progress: &|done, all| bar.set(done, all),
    };
    let gathered = gather(&args.paths, &room, &work);
    say::clear_bar();
    let gathered = gathered?;
    target.write(&|out| gathered.write(out))?;
    let (manifest, path) = (&gathered.manifest, &args.output);
    for part in &manifest.parts {
        let kept = kept(manifest, part);
        if !kept.is_empty() {
            say::note(format_args!(
                "{}: no packed result gives {}: only the checksum will be compared",
                part.directory,
                few(&kept)
            ));
        }
    }
    let (files, size) = (plural(manifest.files.len(), "file", "files"), bytes(manifest.size()));
    let runs = plural(usize::try_from(manifest.runs()).unwrap_or(usize::MAX), "run", "runs");
    let packed = std::fs::metadata(path).map_or(0, |about| about.len());
    output::to_stdout(|out| {
        let line = format!("{}: {files}, {runs}, {size} in {}", path.display(), bytes(packed));
        writeln!(out, "{}", neutral::line(&line))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The pictures of a part that are not drawn again.
fn kept<'a>(manifest: &'a Manifest, part: &'a Part) -> Vec<&'a str> {
    let inside = |path: &'a str| path.strip_prefix(&part.directory)?.strip_prefix('/');
    let files = manifest.files.iter().filter_map(|file| inside(&file.path));
    let picture = |name: &&str| ["svg", "png", "pdf"].iter().any(|end| name.ends_with(&format!(".{end}")));
    let drawn = |name: &str| part.drawn.iter().any(|how| how.file == name);
    files.filter(|name| part.kind == Kind::Files && picture(name) && !drawn(name)).collect()
}

/// The first names of a list.
fn few(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = names.iter().take(5).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn verified(args: &ArtifactVerify, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    if let Some(into) = args.into.as_deref().filter(|into| into.symlink_metadata().is_ok()) {
        return Err(Failure::Input(format!("{} exists, and it is not replaced", into.display())));
    }
    let temporary = std::env::temp_dir();
    let above = args.into.as_deref().map(|into| into.parent().unwrap_or(Path::new("")));
    let above = above.map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    let unpacked = room(above.unwrap_or(&temporary))?;
    let Unpacked { manifest, sha256 } = archive::unpack(&args.archive, policies, args.most, &unpacked)?;
    say_what(args, &manifest, &sha256)?;
    let code = if args.checksums {
        output::to_stdout(|out| writeln!(out, "All checksums are right. Nothing was calculated."))?;
        ExitCode::SUCCESS
    } else {
        again(args, &manifest, &unpacked, policies)?
    };
    if let Some(into) = &args.into {
        unpacked.name(into).map_err(|error| {
            Failure::Output(format!("cannot keep the files in {}: {error}", into.display()))
        })?;
    }
    Ok(code)
}

/// What the archive is.
fn say_what(args: &ArtifactVerify, manifest: &Manifest, sha256: &str) -> Result<(), Failure> {
    let program = &manifest.program;
    output::to_stdout(|out| {
        let line = format!(
            "{}: {}, {}, oversim {}, {}",
            args.archive.display(),
            plural(manifest.files.len(), "file", "files"),
            bytes(manifest.size()),
            program.version,
            program.model
        );
        writeln!(out, "{}\nSHA-256 {sha256}", neutral::line(&line))
    })
}

/// Calculates everything again and prints what came out.
fn again(
    args: &ArtifactVerify,
    manifest: &Manifest,
    unpacked: &UnfinishedDirectory,
    policies: &PolicyRegistry,
) -> Result<ExitCode, Failure> {
    let sample = args.sample.map_or(Sample::Full, |count| Sample::Some { count, seed: args.seed });
    let bar = Bar::new(0, "runs");
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let work = Work { policies, jobs, progress: &|done, all| bar.set(done, all) };
    let room = room(&std::env::temp_dir())?;
    let mut printed = Ok(());
    let mut each = |checked: &Checked| {
        say::clear_bar();
        if printed.is_ok() {
            printed = output::to_stdout(|out| write!(out, "{}", told(checked)));
        }
    };
    let all = verify(unpacked.path(), manifest, (sample, room.path()), &work, &mut each);
    say::clear_bar();
    let all = all?;
    printed?;
    output::to_stdout(|out| {
        let lines = concluded(&all);
        lines.iter().try_for_each(|line| writeln!(out, "{}", output::folded(line, output::width())))
    })?;
    let equal = all.iter().all(|checked| checked.differences.is_empty());
    Ok(if equal { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) })
}

/// The lines about a part.
fn told(checked: &Checked) -> String {
    let word = match (checked.differences.is_empty(), checked.what.starts_with("0 files")) {
        (false, _) => "differs",
        (true, true) => "kept",
        (true, false) => "equal",
    };
    let mut text = format!("{word:8} {}: {}\n", checked.part, checked.what);
    for difference in &checked.differences {
        text += &format!("         {}\n", neutral::line(difference));
    }
    if !checked.kept.is_empty() {
        text += &format!("         only the checksum of {}\n", neutral::line(&few(&checked.kept)));
    }
    text
}

/// What follows from all parts.
fn concluded(all: &[Checked]) -> Vec<String> {
    let differing: Vec<&str> =
        all.iter().filter(|part| !part.differences.is_empty()).map(|part| part.part.as_str()).collect();
    let mut lines = vec![match differing.as_slice() {
        [] => "Everything that was calculated or drawn again is equal, byte for byte.".to_owned(),
        some => format!("It is not what it states: {} of {} parts differ.", some.len(), all.len()),
    }];
    if differing.is_empty() {
        lines.extend(all.iter().filter(|part| !part.doubt.is_empty()).map(|part| {
            let mut doubt = part.doubt.clone();
            doubt.replace_range(..1, &doubt[..1].to_uppercase());
            format!("{doubt}.")
        }));
    }
    let kept = all.iter().map(|part| part.kept.len()).sum::<usize>();
    if kept > 0 {
        let (these, are) = (plural(kept, "file", "files"), if kept == 1 { "is" } else { "are" });
        lines.push(format!("{these} {are} as packed (checksum); nothing shows how they were made."));
    }
    lines
}

fn show(args: &ArtifactShow, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let manifest = archive::manifest(&args.archive, policies)?;
    output::to_stdout(|out| {
        if args.manifest {
            return out.write_all(&manifest.bytes());
        }
        let program = &manifest.program;
        let (files, size) = (plural(manifest.files.len(), "file", "files"), bytes(manifest.size()));
        writeln!(out, "oversim {}, {}; {files}, {size}", program.version, program.model)?;
        manifest.parts.iter().try_for_each(|part| {
            let inside =
                |path: &str| path.strip_prefix(&part.directory).is_some_and(|rest| rest.starts_with('/'));
            let files = manifest.files.iter().filter(|file| inside(&file.path));
            let (count, size) =
                files.fold((0, 0_u64), |(count, size), file| (count + 1, size.saturating_add(file.bytes)));
            let runs = usize::try_from(part.runs).unwrap_or(usize::MAX);
            let runs = if runs == 0 { String::new() } else { format!(", {}", plural(runs, "run", "runs")) };
            let drawn = match part.drawn.len() {
                0 => String::new(),
                drawn => format!(", {} drawn again by verify", plural(drawn, "file", "files")),
            };
            let files = plural(count, "file", "files");
            let line = format!("{}: {files}, {}{runs}{drawn}", part.directory, bytes(size));
            writeln!(out, "{}", neutral::line(&line))?;
            let command = neutral::line(&part.command);
            if command.is_empty() { Ok(()) } else { writeln!(out, "  {command}") }
        })
    })?;
    Ok(ExitCode::SUCCESS)
}
