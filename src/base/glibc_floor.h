// Included by the build before every file where the C library is newer than 2.37: asks for the versions of its
// functions that 2.36 has too, so that the binary starts there (fmod has a new version since 2.38).
#pragma once

#if defined(__x86_64__)
#define KW_FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define KW_FIRST_GLIBC "GLIBC_2.17"
#endif

#if defined(KW_FIRST_GLIBC)
__asm__(".symver fmod, fmod@" KW_FIRST_GLIBC);
__asm__(".symver fmodf, fmodf@" KW_FIRST_GLIBC);
#endif
