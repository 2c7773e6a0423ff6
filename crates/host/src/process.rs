//! The process of one program: it reads its plan, creates its threads, releases them at one instant and
//! reports when each ended.

use std::io::{BufRead, Write};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, setpriority_process, setsid};
use rustix::thread::{clock_nanosleep_absolute, sched_yield, set_current_timer_slack};
use rustix::time::{ClockId, Timespec};
use serde::{Deserialize, Serialize};
use sim_core::program::Spread;
use sim_core::rng::draw;
use sim_core::time::WORK_FRACTION_BITS;

use crate::barrier::Barrier;
use crate::facts::{self, bind};
use crate::plan::{Piece, Program, Step, Thread};
use crate::work::{self, Stream, mixed, nanoseconds, now};

/// Stack of a thread: it calls no deep functions.
const STACK: usize = 256 << 10;

/// The first line that a process reads.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The process that gives the order; its end is the end of this one.
    pub(crate) parent: i32,
    /// What to do.
    pub(crate) program: Program,
}

/// The second line that a process reads: two numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Release {
    /// When the threads begin, CLOCK_MONOTONIC in nanoseconds.
    pub(crate) at: u64,
    /// Bytes that an unloaded cpu reads per nanosecond, as measured just before.
    pub(crate) stream: f64,
}

impl Release {
    /// As a line without its end. Real runtimes read the first number alone.
    pub(crate) fn line(self) -> String {
        format!("{} {}", self.at, self.stream)
    }

    fn read(line: &str) -> Result<Self, String> {
        let numbers = line
            .trim()
            .split_once(' ')
            .and_then(|(at, stream)| Some(Self { at: at.parse().ok()?, stream: stream.parse().ok()? }));
        numbers.ok_or_else(|| format!("no instant: {}", line.trim()))
    }
}

/// What a process answers, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// All threads exist and wait for the instant.
    Ready,
    /// All threads have ended, or were asked to.
    Done(Done),
    /// Something failed.
    Failed(String),
}

/// What a program measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Done {
    /// When each thread first ran after the release, CLOCK_MONOTONIC in nanoseconds; 0 if it never did.
    pub started: Vec<u64>,
    /// When each thread ended; 0 if it did not.
    pub ended: Vec<u64>,
    /// Cpu time of the process from the release on, in nanoseconds.
    pub cpu: u64,
}

/// What all threads share.
struct Shared {
    program: Program,
    barrier: Barrier,
    release: Mutex<Option<Release>>,
    given: Condvar,
    ready: AtomicU32,
}

/// A thread's message to the main one.
enum Message {
    Ready,
    Failed(String),
    Started(usize, u64),
    Ended(usize, u64),
    /// Standard input is closed: the run is over.
    Closed,
}

/// Executes the program that the input describes; the exit code. `oversim host-process` calls it with its
/// standard streams.
///
/// The protocol has four lines: the order, the answer `Ready`, the instant of the release, the answer with
/// the times. A program in the background answers when its input is closed.
#[must_use]
pub fn serve(input: &mut dyn BufRead, out: &mut dyn Write) -> u8 {
    match order(input).and_then(|program| execute(program, input, out)) {
        Ok(done) => {
            // If the parent has ended no one needs the answer.
            let _ = answer(&Answer::Done(done), out);
            0
        }
        Err(why) => {
            let _ = answer(&Answer::Failed(why), out);
            1
        }
    }
}

fn answer(answer: &Answer, out: &mut dyn Write) -> Result<(), String> {
    let text = serde_json::to_string(answer).map_err(|e| e.to_string())?;
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|e| e.to_string())
}

fn line(input: &mut dyn BufRead) -> Result<String, String> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) => Err("standard input ended: `oversim measure` starts this command".into()),
        Ok(_) => Ok(line),
        Err(e) => Err(e.to_string()),
    }
}

/// Reads the order. From here on the end of the parent ends this process.
fn order(input: &mut dyn BufRead) -> Result<Program, String> {
    let order: Order = serde_json::from_str(&line(input)?).map_err(|e| format!("no order: {e}"))?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| e.to_string())?;
    // The parent may have ended before the call.
    if getppid().map(Pid::as_raw_nonzero).map(std::num::NonZero::get) != Some(order.parent) {
        return Err("the process that gave the order has ended".into());
    }
    Ok(order.program)
}

/// Creates the threads, releases them, and waits for them or for the end of standard input.
fn execute(program: Program, input: &mut dyn BufRead, out: &mut dyn Write) -> Result<Done, String> {
    if program.session {
        setsid().map_err(|e| format!("`{}` cannot begin a session: {e}", program.name))?;
    }
    let ranks = u32::try_from(program.threads.len()).map_err(|e| e.to_string())?;
    let background = program.background;
    let shared = Arc::new(Shared {
        barrier: Barrier::new(ranks),
        program,
        release: Mutex::new(None),
        given: Condvar::new(),
        ready: AtomicU32::new(0),
    });
    let (send, messages) = mpsc::channel();
    for rank in 0..ranks as usize {
        let (shared, send) = (Arc::clone(&shared), send.clone());
        let body = move || thread(&shared, rank, &send);
        let made = std::thread::Builder::new().stack_size(STACK).spawn(body);
        made.map_err(|e| format!("cannot create a thread: {e}"))?;
    }
    match messages.recv() {
        Ok(Message::Ready) => answer(&Answer::Ready, out)?,
        Ok(Message::Failed(why)) => return Err(why),
        _ => return Err("the threads ended before their release".into()),
    }
    let release = Release::read(&line(input)?)?;
    let before = nanoseconds(ClockId::ProcessCPUTime);
    *shared.release.lock().unwrap_or_else(PoisonError::into_inner) = Some(release);
    shared.given.notify_all();
    if now() > release.at {
        return Err("the instant of the release was over when it was read".into());
    }
    if background {
        let _ = line(input);
        let _ = send.send(Message::Closed);
    }
    let mut done = Done { started: vec![0; ranks as usize], ended: vec![0; ranks as usize], cpu: 0 };
    let mut left = ranks;
    while left > 0 {
        match messages.recv().map_err(|e| e.to_string())? {
            Message::Started(rank, at) => done.started[rank] = at,
            Message::Ended(rank, at) => {
                done.ended[rank] = at;
                left -= 1;
            }
            Message::Failed(why) => return Err(why),
            Message::Closed => break,
            Message::Ready => {}
        }
    }
    done.cpu = nanoseconds(ClockId::ProcessCPUTime) - before;
    Ok(done)
}

/// Gives the calling thread a nice value relative to that of the measurement: only ratios of weights matter.
fn set_nice(relative: i32, program: &str) -> Result<(), String> {
    if relative == 0 {
        return Ok(());
    }
    let nice = facts::nice() + relative;
    let failed = |why: &str| format!("`{program}` needs nice {nice}: {why}");
    if !(-20..=19).contains(&nice) {
        return Err(failed("the range is -20 to 19"));
    }
    // In Linux, process 0 is the calling thread.
    setpriority_process(None, nice).map_err(|e| failed(&e.to_string()))
}

/// One thread from its creation to its end.
fn thread(shared: &Shared, rank: usize, send: &mpsc::Sender<Message>) {
    let plan = &shared.program.threads[rank];
    let array = shared.program.array;
    let mut stream = (array > 0).then(|| Stream::new(array));
    let set_up = || -> Result<(), String> {
        // Timers of ordinary threads are up to 50 us late by default.
        set_current_timer_slack(NonZeroU64::new(1)).map_err(|e| e.to_string())?;
        set_nice(plan.nice, &shared.program.name)?;
        if plan.cpus.is_empty() { Ok(()) } else { bind(&plan.cpus) }
    };
    // The main thread waits for the messages; if it has ended, so has the process.
    if let Err(why) = set_up() {
        let _ = send.send(Message::Failed(why));
        return;
    }
    if shared.ready.fetch_add(1, SeqCst) + 1 == shared.program.threads.len() as u32 {
        let _ = send.send(Message::Ready);
    }
    let mut given = shared.release.lock().unwrap_or_else(PoisonError::into_inner);
    let release = loop {
        match *given {
            Some(at) => break at,
            None => given = shared.given.wait(given).unwrap_or_else(PoisonError::into_inner),
        }
    };
    drop(given);
    if let Err(why) = plan.slept.map_or(Ok(()), facts::visit) {
        let _ = send.send(Message::Failed(why));
        return;
    }
    sleep_until(release.at);
    let started = now();
    let mut rank_of =
        Rank { shared, plan, rank, draws: 0, stream: stream.as_mut(), bytes_per_ns: release.stream };
    rank_of.run();
    let ended = now();
    let _ = send.send(Message::Started(rank, started));
    let _ = send.send(Message::Ended(rank, ended));
}

/// Sleeps until an instant of CLOCK_MONOTONIC.
pub(crate) fn sleep_until(instant: u64) {
    let second = 1_000_000_000;
    let at = Timespec {
        tv_sec: i64::try_from(instant / second).unwrap_or(i64::MAX),
        tv_nsec: (instant % second) as _,
    };
    // A signal may end the sleep early.
    while now() < instant && clock_nanosleep_absolute(ClockId::Monotonic, &at).is_err() {}
}

/// The state of a thread in its program.
struct Rank<'a> {
    shared: &'a Shared,
    plan: &'a Thread,
    rank: usize,
    draws: u64,
    stream: Option<&'a mut Stream>,
    bytes_per_ns: f64,
}

impl Rank<'_> {
    /// All steps once; loops by a stack of positions and passes left.
    fn run(&mut self) {
        let program = &self.shared.program;
        let mut loops: Vec<(usize, u32)> = Vec::new();
        let mut at = 0;
        while let Some(step) = program.steps.get(at) {
            at += 1;
            match *step {
                Step::Compute(piece) => self.compute(piece),
                Step::Serial(piece) if self.rank == 0 => self.compute(piece),
                Step::Serial(_) => {}
                Step::Barrier => self.shared.barrier.meet(program.wait, program.polls),
                Step::Sleep(span, spread) => {
                    let span = self.varied(span, spread);
                    sleep_until(now().saturating_add(span));
                }
                Step::Yield => sched_yield(),
                Step::Repeat(passes) => loops.push((at, passes)),
                Step::End => match loops.last_mut() {
                    Some((begin, 0)) => at = *begin,
                    Some((begin, left)) if *left > 1 => {
                        *left -= 1;
                        at = *begin;
                    }
                    _ => {
                        loops.pop();
                    }
                },
            }
        }
    }

    /// A length varied by the draw that the simulated task takes here.
    fn varied(&mut self, mean: u64, spread: u32) -> u64 {
        self.draws += 1;
        Spread(spread).apply(mean, draw(self.plan.noise, self.draws))
    }

    fn compute(&mut self, piece: Piece) {
        let program = &self.shared.program;
        let raw = self.varied(piece.work, piece.spread) as f64 * f64::from(self.plan.scale) / 1_000.0;
        let unloaded = raw / (1_u64 << WORK_FRACTION_BITS) as f64 / program.speed;
        let iterations = unloaded * (1.0 - piece.bound) * program.rate;
        let bytes = unloaded * piece.bound * self.bytes_per_ns;
        if bytes < 1.0 {
            work::spin(iterations.round() as u64);
        } else {
            mixed(iterations.round() as u64, bytes.round() as u64, self.stream.as_deref_mut());
        }
    }
}
