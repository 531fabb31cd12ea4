#include "understand/reference/local_functions.h"

#include "base/embedded.h"
#include "base/text.h"

namespace kw::understand::reference {

std::vector<LocalFunction> local_functions() {
  std::vector<LocalFunction> functions;
  for (const std::string& line : split_lines(embedded::file("templates/torch/reference_functions.py"))) {
    if (line.starts_with("def ")) functions.push_back({line.substr(4, line.find('(') - 4), ""});
    if (!functions.empty()) functions.back().text += line + "\n";
  }
  for (LocalFunction& function : functions) function.text = std::string(trim(function.text)) + "\n";
  return functions;
}

std::vector<std::string> functions_needed(std::set<std::string, std::less<>> wanted) {
  std::vector<LocalFunction> functions = local_functions();
  for (size_t i = functions.size(); i-- > 0;) {
    if (!wanted.contains(functions[i].name)) continue;
    for (const LocalFunction& other : functions)
      if (functions[i].text.find(" " + other.name + "(") != std::string::npos) wanted.insert(other.name);
  }
  std::vector<std::string> texts;
  for (const LocalFunction& function : functions)
    if (wanted.contains(function.name)) texts.push_back(function.text);
  return texts;
}

}  // namespace kw::understand::reference
