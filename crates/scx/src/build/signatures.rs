//! The parameters and results of the operations of `struct sched_ext_ops`, as WebAssembly has them.

use wasmparser::ValType;

use super::module::Signature;

const I32: ValType = ValType::I32;
const I64: ValType = ValType::I64;

/// Each operation that oversim calls: its parameters (pointers and u64 are i64, cpus and flags of one bit
/// i32) and its result.
pub(super) const OPERATIONS: &[(&str, &[ValType], Option<ValType>)] = &[
    ("select_cpu", &[I64, I32, I64], Some(I32)),
    ("enqueue", &[I64, I64], None),
    ("dequeue", &[I64, I64], None),
    ("dispatch", &[I32, I64], None),
    ("tick", &[I64], None),
    ("runnable", &[I64, I64], None),
    ("running", &[I64], None),
    ("stopping", &[I64, I32], None),
    ("quiescent", &[I64, I64], None),
    ("yield", &[I64, I64], Some(I32)),
    ("core_sched_before", &[I64, I64], Some(I32)),
    ("set_weight", &[I64, I32], None),
    ("set_cpumask", &[I64, I64], None),
    ("update_idle", &[I32, I32], None),
    ("cpu_acquire", &[I32, I64], None),
    ("cpu_release", &[I32, I64], None),
    ("init_task", &[I64, I64], Some(I32)),
    ("exit_task", &[I64, I64], None),
    ("enable", &[I64], None),
    ("disable", &[I64], None),
    ("dump", &[I64], None),
    ("dump_cpu", &[I64, I32, I32], None),
    ("dump_task", &[I64, I64], None),
    ("cgroup_init", &[I64, I64], Some(I32)),
    ("cgroup_exit", &[I64], None),
    ("cgroup_prep_move", &[I64, I64, I64], Some(I32)),
    ("cgroup_move", &[I64, I64, I64], None),
    ("cgroup_cancel_move", &[I64, I64, I64], None),
    ("cgroup_set_weight", &[I64, I32], None),
    ("cgroup_set_bandwidth", &[I64, I64, I64, I64], None),
    ("cgroup_set_idle", &[I64, I32], None),
    ("cpu_online", &[I32], None),
    ("cpu_offline", &[I32], None),
    ("init", &[], Some(I32)),
    ("exit", &[I64], None),
    ("sub_attach", &[I64], Some(I32)),
    ("sub_detach", &[I64], None),
];

/// Whether a function can serve as an operation: it may take fewer parameters, and integers of another width.
///
/// # Errors
///
/// What does not fit, as the end of a sentence.
pub(super) fn fits(
    function: &Signature,
    parameters: &[ValType],
    result: Option<ValType>,
) -> Result<(), String> {
    let taken = function.parameters.len();
    let integers = |types: &[ValType]| types.iter().all(|kind| matches!(*kind, I32 | I64));
    if taken > parameters.len() {
        return Err(format!("it takes {taken} parameters, the operation has {}", parameters.len()));
    }
    if !integers(&function.parameters) || !integers(&function.results) {
        return Err("its parameters and its result have to be integers or pointers".to_owned());
    }
    if result.is_some() && function.results.is_empty() {
        return Err("it returns nothing, the operation returns a number".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use wasmparser::ValType;

    use super::{I32, I64, Signature, fits};

    #[test]
    fn an_operation_may_take_less_and_not_more() {
        let function = |parameters: &[ValType], results: &[ValType]| Signature {
            parameters: parameters.to_vec(),
            results: results.to_vec(),
        };
        assert_eq!(fits(&function(&[I64], &[]), &[I64, I64], None), Ok(()));
        assert_eq!(fits(&function(&[I64, I64, I64], &[I64]), &[I64, I32, I64], Some(I32)), Ok(()));
        assert!(
            fits(&function(&[I64, I64], &[]), &[I64], None).is_err_and(|why| why.contains("2 parameters"))
        );
        assert!(fits(&function(&[], &[]), &[], Some(I32)).is_err_and(|why| why.contains("returns nothing")));
        assert!(fits(&function(&[ValType::F64], &[]), &[I64], None).is_err());
    }
}
