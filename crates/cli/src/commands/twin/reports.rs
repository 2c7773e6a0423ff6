//! `oversim twin latency`, `timehist`, `split` and `idle`: reports on a recording or a simulated run.

use std::io::Write;
use std::process::ExitCode;

use experiment::PolicyRegistry;
use twin::follow::Stint;
use twin::report::idle::Idle;
use twin::report::latency::{Latency, Order};
use twin::report::split::{self, Split};
use twin::report::timehist::{Only, Options, Timehist};
use twin::threads::Threads;

use super::recorded::{self, Whole};
use crate::args::{
    LatencyOrder, Lines, ListFormat, Recorded, SplitBy, TwinIdle, TwinLatency, TwinSplit, TwinTimehist,
};
use crate::failure::Failure;
use crate::output::{standard, to_stdout};
use crate::say;

/// Follows a recording or a run to its end.
fn followed(
    from: &Recorded,
    policies: &PolicyRegistry,
    sink: &mut dyn FnMut(&Threads, &Stint<'_>),
) -> Result<Whole, Failure> {
    let mut whole = recorded::read(from, None, policies, &mut |follower, event| follower.event(event, sink))?;
    whole.follower.done(sink);
    Ok(whole)
}

/// Shows the delays of all threads.
pub(super) fn latency(args: &TwinLatency, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let mut report = Latency::default();
    let whole = followed(&args.recorded, policies, &mut |threads, stint| report.stint(threads, stint))?;
    let order = match args.sort {
        LatencyOrder::Runtime => Order::RunTime,
        LatencyOrder::Switch => Order::Stints,
        LatencyOrder::Avg => Order::Average,
        LatencyOrder::Max => Order::Maximum,
    };
    let (head, threads, how) = (&whole.head, &whole.follower.threads, (args.merge, order));
    to_stdout(|out| match args.format {
        ListFormat::Text => report.write(head, threads, how, out),
        ListFormat::Json => report.write_json(head, threads, how, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Shows each stint as it ends.
pub(super) fn timehist(args: &TwinTimehist, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from >= to
    {
        return Err(Failure::Input("--from is not before --to: nothing is between them".into()));
    }
    let options = Options {
        only: args.only.iter().map(|text| Only::of(text)).collect(),
        from: args.from.unwrap_or(0),
        to: args.to,
        summary: args.summary,
        json: args.format == Lines::Ndjson,
    };
    let (from, some) = (options.from, !options.only.is_empty());
    let mut out = standard();
    let mut report = Timehist::new(options, &mut out);
    let mut whole = recorded::read(&args.recorded, args.to, policies, &mut |follower, event| {
        if follower.first.is_none() {
            report.begin(event.at);
        }
        follower.event(event, &mut |threads, stint| report.stint(threads, stint));
    })?;
    whole.follower.done(&mut |threads, stint| report.stint(threads, stint));
    let length = whole.head.length();
    if from > length {
        return Err(Failure::Input(format!(
            "--from is behind the end: the recording lasts {:.3} ms, and --from counts from its first event",
            length as f64 / 1e6
        )));
    }
    if report.shown() == 0 {
        say::warning(if some { "--only names no thread that had a cpu" } else { "no thread had a cpu" });
    }
    let written = report.finish(&whole.head, &whole.follower.threads);
    written.and_then(|()| out.flush()).map_err(|error| Failure::stdout(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Shows who had the cpu while threads waited for one.
pub(super) fn split(args: &TwinSplit, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let mut report = Split::new(match args.by {
        SplitBy::Process => &split::by_process,
        SplitBy::Thread => &split::by_thread,
        SplitBy::Name => &split::by_name,
    });
    let whole = followed(&args.recorded, policies, &mut |threads, stint| report.stint(threads, stint))?;
    let (head, threads) = (&whole.head, &whole.follower.threads);
    to_stdout(|out| match args.format {
        ListFormat::Text => report.write(head, threads, out),
        ListFormat::Json => report.write_json(head, threads, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Shows when a cpu idled while a thread waited for one.
pub(super) fn idle(args: &TwinIdle, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let mut report = Idle::new(args.min);
    let whole = followed(&args.recorded, policies, &mut |threads, stint| report.stint(threads, stint))?;
    whole.cpus.into_iter().for_each(|cpus| report.machine(cpus));
    let (head, threads) = (&whole.head, &whole.follower.threads);
    to_stdout(|out| match args.format {
        ListFormat::Text => report.write(head, threads, out),
        ListFormat::Json => report.write_json(head, threads, out),
    })?;
    Ok(ExitCode::SUCCESS)
}
