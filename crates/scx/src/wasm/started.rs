//! A module that has been started: its memory, its table and the functions that every policy file gives.

use std::sync::Arc;

use wasmi::{
    Engine, Error, Extern, Func, Instance, Memory, Module, Ref, Store, StoreLimitsBuilder, Table, TypedFunc,
    WasmParams, WasmResults,
};

use crate::policy_file::Layout;

use super::at::At;
use super::call::{Call, reason};
use super::imports::Import;
use super::limits::{FUEL, MEMORY};
use super::memory::Bytes;
use super::tasks::Data;

/// A module with its memory.
pub(super) struct Started {
    pub(super) store: Store<Data>,
    pub(super) memory: Memory,
    instance: Instance,
    table: Table,
}

impl Started {
    /// Starts a module; nothing of it is executed.
    ///
    /// # Errors
    /// A half-sentence: it needs too much memory.
    pub(super) fn new(
        (engine, module): (&Engine, &Module),
        imports: &[Import],
        at: &Arc<At>,
    ) -> Result<Self, String> {
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY).trap_on_grow_failure(true).build();
        let mut store = Store::new(engine, Data::new(Arc::clone(at), limits));
        store.limiter(|data| &mut data.limits);
        let imports: Vec<Extern> = imports.iter().map(|(_, put)| (put)(&mut store).into()).collect();
        let instance = Instance::new(&mut store, module, &imports).map_err(|error| why(&error))?;
        let memory = instance.get_memory(&store, "memory");
        let table = instance.get_table(&store, "__indirect_function_table");
        let (Some(memory), Some(table)) = (memory, table) else {
            return Err("it has no memory or no table".to_owned());
        };
        store.data_mut().memory = Some(memory);
        Ok(Self { store, memory, instance, table })
    }

    /// One of the functions that every policy file gives.
    pub(super) fn function<P: WasmParams, R: WasmResults>(
        &self,
        name: &str,
    ) -> Result<TypedFunc<P, R>, String> {
        let found = self.instance.get_typed_func(&self.store, name);
        found.map_err(|error| format!("`{name}`: {error}"))
    }

    /// Calls one of them outside of operations.
    pub(super) fn once<P: WasmParams, R: WasmResults>(&mut self, name: &str, with: P) -> Result<R, String> {
        let function = self.function::<P, R>(name)?;
        self.refuel();
        function.call(&mut self.store, with).map_err(|error| format!("`{name}`: {}", why(&error)))
    }

    /// The next operation may execute as much as any.
    pub(super) fn refuel(&mut self) {
        // Only a store whose engine counts no fuel refuses it.
        let _ = self.store.set_fuel(FUEL);
    }

    /// The memory.
    pub(super) fn bytes(&mut self) -> Bytes<'_> {
        Bytes(self.memory.data_mut(&mut self.store))
    }

    /// The memory and what the host keeps.
    pub(super) fn parts(&mut self) -> (Bytes<'_>, &mut Data) {
        let (bytes, data) = self.memory.data_and_store_mut(&mut self.store);
        (Bytes(bytes), data)
    }

    /// The function to which a pointer in the memory points.
    pub(super) fn pointed(&self, pointer: u64) -> Option<Call> {
        // The upper half of a pointer to a function is 0 for every index of a table.
        let found = self.table.get(&self.store, pointer & u64::from(u32::MAX));
        let func: Option<Func> = match found {
            Some(Ref::Func(func)) => func.into(),
            _ => None,
        };
        Call::of(func?, &self.store)
    }

    /// The sizes and offsets of its structures.
    pub(super) fn layout(&mut self) -> Result<Layout, String> {
        let address = self.once::<(), i64>("scx_layout", ())?.cast_unsigned();
        let bytes = self.bytes();
        let number = |at: u64| address.checked_add(4 * at).and_then(|at| bytes.u32(at));
        let out = || "its layout is not in its memory".to_owned();
        // The version and the number of entries come first.
        let count = number(1).ok_or_else(out)?.min(Layout::length() as u32);
        let array: Option<Vec<u32>> = (0..u64::from(count.max(2))).map(number).collect();
        Layout::read(&array.ok_or_else(out)?)
    }
}

/// Why something has failed.
fn why(error: &Error) -> String {
    reason(error).unwrap_or_else(|| "the run has ended".to_owned())
}
