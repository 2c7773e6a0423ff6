/* Process ids within namespaces. */
#include <scx/namespace.bpf.h>
