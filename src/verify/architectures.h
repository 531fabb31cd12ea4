// Builds for every architecture that is named, whether or not it is here, in every mixture of types: NVRTC needs no
// GPU. The assembler's report of each kernel goes into the report; one that spills registers in the op's own types
// fails, unless the profile permits it. In other types it is said.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "kernel/types.h"
#include "verify/gates.h"
#include "verify/report.h"
#include "verify/subject.h"

namespace kw::verify {

struct ArchitectureBuilds {
  std::string unable;  // why nothing was compiled: NVRTC is not here
  std::vector<std::string> architectures;
  std::vector<Finding> findings;
  std::vector<KernelRow> kernels;               // by architecture, mixture and kernel
  int spilling = 0;                             // of them
  std::vector<std::string> spilling_elsewhere;  // in mixtures beside the op's own: "T=f64, W=f64 on sm_80"
};

// Of a manifest for cuda. The first mixture is the op's own. `spills`: the profile permits them.
Result<ArchitectureBuilds> build_for_architectures(const Subject& subject,
                                                   const std::vector<kernel::TypeBinding>& mixtures,
                                                   const device::DeviceOptions& options, bool spills);

}  // namespace kw::verify
