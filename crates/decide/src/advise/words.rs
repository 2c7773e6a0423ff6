//! Settings in words, and as the commands that run them.

use notation::lists::ranges;
use notation::number::plural;
use notation::parameter::Kind as Unit;
use notation::yaml::tree;

use super::levers::{Effect, Layout, Lever, PIN};
use crate::flow;
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
        Effect::Bound(Layout::Blocks) => "each process bound to a block of cores".to_owned(),
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

/// The flags of `oversim run` that make the part of a setting that is about some applications and groups:
/// what it sets for them, and how they are bound. What concerns all programs together is left out.
#[must_use]
pub fn flags_of(setting: &Setting, names: &[String]) -> String {
    let own = |path: &str| names.iter().any(|name| name == path);
    let set = setting.set.iter().filter(|pair| pair.split(['.', '=']).nth(1).is_some_and(own)).cloned();
    let policy = setting.policy.as_ref().and_then(|policy| policy_of(policy, names));
    flags(&Setting { set: set.collect(), policy })
}

/// A policy without the layouts of other applications; none where no layout of these is left.
fn policy_of(policy: &str, names: &[String]) -> Option<String> {
    let mut root = tree(0, policy).ok()?;
    let Some(place) = root.get(PIN).map(|entry| entry.value.place) else { return Some(policy.to_owned()) };
    let layout = root.child(PIN, place)?.child("layout", place)?;
    let others: Vec<String> =
        layout.entries().iter().map(|entry| entry.key.clone()).filter(|name| !names.contains(name)).collect();
    for name in others {
        layout.remove(&name);
    }
    let bound = layout.entries().iter().any(|entry| flow::written(&entry.value) != "none");
    bound.then(|| flow::written(&root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_flags_of_its_own_programs() {
        let setting = Setting {
            set: vec![
                "apps.a.tasks=2".to_owned(),
                "apps.ab.nice=5".to_owned(),
                "admission={ jobs: 1 }".to_owned(),
            ],
            policy: Some("{ PIN: { layout: { a: scatter, ab: none }, by: node } }".to_owned()),
        };
        let of = |name: &str| flags_of(&setting, &[name.to_owned()]);
        assert_eq!(of("a"), " --set apps.a.tasks=2 --policy '{ PIN: { layout: { a: scatter }, by: node } }'");
        assert_eq!(of("ab"), " --set apps.ab.nice=5");
        assert_eq!(of("b"), "");
    }
}
