/* Numbers of errors. */
#include <errno.h>
