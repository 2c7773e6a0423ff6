/* Byte order: little-endian, as the memory of a policy file. */
#ifndef __SCX_BPF_ENDIAN_H
#define __SCX_BPF_ENDIAN_H

#define bpf_htons(x) __builtin_bswap16(x)
#define bpf_ntohs(x) __builtin_bswap16(x)
#define bpf_htonl(x) __builtin_bswap32(x)
#define bpf_ntohl(x) __builtin_bswap32(x)
#define bpf_cpu_to_be64(x) __builtin_bswap64(x)
#define bpf_be64_to_cpu(x) __builtin_bswap64(x)

#endif /* __SCX_BPF_ENDIAN_H */
