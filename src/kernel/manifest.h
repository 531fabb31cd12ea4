// The contract of a set of kernels: how it is called. Act writes it beside the code, a person or an agent writes it
// beside theirs; device, verify, perf, registry and Python only read it. It speaks of buffers, sizes and launches, not
// of math.
//
// A pass is a program: ordered steps over buffers. Sizes are expressions over the op's size symbols ("rows*cols"),
// guards are conditions on the call ("aligned(x, 16)"): kernel/expression.h. Types are joins, by PyTorch's promotion,
// of type parameters and dtypes ("T", "T|f32"): kernel/types.h. docs/contract.md explains it to someone who writes a
// kernel by hand; schema/manifest.schema.json is the stored form.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::kernel {

inline constexpr int kManifestVersion = 1;

enum class Target : std::uint8_t { Cpu, Cuda, Triton };

// Input: what the caller gives. Output: what the caller gets. Saved: what the forward pass writes for the backward
// alone. Workspace: lives from the first step that uses it to the last.
enum class Role : std::uint8_t { Input, Output, Saved, Workspace };

struct Buffer {
  std::string name;
  Role role = Role::Input;
  std::string type;                // "T"
  std::vector<std::string> shape;  // "rows", "cols"; "1"

  // Output strides are PyTorch's: dense in the order of the dimensions, or, where operands are named here, those of a
  // pointwise op on them.
  std::vector<std::string> strides_like;

  // The input whose memory this output takes (declared in-place): it is not intact after the pass. Or an earlier output
  // that holds this one's values too: two gradients that are one.
  std::string alias;

  // In a backward pass: an input that is the cotangent of this output of the forward pass, or an output that is the
  // gradient of this input. Every other input of a backward pass bears the name of a buffer of the forward pass.
  std::string gradient_of;

  bool operator==(const Buffer&) const = default;
};

// A parameter of a kernel, in the order of its signature.
struct Argument {
  enum class Kind : std::uint8_t {
    Read,      // a pointer to a buffer's first element: const
    Write,     // a pointer to a buffer of which nothing is read before it is written
    Update,    // a pointer to a buffer that is read and written
    Stride,    // of one dimension of a buffer, in elements
    Size,      // an expression
    Scalar,    // of the op
    Constant,  // an expression that is known when the kernel is compiled (triton), given by name
  } kind = Kind::Read;
  std::string of;     // the buffer, the expression, or the scalar
  int dimension = 0;  // Stride
  std::string type;   // Stride, Size: "i32" or "i64"; Scalar: "f32", "T|f32", "i64", "bool"
  std::string name;   // Constant: the parameter
  bool operator==(const Argument&) const = default;
};

// How many threads run a kernel (cuda, triton), as size expressions.
struct Launch {
  std::array<std::string, 3> grid = {"1", "1", "1"};
  std::array<std::string, 3> block = {"1", "1", "1"};  // cuda
  std::string shared_bytes = "0";                      // cuda: dynamic
  std::string warps;                                   // triton: an expression too; empty: its default
  int stages = 0;
  bool operator==(const Launch&) const = default;
};

// One kernel, and when it may be called: all its guards hold, and every i32 argument fits.
struct Entry {
  std::string symbol;  // the function's name in
  std::string file;    // this file, beside the manifest
  std::vector<Argument> arguments;
  std::vector<std::string> guards;
  Launch launch;
  bool operator==(const Entry&) const = default;
};

struct Step {
  enum class Kind : std::uint8_t { Kernel, Fill } kind = Kind::Kernel;
  std::vector<Entry> entries;  // Kernel: the first whose guards hold is called, so the fastest comes first
  std::string buffer;          // Fill: every element becomes `value`
  double value = 0;
  bool operator==(const Step&) const = default;
};

struct Pass {
  std::string name;  // forward, backward
  std::vector<Buffer> buffers;
  std::vector<Step> steps;

  const Buffer* find(std::string_view buffer) const;
  bool operator==(const Pass&) const = default;
};

struct Scalar {
  std::string name;
  std::string type;           // real, int or bool
  std::string default_value;  // empty: the caller must give it
  bool operator==(const Scalar&) const = default;
};

struct Manifest {
  std::string name;
  Target target = Target::Cpu;
  std::string generator;                                  // "kernelwright 0.1.0", or who wrote it
  std::vector<std::string> sizes;                         // size symbols, in order
  std::map<std::string, std::vector<std::string>> types;  // type parameter → the dtypes that it may be
  std::vector<Scalar> scalars;
  std::vector<std::string> constraints;         // conditions on sizes that every call fulfils
  bool deterministic = true;                    // two calls agree to the bit
  std::vector<std::string> architectures = {};  // cuda: "sm_90"; none: all that the engine has a model of
  std::vector<Pass> passes;

  const Pass* find(std::string_view pass) const;
  std::vector<std::string> files() const;  // that its entries name, each once, in order
  bool operator==(const Manifest&) const = default;
};

std::string_view name_of(Target target);
std::string_view name_of(Role role);
std::string_view name_of(Argument::Kind kind);
inline bool is_pointer(Argument::Kind kind) { return kind <= Argument::Kind::Update; }

// Canonical text: the same manifest gives the same bytes.
std::string to_json(const Manifest& manifest);
// Reads and checks; errors have the line and column in the text.
Result<Manifest> manifest_from_json(std::string_view text, const std::string& file);

// Everything that can be wrong about a manifest without running it: names that do not exist or stand twice,
// expressions, types, arguments that no kernel can take, buffers read before they are written or never written.
Status check(const Manifest& manifest);

}  // namespace kw::kernel
