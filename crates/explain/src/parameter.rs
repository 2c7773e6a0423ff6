//! Pages of parameters: the meaning of a name for each entry that has it.

use notation::parameter::Parameter;
use policies::PolicyRegistry;

use crate::catalogue::{ParameterRow, parameter};
use crate::page::{Block, Fact, Kind, Page};

/// The kind of an entry, its name and its table.
type Owner<'a> = (&'static str, &'a str, &'a [Parameter]);

fn owners(policies: &PolicyRegistry) -> Vec<Owner<'static>> {
    let mut owners: Vec<Owner<'static>> = Vec::new();
    owners.extend(policies.entries().map(|e| ("policy", e.name, e.parameters)));
    owners.extend(kernels::KERNELS.entries.iter().map(|e| ("kernel", e.name, e.parameters)));
    owners.extend(workloads::runtimes::RUNTIMES.entries.iter().map(|e| ("runtime", e.name, e.parameters)));
    owners.extend(workloads::WORKLOADS.entries.iter().map(|e| ("workload", e.name, e.parameters)));
    owners
}

/// One page per name.
pub(super) fn pages(policies: &PolicyRegistry) -> Vec<Page> {
    let mut names: Vec<&str> = machines::Parameters::TABLE.iter().map(|p| p.name).collect();
    names.extend(owners(policies).iter().flat_map(|(_, _, table)| table.iter().map(|p| p.name)));
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| page(policies, name, "")).collect()
}

/// The page of `NAME`, or of `ENTRY.NAME` with that entry only.
pub(super) fn find(policies: &PolicyRegistry, text: &str) -> Vec<Page> {
    // Names of kernels have dots, those of parameters have none.
    let (owner, name) = text.rsplit_once('.').unwrap_or(("", text));
    page(policies, &name.to_lowercase(), owner).into_iter().collect()
}

fn page(policies: &PolicyRegistry, name: &str, owner: &str) -> Option<Page> {
    let mut found: Vec<(String, ParameterRow)> = Vec::new();
    let asked = |entry: &str| owner.is_empty() || owner.eq_ignore_ascii_case(entry);
    for (kind, entry, table) in owners(policies).into_iter().filter(|(_, entry, _)| asked(entry)) {
        let of = table.iter().find(|p| p.name == name);
        found.extend(of.map(|p| (format!("{kind} {entry}"), parameter(p))));
    }
    let generic = machines::Parameters::TABLE.iter().find(|p| p.name == name && owner.is_empty());
    found.extend(generic.map(|p| ("machine (default)".to_owned(), parameter(p))));
    for machine in machines::entries().iter().filter(|machine| asked(&machine.name)) {
        let of = machine.values.table().iter().find(|p| p.name == name);
        found.extend(of.map(|p| (format!("machine {}", machine.name), parameter(p))));
    }
    let (first, row) = found.first()?;
    let about = row.about.trim_end_matches('.');
    let others = match found.len() {
        1 => first.clone(),
        n => format!("{n} entries"),
    };
    let summary = format!("a parameter of {others}: {about}");
    let full = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
    Some(Page::new(Kind::Parameter, &full, &summary).with("", merged(found)))
}

/// What it means and who has it with which default; entries that declare it identically form a group.
fn merged(found: Vec<(String, ParameterRow)>) -> Vec<Block> {
    let mut groups: Vec<(Vec<Fact>, ParameterRow)> = Vec::new();
    for (name, row) in found {
        let fact = Fact { name, value: row.default.clone(), about: String::new() };
        match groups.iter_mut().find(|(_, other)| alike(other, &row)) {
            Some((facts, _)) => facts.push(fact),
            None => groups.push((vec![fact], row)),
        }
    }
    let blocks = groups.into_iter().flat_map(|(facts, row)| {
        let about = row.about.trim_end_matches('.');
        [Block::Text(format!("{about} ({}). Default:", row.range())), Block::Facts(facts)]
    });
    blocks.collect()
}

fn alike(a: &ParameterRow, b: &ParameterRow) -> bool {
    (&a.kind, &a.words, &a.min, &a.max, &a.about) == (&b.kind, &b.words, &b.min, &b.max, &b.about)
}
