/* Spin locks in arenas: a scheduler here runs alone, so that they are always free. */
#ifndef __SCX_BPF_ARENA_SPIN_LOCK_H
#define __SCX_BPF_ARENA_SPIN_LOCK_H

#include <bpf_arena_common.bpf.h>
#include <bpf_atomic.h>

struct __qspinlock { u32 val; };
#define arena_spinlock_t struct __qspinlock

static __always_inline int arena_spin_lock(arena_spinlock_t *lock) { lock->val = 1; return 0; }
static __always_inline int arena_spin_trylock(arena_spinlock_t *lock) { lock->val = 1; return 1; }
static __always_inline void arena_spin_unlock(arena_spinlock_t *lock) { lock->val = 0; }
#define arena_spin_lock_irqsave(lock, flags) ({ (flags) = 0; arena_spin_lock(lock); })
#define arena_spin_unlock_irqrestore(lock, flags) ({ (void)(flags); arena_spin_unlock(lock); })

#endif /* __SCX_BPF_ARENA_SPIN_LOCK_H */
