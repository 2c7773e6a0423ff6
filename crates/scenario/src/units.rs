//! In whose seconds the work of an experiment counts, in words.

use notation::neutral;
use sim_core::time::Speed;

use crate::plan::Experiment;

/// Speeds between these shares of the nominal core are near it.
const NEAR: std::ops::RangeInclusive<f64> = 0.8..=1.25;

impl Experiment {
    /// A sentence for each machine whose cores are far from the one in whose seconds work counts.
    #[must_use]
    pub fn units(&self) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        for machine in self.runs.iter().map(|run| &run.machine) {
            let times = machine.top_speed().raw() as f64 / Speed::NOMINAL.raw() as f64;
            if machine.work_unit != Speed::NOMINAL || NEAR.contains(&times) {
                continue;
            }
            let name = neutral::line(&machine.name);
            let line = format!(
                "work counts in seconds of the nominal core, and the fastest core of {name} does {times:.3} \
                 of them in a second at its highest clock: 100 us of work take {:.1} us there. \
                 `work_unit: own` among the parameters of the machine counts in seconds of its own",
                100.0 / times
            );
            if !said.contains(&line) {
                said.push(line);
            }
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, load};

    fn said(machine: &str) -> Vec<String> {
        let text = format!(
            "{{ name: t, machine: {machine}, apps: {{ h: {{ workload: {{ hog: {{ work: 1s }} }} }} }}, \
             policies: [PIN] }}"
        );
        load("t.yaml", &text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}")).units()
    }

    #[test]
    fn a_machine_that_is_far_from_the_nominal_core_is_named_with_what_that_means() {
        let found = said("epyc");
        assert!(found.len() == 1 && found[0].contains("does 3.858 of them"), "{found:?}");
        assert!(found[0].contains("100 us of work take 25.9 us"), "{found:?}");
        for near in ["barcelona", "{ epyc: { work_unit: own } }", "{ barcelona: { core_speed: 1.2 } }"] {
            assert!(said(near).is_empty(), "{near}");
        }
    }
}
