//! Reads what a build needs from a WebAssembly module, and writes the module without what nobody runs.

use std::collections::BTreeMap;
use std::ops::Range;

use wasmparser::{
    BinaryReaderError, CustomSectionReader, DataKind, ElementItems, ElementKind, FunctionBody, Import,
    KnownCustom, Linking, Name, Operator, Parser, Payload, SymbolFlags, SymbolInfo, TypeRef, ValType,
};

/// A module, taken apart.
#[derive(Default)]
pub(super) struct Module<'a> {
    /// Custom sections by name.
    pub(super) custom: BTreeMap<String, &'a [u8]>,
    /// Parameters and results of each type.
    types: Vec<Signature>,
    /// The type of each function, imported ones first.
    functions: Vec<u32>,
    /// Imported functions: module and name.
    pub(super) imports: Vec<(String, String)>,
    /// The bodies of the functions that are not imported.
    bodies: Vec<FunctionBody<'a>>,
    /// Where the contents of the code section begin, bytes from the start of the file.
    code_start: usize,
    /// Functions by their index in the table.
    table: BTreeMap<u64, u32>,
    /// Data by address, with its place in the file.
    data: Vec<(u64, &'a [u8], usize)>,
    /// Names of functions.
    names: BTreeMap<u32, String>,
    /// Symbols of an object file.
    pub(super) symbols: Symbols,
}

/// The types of a function's parameters and of its result, as WebAssembly has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    /// The parameters.
    pub(super) parameters: Vec<ValType>,
    /// The results.
    pub(super) results: Vec<ValType>,
}

/// The data symbols of an object file.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    /// Those that it defines, with their size in bytes.
    pub(super) defined: BTreeMap<String, u64>,
    /// Those that it needs from elsewhere, with their index; weak ones are not among them.
    pub(super) needed: BTreeMap<String, u32>,
    /// Where the code first uses the symbol of an index, as debug information counts.
    pub(super) uses: BTreeMap<u32, u64>,
    /// The number of symbols read.
    count: u32,
}

impl<'a> Module<'a> {
    /// Takes a module apart.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, BinaryReaderError> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            module.section(payload?)?;
        }
        Ok(module)
    }

    fn section(&mut self, payload: Payload<'a>) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::TypeSection(section) => {
                for kind in section.into_iter_err_on_gc_types() {
                    let kind = kind?;
                    let (parameters, results) = (kind.params().to_vec(), kind.results().to_vec());
                    self.types.push(Signature { parameters, results });
                }
            }
            Payload::ImportSection(section) => {
                for import in section {
                    let Import { module, name, ty } = import?;
                    if let TypeRef::Func(kind) = ty {
                        self.functions.push(kind);
                        self.imports.push((module.to_owned(), name.to_owned()));
                    }
                }
            }
            Payload::FunctionSection(section) => {
                for kind in section {
                    self.functions.push(kind?);
                }
            }
            Payload::ElementSection(section) => {
                for element in section {
                    let element = element?;
                    let ElementKind::Active { offset_expr, .. } = element.kind else { continue };
                    let first = constant(&offset_expr.get_operators_reader().read()?).unwrap_or(0);
                    if let ElementItems::Functions(functions) = element.items {
                        let mut next = Some(first);
                        for function in functions {
                            let (Some(index), function) = (next, function?) else { break };
                            self.table.insert(index, function);
                            next = index.checked_add(1);
                        }
                    }
                }
            }
            Payload::CodeSectionStart { range, .. } => self.code_start = range.start,
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::DataSection(section) => {
                for data in section {
                    let data = data?;
                    if let DataKind::Active { offset_expr, .. } = data.kind
                        && let Some(address) = constant(&offset_expr.get_operators_reader().read()?)
                    {
                        let start = data.range.end.saturating_sub(data.data.len());
                        self.data.push((address, data.data, start));
                    }
                }
            }
            Payload::CustomSection(section) => self.custom_section(&section)?,
            _ => {}
        }
        Ok(())
    }

    fn custom_section(&mut self, section: &CustomSectionReader<'a>) -> Result<(), BinaryReaderError> {
        self.custom.insert(section.name().to_owned(), section.data());
        match section.as_known() {
            KnownCustom::Name(names) => self.function_names(names),
            KnownCustom::Linking(linking) => {
                for part in linking.subsections() {
                    if let Linking::SymbolTable(symbols) = part? {
                        for symbol in symbols {
                            self.symbols.add(&symbol?);
                        }
                    }
                }
            }
            KnownCustom::Reloc(relocations) if section.name() == "reloc.CODE" => {
                for entry in relocations.entries() {
                    let entry = entry?;
                    let at = u64::from(entry.offset);
                    let first = self.symbols.uses.entry(entry.index).or_insert(at);
                    *first = (*first).min(at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The names of functions: what reads them is a message, and a message can do without.
    fn function_names(&mut self, names: wasmparser::NameSectionReader<'a>) {
        for part in names.into_iter().flatten() {
            if let Name::Function(functions) = part {
                self.names.extend(functions.into_iter().flatten().map(|n| (n.index, n.name.to_owned())));
            }
        }
    }

    /// This many bytes of the initial memory; what no data covers is 0.
    pub(super) fn memory(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for (start, data, _) in &self.data {
            for (at, byte) in (0_u64..).zip(bytes.iter_mut()) {
                let inside = address.checked_add(at).and_then(|at| at.checked_sub(*start));
                let inside = inside.and_then(|offset| usize::try_from(offset).ok());
                if let Some(found) = inside.and_then(|offset| data.get(offset)) {
                    *byte = *found;
                }
            }
        }
        bytes
    }

    /// Where in the file this address of the initial memory is.
    pub(super) fn place(&self, address: u64) -> Option<usize> {
        self.data.iter().find_map(|(start, data, place)| {
            let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
            (offset < data.len()).then(|| place.saturating_add(offset))
        })
    }

    /// The index of the function of this name.
    pub(super) fn index_of(&self, name: &str) -> Option<u32> {
        self.names.iter().find(|(_, known)| *known == name).map(|(index, _)| *index)
    }

    /// Whether the module has a function of this name with a body of its own.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.names.values().any(|known| known == name)
    }

    /// The places in the table of functions of these parameters.
    pub(super) fn with_parameters(&self, parameters: &[ValType]) -> Vec<u64> {
        let fits =
            |function: u32| self.signature(function).is_some_and(|known| known.parameters == parameters);
        self.table.iter().filter(|(_, function)| fits(**function)).map(|(index, _)| *index).collect()
    }

    /// An integer of up to 8 bytes in the initial memory.
    pub(super) fn integer(&self, address: u64, size: u32) -> u64 {
        let bytes = self.memory(address, size.min(8) as usize);
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// The function at this place of the table.
    pub(super) fn at(&self, index: u64) -> Option<u32> {
        self.table.get(&index).copied()
    }

    /// The signature of a function.
    pub(super) fn signature(&self, function: u32) -> Option<&Signature> {
        let kind = self.functions.get(function as usize)?;
        self.types.get(*kind as usize)
    }

    /// The name of a function, in the source.
    pub(super) fn name(&self, function: u32) -> &str {
        self.names.get(&function).map_or("a function", String::as_str)
    }

    /// Where in the code the function `wanted` is first called, as debug information counts.
    pub(super) fn first_call(&self, wanted: u32) -> Option<u64> {
        self.first(
            |operator| matches!(operator, Operator::Call { function_index } if *function_index == wanted),
        )
    }

    /// Where in the code a number with a decimal point first comes up, as debug information counts.
    pub(super) fn first_float(&self) -> Option<u64> {
        self.first(|operator| {
            use Operator as O;
            matches!(
                operator,
                O::F32Const { .. }
                    | O::F64Const { .. }
                    | O::F32Load { .. }
                    | O::F64Load { .. }
                    | O::F32ConvertI32S
                    | O::F32ConvertI32U
                    | O::F32ConvertI64S
                    | O::F32ConvertI64U
                    | O::F64ConvertI32S
                    | O::F64ConvertI32U
                    | O::F64ConvertI64S
                    | O::F64ConvertI64U
                    | O::F32ReinterpretI32
                    | O::F64ReinterpretI64
            )
        })
    }

    fn first(&self, wanted: impl Fn(&Operator) -> bool) -> Option<u64> {
        for body in &self.bodies {
            let Ok(operators) = body.get_operators_reader() else { continue };
            for found in operators.into_iter_with_offsets() {
                let Ok((operator, offset)) = found else { break };
                if wanted(&operator) {
                    return u64::try_from(offset.checked_sub(self.code_start)?).ok();
                }
            }
        }
        None
    }
}

impl Symbols {
    fn add(&mut self, symbol: &SymbolInfo) {
        let index = self.count;
        self.count = index.saturating_add(1);
        if let SymbolInfo::Data { flags, name, symbol } = symbol {
            if let Some(defined) = symbol {
                self.defined.insert((*name).to_owned(), u64::from(defined.size));
            } else if !flags.contains(SymbolFlags::BINDING_WEAK) {
                self.needed.insert((*name).to_owned(), index);
            }
        }
    }
}

fn constant(operator: &Operator) -> Option<u64> {
    match operator {
        Operator::I32Const { value } => Some(u64::from(value.cast_unsigned())),
        Operator::I64Const { value } => Some(value.cast_unsigned()),
        _ => None,
    }
}

/// The module without its custom sections (debug information, names, notes of the tools), and with one more:
/// `name`, which holds `contents`.
pub(super) fn rewritten(bytes: &[u8], name: &str, contents: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut kept = Vec::new();
    let mut from = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        let end = match &payload {
            Payload::Version { range, .. } => range.end,
            // Entries lie within their section.
            Payload::CodeSectionEntry(_) => continue,
            Payload::End(_) => bytes.len(),
            other => other.as_section().map_or(from, |(_, range): (u8, Range<usize>)| range.end),
        };
        if !matches!(payload, Payload::CustomSection(_)) {
            kept.extend_from_slice(bytes.get(from..end).unwrap_or_default());
        }
        from = end;
    }
    let mut section = Vec::new();
    leb(name.len(), &mut section);
    section.extend_from_slice(name.as_bytes());
    section.extend_from_slice(contents);
    kept.push(0);
    leb(section.len(), &mut kept);
    kept.extend_from_slice(&section);
    Ok(kept)
}

/// A number as WebAssembly writes it: 7 bits to a byte, the lowest first.
pub(super) fn leb(mut number: usize, bytes: &mut Vec<u8>) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::{Module, leb, rewritten};

    /// An empty module with a custom section `a` of two bytes.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0\x00\x04\x01a\x07\x08";

    #[test]
    fn custom_sections_go_and_the_new_one_comes() {
        let bytes = rewritten(MODULE, "oversim.scx", b"{}").unwrap_or_default();
        let module = Module::read(&bytes);
        let custom = module.map(|module| module.custom.keys().cloned().collect::<Vec<_>>());
        assert_eq!(custom.ok(), Some(vec!["oversim.scx".to_owned()]));
        assert_eq!(bytes.len(), 8 + 2 + 1 + 11 + 2);
    }

    #[test]
    fn large_numbers_take_more_bytes() {
        let mut bytes = Vec::new();
        leb(300, &mut bytes);
        assert_eq!(bytes, [0xac, 0x02]);
    }

    /// A table and data that begin at the last address of all.
    #[test]
    fn what_begins_at_the_last_address_ends_there() {
        let elements: &[u8] = b"\x09\x08\x01\x00\x42\x7f\x0b\x02\x00\x00";
        let data: &[u8] = b"\x0b\x08\x01\x00\x42\x7f\x0b\x02\x07\x08";
        let bytes = [b"\0asm\x01\0\0\0", elements, data].concat();
        let module = Module::read(&bytes);
        let seen = module.map(|module| (module.at(u64::MAX), module.memory(u64::MAX, 4)));
        assert_eq!(seen.ok(), Some((Some(0), vec![7, 0, 0, 0])));
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        assert!(Module::read(b"\0asm\x01").is_err());
        assert!(rewritten(b"no", "x", b"").is_err());
    }
}
