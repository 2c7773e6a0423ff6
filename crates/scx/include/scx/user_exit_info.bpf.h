/* Why a scheduler ended, kept in a variable for the user's side. */
#ifndef __SCX_USER_EXIT_INFO_BPF_H
#define __SCX_USER_EXIT_INFO_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>

struct user_exit_info { int kind; s64 exit_code; char reason[128]; char msg[1024]; };

#define UEI_DEFINE(name) struct user_exit_info name SEC(".data")
#define UEI_RECORD(name, info)								\
({											\
	bpf_probe_read_kernel_str(name.reason, sizeof(name.reason), (info)->reason);	\
	bpf_probe_read_kernel_str(name.msg, sizeof(name.msg), (info)->msg);		\
	name.exit_code = (info)->exit_code;						\
	name.kind = (info)->kind;							\
})

#endif /* __SCX_USER_EXIT_INFO_BPF_H */
