/* The same for the names of earlier headers. */
#include <scx/user_exit_info.bpf.h>
