//! Which events are given on, and whether they are of use.

use super::{RECORD, Refused, Seen, Sink, sentence};
use crate::event::{Event, Kind};

/// Lines or records that are not understood, of 100, up to which a file is read.
const MOST_UNREAD: u64 = 1;

/// Gives those on that are in the window.
pub(super) struct Gate<'a> {
    pub(super) name: &'a str,
    /// From this time after the first event on, and up to this one, in ns.
    window: (Option<u64>, Option<u64>),
    first: Option<u64>,
    last: u64,
    given: u64,
    switches: u64,
    wakes: u64,
    enough: bool,
    sink: Sink<'a>,
}

impl<'a> Gate<'a> {
    pub(super) fn new(name: &'a str, window: (Option<u64>, Option<u64>), sink: Sink<'a>) -> Self {
        Self { name, window, first: None, last: 0, given: 0, switches: 0, wakes: 0, enough: false, sink }
    }

    /// Nothing that is still to come is in the window.
    pub(super) const fn enough(&self) -> bool {
        self.enough
    }

    /// Takes an event, in order of time.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        let since = event.at.saturating_sub(*self.first.get_or_insert(event.at));
        let (after, before) = self.window;
        if before.is_some_and(|before| since > before) {
            self.enough = true;
            return;
        }
        self.last = event.at;
        match event.kind {
            Kind::Switch { .. } => self.switches += 1,
            Kind::Waking(_) | Kind::Wakeup(_) => self.wakes += 1,
            _ => {}
        }
        if after.is_none_or(|after| since >= after) {
            self.given += 1;
            (self.sink)(event);
        }
    }

    /// Whether what was read is of use. `unread` shows the first line or record that was not understood;
    /// `cut`: one of them is the last one of a file that was cut off; `own`: of a run in oversim, in which
    /// perhaps nobody waits.
    pub(super) fn done(
        &self,
        seen: &Seen,
        own: bool,
        cut: bool,
        unread: impl FnOnce(&str) -> Refused,
    ) -> Result<(), Refused> {
        let Seen { form, lines, unread: wrong, .. } = *seen;
        if lines == 0 || wrong == lines {
            return Err(unread(&format!("no event of the scheduler is in it; {RECORD}")));
        }
        if wrong.saturating_sub(u64::from(cut)) * 100 > lines * MOST_UNREAD {
            let message = format!(
                "{wrong} of {lines} events are not understood, the first is this one, and more than \
                 {MOST_UNREAD} % make the rest worthless ({form}); {RECORD}"
            );
            return Err(unread(&message));
        }
        for (count, event) in [(self.switches, "sched_switch"), (self.wakes, "sched_waking")] {
            if count == 0 && !own {
                return Err(sentence(
                    self.name,
                    &format!(
                        "none of its {lines} events is {event}, without which nobody can tell who ran; \
                         {RECORD}"
                    ),
                ));
            }
        }
        let lasts = self.last - self.first.unwrap_or(self.last);
        if self.given == 0 {
            let lasts = lasts as f64 / 1e9;
            return Err(sentence(
                self.name,
                &format!("no event is in this part of the recording, which lasts {lasts} s"),
            ));
        }
        Ok(())
    }
}
