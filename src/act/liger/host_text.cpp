#include "act/liger/host_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "kernel/types.h"

namespace kw::act::liger {
namespace {

using kernel::Argument;
using kernel::Buffer;
using kernel::Pass;
using kernel::Role;
using Names = std::vector<std::string>;

constexpr std::size_t kWidth = 120 - 4;        // of a statement in a function
constexpr const char* kElements = "elements";  // how many the main tensor has

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}
bool is_name(const std::string& text) { return is_identifier(text) && text.find('.') == std::string::npos; }
bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
std::string tuple(const Names& items) { return "(" + join(items, ", ") + (items.size() == 1 ? ",)" : ")"); }

// Python without what stands in quotes.
std::string without_messages(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) out += c;
  }
  return out;
}

// Where `part` stands by itself, not inside of a longer word.
std::size_t find_whole(const std::string& text, const std::string& part, std::size_t from = 0) {
  for (std::size_t at = text.find(part, from); at != std::string::npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool open = (at == 0 || !is_word(text[at - 1]) || !is_word(part.front())) &&
                      (end == text.size() || !is_word(text[end]) || !is_word(part.back()));
    if (open) return at;
  }
  return std::string::npos;
}
bool mentions(const std::string& text, const std::string& word) { return find_whole(text, word) != std::string::npos; }
std::string replace_whole(std::string text, const std::string& part, const std::string& by) {
  for (std::size_t at = find_whole(text, part); at != std::string::npos; at = find_whole(text, part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

// A guard on sizes: those on memory hold for dense tensors, and fp64 is looked at by itself.
bool is_on_sizes(const std::string& guard) {
  return !guard.starts_with("dense(") && !guard.starts_with("bytes(") && !guard.starts_with("aligned(");
}

std::string negated(const std::string& condition) {
  constexpr std::pair<std::string_view, std::string_view> kOpposite[] = {
      {" <= ", " > "}, {" >= ", " < "}, {" == ", " != "}, {" < ", " >= "}, {" > ", " <= "}};
  for (const auto& [sign, opposite] : kOpposite)
    if (const std::size_t at = condition.find(sign); at != std::string::npos)
      return condition.substr(0, at) + std::string(opposite) + condition.substr(at + sign.size());
  return "not (" + condition + ")";
}

void refuse(const std::string& condition, const std::string& error, const std::string& message, Lines& out) {
  out.line("if " + condition + ":");
  const std::string flat = fmt::format("    raise {}(\"{}\")", error, message);
  if (flat.size() <= kWidth) {
    out.line(flat);
    return;
  }
  out.line(fmt::format("    raise {}(", error));
  out.line(fmt::format("        \"{}\"", message));
  out.line("    )");
}

std::string shape_of(const Buffer& buffer) { return buffer.name + "[" + join(buffer.shape, ", ") + "]"; }

// Launches as statements. What was given a name once is called by it afterwards.
class Launches {
 public:
  explicit Launches(const Pass& pass) : pass_(pass) {}

  // Sizes by the names that the host has for them.
  std::function<std::string(const std::string&)> merged;
  std::function<Result<std::string>(const Buffer&, const std::string& shape)> make;

  Result<Lines> run() {
    for (const kernel::Step& step : pass_.steps) {
      if (step.kind == kernel::Step::Kind::Fill) {
        out_.line(
            fmt::format("{}.{}", step.buffer, step.value == 0 ? "zero_()" : fmt::format("fill_({})", step.value)));
        continue;
      }
      KW_CHECK(launch(step.entries.front()));
    }
    return std::move(out_);
  }

 private:
  std::string text(const std::string& expression) const {
    std::string out = merged(expression);
    for (const auto& [known, name] : known_) out = replace_whole(std::move(out), known, name);
    out = python_size(out);
    for (const Buffer& buffer : pass_.buffers)
      out = replace_whole(std::move(out), "bytes(" + buffer.name + ")", buffer.name + ".element_size()");
    return out;
  }
  // A statement, unless it would say nothing.
  std::string named(const std::string& name, const std::string& expression) {
    const std::string value = text(expression);
    if (is_number(value) || value == name) return value;
    out_.line(name + " = " + value);
    known_.emplace_back(merged(expression), name);
    std::stable_sort(known_.begin(), known_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    return name;
  }

  Status launch(const kernel::Entry& entry) {
    std::vector<std::pair<std::string, std::string>> constants;
    for (const Argument& argument : entry.arguments)
      if (argument.kind == Argument::Kind::Constant) constants.emplace_back(argument.name, argument.of);
    std::stable_sort(constants.begin(), constants.end(),
                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::erase_if(known_, [&](const auto& known) {
      return known.second == "num_warps" || std::any_of(constants.begin(), constants.end(), [&](const auto& constant) {
               return constant.first == known.second && merged(constant.second) != known.first;
             });
    });
    std::map<std::string, std::string> values;
    for (const auto& [name, expression] : constants) values[name] = named(name, expression);
    for (const Argument& argument : entry.arguments)
      if (is_pointer(argument.kind)) KW_CHECK(make_workspace(argument.of));
    const std::string warps = entry.launch.warps.empty() ? "" : named("num_warps", entry.launch.warps);
    Names arguments;
    for (const Argument& argument : entry.arguments) {
      if (argument.kind == Argument::Kind::Size)
        arguments.push_back(text(argument.of));
      else if (argument.kind != Argument::Kind::Constant)
        arguments.push_back(argument.of);
    }
    for (const Argument& argument : entry.arguments)
      if (argument.kind == Argument::Kind::Constant) arguments.push_back(argument.name + "=" + values[argument.name]);
    if (!warps.empty()) arguments.push_back("num_warps=" + warps);
    if (entry.launch.stages > 0) arguments.push_back(fmt::format("num_stages={}", entry.launch.stages));
    Names grid;
    for (const std::string& size : entry.launch.grid) grid.push_back(text(size));
    while (grid.size() > 1 && grid.back() == "1") grid.pop_back();
    out_.line("grid = " + tuple(grid));
    for (const std::string& line : split_lines(python_list(entry.symbol + "[grid](", arguments, ")", kWidth)))
      out_.line(line);
    return {};
  }

  Status make_workspace(const std::string& name) {
    const Buffer* buffer = pass_.find(name);
    if (buffer == nullptr || buffer->role != Role::Workspace || !made_.insert(name).second) return {};
    Names shape;
    for (const std::string& size : buffer->shape) {
      const std::string value = text(size);
      const bool plain = is_number(value) || is_name(value);
      shape.push_back(plain ? value : named(name.ends_with("_slices") ? "workers" : "chunks", size));
    }
    KW_TRY(const std::string made, make(*buffer, tuple(shape)));
    out_.line(name + " = " + made);
    return {};
  }

  const Pass& pass_;
  Lines out_;
  std::vector<std::pair<std::string, std::string>> known_;  // expression → its name; the longest first
  std::set<std::string> made_;
};

}  // namespace

std::string python_size(const std::string& text) {
  Names tokens;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    if (is_word(text[i]))
      while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
    else if (end < text.size() && (text.compare(i, 2, "//") == 0 || (text[end] == '=' && text[i] != ',')))
      ++end;
    tokens.push_back(text.substr(i, end - i));
    i = end;
  }
  // Brackets around a single word.
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool call = i > 0 && is_word(tokens[i - 1].back());
    if (tokens[i] == "(" && tokens[i + 2] == ")" && !call) {
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 2);
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  std::string out;
  for (const std::string& token : tokens) {
    if (token == ",")
      out += ", ";
    else if (token == "(" || token == ")" || is_word(token[0]))
      out += token == "ceil_div" ? "triton.cdiv" : token == "next_pow2" ? "triton.next_power_of_2" : token;
    else
      out += " " + token + " ";
  }
  return out;
}

HostText::HostText(const LigerForm& form) : form_(form) {
  for (const Buffer& input : with_role(form.forward(), Role::Input))
    if (main_.name.empty() || input.shape.size() > main_.shape.size()) main_ = input;
  find_lead();
}

void HostText::find_lead() {
  const auto try_lead = [&](std::size_t count) {
    const Names lead(main_.shape.begin(), main_.shape.begin() + static_cast<std::ptrdiff_t>(count));
    for (const std::string& size : lead)
      if (!is_name(size)) return false;
    bool shown = false;  // by the backward too
    for (const Pass* pass : {&form_.forward(), &form_.backward()}) {
      for (const Buffer& buffer : pass->buffers) {
        if (buffer.role == Role::Workspace) continue;
        const bool leads = buffer.shape.size() >= count && std::equal(lead.begin(), lead.end(), buffer.shape.begin());
        for (std::size_t d = leads ? count : 0; d < buffer.shape.size(); ++d)
          for (const std::string& size : lead)
            if (mentions(buffer.shape[d], size)) return false;
        shown |= pass == &form_.backward() && buffer.role == Role::Input && buffer.shape == main_.shape;
      }
    }
    lead_ = lead;
    rows_ = count == main_.shape.size() ? kElements : "rows";
    for (const Pass* pass : {&form_.forward(), &form_.backward()}) {
      std::string all;
      for (const Buffer& buffer : pass->buffers)
        if (buffer.role == Role::Workspace) all += merged(join(buffer.shape, " ")) + " ";
      for (const kernel::Step& step : pass->steps)
        for (const kernel::Entry& entry : step.entries) {
          for (const Argument& argument : entry.arguments)
            if (argument.kind == Argument::Kind::Size || argument.kind == Argument::Kind::Constant)
              all += merged(argument.of) + " ";
          for (const std::string& size : entry.launch.grid) all += merged(size) + " ";
          for (const std::string& guard : entry.guards)
            if (is_on_sizes(guard)) all += merged(guard) + " ";
          all += merged(entry.launch.warps) + " ";
        }
      for (const std::string& size : lead) shown &= size == rows_ || !mentions(all, size);
    }
    if (!shown) lead_.clear();
    return shown;
  };
  if (!main_.shape.empty() && try_lead(main_.shape.size())) return;
  if (main_.shape.size() > 1 && try_lead(main_.shape.size() - 1)) return;
  lead_.clear();
}

std::string HostText::merged(const std::string& text) const {
  std::string out = text;
  if (!lead_.empty() && trailing() > 0 && !has(form_.code.manifest.sizes, kElements))
    out = replace_whole(std::move(out), join(main_.shape, "*"), kElements);
  if (!lead_.empty()) out = replace_whole(std::move(out), join(lead_, "*"), rows_);
  return replace_whole(std::move(out), "multiprocessors", "sm_count");
}

const Buffer& HostText::reference_tensor(const Pass& pass) const {
  for (const Buffer& buffer : pass.buffers)
    if (buffer.role == Role::Input && buffer.shape == main_.shape) return buffer;
  for (const Buffer& buffer : pass.buffers)
    if (buffer.role == Role::Input) return buffer;
  return pass.buffers.front();
}

std::string HostText::shape_text(const Pass& pass, const Buffer& buffer) const {
  const std::string tensor = reference_tensor(pass).name;
  const std::size_t count = lead_.size();
  const bool leads =
      any_rank() && buffer.shape.size() >= count && std::equal(lead_.begin(), lead_.end(), buffer.shape.begin());
  if (!leads) {
    if (!any_rank() && buffer.shape == main_.shape && reference_tensor(pass).shape == main_.shape)
      return tensor + ".shape";
    Names sizes;
    for (const std::string& size : buffer.shape) sizes.push_back(python_size(size));
    return sizes.empty() ? "()" : tuple(sizes);
  }
  if (buffer.shape == main_.shape) return tensor + ".shape";
  const std::string leading = trailing() == 0 ? tensor + ".shape" : fmt::format("{}.shape[:-{}]", tensor, trailing());
  if (buffer.shape.size() == count) return leading;
  Names sizes = {"*" + leading};
  for (std::size_t d = count; d < buffer.shape.size(); ++d) sizes.push_back(python_size(buffer.shape[d]));
  return tuple(sizes);
}

namespace {

const Buffer* shows_type(const Pass& pass, const std::string& type) {
  const auto shows = [&](const Buffer& buffer) { return buffer.role == Role::Input && buffer.type == type; };
  const auto input = std::find_if(pass.buffers.begin(), pass.buffers.end(), shows);
  return input == pass.buffers.end() ? nullptr : &*input;
}

}  // namespace

Result<std::string> HostText::dtype_text(const Pass& pass, const std::string& type) const {
  KW_TRY(const Names parts, kernel::type_parts(type));
  Names texts;
  for (const std::string& part : parts) {
    if (const auto dtype = ir::dtype_from_name(part)) {
      // No parameter is wider: fp64 is refused.
      if (*dtype == ir::DType::F32) return std::string("torch.float32");
      texts.push_back("torch." + std::string(ir::info(*dtype).torch_name));
      continue;
    }
    const Buffer* input = shows_type(pass, part);
    const Buffer* before = input ? nullptr : shows_type(form_.forward(), part);
    if (!input && !before)
      return bad_input(fmt::format("{} cannot become a Liger op: no tensor of its {} pass shows the type {}", form_.op,
                                   pass.name, part));
    texts.push_back(input ? input->name + ".dtype" : before->name + "_dtype");
  }
  std::string out = texts[0];
  for (std::size_t i = 1; i < texts.size(); ++i) out = fmt::format("torch.promote_types({}, {})", out, texts[i]);
  return out;
}

Result<std::string> HostText::allocation(const Pass& pass, const Buffer& buffer) const {
  for (const Buffer& input : pass.buffers)
    if (input.role == Role::Input && input.shape == buffer.shape && input.type == buffer.type)
      return "torch.empty_like(" + input.name + ")";
  KW_TRY(const std::string dtype, dtype_text(pass, buffer.type));
  return fmt::format("torch.empty({}, dtype={}, device={}.device)", shape_text(pass, buffer), dtype,
                     reference_tensor(pass).name);
}

std::vector<HostText::Given> HostText::given(const Pass& pass) const {
  std::vector<Given> all;
  for (const std::string& size : given_sizes(pass)) all.push_back({size, size_of(form_.forward(), size)});
  std::set<std::string> seen;
  for (const Buffer& buffer : pass.buffers) {
    const Result<Names> parts = kernel::type_parts(buffer.type);
    // What fp32 joins is fp32.
    if (buffer.role == Role::Input || !parts || has(*parts, "f32")) continue;
    for (const std::string& part : *parts) {
      const Buffer* before = shows_type(form_.forward(), part);
      if (shows_type(pass, part) || !before || !seen.insert(part).second) continue;
      all.push_back({before->name + "_dtype", before->name + ".dtype"});
    }
  }
  return all;
}

Names HostText::given_sizes(const Pass& pass) const {
  Names given;
  std::string used;
  for (const Buffer& buffer : pass.buffers) used += " " + join(buffer.shape, " ");
  for (const kernel::Step& step : pass.steps)
    for (const kernel::Entry& entry : step.entries) {
      for (const Argument& argument : entry.arguments) used += " " + argument.of;
      used += " " + join(Names(entry.launch.grid.begin(), entry.launch.grid.end()), " ");
    }
  for (const std::string& size : form_.code.manifest.sizes) {
    if (has(lead_, size) || !mentions(used, size)) continue;
    const bool shown = std::any_of(pass.buffers.begin(), pass.buffers.end(), [&](const Buffer& buffer) {
      return buffer.role == Role::Input && has(buffer.shape, size);
    });
    if (!shown) given.push_back(size);
  }
  return given;
}

std::string HostText::size_of(const Pass& pass, const std::string& size) const {
  const Buffer& tensor = reference_tensor(pass);
  const auto in = [&](const Buffer& buffer) -> std::string {
    const auto at = std::find(buffer.shape.begin(), buffer.shape.end(), size);
    if (at == buffer.shape.end()) return {};
    const bool from_end = any_rank() && buffer.shape.size() > lead_.size();
    return fmt::format("{}.shape[{}]", buffer.name, from_end ? at - buffer.shape.end() : at - buffer.shape.begin());
  };
  if (std::string text = in(tensor); !text.empty()) return text;
  for (const Buffer& buffer : pass.buffers)
    if (buffer.role == Role::Input)
      if (std::string text = in(buffer); !text.empty()) return text;
  return {};
}

void HostText::sizes(const Pass& pass, const std::string& used, Lines& out) const {
  const Buffer& tensor = reference_tensor(pass);
  const Names given = given_sizes(pass);
  Names wanted;
  for (const std::string& size : form_.code.manifest.sizes)
    if (!has(lead_, size) && !has(given, size) && mentions(used, size)) wanted.push_back(size);
  if (any_rank()) {
    Names inner;
    for (std::size_t d = lead_.size(); d < main_.shape.size(); ++d) inner.push_back(main_.shape[d]);
    const bool counted = mentions(used, rows_);
    if (counted && !inner.empty() && !has(wanted, inner[0]) && is_name(inner[0])) wanted.push_back(inner[0]);
    for (const std::string& size : wanted) out.line(size + " = " + size_of(pass, size));
    std::string all = tensor.name + ".numel()";
    if (!inner.empty() && mentions(used, kElements)) {
      out.line(std::string(kElements) + " = " + all);
      all = kElements;
    }
    if (counted) out.line(rows_ + " = " + all + (inner.empty() ? "" : " // " + python_size(inner[0])));
    return;
  }
  const bool all = tensor.shape.size() > 1 && tensor.shape == wanted;
  if (all) {
    out.line(join(tensor.shape, ", ") + " = " + tensor.name + ".shape");
    return;
  }
  for (const std::string& size : wanted) out.line(size + " = " + size_of(pass, size));
}

void HostText::checks(const Pass& pass, Lines& out) const {
  const std::vector<Buffer> inputs = with_role(pass, Role::Input);
  Names shapes, types, described, narrow;
  std::map<std::string, std::string> first;  // tensor of a type
  for (const Buffer& input : inputs) {
    described.push_back(shape_of(input));
    if (input.name != main_.name) shapes.push_back(input.name + ".shape != " + shape_text(pass, input));
    const auto [known, is_new] = first.emplace(input.type, input.name);
    if (!is_new) types.push_back(fmt::format("{}.dtype != {}.dtype", input.name, known->second));
    if (is_new && form_.code.manifest.types.contains(input.type)) narrow.push_back(input.name + ".dtype");
  }
  if (!any_rank() && main_.shape.size() != 1)
    shapes.insert(shapes.begin(), fmt::format("{}.dim() != {}", main_.name, main_.shape.size()));
  const auto each = [&](const Names& conditions, const std::string& error, const std::string& message) {
    const std::string together = join(conditions, " or ");
    if (conditions.empty()) return;
    if (together.size() + 4 <= kWidth) {
      refuse(together, error, message, out);
      return;
    }
    for (const std::string& condition : conditions) refuse(condition, error, message, out);
  };
  each(shapes, "ValueError", "shapes do not fit: " + join(described, ", "));
  std::set<std::string> said;
  Names sizes;
  for (const std::string& constraint : form_.code.manifest.constraints)
    if (said.insert(constraint).second) sizes.push_back(negated(python_size(merged(constraint))));
  for (const Pass* each_pass : {&form_.forward(), &form_.backward()})
    for (const kernel::Step& step : each_pass->steps)
      for (const kernel::Entry& entry : step.entries)
        for (const std::string& guard : entry.guards)
          if (is_on_sizes(guard) && said.insert(guard).second) sizes.push_back(negated(python_size(merged(guard))));
  for (const std::string& size : sizes) refuse(size, "ValueError", form_.op + " has no kernel where " + size, out);
  if (narrow.size() == 1)
    types.push_back(narrow[0] + " == torch.float64");
  else if (!narrow.empty())
    types.push_back("torch.float64 in " + tuple(narrow));
  each(types, "TypeError",
       form_.op + " computes in fp32" + (types.size() > 1 ? ", on tensors of one type" : ", not in fp64"));
}

Result<Lines> HostText::body(const Pass& pass) const {
  Lines made;
  for (const Role role : {Role::Output, Role::Saved})
    for (const Buffer& buffer : with_role(pass, role)) {
      KW_TRY(const std::string text, allocation(pass, buffer));
      made.line(buffer.name + " = " + text);
    }
  Launches launches(pass);
  launches.merged = [this](const std::string& text) { return merged(text); };
  launches.make = [&](const Buffer& buffer, const std::string& shape) -> Result<std::string> {
    KW_TRY(const std::string dtype, dtype_text(pass, buffer.type));
    return fmt::format("torch.empty({}, dtype={}, device={}.device)", shape, dtype, reference_tensor(pass).name);
  };
  KW_TRY(const Lines launched, launches.run());
  Lines out, checked;
  if (pass.name == "forward") checks(pass, checked);
  sizes(pass, without_messages(checked.text() + made.text() + launched.text()), out);
  out.append(checked);
  out.append(python_wrapped(made, kWidth));
  if (mentions(launched.text(), "sm_count"))
    out.line(
        fmt::format("sm_count = torch.cuda.get_device_properties({0}.device).multi_processor_count if {0}.is_cuda "
                    "else {1}",
                    reference_tensor(pass).name, 64));
  out.append(python_wrapped(launched, kWidth));
  Names results = liger::names_of(with_role(pass, Role::Output));
  for (const Buffer& buffer : with_role(pass, Role::Saved)) results.push_back(buffer.name);
  out.line("return " + join(results, ", "));
  return out;
}

}  // namespace kw::act::liger
