// The table of torch.nn layers. Most are a constructor signature and the function that their forward calls with the
// values of the constructor by name; a layer with parameters also says how they are made.
#pragma once

#include <span>

#include "understand/torch/call.h"

namespace kw::understand {

struct LayerEntry {
  std::string_view name;
  std::string_view signature;                           // of the constructor
  std::string_view function;                            // of the forward: "torch.nn.functional.silu"
  Status (*build)(Call& call, Layer& layer) = nullptr;  // makes parameters, or gives values other names
  Result<Value> (*forward)(TorchContext& context, Layer& layer, Arguments arguments) = nullptr;  // where it is special
};

std::span<const LayerEntry> functional_layers();  // without parameters
std::span<const LayerEntry> parametrized_layers();

// What a layer calls: its arguments, then every attribute that the function has a parameter for.
Result<Value> forward_by_name(TorchContext& context, const Layer& layer, std::string_view function,
                              Arguments arguments);

Value* find_attribute(Layer& layer, std::string_view name);
void set_attribute(Layer& layer, std::string_view name, Value value);

const Signature* torch_signature(std::string_view name);  // of an entry of the table of operations

}  // namespace kw::understand
