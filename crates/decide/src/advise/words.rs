//! Settings in words, and as the commands that run them.

use notation::lists::ranges;
use notation::number::plural;
use notation::parameter::Kind as Unit;

use super::levers::{Effect, Layout, Lever};
use crate::trial::Setting;
use crate::ways;

/// What an effect does, in a few words; empty for what stays as it is.
#[must_use]
pub fn effect(effect: &Effect) -> String {
    let cpus = |cpus: &[u32]| ranges(cpus.iter().copied());
    match effect {
        Effect::AsItIs => String::new(),
        Effect::Threads(count) => plural(*count as usize, "thread", "threads"),
        Effect::Ranks(count, 1) => plural(*count as usize, "process", "processes"),
        Effect::Ranks(count, threads) => format!(
            "{} of {}",
            plural(*count as usize, "process", "processes"),
            plural(*threads as usize, "thread", "threads")
        ),
        Effect::Unbound => "not bound".to_owned(),
        Effect::Bound(Layout::Spread) => "bound far apart".to_owned(),
        Effect::Bound(Layout::Close) => "bound close together".to_owned(),
        Effect::Bound(Layout::Node) => "bound to NUMA nodes".to_owned(),
        Effect::Waits { runtime, waiting } => format!("{runtime} {}", ways::words(*waiting)),
        Effect::OneThreadPerCore(_) => "one hardware thread of each core".to_owned(),
        Effect::Parts(parts) => {
            let each: Vec<String> =
                parts.iter().map(|(app, own)| format!("cpus {} for {app}", cpus(own))).collect();
            each.join(", ")
        }
        Effect::InTurns => "one program after the other".to_owned(),
        Effect::Quota(quota, period) => {
            format!("{} of cpu time in {}", Unit::Duration.show(*quota), Unit::Duration.show(*period))
        }
        Effect::Nice(nice) => format!("nice {nice}"),
        Effect::Path(path, value) => format!("{path}={value}"),
    }
}

/// A choice in words: `solver: 8 threads, libgomp sleeping at once; bound close together`.
#[must_use]
pub fn choice(levers: &[Lever], choice: &[usize]) -> String {
    let programs = levers.iter().filter_map(|lever| lever.app.as_ref());
    let several = programs.collect::<std::collections::BTreeSet<_>>().len() > 1;
    let mut parts: Vec<(Option<&String>, Vec<String>)> = Vec::new();
    for (lever, at) in levers.iter().zip(choice) {
        let Some(value) = lever.values.get(*at) else { continue };
        let words = effect(&value.effect);
        if words.is_empty() {
            continue;
        }
        let of = lever.app.as_ref().filter(|_| several);
        match parts.iter_mut().find(|(app, _)| *app == of) {
            Some((_, all)) => all.push(words),
            None => parts.push((of, vec![words])),
        }
    }
    if parts.is_empty() {
        return "leave it as it is".to_owned();
    }
    let each = parts.into_iter().map(|(app, words)| match app {
        Some(app) => format!("{app}: {}", words.join(", ")),
        None => words.join(", "),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// The flags of `oversim run` that make a setting.
#[must_use]
pub fn flags(setting: &Setting) -> String {
    let quoted = |text: &str| {
        if text.contains([' ', '{', '[', '*', '\'']) { format!("'{text}'") } else { text.to_owned() }
    };
    let set = setting.set.iter().map(|pair| format!(" --set {}", quoted(pair)));
    let policy = setting.policy.iter().map(|policy| format!(" --policy {}", quoted(policy)));
    set.chain(policy).collect()
}
