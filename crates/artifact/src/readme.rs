//! The text in an archive for people: what is in it, and how to verify it.

use std::fmt::Write;

use experiment::number::{bytes, plural};

use crate::manifest::{Kind, MANIFEST, Member, Part};

/// What is said of a part that no plain command calculates again.
const OUTSIDE: &str = "Its scenario names files outside of its own directory. Only `oversim artifact verify` \
    finds them in here.\n";

/// The text for these parts and files, written by this version.
pub(crate) fn text(parts: &[Part], files: &[Member], (version, model): (&str, &str)) -> String {
    let mut text = format!(
        "# An artifact of oversim\n\n\
         It contains results of simulations and all that they were calculated from. oversim {version} \
         ({model}) packed it, and only that version can verify it: `oversim --version` prints yours.\n\n\
         ## Verify\n\n    oversim artifact verify FILE --sample 100\n    oversim artifact verify FILE\n\n\
         FILE is the archive. The first command calculates 100 configurations of each sweep again, the \
         second one all of them. Both calculate the results and claims again, draw the figures again, \
         and compare bytes. They read nothing but the archive, and write nothing outside of a temporary \
         directory. Exit status: 0 everything is equal, 1 something differs, 2 the archive is damaged or of \
         another version.\n\n\
         The bytes do not depend on the host, its operating system or the number of threads.\n\n\
         ## Contents\n\n\
         `{MANIFEST}` has the size and the SHA-256 of each file.\n"
    );
    for part in parts {
        let of = |file: &&Member| {
            file.path.strip_prefix(&part.directory).is_some_and(|rest| rest.starts_with('/'))
        };
        let inside: Vec<&Member> = files.iter().filter(of).collect();
        let size = inside.iter().map(|file| file.bytes).sum();
        let _ = write!(
            text,
            "\n### {}\n\n{}: {}, {}",
            part.directory,
            word(part.kind),
            plural(inside.len(), "file", "files"),
            bytes(size)
        );
        if part.runs > 0 {
            let runs = usize::try_from(part.runs).unwrap_or(usize::MAX);
            let _ = write!(text, ", {}", plural(runs, "run", "runs"));
        }
        text.push_str(".\n");
        if !part.command.is_empty() {
            let _ = write!(
                text,
                "In the unpacked directory this command calculates it again:\n\n    {}\n",
                part.command
            );
        }
        if part.command.is_empty() && matches!(part.kind, Kind::Result | Kind::Sweep) {
            text.push_str(OUTSIDE);
        }
        if part.kind == Kind::Files {
            files_of(part, &inside, &mut text);
        }
    }
    text
}

const fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Result => "A result of `oversim run`",
        Kind::Sweep => "A sweep",
        Kind::Claims => "Claims, and what the simulation says of them",
        Kind::Files => "Files",
    }
}

/// Which files are drawn again, and which are not.
fn files_of(part: &Part, inside: &[&Member], text: &mut String) {
    text.push('\n');
    for file in inside {
        let name = file.path.strip_prefix(&part.directory).unwrap_or_default().trim_start_matches('/');
        let how = part.drawn.iter().find(|how| how.file == name);
        let said = how.map_or_else(
            || "as it is; only its checksum is compared".to_owned(),
            |how| format!("figure `{}` of {}", how.figure, how.from),
        );
        let _ = writeln!(text, "- `{name}`: {said}");
    }
}

/// The command that calculates a part again in the unpacked directory.
pub(crate) fn command(kind: Kind, directory: &str, flags: &[String]) -> String {
    let scenario = format!("{directory}/{}/{}", scenario::inputs::DIRECTORY, scenario::inputs::SCENARIO);
    let verb = if kind == Kind::Sweep { "sweep" } else { "run" };
    let words = ["oversim".to_owned(), verb.to_owned(), scenario];
    let words = words.into_iter().chain(flags.iter().cloned()).chain(["-o".to_owned(), "again".to_owned()]);
    words.map(|word| experiment::report::quoted(&word)).collect::<Vec<_>>().join(" ")
}
