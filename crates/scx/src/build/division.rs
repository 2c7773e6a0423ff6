//! Division by zero as BPF has it: a quotient is 0, and a remainder is the dividend. WebAssembly would end
//! the program, so that divisions whose divisor is not a constant become calls of functions of the runtime.

use wasmparser::{BinaryReaderError, Operator, Parser, Payload};

use super::module::{Module, leb};

/// Begins the names of the functions of the runtime; what follows is the name of the operator.
const PREFIX: &str = "__scx_";

/// The name that the function of an operator has behind the prefix.
fn function(operator: &Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::I32DivS => "i32_div_s",
        Operator::I32DivU => "i32_div_u",
        Operator::I32RemS => "i32_rem_s",
        Operator::I32RemU => "i32_rem_u",
        Operator::I64DivS => "i64_div_s",
        Operator::I64DivU => "i64_div_u",
        Operator::I64RemS => "i64_rem_s",
        Operator::I64RemU => "i64_rem_u",
        _ => return None,
    })
}

/// The same module with calls for its divisions, where it has the functions of the runtime for them.
///
/// # Errors
///
/// Those of a module that cannot be read.
pub(super) fn guarded(module: &Module, bytes: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut section: Option<(usize, usize, Vec<u8>)> = None;
    let mut index = u32::try_from(module.imports.len()).unwrap_or(u32::MAX);
    let mut before = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        let end = payload.as_section().map(|(_, range)| range.end);
        match payload {
            Payload::Version { range, .. } => before = range.end,
            Payload::CodeSectionStart { count, range, .. } => {
                let mut contents = Vec::new();
                leb(count as usize, &mut contents);
                section = Some((before, range.end, contents));
            }
            Payload::CodeSectionEntry(body) => {
                let own = module.name(index).starts_with(PREFIX);
                let range = body.range();
                let mut code = Vec::new();
                let (mut from, mut constant) = (range.start, false);
                for found in body.get_operators_reader()?.into_iter_with_offsets() {
                    let (operator, offset) = found?;
                    let called = function(&operator).filter(|_| !own && !constant);
                    if let Some(called) = called.and_then(|name| module.index_of(&format!("{PREFIX}{name}")))
                    {
                        code.extend_from_slice(bytes.get(from..offset).unwrap_or_default());
                        code.push(CALL);
                        leb(called as usize, &mut code);
                        // Operators of division have one byte.
                        from = offset.saturating_add(1);
                    }
                    constant = matches!(operator, Operator::I32Const { value } if value != 0 && value != -1)
                        || matches!(operator, Operator::I64Const { value } if value != 0 && value != -1);
                }
                code.extend_from_slice(bytes.get(from..range.end).unwrap_or_default());
                index = index.saturating_add(1);
                if let Some((_, _, contents)) = &mut section {
                    leb(code.len(), contents);
                    contents.extend_from_slice(&code);
                }
            }
            _ => {}
        }
        before = end.unwrap_or(before);
    }
    if let Some((start, end, contents)) = section {
        out.extend_from_slice(bytes.get(..start).unwrap_or_default());
        out.push(CODE_SECTION);
        leb(contents.len(), &mut out);
        out.extend_from_slice(&contents);
        copied = end;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    Ok(out)
}

/// The number of the section with the code of functions, and the operator that calls one.
const CODE_SECTION: u8 = 10;
const CALL: u8 = 0x10;
