//! The configurations and policies of a result as figures lay them out.

use experiment::references::{BEST_PARTITION, FAIR_SHARE, REFERENCES};
use experiment::result::{Cell, DEDICATED, Results};
use experiment::statements::{Table, ranking};
use experiment::sweep::Sweep;

use super::page::Page;

/// A result, its index, and the order of its policies.
pub(crate) struct Plane<'a> {
    /// The result.
    pub(crate) results: &'a Results,
    /// Its cells by what they are about.
    pub(crate) index: Table<'a>,
    /// The policies, the best first: the order of every figure.
    pub(crate) policies: Vec<&'a str>,
    /// What figures are drawn for.
    pub(crate) page: Page,
}

/// A row of a figure: the label in cells, and what is written.
pub(crate) type Row<'a> = (&'a str, String);

impl<'a> Plane<'a> {
    /// The configurations and policies of a result.
    pub(crate) fn of(results: &'a Results) -> Self {
        let index = Table::of(results);
        let policies = ranking::overall(&index);
        Self { results, index, policies, page: Page::SCREEN }
    }

    /// The sweep of the result.
    pub(crate) const fn sweep(&self) -> &Sweep {
        &self.index.sweep
    }

    /// Numbers of all configurations.
    pub(crate) fn configurations(&self) -> std::ops::Range<usize> {
        self.index.configurations()
    }

    /// The cell of a configuration, by its number.
    pub(crate) fn cell(
        &self,
        configuration: usize,
        policy: &str,
        app: &str,
        metric: &str,
    ) -> Option<&'a Cell> {
        self.index.cell(configuration, policy, app, metric)
    }

    /// Whether any application or policy has a cell of this metric.
    pub(crate) fn measures(&self, metric: &str) -> bool {
        self.results.cells.iter().any(|c| c.metric == metric)
    }

    /// The policies that have a cell of this metric, the best first, then the best partition and the fair
    /// share if they have.
    pub(crate) fn rows(&self, metric: &str) -> Vec<Row<'a>> {
        let measured =
            |label: &str| self.results.cells.iter().any(|c| c.policy == label && c.metric == metric);
        let policies = self.policies.iter().filter(|policy| measured(policy));
        let mut rows: Vec<Row<'a>> = policies.map(|policy| (*policy, (*policy).to_owned())).collect();
        for (label, words) in [(BEST_PARTITION.label, "best partition"), (FAIR_SHARE.label, "fair share")] {
            if measured(label) {
                rows.push((label, words.into()));
            }
        }
        rows
    }

    /// The order of the policies where there are several, and settings shared by all configurations:
    /// additions to what is shown.
    pub(crate) fn remark(&self) -> String {
        let order = if self.policies.len() > 1 { "; best policy first" } else { "" };
        let fixed = &self.sweep().fixed;
        let fixed = if fixed.is_empty() { String::new() } else { format!("; {}", fixed.join(", ")) };
        format!("{order}{fixed}")
    }

    /// What a reader of run times must know: that programs do not do the same work everywhere.
    pub(crate) fn work(&self) -> &'static str {
        if ranking::work_differs(&self.index) { "; the work differs between configurations" } else { "" }
    }
}

/// Whether a label is that of a reference or of the dedicated runs, not of a policy.
pub(crate) fn is_reference(label: &str) -> bool {
    label == DEDICATED || REFERENCES.iter().any(|reference| reference.label == label)
}
