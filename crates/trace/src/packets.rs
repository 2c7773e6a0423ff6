//! The packets that make up nearly all of a Perfetto trace, put together byte by byte: a sixth of what the general encoder takes.
//!
//! The same bytes as those of the messages in [`crate::messages`], which a test compares.

use crate::cast::Tid;

/// The only writer of the file.
pub(crate) const SEQUENCE: u32 = 1;

/// Keys of fields: number times eight, plus 0 for a number and 2 for bytes with their length in front.
mod key {
    /// `Trace.packet`.
    pub(crate) const PACKET: u8 = 1 << 3 | 2;
    /// `TracePacket.timestamp`.
    pub(crate) const TIMESTAMP: u8 = 8 << 3;
    /// `TracePacket.trusted_packet_sequence_id`.
    pub(crate) const SEQUENCE: u8 = 10 << 3;
    /// `TracePacket.track_event`.
    pub(crate) const TRACK_EVENT: u8 = 11 << 3 | 2;
    /// `TracePacket.generic_kernel_task_state_event` (117).
    pub(crate) const TASK_STATE: [u8; 2] = [0x80 | (117 << 3 & 0x7f) as u8 | 2, (117 >> 4) as u8];
    /// `TaskState.cpu`.
    pub(crate) const CPU: u8 = 1 << 3;
    /// `TaskState.tid`.
    pub(crate) const TID: u8 = 3 << 3;
    /// `TaskState.state`.
    pub(crate) const STATE: u8 = 4 << 3;
    /// `TrackEvent.type`.
    pub(crate) const TYPE: u8 = 9 << 3;
    /// `TrackEvent.track_uuid`.
    pub(crate) const TRACK: u8 = 11 << 3;
    /// `TrackEvent.name` (23).
    pub(crate) const NAME: [u8; 2] = [0x80 | (23 << 3 & 0x7f) as u8 | 2, (23 >> 4) as u8];
    /// `TrackEvent.counter_value` (30).
    pub(crate) const VALUE: [u8; 2] = [0x80 | (30 << 3 & 0x7f) as u8, (30 >> 4) as u8];
}

/// A few bytes: more than any packet without a name has.
struct Few {
    bytes: [u8; 64],
    length: usize,
}

impl Few {
    #[inline]
    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    /// What comes before the event, which has `inside` bytes, its key and its length included.
    #[inline]
    fn head(at: u64, inside: usize) -> Self {
        let mut few = Self { bytes: [0; 64], length: 0 };
        few.byte(key::PACKET);
        few.number((width(at) + 3 + inside) as u64);
        few.byte(key::TIMESTAMP);
        few.number(at);
        few.byte(key::SEQUENCE);
        few.byte(SEQUENCE as u8);
        few
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Bytes of a number.
#[inline]
const fn width(number: u64) -> usize {
    // One byte for seven bits, at least one.
    (70 - (number | 1).leading_zeros() as usize) / 7
}

/// A thread is something else from now on.
#[inline]
pub(crate) fn state(out: &mut Vec<u8>, at: u64, cpu: u32, tid: Tid, state: i32) {
    // Numbers of cpus and states are small and positive: as fields of 32 bits they look the same.
    let (cpu, state) = (cpu as i32 as u64, state as u64);
    let event = 3 + width(cpu) + width(tid) + width(state);
    let mut few = Few::head(at, 2 + width(event as u64) + event);
    key::TASK_STATE.into_iter().for_each(|byte| few.byte(byte));
    few.number(event as u64);
    few.byte(key::CPU);
    few.number(cpu);
    few.byte(key::TID);
    few.number(tid);
    few.byte(key::STATE);
    few.number(state);
    out.extend_from_slice(few.get());
}

/// Something happens on a track: which kind of event, and where.
#[inline]
pub(crate) fn on_track(
    out: &mut Vec<u8>,
    at: u64,
    (kind, track): (i32, u64),
    name: Option<&str>,
    value: Option<u64>,
) {
    let kind = kind as u64;
    let of_name = name.map_or(0, |name| 2 + width(name.len() as u64) + name.len());
    let of_value = value.map_or(0, |value| 2 + width(value));
    let event = 2 + width(kind) + width(track) + of_name + of_value;
    let mut few = Few::head(at, 1 + width(event as u64) + event);
    few.byte(key::TRACK_EVENT);
    few.number(event as u64);
    few.byte(key::TYPE);
    few.number(kind);
    few.byte(key::TRACK);
    few.number(track);
    if let Some(name) = name {
        key::NAME.into_iter().for_each(|byte| few.byte(byte));
        few.number(name.len() as u64);
        out.extend_from_slice(few.get());
        out.extend_from_slice(name.as_bytes());
        few.length = 0;
    }
    if let Some(value) = value {
        key::VALUE.into_iter().for_each(|byte| few.byte(byte));
        few.number(value);
    }
    out.extend_from_slice(few.get());
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::crate::messages::{TaskState, Trace, TracePacket, TrackEvent, event, state as states};
    use super::*;

    /// Numbers around the ends of all widths.
    fn numbers(most: u64) -> impl Iterator<Item = u64> {
        let ends = (0..64).flat_map(|bits| [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
        ends.chain([u64::MAX]).filter(move |number| *number <= most)
    }

    fn encoded(packet: TracePacket) -> Vec<u8> {
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet };
        Trace { packet: vec![packet] }.encode_to_vec()
    }

    #[test]
    fn packets_are_those_of_the_general_encoder() {
        for number in numbers(u64::MAX) {
            for cpu in numbers(i32::MAX as u64) {
                let event = TaskState {
                    cpu: Some(cpu as i32),
                    tid: Some((number / 2) as i64),
                    state: Some(states::SLEEPS),
                };
                let wanted = encoded(TracePacket {
                    timestamp: Some(number),
                    generic_kernel_task_state_event: Some(event),
                    ..TracePacket::default()
                });
                let mut found = Vec::new();
                state(&mut found, number, cpu as u32, number / 2, states::SLEEPS);
                assert_eq!(found, wanted);
            }
            let long = "ö".repeat(100);
            let names = [None, Some(""), Some("barrier 7"), Some(long.as_str())];
            for (name, value) in names.into_iter().flat_map(|name| [(name, None), (name, Some(number / 2))]) {
                let event = TrackEvent {
                    r#type: Some(event::INSTANT),
                    track_uuid: Some(number),
                    name: name.map(str::to_owned),
                    counter_value: value.map(|value| value as i64),
                };
                let wanted = encoded(TracePacket {
                    timestamp: Some(7),
                    track_event: Some(event),
                    ..TracePacket::default()
                });
                let mut found = Vec::new();
                on_track(&mut found, 7, (event::INSTANT, number), name, value);
                assert_eq!(found, wanted);
            }
        }
    }
}
