//! The functions that a module imports: those of the kernel.

use std::ops::Range;

use sim_core::ids::CpuId;
use sim_core::machine::Level;
use wasmi::{Caller, Error, Func, Store};

use crate::ext::Kernel;
use crate::ext::abi::errno;

use super::kernel::with;
use super::memory::Bytes;
use super::tasks::{Data, parts, wild};

/// The only module that functions are imported from.
pub(super) const MODULE: &str = "scx";

/// Longest text that a module hands over, bytes.
const TEXT: u64 = 4_096;

/// Most timers of a scheduler, and most iterations that go on at once.
const MOST: usize = 1 << 16;

/// Does something with the kernel, the memory and what the host keeps.
fn at<R>(
    caller: &mut Caller<'_, Data>,
    name: &str,
    work: impl FnOnce(&mut Kernel<'_>, &mut Bytes<'_>, &mut Data) -> Result<R, Error>,
) -> Result<R, Error> {
    let (mut bytes, data) = parts(caller)?;
    with(name, |kernel| work(kernel, &mut bytes, data))?
}

/// A function that a module can import, and how it is put into a store.
pub(super) type Import = (&'static str, fn(&mut Store<Data>) -> Func);

/// Declares functions: parameters behind the kernel, the memory and what the host keeps.
macro_rules! functions {
    ($all:ident: $($name:ident($($parameter:ident: $type:ty),*) -> $result:ty:
        |$kernel:ident, $bytes:ident, $data:ident, $function:ident| $body:expr;)*) => {$(
        $all.push((stringify!($name), |store| {
            type Out = Result<$result, Error>;
            Func::wrap(store, |mut caller: Caller<'_, Data>, $($parameter: $type),*| -> Out {
                let $function = stringify!($name);
                at(&mut caller, $function, |$kernel, $bytes, $data| {
                    let _ = (&$kernel, &$bytes, &$data);
                    Ok($body)
                })
            })
        }));
    )*};
}

/// All functions that a module can import.
pub(super) fn all() -> Vec<Import> {
    let mut all = Vec::new();
    queues(&mut all);
    iterations(&mut all);
    cpus(&mut all);
    masks(&mut all);
    tasks(&mut all);
    rest(&mut all);
    all
}

/// Dispatch queues.
fn queues(all: &mut Vec<Import>) {
    functions! { all:
        scx_bpf_create_dsq(dsq: i64, node: i32) -> i32: |kernel, bytes, data, function| {
            kernel.create_dsq(dsq.cast_unsigned(), node)
        };
        scx_bpf_destroy_dsq(dsq: i64) -> (): |kernel, bytes, data, function| {
            kernel.destroy_dsq(dsq.cast_unsigned());
        };
        scx_bpf_dsq_insert(p: i64, dsq: i64, slice: i64, flags: i64) -> i32: |kernel, bytes, data, function| {
            let task = data.task(bytes, p, function)?;
            data.take_slice(bytes, kernel, task);
            let (dsq, slice) = (dsq.cast_unsigned(), slice.cast_unsigned());
            kernel.dsq_insert(task, dsq, slice, flags.cast_unsigned());
            data.write_slice(bytes, kernel, task);
            1
        };
        scx_bpf_dsq_insert_vtime(p: i64, dsq: i64, slice: i64, vtime: i64, flags: i64) -> i32:
        |kernel, bytes, data, function| {
            let task = data.task(bytes, p, function)?;
            data.take_slice(bytes, kernel, task);
            let (dsq, slice, vtime) = (dsq.cast_unsigned(), slice.cast_unsigned(), vtime.cast_unsigned());
            kernel.dsq_insert_vtime(task, dsq, slice, vtime, flags.cast_unsigned());
            data.write_slice(bytes, kernel, task);
            1
        };
        scx_bpf_dispatch_nr_slots() -> i32: |kernel, bytes, data, function| {
            kernel.dispatch_nr_slots().cast_signed()
        };
        scx_bpf_dispatch_cancel() -> (): |kernel, bytes, data, function| {
            kernel.dispatch_cancel();
        };
        scx_bpf_dsq_move_to_local(dsq: i64, _flags: i64) -> i32: |kernel, bytes, data, function| {
            i32::from(kernel.dsq_move_to_local(dsq.cast_unsigned()))
        };
        scx_bpf_dsq_nr_queued(dsq: i64) -> i32: |kernel, bytes, data, function| {
            kernel.dsq_nr_queued(dsq.cast_unsigned())
        };
        scx_bpf_dsq_peek(dsq: i64) -> i64: |kernel, bytes, data, function| {
            let task = kernel.dsq_peek(dsq.cast_unsigned());
            task.map_or(0, |task| data.show(bytes, kernel, task)).cast_signed()
        };
        scx_bpf_reenqueue_local() -> i32: |kernel, bytes, data, function| {
            kernel.reenqueue_local().cast_signed()
        };
        scx_bpf_dsq_reenq(_dsq: i64, _flags: i64) -> (): |kernel, bytes, data, function| {
            kernel.abort("scx_bpf_dsq_reenq() came after Linux 6.18");
        };
    }
}

/// The place of an iteration, whose number a module keeps in its `struct bpf_iter_scx_dsq`.
fn iteration(bytes: &Bytes<'_>, it: i64, function: &str) -> Result<usize, Error> {
    let number = bytes.u64(it.cast_unsigned()).and_then(|number| number.checked_sub(1));
    let number = number.and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| wild("an iteration", it.cast_unsigned(), function))
}

/// Iterations over the tasks of dispatch queues.
fn iterations(all: &mut Vec<Import>) {
    functions! { all:
        bpf_iter_scx_dsq_new(it: i64, dsq: i64, flags: i64) -> i32: |kernel, bytes, data, function| {
            let (made, result) = match kernel.dsq_iter_new(dsq.cast_unsigned(), flags.cast_unsigned()) {
                Ok(made) => (Some(made), 0),
                Err(error) => (None, error),
            };
            if data.iterations.len() >= MOST {
                return Err(Error::new(format!("it has more than {MOST} iterations at once")));
            }
            data.iterations.push(made);
            let number = data.iterations.len() as u64;
            let put = bytes.put_u64(it.cast_unsigned(), number);
            put.ok_or_else(|| wild("an iteration", it.cast_unsigned(), function))?;
            result
        };
        bpf_iter_scx_dsq_next(it: i64) -> i64: |kernel, bytes, data, function| {
            let at = iteration(bytes, it, function)?;
            let found = data.iterations.get_mut(at).and_then(Option::as_mut);
            let task = found.and_then(|found| kernel.dsq_iter_next(found));
            task.map_or(0, |task| data.show(bytes, kernel, task)).cast_signed()
        };
        bpf_iter_scx_dsq_destroy(it: i64) -> (): |kernel, bytes, data, function| {
            let at = iteration(bytes, it, function)?;
            if let Some(found) = data.iterations.get_mut(at) {
                *found = None;
            }
            while data.iterations.pop_if(|last| last.is_none()).is_some() {}
        };
        scx_bpf_dsq_move_set_slice(it: i64, slice: i64) -> (): |kernel, bytes, data, function| {
            let at = iteration(bytes, it, function)?;
            if let Some(Some(found)) = data.iterations.get_mut(at) {
                found.set_slice(slice.cast_unsigned());
            }
        };
        scx_bpf_dsq_move_set_vtime(it: i64, vtime: i64) -> (): |kernel, bytes, data, function| {
            let at = iteration(bytes, it, function)?;
            if let Some(Some(found)) = data.iterations.get_mut(at) {
                found.set_vtime(vtime.cast_unsigned());
            }
        };
        scx_bpf_dsq_move(it: i64, p: i64, dsq: i64, flags: i64) -> i32: |kernel, bytes, data, function| {
            moved(kernel, bytes, data, (it, p, function), |kernel, found, task| {
                kernel.dsq_move(found, task, dsq.cast_unsigned(), flags.cast_unsigned())
            })?
        };
        scx_bpf_dsq_move_vtime(it: i64, p: i64, dsq: i64, flags: i64) -> i32:
        |kernel, bytes, data, function| {
            moved(kernel, bytes, data, (it, p, function), |kernel, found, task| {
                kernel.dsq_move_vtime(found, task, dsq.cast_unsigned(), flags.cast_unsigned())
            })?
        };
    }
}

/// Moves a task that an iteration has found.
fn moved(
    kernel: &mut Kernel<'_>,
    bytes: &mut Bytes<'_>,
    data: &mut Data,
    (it, p, function): (i64, i64, &str),
    work: impl FnOnce(&mut Kernel<'_>, &mut crate::ext::DsqIter, sim_core::ids::TaskId) -> bool,
) -> Result<i32, Error> {
    let task = data.task(bytes, p, function)?;
    data.take_slice(bytes, kernel, task);
    let at = iteration(bytes, it, function)?;
    let Some(Some(found)) = data.iterations.get_mut(at) else { return Ok(0) };
    let moved = work(kernel, found, task);
    data.write_slice(bytes, kernel, task);
    Ok(i32::from(moved))
}

/// The cpus that share the last-level cache of a cpu; none for a cpu that does not exist.
fn cache(kernel: &Kernel<'_>, cpu: i32) -> Option<Range<u32>> {
    let cpu = u32::try_from(cpu).ok().filter(|cpu| *cpu < kernel.nr_cpu_ids()).map(CpuId)?;
    let topology = &kernel.view().machine().topology;
    Some(topology.members(Level::Cache, topology.group(Level::Cache, cpu)))
}

/// Cpus.
fn cpus(all: &mut Vec<Import>) {
    functions! { all:
        scx_bpf_kick_cpu(cpu: i32, flags: i64) -> (): |kernel, bytes, data, function| {
            kernel.kick_cpu(cpu, flags.cast_unsigned());
        };
        scx_bpf_select_cpu_dfl(p: i64, prev: i32, flags: i64, is_idle: i64) -> i32:
        |kernel, bytes, data, function| {
            let task = data.task(bytes, p, function)?;
            let (cpu, idle) = kernel.select_cpu_dfl(task, prev, flags.cast_unsigned());
            let put = bytes.put(is_idle.cast_unsigned(), 1, u64::from(idle));
            put.ok_or_else(|| wild("a bool", is_idle.cast_unsigned(), function))?;
            data.renew_masks(bytes, kernel);
            cpu
        };
        scx_bpf_select_cpu_and(p: i64, prev: i32, wake_flags: i64, mask: i64, flags: i64) -> i32:
        |kernel, bytes, data, function| {
            let task = data.task(bytes, p, function)?;
            let mask = Data::mask(bytes, mask, kernel.nr_cpu_ids(), function)?;
            let (wake_flags, flags) = (wake_flags.cast_unsigned(), flags.cast_unsigned());
            let cpu = kernel.select_cpu_and(task, prev, wake_flags, &mask, flags);
            data.renew_masks(bytes, kernel);
            cpu
        };
        scx_bpf_nr_node_ids() -> i32: |kernel, bytes, data, function| {
            kernel.nr_node_ids().cast_signed()
        };
        scx_bpf_cpu_node(cpu: i32) -> i32: |kernel, bytes, data, function| {
            kernel.cpu_node(cpu)
        };
        scx_cpu_llc(cpu: i32) -> i32: |kernel, bytes, data, function| {
            cache(kernel, cpu).map_or(-errno::ENOENT, |cpus| cpus.start.cast_signed())
        };
        scx_cpu_llc_size(cpu: i32) -> i32: |kernel, bytes, data, function| {
            cache(kernel, cpu).map_or(0, |cpus| cpus.len() as i32)
        };
        scx_bpf_cpu_curr(cpu: i32) -> i64: |kernel, bytes, data, function| {
            let task = kernel.cpu_curr(cpu);
            task.map_or(0, |task| data.show(bytes, kernel, task)).cast_signed()
        };
        scx_bpf_cpuperf_cap(cpu: i32) -> i32: |kernel, bytes, data, function| {
            kernel.cpuperf_cap(cpu).cast_signed()
        };
        scx_bpf_cpuperf_cur(cpu: i32) -> i32: |kernel, bytes, data, function| {
            kernel.cpuperf_cur(cpu).cast_signed()
        };
        scx_bpf_cpuperf_set(cpu: i32, perf: i32) -> (): |kernel, bytes, data, function| {
            kernel.cpuperf_set(cpu, perf.cast_unsigned());
        };
    }
}

/// Idle cpus and masks.
fn masks(all: &mut Vec<Import>) {
    functions! { all:
        scx_bpf_test_and_clear_cpu_idle(cpu: i32) -> i32: |kernel, bytes, data, function| {
            let claimed = kernel.test_and_clear_cpu_idle(cpu);
            data.renew_masks(bytes, kernel);
            i32::from(claimed)
        };
        scx_bpf_pick_idle_cpu(mask: i64, flags: i64) -> i32: |kernel, bytes, data, function| {
            let mask = Data::mask(bytes, mask, kernel.nr_cpu_ids(), function)?;
            let cpu = kernel.pick_idle_cpu(&mask, flags.cast_unsigned());
            data.renew_masks(bytes, kernel);
            cpu
        };
        scx_bpf_pick_idle_cpu_node(mask: i64, node: i32, flags: i64) -> i32: |kernel, bytes, data, function| {
            let mask = Data::mask(bytes, mask, kernel.nr_cpu_ids(), function)?;
            let cpu = kernel.pick_idle_cpu_node(&mask, node, flags.cast_unsigned());
            data.renew_masks(bytes, kernel);
            cpu
        };
        scx_bpf_pick_any_cpu(mask: i64, flags: i64) -> i32: |kernel, bytes, data, function| {
            let mask = Data::mask(bytes, mask, kernel.nr_cpu_ids(), function)?;
            let cpu = kernel.pick_any_cpu(&mask, flags.cast_unsigned());
            data.renew_masks(bytes, kernel);
            cpu
        };
        scx_bpf_pick_any_cpu_node(mask: i64, node: i32, flags: i64) -> i32: |kernel, bytes, data, function| {
            let mask = Data::mask(bytes, mask, kernel.nr_cpu_ids(), function)?;
            let cpu = kernel.pick_any_cpu_node(&mask, node, flags.cast_unsigned());
            data.renew_masks(bytes, kernel);
            cpu
        };
        scx_bpf_get_idle_cpumask() -> i64: |kernel, bytes, data, function| {
            data.write_masks(bytes, kernel, None).0.cast_signed()
        };
        scx_bpf_get_idle_smtmask() -> i64: |kernel, bytes, data, function| {
            data.write_masks(bytes, kernel, None).1.cast_signed()
        };
        scx_bpf_get_idle_cpumask_node(node: i32) -> i64: |kernel, bytes, data, function| {
            data.write_masks(bytes, kernel, Some(node)).0.cast_signed()
        };
        scx_bpf_get_idle_smtmask_node(node: i32) -> i64: |kernel, bytes, data, function| {
            data.write_masks(bytes, kernel, Some(node)).1.cast_signed()
        };
        scx_bpf_get_possible_cpumask() -> i64: |kernel, bytes, data, function| {
            data.masks.possible.cast_signed()
        };
        scx_bpf_get_online_cpumask() -> i64: |kernel, bytes, data, function| {
            data.masks.possible.cast_signed()
        };
    }
}

/// Tasks.
fn tasks(all: &mut Vec<Import>) {
    functions! { all:
        scx_bpf_task_running(p: i64) -> i32: |kernel, bytes, data, function| {
            i32::from(kernel.task_running(data.task(bytes, p, function)?))
        };
        scx_bpf_task_cpu(p: i64) -> i32: |kernel, bytes, data, function| {
            kernel.task_cpu(data.task(bytes, p, function)?)
        };
        scx_bpf_task_set_slice(p: i64, slice: i64) -> i32: |kernel, bytes, data, function| {
            let task = data.task(bytes, p, function)?;
            data.take_slice(bytes, kernel, task);
            kernel.set_slice(task, slice.cast_unsigned());
            data.write_slice(bytes, kernel, task);
            1
        };
        scx_bpf_task_set_dsq_vtime(p: i64, vtime: i64) -> i32: |kernel, bytes, data, function| {
            let task = data.task(bytes, p, function)?;
            data.take_slice(bytes, kernel, task);
            kernel.set_vtime(task, vtime.cast_unsigned());
            data.write_slice(bytes, kernel, task);
            1
        };
    }
}

/// The text of a call that ends the run.
fn text(bytes: &Bytes<'_>, address: i64, length: i32, function: &str) -> Result<String, Error> {
    let (address, length) = (address.cast_unsigned(), u64::from(length.cast_unsigned()).min(TEXT));
    bytes.text(address, length).ok_or_else(|| wild("a text", address, function))
}

/// Ends, timers and numbers.
fn rest(all: &mut Vec<Import>) {
    functions! { all:
        bpf_get_prandom_u32() -> i32: |kernel, bytes, data, function| {
            kernel.prandom_u32().cast_signed()
        };
        scx_bpf_events(events: i64, size: i64) -> (): |kernel, bytes, data, function| {
            // Linux clears what it has no counter for.
            let size = size.cast_unsigned().min(data.at.event_size);
            let room = bytes.slice_mut(events.cast_unsigned(), size);
            room.ok_or_else(|| wild("counters", events.cast_unsigned(), function))?.fill(0);
        };
        scx_error(message: i64, length: i32) -> (): |kernel, bytes, data, function| {
            let message = text(bytes, message, length, function)?;
            kernel.error(&message);
        };
        scx_exit(code: i64, message: i64, length: i32) -> (): |kernel, bytes, data, function| {
            let message = text(bytes, message, length, function)?;
            kernel.exit(code, &message);
        };
        scx_dump(_text: i64, _length: i32) -> (): |kernel, bytes, data, function| {};
        scx_print(_text: i64, _length: i32) -> (): |kernel, bytes, data, function| {};
        scx_timer_start(timer: i64, delay: i64, flags: i64) -> i32: |kernel, bytes, data, function| {
            let (timer, mut delay) = (timer.cast_unsigned(), delay.cast_unsigned());
            if flags & 1 != 0 {
                delay = delay.saturating_sub(kernel.now());
            }
            let next = data.timer_addresses.len() as u64;
            let number = *data.timers.entry(timer).or_insert(next);
            if number == next {
                if data.timer_addresses.len() >= MOST {
                    return Err(Error::new(format!("it has more than {MOST} timers")));
                }
                data.timer_addresses.push(timer);
            }
            kernel.timer_start(number, delay);
            0
        };
        scx_timer_cancel(timer: i64) -> i32: |kernel, bytes, data, function| {
            let number = data.timers.get(&timer.cast_unsigned()).copied();
            i32::from(number.is_some_and(|number| kernel.timer_cancel(number)))
        };
    }
}
