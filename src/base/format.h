// The shapes of text that a stored file may hold (names, hashes, paths, ids), and how a message lists values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw {

bool is_identifier(std::string_view text);  // a Python name, or several joined by dots as in net.0.weight
bool is_sha256(std::string_view text);
bool is_relative_path(std::string_view text);  // stays inside the folder that it is relative to
bool is_decision_id(std::string_view text);    // casting, type.T

bool has_format(std::string_view text, std::string_view format);  // a "format" of the schema files
std::string describe_format(std::string_view format);             // "a name"

std::string any_of(const std::vector<std::string>& values);  // "a, b or c"
std::string all_of(const std::vector<std::string>& values);  // "a, b and c"
std::string shortened(std::string_view text);                // for messages: at most 60 characters of one line

}  // namespace kw
