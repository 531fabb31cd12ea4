#include "device/cpu/settings.h"

#include <string_view>

namespace kw::device::cpu {
namespace {

constexpr std::array<std::string_view, std::tuple_size_v<Settings>> kNames = {
    "the number of OpenMP's threads",      "whether OpenMP adjusts their number",
    "how deep OpenMP's teams may nest",    "how OpenMP shares out a loop",
    "the pieces that OpenMP cuts it into", "how numbers are rounded, or small ones flushed to zero",
};

}  // namespace

std::string settings_source() {
  return std::string(R"(
#if defined(_OPENMP)
#include <omp.h>
#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
extern "C" __attribute__((visibility("default"))) void )") +
         kSettingsSymbol + R"((long long* settings) {
  omp_sched_t schedule;
  int piece;
  omp_get_schedule(&schedule, &piece);
  settings[0] = omp_get_max_threads();
  settings[1] = omp_get_dynamic();
  settings[2] = omp_get_max_active_levels();
  settings[3] = static_cast<long long>(schedule);
  settings[4] = piece;
  long long modes = 0;
#pragma omp parallel reduction(+ : modes)
  {
#if defined(__x86_64__)
    modes += static_cast<long long>(_mm_getcsr() & 0xffc0u) + (static_cast<long long>(std::fegetround()) << 20);
#elif defined(__aarch64__)
    unsigned long long control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    modes += static_cast<long long>(control);
#else
    modes += std::fegetround();
#endif
  }
  settings[5] = modes;
}
#endif
)";
}

std::string difference(const Settings& before, const Settings& after) {
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) return std::string(kNames[i]);
  return {};
}

}  // namespace kw::device::cpu
