//! `oversim timeline --step`: one decision after the other, as a reader asks for them.

use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;

use experiment::PolicyRegistry;
use pictures::timeline::steps::{Kind, Step, Steps, steps};
use pictures::timeline::{Request, choice, steps_text};
use scenario::Overrides;

use super::{source, timeline};
use crate::args::Timeline as Args;
use crate::failure::Failure;
use crate::{input, output, say};

/// Steps that are kept for a reader who asks for them one by one; each takes some hundred bytes.
const KEPT: usize = 100_000;
/// Steps that are printed where nobody asks for them.
const PRINTED: usize = 200;
/// What the reader can type.
const KEYS: &str = "Enter: next, a number: so many, b: to the next barrier, q: quit";

/// Goes through the first run that the arguments choose.
pub(crate) fn step(args: &Args, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    timeline::check(args)?;
    if args.edits.policies.len() > 1 {
        let named = args.edits.policies.join(", ");
        let text = format!("--step shows one run, and --policy names several: choose one of {named}");
        return Err(Failure::Input(text));
    }
    let (name, text) = input::scenario(&args.file)?;
    let edited = Overrides { warn: false, ..source::edited(&args.edits) };
    let experiment = source::load(policies, &name, &text, &Overrides { repeat: Some(1), ..edited })?;
    let choice = choice::first(&experiment);
    let subjects = choice.subjects();
    let Some(subject) = subjects.first() else {
        return Err(Failure::Input("there is no run to show".into()));
    };
    for remark in &choice.remarks {
        say::note(remark);
    }
    let cpus = timeline::cpus(args, &experiment, &subjects)?;
    let request = Request { from: args.from, to: args.to, cpus, ..Request::default() };
    let asks = io::stdin().is_terminal() && io::stdout().is_terminal();
    let most = if asks { KEPT } else { PRINTED };
    let all = steps(subject.plan, &request, most).map_err(Failure::Input)?;
    let width = output::columns();
    output::to_stdout(|out| {
        out.write_all(steps_text::heading(&all, &choice.title, width).as_bytes())?;
        if asks { writeln!(out, "{KEYS}\n") } else { writeln!(out) }
    })?;
    if asks {
        walk(&all, width)?;
    } else {
        print(&all.steps, width)?;
    }
    if all.more > 0 {
        let last = all.steps.last().map_or(all.from_ns, |step| step.at_ns);
        say::note(format_args!(
            "{} further steps of the window are not shown; --from {last}ns goes on from here",
            all.more
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(steps: &[Step], width: usize) -> Result<(), Failure> {
    let paragraphs: Vec<String> = steps.iter().map(|step| steps_text::paragraph(step, width)).collect();
    output::to_stdout(|out| out.write_all(paragraphs.join("\n").as_bytes()))
}

/// What a reader asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wish {
    Steps(usize),
    Barrier,
    Quit,
}

/// What was typed; none where it means nothing.
fn wish(typed: &str) -> Option<Wish> {
    match typed.trim() {
        "" | "n" => Some(Wish::Steps(1)),
        "b" => Some(Wish::Barrier),
        "q" => Some(Wish::Quit),
        number => number.parse().ok().filter(|count| *count > 0).map(Wish::Steps),
    }
}

/// How many of these steps a wish is for: up to the next barrier, or as many as were asked for.
fn count(steps: &[Step], wish: Wish) -> usize {
    let barrier = || steps.iter().position(|step| step.kind == Kind::Barrier).map(|at| at + 1);
    match wish {
        Wish::Steps(count) => count.min(steps.len()),
        Wish::Barrier => barrier().unwrap_or(steps.len()),
        Wish::Quit => 0,
    }
}

/// Shows the steps as the reader asks for them.
fn walk(all: &Steps, width: usize) -> Result<(), Failure> {
    let mut rest = &all.steps[..];
    let mut typed = String::new();
    let mut asked = Some(Wish::Steps(1));
    while let Some(wished) = asked {
        let (now, later) = rest.split_at(count(rest, wished));
        print(now, width)?;
        rest = later;
        if rest.is_empty() || wished == Wish::Quit {
            break;
        }
        asked = loop {
            typed.clear();
            let read = io::stdin().lock().read_line(&mut typed);
            if read.map_err(|error| Failure::Output(format!("standard input: {error}")))? == 0 {
                break None;
            }
            if let Some(wished) = wish(&typed) {
                break Some(wished);
            }
            output::to_stdout(|out| writeln!(out, "{KEYS}"))?;
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: Kind) -> Step {
        Step {
            at_ns: 0,
            cpu: None,
            thread: None,
            kind,
            text: String::new(),
            reason: String::new(),
            running: None,
            queue: Vec::new(),
        }
    }

    #[test]
    fn what_is_typed_says_how_many_steps_follow() {
        let steps = [Kind::Picked, Kind::Sleeps, Kind::Barrier, Kind::Picked].map(step);
        let shown = |typed| wish(typed).map(|wish| count(&steps, wish));
        assert_eq!(shown("\n"), Some(1));
        assert_eq!((shown("n"), shown("2\n"), shown("99")), (Some(1), Some(2), Some(4)));
        assert_eq!((shown("b\n"), shown("q")), (Some(3), Some(0)));
        assert_eq!((shown("0"), shown("x"), shown("-1")), (None, None, None));
        assert_eq!(count(&steps[3..], Wish::Barrier), 1);
    }
}
