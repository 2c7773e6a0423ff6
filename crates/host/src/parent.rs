//! Runs programs: a process for each, one release, and none left behind whatever happens.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::facts::Usage;
use crate::plan::Program;
use crate::process::{Answer, Done, Order, Release, sleep_until};
use crate::real::order::order;
use crate::work::now;

/// The hidden command of the program that executes [`crate::process::serve`].
pub const COMMAND: &str = "host-process";
/// Time for a process to come up.
const COMING_UP: Duration = Duration::from_secs(20);
/// Time for a process that ends by itself, in nanoseconds.
const ENDING: u64 = 5_000_000_000;
/// From the last message to the release: all threads sleep by then.
const SETTLING: u64 = 4_000_000;
/// From the release of a run to the reading of /proc/stat before it.
const BEFORE: u64 = 500_000;

/// The program that is started for each process.
#[derive(Clone, Debug)]
pub struct Starter {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Starter {
    /// This very program with its hidden command.
    ///
    /// # Errors
    /// A sentence: the system does not know its path.
    pub fn of_this_program() -> Result<Self, String> {
        let program =
            std::env::current_exe().map_err(|e| format!("cannot find the path of this program: {e}"))?;
        Ok(Self { program, arguments: vec![COMMAND.into()] })
    }

    /// Another program with these arguments, which calls [`crate::process::serve`].
    #[must_use]
    pub const fn with(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// A process with a program. Dropping it ends and reaps it.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    name: String,
    /// It ends by itself when its input is closed.
    ends_itself: bool,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.input = None;
        let begin = now();
        while self.ends_itself && now() - begin < ENDING && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(starter: &Starter, program: &Program) -> Result<Self, String> {
        let name = program.name.clone();
        let mut command = program.real.as_ref().map_or_else(|| starter.command(), |job| job.command());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("cannot start a process for `{name}`: {e}"))?;
        let (send, answers) = mpsc::channel();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let ends_itself = program.real.as_ref().is_some_and(|job| job.ends_itself());
        let mut process = Self { child, input, answers, name, ends_itself };
        if let Some(output) = output {
            let read = move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().spawn(read);
            thread.map_err(|e| format!("cannot create a thread: {e}"))?;
        }
        let parent = i32::try_from(std::process::id()).unwrap_or(0);
        let text = match &program.real {
            Some(job) => order(job, program, parent),
            None => {
                let order = Order { parent, program: program.clone() };
                serde_json::to_string(&order).map_err(|e| e.to_string())?
            }
        };
        process.send(&text)?;
        Ok(process)
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        let Some(input) = &mut self.input else { return Err("standard input is closed".into()) };
        let sent = writeln!(input, "{text}").and_then(|()| input.flush());
        sent.map_err(|e| format!("the process of `{}` has ended: {e}", self.name))
    }

    fn answer(&self, limit: Duration) -> Result<Answer, String> {
        let name = &self.name;
        let line = self.answers.recv_timeout(limit).map_err(|e| match e {
            mpsc::RecvTimeoutError::Timeout => {
                format!("`{name}` did not answer within {:.1} s", limit.as_secs_f64())
            }
            mpsc::RecvTimeoutError::Disconnected => format!("the process of `{name}` has ended"),
        })?;
        match serde_json::from_str(&line) {
            Ok(Answer::Failed(why)) => Err(why),
            Ok(answer) => Ok(answer),
            Err(e) => Err(format!("`{name}` gave no answer: {e}")),
        }
    }

    fn done(&self, limit: Duration) -> Result<Done, String> {
        match self.answer(limit)? {
            Answer::Done(done) => Ok(done),
            _ => Err(format!("`{}` answered out of order", self.name)),
        }
    }
}

/// What a run measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// For each program the time from its release to the end of its last thread, in nanoseconds; 0 for those
    /// in the background.
    pub times: Vec<u64>,
    /// What each program reported.
    pub programs: Vec<Done>,
    /// From the first release to the end of the last program in the foreground, in nanoseconds.
    pub elapsed: u64,
    /// Share of the host's cpu time that others used, 0 to 1. /proc/stat has a resolution of 10 ms.
    pub others: f64,
    /// Share of the host's cpu time that the hypervisor gave away, 0 to 1.
    pub steal: f64,
}

/// Runs these programs together once: released `phase` nanoseconds after a point that is arbitrary against
/// the timer tick, and ended after `limit` at the latest. `memory` is called just before the release and
/// gives the bytes that an unloaded cpu reads per nanosecond, for programs that read memory.
///
/// # Errors
/// A sentence. No process is left.
pub fn run(
    starter: &Starter,
    programs: &[Program],
    phase: u64,
    limit: Duration,
    cpus: u32,
    memory: &mut dyn FnMut() -> Result<f64, String>,
) -> Result<Run, String> {
    let mut processes = Vec::with_capacity(programs.len());
    for program in programs {
        processes.push(Process::start(starter, program)?);
    }
    for process in &processes {
        if !matches!(process.answer(COMING_UP)?, Answer::Ready) {
            return Err(format!("`{}` answered out of order", process.name));
        }
    }
    // All arrays exist, and all threads sleep.
    let stream = memory()?;
    let release = now() + SETTLING + phase;
    for (process, program) in processes.iter_mut().zip(programs) {
        process.send(&Release { at: release + program.start, stream }.line())?;
    }
    sleep_until(release - BEFORE);
    let (before, begin) = (Usage::now(), now());
    let mut results: Vec<Option<Done>> = vec![None; programs.len()];
    for ((process, program), result) in processes.iter().zip(programs).zip(&mut results) {
        if !program.background {
            *result = Some(process.done(limit)?);
        }
    }
    for ((process, program), result) in processes.iter_mut().zip(programs).zip(&mut results) {
        if program.background {
            process.input = None;
            *result = Some(process.done(limit)?);
        }
    }
    let (after, end) = (Usage::now(), now());
    let results: Vec<Done> = results.into_iter().flatten().collect();
    let own = results.iter().map(|done| done.cpu).sum();
    let (others, steal) = after.others(before, own, end - begin, cpus);
    let whole = ((end - begin).max(1) * u64::from(cpus.max(1))) as f64;
    let last = |done: &Done| done.ended.iter().copied().max().unwrap_or(0);
    let times: Vec<u64> = programs
        .iter()
        .zip(&results)
        .map(
            |(program, done)| {
                if program.background { 0 } else { last(done).saturating_sub(release + program.start) }
            },
        )
        .collect();
    let ends = programs.iter().zip(&results).filter(|(program, _)| !program.background);
    let elapsed = ends.map(|(_, done)| last(done).saturating_sub(release)).max().unwrap_or(0);
    Ok(Run { times, programs: results, elapsed, others: others as f64 / whole, steal: steal as f64 / whole })
}
