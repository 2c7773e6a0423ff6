//! The events of a phase, found by the beginnings of their keys, in the order of rt-app.

use super::model::{Event, Phase, Times, Traits, What};
use super::reader::Reader;
use crate::Refused;
use crate::json::{Key, Value};
use crate::page::at;

/// As `events` of `rt-app_parse_config.c`: a key that begins with one of them is that event. The longer ones
/// of two with the same beginning come first.
const EVENTS: [&str; 20] = [
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer", "suspend",
    "resume", "memrun", "mem", "iorun", "yield", "barrier", "fork", "sem_post", "sem_wait",
];

/// The event of a key.
fn event_of(key: &str) -> Option<&'static str> {
    // `lock_order` is a key of old files.
    EVENTS.into_iter().find(|event| key.starts_with(event) && key != "lock_order")
}

/// True when a key is an event.
pub(super) fn is_event(key: &str) -> bool {
    event_of(key).is_some()
}

impl Reader<'_, '_> {
    /// An event; none when it has no effect.
    pub(super) fn event(&mut self, key: &Key, value: &Value, path: &str) -> Result<Option<Event>, Refused> {
        let path = format!("{path}.{}", key.name);
        let place = at(key.line, &path);
        let name = |this: &Self| match value.text() {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(this.wrong(value.line, &format!("`{path}` is the name of an object, a text"))),
        };
        let what = match event_of(&key.name).unwrap_or_default() {
            "run" => What::Run { ns: self.micros(value, &path)?, fixed: false },
            "runtime" => What::Run { ns: self.micros(value, &path)?, fixed: true },
            "sleep" => What::Sleep(self.micros(value, &path)?),
            "lock" => What::Lock(name(self)?),
            "unlock" => What::Unlock(name(self)?),
            "signal" => What::Signal(name(self)?),
            "broad" => What::Broadcast(name(self)?),
            "resume" => What::Resume(name(self)?),
            "barrier" => What::Barrier(name(self)?),
            "fork" => What::Fork(name(self)?),
            "sem_post" => What::Post(name(self)?),
            "sem_wait" => What::Acquire(name(self)?),
            "suspend" => What::Suspend(value.text().unwrap_or_default().to_owned()),
            "yield" => What::Yield,
            "mem" => {
                let bytes = self.whole(value, &path, 0, 1 << 40)? as u64;
                What::Memory { bytes, buffer: self.global.buffer }
            }
            "iorun" => What::Write(self.whole(value, &path, 0, 1 << 40)? as u64),
            "memrun" => self.memory(value, &path)?,
            "timer" => self.timer(value, &path)?,
            "sync" => {
                let (condition, mutex) = self.pair(value, &path)?;
                What::Sync { condition, mutex }
            }
            _ => {
                let (condition, mutex) = self.pair(value, &path)?;
                What::Wait { condition, mutex }
            }
        };
        let nothing = match &what {
            What::Run { ns, .. } => *ns == 0,
            What::Sleep(ns) => *ns == 0,
            What::Timer { period, .. } => *period == 0,
            What::Memory { bytes, .. } | What::Write(bytes) => *bytes == 0,
            What::Chase { loads, .. } => *loads == 0,
            _ => false,
        };
        if nothing {
            self.notes.no_effect(place, "an event of length 0");
            return Ok(None);
        }
        Ok(Some(Event { place, what }))
    }

    /// A condition and its mutex.
    fn pair(&self, value: &Value, path: &str) -> Result<(String, String), Refused> {
        if !value.is_map() {
            let message = format!("`{path}` is an object with `ref` and `mutex`, not {}", value.kind());
            return Err(self.wrong(value.line, &message));
        }
        // What is missing is called so by rt-app, too.
        let part = |key| value.get(key).and_then(Value::text).unwrap_or("unknown").to_owned();
        Ok((part("ref"), part("mutex")))
    }

    fn timer(&self, value: &Value, path: &str) -> Result<What, Refused> {
        let (name, _) = self.pair(value, path)?;
        let period = match value.get("period") {
            Some(period) => self.micros(period, &format!("{path}.period"))?,
            None => 0,
        };
        let absolute =
            value.get("mode").and_then(Value::text).is_some_and(|mode| mode.starts_with("absolute"));
        Ok(What::Timer { name, period, absolute })
    }

    fn memory(&self, value: &Value, path: &str) -> Result<What, Refused> {
        let number = |key: &str| match value.get(key) {
            Some(found) => self.whole(found, &format!("{path}.{key}"), 0, 1 << 40).map(|n| n as u64),
            None => Ok(0),
        };
        let (size, count) = (number("size")?, number("count")?);
        match value.get("type").and_then(Value::text) {
            Some("chase") => Ok(What::Chase { loads: count, buffer: size }),
            Some("read" | "write") => Ok(What::Memory { bytes: count, buffer: size }),
            _ => Err(self.wrong(value.line, &format!("`{path}.type` is `read`, `write` or `chase`"))),
        }
    }

    /// A thread of the grammar before version 1: `exec` in each `period`, with locks that it holds for a
    /// time.
    pub(super) fn old(&mut self, path: &str, key: &Key, object: &Value) -> Result<Phase, Refused> {
        let mut events = Vec::new();
        let exec = object.get("exec").map_or(Ok(0), |value| self.micros(value, &format!("{path}.exec")))?;
        let mut held = 0;
        let resources = object.get("resources");
        for name in object.get("lock_order").map_or(&[][..], Value::items) {
            let name = name.text().unwrap_or_default();
            let resource = resources.and_then(|all| all.get(name));
            let place =
                at(resource.map_or(key.line, |found| found.line), &format!("{path}.resources.{name}"));
            let ns = match resource.and_then(|found| found.get("duration")) {
                Some(value) => self.micros(value, &format!("{path}.resources.{name}.duration"))?,
                None => 0,
            };
            if ns == 0 || resource.is_some_and(|found| found.get("access").is_some()) {
                self.notes.left_out(place, "a condition of the grammar before version 1");
                continue;
            }
            held += ns;
            let event = |what| Event { place: place.clone(), what };
            let run = What::Run { ns, fixed: false };
            events.extend([What::Lock(name.into()), run, What::Unlock(name.into())].map(event));
        }
        let rest = exec.saturating_sub(held);
        let place = at(key.line, &format!("{path}.exec"));
        if rest > 0 {
            events.push(Event { place, what: What::Run { ns: rest, fixed: false } });
        }
        if let Some(value) = object.get("period") {
            let period = self.micros(value, &format!("{path}.period"))?;
            if period > 0 {
                let what = What::Timer { name: "period".into(), period, absolute: true };
                events.push(Event { place: at(value.line, &format!("{path}.period")), what });
            }
        }
        let traits = Traits::default();
        Ok(Phase { name: key.name.clone(), line: key.line, times: Times::Number(1), events, traits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_events_by_their_beginning() {
        for (key, event) in [
            ("run", "run"),
            ("run0", "run"),
            ("runtime12", "runtime"),
            ("memrun_a", "memrun"),
            ("mem", "mem"),
            ("sem_wait", "sem_wait"),
            ("broadcast", "broad"),
            ("sync", "sync"),
        ] {
            assert_eq!(event_of(key), Some(event), "{key}");
        }
        for key in ["loop", "phases", "priority", "resources", "lock_order", "cpus", ""] {
            assert!(!is_event(key), "{key}");
        }
    }
}
