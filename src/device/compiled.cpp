#include "device/compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

namespace kw::device {

Result<std::vector<CompiledFile>> CompiledSet::find(std::span<const kernel::Entry* const> entries) const {
  const auto one = [this](const kernel::Entry& entry) -> Result<CompiledFile> {
    for (const CompiledFile& file : files)
      if (file.file == entry.file && (file.symbol.empty() || file.symbol == entry.symbol)) return file;
    if (late) return late->compile(entry);
    return bad_input(fmt::format("{} is not compiled", entry.file));
  };
  std::vector<std::future<Result<CompiledFile>>> begun;
  for (std::size_t i = 1; late && i < entries.size(); ++i)
    begun.push_back(std::async(std::launch::async, one, std::cref(*entries[i])));
  std::vector<Result<CompiledFile>> all;
  for (std::size_t i = 0; i < entries.size(); ++i)
    all.push_back(i == 0 || !late ? one(*entries[i]) : begun[i - 1].get());
  std::vector<CompiledFile> found;
  for (Result<CompiledFile>& result : all) {
    KW_TRY(CompiledFile file, std::move(result));
    found.push_back(std::move(file));
  }
  return found;
}

double CompiledSet::seconds() const {
  double sum = late ? late->seconds() : 0;
  for (const CompiledFile& file : files) sum += file.seconds;
  return sum;
}

}  // namespace kw::device
