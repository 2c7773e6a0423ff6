//! Machine files: from YAML text to an [`Entry`], every mistake with its place.

use notation::diagnostics::{Diagnostic, Place};
use notation::former_keys::rename_keys;
use notation::lists::List;
use notation::parameter::{Kind, Parameter, Values};
use notation::reader::Reader;
use notation::renamed::{RENAMED, What};
use notation::yaml::{self, Content, Node};
use sim_core::machine::{Level, Topology};

use crate::entry::{Entry, Note};
use crate::parameters::{
    GENERIC_NOTES, Lists, Parameters, check, cores_per_package, generic_range, generic_values,
};
use crate::topology::parse_topology;

const KEYS: [&str; 7] = ["name", "summary", "about", "kernel", "topology", "values", "lists"];
const DATUM_KEYS: [&str; 4] = ["value", "source", "uncertain", "range"];
const LIST_KEYS: [&str; 6] = ["distances", "turbo", "core_speeds", "cpu_numbers", "idle_exit", "wake_remote"];
/// Longest name, and longest summary or source, in characters: they stand in tables.
const MAX_NAME: usize = 64;
const MAX_LINE: usize = 500;
const RANGE_HINT: &str = "write `range: [smallest, largest]`";
/// Longest text about a machine, in characters.
const MAX_ABOUT: usize = 4_000;
/// Legal entries of the lists, in thousandths. A remote access takes no less than a local one; a clock is
/// raised by a small factor or lowered; a core differs from its neighbours by two orders of magnitude at
/// most.
pub(crate) const DISTANCES: (u64, u64) = (1_000, 100_000);
const TURBO: (u64, u64) = (100, 4_000);
const CORE_SPEEDS: (u64, u64) = (10, 10_000);
/// Longest idle time with an exit time of its own, ns: a minute.
const MAX_IDLE: u64 = 60_000_000_000;

/// Reads a machine file; `source` is the number that places carry. Values it leaves out are those of a
/// synthetic machine.
///
/// # Errors
/// All that is wrong with it.
pub fn read(source: u32, text: &str) -> Result<Entry, Vec<Diagnostic>> {
    if yaml::is_blank(text) {
        let place = Place { source, ..Place::NONE };
        let hint = "a machine file needs at least `name`, `summary` and `topology`";
        return Err(vec![Diagnostic::new(place, "the machine file is empty").hint(hint)]);
    }
    let mut root = yaml::tree(source, text).map_err(|problem| vec![problem])?;
    let mut reading = Reading(Reader::default());
    rename_keys(RENAMED, What::MachineKey, &mut root, &[], &mut reading.0);
    let entry = reading.entry(&root);
    entry.filter(|_| reading.0.is_clean()).ok_or_else(|| reading.0.problems())
}

struct Reading(Reader);

/// A value with its source.
struct Datum<'a> {
    value: &'a Node,
    note: Note,
}

impl Reading {
    fn entry(&mut self, root: &Node) -> Option<Entry> {
        self.0.mapping(root, "a machine file", &KEYS)?;
        let name = self.0.required(root, "name").and_then(|node| self.name(node));
        let summary = self.0.required(root, "summary").and_then(|node| self.line(node, "`summary`"));
        let about = root.get("about").and_then(|entry| self.prose(&entry.value, "`about`", MAX_ABOUT));
        let shape = self.0.required(root, "topology").and_then(|node| self.topology(node));
        let kernel = root.get("kernel").and_then(|entry| self.datum(&entry.value, "kernel"));
        let kernel =
            kernel.and_then(|datum| Some((self.0.text(datum.value, "a kernel")?.to_owned(), datum.note)));
        let (text, topology, note) = shape?;
        let mut notes = vec![note];
        let kernel = kernel.map(|(name, note)| {
            notes.push(note);
            name
        });
        let values = self.values(root, &topology, &mut notes);
        let lists = self.lists(root, &topology, &mut notes);
        if let Err(message) = check(&topology, &values, &lists) {
            self.0.wrong(root.start(), message);
        }
        let (name, summary) = (name?, summary?);
        let about = about.unwrap_or_default();
        let remarks = self.0.remarks().to_vec();
        let topology_text = text;
        Some(Entry { name, summary, about, topology_text, topology, kernel, values, lists, notes, remarks })
    }

    fn name(&mut self, node: &Node) -> Option<String> {
        let name = self.0.text(node, "`name`")?;
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(good) {
            let hint = "use letters, digits, `_`, `-` and `.`";
            self.0.wrong_node(node, format!("`{name}` is not a valid machine name"), hint);
            return None;
        }
        Some(name.to_owned())
    }

    fn topology(&mut self, node: &Node) -> Option<(String, Topology, Note)> {
        let datum = self.datum(node, "topology")?;
        let text = self.0.text(datum.value, "a topology")?;
        match parse_topology(text) {
            Ok(topology) => Some((text.to_owned(), topology, datum.note)),
            Err(message) => {
                self.0.wrong_node(datum.value, message, "");
                None
            }
        }
    }

    /// The values, which become the defaults of their own table; those left out are generic.
    fn values(&mut self, root: &Node, topology: &Topology, notes: &mut Vec<Note>) -> Values {
        let given = root.get("values").map(|entry| &entry.value);
        let names: Vec<&str> = Parameters::TABLE.iter().map(|p| p.name).collect();
        if let Some(node) = given {
            self.0.mapping(node, "`values`", &names);
        }
        let generic = generic_values(topology);
        let mut table = generic.table().to_vec();
        for parameter in &mut table {
            let Some(entry) = given.and_then(|node| node.get(parameter.name)) else {
                notes.push(generic_note(parameter.name));
                continue;
            };
            let Some(datum) = self.datum(&entry.value, parameter.name) else { continue };
            let what = format!("`{}`", parameter.name);
            if let Some(value) =
                self.0.value(datum.value, &what, parameter.kind, parameter.min, parameter.max)
            {
                parameter.default = value;
                let range = self.range(&entry.value, parameter, value);
                notes.push(Note { range, ..datum.note });
            }
        }
        Values::defaults(&table)
    }

    fn lists(&mut self, root: &Node, topology: &Topology, notes: &mut Vec<Note>) -> Lists {
        let mut lists = Lists::default();
        let Some(given) = root.get("lists").map(|entry| &entry.value) else { return lists };
        self.0.mapping(given, "`lists`", &LIST_KEYS);
        for entry in given.entries() {
            let Some(datum) = self.datum(&entry.value, &entry.key) else { continue };
            let rows = match entry.key.as_str() {
                "idle_exit" => Some(&mut lists.idle_exit),
                "wake_remote" => Some(&mut lists.wake_remote),
                _ => None,
            };
            if let Some(rows) = rows {
                *rows = self.by_idle_time(datum.value, &entry.key).unwrap_or_default();
                notes.push(Note { parameter: format!("lists.{}", entry.key), ..datum.note });
                continue;
            }
            if entry.key == "turbo" {
                if let Some(rows) = self.turbo(datum.value, cores_per_package(topology)) {
                    lists.turbo = rows;
                    notes.push(Note { parameter: "lists.turbo".to_owned(), ..datum.note });
                }
                continue;
            }
            let cores = u64::from(topology.count(Level::Core));
            let (target, list) = match entry.key.as_str() {
                "distances" => (&mut lists.distances, self.matrix(datum.value, topology.count(Level::Node))),
                "core_speeds" => {
                    let what = "`core_speeds`";
                    (&mut lists.core_speeds, self.list(datum.value, what, CORE_SPEEDS, cores, "cores"))
                }
                "cpu_numbers" => (&mut lists.cpu_numbers, self.cpu_numbers(datum.value, topology.cpus())),
                _ => continue,
            };
            if let Some(list) = list {
                *target = list;
                notes.push(Note { parameter: format!("lists.{}", entry.key), ..datum.note });
            }
        }
        lists
    }

    /// The steps of turbo: a list for all cores of a package, or rows for the kinds of cores.
    fn turbo(&mut self, node: &Node, most: u64) -> Option<Vec<Vec<u32>>> {
        let nested = |items: &[Node]| items.iter().any(|item| matches!(item.content, Content::List(_)));
        match &node.content {
            Content::List(rows) if nested(rows) => rows
                .iter()
                .map(|row| self.list(row, "a row of `turbo`", TURBO, most, "cores in a package"))
                .collect(),
            _ => Some(vec![self.list(node, "`turbo`", TURBO, most, "cores in a package")?]),
        }
    }

    /// At least one factor, and no more than there are `things`.
    fn list(
        &mut self,
        node: &Node,
        what: &str,
        range: (u64, u64),
        most: u64,
        things: &str,
    ) -> Option<Vec<u32>> {
        let Content::List(items) = &node.content else {
            self.0.wrong_node(
                node,
                format!("{what} must be a list, not {}", node.what()),
                "write `[1.2, 1.1]`",
            );
            return None;
        };
        if items.is_empty() || items.len() as u64 > most {
            let message = format!("{what} has {} entries; there are {most} {things}", items.len());
            self.0.wrong_node(node, message, "");
            return None;
        }
        items
            .iter()
            .map(|item| Some(self.0.value(item, what, Kind::Factor, range.0, range.1)? as u32))
            .collect()
    }

    /// Rows of an idle time, ascending, and the cost after it.
    fn by_idle_time(&mut self, node: &Node, key: &str) -> Option<Vec<(u64, u64)>> {
        let what = &format!("`{key}`");
        let hint = "write a row for each idle time, as `[[20us, 6us], [200us, 14us]]`";
        let Content::List(rows) = &node.content else {
            self.0.wrong_node(node, format!("{what} must be a list of rows, not {}", node.what()), hint);
            return None;
        };
        let mut read: Vec<(u64, u64)> = Vec::new();
        for row in rows {
            let pair = match &row.content {
                Content::List(pair) if pair.len() == 2 => pair,
                _ => {
                    self.0.wrong_node(
                        row,
                        format!("a row of {what} must have an idle time and the cost after it"),
                        hint,
                    );
                    return None;
                }
            };
            let mut time = |node| self.0.value(node, what, Kind::Duration, 0, MAX_IDLE);
            let (idle, cost) = (time(&pair[0])?, time(&pair[1])?);
            if read.last().is_some_and(|(before, _)| idle <= *before) {
                let message = format!("the rows of {what} must be in the order of growing idle times");
                self.0.wrong_node(row, message, hint);
                return None;
            }
            read.push((idle, cost));
        }
        Some(read)
    }

    /// A different number for each of `cpus` cpus.
    fn cpu_numbers(&mut self, node: &Node, cpus: u32) -> Option<Vec<u32>> {
        let items = match &node.content {
            Content::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut list = List::default();
        for item in items {
            let text = self.0.text(item, "`cpu_numbers`")?;
            if let Err(message) = list.add(Kind::Cpus, text, 0, sim_core::limits::MAX_CPUS - 1) {
                self.0.wrong_node(item, format!("`cpu_numbers`: {message}"), "");
                return None;
            }
        }
        let numbers = list.items();
        if numbers.len() != cpus as usize {
            let message = format!("`cpu_numbers` has {} entries; there are {cpus} cpus", numbers.len());
            self.0.wrong_node(
                node,
                message,
                "write the Linux number of each cpu, as `0,4,1,5` or `0-3,8-11`",
            );
            return None;
        }
        Some(numbers.into_iter().map(|number| number as u32).collect())
    }

    /// A square of factors with 1 on its diagonal.
    fn matrix(&mut self, node: &Node, nodes: u32) -> Option<Vec<u32>> {
        let what = "`distances`";
        let Content::List(rows) = &node.content else {
            let hint = "write a row for each NUMA node, as `[[1, 1.3], [1.3, 1]]`";
            self.0.wrong_node(node, format!("{what} must be a list of rows, not {}", node.what()), hint);
            return None;
        };
        if rows.len() != nodes as usize {
            let message = format!("{what} has {} rows; the machine has {nodes} NUMA nodes", rows.len());
            self.0.wrong_node(node, message, "");
            return None;
        }
        let mut matrix = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let row_of = self.list(row, "a row of `distances`", DISTANCES, u64::from(nodes), "NUMA nodes")?;
            if row_of.len() != nodes as usize {
                let message =
                    format!("a row of {what} has {} entries; there are {nodes} NUMA nodes", row_of.len());
                self.0.wrong_node(row, message, "");
                return None;
            }
            if row_of.get(at) != Some(&1_000) {
                self.0.wrong_node(
                    row,
                    format!("row {at} of {what} must have 1 at position {at}"),
                    "the distance of a node to itself is 1",
                );
                return None;
            }
            matrix.extend(row_of);
        }
        Some(matrix)
    }

    fn datum<'a>(&mut self, node: &'a Node, parameter: &str) -> Option<Datum<'a>> {
        let what = format!("`{parameter}`");
        if !matches!(node.content, Content::Map(_)) {
            let hint = "write `{ value: \"...\", source: \"...\" }`";
            self.0.wrong_node(node, format!("{what} must be a mapping, not {}", node.what()), hint);
            return None;
        }
        self.0.mapping(node, &what, &DATUM_KEYS)?;
        let value = self.0.required(node, "value");
        let source = self.0.required(node, "source").and_then(|source| self.line(source, "`source`"));
        let uncertain = node
            .get("uncertain")
            .map_or(Some(0), |entry| self.0.value(&entry.value, "`uncertain`", Kind::Flag, 0, 1));
        let note = Note {
            parameter: parameter.to_owned(),
            source: source?,
            uncertain: uncertain? == 1,
            range: None,
        };
        Some(Datum { value: value?, note })
    }

    /// The `range` of an uncertain value, which contains it.
    fn range(&mut self, datum: &Node, parameter: &Parameter, value: u64) -> Option<(u64, u64)> {
        let node = &datum.get("range")?.value;
        let what = format!("`range` of `{}`", parameter.name);
        if datum.get("uncertain").is_none() {
            self.0.wrong_node(node, format!("{what} belongs to an uncertain value"), "add `uncertain: true`");
            return None;
        }
        let Content::List(ends) = &node.content else {
            self.0.wrong_node(node, format!("{what} must be a list, not {}", node.what()), RANGE_HINT);
            return None;
        };
        let [low, high] = ends.as_slice() else {
            self.0.wrong_node(node, format!("{what} must be the smallest and the largest value"), RANGE_HINT);
            return None;
        };
        let mut end = |node| self.0.value(node, &what, parameter.kind, parameter.min, parameter.max);
        let (low, high) = (end(low)?, end(high)?);
        if low > value || value > high {
            let message = format!("{what} does not contain its value, {}", parameter.kind.show(value));
            self.0.wrong_node(node, message, RANGE_HINT);
            return None;
        }
        Some((low, high))
    }

    fn line(&mut self, node: &Node, what: &str) -> Option<String> {
        self.prose(node, what, MAX_LINE)
    }

    fn prose(&mut self, node: &Node, what: &str, longest: usize) -> Option<String> {
        let text = self.0.text(node, what)?.trim();
        if text.is_empty() || text.chars().count() > longest || text.chars().any(char::is_control) {
            self.0.wrong_node(node, format!("{what} must be one line of 1 to {longest} characters"), "");
            return None;
        }
        Some(text.to_owned())
    }
}

/// The note of a value that is that of a synthetic machine.
fn generic_note(parameter: &str) -> Note {
    let found = GENERIC_NOTES.iter().find(|(name, ..)| *name == parameter);
    let (_, source, uncertain) = found.copied().unwrap_or((parameter, "", true));
    // What was measured elsewhere is no measurement of this machine.
    let uncertain = uncertain || source.contains("measured");
    Note {
        parameter: parameter.to_owned(),
        source: format!("default for a present-day server: {source}"),
        uncertain,
        range: generic_range(parameter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::diagnostics::Sources;

    const GOOD: &str = "name: mine
summary: two nodes
topology: { value: 'package:2 numa:1 core:2', source: lscpu }
\
values:
  core_speed: { value: 2, source: clock }
lists:
  distances: { value: [[1, 1.4], [1.4, 1]], source: numactl, \
uncertain: true }
  turbo: { value: [1.2, 1.1], source: data sheet }
  core_speeds: { value: [1, 0.5], source: lscpu }
  cpu_numbers: { value: '0,2,1,3', source: lscpu }
";

    fn refused(text: &str) -> String {
        match read(0, text) {
            Ok(_) => panic!("accepted: {text}"),
            Err(problems) => Sources::new("mine.yaml", text).render(&problems),
        }
    }

    #[test]
    fn a_good_file_is_read_and_the_rest_is_generic() {
        let entry = read(0, GOOD).unwrap();
        let machine = entry.machine();
        assert_eq!(machine.memory.distances, [1_000, 1_400, 1_400, 1_000]);
        assert_eq!(machine.turbo, [[1_200, 1_100]]);
        assert_eq!(entry.lists.cpu_numbers, [0, 2, 1, 3]);
        assert_eq!(machine.core_speed[1].raw() * 2, machine.core_speed[0].raw());
        assert_eq!(entry.values.number("remote_factor"), Some(1_500));
        let note = |name: &str| entry.notes.iter().find(|note| note.parameter == name).unwrap();
        assert!(note("remote_factor").source.starts_with("default for a present-day server: "));
        assert!(note("lists.distances").uncertain && !note("core_speed").uncertain);
    }

    #[test]
    fn costs_by_idle_time_may_fall_and_idle_times_grow() {
        for (key, of) in [
            ("idle_exit", (|lists| &lists.idle_exit) as fn(&Lists) -> &Vec<(u64, u64)>),
            ("wake_remote", |lists| &lists.wake_remote),
        ] {
            let text = |rows: &str| format!("{GOOD}  {key}: {{ value: {rows}, source: test }}\n");
            let entry = read(0, &text("[[6us, 28us], [20us, 18us]]")).unwrap();
            assert_eq!(of(&entry.lists), &[(6_000, 28_000), (20_000, 18_000)]);
            assert!(entry.notes.iter().any(|note| note.parameter == format!("lists.{key}")));
            for rows in ["[[20us, 6us], [20us, 8us]]", "[[20us, 6us], [6us, 8us]]"] {
                let said = refused(&text(rows));
                assert!(
                    said.contains(&format!("the rows of `{key}` must be in the order of growing")),
                    "{said}"
                );
            }
            assert!(refused(&text("[[20us]]")).contains("an idle time and the cost after it"));
        }
    }

    #[test]
    fn broken_files_are_refused_with_line_and_advice() {
        for (from, to, said) in [
            ("name: mine", "name: 'a:b'", "not a valid machine name"),
            ("summary: two nodes\n", "", "there is no `summary`"),
            ("summary:", "sumary:", "did you mean `summary`?"),
            ("core_speed:", "core_sped:", "did you mean `core_speed`?"),
            ("value: 2, source: clock", "value: 2GHz, source: clock", "mine.yaml:5:24"),
            ("value: 2, source: clock", "value: 0, source: clock", "must lie between 0.001 and 100"),
            ("value: 2, source: clock", "value: 2", "there is no `source`"),
            ("value: 2, source: clock", "value: 2, source: ''", "`source` must be one line"),
            ("{ value: 2, source: clock }", "2", "must be a mapping, not a single value"),
            ("value: 2, source: clock", "value: 90, source: x", ""),
            ("core:2'", "core:99999999'", "cpus"),
            ("core:2'", "coer:2'", "did you mean `core`?"),
            ("[[1, 1.4], [1.4, 1]]", "[[1, 1.4]]", "`distances` has 1 rows; the machine has 2 NUMA nodes"),
            ("[[1, 1.4], [1.4, 1]]", "[[1, 1.4], [1.4]]", "has 1 entries; there are 2 NUMA nodes"),
            (
                "[[1, 1.4], [1.4, 1]]",
                "[[1, 1.4], [1, 1.4]]",
                "row 1 of `distances` must have 1 at position 1",
            ),
            ("[[1, 1.4], [1.4, 1]]", "[[1, 0.4], [1.4, 1]]", "must lie between 1 and 100"),
            ("[[1, 1.4], [1.4, 1]]", "1.4", "must be a list of rows"),
            ("[1.2, 1.1]", "[1.2, 1.1, 1]", "`turbo` has 3 entries; there are 2 cores in a package"),
            ("[1.2, 1.1]", "[]", "`turbo` has 0 entries"),
            ("[1.2, 1.1]", "fast", "`turbo` must be a list"),
            ("[1.2, 1.1]", "[[1.2], 1.1]", "a row of `turbo` must be a list"),
            ("[1.2, 1.1]", "[[1.2], []]", "a row of `turbo` has 0 entries"),
            (
                "[1.2, 1.1]",
                "[[1.2], [1.1], [1]]",
                "`turbo` has 3 rows, and the cores have 2 different speeds",
            ),
            ("[1.2, 1.1]", "[[1.2, 1.1], [1]]", "row 0 of `turbo` has 2 entries; a package has 1 cores"),
            ("[1, 0.5]", "[100]", "must lie between 0.01 and 10"),
            ("turbo:", "turbos:", "did you mean `turbo`?"),
            ("'0,2,1,3'", "[0, 2-3]", "`cpu_numbers` has 3 entries; there are 4 cpus"),
            ("'0,2,1,3'", "'0,0-2'", "cpu 0 is named twice"),
            ("'0,2,1,3'", "{}", "must be a single value"),
            ("uncertain: true", "uncertain: perhaps", "write `true` or `false`"),
            ("source: clock", "source: clock, range: [1, 3]", "add `uncertain: true`"),
            ("source: clock", "source: c, uncertain: true, range: [3, 4]", "does not contain its value, 2"),
            ("source: clock", "source: c, uncertain: true, range: [3]", "the smallest and the largest"),
            ("source: clock", "source: c, uncertain: true, range: [1, 2s]", "mine.yaml:5:"),
            ("source: clock", "source: c, uncertain: true, range: 1", "must be a list"),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD, "{from}");
            if said.is_empty() {
                // 90 x 1 and 90 x 0.5 are speeds; beyond 100 they are not.
                assert!(read(0, &text).is_ok());
                let beyond = text.replace("[1, 0.5]", "[2]");
                assert!(refused(&beyond).contains("outside 0.001 to 100"));
                continue;
            }
            let answer = refused(&text);
            assert!(answer.contains(said) && answer.contains("mine.yaml:"), "{to}: {answer}");
        }
        for empty in ["", "# nothing\n", "---\n"] {
            assert!(refused(empty).contains("mine.yaml"), "{}", refused(empty));
        }
        assert!(refused("- a\n- b\n").contains("must be a mapping, not a list"));
        assert!(refused("name: [\n").contains("mine.yaml"));
    }
}
