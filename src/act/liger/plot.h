// A plot of times as an SVG file: bars beside one another for each size. The same rows give the same bytes.
#pragma once

#include <string>
#include <vector>

namespace kw::act::liger {

struct PlotRow {
  std::string label;                 // the sizes
  std::vector<double> milliseconds;  // one for each series; 0: not timed
};

std::string bar_plot(const std::string& title, const std::vector<std::string>& series,
                     const std::vector<PlotRow>& rows);

}  // namespace kw::act::liger
