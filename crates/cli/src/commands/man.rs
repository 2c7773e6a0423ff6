//! `oversim man`: manual pages, made from the help.

use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::advice;
use crate::args::{Arguments, Man as Args};
use crate::failure::Failure;
use crate::identity;
use crate::output::{self, Folder};

/// Prints the page of a command, or writes all pages to a directory.
pub(crate) fn man(args: &Args) -> Result<ExitCode, Failure> {
    let pages = pages()?;
    if let Some(directory) = &args.output {
        write(&pages, directory, args.force)?;
        return Ok(ExitCode::SUCCESS);
    }
    let wanted =
        ["oversim"].into_iter().chain(args.page.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    let Some(page) = pages.iter().find(|page| page.name == wanted) else {
        let names: Vec<String> = pages
            .iter()
            .skip(1)
            .map(|page| page.name.replacen("oversim-", "", 1).replace('-', " "))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(Failure::Input(advice::unknown("command", &args.page.join(" "), &names)));
    };
    output::to_stdout(|out| out.write_all(&page.text))?;
    Ok(ExitCode::SUCCESS)
}

/// A manual page.
struct Page {
    /// `oversim`, `oversim-machine-show`.
    name: String,
    text: Vec<u8>,
}

/// The pages of the program and of all commands, that of the program first.
fn pages() -> Result<Vec<Page>, Failure> {
    // A page is that of a version, whatever it was built from.
    let mut program = Arguments::command().disable_help_subcommand(true).long_version(identity::VERSION);
    // Fills in what commands inherit: names and global flags.
    program.build();
    let mut pages = Vec::new();
    add(&program, "oversim", &mut pages)?;
    Ok(pages)
}

fn add(command: &Command, name: &str, pages: &mut Vec<Page>) -> Result<(), Failure> {
    let mut text = Vec::new();
    let titled = command.clone().name(name.to_owned()).bin_name(name.replace('-', " "));
    let man = Man::new(titled).title(name.to_uppercase()).source(format!("oversim {}", identity::VERSION));
    man.render(&mut text).map_err(|e| Failure::Output(format!("cannot make the page of {name}: {e}")))?;
    pages.push(Page { name: name.to_owned(), text });
    let mut visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    visible.try_for_each(|sub| add(sub, &format!("{name}-{}", sub.get_name()), pages))
}

/// Writes every page as `NAME.1`; none when one exists and may not be replaced.
fn write(pages: &[Page], directory: &Path, force: bool) -> Result<(), Failure> {
    let names: Vec<String> = pages.iter().map(|page| format!("{}.1", page.name)).collect();
    let (folder, _) = Folder::check(directory, force, names.iter().map(String::as_str))?;
    let files: Vec<_> =
        names.iter().zip(pages).map(|(name, page)| (name, output::bytes(&page.text))).collect();
    folder.write(&files)
}
