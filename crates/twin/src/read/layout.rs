//! How the records of `perf.data` are laid out: `include/uapi/linux/perf_event.h`.

use super::binary::Bytes;

/// Bits of `sample_type`.
const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;

/// What of the attributes of an event says how its records are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Layout {
    sample: u64,
    read: u64,
    /// Records other than samples end with the instant and the cpu.
    tail: bool,
}

/// A sample.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Sample<'a> {
    pub(super) pid: Option<u32>,
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
    pub(super) raw: &'a [u8],
}

impl Layout {
    /// From `struct perf_event_attr`.
    pub(super) fn of(attributes: &[u8]) -> Option<Self> {
        let attributes = Bytes(attributes);
        let (sample, read) = (attributes.at(24, 8)?, attributes.at(32, 8)?);
        // The 19th of the flags is sample_id_all.
        Some(Self { sample, read, tail: attributes.at(40, 8)? >> 18 & 1 == 1 })
    }

    /// Each sample names its event, at the same place with every layout.
    pub(super) const fn names_first(self) -> bool {
        self.sample & IDENTIFIER != 0
    }

    /// Samples have the instant, the cpu and the data of tracepoints.
    pub(super) const fn is_whole(self) -> bool {
        self.sample & (TIME | CPU | RAW) == TIME | CPU | RAW
    }

    /// What a sample holds; nothing if it is too short.
    pub(super) fn sample(self, body: &[u8]) -> Option<Sample<'_>> {
        let mut left = Bytes(body);
        let mut sample = Sample::default();
        let has = |bit: u64| self.sample & bit != 0;
        left.take(8 * (u64::from(has(IDENTIFIER)) + u64::from(has(IP))))?;
        if has(TID) {
            sample.pid = left.u32();
            left.u32()?;
        }
        if has(TIME) {
            sample.time = Some(left.u64()?);
        }
        left.take(8 * (u64::from(has(ADDR)) + u64::from(has(ID)) + u64::from(has(STREAM))))?;
        if has(CPU) {
            sample.cpu = Some(left.u32()?);
            left.u32()?;
        }
        left.take(8 * u64::from(has(PERIOD)))?;
        if has(READ) {
            self.counters(&mut left)?;
        }
        if has(CALLCHAIN) {
            let frames = left.u64()?;
            left.take(frames.checked_mul(8)?)?;
        }
        if has(RAW) {
            let size = left.u32()?;
            sample.raw = left.take(u64::from(size))?;
        }
        Some(sample)
    }

    /// Passes the values of counters over.
    fn counters(self, left: &mut Bytes<'_>) -> Option<()> {
        let has = |bit: u64| u64::from(self.read & bit != 0);
        let times = has(1) + has(2);
        let each = 1 + has(4) + has(16);
        let words =
            if has(8) == 1 { left.u64()?.checked_mul(each)?.checked_add(times)? } else { each + times };
        left.take(words.checked_mul(8)?).map(|_| ())
    }

    /// The instant and the cpu at the end of a record that is no sample.
    pub(super) fn tail(self, body: &[u8]) -> (Option<u64>, Option<u32>) {
        let bits = [TID, TIME, ID, STREAM, CPU, IDENTIFIER];
        let has = |bit: &u64| self.sample & bit != 0;
        let words = bits.iter().filter(|bit| has(bit)).count();
        let Some(start) = body.len().checked_sub(8 * words).filter(|_| self.tail) else {
            return (None, None);
        };
        let place = |wanted: u64| {
            start + 8 * bits.iter().take_while(|bit| **bit != wanted).filter(|bit| has(bit)).count()
        };
        let value = |bit: u64, size| Bytes(body).at(place(bit), size).filter(|_| has(&bit));
        (value(TIME, 8), value(CPU, 4).and_then(|cpu| u32::try_from(cpu).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_and_tails_are_taken_apart() {
        let layout = Layout { sample: IDENTIFIER | TID | TIME | CPU | CALLCHAIN | RAW, read: 0, tail: true };
        let mut body = Vec::new();
        body.extend(7_u64.to_le_bytes());
        body.extend([3_u32, 4].map(u32::to_le_bytes).concat());
        body.extend(99_u64.to_le_bytes());
        body.extend([5_u32, 0].map(u32::to_le_bytes).concat());
        body.extend([1_u64, 0xffff].map(u64::to_le_bytes).concat());
        body.extend(2_u32.to_le_bytes());
        body.extend(*b"ab");
        let sample = Sample { pid: Some(3), time: Some(99), cpu: Some(5), raw: b"ab" };
        assert_eq!(layout.sample(&body), Some(sample));
        for short in 0..body.len() {
            assert_eq!(layout.sample(&body[..short]), None, "{short}");
        }
        let mut lost = [1_u64, 12, 0, 77].map(u64::to_le_bytes).concat();
        lost.extend([6_u32, 0].map(u32::to_le_bytes).concat());
        lost.extend(7_u64.to_le_bytes());
        assert_eq!(layout.tail(&lost), (Some(77), Some(6)));
        assert_eq!(layout.tail(&lost[..8]), (None, None));
    }
}
