#include "act/liger/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace kw::act::liger {
namespace {

constexpr double kLabels = 260, kBars = 360, kNumbers = 80;  // widths, from left to right
constexpr double kBar = 14, kGap = 10, kHead = 54;           // heights
constexpr const char* kColours[] = {"#2f6f4f", "#c9c9c9", "#c77d3a", "#4f6fa8"};

std::string escaped(std::string text) {
  return replace_all(replace_all(replace_all(std::move(text), "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

std::string words(double x, double y, const std::string& anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string rectangle(double x, double y, double width, double height, std::size_t series) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y, width,
                     height, kColours[series % std::size(kColours)]);
}

}  // namespace

std::string bar_plot(const std::string& title, const std::vector<std::string>& series,
                     const std::vector<PlotRow>& rows) {
  double longest = 0;
  for (const PlotRow& row : rows)
    for (const double time : row.milliseconds) longest = std::max(longest, time);
  std::string body = words(10, 20, "start", title);
  for (std::size_t s = 0; s < series.size(); ++s) {
    const double x = kLabels + static_cast<double>(s) * 110;
    body += rectangle(x, 31, kBar, kBar, s) + words(x + kBar + 5, 43, "start", series[s]);
  }
  double y = kHead;
  for (const PlotRow& row : rows) {
    const double height = kBar * static_cast<double>(row.milliseconds.size());
    body += words(kLabels - 8, y + height / 2 + 4, "end", row.label);
    for (std::size_t s = 0; s < row.milliseconds.size(); ++s) {
      const double time = row.milliseconds[s], width = longest > 0 ? kBars * time / longest : 0;
      const double top = y + kBar * static_cast<double>(s);
      if (time > 0) body += rectangle(kLabels, top, width, kBar - 2, s);
      body += words(kLabels + width + 6, top + kBar - 4, "start", time > 0 ? fmt::format("{:.3f}", time) : "not timed");
    }
    y += height + kGap;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n"
             "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
             kLabels + kBars + kNumbers, y) +
         body + "</svg>\n";
}

}  // namespace kw::act::liger
