//! What this program knows of the names that results contain: it tells two versions of the model apart.

use std::collections::BTreeMap;

use experiment::provenance::{MODEL, Provenance};
use experiment::selftest;
use kernels::KERNELS;
use notation::hash;
use notation::parameter::Parameter;
use policies::PolicyRegistry;
use serde::{Deserialize, Serialize};

/// Values by name.
type Values = BTreeMap<String, String>;

/// What a program knows.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `oversim`.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// The version of the model.
    pub model: String,
    /// The generator of random numbers.
    pub generator: String,
    /// The rules of each kernel that results name, with their values.
    pub kernels: BTreeMap<String, Values>,
    /// A digest of each built-in machine that results name.
    pub machines: Values,
    /// The parameters of each built-in policy that results name, with their defaults.
    pub policies: BTreeMap<String, Values>,
    /// The digests of the self-test, by scenario.
    pub selftest: Values,
}

/// The values of parameters where a scenario says nothing.
fn defaults(parameters: &[Parameter]) -> Values {
    let value = |rule: &Parameter| (rule.name.to_owned(), rule.kind.show(rule.default));
    parameters.iter().map(value).collect()
}

/// The words between the signs of a stack such as `SPEED over ULE (perturbed); PIN`.
fn names(stack: &str) -> impl Iterator<Item = &str> {
    stack.split(['(', ')', ';', ' ', ',']).filter(|word| !word.is_empty())
}

impl Facts {
    /// Those of this program without any names.
    pub(crate) fn of_program() -> Self {
        let recorded = selftest::recorded().map(|(name, digest)| (name.to_owned(), digest.to_owned()));
        Self {
            tool: "oversim".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            model: MODEL.into(),
            generator: experiment::provenance::GENERATOR.into(),
            selftest: recorded.collect(),
            ..Self::default()
        }
    }

    fn kernel(&mut self, name: &str) {
        if let Some(kernel) = KERNELS.find(name) {
            self.kernels.insert(name.to_owned(), defaults(kernel.parameters));
        }
    }

    fn machine(&mut self, name: &str) {
        if let Some(machine) = machines::entries().iter().find(|machine| machine.name == name) {
            self.machines.insert(name.to_owned(), format!("{:016x}", hash::debug(machine)));
        }
    }

    fn policy(&mut self, name: &str, registry: &PolicyRegistry) {
        if let Some(policy) = registry.find(name) {
            self.policies.insert(name.to_owned(), defaults(policy.parameters));
        }
    }

    /// Adds what this program knows of the names in the head of a result.
    pub(crate) fn add(&mut self, of: &Provenance, registry: &PolicyRegistry) {
        of.kernels.iter().for_each(|kernel| self.kernel(kernel));
        of.machines.iter().for_each(|machine| self.machine(&machine.name));
        of.stacks.iter().flat_map(|stack| names(stack)).for_each(|name| self.policy(name, registry));
    }

    /// What this program knows of the names in the facts of another one.
    pub(crate) fn same_names(&self, registry: &PolicyRegistry) -> Self {
        let mut own = Self::of_program();
        self.kernels.keys().for_each(|name| own.kernel(name));
        self.machines.keys().for_each(|name| own.machine(name));
        self.policies.keys().for_each(|name| own.policy(name, registry));
        own
    }

    /// Each fact with its name.
    fn all(&self) -> BTreeMap<String, &str> {
        let heads = [
            ("program", &self.tool),
            ("version of the program", &self.version),
            ("version of the model", &self.model),
            ("generator of random numbers", &self.generator),
        ];
        let mut all: BTreeMap<String, &str> =
            heads.into_iter().map(|(name, value)| (name.to_owned(), value.as_str())).collect();
        for (kind, values) in [("kernel", &self.kernels), ("policy", &self.policies)] {
            for (of, values) in values {
                // A name without values is a fact, too.
                all.insert(format!("{kind} {of}"), "known");
                all.extend(
                    values.iter().map(|(name, value)| (format!("{kind} {of}: {name}"), value.as_str())),
                );
            }
        }
        for (kind, values) in [("machine", &self.machines), ("self-test", &self.selftest)] {
            all.extend(values.iter().map(|(name, value)| (format!("{kind} {name}"), value.as_str())));
        }
        all
    }

    /// In what they differ from those of this program, a line each; `self` are those of an archive.
    pub(crate) fn differences(&self, program: &Self) -> Vec<String> {
        let (there, here) = (self.all(), program.all());
        let mut names: Vec<&String> = there.keys().chain(here.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let line = |name: &String| {
            let (a, b) = (there.get(name), here.get(name));
            let shown = |value: Option<&&str>| value.map_or("none".to_owned(), |value| (*value).to_owned());
            (a != b).then(|| format!("{name}: {} in the archive, {} here", shown(a), shown(b)))
        };
        names.into_iter().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_differ_in_what_is_named_and_in_nothing_else() {
        let registry = PolicyRegistry::default();
        let mut facts = Facts::of_program();
        facts.kernel("linux-6.18");
        facts.machine("barcelona");
        names("SPEED over LOAD (perturbed); PIN").for_each(|name| facts.policy(name, &registry));
        assert_eq!(facts.policies.keys().collect::<Vec<_>>(), ["LOAD", "PIN", "SPEED"]);
        assert!(facts.differences(&facts.same_names(&registry)).is_empty());
        let mut other = facts.clone();
        other.model = "oversim-model/0".into();
        other.kernels.get_mut("linux-6.18").unwrap().insert("tick".into(), "7ms".into());
        other.policies.get_mut("SPEED").unwrap().remove("interval");
        other.policies.insert("NEW".into(), Values::new());
        other.machines.insert("barcelona".into(), "00".into());
        let all = other.differences(&other.same_names(&registry)).join("\n");
        for line in [
            "version of the model: oversim-model/0 in the archive",
            "kernel linux-6.18: tick: 7ms in the archive, ",
            "policy SPEED: interval: none in the archive, 100ms here",
            "policy NEW: known in the archive, none here",
            "machine barcelona: 00 in the archive, ",
        ] {
            assert!(all.contains(line), "{line}\n{all}");
        }
        assert_eq!(all.lines().count(), 5, "{all}");
    }
}
