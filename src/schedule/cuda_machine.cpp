#include "schedule/cuda_machine.h"

#include <yaml-cpp/yaml.h>

#include "base/document.h"
#include "base/embedded.h"

namespace kw::schedule {

Result<CudaMachine> cuda_machine_from_yaml(std::string_view text, const std::string& file) {
  KW_TRY(const Document document, Document::load(text, file, "schema/cuda_machine.schema.json", 1));
  const YAML::Node& root = document.root();
  auto number = [&](const char* key) { return root[key].as<int64_t>(); };
  CudaMachine machine;
  machine.name = root["name"].Scalar();
  machine.architecture = root["architecture"].Scalar();
  machine.multiprocessors = number("multiprocessors");
  machine.registers = number("registers");
  machine.threads = number("threads");
  machine.block_threads = number("block_threads");
  machine.shared_bytes = number("shared_bytes");
  machine.flight_bytes = number("flight_bytes");
  return machine;
}

const CudaMachine& h200() {
  static const CudaMachine machine = [] {
    const std::string file = "machines/h200.yaml";
    Result<CudaMachine> read = cuda_machine_from_yaml(embedded::file(file), file);
    KW_ASSERT(read.has_value(), "the machine model that travels in the binary is valid");
    return *read;
  }();
  return machine;
}

}  // namespace kw::schedule
