#include "understand/python/read.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "ir/infer.h"
#include "understand/python/finish.h"
#include "understand/python/interface.h"

namespace kw::understand {
namespace {

using namespace python;

constexpr int kMostRounds = 200;  // each fixes a size, a scalar or a type, or makes two sizes one

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<ptrdiff_t>(std::min<size_t>(names.size(), 12)));
  std::string text = join(shown, ", ");
  if (names.size() > shown.size()) text += " and " + std::to_string(names.size() - shown.size()) + " more";
  return text;
}

bool mentions(std::string_view text, const std::string& name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const size_t end = at + name.size();
    if (starts && (end >= text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

// The functions and modules of a file that somebody may want to read, without those that only serve another one.
std::vector<std::string> candidates(const SourceFile& file) {
  std::vector<const Stmt*> definitions;
  for (const Stmt& statement : file.body) {
    const auto* stub = statement.get<Stub>();
    if (!stub || stub->name.starts_with("_") || stub->name == "get_inputs" || stub->name == "get_init_inputs") continue;
    if (stub->is_class) {
      const bool is_config = std::any_of(stub->bases.begin(), stub->bases.end(), [](const ExprPtr& base) {
        const auto* name = base->get<Name>();
        return name && name->id.ends_with("Config");
      });
      if (stub->bases.empty() || is_config) continue;
    }
    definitions.push_back(&statement);
  }
  std::vector<std::string> names;
  for (const Stmt* statement : definitions) {
    const std::string& name = statement->get<Stub>()->name;
    const bool serves_another = std::any_of(file.body.begin(), file.body.end(), [&](const Stmt& other) {
      const auto* stub = other.get<Stub>();
      if (&other == statement || !stub || stub->name.starts_with("get_in")) return false;
      return mentions(file.excerpt(other.span), name);
    });
    if (!serves_another) names.push_back(name);
  }
  if (names.empty()) {
    for (const Stmt* statement : definitions) names.push_back(statement->get<Stub>()->name);
  }
  return names;
}

Result<std::string> select(const PythonModule& module, const std::string& wanted) {
  const SourceFile& file = module.file;
  std::vector<std::string> all;
  for (const Stmt& statement : file.body) {
    if (const auto* stub = statement.get<Stub>()) all.push_back(stub->name);
  }
  if (!wanted.empty()) {
    const std::string top = wanted.substr(0, wanted.find('.'));
    if (!module.binds(top)) {
      std::string hint = did_you_mean(top, all);
      if (hint.empty() && !all.empty()) hint = "it has " + listed(all);
      return bad_input("there is no class or function " + top + " at the top level of the file", Place{file.path},
                       hint);
    }
    return wanted;
  }
  const std::vector<std::string> found = candidates(file);
  if (found.empty()) {
    return bad_input("the file defines no function and no nn.Module", Place{file.path},
                     "write a function on tensors or an nn.Module into it");
  }
  if (found.size() > 1) {
    return bad_input("the file has several candidates: " + listed(found), Place{file.path},
                     "say which one: " + file.path + ":" + found[0]);
  }
  return found[0];
}

class Reading {
 public:
  Reading(SourceReader& sources, Packages& packages, PythonModule& module, const ReadRequest& request, std::string name,
          bool is_default)
      : sources_(sources),
        packages_(packages),
        module_(module),
        request_(request),
        name_(std::move(name)),
        is_default_(is_default) {}

  // The rules may offer several shapes for a tensor that nothing describes: they are tried in order, those for any name
  // behind those for the tensor's own. Where none fits, an argument that defaults to None is given what the rules have
  // for it.
  Result<ReadResult> read() {
    std::optional<Error> first;
    std::optional<ReadResult> implausible;
    Trial trial;
    Offered offered;
    for (trial.fill_none = false;; trial.fill_none = true) {
      for (const bool any_name : {false, true}) {
        if (any_name && !offered.has_rows_by_name) break;
        trial.rows_of_any_name = any_name;
        trial.rows.clear();
        offered.rows.clear();
        std::vector<std::vector<size_t>> choices = {{}};
        for (size_t i = 0; i < choices.size(); ++i) {
          trial.rows = choices[i];
          auto result = read_with_rules(trial, offered);
          if (i == 0) choices = choices_of_rows(offered.rows);
          if (result && !offered.is_implausible) return result;
          if (result && !implausible) implausible = *std::move(result);
          if (!result && !first) first = with_assumed_shapes(std::move(result).error(), offered);
        }
      }
      if (implausible) return *std::move(implausible);
      if (trial.fill_none || !offered.has_fillers) return tl::make_unexpected(*std::move(first));
    }
  }

 private:
  // What a reading tells about the rules that it used.
  struct Offered {
    std::vector<size_t> rows;  // how many there are to try, for each group of tensors
    bool has_rows_by_name = false;
    bool has_fillers = false;
    bool is_implausible = false;
    std::string shapes;  // that were assumed
  };

  // Every choice of a row for each group, those of the upper rows first, as far as time allows.
  static std::vector<std::vector<size_t>> choices_of_rows(const std::vector<size_t>& counts) {
    constexpr size_t kMost = 32;
    std::vector<std::vector<size_t>> choices;
    size_t lowest = 0;  // the sum of the last choice
    for (const size_t count : counts) lowest += count - 1;
    // Of `left` steps down in all, how many a group takes and what remains for the groups behind it.
    const std::function<void(std::vector<size_t>, size_t)> descend = [&](std::vector<size_t> rows, size_t left) {
      if (choices.size() == kMost) return;
      if (rows.size() == counts.size()) {
        if (left == 0) choices.push_back(std::move(rows));
        return;
      }
      for (size_t row = std::min(left, counts[rows.size()] - 1) + 1; row-- > 0;) {
        std::vector<size_t> longer = rows;
        longer.push_back(row);
        descend(std::move(longer), left - row);
      }
    };
    for (size_t sum = 0; sum <= lowest && choices.size() < kMost; ++sum) descend({}, sum);
    return choices;
  }

  // Shapes that do not fit may be those that the rules supplied.
  static Error with_assumed_shapes(Error error, const Offered& offered) {
    const auto mentions_any = [&](std::initializer_list<const char*> words) {
      return std::any_of(words.begin(), words.end(),
                         [&](const char* word) { return error.message.find(word) != std::string::npos; });
    };
    if (offered.shapes.empty() || !error.hint.empty()) return error;
    if (!mentions_any({"shape", "size", "rank", "dimension", "the program raises"})) return error;
    error.hint = "the source gives no shape: assumed was " + offered.shapes + "; give yours with --shape NAME=SIZES";
    return error;
  }

  Result<ReadResult> read_with_rules(const Trial& trial, Offered& offered) {
    Facts facts;
    for (int round = 0; round < kMostRounds; ++round) {
      packages_.forget();
      Interpreter interpreter(sources_, facts, packages_, request_.training);
      Interface interface(interpreter, packages_, request_, module_, trial);
      auto result = read_once(interpreter, interface);
      if (facts.changed()) continue;
      offered.rows = interface.rows_of_groups();
      offered.has_rows_by_name = offered.has_rows_by_name || interface.has_rows_by_name();
      offered.has_fillers = offered.has_fillers || interface.has_fillers();
      offered.shapes = interface.assumed_shapes();
      if (!result) return result;
      offered.is_implausible = interface.is_implausible(result->graph);
      KW_TRY(const bool bound, fix_unbound_sizes(facts, result->graph));
      if (!bound) continue;
      KW_CHECK(interface.check_all_used());
      note_fixed(facts, interpreter, *result);
      KW_CHECK(ir::check(result->graph));
      return result;
    }
    return fail(ErrorKind::Internal, "reading " + name_ + " does not come to an end");
  }

  // A size that the shapes of the inputs do not tell at run time is a number. False: one was fixed, to read again.
  Result<bool> fix_unbound_sizes(Facts& facts, const ir::Graph& graph) const {
    std::set<std::string> bound;
    for (const ir::Input& input : graph.inputs) {
      for (const ir::AxisId axis : input.dims) {
        const auto symbol = axis == ir::kUnit ? std::nullopt : graph.axis(axis).size.as_symbol();
        if (symbol) bound.insert(graph.symbols[static_cast<size_t>(*symbol)].name);
      }
    }
    for (const ir::Symbol& symbol : graph.symbols) {
      if (!bound.contains(symbol.name)) KW_CHECK(facts.fix_named(symbol.name));
    }
    return !facts.changed();
  }

  Result<std::optional<std::vector<Value>>> example(Interpreter& interpreter, const char* function) {
    if (!is_default_ || !module_.binds(function)) return std::optional<std::vector<Value>>();
    KW_TRY(const Value callee, interpreter.lookup_in(module_, function));
    interpreter.set_sampling(true);
    auto values = interpreter.call(callee, {});
    interpreter.set_sampling(false);
    if (!values) return tl::make_unexpected(std::move(values).error());
    const auto* items = sequence_items(*values);
    if (!items) return interpreter.refuse(std::string(function) + "() does not return a list");
    return *items;
  }

  Status set_default_types(Interpreter& interpreter) {
    std::map<std::string, ir::DType> types;
    for (const auto& [name, text] : request_.dtypes) {
      if (!is_type_parameter(name)) continue;
      const auto dtype = ir::dtype_from_name(text);
      if (!dtype || !ir::is_floating(*dtype) || ir::is_weak(*dtype)) {
        return bad_input("--dtype " + name + "=" + text + ": a type parameter is a floating type", {},
                         "for example bf16 or f32");
      }
      types[name] = *dtype;
    }
    interpreter.set_default_types(std::move(types));
    return {};
  }

  Result<Value> construct(Interpreter& interpreter, Interface& interface, const std::shared_ptr<ClassObject>& type) {
    KW_TRY(auto given, example(interpreter, "get_init_inputs"));
    interpreter.at(type->file, type->span);
    std::shared_ptr<FunctionObject> init;
    for (const auto& base : type->mro) {
      const auto* user_class = dynamic_cast<const ClassObject*>(base.get());
      const Value* found = user_class ? user_class->attributes.find("__init__") : nullptr;
      if (found) {
        init = as<FunctionObject>(*found);
        break;
      }
    }
    Arguments arguments;
    if (init) {
      KW_TRY(arguments,
             interface.constructor_arguments(*init, *type, given ? *std::move(given) : std::vector<Value>{}));
    } else if (given) {
      arguments.positional = *std::move(given);
    }
    interpreter.at(type->file, type->span);
    return interpreter.instantiate(type, std::move(arguments));
  }

  Result<ReadResult> read_once(Interpreter& interpreter, Interface& interface) {
    interpreter.at(&module_.file, {});
    KW_CHECK(set_default_types(interpreter));
    const size_t dot = name_.find('.');
    KW_TRY(const Value top, interpreter.lookup_in(module_, name_.substr(0, dot)));
    const std::string method = dot == std::string::npos ? "" : name_.substr(dot + 1);
    const auto type = as<ClassObject>(top);
    std::optional<Value> instance;
    Value callee = top;
    bool bound = false;
    if (type) {
      interpreter.at(type->file, type->span);
      if (method.empty() && !interpreter.is_module_class(*type)) {
        return interpreter.refuse("class " + type->name + " is not an nn.Module",
                                  "name a function, a module, or Class.method");
      }
      KW_TRY(callee, interpreter.attribute(top, method.empty() ? "forward" : method));
      const auto function = as<FunctionObject>(callee);
      bound = !function || function->binding == FunctionObject::Binding::Plain;
      if (bound) {
        KW_TRY(instance, construct(interpreter, interface, type));
        KW_CHECK(interface.set_parameter_types(*instance));
        KW_TRY(callee, interpreter.attribute(*instance, method.empty() ? "forward" : method));
      }
    }
    const auto bound_method = as<BoundMethod>(callee);
    const auto function = bound_method ? bound_method->function : as<FunctionObject>(callee);
    if (!function)
      return interpreter.refuse(name_ + " is " + interpreter.type_name(callee) + ", which is not read by itself");
    KW_TRY(auto given, example(interpreter, "get_inputs"));
    interpreter.torch().random_calls = 0;
    const std::string inside = type ? type->name : function->name;
    KW_TRY(Arguments arguments, interface.call_arguments(*function, inside, bound, std::move(given)));
    interpreter.at(function->file, function->span);
    interpreter.set_running();
    KW_TRY(const Value returned, interpreter.call(callee, std::move(arguments)));
    interpreter.at(function->file, function->span);
    const auto describe = [&](ReadResult& result) {
      result.constructor = interface.constructor_values();
      result.call = interface.call_values();
    };
    const std::string short_name = method.empty() ? name_ : method;
    KW_TRY(ReadResult result,
           finish_reading(interpreter, returned, instance ? &*instance : nullptr, short_name, describe));
    result.place = type ? type->file->place(type->span) : function->file->place(function->span);
    result.place.end_column = 0;
    result.assumptions = interpreter.assumptions();
    for (const std::string& text : interpreter.torch().assumptions) {
      result.assumptions.push_back({text, "", "PyTorch's own semantics", result.place});
    }
    for (const auto& file : sources_.files()) {
      if (!file->is_option) result.files.push_back({file->path, file->text});
    }
    for (const auto& file : sources_.files()) result.graph.source_files.push_back(file->path);
    return result;
  }

  void note_fixed(const Facts& facts, const Interpreter&, ReadResult& result) const {
    for (const auto& fixed : facts.fixed_sizes()) {
      result.assumptions.push_back({"size " + fixed.name, std::to_string(fixed.value),
                                    "the program needs it as a number (a stride, a count, a branch)", result.place});
    }
    for (const std::string& name : facts.fixed_scalars()) {
      std::string value = "a constant";
      for (const auto* arguments : {&result.call, &result.constructor})
        for (const ReadArgument& argument : *arguments)
          if (argument.name == name || argument.name.ends_with("." + name)) value = argument.value;
      result.assumptions.push_back(
          {"scalar " + name, value, "the program decides a branch or a size by it", result.place});
    }
    if (facts.types_are_fixed()) {
      result.assumptions.push_back(
          {"element types", "fixed", "the program asks for the type of a tensor", result.place});
    }
  }

  SourceReader& sources_;
  Packages& packages_;
  PythonModule& module_;
  const ReadRequest& request_;
  std::string name_;
  bool is_default_;
};

}  // namespace

Result<ReadResult> read_python(const ReadRequest& request) {
  SourceReader sources;
  KW_TRY(SourceFile * file, request.text ? sources.open_text(request.path, *request.text) : sources.open(request.path));
  Packages packages(sources);
  PythonModule& module = packages.add(*file);
  KW_TRY(const std::string name, select(module, request.name));
  const std::vector<std::string> all = candidates(*file);
  // get_inputs() describes the file's own problem: its only candidate.
  const bool is_default = all.size() == 1 && all[0] == name;
  return Reading(sources, packages, module, request, name, is_default).read();
}

}  // namespace kw::understand
