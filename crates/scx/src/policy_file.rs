//! What a policy file says of itself: the custom section `oversim.scx` and the list of sizes and offsets that
//! the headers for BPF C and the host share.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name of the custom section that makes a WebAssembly module a policy file.
pub const SECTION: &str = "oversim.scx";

/// The version of the interface between a policy file and oversim (`include/scx/abi.h`).
pub const ABI: u32 = 1;

/// The text of `abi.h`: the one place that holds the order of the layout array.
const ABI_HEADER: &str = include_str!("../include/scx/abi.h");

/// The custom section `oversim.scx`, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The version of the interface, [`ABI`].
    pub abi: u32,
    /// The name of the scheduler: `.name` of its operations, or the name given at the build.
    pub name: String,
    /// The compiler's own description of itself.
    pub compiler: String,
    /// The names of the source files, as they were given.
    pub sources: Vec<String>,
    /// SHA-256 over the source files in their order, as hexadecimal digits.
    pub sha256: String,
    /// The variable that is the `struct sched_ext_ops`.
    pub ops: Ops,
    /// The maps, in the order in which the host sets them up.
    pub maps: Vec<Map>,
    /// The variables that a scenario can set before `init`.
    pub globals: Vec<Global>,
    /// Functions of the section `syscall`, exported under their names.
    pub programs: Vec<Program>,
}

/// The variable that holds the table of operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ops {
    /// The name of the variable.
    pub symbol: String,
    /// Its address in the memory of the module, bytes.
    pub address: u64,
    /// The operations that it gives, by their names in `struct sched_ext_ops`, in the order of that
    /// structure.
    pub given: Vec<String>,
}

/// A map of BPF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The name of the variable.
    pub symbol: String,
    /// Its address in the memory of the module, bytes.
    pub address: u64,
    /// The number of its type in `enum bpf_map_type`.
    pub kind: u32,
    /// The size of a key, bytes.
    pub key_size: u32,
    /// The size of a value, bytes.
    pub value_size: u32,
    /// The largest number of entries.
    pub max_entries: u32,
    /// The `map_flags`.
    pub flags: u32,
    /// Where in a value references (`__kptr`) lie, bytes from its start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<u32>,
    /// Of an array of maps: the addresses of the maps that it holds from the start, 0 for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<u64>,
}

/// A variable of a scheduler that a scenario can set before `init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Global {
    /// Its name; `a.b` is the member `b` of the variable `a`.
    pub name: String,
    /// Its address in the memory of the module, bytes.
    pub address: u64,
    /// The size of it, or of one element: 1, 2, 4 or 8 bytes.
    pub size: u32,
    /// Whether it is a signed integer.
    pub signed: bool,
    /// Whether it is a `bool`: 0 or 1.
    pub boolean: bool,
    /// Whether the scheduler itself never changes it (`const volatile`).
    pub constant: bool,
    /// The number of elements of an array; none for a plain variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Its value in the file; of an array the first element's.
    pub value: i128,
}

/// A program that is no operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of the function, which is exported.
    pub name: String,
    /// The bytes of the structure that it takes; 0 if it takes none.
    pub context: u32,
}

/// Sizes and offsets of the structures of a module, by name: `task_struct` is a size, `task_struct.scx.slice`
/// an offset, both in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    entries: BTreeMap<String, u32>,
}

impl Layout {
    /// The array that `scx_layout()` of a module points to, with its version and length as the first two
    /// entries.
    ///
    /// # Errors
    ///
    /// A sentence that says what does not fit, if the version or the length differ from those of this
    /// program.
    pub fn read(array: &[u32]) -> Result<Self, String> {
        let names = Self::names();
        let expected = names.len() + 2;
        match array {
            [ABI, count, values @ ..] if *count as usize == expected && values.len() == names.len() => {
                Ok(Self { entries: names.into_iter().zip(values.iter().copied()).collect() })
            }
            [ABI, count, ..] => Err(format!("the layout has {count} entries; this oversim knows {expected}")),
            [version, ..] => {
                Err(format!("version {version} of the interface; this oversim knows version {ABI}"))
            }
            [] => Err("the layout is empty".to_owned()),
        }
    }

    /// The number of `u32` that the array of a module has, with the two at its start.
    pub fn length() -> usize {
        Self::names().len() + 2
    }

    /// The size or offset of this name, bytes.
    ///
    /// # Errors
    ///
    /// A sentence with the name, if the list has no such name.
    pub fn of(&self, name: &str) -> Result<u32, String> {
        self.entries.get(name).copied().ok_or_else(|| format!("the layout has no entry {name:?}"))
    }

    /// The names in the order of the array, without the two entries at its start.
    pub fn names() -> Vec<String> {
        let list = ABI_HEADER.split_once("#define SCX_LAYOUT(SIZE, AT)").map_or("", |(_, rest)| rest);
        let list = list.split_once("#endif").map_or(list, |(list, _)| list);
        let mut names = Vec::new();
        for piece in list.split(')') {
            if let Some((_, inside)) = piece.split_once("SIZE(") {
                names.push(inside.trim().to_owned());
            } else if let Some((_, inside)) = piece.split_once("AT(")
                && let Some((structure, member)) = inside.split_once(',')
            {
                names.push(format!("{}.{}", structure.trim(), member.trim()));
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::{ABI, Layout};

    #[test]
    fn the_layout_is_read_from_the_list_of_the_header() {
        let names = Layout::names();
        assert_eq!(names.first().map(String::as_str), Some("task_struct"));
        assert_eq!(names.last().map(String::as_str), Some("sched_ext_ops.name"));
        assert!(names.iter().any(|name| name == "task_struct.scx.slice"));
        assert!(names.iter().all(|name| !name.contains(['(', ')', ' ', '\\'])));
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "a name stands in the list twice");
    }

    #[test]
    fn a_layout_of_another_version_or_length_is_refused_with_both_numbers() {
        let length = u32::try_from(Layout::length()).unwrap_or(0);
        let mut array = vec![ABI, length];
        array.resize(Layout::length(), 8);
        let layout = Layout::read(&array);
        assert_eq!(layout.and_then(|layout| layout.of("task_struct.pid")), Ok(8));
        let short = Layout::read(&[ABI, 4, 0, 0]);
        assert_eq!(short, Err(format!("the layout has 4 entries; this oversim knows {length}")));
        let other = Layout::read(&[9, 2]);
        assert_eq!(other, Err("version 9 of the interface; this oversim knows version 1".to_owned()));
        assert_eq!(Layout::default().of("x"), Err("the layout has no entry \"x\"".to_owned()));
    }
}
