#include "act/loop/print.h"

#include "act/loop/index.h"
#include "ir/text/print.h"

namespace kw::act {

namespace {

// Where an expression stands: alone, behind a minus, or beside * // %. A sum needs brackets in the latter two.
enum class Beside : uint8_t { Nothing, Minus, Factor };

std::string text(const Index& index, const LoopProgram& program, const LoopKernel* kernel, Beside beside) {
  auto bracketed = [&](const std::string& inner, bool is_sum) {
    return beside == Beside::Factor || (beside == Beside::Minus && is_sum) ? "(" + inner + ")" : inner;
  };
  switch (index.kind) {
    case Index::Kind::Axis:
      return program.axes[static_cast<size_t>(index.axis)].name;
    case Index::Kind::Size: {
      std::string size =
          index.size.text([&](ir::SymbolId id) { return program.symbols[static_cast<size_t>(id)].name; });
      return size.find_first_of("+-*/") == std::string::npos ? size
                                                             : bracketed(size, size.find(' ') != std::string::npos);
    }
    case Index::Kind::Value:
      return kernel ? (*kernel)[index.value].name : "v" + std::to_string(index.value);
    default:
      break;
  }
  constexpr std::string_view kSigns[] = {" + ", " - ", "*", "//", "%"};
  std::string_view sign = kSigns[static_cast<size_t>(index.kind) - static_cast<size_t>(Index::Kind::Add)];
  const bool is_sum = index.kind == Index::Kind::Add || index.kind == Index::Kind::Sub;
  const Beside left = is_sum ? Beside::Nothing : Beside::Factor;
  const Beside right = index.kind == Index::Kind::Sub ? Beside::Minus : left;
  return bracketed(text(index.operands[0], program, kernel, left) + std::string(sign) +
                       text(index.operands[1], program, kernel, right),
                   is_sum);
}

}  // namespace

std::string text(const Index& index, const LoopProgram& program, const LoopKernel* kernel) {
  return text(index, program, kernel, Beside::Nothing);
}

namespace {

class Printer {
 public:
  explicit Printer(const LoopProgram& program) : program_(program) {}

  std::string run() {
    out_ = "program " + program_.name + "\n";
    for (const Buffer& b : program_.buffers) {
      constexpr std::string_view kRoles[] = {"input", "output", "workspace"};
      out_ += "  " + std::string(kRoles[static_cast<size_t>(b.role)]) + " " + b.name + ": " + type(b.type) + "[";
      for (size_t i = 0; i < b.shape.size(); ++i)
        out_ += (i ? ", " : "") + text(size_index(b.shape[i]), program_, nullptr);
      out_ += "]\n";
    }
    for (const auto& [name, scalar_type] : program_.scalars)
      out_ += "  scalar " + name + ": " + type(scalar_type) + "\n";
    for (const CombineFunction& function : program_.combines) print(function);
    for (const LoopKernel& kernel : program_.kernels) print(kernel);
    return out_;
  }

 private:
  std::string type(ir::Type t) const {
    std::string out;
    for (size_t i = 0; i < program_.type_parameters.size(); ++i)
      if (t.params() & (1u << i)) out += (out.empty() ? "" : "|") + program_.type_parameters[i].name;
    if (t.floor() != ir::DType::None) out += (out.empty() ? "" : "|") + std::string(info(t.floor()).name);
    return out;
  }
  std::string axes(const std::vector<LoopAxisId>& ids) const {
    std::string out;
    for (LoopAxisId a : ids) out += (out.empty() ? "" : ", ") + program_.axes[static_cast<size_t>(a)].name;
    return out;
  }
  std::string address(const LoopKernel& kernel, BufferId buffer, const std::vector<Index>& at) const {
    std::string out = program_.buffers[static_cast<size_t>(buffer)].name + "[";
    for (size_t i = 0; i < at.size(); ++i) out += (i ? ", " : "") + text(at[i], program_, &kernel);
    return out + "]";
  }
  std::string use(const LoopKernel& kernel, ValueId v) const {
    const Value& value = kernel[v];
    if (const Number* n = std::get_if<Number>(&value.what)) return ir::text::literal_text(n->literal);
    if (const Scalar* s = std::get_if<Scalar>(&value.what)) return s->name;
    return value.name;
  }
  void line(int depth, const std::string& text) {
    out_ += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n";
  }

  void define(const LoopKernel& kernel, ValueId v, int depth) {
    const Value& value = kernel[v];
    std::string right;
    if (const Load* load = std::get_if<Load>(&value.what)) {
      right = "load " + address(kernel, load->buffer, load->at);
      if (load->guard != kNoValue) right += " if " + use(kernel, load->guard) + " else " + use(kernel, load->otherwise);
    } else if (const Map* map = std::get_if<Map>(&value.what)) {
      right = (map->op == ir::Op::Cast ? type(value.type) : std::string(info(map->op).name)) + "(";
      for (size_t i = 0; i < map->args.size(); ++i) right += (i ? ", " : "") + use(kernel, map->args[i]);
      right += ")";
    } else if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) {
      right = text(index->index, program_, &kernel);
    }
    line(depth, value.name + ": " + type(value.type) + " = " + right);
  }

  std::string combination(const LoopKernel& kernel, const Combined& combined) const {
    std::string args;
    for (ValueId arg : combined.args) args += (args.empty() ? "" : ", ") + use(kernel, arg);
    return program_.combines[static_cast<size_t>(combined.combine)].name + " (" + args + ") part " +
           std::to_string(combined.part);
  }

  void print(const CombineFunction& function) {
    // Its values are those of a kernel that has nothing else.
    LoopKernel body{function.name, {}, {}, function.values};
    std::string parameters, results, identity;
    for (size_t i = 0; i < 2 * function.arity(); ++i)
      parameters += (i == 0 ? "" : i == function.arity() ? "; " : ", ") + body.values[i].name;
    for (double x : function.identity) identity += (identity.empty() ? "" : ", ") + ir::text::literal_text({x});
    for (ValueId r : function.results) results += (results.empty() ? "" : ", ") + use(body, r);
    line(0, "combine " + function.name + "(" + parameters + ") from (" + identity + ")");
    for (size_t v = 2 * function.arity(); v < body.values.size(); ++v)
      if (std::holds_alternative<Map>(body.values[v].what)) define(body, static_cast<ValueId>(v), 1);
    line(1, "return " + results);
  }

  void print(const LoopKernel& kernel) {
    line(0, "kernel " + kernel.name + (kernel.parallel.empty() ? "" : " parallel " + axes(kernel.parallel)));
    for (const Stage& stage : kernel.stages) {
      line(1, stage.loop.empty() ? "once" : "stage over " + axes(stage.loop));
      for (ValueId v : stage.body) define(kernel, v, 2);
      for (const Store& s : stage.stores)
        line(2, "store " + address(kernel, s.buffer, s.at) + " = " + use(kernel, s.value));
      for (const Accumulate& a : stage.accumulates)
        line(2, "accumulate " + address(kernel, a.buffer, a.at) + " += " + use(kernel, a.value));
      for (ValueId r : stage.reductions) {
        const Reduced& reduced = std::get<Reduced>(kernel[r].what);
        std::string right = std::string(info(reduced.op).name) + " " + use(kernel, reduced.arg);
        if (reduced.combined) right = combination(kernel, *reduced.combined);
        if (reduced.op == ir::Op::ArgMax || reduced.op == ir::Op::ArgMin)
          right += " at " + text(reduced.position, program_, &kernel);
        line(2, kernel[r].name + ": " + type(kernel[r].type) + " = " + right);
      }
      if (!stage.loop.empty() && (!stage.after.empty() || !stage.after_stores.empty())) line(1, "after");
      for (ValueId v : stage.after) define(kernel, v, 2);
      for (const Store& s : stage.after_stores)
        line(2, "store " + address(kernel, s.buffer, s.at) + " = " + use(kernel, s.value));
    }
  }

  const LoopProgram& program_;
  std::string out_;
};

}  // namespace

std::string print(const LoopProgram& program) { return Printer(program).run(); }

}  // namespace kw::act
