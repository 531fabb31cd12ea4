#include "act/package/file_set.h"

#include "base/embedded.h"
#include "base/text.h"

namespace kw::act {
namespace {

// Names between quotes behind #include, without the folder kw/.
std::vector<std::string> included_headers(const std::string& text) {
  std::vector<std::string> names;
  constexpr std::string_view kInclude = "#include \"";
  for (const std::string& line : split_lines(text)) {
    if (!line.starts_with(kInclude)) continue;
    std::string name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
    names.push_back(name.starts_with("kw/") ? name.substr(3) : name);
  }
  return names;
}

void add_header(const std::string& target, const std::string& name, const std::string& base,
                std::map<std::string, std::string>& files) {
  const std::string source = "runtime/" + target + "/" + name;
  for (const embedded::File& file : embedded::all()) {
    if (file.path != source) continue;
    auto [header, is_new] = files.emplace(base + "kw/" + name, file.content);
    if (!is_new) return;
    for (const std::string& inner : included_headers(header->second)) add_header(target, inner, base, files);
  }
}

}  // namespace

void add_runtime(const std::string& target, const std::string& text, const std::string& base,
                 std::map<std::string, std::string>& files) {
  for (const std::string& header : included_headers(text)) add_header(target, header, base, files);
}

std::string filled(std::string_view path, const std::map<std::string, std::string>& values) {
  std::string text(embedded::file(path));
  for (const auto& [name, value] : values) {
    const std::string hole = "KW_" + name;
    for (std::size_t at = text.find(hole); at != std::string::npos; at = text.find(hole, at)) {
      const std::size_t end = at + hole.size();
      const bool longer = end < text.size() && (text[end] == '_' || (text[end] >= 'A' && text[end] <= 'Z'));
      if (!longer) text.replace(at, hole.size(), value);
      at += longer ? hole.size() : value.size();
    }
  }
  return text;
}

void add_all(std::string_view folder, const std::string& base, std::map<std::string, std::string>& files) {
  for (const embedded::File& file : embedded::all())
    if (file.path.starts_with(folder)) files[base + std::string(file.path.substr(folder.size()))] = file.content;
}

std::map<std::string, std::string> file_set(const Generated& generated) {
  const std::string target(kernel::name_of(generated.manifest.target));
  std::map<std::string, std::string> files;
  for (const auto& [path, text] : generated.files) {
    files["act/" + target + "/" + path] = text;
    add_runtime(target, text, "act/" + target + "/", files);
  }
  files["act/" + target + "/manifest.json"] = kernel::to_json(generated.manifest);
  return files;
}

std::string description_of(const std::string& path) {
  if (path.ends_with("manifest.json")) return "how the kernels are called";
  if (path.find("/kw/") != std::string::npos) return "what kernels include";
  const std::string pass = path.find("_backward.") != std::string::npos ? "backward" : "forward";
  if (path.ends_with(".cu")) return pass + ", CUDA C++";
  if (path.ends_with(".py")) return pass + ", Triton";
  return pass + ", C++ with OpenMP";
}

Error placed_in_profile(Error error, const std::string& yaml, const std::string& path) {
  if (!error.place || !error.place->file.starts_with("math.")) return error;
  const std::string field = "  " + error.place->file.substr(5) + ": |";
  const std::vector<std::string> lines = split_lines(yaml);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != field) continue;
    constexpr int kIndent = 4;
    error.place->file = path;
    error.place->line += static_cast<int>(i) + 1;
    error.place->column += kIndent;
    if (error.place->end_column > 0) error.place->end_column += kIndent;
    return with_source(std::move(error), yaml);
  }
  return error;
}

}  // namespace kw::act
