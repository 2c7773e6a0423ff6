//! Reads symbols of executables and libraries: ELF of 64 bits in the byte order of this host (elf(5)).
//!
//! A file may hold anything: each offset and length is checked against the size of the file before memory is
//! taken, and what does not fit is a sentence.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Most bytes of one table.
const MAX_TABLE: u64 = 512 << 20;
/// Most sections and program headers that are looked at.
const MAX_HEADERS: u64 = 4_096;
/// Longest name of a symbol: what is longer, as names of C++ templates are, is left out.
const MAX_NAME: usize = 512;
/// `Elf64_Sym` in bytes.
const SYMBOL: usize = 24;

/// What a file is read from.
pub trait Source {
    /// Its length in bytes.
    fn length(&self) -> u64;
    /// Fills a buffer from an offset on; false where that fails.
    fn fill(&self, at: u64, buffer: &mut [u8]) -> bool;
}

impl Source for File {
    fn length(&self) -> u64 {
        self.metadata().map_or(0, |known| if known.is_file() { known.len() } else { 0 })
    }

    fn fill(&self, at: u64, buffer: &mut [u8]) -> bool {
        self.read_exact_at(buffer, at).is_ok()
    }
}

impl Source for &[u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn fill(&self, at: u64, buffer: &mut [u8]) -> bool {
        let begin = usize::try_from(at).unwrap_or(usize::MAX);
        let part = begin.checked_add(buffer.len()).and_then(|end| self.get(begin..end));
        part.map(|part| buffer.copy_from_slice(part)).is_some()
    }
}

/// Which symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// All (`.symtab`), which `strip` removes.
    All = 2,
    /// Those of dynamic linking (`.dynsym`).
    Dynamic = 11,
}

/// A symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Where the function begins in the file, in bytes; none if another file has it, or if it is none.
    pub offset: Option<u64>,
}

/// What dynamic linking knows of a file.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Links {
    /// The name under which others need it (`DT_SONAME`).
    pub name: Option<String>,
    /// The libraries that it needs (`DT_NEEDED`).
    pub needs: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    size: u64,
}

/// An ELF file.
#[derive(Debug)]
pub struct Elf<S> {
    source: S,
    sections: Vec<Section>,
    segments: Vec<Segment>,
}

/// A table, and the table of names that it refers to.
struct Named {
    table: Vec<u8>,
    names: Vec<u8>,
}

/// An unsigned number of up to 8 bytes at an offset; 0 outside.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut all = [0_u8; 8];
    let part = at.checked_add(size).and_then(|end| bytes.get(at..end)).unwrap_or_default();
    if cfg!(target_endian = "little") {
        for (to, from) in all.iter_mut().zip(part) {
            *to = *from;
        }
        return u64::from_le_bytes(all);
    }
    for (to, from) in all.iter_mut().rev().zip(part.iter().rev()) {
        *to = *from;
    }
    u64::from_be_bytes(all)
}

fn short(bytes: &[u8], at: usize) -> u32 {
    number(bytes, at, 4) as u32
}

/// A name that begins at an offset of a table of names.
fn name(names: &[u8], at: u64) -> Option<&str> {
    let rest = names.get(usize::try_from(at).ok()?..)?;
    let rest = rest.get(..MAX_NAME).unwrap_or(rest);
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

impl Elf<File> {
    /// Opens a file; none if it is no such ELF file.
    ///
    /// # Errors
    /// A sentence: it cannot be read, or it is broken.
    pub fn open(path: &Path) -> Result<Option<Self>, String> {
        let shown = path.display();
        let file = File::open(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
        Elf::read(file).map_err(|why| format!("{shown}: {why}"))
    }
}

impl<S: Source> Elf<S> {
    /// Reads the headers; none if it is no ELF file of 64 bits in this byte order.
    ///
    /// # Errors
    /// What is broken.
    pub fn read(source: S) -> Result<Option<Self>, String> {
        let mut head = [0_u8; 64];
        let order = if cfg!(target_endian = "little") { 1 } else { 2 };
        if !source.fill(0, &mut head) || !head.starts_with(&[0x7f, b'E', b'L', b'F', 2, order]) {
            return Ok(None);
        }
        let mut elf = Self { source, sections: Vec::new(), segments: Vec::new() };
        let table = |at: usize, sizes: usize, least: u64| -> Result<(u64, u64, u64), String> {
            let (each, count) = (number(&head, sizes, 2), number(&head, sizes + 2, 2));
            if count > 0 && (each < least || count > MAX_HEADERS) {
                return Err(format!("a table with {count} headers of {each} bytes"));
            }
            Ok((number(&head, at, 8), each, count))
        };
        let (at, each, count) = table(32, 54, 56)?;
        for header in elf.part(at, each * count)?.chunks_exact(each.max(1) as usize) {
            elf.segments.push(Segment {
                kind: short(header, 0),
                flags: short(header, 4),
                offset: number(header, 8, 8),
                address: number(header, 16, 8),
                size: number(header, 32, 8),
            });
        }
        let (at, each, count) = table(40, 58, 64)?;
        for header in elf.part(at, each * count)?.chunks_exact(each.max(1) as usize) {
            elf.sections.push(Section {
                kind: short(header, 4),
                offset: number(header, 24, 8),
                size: number(header, 32, 8),
                link: short(header, 40),
            });
        }
        Ok(Some(elf))
    }

    /// A part of the file.
    fn part(&self, at: u64, size: u64) -> Result<Vec<u8>, String> {
        let beyond = at.checked_add(size).is_none_or(|end| end > self.source.length());
        if size > 0 && (beyond || size > MAX_TABLE) {
            return Err(format!("a table of {size} bytes at offset {at} is outside of the file or too long"));
        }
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        if size > 0 && !self.source.fill(at, &mut bytes) {
            return Err(format!("cannot read {size} bytes at offset {at}"));
        }
        Ok(bytes)
    }

    /// A section and the table of names that it refers to.
    fn with_names(&self, kind: u32) -> Result<Option<Named>, String> {
        let Some(section) = self.sections.iter().find(|section| section.kind == kind) else {
            return Ok(None);
        };
        let Some(names) = self.sections.get(section.link as usize) else {
            return Err(format!("a section of names {} that does not exist", section.link));
        };
        let (table, names) = (self.part(section.offset, section.size)?, self.part(names.offset, names.size)?);
        Ok(Some(Named { table, names }))
    }

    /// Where an address of a segment of code stands in the file.
    fn offset(&self, address: u64) -> Option<u64> {
        const LOAD: u32 = 1;
        const EXECUTABLE: u32 = 1;
        let code = |segment: &&Segment| segment.kind == LOAD && segment.flags & EXECUTABLE != 0;
        self.segments.iter().filter(code).find_map(|segment| {
            let inside = address.checked_sub(segment.address).filter(|inside| *inside < segment.size)?;
            segment.offset.checked_add(inside).filter(|offset| *offset < self.source.length())
        })
    }

    /// The symbols of a table whose names are wanted; none if the file does not have the table.
    ///
    /// # Errors
    /// What is broken.
    pub fn symbols(
        &self,
        table: Table,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Vec<Symbol>>, String> {
        const FUNCTION: u64 = 2;
        let Some(Named { table, names }) = self.with_names(table as u32)? else { return Ok(None) };
        let mut found = Vec::new();
        for symbol in table.chunks_exact(SYMBOL) {
            let Some(name) = name(&names, number(symbol, 0, 4)).filter(|name| wanted(name)) else { continue };
            let defined = number(symbol, 6, 2) != 0 && number(symbol, 4, 1) & 15 == FUNCTION;
            let offset = if defined { self.offset(number(symbol, 8, 8)) } else { None };
            found.push(Symbol { name: name.to_owned(), offset });
        }
        Ok(Some(found))
    }

    /// What dynamic linking knows of it.
    ///
    /// # Errors
    /// What is broken.
    pub fn links(&self) -> Result<Links, String> {
        const DYNAMIC: u32 = 6;
        const NEEDED: u64 = 1;
        const OWN_NAME: u64 = 14;
        let mut links = Links::default();
        let Some(Named { table, names }) = self.with_names(DYNAMIC)? else { return Ok(links) };
        for entry in table.chunks_exact(16) {
            let text = || name(&names, number(entry, 8, 8)).map(str::to_owned);
            match number(entry, 0, 8) {
                NEEDED => links.needs.extend(text()),
                OWN_NAME => links.name = text(),
                _ => {}
            }
        }
        Ok(links)
    }

    /// The program that loads it; none if it is linked statically or is a library.
    ///
    /// # Errors
    /// What is broken.
    pub fn interpreter(&self) -> Result<Option<String>, String> {
        const INTERPRETER: u32 = 3;
        let Some(segment) = self.segments.iter().find(|segment| segment.kind == INTERPRETER) else {
            return Ok(None);
        };
        Ok(name(&self.part(segment.offset, segment.size.min(4_096))?, 0).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library `libone.so.1` that needs `libtwo.so`: one segment, the symbols `work` (a function at
    /// 0x1010) and `far` (not defined).
    fn sample() -> Vec<u8> {
        let names = b"\0work\0far\0libone.so.1\0libtwo.so\0";
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, if cfg!(target_endian = "little") { 1 } else { 2 }];
        bytes.resize(64, 0);
        let put = |bytes: &mut Vec<u8>, at: usize, size: usize, value: u64| {
            let all = if cfg!(target_endian = "little") {
                value.to_le_bytes()[..size].to_vec()
            } else {
                value.to_be_bytes()[8 - size..].to_vec()
            };
            bytes.resize(bytes.len().max(at + size), 0);
            bytes[at..at + size].copy_from_slice(&all);
        };
        for (at, size, value) in [(32, 8, 64), (40, 8, 120), (54, 2, 56), (56, 2, 1), (58, 2, 64), (60, 2, 4)]
        {
            put(&mut bytes, at, size, value);
        }
        // The segment: code at 0x1000, 0x400 bytes from the beginning of the file on.
        for (at, size, value) in [(64, 4, 1), (68, 4, 5), (72, 8, 0), (80, 8, 0x1000), (96, 8, 0x400)] {
            put(&mut bytes, at, size, value);
        }
        // Sections: none, all symbols, names, dynamic.
        let sections = [(0, 0, 0, 0), (2, 400, 72, 2), (3, 480, names.len() as u64, 0), (6, 560, 48, 2)];
        for (at, (kind, offset, size, link)) in (120..).step_by(64).zip(sections) {
            put(&mut bytes, at + 4, 4, kind);
            put(&mut bytes, at + 24, 8, offset);
            put(&mut bytes, at + 32, 8, size);
            put(&mut bytes, at + 40, 4, link);
        }
        for (at, name, kind, section, value) in [(424, 1, 2, 1, 0x1010), (448, 6, 2, 0, 0)] {
            put(&mut bytes, at, 4, name);
            put(&mut bytes, at + 4, 1, kind);
            put(&mut bytes, at + 6, 2, section);
            put(&mut bytes, at + 8, 8, value);
        }
        bytes.resize(480, 0);
        bytes.extend_from_slice(names);
        for (at, tag, value) in [(560, 14, 10), (576, 1, 22), (592, 0, 0)] {
            put(&mut bytes, at, 8, tag);
            put(&mut bytes, at + 8, 8, value);
        }
        bytes.resize(0x410, 0);
        bytes
    }

    fn everything(bytes: &[u8]) {
        let Ok(Some(elf)) = Elf::read(bytes) else { return };
        let _ = elf.symbols(Table::All, &|_| true);
        let _ = elf.symbols(Table::Dynamic, &|_| true);
        let _ = elf.links();
        let _ = elf.interpreter();
    }

    #[test]
    fn symbols_and_links_are_read() {
        let bytes = sample();
        let elf = Elf::read(&bytes[..]).unwrap().unwrap();
        let symbols = elf.symbols(Table::All, &|name| !name.is_empty()).unwrap().unwrap();
        let expected = [("work", Some(0x10)), ("far", None)];
        assert_eq!(symbols, expected.map(|(name, offset)| Symbol { name: name.into(), offset }));
        assert_eq!(elf.symbols(Table::Dynamic, &|_| true), Ok(None));
        let links = Links { name: Some("libone.so.1".into()), needs: vec!["libtwo.so".into()] };
        assert_eq!(elf.links(), Ok(links));
        assert_eq!(elf.interpreter(), Ok(None));
    }

    #[test]
    fn other_files_are_no_elf_files() {
        assert!(Elf::read(&b"#!/bin/sh\n"[..]).unwrap().is_none());
        assert!(Elf::read(&[][..]).unwrap().is_none());
        let mut narrow = sample();
        narrow[4] = 1;
        assert!(Elf::read(&narrow[..]).unwrap().is_none());
    }

    #[test]
    fn broken_files_are_refused_or_read_in_part() {
        let whole = sample();
        for end in 0..whole.len() {
            everything(&whole[..end]);
        }
        for at in 4..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                everything(&bytes);
            }
        }
        // A table of symbols of 2^62 bytes takes no memory.
        let mut bytes = whole;
        bytes[120 + 64 + 32 + if cfg!(target_endian = "little") { 7 } else { 0 }] = 0x40;
        let elf = Elf::read(&bytes[..]).unwrap().unwrap();
        assert!(elf.symbols(Table::All, &|_| true).unwrap_err().contains("outside of the file"));
    }

    #[test]
    fn this_program_has_symbols_and_a_loader() {
        let elf = Elf::open(&std::env::current_exe().unwrap()).unwrap().unwrap();
        let main = elf.symbols(Table::All, &|name| name == "main").unwrap();
        assert!(main.is_none_or(|found| found.iter().any(|symbol| symbol.offset.is_some())));
        assert_eq!(elf.interpreter().unwrap().is_none(), elf.links().unwrap().needs.is_empty());
        assert!(Elf::open(Path::new("/proc/self/status")).unwrap().is_none());
        assert!(Elf::open(Path::new("/does/not/exist")).is_err());
    }
}
