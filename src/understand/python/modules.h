// The user's files as Python modules. Nothing at a file's top level is run until a name is asked for; then only the
// statements that bind or change that name are, in their order. Imports are followed within the package of the file.
#pragma once

#include <climits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "understand/python/objects.h"

namespace kw::understand::python {

class Interpreter;
class Packages;

class PythonModule : public Object {
 public:
  PythonModule(SourceFile& file, std::string dotted, bool is_package);
  std::string describe() const override { return "module " + name; }

  SourceFile& file;
  std::string name;         // dotted: "package.models.llama"
  bool is_package = false;  // an __init__.py

  // The value of a top-level name at this time; nothing if the file does not bind it.
  Result<std::optional<Value>> find(Interpreter& interpreter, std::string_view wanted);
  Result<Value> import_name(Interpreter& interpreter, const ImportFrom& statement, const Alias& alias);
  void store(const std::string& wanted, Value value);  // from the statement that runs now
  bool binds(std::string_view wanted) const { return touching_.contains(wanted); }
  std::vector<const Stub*> definitions() const;  // top-level classes and functions, in order
  // Module-level names whose ints are sizes: those of a file that has get_inputs().
  bool is_problem() const { return touching_.contains("get_inputs"); }
  void forget();  // the values of an earlier reading

 private:
  Status run(Interpreter& interpreter, size_t index);
  Result<Value> imported(Interpreter& interpreter, const Stmt& statement, std::string_view wanted);

  std::map<std::string, std::vector<size_t>, std::less<>> touching_;                    // name to statements, ascending
  std::map<std::string, std::vector<std::pair<size_t, Value>>, std::less<>> versions_;  // ascending by statement
  std::vector<char> state_;  // per statement: 0 not run, 1 running, 2 run
  std::vector<const ImportFrom*> star_imports_;
  size_t time_ = SIZE_MAX;  // the statement that runs now; names bound later do not exist yet
};

Value module_object(PythonModule* module);

// A top-level class or function and the file that defines it, found through imports without running anything.
struct Definition {
  PythonModule* module = nullptr;
  const Stub* stub = nullptr;
};

// Finds the files that imports name.
class Packages {
 public:
  explicit Packages(SourceReader& sources) : sources_(sources) {}
  PythonModule& add(SourceFile& file);  // the file that is read; its package is found by the __init__.py beside it
  // The module of that name as an import in `from` sees it: level 0 absolute, 1 the package of `from`, …; null where no
  // file of the package has it.
  Result<PythonModule*> find(const PythonModule& from, const std::string& dotted, int64_t level);
  std::string absolute(const PythonModule& from, const std::string& dotted, int64_t level) const;
  Result<Definition> definition(PythonModule& from, const std::string& name, int hops = 0);
  SourceReader& sources() { return sources_; }
  void forget();

 private:
  Result<PythonModule*> load(const std::string& dotted);
  SourceReader& sources_;
  std::string root_;                                              // the folder that absolute imports start from
  std::map<std::string, std::unique_ptr<PythonModule>> modules_;  // null: looked for and not there
};

}  // namespace kw::understand::python
