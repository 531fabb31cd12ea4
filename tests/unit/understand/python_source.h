// Reading of short programs in tests: the math of a source, or the error that it gives.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "ir/text/print.h"
#include "understand/python/read.h"

namespace kw::understand {

inline ReadRequest source(std::string text, std::string name = "") {
  ReadRequest request;
  request.path = "op.py";
  request.text = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nimport math\n" + std::move(text);
  request.name = std::move(name);
  return request;
}

// The statements and the returned values of the text form, without the header.
inline std::string body(const ReadRequest& request) {
  const auto read = read_python(request);
  if (!read) return render(read.error());
  std::string text;
  bool in_header = true;
  for (const std::string& line : split_lines(ir::text::print(read->graph))) {
    const std::string_view statement = trim(line);
    const bool is_header =
        statement.starts_with("types ") || statement.starts_with("sizes ") || statement.starts_with("where ");
    if (in_header && (!line.starts_with("  ") || line.starts_with("   ") || is_header)) {
      if (!line.starts_with("return")) continue;
    }
    in_header = false;
    // Columns of = are for people.
    std::string squeezed;
    for (const char c : statement) {
      if (c != ' ' || squeezed.empty() || squeezed.back() != ' ') squeezed += c;
    }
    text += squeezed + "\n";
  }
  return text;
}

// The body of a function f(x) of one tensor x[rows, cols] in the type T.
inline std::string body_of(const std::string& function) { return body(source(function)); }

inline std::string header(const ReadRequest& request) {
  const auto read = read_python(request);
  if (!read) return render(read.error());
  const std::string text = ir::text::print(read->graph);
  return text.substr(0, text.find(")\n") + 1);
}

inline std::string failure(const ReadRequest& request) {
  const auto read = read_python(request);
  return read ? "it was read:\n" + ir::text::print(read->graph) : render(read.error());
}

}  // namespace kw::understand
