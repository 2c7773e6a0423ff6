//! What scenarios have that name no kernel and no runtime.

pub use kernels::DEFAULT_KERNEL;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_that_of_the_machine_or_the_default_that_the_texts_name() {
        assert_eq!(default_kernel(Some("linux-2.6.27")), "linux-2.6.27");
        for none in [None, Some("linux-0.01")] {
            assert_eq!(default_kernel(none), DEFAULT_KERNEL);
        }
        assert!(kernels::KERNELS.find(DEFAULT_KERNEL).is_some());
        let key = crate::keys::SCENARIO.iter().find(|key| key.name == "kernel").unwrap();
        assert!(key.about().contains(DEFAULT_KERNEL) && key.more.contains(DEFAULT_KERNEL), "{}", key.about());
    }
}
