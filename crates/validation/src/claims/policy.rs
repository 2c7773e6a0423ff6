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
        Gang = "gang",
        Swomps = "SWOMPS",
        Alone = "ALONE",
    }
}

/// Words of balancers and of binding; where a text has several, the first of this list counts.
const BALANCERS: [(&str, Policy); 10] = [
    ("speed", Policy::Speed),
    ("load", Policy::Load),
    ("linux", Policy::Load),
    ("dwrr", Policy::Dwrr),
    ("freebsd", Policy::Ule),
    (" ule", Policy::Ule),
    ("juggle", Policy::Juggle),
    ("pin", Policy::Pin),
    ("no migration", Policy::Pin),
    ("gang", Policy::Gang),
];
/// Words of SWOMPS, and of its variant in which each program places itself.
const PLACERS: [(&str, Policy); 2] = [("swomps", Policy::Swomps), ("non sys", Policy::Alone)];

/// The balancer a text names, or the text.
pub type Named = Result<Policy, String>;

fn balancer(text: &str) -> Named {
    first(&format!(" {text}"), &BALANCERS).ok_or_else(|| text.to_owned())
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
            list: meanings(&format!(" {text}"), &[&BALANCERS[..], &PLACERS[..]].concat()),
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

    /// Who places and balances the tasks: the policy named, `PIN` where there is none.
    #[must_use]
    pub fn placer(&self) -> Policy {
        match self.one {
            Ok(policy) => policy,
            Err(_) => self.list.first().copied().unwrap_or(Policy::Pin),
        }
    }

    /// The text, if it names no policy known and says something else than a layout or that there is none.
    #[must_use]
    pub fn unknown(&self) -> Option<&str> {
        let Err(text) = &self.one else { return None };
        let nothing = ["", "none", "any", "all", "not stated", "not applicable", "binding", "no scheduling"];
        let known = !self.list.is_empty() || self.random || self.within_node;
        (!known && !nothing.contains(&text.to_lowercase().as_str())).then_some(text)
    }

    /// The label of the policy of programs at once: the first one named, `LOAD` where there is none.
    #[must_use]
    pub fn of_programs(&self) -> &'static str {
        self.list.first().copied().unwrap_or(Policy::Load).word()
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
        assert_eq!((of("ULE").placer(), of("Solaris 9 scheduler").list.len()), (Policy::Ule, 0));
        assert_eq!(of("Mosix").unknown(), Some("Mosix"));
        assert_eq!((of("binding").placer(), of("binding").unknown()), (Policy::Pin, None));
        assert_eq!(of("LOAD (no SWOMPS)").of_programs(), "LOAD");
        assert_eq!(of("Non SysWide and SWOMPS").list, [Policy::Alone, Policy::Swomps]);
        assert!(of("PIN (random even layouts)").random);
    }
}
