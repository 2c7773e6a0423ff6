//! Calls of functions of a module by their types, and what their failures mean.

use wasmi::{AsContext, AsContextMut, Error, Func, TrapCode, TypedFunc, Val, ValType};

use super::kernel::Ended;
use super::limits::{FUEL, MEMORY};

/// Most parameters of an operation.
const MOST: usize = 4;

/// An operation: a function of the module with parameters of 32 or 64 bits.
///
/// The most frequent types have an entry of their own, which the interpreter calls without looking at the
/// types again.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// `(p)`.
    Task(TypedFunc<i64, ()>),
    /// `(p, flags)`.
    TaskLong(TypedFunc<(i64, i64), ()>),
    /// `(p, number)`.
    TaskInt(TypedFunc<(i64, i32), ()>),
    /// `(cpu, p)`.
    IntTask(TypedFunc<(i32, i64), ()>),
    /// `(cpu, number)`.
    IntInt(TypedFunc<(i32, i32), ()>),
    /// `(p, cpu, flags)`, with a result.
    Select(TypedFunc<(i64, i32, i64), i32>),
    /// Any other.
    Other(Func, Vec<ValType>, Option<ValType>),
}

impl Call {
    /// The function, if its parameters and its result are integers, at most four and one.
    pub(super) fn of(func: Func, store: impl AsContext) -> Option<Self> {
        let store = store.as_context();
        if let Ok(call) = func.typed(store) {
            return Some(Self::Task(call));
        }
        if let Ok(call) = func.typed(store) {
            return Some(Self::TaskLong(call));
        }
        if let Ok(call) = func.typed(store) {
            return Some(Self::TaskInt(call));
        }
        if let Ok(call) = func.typed(store) {
            return Some(Self::IntTask(call));
        }
        if let Ok(call) = func.typed(store) {
            return Some(Self::IntInt(call));
        }
        if let Ok(call) = func.typed(store) {
            return Some(Self::Select(call));
        }
        let of = func.ty(store);
        let integer = |of: &ValType| matches!(of, ValType::I32 | ValType::I64);
        let fits = of.params().len() <= MOST && of.results().len() <= 1;
        let fits = fits && of.params().iter().chain(of.results()).all(integer);
        fits.then(|| Self::Other(func, of.params().to_vec(), of.results().first().copied()))
    }

    /// Calls it with these arguments; parameters of 32 bits get the lower half. The result is 0 without one,
    /// and one of 32 bits has its sign.
    ///
    /// # Errors
    /// It traps, or it calls a function that ends it.
    pub(super) fn call(&self, mut store: impl AsContextMut, [a, b, c, d]: [u64; MOST]) -> Result<i64, Error> {
        let (long, int) = (u64::cast_signed, |value: u64| value as u32 as i32);
        match self {
            Self::Task(call) => call.call(store, long(a)).map(|()| 0),
            Self::TaskLong(call) => call.call(store, (long(a), long(b))).map(|()| 0),
            Self::TaskInt(call) => call.call(store, (long(a), int(b))).map(|()| 0),
            Self::IntTask(call) => call.call(store, (int(a), long(b))).map(|()| 0),
            Self::IntInt(call) => call.call(store, (int(a), int(b))).map(|()| 0),
            Self::Select(call) => call.call(store, (long(a), int(b), long(c))).map(i64::from),
            Self::Other(func, of, result) => {
                let mut inputs = [const { Val::I64(0) }; MOST];
                for ((input, of), value) in inputs.iter_mut().zip(of).zip([a, b, c, d]) {
                    *input = if *of == ValType::I32 { Val::I32(int(value)) } else { Val::I64(long(value)) };
                }
                let mut outputs = [Val::I64(0)];
                let inputs = inputs.get(..of.len()).unwrap_or(&[]);
                let outputs = outputs.get_mut(..usize::from(result.is_some())).unwrap_or(&mut []);
                func.call(&mut store, inputs, outputs)?;
                Ok(match outputs {
                    [Val::I32(value)] => i64::from(*value),
                    [Val::I64(value)] => *value,
                    _ => 0,
                })
            }
        }
    }
}

/// Why a call has failed: a half-sentence. None: the run ends anyway.
pub(super) fn reason(error: &Error) -> Option<String> {
    if error.downcast_ref::<Ended>().is_some() {
        return None;
    }
    let mib = MEMORY >> 20;
    Some(match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => {
            format!(
                "it does not end: it has executed {FUEL} instructions, the most that one operation may take"
            )
        }
        Some(TrapCode::MemoryOutOfBounds) => "it accesses memory that it does not have".to_owned(),
        Some(TrapCode::StackOverflow) => "its calls are nested too deeply".to_owned(),
        Some(TrapCode::IntegerDivisionByZero) => "it divides by zero".to_owned(),
        Some(TrapCode::UnreachableCodeReached) => {
            "it reaches a point that it declares unreachable".to_owned()
        }
        Some(TrapCode::IndirectCallToNull | TrapCode::TableOutOfBounds | TrapCode::BadSignature) => {
            "it calls an address at which there is no function of this type".to_owned()
        }
        Some(TrapCode::GrowthOperationLimited) => format!("it needs more than {mib} MiB of memory"),
        _ => notation::neutral::line(&error.to_string()).into_owned(),
    })
}
