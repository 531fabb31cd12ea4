// Runs the shims of compiled shared objects in this very process.
#pragma once

#include <memory>

#include "device/executor.h"

namespace kw::device::cpu {

std::unique_ptr<Executor> make_executor();

}  // namespace kw::device::cpu
