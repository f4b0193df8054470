// What the Glibc module leaves out: the kernel's clock discipline, the kind of a file system, settings of malloc.
#include <malloc.h>
#include <sys/timex.h>
#include <sys/vfs.h>
