#include "device/cuda/ptxas_report.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace kw::device::cuda {
namespace {

// "'name'" after a word.
std::string quoted_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = line.find('\'', at + words.size());
  const std::size_t end = begin == std::string_view::npos ? begin : line.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string() : std::string(line.substr(begin + 1, end - begin - 1));
}

// The number that stands before "WORDS" in a list of "NUMBER WORDS" and "used NUMBER WORDS".
std::optional<int> number_before(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos || at < 2) return std::nullopt;
  const std::size_t begin = line.find_last_not_of("0123456789", at - 2);
  const std::size_t first = begin == std::string_view::npos ? 0 : begin + 1;
  int value = 0;
  const auto [end, error] = std::from_chars(line.data() + first, line.data() + at - 1, value);
  if (error != std::errc() || end != line.data() + at - 1 || first == at - 1) return std::nullopt;
  return value;
}

void take(std::string_view line, std::string_view words, int& into) {
  if (const auto number = number_before(line, words)) into = *number;
}

}  // namespace

std::vector<KernelReport> ptxas_reports(std::string_view log) {
  std::vector<KernelReport> reports;
  bool open = false;  // a kernel has begun, and its registers have not been named
  bool own = true;    // the properties are of the kernel, not of a function that it calls
  for (const std::string& line : split_lines(log)) {
    if (const std::string symbol = quoted_after(line, "Compiling entry function"); !symbol.empty()) {
      if (open) reports.pop_back();
      reports.push_back({symbol, quoted_after(line, "' for")});
      open = own = true;
      continue;
    }
    if (!open) continue;
    KernelReport& report = reports.back();
    if (const std::size_t at = line.find("Function properties for "); at != std::string::npos)
      own = trim(std::string_view(line).substr(at + 24)) == report.symbol;
    int stack = 0, stores = 0, loads = 0;
    take(line, "bytes stack frame", stack);
    take(line, "bytes spill stores", stores);
    take(line, "bytes spill loads", loads);
    if (own) report.stack_bytes += stack;
    report.spill_store_bytes += stores;  // a function that the kernel calls spills in its name
    report.spill_load_bytes += loads;
    if (const auto registers = number_before(line, "registers")) {
      report.registers = *registers;
      take(line, "barriers", report.barriers);
      take(line, "bytes smem", report.shared_bytes);
      take(line, "bytes cumulative stack size", report.stack_bytes);
      open = false;
    }
  }
  if (open) reports.pop_back();
  return reports;
}

std::string to_json(const std::vector<KernelReport>& reports) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const KernelReport& r : reports)
    rows.push_back({{"symbol", r.symbol},
                    {"architecture", r.architecture},
                    {"registers", r.registers},
                    {"stack_bytes", r.stack_bytes},
                    {"spill_store_bytes", r.spill_store_bytes},
                    {"spill_load_bytes", r.spill_load_bytes},
                    {"shared_bytes", r.shared_bytes},
                    {"barriers", r.barriers}});
  return rows.dump(1) + "\n";
}

Result<std::vector<KernelReport>> reports_from_json(std::string_view text) {
  try {
    std::vector<KernelReport> reports;
    for (const nlohmann::json& row : nlohmann::json::parse(text))
      reports.push_back({row.at("symbol"), row.at("architecture"), row.at("registers"), row.at("stack_bytes"),
                         row.at("spill_store_bytes"), row.at("spill_load_bytes"), row.at("shared_bytes"),
                         row.at("barriers")});
    return reports;
  } catch (const nlohmann::json::exception& error) {
    return bad_input(std::string("the assembler's report in the cache cannot be read: ") + error.what());
  }
}

}  // namespace kw::device::cuda
