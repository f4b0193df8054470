// What the Glibc module leaves out: the kernel's clock discipline and the kind of a file system.
#include <sys/timex.h>
#include <sys/vfs.h>
