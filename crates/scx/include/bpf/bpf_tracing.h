/* Programs that trace the kernel: they compile, and nothing here calls them. */
#ifndef __SCX_BPF_TRACING_H
#define __SCX_BPF_TRACING_H

#include <bpf/bpf_helpers.h>

#define BPF_PROG(name, args...) name(args)
#define BPF_PROG2(name, args...) name(args)
#define BPF_KPROBE(name, args...) name(args)
#define BPF_KRETPROBE(name, args...) name(args)
#define BPF_UPROBE(name, args...) name(args)
#define BPF_URETPROBE(name, args...) name(args)
#define BPF_KSYSCALL(name, args...) name(args)

#endif /* __SCX_BPF_TRACING_H */
