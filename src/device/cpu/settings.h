// What a call must leave as it found it, beside memory: how each thread of the processor rounds and whether it takes
// small numbers for zero, and how OpenMP shares out work. Whatever runs in the process after a kernel computes with
// these.
#pragma once

#include <array>
#include <string>

namespace kw::device::cpu {

// In the order in which `settings_source` has them.
using Settings = std::array<long long, 6>;

inline constexpr const char* kSettingsSymbol = "kw_settings";
using ReadSettings = void (*)(long long*);

// A function that reads them, as text: it is compiled into a kernel's own library, since the threads that work for a
// kernel belong to the OpenMP that it is linked to.
std::string settings_source();

// "how numbers are rounded, or small ones flushed to zero"; empty where nothing differs.
std::string difference(const Settings& before, const Settings& after);

}  // namespace kw::device::cpu
