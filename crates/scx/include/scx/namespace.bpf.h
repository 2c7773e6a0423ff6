/* Process ids within namespaces: there is one namespace. */
#ifndef __SCX_NAMESPACE_BPF_H
#define __SCX_NAMESPACE_BPF_H

#include <scx/common.bpf.h>

static inline struct pid *get_task_pid_ptr(const struct task_struct *task, enum pid_type type)
{
	return type == PIDTYPE_PID ? task->thread_pid : task->signal->pids[type];
}
static inline struct pid_namespace *get_task_pid_ns(const struct task_struct *task, enum pid_type type)
{
	return get_task_pid_ptr(task ?: bpf_get_current_task_btf(), type)->numbers[0].ns;
}
static inline pid_t get_pid_nr_ns(struct pid *pid, struct pid_namespace *ns)
{
	return pid && ns ? pid->numbers[0].nr : 0;
}
static inline pid_t get_task_ns_pid(const struct task_struct *task)
{
	return (task ?: bpf_get_current_task_btf())->pid;
}
static inline pid_t get_ns_pid(void) { return get_task_ns_pid(NULL); }

#endif /* __SCX_NAMESPACE_BPF_H */
