// A profile: every decision about one kernel, each with its reason and the place in the source that it rests on. It is
// what people review and approve; everything later is a function of it. Stored as profile.yaml (yaml.h), versioned by
// schema/profile.schema.json.
//
// Shapes, types and math are kept as text, in the math text form of ir: a profile is a document, and what it says must
// be readable without this program. check.h parses the text and finds where a profile contradicts itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kw::profile {

inline constexpr int kSchemaVersion = 1;

enum class SetBy {
  Engine,      // follows from the math
  Assumption,  // the source leaves it open; a published rule or a default settled it
  User,
};

struct Decision {
  std::string id;     // a row of decision.h's table: "casting", "type.T"
  std::string value;  // agrees with the field that it decides
  std::string because;
  std::string at;                       // "source.py:12", or empty where nothing in the source decides it
  std::vector<std::string> instead_of;  // what else it could have been
  std::string if_wrong;                 // what goes wrong if it is wrong
  SetBy set_by = SetBy::Engine;
  bool operator==(const Decision&) const = default;
};

struct Names {
  std::string function;  // rms_norm
  std::string module;    // RmsNorm
  std::string autograd;  // RmsNormFunction
  bool operator==(const Names&) const = default;
};

// What the user gave beside the source itself; reading the source again with these gives the same graph.
struct ReadingOptions {
  bool eval = false;
  std::map<std::string, std::string> shape;  // x → "rows,cols"
  std::map<std::string, std::string> dtype;  // x → "bf16"
  std::map<std::string, std::string> init;   // eps → "1e-6"
  bool operator==(const ReadingOptions&) const = default;
};

struct Source {
  std::string kind;    // torch, graph, math or words
  std::string file;    // in the kernel's folder: source.py
  std::string entry;   // the function or module that was read; empty where there is only one thing
  std::string given;   // what the user typed: a path, "-", or the words
  std::string sha256;  // of the file
  ReadingOptions options;
  bool operator==(const Source&) const = default;
};

struct InputField {
  std::string name;
  std::string kind;                // tensor, parameter, buffer or scalar
  std::string type;                // T, W, i64; a scalar's is real, int or bool
  std::vector<std::string> shape;  // sizes in text form; "1" for a dimension of size one
  std::string default_value;       // of a scalar
  bool gradient = false;
  bool operator==(const InputField&) const = default;
};

struct OutputField {
  std::string name;
  std::string type;
  std::vector<std::string> shape;
  std::string updates;  // the buffer that takes this value, or empty
  std::string layout;   // how it lies in memory (ir/layout.h); empty: not decided
  bool operator==(const OutputField&) const = default;
};

struct Alias {
  std::string output;  // takes the memory of
  std::string input;
  bool operator==(const Alias&) const = default;
};

using NamedText = std::pair<std::string, std::string>;
using Shape = std::vector<std::pair<std::string, std::int64_t>>;  // size symbol → size, in the interface's order

struct Interface {
  std::vector<NamedText> types;  // type parameter → dtype at the user's own configuration
  Shape sizes;                   // size symbol → the user's own size
  std::vector<std::string> constraints;
  std::vector<InputField> inputs;
  std::vector<OutputField> outputs;
  std::vector<Alias> aliases;
  std::vector<NamedText> assumed;  // what the source leaves open beside shapes and types: a constructor's argument
  bool operator==(const Interface&) const = default;
};

struct SavedValue {
  std::string name;
  std::string kind;  // input (kept alive), output (kept alive) or value (written for the backward)
  std::string type;
  std::vector<std::string> shape;
  bool operator==(const SavedValue&) const = default;
};

struct Math {
  std::string read;      // as the reader gave it, before any simplification: what the kernel is judged against
  std::string forward;   // simplified, wider where numerics say so
  std::string backward;  // empty for an op without gradients
  std::string rule;      // derivative, straight-through or none
  std::vector<SavedValue> saved;
  std::vector<std::string> recomputed;
  bool operator==(const Math&) const = default;
};

// Bytes at the user's own sizes. Parameters and buffers are left out: they are there anyway.
struct Memory {
  std::int64_t kept = 0;           // from forward to backward
  std::int64_t forward_peak = 0;   // inputs, outputs and what is written for the backward
  std::int64_t backward_peak = 0;  // what is kept, and the gradients of outputs and inputs
  // The same for the source run op by op: an estimate.
  std::int64_t eager_kept = 0;
  std::int64_t eager_forward_peak = 0;
  std::int64_t eager_backward_peak = 0;
  bool operator==(const Memory&) const = default;
};

struct Numerics {
  std::string accumulate;                // f32: the type of running sums
  std::string casting;                   // llama, gemma or none
  std::vector<std::string> fp32;         // values computed in (at least) f32
  std::vector<std::string> wider;        // values kept wider than eager keeps them
  std::vector<std::string> reassociate;  // reductions whose order is free
  bool deterministic = true;
  bool operator==(const Numerics&) const = default;
};

struct WeightGradient {
  std::string input;              // whose gradient it is
  std::vector<std::string> over;  // the axes that are summed away
  std::string how;                // fused, column, contraction, scatter or atomic
  bool operator==(const WeightGradient&) const = default;
};

struct PassPlan {
  std::string family;                  // pointwise, row, column, whole, scan, segment, window, contraction, composed
  std::vector<std::string> over;       // the axes that the family works along
  int stages = 0;                      // dependent reductions, one after the other
  std::vector<std::string> fallbacks;  // families, in order
  bool operator==(const PassPlan&) const = default;
};

struct Plan {
  PassPlan forward;
  std::optional<PassPlan> backward;
  std::vector<WeightGradient> weight_gradients;
  bool operator==(const Plan&) const = default;
};

struct ModuleParameter {
  std::string name;
  std::vector<std::string> shape;
  std::string type;
  std::string init;  // ones, zeros, normal, …
  bool operator==(const ModuleParameter&) const = default;
};

struct Module {
  std::vector<ModuleParameter> parameters;
  std::vector<NamedText> arguments;  // constructor arguments that stay run-time values: eps → 1e-6
  bool operator==(const Module&) const = default;
};

struct Shapes {
  std::vector<Shape> test;
  std::vector<Shape> measure;
  bool operator==(const Shapes&) const = default;
};

// What a person allows the search to spend and to do.
struct Limits {
  int variants = 8;
  int minutes = 30;
  bool spills = false;  // may a kernel spill registers
  std::vector<std::string> targets = {"cpu", "cuda", "triton"};
  bool operator==(const Limits&) const = default;
};

struct Profile {
  std::string name;
  Names names;
  Source source;
  int tier = 1;
  std::string closest;
  Interface interface;
  Math math;
  Memory memory;
  Numerics numerics;
  Plan plan;
  Module module;
  Shapes shapes;
  Limits limits;
  std::string licence;
  std::vector<Decision> decisions;

  const Decision* find(const std::string& id) const;
  bool operator==(const Profile&) const = default;
};

}  // namespace kw::profile
