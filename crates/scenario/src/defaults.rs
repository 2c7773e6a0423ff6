//! What scenarios have that name no kernel and no runtime.

/// The kernel of scenarios that name none, on machines that name none either.
pub const DEFAULT_KERNEL: &str = "linux-2.6.28";
/// The name of the kernel until the machine is known.
pub(crate) const MACHINE_KERNEL: &str = "default";
/// The runtime of applications that name none.
pub(crate) const DEFAULT_RUNTIME: &str = "upc";

/// The kernel of a scenario that names none, on a machine whose own kernel is `own`: that one if it is
/// built in.
#[must_use]
pub fn default_kernel(own: Option<&str>) -> &'static str {
    kernels::KERNELS.names().find(|name| Some(*name) == own).unwrap_or(DEFAULT_KERNEL)
}
