/* Integer types of the kernel. */
#include "vmlinux.h"
