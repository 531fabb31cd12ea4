// How outputs lie in memory: as PyTorch's own do, where the source says how that is.
#include <fmt/format.h>

#include "base/text.h"
#include "ir/layout.h"
#include "profile/profile.h"
#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

struct Choice {
  ir::Layout layout;
  std::string because;
};

Result<Choice> as_read(const Subject& subject, const profile::OutputField& output) {
  const auto read = subject.reading.layouts.find(output.name);
  if (read != subject.reading.layouts.end()) {
    KW_TRY(ir::Layout layout, ir::parse_layout(read->second));
    const char* because = !layout.known ? "what PyTorch makes of these ops is not known, and nothing is promised"
                          : layout.like.empty()
                              ? "PyTorch's own is dense in the order of its dimensions, however the inputs lie"
                              : "PyTorch's own follows the operands of the source's ops, op by op";
    return Choice{std::move(layout), because};
  }
  // Math has no memory: a tensor lies as the inputs of its shape do.
  Choice choice;
  for (const profile::InputField& input : subject.profile.interface.inputs)
    if (input.kind == "tensor" && input.shape == output.shape && output.shape.size() > 1)
      choice.layout.like.push_back({ir::LayoutOperand::Base::Input, input.name, {}, {}});
  choice.because =
      choice.layout.like.empty() ? "no input has its shape" : "as a pointwise op on the inputs of its shape";
  return choice;
}

}  // namespace

Status decide_layouts(Subject& subject) {
  for (profile::OutputField& output : subject.profile.interface.outputs) {
    if (!output.updates.empty()) continue;
    const std::string id = "layout." + output.name;
    KW_TRY(Choice choice, as_read(subject, output));
    if (const std::string* pin = subject.pinned(id)) {
      auto layout = ir::parse_layout(*pin);
      if (!layout) return bad_value(id, *pin, "contiguous, any, or like and inputs: like x, like x[1, 0]");
      const std::string why = ir::layout_flaw(
          layout->like, output.shape.size(), [&](const std::string& name) -> std::optional<std::size_t> {
            for (const profile::InputField& input : subject.profile.interface.inputs)
              if (input.name == name && input.kind != "scalar") return input.shape.size();
            return std::nullopt;
          });
      if (!why.empty()) return bad_value(id, *pin, "a layout of this tensor: " + why);
      choice.layout = std::move(*layout);
    }
    output.layout = ir::text_of(choice.layout);
    ir::NodeId node = ir::kNoNode;
    for (const ir::Output& made : subject.math.read.outputs)
      if (made.name == output.name) node = made.node;
    subject.record({id, output.layout, choice.because, subject.at(subject.math.read, node),
                    output.layout == "contiguous" ? std::vector<std::string>{} : std::vector<std::string>{"contiguous"},
                    "code after it that asks for strides, or views it, meets another tensor than PyTorch's"});
  }
  return {};
}

}  // namespace kw::understand
