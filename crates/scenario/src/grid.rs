//! A scenario whose configurations are resolved one at a time, so that a sweep may be larger than memory.

use notation::diagnostics::{Problems, Sources};
use notation::yaml::Node;
use policies::PolicyRegistry;

use crate::configuration::{Axis, Configuration};
use crate::key::names;
use crate::keys::{SCENARIO, Scenario};
use crate::limits::MAX_GRID;
use crate::overrides::Overrides;
use crate::plan::{Experiment, RunPlan};
use crate::resolve::{Frame, Held, assemble, frame, resolve_configuration, runs};
use crate::resolved::Resolved;
use crate::sweep::Sweep;
use crate::{Known, Opened, Reader, uncertain_paths};

/// Longest message of a configuration with an error, in bytes.
const MESSAGE: usize = 500;

/// A scenario with its sweep. Each value of each axis has been resolved once; combinations of them have not.
///
/// ```
/// use policies::PolicyRegistry;
/// use scenario::{Grid, Overrides};
///
/// let text = "name: small\nmachine: package:1 core:4\npolicies: [LOAD, PIN]\n\
///     apps: { job: { workload: { spmd: { work: 10ms } } } }\n\
///     sweep: { threads_per_core: 1..4, kernel.tick: 1ms..4ms:*2, when: threads_per_core != 3 }\n";
/// let grid = Grid::load(&PolicyRegistry::default(), "small.yaml", text, &Overrides::default()).unwrap();
/// assert_eq!((grid.combinations(), (0..12).filter(|number| grid.has(*number)).count()), (12, 9));
/// let configured = grid.resolve(1).unwrap();
/// assert_eq!(configured.configuration.label, "threads_per_core=1, kernel.tick=2ms");
/// // One dedicated run and two policies.
/// assert_eq!(configured.runs(0).len(), 3);
/// ```
pub struct Grid {
    root: Node,
    sources: Sources,
    known: Known,
    sweep: Sweep,
    frame: Frame,
    stepwise: bool,
    /// One replicate of some configurations in which each value of each axis appears (three values of a
    /// `sample`): what all configurations have in common, and where machines and kernels can be read.
    pub trial: Experiment,
}

/// A configuration of a [`Grid`], resolved.
pub struct Configured {
    /// What it sets.
    pub configuration: Configuration,
    frame: Frame,
    resolved: [Resolved; 1],
    stepwise: bool,
}

impl Grid {
    /// Reads a scenario, and resolves each value of its sweep once.
    ///
    /// # Errors
    /// As [`crate::load`].
    pub fn load(
        policies: &PolicyRegistry,
        name: &str,
        text: &str,
        overrides: &Overrides,
    ) -> Result<Self, String> {
        Self::examine(policies, name, text, overrides).map_err(|problems| problems.to_string())
    }

    /// As [`Self::load`], with what is wrong as a list.
    ///
    /// # Errors
    /// As [`crate::examine`].
    pub fn examine(
        policies: &PolicyRegistry,
        name: &str,
        text: &str,
        overrides: &Overrides,
    ) -> Result<Self, Problems> {
        let Opened { sources, root, mut reader, applied, uncertain, text, files } =
            Opened::read(policies, name, text, overrides)?;
        let known = reader.context.clone();
        let mut frame_read = None;
        let mut sweep = Sweep::default();
        if reader.mapping(&root, "a scenario", &names(SCENARIO)).is_some() {
            frame_read = frame(&Scenario::of(&root), &mut reader);
            sweep = Sweep::read(&root, &mut reader, MAX_GRID);
        }
        let (mut configurations, mut all) = (Vec::new(), Vec::new());
        if reader.is_clean() {
            let trials = sweep.trials().into_iter().filter(|number| sweep.has(*number));
            // If the conditions admit none of these, the first that they admit counts.
            let mut trials: Vec<u64> = trials.collect();
            if trials.is_empty() {
                trials.extend((0..sweep.size()).find(|number| sweep.has(*number)));
            }
            let mut held = Held::default();
            for number in trials {
                if let (Some(mut resolved), true) =
                    (resolved(&root, &sweep, number, &mut reader), reader.is_clean())
                {
                    held.share(&mut resolved);
                    all.push(resolved);
                    configurations.extend(sweep.at(number).map(|here| here.configuration));
                } else {
                    break;
                }
            }
        }
        if reader.is_clean() && overrides.draw.is_none() {
            uncertain_paths::try_ends(&root, &uncertain, &mut reader);
        }
        let (Some(frame), true) = (frame_read, reader.is_clean()) else {
            return Err(Problems::new(sources, reader.problems()));
        };
        let one = Frame { repeat: 1, best_partition: false, ..frame.clone() };
        let trial = assemble(one, (sweep.axes().to_vec(), configurations), &all, overrides.stepwise);
        Ok(Self {
            root,
            sources,
            known,
            sweep,
            frame,
            stepwise: overrides.stepwise,
            trial: Experiment {
                scenario_text: text,
                files,
                overrides: applied,
                uncertain: uncertain.into_iter().map(|found| found.value).collect(),
                ..trial
            },
        })
    }

    /// Replicates of each configuration, at least 1.
    #[must_use]
    pub const fn repeat(&self) -> u32 {
        self.frame.repeat
    }

    /// Whether the scenario asks for the best static partition, which only `run` searches.
    #[must_use]
    pub const fn searches_partitions(&self) -> bool {
        self.frame.best_partition
    }

    /// The swept paths with their different values.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        self.sweep.axes()
    }

    /// How many combinations of values there are, also those that no condition admits.
    #[must_use]
    pub fn combinations(&self) -> u64 {
        self.sweep.size()
    }

    /// Whether the conditions admit the combination of this number, from 0.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.sweep.has(number)
    }

    /// The positions of the applications that have dedicated runs.
    #[must_use]
    pub fn dedicated(&self) -> Vec<usize> {
        let background = self.trial.background.iter().enumerate();
        let foreground = background.filter(|(_, background)| !**background);
        foreground.filter(|_| self.trial.baseline).map(|(at, _)| at).collect()
    }

    /// What the combination of this number sets, if the conditions admit it.
    #[must_use]
    pub fn configuration(&self, number: u64) -> Option<Configuration> {
        Some(self.sweep.at(number)?.configuration)
    }

    /// Resolves the combination of this number.
    ///
    /// # Errors
    /// What is wrong with this combination, on one line.
    pub fn resolve(&self, number: u64) -> Result<Configured, String> {
        let configuration =
            self.configuration(number).ok_or_else(|| "no condition admits the combination".to_owned())?;
        let mut reader = Reader::new(self.known.clone());
        match resolved(&self.root, &self.sweep, number, &mut reader) {
            Some(resolved) if reader.is_clean() => Ok(Configured {
                configuration,
                frame: self.frame.clone(),
                resolved: [resolved],
                stepwise: self.stepwise,
            }),
            _ => {
                let message = self.sources.render(&reader.problems());
                let line = message.lines().next().unwrap_or("the combination is not valid");
                Err(line.chars().take(MESSAGE).collect())
            }
        }
    }
}

impl Configured {
    /// The runs of a replicate, from 0: the dedicated ones by application, then the others by policy.
    #[must_use]
    pub fn runs(&self, replicate: u32) -> Vec<RunPlan> {
        runs(&self.frame, &self.resolved, replicate..replicate + 1, self.stepwise)
    }
}

fn resolved(root: &Node, sweep: &Sweep, number: u64, reader: &mut Reader) -> Option<Resolved> {
    let edits = sweep.at(number)?.edits(root);
    resolve_configuration(&Scenario::edited(root, Some(&edits)), reader)
}
