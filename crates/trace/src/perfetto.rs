//! Writes a trace for Perfetto: protobuf, with the generic kernel events from which it makes its scheduling
//! tracks.
//!
//! The importer wants: the process tree first; no CREATED for those in it; never RUNNING twice in a row for a
//! thread; at a switch the one that leaves before the one that comes, at the same instant; nothing after
//! DEAD; idle time as no slice; no thread 0.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use prost::Message;
use sim_core::ids::TaskId;

use crate::About;
use crate::decimal;
use crate::events::{Event, State, Who, Writer};
use crate::messages::{
    Attribute, Attributes, Counter, Process, ProcessTree, TaskState, Thread, ThreadOfTrack, TracePacket,
    TrackDescriptor, TrackEvent, event, state,
};
use crate::sort::{SLEEP, SLEEPS};
use crate::tracks::Tracks;

/// Numbers of tracks: fixed ones, then one per cpu, node and thread.
const MIGRATIONS: u64 = 1;
const BARRIERS: u64 = 2;
const APPS: u64 = 3;
const POLICY: u64 = 4;
const QUEUES: u64 = 5;
const BUSY: u64 = 6;
const QUEUE_OF: u64 = 1 << 40;
const COMPUTING_OF: u64 = 2 << 40;
const POLLING_OF: u64 = 3 << 40;
const THREAD_OF: u64 = 4 << 40;

/// The only writer of the file.
const SEQUENCE: u32 = 1;
/// The key of `Trace.packet`: field 1, bytes with their length in front.
const PACKET: u8 = 1 << 3 | 2;

/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 15;

/// What tasks wait at or for: the scopes of barriers in the order of their numbers, then locks.
const SCOPES: [&str; 5] =
    ["barrier", "barrier of the team", "barrier of the first ones", "end of a parallel region", "lock"];

/// Writes packets.
pub(crate) struct Perfetto<'a> {
    tracks: &'a Tracks,
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    begun: bool,
    /// Scratch: the name of an event.
    text: String,
}

impl<'a> Perfetto<'a> {
    /// Writes what comes before the events.
    pub(crate) fn begin(tracks: &'a Tracks, about: &About, out: &'a mut dyn Write) -> io::Result<Self> {
        let mut this = Self {
            tracks,
            out,
            buffer: Vec::with_capacity(GATHERED + 4_096),
            begun: false,
            text: String::new(),
        };
        let attribute = |(key, value): &(String, String)| Attribute {
            key: Some(key.clone()),
            string_value: Some(value.clone()),
        };
        let attributes = Attributes { attribute: about.facts.iter().map(attribute).collect() };
        this.packet(TracePacket { trace_attributes: Some(attributes), ..TracePacket::default() })?;
        let tree = this.tree();
        this.packet(TracePacket {
            timestamp: Some(0),
            generic_kernel_process_tree: Some(tree),
            ..TracePacket::default()
        })?;
        this.tracks()?;
        Ok(this)
    }

    fn tree(&self) -> ProcessTree {
        let processes = self.tracks.processes().into_iter();
        let processes =
            processes.map(|process| Process { pid: Some(process.pid as i64), cmdline: Some(process.name) });
        let threads = self.tracks.threads().into_iter().map(|thread| Thread {
            tid: Some(thread.tid as i64),
            pid: Some(thread.pid as i64),
            comm: Some(thread.name),
            is_main_thread: Some(thread.tid == thread.pid),
        });
        ProcessTree { processes: processes.collect(), threads: threads.collect() }
    }

    fn tracks(&mut self) -> io::Result<()> {
        for (uuid, name) in [
            (MIGRATIONS, "Migrations"),
            (BARRIERS, "Barriers"),
            (APPS, "Applications"),
            (POLICY, "Decisions of the policy"),
            (QUEUES, "Runnable and running tasks by cpu"),
            (BUSY, "Busy cpus by node"),
        ] {
            self.track(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(name.into()),
                ..TrackDescriptor::default()
            })?;
        }
        for cpu in 0..self.tracks.node.len() as u64 {
            self.counter(QUEUE_OF + cpu, QUEUES, format!("cpu {cpu} queue"), "tasks")?;
        }
        let nodes = self.tracks.node.iter().max().map_or(0, |last| u64::from(*last) + 1);
        for node in 0..nodes {
            self.counter(COMPUTING_OF + node, BUSY, format!("node {node} computing"), "cpus")?;
            self.counter(POLLING_OF + node, BUSY, format!("node {node} polling"), "cpus")?;
        }
        for (tid, pid) in self.tracks.meeting() {
            // The field is narrower than that of the kernel events; whoever does not fit has no track of its
            // own.
            let (Ok(short), Ok(pid)) = (i32::try_from(tid), i32::try_from(pid)) else { continue };
            self.track(TrackDescriptor {
                uuid: Some(THREAD_OF + tid),
                thread: Some(ThreadOfTrack { pid: Some(pid), tid: Some(short) }),
                ..TrackDescriptor::default()
            })?;
        }
        Ok(())
    }

    fn counter(&mut self, uuid: u64, parent: u64, name: String, unit: &str) -> io::Result<()> {
        self.track(TrackDescriptor {
            uuid: Some(uuid),
            name: Some(name),
            parent_uuid: Some(parent),
            counter: Some(Counter { unit_name: Some(unit.into()) }),
            ..TrackDescriptor::default()
        })
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let flags = (!std::mem::replace(&mut self.begun, true)).then_some(1);
        let packet =
            TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), sequence_flags: flags, ..packet };
        self.buffer.push(PACKET);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        if let Some(name) = packet.track_event.and_then(|event| event.name) {
            // The next name takes its memory.
            self.text = name;
        }
        self.flush_at(GATHERED)
    }

    /// Writes what has been gathered if that is so much.
    fn flush_at(&mut self, bytes: usize) -> io::Result<()> {
        if self.buffer.len() >= bytes {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn state(&mut self, at: u64, cpu: u32, who: Who, state: i32) -> io::Result<()> {
        let event = TaskState { cpu: Some(cpu as i32), tid: Some(who.tid as i64), state: Some(state) };
        self.packet(TracePacket {
            timestamp: Some(at),
            generic_kernel_task_state_event: Some(event),
            ..TracePacket::default()
        })
    }

    fn count(&mut self, at: u64, track: u64, value: u32) -> io::Result<()> {
        let event = TrackEvent { counter_value: Some(i64::from(value)), ..TrackEvent::default() };
        self.on_track(at, event::COUNTER, track, event)
    }

    /// An event on a track.
    fn on_track(&mut self, at: u64, kind: i32, track: u64, event: TrackEvent) -> io::Result<()> {
        let event = TrackEvent { r#type: Some(kind), track_uuid: Some(track), ..event };
        self.packet(TracePacket { timestamp: Some(at), track_event: Some(event), ..TracePacket::default() })
    }

    /// An event whose name is in `text`.
    fn named(&mut self, at: u64, kind: i32, track: u64) -> io::Result<()> {
        let event = TrackEvent { name: Some(std::mem::take(&mut self.text)), ..TrackEvent::default() };
        self.on_track(at, kind, track, event)
    }
}

impl Perfetto<'_> {
    fn say(&mut self, words: fmt::Arguments<'_>) {
        // A string refuses nothing.
        let _ = self.text.write_fmt(words);
    }

    /// Appends the name of a task; a stand-in has none.
    fn name(&mut self, who: Who) {
        if let Some(task) = who.task {
            let task = TaskId(task);
            let owners = &self.tracks.owners;
            self.text.push_str(self.tracks.app(owners.app(task).0));
            self.text.push('.');
            decimal(&mut self.text, u64::from(owners.rank(task)), 1);
        }
    }
}

const fn code(state: State) -> i32 {
    match state {
        State::Runnable => state::RUNNABLE,
        State::Asleep => state::SLEEPS,
        State::Dead => state::DEAD,
    }
}

fn scope(number: u32) -> &'static str {
    SCOPES.get(number as usize).copied().unwrap_or("barrier")
}

impl Writer for Perfetto<'_> {
    fn event(&mut self, at: u64, event: &Event) -> io::Result<()> {
        match *event {
            Event::Off { cpu, who, state, .. } | Event::Becomes { cpu, who, state } => {
                self.state(at, cpu, who, code(state))
            }
            Event::On { cpu, who, .. } => self.state(at, cpu, who, state::RUNNING),
            Event::Moved { who, from, to } => {
                self.text.clear();
                self.name(who);
                self.say(format_args!(" cpu {from} -> cpu {to}"));
                self.named(at, event::INSTANT, MIGRATIONS)
            }
            Event::Queue { cpu, length } => self.count(at, QUEUE_OF + u64::from(cpu), length),
            Event::Busy { node, computing, polling } => {
                self.count(at, COMPUTING_OF + u64::from(node), computing)?;
                self.count(at, POLLING_OF + u64::from(node), polling)
            }
            Event::Waits { who, scope: number, episode } => {
                self.text.clear();
                let tracks = self.tracks;
                let task = who.task.unwrap_or(u32::MAX);
                match (number.checked_sub(SLEEP), tracks.shared(task, number, episode)) {
                    (None, Some(lock)) => self.say(format_args!("lock {lock}")),
                    (Some(_), Some(name)) => self.say(format_args!("sleeps for {name}")),
                    (Some(what), None) => {
                        let what = SLEEPS.get(what as usize).copied().unwrap_or_default();
                        self.say(format_args!("sleeps for {what}"));
                    }
                    (None, None) => self.say(format_args!("{} {episode}", scope(number))),
                }
                self.named(at, event::BEGIN, THREAD_OF + who.tid)
            }
            Event::GoesOn { who } => {
                self.on_track(at, event::END, THREAD_OF + who.tid, TrackEvent::default())
            }
            Event::Barrier { app, scope: number, episode } => {
                self.text.clear();
                let tracks = self.tracks;
                self.say(format_args!("{}: {} {episode} complete", tracks.app(app), scope(number)));
                self.named(at, event::INSTANT, BARRIERS)
            }
            Event::App { app, ends } => {
                self.text.clear();
                let tracks = self.tracks;
                self.say(format_args!("{} {}", tracks.app(app), if ends { "ends" } else { "starts" }));
                self.named(at, event::INSTANT, APPS)
            }
            Event::Decided { who, did, rule } => {
                self.text.clear();
                self.text.push_str(did);
                if let Some(who) = who {
                    self.text.push(' ');
                    self.name(who);
                }
                let rule = self.tracks.rules.get(rule as usize).copied().unwrap_or_default();
                self.text.push_str(": ");
                self.text.push_str(rule);
                self.named(at, event::INSTANT, POLICY)
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_at(1)
    }
}
