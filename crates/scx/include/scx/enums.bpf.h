/* The constants of sched_ext are those of vmlinux.h; nothing has to fill them in at the start. */
#ifndef __SCX_ENUMS_BPF_H
#define __SCX_ENUMS_BPF_H

/* The older names of the variables that held them. */
#define __SCX_SLICE_DFL SCX_SLICE_DFL
#define __SCX_SLICE_INF SCX_SLICE_INF
#define __SCX_DSQ_LOCAL SCX_DSQ_LOCAL
#define __SCX_DSQ_LOCAL_ON SCX_DSQ_LOCAL_ON
#define __SCX_DSQ_GLOBAL SCX_DSQ_GLOBAL
#define __SCX_KICK_IDLE SCX_KICK_IDLE
#define __SCX_KICK_PREEMPT SCX_KICK_PREEMPT
#define __SCX_ENQ_PREEMPT SCX_ENQ_PREEMPT
#define __SCX_ENQ_WAKEUP SCX_ENQ_WAKEUP
#define __SCX_WAKE_SYNC SCX_WAKE_SYNC

#endif /* __SCX_ENUMS_BPF_H */
