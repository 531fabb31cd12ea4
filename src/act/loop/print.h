// The loop form as text, for people and golden files.
#pragma once

#include <string>

#include "act/loop/loop.h"

namespace kw::act {

std::string print(const LoopProgram& program);

}  // namespace kw::act
