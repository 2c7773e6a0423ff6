//! `LOAD` of Linux 6.18.
mod domains;
pub(crate) use domains::levels;
pub(crate) const NAME: &str = "linux-6.18";
use crate::registry::Setting;
use notation::parameter::Values;
pub(crate) struct Modern;
impl Modern {
    pub(crate) fn new(_: &Values, _: &Setting<'_>) -> Self {
        Self
    }
}
impl sim_core::policy::Policy for Modern {
    fn select_cpu(
        &mut self,
        _: &dyn sim_core::policy::View,
        _: sim_core::ids::TaskId,
        _: sim_core::policy::Placement,
    ) -> sim_core::ids::CpuId {
        sim_core::ids::CpuId(0)
    }
}
