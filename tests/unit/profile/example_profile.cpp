#include "example_profile.h"

#include <gtest/gtest.h>

#include "profile/decision.h"

namespace kw::profile {

Profile example_profile() {
  Profile p;
  p.name = "rms_norm";
  p.names = {"rms_norm", "RmsNorm", "RmsNormFunction"};
  p.source = {"torch", "source.py", "RMSNorm", "examples/rms_norm.py:RMSNorm", std::string(64, 'a'), {}};
  p.source.options.dtype = {{"x", "bf16"}};
  p.tier = 2;
  p.closest = "rms_norm";
  p.interface.types = {{"T", "bf16"}, {"W", "f32"}};
  p.interface.sizes = {{"rows", 4096}, {"cols", 1024}};
  p.interface.inputs = {{"x", "tensor", "T", {"rows", "cols"}, "", true},
                        {"w", "parameter", "W", {"cols"}, "", true},
                        {"eps", "scalar", "real", {}, "1e-6", false}};
  p.interface.outputs = {{"y", "T|W", {"rows", "cols"}, ""}};
  p.math.forward =
      "op rms_norm(x: T[rows, cols], w: parameter W[cols]; eps = 1e-6)\n"
      "  ms   = mean(f32(x)^2, cols)\n"
      "  rstd = rsqrt(ms + eps)\n"
      "  y    = T(f32(x) * rstd) * w\n"
      "return y\n";
  p.math.read = p.math.forward;
  p.math.rule = "none";
  p.numerics = {"f32", "llama", {"ms", "rstd"}, {}, {"ms"}, true};
  p.plan.forward = {"row", {"cols"}, 1, {"column"}};
  p.module.parameters = {{"w", {"cols"}, "W", "ones"}};
  p.module.arguments = {{"eps", "1e-6"}};
  p.shapes.test = {{{"rows", 1}, {"cols", 1}}, {{"rows", 7}, {"cols", 129}}};
  p.shapes.measure = {{{"rows", 4096}, {"cols", 1024}}};
  p.licence = "Apache-2.0";
  for (const std::string& id : expected_decisions(p)) {
    const DecisionKind& kind = *find_kind(id);
    const std::string name = kind.id.ends_with(".*") ? id.substr(kind.id.size() - 1) : "";
    p.decisions.push_back({id,
                           *kind.field(p, name),
                           "the source says so: it is written there, and nothing else",
                           "source.py:3",
                           {},
                           "the result would not be what the source means",
                           SetBy::Engine});
  }
  return p;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' in the text";
  if (at == std::string::npos) return text;
  return text.substr(0, at) + to + text.substr(at + from.size());
}

}  // namespace kw::profile
