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

// Words that the skeletons of C++ targets use themselves, where tensors are read and written.
constexpr std::string_view kSkeletonWords =
    " Index all block blocks cached chunk edge edges element end first groups in_part inside int64_t k kAhead "
    "kBlockRow kChain kChunks kElements kPieces kPlace kRagged kRoom kStreamed kTile kUnit kVector kVectors kw "
    "lane lanes lanes_of_row length n part part_tiles parts piece pieces point points room share shares size_t "
    "slot start step tile tiles turn v vector vectors whole worker workers ";

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

std::string free_of_skeletons(const std::string& name) {
  const std::string word = " " + name + " ";
  const bool free =
      kSkeletonWords.find(word) == std::string_view::npos && kManifestWords.find(word) == std::string_view::npos;
  return free ? name : name + "_";
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
