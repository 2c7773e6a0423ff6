/* Functions on memory. */
#include <bpf/bpf_helpers.h>
