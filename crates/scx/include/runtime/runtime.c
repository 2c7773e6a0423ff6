/* The runtime of a policy file, as one unit. */
#include "runtime.h"
#include "host.h"
#include "heap.c"
#include "text.c"
#include "maps.c"
#include "masks.c"
#include "objects.c"
#include "kernel.c"
