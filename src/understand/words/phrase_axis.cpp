// Which axis: "over the last dimension", "along dim 1", "row-wise", "per channel".
#include <algorithm>

#include "understand/words/phrase.h"

namespace kw::understand {
namespace {

struct AxisWords {
  std::string_view words;
  std::string_view dim;
};

// Said with the word axis or dimension behind it.
constexpr AxisWords kPlaces[] = {{"last", "-1"},
                                 {"final", "-1"},
                                 {"innermost", "-1"},
                                 {"trailing", "-1"},
                                 {"first", "0"},
                                 {"leading", "0"},
                                 {"outermost", "0"},
                                 {"second", "1"},
                                 {"third", "2"},
                                 {"fourth", "3"},
                                 {"middle", "1"},
                                 {"second to last", "-2"},
                                 {"second last", "-2"},
                                 {"penultimate", "-2"},
                                 {"last two", "(-2, -1)"},
                                 {"last 2", "(-2, -1)"},
                                 {"two last", "(-2, -1)"},
                                 {"first two", "(0, 1)"},
                                 {"first 2", "(0, 1)"},
                                 {"last three", "(-3, -2, -1)"},
                                 {"last 3", "(-3, -2, -1)"},
                                 {"0th", "0"},
                                 {"1st", "0"},
                                 {"2nd", "1"},
                                 {"3rd", "2"},
                                 {"zeroth", "0"},
                                 {"two trailing", "(-2, -1)"},
                                 {"trailing two", "(-2, -1)"},
                                 {"spatial", "(-2, -1)"},
                                 {"height and width", "(-2, -1)"},
                                 {"row", "?row"},
                                 {"column", "?column"}};
// Said with or without it.
constexpr AxisWords kMeanings[] = {
    {"feature", "-1"},   {"hidden", "-1"},         {"class", "-1"},      {"classes", "-1"},
    {"embedding", "-1"}, {"vocab", "-1"},          {"vocabulary", "-1"}, {"batch", "0"},
    {"sequence", "1"},   {"sequence length", "1"}, {"time", "1"},        {"channel", "?channel"},
    {"key", "-1"},       {"token", "1"},           {"model", "-1"},      {"feature dimension", "-1"}};

}  // namespace

std::optional<std::string> PhraseParser::axis(const Entry* e) {
  size_t start = position_;
  auto found = [&](std::string dim) -> std::optional<std::string> {
    while (is_filler(at()) && !at().is("as")) ++position_;
    if (dim == "?row") dim = choose("which axis the rows are", {"0", "-1"});
    if (dim == "?column") dim = choose("which axis the columns are", {"-1", "0"});
    if (dim == "?channel") dim = choose("which axis the channels are", {"1", "-1"});
    return dim;
  };
  if (accept_any({"row wise",       "rowwise",         "per row",         "for each row",   "of each row",
                  "each row",       "every row",       "for every row",   "of every row",   "one number per row",
                  "per token",      "row by row",      "within each row", "over each row",  "in each row",
                  "along each row", "across each row", "along rows each", "for each token", "of each token",
                  "over every row"}))
    return found("-1");
  if (accept_any({"column wise", "columnwise", "per column", "for each column", "of each column", "each column",
                  "every column", "of every column", "for every column", "over each column", "within each column",
                  "in each column", "column by column", "down each column", "along each column"}))
    return found("0");
  if (accept_any({"over everything",
                  "over all",
                  "of all",
                  "of whole",
                  "over whole",
                  "of everything",
                  "across all",
                  "globally",
                  "down to scalar",
                  "to scalar",
                  "as scalar",
                  "over entire",
                  "of entire",
                  "in total",
                  "over all dimensions",
                  "across all dimensions",
                  "over all dims",
                  "over all axes",
                  "over all axis",
                  "along all dims",
                  "to single number",
                  "into scalar",
                  "to single scalar",
                  "full",
                  "global",
                  "across whole",
                  "across entire",
                  "over full",
                  "of full",
                  "as single number"})) {
    accept_any({"dimensions", "dims", "axes", "batch and features", "entries"});
    return found("all");
  }
  if (accept_any({"over all but first", "over all but batch", "over all except first", "over all except batch",
                  "over all dims except first", "over all dims except batch", "over all dimensions except first",
                  "over all dimensions but first", "over all dims but first", "over all dims but batch",
                  "over all dimensions but batch", "over all dimensions except batch", "over all axes except first",
                  "over all axes except batch", "over non batch", "over everything but batch"})) {
    accept_any({"dimension", "dim", "axis", "dimensions", "dims"});
    return found("rest");
  }
  bool behind_preposition = position_ > 0 && (tokens_[position_ - 1].is("along") || tokens_[position_ - 1].is("over") ||
                                              tokens_[position_ - 1].is("across") || tokens_[position_ - 1].is("by"));
  if (e && e->word->form == WordForm::Along && !behind_preposition) {
    accept("of");
    if (accept("rows")) return found("-1");
    if (accept("columns")) return found("0");
    position_ = start;
  }
  bool preposition = accept_any({"over", "along", "across", "on", "in", "of", "by", "down", "per", "through", "for"});
  if (preposition) accept("its");
  bool each = preposition && tokens_[position_ - 1].is("per");
  if (each) {
    position_ = start;
    return std::nullopt;
  }
  if (accept_any({"dims", "dim", "axis", "axes", "dimensions", "dimension"})) {
    accept_any({"=", "number", "index"});
    bool tuple = accept("(") || accept("[");
    std::optional<std::string> first = number();
    if (!first || first->find('.') != std::string::npos) {
      position_ = start;
      return std::nullopt;
    }
    std::string dims = *first;
    size_t here = position_;
    while (accept_any({"and", ","})) {
      accept("and");
      std::optional<std::string> more = number();
      if (!more) {
        position_ = here;
        break;
      }
      dims += ", " + *more;
      here = position_;
    }
    if (tuple && !accept(")") && !accept("]")) {
      position_ = start;
      return std::nullopt;
    }
    return found(dims.find(',') == std::string::npos ? dims : "(" + dims + ")");
  }
  for (bool bare : {false, true}) {
    const AxisWords* best = nullptr;
    size_t longest = 0;
    auto consider = [&](const AxisWords& a) {
      if (size_t n = length_of(a.words, position_); n > longest) longest = n, best = &a;
    };
    if (!bare)
      for (const AxisWords& a : kPlaces) consider(a);
    for (const AxisWords& a : kMeanings) consider(a);
    // "over rows", "over columns": said in two senses
    if (bare && preposition)
      for (const AxisWords& a : kPlaces)
        if (a.dim[0] == '?' || a.words == "spatial" || a.words == "height and width") consider(a);
    if (!best) continue;
    size_t here = position_;
    position_ += longest;
    bool word = accept_any({"dimension", "dim", "axis", "dimensions", "dims", "axes"});
    bool plural = tokens_[here].text.ends_with("s") || best->words == "vocab" || best->words == "vocabulary" ||
                  best->words == "batch" || best->words == "sequence" || best->words == "time" ||
                  best->words == "height and width";
    if (word || (bare && preposition && plural)) return found(std::string(best->dim));
    position_ = here;
  }
  position_ = start;
  return std::nullopt;
}

bool PhraseParser::axis_modifier(Entry& e) {
  WordForm form = e.word->form;
  bool takes_any =
      form == WordForm::Loss || e.word->meaning.find("{dim}") != std::string_view::npos || form == WordForm::Along ||
      form == WordForm::Reduction ||
      (e.word->meaning.empty() && form != WordForm::Loss && form != WordForm::Norm && form != WordForm::Table);
  bool takes_last = form == WordForm::Norm || form == WordForm::Pair ||
                    e.word->meaning.find(", -1)") != std::string_view::npos ||
                    e.word->meaning.find("sum(-1)") != std::string_view::npos ||
                    e.word->meaning.find("dim=-1)") != std::string_view::npos;
  if (!takes_any && !takes_last) return false;
  size_t start = position_;
  if (takes_any &&
      accept_any({"keepdim", "keepdims", "keep dim", "keep dims", "keeping dim", "keeping dims", "keeping dimension",
                  "keep dimension", "keeping reduced dimension", "keep reduced dimension", "keepdim = true",
                  "keepdims = true", "keepdim true", "keeping that dimension", "keeping reduced dim", "kept dim",
                  "dimension kept", "keeping axis"})) {
    e.keepdim = true;
    return true;
  }
  if (std::optional<std::string> dim = axis(&e)) {
    bool several = e.word->name == "layer_norm" && (*dim == "(-2, -1)" || *dim == "(-3, -2, -1)");
    bool last_alone = !takes_any && *dim != "-1" && !several;
    bool twice = !e.dim.empty() && e.dim != *dim;
    if (!last_alone && !twice) {
      e.dim = *dim;
      return true;
    }
  }
  position_ = start;
  return false;
}

}  // namespace kw::understand
