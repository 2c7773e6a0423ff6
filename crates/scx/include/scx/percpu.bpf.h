/* What schedulers read from variables of the kernel that exist once for each cpu. */
#ifndef __SCX_PERCPU_BPF_H
#define __SCX_PERCPU_BPF_H

#include <scx/common.bpf.h>

/* The last-level cache of a cpu: its id is the lowest cpu that shares it, its size the number of those cpus. */
int __scx_cpu_llc(s32 cpu);
int __scx_cpu_llc_size(s32 cpu);
static inline int cpu_llc_id(s32 cpu) { return __scx_cpu_llc(cpu); }
static inline int cpu_llc_size(s32 cpu) { return __scx_cpu_llc_size(cpu); }
/* No cpu here is preferred to others by the hardware. */
static inline int cpu_priority(s32 cpu) { (void)cpu; return -ENOENT; }
static inline int this_cpu_llc_id(void) { return cpu_llc_id(bpf_get_smp_processor_id()); }
static inline int this_cpu_llc_size(void) { return cpu_llc_size(bpf_get_smp_processor_id()); }
static inline int this_cpu_priority(void) { return -ENOENT; }

#endif /* __SCX_PERCPU_BPF_H */
