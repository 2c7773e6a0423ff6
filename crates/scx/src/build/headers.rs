//! The headers and the runtime, carried in the program and written out for a build.

use std::fs;
use std::io;
use std::path::Path;

/// Names below the folder `include`, and their texts.
macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../include/", $name)))),*]
    };
}

/// All of them.
const TEXTS: &[(&str, &str)] = texts![
    "asm-generic/errno-base.h",
    "asm-generic/errno.h",
    "asm/errno.h",
    "bpf/bpf_core_read.h",
    "bpf/bpf_endian.h",
    "bpf/bpf_helpers.h",
    "bpf/bpf_tracing.h",
    "bpf_arena_common.bpf.h",
    "bpf_arena_common.h",
    "bpf_arena_spin_lock.h",
    "bpf_atomic.h",
    "bpf_experimental.h",
    "errno.h",
    "linux/errno.h",
    "linux/types.h",
    "runtime/heap.c",
    "runtime/host.h",
    "runtime/kernel.c",
    "runtime/maps.c",
    "runtime/masks.c",
    "runtime/objects.c",
    "runtime/runtime.c",
    "runtime/runtime.h",
    "runtime/text.c",
    "scx/abi.h",
    "scx/arena_userspace_interrop.bpf.h",
    "scx/bpf_arena_common.bpf.h",
    "scx/bpf_arena_common.h",
    "scx/common.bpf.h",
    "scx/compat.bpf.h",
    "scx/enums.bpf.h",
    "scx/namespace.bpf.h",
    "scx/namespace_impl.bpf.h",
    "scx/percpu.bpf.h",
    "scx/user_exit_info.bpf.h",
    "scx/user_exit_info.h",
    "string.h",
    "vmlinux.h",
    "vmlinux_sched.h",
];

/// Writes them below `folder`. What a compiler says of them is no news to the author of a scheduler: all are
/// system headers to it.
///
/// # Errors
///
/// Those of the file system.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    for (name, text) in TEXTS {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, format!("#pragma clang system_header\n{text}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::TEXTS;

    /// Files below a folder, as names relative to it.
    fn below(folder: &Path, prefix: &str, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                below(&entry.path(), &format!("{name}/"), names);
            } else {
                names.insert(name);
            }
        }
    }

    #[test]
    fn every_file_of_the_include_folder_is_carried() {
        let mut names = BTreeSet::new();
        below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("include"), "", &mut names);
        let carried: BTreeSet<String> = TEXTS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(names, carried);
    }
}
