// Reads phrases, one a line, and prints what each was understood as: one JSON object a line, {"readings": [{"name",
// "meaning", "source"}]} or {"error"}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "understand/words/words.h"

int main() {
  for (std::string phrase; std::getline(std::cin, phrase);) {
    nlohmann::json line;
    if (auto answer = kw::understand::read_words(phrase); !answer) {
      line["error"] = answer.error().message;
    } else {
      line["readings"] = nlohmann::json::array();
      for (const auto& reading : answer->readings)
        line["readings"].push_back({{"name", reading.name}, {"meaning", reading.meaning}, {"source", reading.source}});
    }
    std::cout << line.dump() << "\n";
  }
}
