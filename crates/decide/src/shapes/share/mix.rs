//! How often each program runs: by hand, or by the jobs of a log of `sacct`.

use std::collections::BTreeMap;

use experiment::number::plural;

use crate::matrix::Programs;
use crate::trial::Failed;

/// How often programs run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Mix {
    /// Weights by name; empty: all alike.
    pub weights: Vec<(String, f64)>,
    /// Where they come from, half a sentence.
    pub origin: String,
    /// A sentence on what is not in them.
    pub left_out: Option<String>,
}

impl Mix {
    /// All programs alike.
    #[must_use]
    pub fn even() -> Self {
        Self { origin: "each program as often as any other".to_owned(), ..Self::default() }
    }

    /// Reads `name=3,other=1`.
    ///
    /// # Errors
    /// What is wrong with it: a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut weights: Vec<(String, f64)> = Vec::new();
        for part in text.split(',') {
            let form = || format!("--mix {text}: `{part}` is not `name=weight`, as in `--mix cg=3,ft=1`");
            let (name, weight) = part.split_once('=').ok_or_else(form)?;
            let weight: f64 = weight.trim().parse().map_err(|_| form())?;
            if !weight.is_finite() || weight <= 0.0 {
                return Err(format!("--mix {text}: the weight of `{name}` must be above 0"));
            }
            if weights.iter().any(|(known, _)| known == name.trim()) {
                return Err(format!("--mix {text}: `{name}` is given twice"));
            }
            weights.push((name.trim().to_owned(), weight));
        }
        Ok(Self { weights, origin: "by --mix".to_owned(), left_out: None })
    }

    /// The names that it has; empty: all.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.weights.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The share of each program among the jobs, in their order.
    ///
    /// # Errors
    /// A program has no weight.
    pub fn shares(&self, programs: &Programs) -> Result<Vec<f64>, Failed> {
        let names = programs.programs.iter().map(|program| &program.name);
        if self.weights.is_empty() {
            return Ok(names.map(|_| 1.0 / programs.programs.len() as f64).collect());
        }
        let of = |name: &String| {
            let found = self.weights.iter().find(|(known, _)| known == name).map(|(_, weight)| *weight);
            found.ok_or_else(|| Failed::Refused(format!("the mix does not name `{name}`")))
        };
        let weights: Vec<f64> = names.map(of).collect::<Result<_, Failed>>()?;
        let whole: f64 = weights.iter().sum();
        Ok(weights.iter().map(|weight| weight / whole).collect())
    }
}

/// The jobs of a log by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Log {
    /// Its name in messages.
    name: String,
    /// Jobs by name.
    jobs: BTreeMap<String, u64>,
}

/// Whether a text begins as what `sacct -P` prints: names of fields with bars between them.
#[must_use]
pub fn is_log(text: &str) -> bool {
    let head = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    head.split('|').count() > 1 && head.split('|').any(|field| field.trim() == "JobName")
}

impl Log {
    /// Reads what `sacct -P --format=JobID,JobName` (and further fields) prints. Steps of jobs, whose JobID
    /// has a dot, are no jobs.
    ///
    /// # Errors
    /// A sentence with file and line: a field is missing.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let head: Vec<&str> = lines.next().map_or("", |(_, line)| line).split('|').map(str::trim).collect();
        let field = |wanted: &str| {
            head.iter().position(|field| *field == wanted).ok_or_else(|| {
                format!(
                    "{name}:1: the field {wanted} is missing; print the log with `sacct -P \
                     --format=JobID,JobName`"
                )
            })
        };
        let (id, job) = (field("JobID")?, field("JobName")?);
        let mut jobs = BTreeMap::new();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            let (Some(id), Some(job)) = (fields.get(id), fields.get(job)) else {
                return Err(format!(
                    "{name}:{}: {}, and the first line names {}",
                    at + 1,
                    plural(fields.len(), "field", "fields"),
                    head.len()
                ));
            };
            if !id.contains('.') {
                *jobs.entry((*job).to_owned()).or_insert(0) += 1;
            }
        }
        if jobs.is_empty() {
            return Err(format!("{name}: there is no job in it"));
        }
        Ok(Self { name: name.to_owned(), jobs })
    }

    /// The jobs of some logs as a mix of these programs: a job is of the program of its name.
    ///
    /// # Errors
    /// A sentence: no job has the name of a program.
    pub fn mix(logs: &[Self], programs: &[String]) -> Result<Mix, String> {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        for (job, count) in logs.iter().flat_map(|log| &log.jobs) {
            *all.entry(job).or_insert(0) += count;
        }
        let files: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
        let (files, whole): (String, u64) = (files.join(", "), all.values().sum());
        let known = |name: &&String| all.contains_key(name.as_str());
        let weights: Vec<(String, f64)> =
            programs.iter().filter(known).map(|name| (name.clone(), all[name.as_str()] as f64)).collect();
        if weights.is_empty() {
            let names: Vec<&str> = all.keys().take(5).copied().collect();
            return Err(format!(
                "{files}: no job has the name of a program ({}); there are jobs named {}",
                programs.join(", "),
                names.join(", ")
            ));
        }
        let there: f64 = weights.iter().map(|(_, count)| count).sum();
        let missing = whole as f64 - there;
        let biggest = all.iter().filter(|(name, _)| !programs.iter().any(|program| program == **name));
        let biggest = biggest.max_by_key(|(_, count)| **count).map_or("", |(name, _)| name);
        let left_out = (missing > 0.0).then(|| {
            format!(
                "{:.0} % of the {whole} jobs of {files} have no description here and are left out, most of \
                 them `{biggest}`.",
                100.0 * missing / whole as f64
            )
        });
        Ok(Mix { weights, origin: format!("by the {there:.0} jobs of {files}"), left_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "JobID|JobName|State\n1|cg|COMPLETED\n1.batch|batch|COMPLETED\n2|cg|FAILED\n\
        3|ft|COMPLETED\n4|other|COMPLETED\n";

    #[test]
    fn jobs_are_counted_by_name_without_their_steps() {
        assert!(is_log(LOG) && !is_log("name: x\napps: {}\n"));
        let log = Log::read("jobs", LOG).unwrap();
        let programs = ["cg", "ft", "ep"].map(str::to_owned);
        let mix = Log::mix(&[log], &programs).unwrap();
        assert_eq!(mix.weights, [("cg".to_owned(), 2.0), ("ft".to_owned(), 1.0)]);
        assert_eq!(mix.origin, "by the 3 jobs of jobs");
        assert!(mix.left_out.unwrap().starts_with("25 % of the 4 jobs of jobs"));
    }

    #[test]
    fn logs_without_names_and_mixes_without_weights_are_refused_with_their_places() {
        let missing = Log::read("jobs", "JobName|State\ncg|RUNNING\n").unwrap_err();
        assert!(missing.starts_with("jobs:1: the field JobID is missing"), "{missing}");
        let short = Log::read("jobs", "JobID|JobName\n1|cg\n2\n").unwrap_err();
        assert_eq!(short, "jobs:3: 1 field, and the first line names 2");
        let log = Log::read("jobs", LOG).unwrap();
        assert!(Log::mix(&[log], &["ep".to_owned()]).unwrap_err().contains("no job has the name"));
        for bad in ["cg", "cg=0", "cg=x", "cg=-1", "cg=inf", "cg=1,cg=2", ""] {
            assert!(Mix::parse(bad).unwrap_err().starts_with("--mix "), "{bad}");
        }
    }
}
