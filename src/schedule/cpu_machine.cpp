#include "schedule/cpu_machine.h"

#include <yaml-cpp/yaml.h>

#include "base/document.h"
#include "base/embedded.h"

namespace kw::schedule {

Result<CpuMachine> cpu_machine_from_yaml(std::string_view text, const std::string& file) {
  KW_TRY(const Document document, Document::load(text, file, "schema/cpu_machine.schema.json", 1));
  const YAML::Node& root = document.root();
  auto number = [&](const char* key) { return root[key].as<int64_t>(); };
  CpuMachine machine;
  machine.name = root["name"].Scalar();
  machine.vector_bytes = number("vector_bytes");
  machine.first_level_bytes = number("first_level_bytes");
  machine.last_level_bytes = number("last_level_bytes");
  machine.thread_start_bytes = number("thread_start_bytes");
  machine.threads = number("threads");
  return machine;
}

const CpuMachine& x86_64() {
  static const CpuMachine machine = [] {
    const std::string file = "machines/x86-64.yaml";
    Result<CpuMachine> read = cpu_machine_from_yaml(embedded::file(file), file);
    KW_ASSERT(read.has_value(), "the machine model that travels in the binary is valid");
    return *read;
  }();
  return machine;
}

}  // namespace kw::schedule
