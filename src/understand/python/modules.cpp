#include "understand/python/modules.h"

#include <filesystem>
#include <functional>

#include "base/file.h"
#include "base/text.h"
#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

// Names that a statement binds or changes when it runs at a file's top level.
class Touched {
 public:
  std::vector<std::string> names;
  std::vector<const ImportFrom*> stars;

  void statement(const Stmt& s) {
    if (const auto* f = s.get<FunctionDef>()) add(f->name);
    if (const auto* c = s.get<ClassDef>()) add(c->name);
    if (const auto* stub = s.get<Stub>()) add(stub->name);
    if (const auto* a = s.get<Assign>()) {
      for (const ExprPtr& t : a->targets) target(*t);
    }
    if (const auto* a = s.get<AugmentedAssign>()) target(*a->target);
    if (const auto* a = s.get<AnnotatedAssign>(); a && a->value) target(*a->target);
    if (const auto* d = s.get<Delete>()) {
      for (const ExprPtr& t : d->targets) target(*t);
    }
    if (const auto* e = s.get<ExpressionStatement>()) {
      if (const auto* call = e->value->get<Call>()) root(*call->function);
    }
    if (const auto* f = s.get<For>()) {
      target(*f->target);
      block(f->body);
      block(f->otherwise);
    }
    if (const auto* w = s.get<While>()) {
      block(w->body);
      block(w->otherwise);
    }
    if (const auto* i = s.get<If>()) {
      block(i->body);
      block(i->otherwise);
    }
    if (const auto* w = s.get<With>()) block(w->body);
    if (const auto* t = s.get<Try>()) {
      block(t->body);
      for (const Handler& handler : t->handlers) block(handler.body);
      block(t->otherwise);
      block(t->finally);
    }
    if (const auto* i = s.get<Import>()) {
      for (const Alias& alias : i->names) add(alias.as ? *alias.as : alias.name.substr(0, alias.name.find('.')));
    }
    if (const auto* i = s.get<ImportFrom>()) {
      for (const Alias& alias : i->names) {
        if (alias.name == "*") {
          stars.push_back(i);
        } else {
          add(alias.as.value_or(alias.name));
        }
      }
    }
  }

 private:
  void add(const std::string& name) { names.push_back(name); }
  void block(const Block& statements) {
    for (const Stmt& s : statements) statement(s);
  }
  void root(const Expr& e) {
    if (const auto* name = e.get<Name>()) add(name->id);
    if (const auto* attribute = e.get<Attribute>()) root(*attribute->value);
    if (const auto* item = e.get<Subscript>()) root(*item->value);
    if (const auto* call = e.get<Call>()) root(*call->function);
  }
  void target(const Expr& e) {
    if (const auto* display = e.get<Display>()) {
      for (const ExprPtr& item : display->items) target(*item);
    } else if (const auto* starred = e.get<Starred>()) {
      target(*starred->value);
    } else {
      root(e);
    }
  }
};

}  // namespace

Value module_object(PythonModule* module) {
  return object_value(std::shared_ptr<PythonModule>(std::shared_ptr<void>(), module));
}

PythonModule::PythonModule(SourceFile& f, std::string dotted, bool package)
    : file(f), name(std::move(dotted)), is_package(package), state_(f.body.size(), 0) {
  for (size_t i = 0; i < file.body.size(); ++i) {
    Touched touched;
    touched.statement(file.body[i]);
    for (const std::string& wanted : touched.names) {
      auto& statements = touching_[wanted];
      if (statements.empty() || statements.back() != i) statements.push_back(i);
    }
    star_imports_.insert(star_imports_.end(), touched.stars.begin(), touched.stars.end());
  }
}

void PythonModule::forget() {
  versions_.clear();
  state_.assign(state_.size(), 0);
  time_ = SIZE_MAX;
}

std::vector<const Stub*> PythonModule::definitions() const {
  std::vector<const Stub*> result;
  for (const Stmt& statement : file.body) {
    if (const auto* stub = statement.get<Stub>()) result.push_back(stub);
  }
  return result;
}

void PythonModule::store(const std::string& wanted, Value value) {
  const size_t now = time_ == SIZE_MAX ? file.body.size() : time_;
  auto& versions = versions_[wanted];
  auto place = versions.begin();
  while (place != versions.end() && place->first < now) ++place;
  if (place != versions.end() && place->first == now) {
    place->second = std::move(value);
  } else {
    versions.insert(place, {now, std::move(value)});
  }
}

Status PythonModule::run(Interpreter& interpreter, size_t index) {
  const Stmt& statement = file.body[index];
  if (state_[index] == 1) {
    interpreter.at(&file, statement.span);
    return interpreter.refuse("this definition depends on itself");
  }
  state_[index] = 1;
  const size_t saved_time = std::exchange(time_, index);
  const SourceFile* const saved_file = interpreter.file_;
  const Span saved_span = interpreter.span_;
  interpreter.at(&file, statement.span);
  Frame frame;
  frame.file = &file;
  frame.scope = std::make_shared<Scope>();
  frame.scope->module = this;
  frame.top_level = this;
  frame.result = none();
  interpreter.frames_.push_back(std::move(frame));
  auto flow = interpreter.execute(statement);
  interpreter.frames_.pop_back();
  interpreter.at(saved_file, saved_span);
  time_ = saved_time;
  state_[index] = flow ? 2 : 0;
  KW_CHECK(std::move(flow));
  return {};
}

Result<Value> PythonModule::imported(Interpreter& interpreter, const Stmt& statement, std::string_view wanted) {
  Packages& packages = interpreter.packages_;
  if (const auto* import = statement.get<Import>()) {
    for (const Alias& alias : import->names) {
      const std::string top = alias.name.substr(0, alias.name.find('.'));
      if (wanted != (alias.as ? *alias.as : top)) continue;
      const std::string& dotted = alias.as ? alias.name : top;
      KW_TRY(PythonModule * module, packages.find(*this, dotted, 0));
      return module ? module_object(module) : external(dotted);
    }
  }
  const auto* import = statement.get<ImportFrom>();
  KW_ASSERT(import != nullptr, "only imports are resolved here");
  const auto alias = std::find_if(import->names.begin(), import->names.end(),
                                  [&](const Alias& a) { return a.as.value_or(a.name) == wanted; });
  KW_ASSERT(alias != import->names.end(), "the statement binds the name");
  return import_name(interpreter, *import, *alias);
}

Result<Value> PythonModule::import_name(Interpreter& interpreter, const ImportFrom& statement, const Alias& alias) {
  Packages& packages = interpreter.packages_;
  KW_TRY(PythonModule * module, packages.find(*this, statement.module, statement.level));
  const std::string dotted = packages.absolute(*this, statement.module, statement.level);
  // A question about the environment is answered by the rules; how the package finds the answer is not read.
  const std::string full = dotted + "." + alias.name;
  if (published_rules().environment_of(full)) return external(full);
  if (module && module != this) {
    KW_TRY(auto found, module->find(interpreter, alias.name));
    if (found) return *std::move(found);
  }
  KW_TRY(PythonModule * inner, packages.find(*this, dotted + "." + alias.name, 0));
  if (inner) return module_object(inner);
  return interpreter.attribute(external(dotted), alias.name);
}

Result<std::optional<Value>> PythonModule::find(Interpreter& interpreter, std::string_view wanted) {
  const auto touched = touching_.find(wanted);
  if (touched != touching_.end()) {
    for (const size_t index : touched->second) {
      if (index >= time_) {
        // A statement that has changed the name already, seen from before it.
        const bool binds_only = file.body[index].get<Assign>() || file.body[index].get<Stub>() ||
                                file.body[index].get<Import>() || file.body[index].get<ImportFrom>();
        if (state_[index] == 2 && !binds_only) {
          return interpreter.refuse(std::string(wanted) +
                                    " changes at the top level of the file in an order that is not followed");
        }
        break;
      }
      const Stmt& statement = file.body[index];
      if (statement.get<Import>() || statement.get<ImportFrom>()) {
        auto& versions = versions_[std::string(wanted)];
        const bool known =
            std::any_of(versions.begin(), versions.end(), [&](const auto& v) { return v.first == index; });
        if (known) continue;
        KW_TRY(Value value, imported(interpreter, statement, wanted));
        const size_t saved = std::exchange(time_, index);
        store(std::string(wanted), std::move(value));
        time_ = saved;
      } else if (state_[index] != 2) {
        // A statement that changes what the name holds (d.update(…)) looks the name up itself: it is then running.
        if (state_[index] == 1 && !file.body[index].get<Stub>()) break;
        KW_CHECK(run(interpreter, index));
      }
    }
  }
  if (const auto versions = versions_.find(wanted); versions != versions_.end()) {
    const Value* last = nullptr;
    for (const auto& [index, value] : versions->second) {
      if (index < time_ || time_ == SIZE_MAX || index == time_) last = &value;
    }
    if (last) return *last;
  }
  for (const ImportFrom* star : star_imports_) {
    KW_TRY(PythonModule * module, interpreter.packages_.find(*this, star->module, star->level));
    if (module && module != this) {
      KW_TRY(auto found, module->find(interpreter, wanted));
      if (found) return found;
    } else if (!module && star->module.starts_with("torch")) {
      const std::string path = star->module + "." + std::string(wanted);
      if (knows_torch(path)) return external(path);
    }
  }
  return std::optional<Value>();
}

// ---- packages ------------------------------------------------------------------------------------------------------

PythonModule& Packages::add(SourceFile& file) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(file.path);
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const bool is_package = path.filename() == "__init__.py";
  std::string dotted = is_package ? "" : path.stem().string();
  std::error_code ignored;
  while (fs::is_regular_file(folder / "__init__.py", ignored) && folder.has_filename() && folder != "." &&
         folder != "..") {
    dotted = folder.filename().string() + (dotted.empty() ? "" : "." + dotted);
    folder = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  }
  root_ = folder.string();
  auto& slot = modules_[dotted];
  slot = std::make_unique<PythonModule>(file, dotted, is_package);
  return *slot;
}

std::string Packages::absolute(const PythonModule& from, const std::string& dotted, int64_t level) const {
  if (level == 0) return dotted;
  std::string base = from.name;
  for (int64_t up = from.is_package ? 1 : 0; up < level; ++up) {
    const size_t dot = base.rfind('.');
    base = dot == std::string::npos ? "" : base.substr(0, dot);
  }
  if (base.empty()) return dotted;
  return dotted.empty() ? base : base + "." + dotted;
}

Result<PythonModule*> Packages::find(const PythonModule& from, const std::string& dotted, int64_t level) {
  return load(absolute(from, dotted, level));
}

Result<PythonModule*> Packages::load(const std::string& dotted) {
  if (dotted.empty()) return nullptr;
  if (const auto known = modules_.find(dotted); known != modules_.end()) return known->second.get();
  const std::string top = dotted.substr(0, dotted.find('.'));
  std::unique_ptr<PythonModule> module;
  // torch itself is never read as source, wherever it lies.
  if (top != "torch" && top != "math" && top != "typing" && top != "functools") {
    const std::string stem = (root_.empty() ? "." : root_) + "/" + replace_all(dotted, ".", "/");
    for (const bool is_package : {false, true}) {
      const std::string path = stem + (is_package ? "/__init__.py" : ".py");
      if (!file_exists(path)) continue;
      KW_TRY(SourceFile * file, sources_.open(path));
      module = std::make_unique<PythonModule>(*file, dotted, is_package);
      break;
    }
  }
  auto& slot = modules_[dotted];
  slot = std::move(module);
  return slot.get();
}

Result<Definition> Packages::definition(PythonModule& from, const std::string& name, int hops) {
  for (const Stmt& statement : from.file.body) {
    if (const auto* stub = statement.get<Stub>(); stub && stub->name == name) return Definition{&from, stub};
    const auto* import = statement.get<ImportFrom>();
    if (!import || hops > 8) continue;
    for (const Alias& alias : import->names) {
      if (alias.as.value_or(alias.name) != name) continue;
      KW_TRY(PythonModule * module, find(from, import->module, import->level));
      if (module && module != &from) return definition(*module, alias.name, hops + 1);
    }
  }
  return Definition{};
}

void Packages::forget() {
  for (auto& entry : modules_) {
    if (entry.second) entry.second->forget();
  }
}

}  // namespace kw::understand::python
