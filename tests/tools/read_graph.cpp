// Reads a PyTorch file and prints the graph in its text form, with what was assumed: for work on the reader.
//
//   read_graph FILE[:NAME] [--eval] [--shape x=rows,cols] [--dtype x=bf16] [--init eps=1e-6] [--present gate] [--quiet]
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "ir/text/print.h"
#include "understand/python/read.h"

int main(int argc, char** argv) {
  kw::understand::ReadRequest request;
  bool quiet = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    const auto pair = [&](auto& list) {
      const size_t equals = next.find('=');
      list.emplace_back(next.substr(0, equals), equals == std::string::npos ? "" : next.substr(equals + 1));
      ++i;
    };
    if (argument == "--eval") {
      request.training = false;
    } else if (argument == "--quiet") {
      quiet = true;
    } else if (argument == "--shape") {
      pair(request.shapes);
    } else if (argument == "--dtype") {
      pair(request.dtypes);
    } else if (argument == "--init") {
      pair(request.init);
    } else if (argument == "--present") {
      request.present.push_back(next);
      ++i;
    } else {
      const size_t colon = argument.rfind(".py:");
      request.path = colon == std::string::npos ? argument : argument.substr(0, colon + 3);
      request.name = colon == std::string::npos ? "" : argument.substr(colon + 4);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const auto result = kw::understand::read_python(request);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!result) {
    std::fputs(kw::render(result.error()).c_str(), stderr);
    return static_cast<int>(result.error().kind);
  }
  if (quiet) return 0;
  std::fputs(kw::ir::text::print(result->graph).c_str(), stdout);
  for (const auto& a : result->assumptions) {
    std::printf("# %s: %s (%s) %s:%d\n", a.what.c_str(), a.value.c_str(), a.because.c_str(), a.place.file.c_str(),
                a.place.line);
  }
  for (const auto& p : result->parameters) std::printf("# %s = %s\n", p.name.c_str(), p.init.c_str());
  std::printf("# %.1f ms\n", ms);
}
