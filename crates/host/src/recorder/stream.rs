//! From the buffers of the kernel to the file: the text of `trace_pipe`.
//!
//! While the buffers suffice nothing is read, because the reader would compete with the command for a cpu.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use crate::recorder::spool::{Body, Spool};
use crate::recorder::tracefs::{Counts, Instance};

/// Most bytes of text that are read before the command is looked after again.
const TURN: u64 = 8 << 20;

/// A recording that is being made.
pub(crate) struct Stream<'a> {
    instance: &'a Instance<'a>,
    pipe: File,
    spool: Spool,
    buffer: Vec<u8>,
    /// Bytes in the buffer of a cpu from which on they are read.
    enough: u64,
    /// The first failure: nothing is read after it, and the recording is lost.
    failed: Option<String>,
    running: bool,
}

impl<'a> Stream<'a> {
    /// Begins to record. `size` is that of the buffer of each cpu, in bytes.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn begin(instance: &'a Instance<'a>, size: u64, file: File) -> Result<Self, String> {
        let pipe = instance.pipe()?;
        let (spool, buffer) = (Spool::new(file), vec![0; 1 << 16]);
        instance.write("tracing_on", "1")?;
        Ok(Self { instance, pipe, spool, buffer, enough: size / 2, failed: None, running: true })
    }

    /// Copies what there is, up to so many bytes; false if nothing is left.
    fn copy(&mut self, most: u64) -> bool {
        let mut copied = 0;
        while copied < most && self.failed.is_none() {
            match self.pipe.read(&mut self.buffer) {
                Ok(0) => return false,
                Ok(read) => {
                    copied += read as u64;
                    if let Err(e) = self.spool.write_all(self.buffer.get(..read).unwrap_or_default()) {
                        self.failed = Some(format!("cannot write the recording: {e}"));
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => self.failed = Some(format!("cannot read trace_pipe of tracefs: {e}")),
            }
        }
        self.failed.is_none()
    }

    /// Empties the buffers if one of them is half full; true if it should be asked again soon.
    pub(crate) fn relieve(&mut self) -> bool {
        self.running && self.instance.counts().fullest > self.enough && self.copy(TURN)
    }

    /// True until it is stopped.
    pub(crate) fn is_running(&self) -> bool {
        self.running
    }

    /// Ends recording and copies all that is left.
    pub(crate) fn stop(&mut self) {
        if !std::mem::take(&mut self.running) {
            return;
        }
        let off =
            self.instance.write("tracing_on", "0").and_then(|()| self.instance.write("events/enable", "0"));
        if let Err(why) = off {
            self.failed.get_or_insert(why);
        }
        while self.copy(TURN) {}
    }

    /// The text, and what the kernel counted.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn finish(mut self) -> Result<(Body, Counts), String> {
        self.stop();
        if let Some(why) = self.failed {
            return Err(why);
        }
        let counts = self.instance.counts();
        let body = self.spool.finish().map_err(|e| format!("cannot write the recording: {e}"))?;
        Ok((body, counts))
    }
}
