// The JSON of python/kernelwright/read_ast.py as an `ast.h` tree. Text from outside: anything that is not such JSON is
// an error, never a crash.
#pragma once

#include <string_view>

#include "base/result.h"
#include "understand/python/ast.h"

namespace kw::understand::python {

// {"ok": [statements]}: a file. A syntax error that the parser reported comes back with its line and column in `place`
// (file not filled in).
Result<Block> read_module_json(std::string_view json);

// {"ok": statement}: one definition.
Result<Stmt> read_statement_json(std::string_view json);

}  // namespace kw::understand::python
