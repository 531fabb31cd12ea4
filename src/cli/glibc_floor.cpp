// The binary starts on any C library from 2.36 on, also when it was built on a newer one. There, the headers and the
// static libraries refer to C23's strtol family (2.38), which older ones lack; here it is given in terms of the old
// one. base/glibc_floor.h does the same for what has kept its name.
#include <features.h>

#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 38)
#define KW_FORWARD(type, name)                                                          \
  extern "C" type kw_old_##name(const char* text, char** end, int base) __asm__(#name); \
  extern "C" type __isoc23_##name(const char* text, char** end, int base);              \
  extern "C" type __isoc23_##name(const char* text, char** end, int base) { return kw_old_##name(text, end, base); }
KW_FORWARD(long, strtol)
KW_FORWARD(long long, strtoll)
KW_FORWARD(unsigned long, strtoul)
KW_FORWARD(unsigned long long, strtoull)
#endif
