//! What a report says first: what was read and what was mended.

use std::io::{self, Write};

use notation::neutral;
use serde::Serialize;

use super::text::{counted, ms, seconds};
use crate::follow::Follower;
use crate::read::Seen;

/// What was read and mended.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Head {
    /// The file, or the run that was simulated.
    pub name: String,
    /// The spelling, in words.
    pub form: String,
    /// Events.
    pub events: u64,
    /// Switches, those that were mended among them.
    pub switches: u64,
    /// Switches that the recording lacks.
    pub mended: u64,
    /// Events that the recorder lost.
    pub lost: u64,
    /// Lines or records that were not understood.
    pub unread: u64,
    /// Waits that ended without a wake-up that was recorded.
    pub unseen: u64,
    /// The recording has `sched_waking`.
    pub waking: bool,
    /// Threads that events name.
    pub threads: u64,
    /// Cpus that events name.
    pub cpus: u64,
    /// The first event, in s of the recording's clock.
    pub first_s: f64,
    /// The last one.
    pub last_s: f64,
    /// The same in ns.
    #[serde(skip)]
    pub first: u64,
    /// The same in ns.
    #[serde(skip)]
    pub last: u64,
    /// It is of a run that oversim simulated.
    pub own: bool,
    /// Threads stand for tasks that poll in turns.
    #[serde(skip)]
    pub polling: bool,
}

impl Head {
    /// Of a recording that was read to its end.
    #[must_use]
    pub fn of(name: &str, seen: &Seen, follower: &Follower) -> Self {
        let counts = &follower.counts;
        let first = follower.first.unwrap_or(0);
        let own = seen.form.contains("oversim");
        let polls = |name: &str| name.contains("polling/");
        Self {
            name: neutral::line(name).into_owned(),
            form: seen.form.to_owned(),
            events: counts.events,
            switches: counts.switches + counts.missing,
            mended: counts.missing,
            lost: counts.lost,
            unread: seen.unread,
            unseen: counts.unseen,
            waking: counts.waking,
            threads: follower.threads.len() as u64,
            cpus: follower.cpus() as u64,
            first_s: seconds(first),
            last_s: seconds(follower.last),
            first,
            last: follower.last,
            own,
            polling: own && follower.threads.iter().any(|(_, thread)| polls(&thread.name)),
        }
    }

    /// How long the recording is, in ns.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.last.saturating_sub(self.first)
    }

    /// Writes it as text.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { name, form, mended, lost, .. } = self;
        let (events, es) = (counted(self.events, "event"), if self.switches == 1 { "" } else { "es" });
        let switches = self.switches;
        writeln!(
            out,
            "{name}, {form}: {events}, {switches} switch{es}, {mended} of them mended, {lost} lost"
        )?;
        let (threads, cpus) = (counted(self.threads, "thread"), counted(self.cpus, "cpu"));
        writeln!(out, "{threads} on {cpus} in {} ms", ms(self.length()))?;
        if self.unread > 0 {
            writeln!(out, "not understood: {}", counted(self.unread, "line"))?;
        }
        if self.unseen > 0 {
            let waits = counted(self.unseen, "wait");
            writeln!(out, "wake-ups that were not recorded: those of {waits}, whose delays are not known")?;
        }
        if self.own {
            writeln!(out, "a simulated run: it does not say who woke whom, and wake-ups show as interrupts")?;
        }
        if self.polling {
            writeln!(
                out,
                "polling/CPU stands for tasks that poll in turns, which show as runnable (docs/traces.md)"
            )?;
        }
        if !self.waking && !self.own {
            writeln!(out, "no sched_waking: delays count from sched_wakeup, and who woke whom is not sure")?;
        }
        Ok(())
    }
}
