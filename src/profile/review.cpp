#include "profile/review.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "profile/columns.h"
#include "profile/decision.h"
#include "profile/format.h"

namespace kw::profile {
namespace {

constexpr int kIdWidth = 16;

// The math for the page: the types are in the page's header already, and of a backward's arguments the names say
// enough.
std::string for_page(const std::string& math, bool names_only) {
  const std::vector<std::string> lines = split_lines(math);
  std::string header;
  std::size_t next = 0;
  int open = 0;
  do {
    const std::string_view line = trim(lines[next]);
    open += static_cast<int>(std::count(line.begin(), line.end(), '(') + std::count(line.begin(), line.end(), '['));
    open -= static_cast<int>(std::count(line.begin(), line.end(), ')') + std::count(line.begin(), line.end(), ']'));
    header += (header.empty() ? "" : " ") + std::string(line);
    ++next;
  } while (open > 0 && next < lines.size());
  if (names_only) {
    std::string kept;
    int depth = 0;
    bool in_type = false;
    for (const char c : header) {
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      if (depth == 1 && (c == ',' || c == ';' || c == '(')) in_type = false;
      if (depth == 1 && c == ':') in_type = true;
      if (!in_type || depth == 0) kept += c;
    }
    header = kept;
  }
  std::string text = header + "\n";
  for (; next < lines.size(); ++next)
    if (!trim(lines[next]).starts_with("types ") && !trim(lines[next]).starts_with("sizes "))
      text += lines[next] + "\n";
  return text;
}

class Page {
 public:
  Page(const Profile& profile, const SourceLine& source, const ReviewOptions& options)
      : profile_(profile), source_(source), options_(options), width_(static_cast<std::size_t>(options.width)) {}

  std::string render(ApprovalState approval) {
    header(approval);
    decisions();
    math();
    memory();
    tests();
    if (!options_.files.empty()) files();
    engine();
    next(approval);
    return std::move(text_);
  }

 private:
  std::string bold(std::string_view text) const {
    return options_.bold ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
  }
  void line(std::string_view text = {}) { text_ += std::string(text) + "\n"; }
  void heading(std::string_view title, std::string_view note = {}) {
    line();
    bool begins = true;
    for (const std::string& part : wrapped(note, width_ - columns(title) - 2)) {
      line(begins ? bold(title) + (part.empty() ? "" : "  " + part) : std::string(columns(title) + 2, ' ') + part);
      begins = false;
    }
  }
  // Text that goes on under itself; behind a first column that is too long, it begins on the next line.
  void hanging(std::string_view first, std::string_view text, std::size_t indent) {
    bool begins = true;
    if (!first.empty() && columns(first) >= indent) {
      line(first);
      begins = false;
    }
    for (const std::string& part : wrapped(text, width_ - indent)) {
      line(begins ? std::string(first) + std::string(indent > columns(first) ? indent - columns(first) : 0, ' ') + part
                  : std::string(indent, ' ') + part);
      begins = false;
    }
  }

  void header(ApprovalState approval) {
    static constexpr std::array<const char*, 3> kStates = {"not approved", "approved", "changed since approval"};
    const std::string right = fmt::format("tier {} · closest to {} · {}", profile_.tier, profile_.closest,
                                          kStates[static_cast<std::size_t>(approval)]);
    const std::size_t used = columns(profile_.name) + columns(right);
    line(bold(profile_.name) + std::string(used + 2 < width_ ? width_ - used : 2, ' ') + right);
    std::vector<std::string> facts = {"from " + shortened(profile_.source.given)};
    for (const NamedText& type : profile_.interface.types) facts.push_back(type.first + " = " + type.second);
    if (!profile_.interface.sizes.empty()) facts.push_back(shape_text(profile_.interface.sizes));
    hanging("", join(facts, " · "), 0);
  }

  void decision(const Decision& decision) {
    const std::size_t indent = kIdWidth + 2;
    const std::string by = decision.set_by == SetBy::User         ? " (set by you)"
                           : decision.set_by == SetBy::Assumption ? " (assumed)"
                                                                  : "";
    hanging("  " + decision.id, fmt::format("{}{}: {}", decision.value, by, decision.because), indent);
    if (!decision.at.empty()) {
      const std::size_t colon = decision.at.rfind(':');
      const std::string file = decision.at.substr(0, colon);
      const std::optional<std::int64_t> number = parse_integer(decision.at.substr(colon + 1));
      const std::string text(trim(source_ && number ? source_(file, static_cast<int>(*number)) : ""));
      line(std::string(indent, ' ') + "at " + decision.at +
           (text.empty() ? "" : "  " + cut(text, width_ - indent - columns(decision.at) - 5)));
    }
    std::string consequence = "if wrong: " + decision.if_wrong;
    if (!decision.instead_of.empty()) consequence += ". Instead: " + join(decision.instead_of, " | ");
    hanging("", consequence, indent);
  }

  void decisions() {
    heading("DECIDE", "what changes numbers, memory or the interface");
    Weight last = Weight::Engine;
    bool any = false;
    for (const Decision& d : profile_.decisions) {
      if (!is_key_decision(d)) continue;
      const Weight weight = find_kind(d.id)->weight;
      if (!any || weight != last) line(" " + std::string(to_text(weight)));
      last = weight;
      any = true;
      decision(d);
    }
    if (!any) line("  nothing: the source leaves no such choice");
  }

  void math() {
    const std::string backward =
        profile_.math.backward.empty() ? "none: no gradient flows\n" : for_page(profile_.math.backward, true);
    heading("MATH", profile_.math.rule == "none" ? "" : fmt::format("kept for backward: {}", list_text(saved_names())));
    for (const std::string& row : side_by_side(for_page(profile_.math.forward, false), backward, width_)) line(row);
    if (profile_.math.read != profile_.math.forward && profile_.math.saved.empty())
      line("  simplified; the math as read stands in the profile");
  }

  std::vector<std::string> saved_names() const {
    std::vector<std::string> names;
    for (const SavedValue& saved : profile_.math.saved) names.push_back(saved.name);
    return names;
  }

  void memory() {
    const Memory& memory = profile_.memory;
    heading("MEMORY", profile_.interface.sizes.empty() ? "" : "at " + shape_text(profile_.interface.sizes));
    if (profile_.math.rule != "none") row("kept for backward", memory.kept, memory.eager_kept);
    row("peak in forward", memory.forward_peak, memory.eager_forward_peak);
    if (profile_.math.rule != "none") row("peak in backward", memory.backward_peak, memory.eager_backward_peak);
  }
  void row(std::string_view what, std::int64_t own, std::int64_t eager) {
    std::string compared;
    const double ratio = own > 0 ? static_cast<double>(eager) / static_cast<double>(own) : 0;
    if (ratio >= 1.05) compared = fmt::format("  ({:.1f}× less)", ratio);
    line(fmt::format("  {:<20}{:>10}   eager about {:>10}{}", what, bytes_text(own), bytes_text(eager), compared));
  }

  void tests() {
    const std::size_t count = profile_.shapes.test.size();
    heading("TESTED",
            fmt::format("{} {}, forward{}, against the interpreter and your own source in PyTorch", count,
                        count == 1 ? "shape" : "shapes", profile_.math.rule == "none" ? "" : " and backward"));
    std::vector<std::string> shapes;
    for (const Shape& shape : profile_.shapes.test) {
      std::vector<std::string> sizes;
      for (const auto& [_, size] : shape) sizes.push_back(std::to_string(size));
      shapes.push_back(join(sizes, "×"));
    }
    std::vector<std::string> symbols;
    for (const auto& [symbol, _] : profile_.interface.sizes) symbols.push_back(symbol);
    if (!symbols.empty())
      hanging("  " + join(symbols, "×"), join(shapes, "  "),
              std::max<std::size_t>(kIdWidth + 2, columns(join(symbols, "×")) + 4));
  }

  void files() {
    heading("FILES", "what `kw act` will generate");
    for (const auto& [path, what] : options_.files) hanging("  " + path, what, column_for(path, 40));
  }

  void engine() {
    int folded = 0;
    for (const Decision& d : profile_.decisions) folded += is_key_decision(d) ? 0 : 1;
    if (!options_.all) {
      heading("ENGINE", fmt::format("{} more decisions, made by rule: kw review {} --all", folded, profile_.name));
      std::vector<std::string> plan = {"forward " + plan_text(profile_.plan.forward)};
      if (profile_.plan.backward) plan.push_back("backward " + plan_text(*profile_.plan.backward));
      for (const WeightGradient& gradient : profile_.plan.weight_gradients)
        plan.push_back("gradient of " + gradient.input + " " + gradient.how);
      hanging("  plan", join(plan, " · "), kIdWidth + 2);
      return;
    }
    heading("ENGINE", "made by rule");
    for (const Decision& d : profile_.decisions)
      if (!is_key_decision(d)) decision(d);
  }

  // Where the second column begins: as wanted, or behind a longer first one, or on half the page.
  std::size_t column_for(std::string_view first, std::size_t wanted) const {
    return std::min(std::max(columns(first) + 4, wanted), std::max(columns(first) + 4, width_ / 2));
  }
  void command(const std::string& words, std::string_view effect) {
    hanging("  " + words, effect, column_for(words, 50));
  }

  void next(ApprovalState approval) {
    heading("NEXT");
    const std::string& name = profile_.name;
    std::string example = "ID=VALUE";
    for (const Decision& d : profile_.decisions)
      if (example == "ID=VALUE" && !d.instead_of.empty() && find_kind(d.id)->settable) {
        example = d.id + "=" + d.instead_of[0];
        if (example.find(' ') != std::string::npos) example = "\"" + example + "\"";
      }
    command(fmt::format("kw set {} {}", name, example), "changes a decision and what follows from it");
    if (approval == ApprovalState::Void) command("kw diff " + name, "shows what changed since it was approved");
    if (approval != ApprovalState::Current) command("kw approve " + name, "approves this profile");
  }

  const Profile& profile_;
  const SourceLine& source_;
  const ReviewOptions& options_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

bool is_key_decision(const Decision& decision) {
  const DecisionKind* kind = find_kind(decision.id);
  if (!kind) return false;
  if (decision.set_by == SetBy::User) return true;
  if (kind->weight == Weight::Engine) return false;
  if (decision.set_by == SetBy::Assumption) return true;
  // Where PyTorch's own roundings are kept and no alternative is at stake, a page need not ask.
  if (decision.id == "casting" || decision.id == "wider") return !decision.instead_of.empty();
  if (decision.id == "backward") return decision.value != "derivative";
  if (decision.id == "aliases") return !decision.instead_of.empty();
  return decision.id == "saved" || decision.id == "fp32";
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<std::int64_t>(value));
  return fmt::format("{:.{}f} {}", value, whole || value >= 100 ? 0 : value < 10 ? 2 : 1, kUnits[unit]);
}

std::string review_page(const Profile& profile, ApprovalState approval, const SourceLine& source,
                        const ReviewOptions& options) {
  return Page(profile, source, options).render(approval);
}

}  // namespace kw::profile
