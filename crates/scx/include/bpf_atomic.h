/* Atomic operations and barriers, for one thread. */
#ifndef __SCX_BPF_ATOMIC_H
#define __SCX_BPF_ATOMIC_H

#include <bpf_experimental.h>

#define __unqual_typeof(x) typeof(({ __auto_type ___plain = (x); ___plain; }))
#define cpu_relax() ((void)0)
#define smp_mb() barrier()
#define smp_rmb() barrier()
#define smp_wmb() barrier()
#define smp_acquire__after_ctrl_dep() barrier()
#define smp_load_acquire(at) READ_ONCE(*(at))
#define smp_store_release(at, value) ((void)WRITE_ONCE(*(at), (value)))
#define cmpxchg(at, old, new) __sync_val_compare_and_swap((at), (old), (new))
#define try_cmpxchg(at, old, new)						\
({										\
	typeof(*(at)) ___was = *(at), ___wanted = *(old);			\
	if (___was == ___wanted)						\
		*(at) = (new);							\
	else									\
		*(old) = ___was;						\
	___was == ___wanted;							\
})
#define try_cmpxchg_relaxed(at, old, new) try_cmpxchg(at, old, new)
#define try_cmpxchg_acquire(at, old, new) try_cmpxchg(at, old, new)
#define atomic_read(at) READ_ONCE((at)->counter)
#define smp_cond_load_relaxed_label(at, condition, label)			\
({										\
	typeof(*(at)) VAL = READ_ONCE(*(at));					\
	if (!(condition))							\
		goto label;							\
	VAL;									\
})
#define smp_cond_load_acquire_label(at, condition, label) smp_cond_load_relaxed_label(at, condition, label)

#endif /* __SCX_BPF_ATOMIC_H */
