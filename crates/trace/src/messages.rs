//! The messages of Perfetto's trace format that are written here, declared by hand: field numbers from its
//! `trace_packet.proto`, `track_event.proto`, `track_descriptor.proto`, `generic_task.proto` and
//! `trace_attributes.proto`.

use prost::Message;

/// A file: packets one after the other.
#[derive(Clone, PartialEq, Message)]
pub struct Trace {
    /// The packets.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// A packet.
#[derive(Clone, PartialEq, Message)]
pub struct TracePacket {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// Who writes.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// An event on a track.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// 1: the sequence begins.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// A track.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
    /// What a thread does from now on.
    #[prost(message, optional, tag = "117")]
    pub generic_kernel_task_state_event: Option<TaskState>,
    /// Who there is.
    #[prost(message, optional, tag = "122")]
    pub generic_kernel_process_tree: Option<ProcessTree>,
    /// Where the trace comes from.
    #[prost(message, optional, tag = "126")]
    pub trace_attributes: Option<Attributes>,
}

/// What a thread does from now on.
#[derive(Clone, PartialEq, Message)]
pub struct TaskState {
    /// Where it runs, ran or is queued.
    #[prost(int32, optional, tag = "1")]
    pub cpu: Option<i32>,
    /// The thread.
    #[prost(int64, optional, tag = "3")]
    pub tid: Option<i64>,
    /// One of [`state`].
    #[prost(int32, optional, tag = "4")]
    pub state: Option<i32>,
}

/// States of threads.
pub mod state {
    /// It waits for a cpu.
    pub const RUNNABLE: i32 = 2;
    /// It has one.
    pub const RUNNING: i32 = 3;
    /// It sleeps.
    pub const SLEEPS: i32 = 4;
    /// It has ended.
    pub const DEAD: i32 = 7;
}

/// Processes and threads.
#[derive(Clone, PartialEq, Message)]
pub struct ProcessTree {
    /// Processes.
    #[prost(message, repeated, tag = "1")]
    pub processes: Vec<Process>,
    /// Threads.
    #[prost(message, repeated, tag = "2")]
    pub threads: Vec<Thread>,
}

/// A process.
#[derive(Clone, PartialEq, Message)]
pub struct Process {
    /// Its number.
    #[prost(int64, optional, tag = "1")]
    pub pid: Option<i64>,
    /// Its name.
    #[prost(string, optional, tag = "3")]
    pub cmdline: Option<String>,
}

/// A thread.
#[derive(Clone, PartialEq, Message)]
pub struct Thread {
    /// Its number.
    #[prost(int64, optional, tag = "1")]
    pub tid: Option<i64>,
    /// Its process.
    #[prost(int64, optional, tag = "2")]
    pub pid: Option<i64>,
    /// Its name.
    #[prost(string, optional, tag = "3")]
    pub comm: Option<String>,
    /// The first thread of its process.
    #[prost(bool, optional, tag = "4")]
    pub is_main_thread: Option<bool>,
}

/// Facts about the trace as a whole.
#[derive(Clone, PartialEq, Message)]
pub struct Attributes {
    /// The facts.
    #[prost(message, repeated, tag = "1")]
    pub attribute: Vec<Attribute>,
}

/// A fact.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    /// Its name.
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    /// Its value.
    #[prost(string, optional, tag = "3")]
    pub string_value: Option<String>,
}

/// A track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackDescriptor {
    /// Its number.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The thread that it belongs to.
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadOfTrack>,
    /// The track above.
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// It counts something.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<Counter>,
}

/// The thread that a track belongs to.
#[derive(Clone, PartialEq, Message)]
pub struct ThreadOfTrack {
    /// Its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its number.
    #[prost(int32, optional, tag = "2")]
    pub tid: Option<i32>,
}

/// What a track counts.
#[derive(Clone, PartialEq, Message)]
pub struct Counter {
    /// Its unit.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// An event on a track.
#[derive(Clone, PartialEq, Message)]
pub struct TrackEvent {
    /// One of [`event`].
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// What is shown.
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    /// The new value of a counter.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
}

/// Kinds of events on tracks.
pub mod event {
    /// A slice begins.
    pub const BEGIN: i32 = 1;
    /// It ends.
    pub const END: i32 = 2;
    /// Something happens at once.
    pub const INSTANT: i32 = 3;
    /// A counter has a new value.
    pub const COUNTER: i32 = 4;
}
