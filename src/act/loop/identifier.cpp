#include "act/loop/identifier.h"

#include <algorithm>

namespace kw::act {
namespace {

// Words that may not be a name in one of the targets, each between spaces.
constexpr std::string_view kKeywords =
    " False None True alignas alignof and and_eq as asm assert async auto await bitand bitor bool break "
    "case catch char class co_await co_return co_yield compl concept const const_cast consteval "
    "constexpr constinit continue decltype def default del delete do double dynamic_cast elif else enum "
    "except explicit export extern false finally float for friend from global goto if import in inline "
    "int is lambda long mutable namespace new noexcept nonlocal not not_eq nullptr operator or or_eq "
    "pass private protected public raise register reinterpret_cast requires restrict return short signed "
    "sizeof static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename union unsigned using virtual void volatile wchar_t while with xor xor_eq "
    "yield ";

constexpr std::string_view kCpuWords[] = {
    "block", "blocks", "chunk", "end",  "int64_t", "kAreHalves", "kByLanes", "kChain", "kChunks", "kParallelElements",
    "kTile", "kUnit",  "kw",    "last", "point",   "points",     "run",      "size_t", "std",     "terms",
    "tile",  "tiles",  "worker"};

constexpr std::string_view kCudaWords[] = {
    "cached", "columns", "counts",     "edge",      "edges",        "element",   "end",      "end_of_column",
    "first",  "groups",  "here",       "i",         "in_part",      "Index",     "inside",   "int64_t",
    "k",      "kAhead",  "kBeside",    "kBlockRow", "kElements",    "kFull",     "kKeep",    "kPieces",
    "kPlace", "kRagged", "kResident",  "kRoom",     "kRowsAhead",   "kStreamed", "kVector",  "kVectors",
    "kw",     "landing", "lane",       "lanes",     "lanes_of_row", "left",      "length",   "most",
    "part",   "part_of", "part_tiles", "parts",     "point",        "points",    "prefetch", "room",
    "share",  "shares",  "slot",       "start",     "step",         "sum_tiles", "take",     "target",
    "tile",   "tiles",   "tiles_here", "total",     "turn",         "v",         "vector",   "vectors",
    "wanted", "whole",   "worker"};

// A tensor may be called this all the same: none is named in the lines that have such a variable.
constexpr std::string_view kAwayFromTensors[] = {"i", "std", "target", "total"};

// Parameters that stand beside tensors and scalars, and what is declared once the sizes have their names.
constexpr std::string_view kBesideTensors[] = {"all", "n", "piece", "pieces", "workers"};

// Words that have a meaning in the expressions of a manifest (kernel/expression.h).
constexpr std::string_view kManifestWords =
    " aligned bytes ceil_div dense max min multiprocessors next_pow2 numel packed same_strides shape starts stride "
    "threads unit ";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); }) &&
         kKeywords.find(" " + std::string(name) + " ") == std::string_view::npos;
}

std::span<const std::string_view> cpu_skeleton_words() { return kCpuWords; }
std::span<const std::string_view> cuda_skeleton_words() { return kCudaWords; }

std::string free_of_skeletons(const std::string& name) {
  const auto has = [&](std::span<const std::string_view> words) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  const bool in_kernel = has(kCpuWords) || has(kCudaWords) || has(kBesideTensors);
  const bool taken =
      (in_kernel && !has(kAwayFromTensors)) || kManifestWords.find(" " + name + " ") != std::string_view::npos;
  return taken ? name + "_" : name;
}

std::string Identifiers::take(std::string_view wanted, std::string_view fallback) {
  std::string base(wanted.empty() ? fallback : wanted);
  std::replace_if(
      base.begin(), base.end(), [](char c) { return !is_letter(c) && !is_digit(c); }, '_');
  if (is_digit(base[0])) base = "_" + base;
  if (!is_identifier(base)) base += "_";
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

}  // namespace kw::act
