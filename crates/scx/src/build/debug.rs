//! Reads the debug information of a linked module: variables with their types, functions with their sections,
//! and which line of the source made which code.

use std::cell::Cell;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, EntriesTreeNode, LittleEndian, Operation,
    SectionId, Unit, UnitOffset,
};

use super::module::Module;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;

/// Types nest no deeper than this in what is read; what is deeper is left out.
const DEEPEST: u32 = 24;

/// Types that are read of one module, those inside of others counted each time. What is beyond is left out: a
/// few structures that contain each other several times would take hours.
const MOST_TYPES: u32 = 1 << 20;

/// `DW_TAG_LLVM_annotation`: the notes that clang makes of `btf_decl_tag` and `btf_type_tag`.
const ANNOTATION: gimli::DwTag = gimli::DwTag(0x6000);

/// The debug information of a module.
pub(super) struct Debug<'a> {
    dwarf: Dwarf<Slice<'a>>,
    units: Vec<Unit<Slice<'a>>>,
    /// How many types may still be read.
    left: Cell<u32>,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The file, as it was given to the compiler.
    pub(super) file: String,
    /// The line, from 1.
    pub(super) line: u64,
}

/// A variable outside of functions.
pub(super) struct Variable {
    /// Its name.
    pub(super) name: String,
    /// Its address; none if it is only declared, or was left out because nothing uses it.
    pub(super) address: Option<u64>,
    /// Whether other files see it.
    pub(super) external: bool,
    /// Its section, as `SEC` gives it.
    pub(super) section: Option<String>,
    /// Whether it is `const`.
    pub(super) constant: bool,
    /// Its type.
    pub(super) kind: Kind,
    /// Where it stands.
    pub(super) place: Place,
    /// The file that was compiled.
    pub(super) unit: String,
}

/// A function with a section.
pub(super) struct Program {
    /// Its name.
    pub(super) name: String,
    /// Its section.
    pub(super) section: String,
    /// The size of the structure that its first parameter points to, bytes.
    pub(super) context: u64,
}

/// A type, as far as variables of a scheduler are read and set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer or an enumeration, with its size in bytes.
    Integer { size: u64, signed: bool, boolean: bool },
    /// A pointer, with what it points to: nothing if that lies too deep.
    Pointer { to: Option<Box<Kind>>, reference: bool },
    /// An array.
    Array { of: Box<Kind>, count: u64 },
    /// A structure.
    Structure { name: String, size: u64, members: Vec<Member> },
    /// Something else, with its size in bytes.
    Other { size: u64 },
}

/// A member of a structure that is no bit field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name.
    pub(super) name: String,
    /// Bytes from the start of the structure.
    pub(super) offset: u64,
    /// Its type.
    pub(super) kind: Kind,
}

impl Kind {
    /// The member of this name of a structure.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        let Self::Structure { members, .. } = self else { return None };
        members.iter().find(|member| member.name == name)
    }

    /// The size of a value, bytes.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Integer { size, .. } | Self::Structure { size, .. } | Self::Other { size } => *size,
            Self::Pointer { .. } => 8,
            Self::Array { of, count } => of.size().saturating_mul(*count),
        }
    }
}

impl<'a> Debug<'a> {
    /// Reads the units of a module.
    pub(super) fn read(module: &Module<'a>) -> gimli::Result<Self> {
        let section = |id: SectionId| -> gimli::Result<Slice<'a>> {
            let bytes = module.custom.get(id.name()).copied().unwrap_or_default();
            Ok(EndianSlice::new(bytes, LittleEndian))
        };
        let dwarf = Dwarf::load(section)?;
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            units.push(dwarf.unit(header)?);
        }
        Ok(Self { dwarf, units, left: Cell::new(MOST_TYPES) })
    }

    /// Does something with every entry that is in no other one, in the order of the files.
    fn outermost(
        &self,
        mut each: impl FnMut(&Unit<Slice<'a>>, EntriesTreeNode<'_, '_, Slice<'a>>) -> gimli::Result<()>,
    ) -> gimli::Result<()> {
        for unit in &self.units {
            let mut tree = unit.entries_tree(None)?;
            let mut children = tree.root()?.children();
            while let Some(child) = children.next()? {
                each(unit, child)?;
            }
        }
        Ok(())
    }

    /// The variables outside of functions, in the order of the files.
    pub(super) fn variables(&self) -> gimli::Result<Vec<Variable>> {
        let mut found = Vec::new();
        self.outermost(|unit, child| {
            let entry = child.entry();
            let name = self.text(unit, entry, gimli::DW_AT_name);
            let Some(name) = name.filter(|_| entry.tag() == gimli::DW_TAG_variable) else { return Ok(()) };
            let mut variable = Variable {
                name,
                address: self.address(unit, entry)?,
                external: flag(entry, gimli::DW_AT_external),
                section: None,
                constant: self.is_constant(unit, entry)?,
                kind: self.kind_at(unit, entry, 0)?,
                place: self.declared(unit, entry),
                unit: unit.name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            };
            variable.section = self.section(unit, child.children())?;
            found.push(variable);
            Ok(())
        })?;
        Ok(found)
    }

    /// The functions that have a section.
    pub(super) fn programs(&self) -> gimli::Result<Vec<Program>> {
        let mut found = Vec::new();
        self.outermost(|unit, child| {
            let entry = child.entry();
            let name = self.text(unit, entry, gimli::DW_AT_name);
            let Some(name) = name.filter(|_| entry.tag() == gimli::DW_TAG_subprogram) else { return Ok(()) };
            let context = self.context(unit, entry.offset())?;
            if let Some(section) = self.section(unit, child.children())? {
                found.push(Program { name, section, context });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Structures of the source's own that stand for one of the kernel's in another form
    /// (`task_struct___old`): the loader of BPF moves their members to where the kernel has them, and nobody
    /// does so here.
    pub(super) fn flavours(&self, own: &str) -> gimli::Result<Vec<(Place, String)>> {
        let mut found = Vec::new();
        self.outermost(|unit, child| {
            let entry = child.entry();
            let name = self.text(unit, entry, gimli::DW_AT_name).unwrap_or_default();
            let place = self.declared(unit, entry);
            let structure = entry.tag() == gimli::DW_TAG_structure_type;
            if structure && name.contains("___") && !place.file.starts_with(own) {
                found.push((place, name));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The line that made the code at this offset.
    pub(super) fn line(&self, code: u64) -> Option<Place> {
        for unit in &self.units {
            let program = unit.line_program.clone()?;
            let mut rows = program.rows();
            let mut last: Option<(u64, u64, u64)> = None;
            while let Ok(Some((header, row))) = rows.next_row() {
                if let Some((address, file, line)) = last
                    && (address..row.address()).contains(&code)
                {
                    let file = header.file(file).map(|file| self.path(unit, header, file));
                    return file.map(|file| Place { file, line });
                }
                let line = row.line().map_or(0, std::num::NonZero::get);
                last = (!row.end_sequence()).then_some((row.address(), row.file_index(), line));
            }
        }
        None
    }

    fn path(
        &self,
        unit: &Unit<Slice<'a>>,
        header: &gimli::LineProgramHeader<Slice<'a>>,
        file: &gimli::FileEntry<Slice<'a>>,
    ) -> String {
        let string = |value| {
            let text = self.dwarf.attr_string(unit, value).ok();
            text.map(|text: Slice<'a>| text.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let name = string(file.path_name());
        // Directory 0 is the one in which the compiler ran.
        match file.directory(header).filter(|_| file.directory_index() != 0).map(string) {
            Some(directory) if !directory.is_empty() && !name.starts_with('/') => {
                format!("{directory}/{name}")
            }
            _ => name,
        }
    }

    fn text(&self, unit: &Unit<Slice<'a>>, entry: &Entry<'a>, name: gimli::DwAt) -> Option<String> {
        let value = entry.attr_value(name)?;
        let text = self.dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    }

    fn declared(&self, unit: &Unit<Slice<'a>>, entry: &Entry<'a>) -> Place {
        let line = number(entry, gimli::DW_AT_decl_line).unwrap_or(0);
        let file = match entry.attr_value(gimli::DW_AT_decl_file) {
            Some(AttributeValue::FileIndex(index)) => unit.line_program.as_ref().and_then(|program| {
                let header = program.header();
                header.file(index).map(|file| self.path(unit, header, file))
            }),
            _ => None,
        };
        Place { file: file.unwrap_or_default(), line }
    }

    /// The address of a variable that is in the module: the linker marks what it left out by the largest
    /// numbers.
    fn address(&self, unit: &Unit<Slice<'a>>, entry: &Entry<'a>) -> gimli::Result<Option<u64>> {
        let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else {
            return Ok(None);
        };
        let address = match expression.operations(unit.encoding()).next()? {
            Some(Operation::Address { address }) => address,
            Some(Operation::AddressIndex { index }) => self.dwarf.address(unit, index)?,
            _ => return Ok(None),
        };
        let left_out = address == 0 || address >= u64::from(u32::MAX) - 1;
        Ok((!left_out).then_some(address))
    }

    /// The note `sec:NAME` among the children of an entry.
    fn section(
        &self,
        unit: &Unit<Slice<'a>>,
        children: gimli::EntriesTreeIter<'_, '_, Slice<'a>>,
    ) -> gimli::Result<Option<String>> {
        self.note(unit, children, "btf_decl_tag", "sec:")
    }

    /// The value of a note of this kind that begins so.
    fn note(
        &self,
        unit: &Unit<Slice<'a>>,
        mut children: gimli::EntriesTreeIter<'_, '_, Slice<'a>>,
        kind: &str,
        begins: &str,
    ) -> gimli::Result<Option<String>> {
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag() == ANNOTATION
                && self.text(unit, entry, gimli::DW_AT_name).as_deref() == Some(kind)
                && let Some(value) = self.text(unit, entry, gimli::DW_AT_const_value)
                && let Some(rest) = value.strip_prefix(begins)
            {
                return Ok(Some(rest.to_owned()));
            }
        }
        Ok(None)
    }

    fn kind_at(&self, unit: &Unit<Slice<'a>>, entry: &Entry<'a>, depth: u32) -> gimli::Result<Kind> {
        match (type_of(entry), self.left.get().checked_sub(1)) {
            (Some(offset), Some(left)) if depth < DEEPEST => {
                self.left.set(left);
                self.kind(unit, offset, depth + 1)
            }
            _ => Ok(Kind::Other { size: 0 }),
        }
    }

    /// Whether `const` stands before the name of the type, or is in it.
    fn is_constant(&self, unit: &Unit<Slice<'a>>, entry: &Entry<'a>) -> gimli::Result<bool> {
        let mut next = type_of(entry);
        for _ in 0..DEEPEST {
            let Some(offset) = next else { return Ok(false) };
            let entry = unit.entry(offset)?;
            match entry.tag() {
                gimli::DW_TAG_const_type => return Ok(true),
                gimli::DW_TAG_volatile_type | gimli::DW_TAG_typedef | gimli::DW_TAG_array_type => {
                    next = type_of(&entry);
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    fn kind(&self, unit: &Unit<Slice<'a>>, offset: UnitOffset, depth: u32) -> gimli::Result<Kind> {
        let entry = unit.entry(offset)?;
        let size = number(&entry, gimli::DW_AT_byte_size).unwrap_or(0);
        Ok(match entry.tag() {
            gimli::DW_TAG_base_type => match entry.attr_value(gimli::DW_AT_encoding) {
                Some(AttributeValue::Encoding(encoding)) => Kind::Integer {
                    size,
                    signed: matches!(encoding, gimli::DW_ATE_signed | gimli::DW_ATE_signed_char),
                    boolean: encoding == gimli::DW_ATE_boolean,
                },
                _ => Kind::Other { size },
            },
            gimli::DW_TAG_enumeration_type => Kind::Integer { size, signed: false, boolean: false },
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type => self.kind_at(unit, &entry, depth)?,
            gimli::DW_TAG_pointer_type => {
                let mut tree = unit.entries_tree(Some(offset))?;
                let reference = self.note(unit, tree.root()?.children(), "btf_type_tag", "kptr")?.is_some();
                // Of what a map points to (its types) the size is wanted; further pointers are not followed.
                let to =
                    if depth <= 6 { Some(Box::new(self.kind_at(unit, &entry, depth + 6)?)) } else { None };
                Kind::Pointer { to, reference }
            }
            gimli::DW_TAG_array_type => {
                let of = self.kind_at(unit, &entry, depth)?;
                let mut tree = unit.entries_tree(Some(offset))?;
                let mut children = tree.root()?.children();
                let mut count = 1_u64;
                while let Some(child) = children.next()? {
                    let range = child.entry();
                    if range.tag() == gimli::DW_TAG_subrange_type {
                        let upper =
                            number(range, gimli::DW_AT_upper_bound).map(|last| last.saturating_add(1));
                        count =
                            count.saturating_mul(number(range, gimli::DW_AT_count).or(upper).unwrap_or(0));
                    }
                }
                Kind::Array { of: Box::new(of), count }
            }
            gimli::DW_TAG_structure_type => {
                let name = self.text(unit, &entry, gimli::DW_AT_name).unwrap_or_default();
                Kind::Structure { name, size, members: self.members(unit, offset, depth)? }
            }
            _ => Kind::Other { size },
        })
    }

    fn members(&self, unit: &Unit<Slice<'a>>, offset: UnitOffset, depth: u32) -> gimli::Result<Vec<Member>> {
        let mut members = Vec::new();
        let mut tree = unit.entries_tree(Some(offset))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let bits = entry.attr_value(gimli::DW_AT_bit_size).is_some();
            if entry.tag() != gimli::DW_TAG_member || bits {
                continue;
            }
            let name = self.text(unit, entry, gimli::DW_AT_name).unwrap_or_default();
            let offset = number(entry, gimli::DW_AT_data_member_location).unwrap_or(0);
            members.push(Member { name, offset, kind: self.kind_at(unit, entry, depth)? });
        }
        Ok(members)
    }

    /// The size of what the first parameter of a function points to, bytes.
    fn context(&self, unit: &Unit<Slice<'a>>, function: UnitOffset) -> gimli::Result<u64> {
        let mut tree = unit.entries_tree(Some(function))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            if child.entry().tag() == gimli::DW_TAG_formal_parameter {
                let kind = self.kind_at(unit, child.entry(), 0)?;
                return Ok(match kind {
                    Kind::Pointer { to: Some(to), .. } => to.size(),
                    _ => 0,
                });
            }
        }
        Ok(0)
    }
}

fn type_of(entry: &Entry) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_type) {
        Some(AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    }
}

fn number(entry: &Entry, name: gimli::DwAt) -> Option<u64> {
    entry.attr_value(name)?.udata_value()
}

fn flag(entry: &Entry, name: gimli::DwAt) -> bool {
    matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
}
