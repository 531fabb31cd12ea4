// Element types as C++ spells them in a generated kernel. A type parameter is an alias that the compiler is given
// (`using T = KW_T;`), so that one text serves every type:
//
//   T       what a tensor holds                 T32    what values of T are computed in: float, or double for double
//   TW      what T and W are promoted to        TW32   likewise
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "act/loop/loop.h"

namespace kw::act::cpp {

class CppTypes {
 public:
  explicit CppTypes(const std::vector<ir::TypeParameter>& parameters) : parameters_(parameters) {}

  std::string stored(ir::Type type);    // what memory holds: "T", "kw::bf16", "float", "int64_t"
  std::string computed(ir::Type type);  // what a local variable holds: "T32", "float", "double"
  // Whether a computed value still has to be rounded to its own type.
  bool rounds(ir::Type type) { return stored(type) != computed(type); }
  static bool is_float(const std::string& cpp_type);  // for certain: "float" and "double" alone

  // The type of a name that `stored` gave, as a manifest writes it: "T|f32".
  std::string manifest_text(const std::string& cpp_type) const;

  // The `using` lines for every alias that was asked for, in a fixed order.
  std::vector<std::string> aliases() const;
  std::vector<std::string> names() const;  // of the parameters and aliases: not free for anything else

 private:
  std::string join(uint16_t parameters) const;  // "TW"
  std::string name(ir::Type type);
  const std::vector<ir::TypeParameter>& parameters_;
  std::set<uint16_t> joins_, wides_;  // asked for, as sets of parameters
  std::set<std::pair<uint16_t, ir::DType>> others_;
  std::map<std::string, ir::Type> given_;
};

}  // namespace kw::act::cpp
