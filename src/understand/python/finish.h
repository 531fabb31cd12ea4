// The last step of a reading: outputs, names of parameters as in state_dict(), the order of the interface, and nothing
// that only the reading needed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "understand/python/interpreter.h"
#include "understand/python/read.h"

namespace kw::understand::python {

// The parameters and buffers of a module as state_dict() lists them: which input of the graph, and its name.
struct StateName {
  int32_t input;
  std::string name;
};
std::vector<StateName> state_names(Interpreter& interpreter, const Value& module);

// `module`: the instance that was read, if any; its parameters are named by their place in it. `named` runs when every
// input has its name, before the graph leaves the interpreter.
Result<ReadResult> finish_reading(Interpreter& interpreter, const Value& returned, const Value* module,
                                  std::string name, const std::function<void(ReadResult&)>& named);

}  // namespace kw::understand::python
