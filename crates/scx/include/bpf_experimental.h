/* Newer kfuncs of BPF; those that schedulers use are in <scx/common.bpf.h>. */
#ifndef __SCX_BPF_EXPERIMENTAL_H
#define __SCX_BPF_EXPERIMENTAL_H

#include <scx/common.bpf.h>

#define bpf_cmp_likely(a, operator, b) likely((a) operator (b))
#define bpf_cmp_unlikely(a, operator, b) unlikely((a) operator (b))
#define bpf_nop_mov(variable) barrier_var(variable)
#define bpf_addr_space_cast(variable, to, from) ((void)0)
#define bpf_guard_preempt() do { } while (0)
#define bpf_assert(condition) do { if (!(condition)) __builtin_trap(); } while (0)
#define bpf_assert_with(condition, value) bpf_assert(condition)

#endif /* __SCX_BPF_EXPERIMENTAL_H */
