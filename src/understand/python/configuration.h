// A configuration object: what `config` is in `def __init__(self, config: LlamaConfig)`. It is never built; a field
// that is asked for is read from the class's own text: its annotated default, or the default of the argument of
// __init__ that it is set from. Ints become sizes of the field's name, floats run-time scalars.
#pragma once

#include <map>
#include <string>

#include "understand/python/modules.h"

namespace kw::understand::python {

struct ConfigObject : Object {
  std::string name;
  PythonModule* module = nullptr;
  const ClassDef* definition = nullptr;
  Namespace fields;  // those already read, and those that the user gave
  std::string describe() const override { return "configuration " + name; }
};

Result<std::optional<Value>> configuration_attribute(Interpreter& interpreter, ConfigObject& config,
                                                     const std::string& name);

// The configuration classes that a file imports or defines, in order, and then the others of the files that define
// those.
Result<std::vector<Definition>> configuration_classes(Packages& packages, PythonModule& module);
Result<std::shared_ptr<ConfigObject>> make_configuration(Packages& packages, const Definition& definition);
// Whether the class's own text gives a value to the field, without computing it.
bool configuration_has(const ConfigObject& config, const std::string& field);

}  // namespace kw::understand::python
