#include "verify/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kw::verify {
namespace {

Report sample() {
  Report report;
  report.name = "relu";
  report.target = "cpu";
  for (const GateInfo& gate : gates()) report.verdicts.push_back({gate.gate, Outcome::Passed, "fine", {}});
  ErrorRow row;
  row.pass = "forward";
  row.tensor = "y";
  row.type = "f32";
  row.elements = 103;
  row.by_share = {100, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  report.errors.push_back(row);
  report.speeds.push_back(
      {"forward", "rows=64", "memory", 2.0, 0.1, 1.0, 0.5, 4096, {4.125, 1 << 20}, {3.0625, 1 << 13}});
  return report;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ReportPage, NeedsNothingButItself) {
  const std::string page = to_html(sample());
  for (const char* outside : {"http:", "https:", "src=", "<script", "<link", "@import", "url("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(page.find("KW_"), std::string::npos) << "every hole of the frame is filled";
}

TEST(ReportPage, HasARowForEveryGateAndABarForEveryShareOfTheBoundThatOccurs) {
  const Report report = sample();
  const std::string page = to_html(report);
  for (const GateInfo& gate : gates()) EXPECT_NE(page.find(">" + std::string(gate.name) + "<"), std::string::npos);
  EXPECT_NE(page.find("100 elements without an error"), std::string::npos);
  EXPECT_NE(page.find("2 elements up to 10 % of the bound"), std::string::npos);
  EXPECT_NE(page.find("1 elements up to 100 % of the bound"), std::string::npos);
  EXPECT_EQ(count(page, "of the bound</title>"), 2u);
}

TEST(ReportPage, TextFromAKernelIsText) {
  Report report = sample();
  report.verdicts[0] = {Gate::Interface, Outcome::Failed, "a<b", {"<script>alert(1)</script> & more"}};
  const std::string page = to_html(report);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"), std::string::npos);
  EXPECT_NE(page.find("<details open>"), std::string::npos) << "what speaks against the kernel is open";
  EXPECT_NE(page.find("not verified"), std::string::npos);
}

TEST(ReportPage, PutsTimeAndMemoryBesideEagerAndTorchCompile) {
  for (const std::string& page : {to_html(sample()), to_markdown(sample())})
    for (const char* figure : {"4.125", "3.062", "4 KiB", "1 MiB", "8 KiB"})
      EXPECT_NE(page.find(figure), std::string::npos) << figure << " in\n" << page;
}

TEST(ReportPage, WhatWasNotTimedHasNoFigureAndNoBar) {
  Report report = sample();
  report.speeds[0].compiled = {};
  const std::string page = to_html(report);
  EXPECT_EQ(page.find("<title>torch.compile</title>"), std::string::npos);
  EXPECT_NE(page.find("<title>eager</title>"), std::string::npos);
  EXPECT_NE(page.find("<td class=\"number\">-</td>"), std::string::npos);
}

TEST(ReportJson, KeepsTheHistogram) {
  const auto object = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(object["errors"][0]["by_share"], nlohmann::json({100, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace kw::verify
