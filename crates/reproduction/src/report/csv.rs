//! The report as a table, one claim per row.

use std::io::{self, Write};

use super::simulated;
use crate::reproduce::Reproduction;

/// Writes it.
pub(super) fn write(reproduction: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let header = [
        "id",
        "group",
        "machine",
        "workload",
        "metric",
        "form",
        "published",
        "simulated",
        "error",
        "tolerance_type",
        "tolerance",
        "verdict",
        "uncertain",
        "reason",
    ];
    table.write_record(header).map_err(io::Error::other)?;
    for (claim, finding) in reproduction.claims.iter().zip(&reproduction.findings) {
        let row = [
            claim.id.clone(),
            claim.group.clone(),
            claim.machine.clone(),
            claim.workload.clone(),
            claim.metric.clone(),
            claim.form.name().to_owned(),
            claim.published(),
            simulated(finding),
            finding.error.map(|e| e.to_string()).unwrap_or_default(),
            claim.tolerance.kind.name().to_owned(),
            claim.tolerance.amount.to_string(),
            finding.verdict.name().to_owned(),
            claim.uncertain.is_some().to_string(),
            finding.reason.clone(),
        ];
        table.write_record(row).map_err(io::Error::other)?;
    }
    table.flush()
}
