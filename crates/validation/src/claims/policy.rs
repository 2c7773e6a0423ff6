//! The scheduling policies that a claim measures or compares with.

use notation::choices;
use notation::declare::Choice;

use super::text::{first, meanings};

choices! {
    /// A policy, by its label in the studies.
    pub enum Policy {
        Speed = "SPEED",
        Load = "LOAD",
        Dwrr = "DWRR",
        Ule = "ULE",
        Juggle = "JUGGLE",
        Pin = "PIN",
        Swomps = "SWOMPS",
        Alone = "ALONE",
    }
}

/// Words of balancers and of binding; where a text has several, the first of this list counts.
const BALANCERS: [(&str, Policy); 9] = [
    ("speed", Policy::Speed),
    ("load", Policy::Load),
    ("linux", Policy::Load),
    ("dwrr", Policy::Dwrr),
    ("freebsd", Policy::Ule),
    ("ule", Policy::Ule),
    ("juggle", Policy::Juggle),
    ("pin", Policy::Pin),
    ("no migration", Policy::Pin),
];
/// Words of SWOMPS, and of its variant in which each program places itself.
const PLACERS: [(&str, Policy); 2] = [("swomps", Policy::Swomps), ("non sys", Policy::Alone)];

/// The balancer a text names, or the text.
pub type Named = Result<Policy, String>;

fn balancer(text: &str) -> Named {
    first(text, &BALANCERS).ok_or_else(|| text.to_owned())
}

/// Policies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policies {
    /// All that are named, in the order written.
    pub list: Vec<Policy>,
    /// The one that counts where one is asked for.
    pub one: Named,
    /// The entries of a list.
    pub each: Vec<Named>,
    /// The two of `SPEED vs LOAD`.
    pub versus: Option<[Named; 2]>,
    /// Tasks lie on cores as drawn.
    pub random: bool,
    /// Tasks may move inside a NUMA domain.
    pub within_node: bool,
}

impl Policies {
    pub(super) fn read(text: &str) -> Self {
        let lower = text.to_lowercase();
        let two = text.split_once(" vs ").or_else(|| text.split_once(" VS "));
        Self {
            list: meanings(text, &[&BALANCERS[..], &PLACERS[..]].concat()),
            one: balancer(text),
            each: text.split(',').map(balancer).collect(),
            versus: two.map(|(one, other)| [balancer(one), balancer(other)]),
            random: lower.contains("random"),
            within_node: lower.contains("domain") || lower.contains("node"),
        }
    }

    /// Whether this one is named.
    #[must_use]
    pub fn has(&self, policy: Policy) -> bool {
        self.list.contains(&policy)
    }

    /// Who places tasks in claims that know two answers: `LOAD` where it is named, else `PIN`.
    #[must_use]
    pub fn load_or_pin(&self) -> Policy {
        if self.has(Policy::Load) { Policy::Load } else { Policy::Pin }
    }

    /// The label of the policy of programs at once: `SWOMPS` where the text opens with it, else `LOAD`.
    #[must_use]
    pub fn swomps_or_load(&self) -> &'static str {
        if self.list.first() == Some(&Policy::Swomps) { Policy::Swomps.word() } else { Policy::Load.word() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_by_many_names() {
        let of = Policies::read;
        assert_eq!(of("Linux").one, Ok(Policy::Load));
        assert_eq!(of("LOAD, PINNED").each, [Ok(Policy::Load), Ok(Policy::Pin)]);
        assert_eq!(of("SPEED vs LOAD").versus, Some([Ok(Policy::Speed), Ok(Policy::Load)]));
        assert_eq!(of("gang scheduling").one, Err("gang scheduling".to_owned()));
        assert_eq!(of("LOAD (no SWOMPS)").swomps_or_load(), "LOAD");
        assert_eq!(of("Non SysWide and SWOMPS").list, [Policy::Alone, Policy::Swomps]);
        assert!(of("PIN (random even layouts)").random);
    }
}
