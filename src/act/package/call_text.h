// Pieces of the C++ that calls a kernel: its types, guards and arguments as the manifest states them, in the words of
// runtime/host.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/emit/lines.h"
#include "act/package/op_form.h"

namespace kw::act {

// The macros of a mixture: KW_T → kw::bf16.
Result<std::map<std::string, std::string>> type_macros(const kernel::TypeBinding& mixture);
// "Dtype::kBF16", "kw::bf16".
Result<std::string> dtype_text(ir::DType dtype);
Result<std::string> element_text(ir::DType dtype);
// The element types of buffers, by mixture: "{Dtype::kBF16, Dtype::kBF16}, {Dtype::kF32, Dtype::kF32}".
Result<std::string> type_rows(const OpForm& form, const std::vector<kernel::Buffer>& buffers);
Result<std::vector<std::string>> sizes_of(const std::vector<std::string>& shape);
// When an entry may be called: its guards, and what its arguments can hold.
Result<std::string> condition_of(const kernel::Entry& entry, bool on_gpu);
Result<std::vector<std::string>> arguments_of(const OpForm& form, const kernel::Entry& entry);
// The types of a kernel's parameters, pointers as pointers to anything: "void*, std::int64_t, float".
Result<std::string> parameter_types(const OpForm& form, const kernel::Entry& entry);

std::vector<std::string> symbols_of(const kernel::Pass& pass);  // of its kernels, each once
std::size_t symbol_index(const kernel::Pass& pass, const std::string& symbol);
const kernel::Entry& entry_of(const kernel::Pass& pass, const std::string& symbol);
// Does anything in the pass depend on this property of the machine ("threads", "multiprocessors")?
bool asks_for(const kernel::Pass& pass, const std::string& machine);

// The lines, long ones broken; a text in quotes stays on its line.
std::string broken_text(const Lines& lines);

}  // namespace kw::act
