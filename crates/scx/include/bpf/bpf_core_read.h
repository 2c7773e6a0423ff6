/* Reads of kernel structures: here they are plain reads, since the structures are those of these headers. */
#ifndef __SCX_BPF_CORE_READ_H
#define __SCX_BPF_CORE_READ_H

#include <bpf/bpf_helpers.h>

#define preserve_access_index unused
#define bpf_core_field_exists(field...) ((void)sizeof(SCX_CORE_FIELD(field)), 1)
#define SCX_CORE_FIELD(field, ...) __typeof__(field)
#define bpf_core_field_size(field...) sizeof(SCX_CORE_FIELD(field))
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_type_exists(type) (sizeof(__typeof__(type) *) != 0)
#define bpf_core_type_matches(type) (sizeof(__typeof__(type) *) != 0)
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_type_id_local(type) sizeof(__typeof__(type))
#define bpf_core_type_id_kernel(type) sizeof(__typeof__(type))
#define bpf_core_enum_value_exists(type, value) ((void)(value), 1)
#define bpf_core_enum_value(type, value) (value)
#define bpf_core_cast(pointer, type) ((__typeof__(type) *)(pointer))
#define bpf_core_read(to, size, from) bpf_probe_read_kernel((to), (size), (const void *)(from))
#define bpf_core_read_user(to, size, from) bpf_probe_read_kernel((to), (size), (const void *)(from))
#define bpf_core_read_str(to, size, from) bpf_probe_read_kernel_str((to), (size), (const void *)(from))

/* BPF_CORE_READ(a, b, c) is a->b->c. An address near 0 reads as zeros, so that a null pointer on the way gives 0. */
#define SCX_READ_2(a, b) (a)->b
#define SCX_READ_3(a, b, c) SCX_READ_2(a, b)->c
#define SCX_READ_4(a, b, c, d) SCX_READ_3(a, b, c)->d
#define SCX_READ_5(a, b, c, d, e) SCX_READ_4(a, b, c, d)->e
#define SCX_READ_6(a, b, c, d, e, f) SCX_READ_5(a, b, c, d, e)->f
#define SCX_READ_7(a, b, c, d, e, f, g) SCX_READ_6(a, b, c, d, e, f)->g
#define SCX_READ_8(a, b, c, d, e, f, g, h) SCX_READ_7(a, b, c, d, e, f, g)->h
#define SCX_READ(args...) ___bpf_apply(SCX_READ_, ___bpf_narg(args))(args)
#define BPF_CORE_READ(source, args...) ({ __auto_type ___value = SCX_READ(source, ##args); ___value; })
#define BPF_CORE_READ_USER BPF_CORE_READ
#define BPF_PROBE_READ BPF_CORE_READ
#define BPF_PROBE_READ_USER BPF_CORE_READ
#define BPF_CORE_READ_INTO(to, source, args...)					\
	({ __builtin_memcpy((to), &(SCX_READ(source, ##args)), sizeof(*(to))); 0; })
#define BPF_PROBE_READ_INTO BPF_CORE_READ_INTO
#define BPF_CORE_READ_STR_INTO(to, source, args...)				\
	bpf_probe_read_kernel_str((void *)(to), sizeof(*(to)), (const void *)&(SCX_READ(source, ##args)))
#define BPF_CORE_READ_BITFIELD(source, field) ((u64)(source)->field)
#define BPF_CORE_READ_BITFIELD_PROBED(source, field) ((u64)(source)->field)
#define BPF_CORE_WRITE_BITFIELD(source, field, value) ((source)->field = (value))

#endif /* __SCX_BPF_CORE_READ_H */
