// Whoever links this has its own malloc() and its relatives, for every caller in the process, Swift's runtime included:
// they count, and leave the work to the C library's. With another C library nothing is counted.
//
// Beside it two functions that do nothing but have names: where a measured region begins and ends, for callgrind's
// --zero-before and --dump-before.
#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

#include <stdint.h>

// How often the calling thread asked for memory so far.
uint64_t allocation_count(void);

void measured_region_begins(void);
void measured_region_ends(void);

#endif
