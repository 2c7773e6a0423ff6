//! Recordings of the scheduler of Linux: any bytes; what can be read becomes a scenario that loads or is refused.

use std::io::Cursor;

use scenario::Overrides;
use twin::check::{Followed, follow};
use twin::course::Chosen;
use twin::event::Event;
use twin::facts::Facts;
use twin::make::{Form, Options, Recording, default_machine, make};
use twin::read::{Input, Refused};
use twin::write::Costs;

use crate::promise;

/// Any bytes: as a stream and as a file they give the same events.
pub(crate) fn read(bytes: &[u8]) {
    let events = |bytes: &[u8], file: bool| {
        let mut events = Vec::new();
        let sink = &mut |event: &Event<'_>| events.push(format!("{event:?}"));
        let seen = if file {
            twin::read::read_file("r.txt", &mut Cursor::new(bytes), (None, None), &mut |_| {}, sink)
        } else {
            let input = Input { name: "r.txt", from: &mut &*bytes, after: None, before: None };
            twin::read::read(input, &mut |_| {}, sink)
        };
        seen.map(|seen| (seen, events))
    };
    assert_eq!(events(bytes, false).ok(), events(bytes, true).ok(), "a stream and a file differ");
    let mut from = bytes;
    let input = Input { name: "r.txt", from: &mut from, after: None, before: None };
    match follow(input.name, |sink| twin::read::read(input, &mut |_| {}, sink)) {
        Ok(followed) => made(&followed, Facts::read(&mut &*bytes)),
        Err(why) => refused(&why),
    }
}

/// A refusal is a text without control characters that names the file.
fn refused(why: &Refused) {
    let (Refused::Sentence(text) | Refused::Rendered(text)) = why;
    promise::refusal(text);
    assert!(text.contains("r.txt"), "the file is not named: {text}");
}

/// The scenario of what was followed.
fn made(followed: &Followed, facts: Facts) {
    let Followed { follower, courses, form, .. } = followed;
    let recording = Recording { name: "r.txt", form, follower, courses };
    let _ = default_machine(&recording);
    let options = Options {
        name: "twin".into(),
        machine: Some("core:2".into()),
        kernel: None,
        chosen: Chosen::All,
        runtime: None,
        form: Form::Any,
        quota: None,
        facts,
    };
    match make(&recording, &options, Costs::default()) {
        Ok(made) => {
            // A machine may have fewer cpus than the recording: only what it says then is a refusal.
            if let Err(why) = scenario::load("twin.yaml", &made.text, &Overrides::default()) {
                promise::refusal(&why);
            }
        }
        Err(why) => refused(&why),
    }
}
