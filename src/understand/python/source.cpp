#include "understand/python/source.h"

#include "base/embedded.h"
#include "base/file.h"
#include "base/text.h"
#include "understand/python/ast_json.h"

namespace kw::understand::python {
namespace {

constexpr std::chrono::milliseconds kParserTimeout{30'000};

// A JSON string in ASCII: what the child reads back with `_json.scanstring`.
std::string quoted(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "\"";
  result.reserve(text.size() + text.size() / 8 + 2);
  const auto escape = [&](uint32_t unit) {
    result += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) result += kDigits[(unit >> shift) & 15];
  };
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if (byte == '"' || byte == '\\') {
        result += '\\';
        result += text[i];
      } else if (byte < 0x20 || byte == 0x7f) {
        escape(byte);
      } else {
        result += text[i];
      }
      ++i;
      continue;
    }
    const int length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    uint32_t code = byte & (0xffu >> (length + 1));
    for (int k = 1; k < length; ++k) code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    if (code >= 0x10000) {
      escape(0xd800 + ((code - 0x10000) >> 10));
      escape(0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      escape(code);
    }
    i += static_cast<size_t>(length);
  }
  return result + "\"";
}

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return {};
    text.remove_prefix(newline + 1);
  }
  return text.substr(0, text.find('\n'));
}

size_t offset_of(std::string_view text, int line, int column) {
  const std::string_view found = line_of(text, line);
  if (found.data() == nullptr) return text.size();
  return static_cast<size_t>(found.data() - text.data()) + std::min(static_cast<size_t>(column), found.size());
}

}  // namespace

Place SourceFile::place(const Span& span) const {
  Place result{path, span.line, 0, 0};
  if (span.line <= 0) return result;
  const std::string_view line = line_of(text, span.line);
  result.column = column_at(line, static_cast<size_t>(span.column));
  const size_t end = span.end_line == span.line ? static_cast<size_t>(span.end_column) : line.size();
  result.end_column = column_at(line, std::min(end, line.size()));
  return result;
}

std::string_view SourceFile::excerpt(const Span& span) const {
  const size_t begin = offset_of(text, span.line, span.column), end = offset_of(text, span.end_line, span.end_column);
  return std::string_view(text).substr(begin, end > begin ? end - begin : 0);
}

Result<std::string> SourceReader::ask(const std::string& request) {
  if (!parser_) {
    Command command;
    command.argv = {"python3", "-I", "-S", "-c", std::string(embedded::file("python/kernelwright/read_ast.py"))};
    auto child = Child::start(command);
    if (!child) {
      return missing_tool("reading PyTorch source needs Python 3, for its parser: " + child.error().message,
                          "install it: apt-get install -y python3");
    }
    parser_.emplace(*std::move(child));
  }
  if (auto sent = parser_->write_line(request); !sent) {
    parser_.reset();
    return tl::make_unexpected(std::move(sent).error());
  }
  auto answer = parser_->read_line(kParserTimeout);
  if (!answer) parser_.reset();
  return answer;
}

Result<SourceFile*> SourceReader::open(const std::string& path) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  KW_TRY(std::string text, read_text(path, kLargestSource));
  return open_text(path, std::move(text));
}

Result<SourceFile*> SourceReader::open_text(const std::string& path, std::string text) {
  if (text.size() > kLargestSource) {
    return bad_input("the source has " + std::to_string(text.size()) + " bytes; the most that is read are " +
                         std::to_string(kLargestSource),
                     Place{path});
  }
  if (text.find('\0') != std::string::npos || !is_utf8(text)) return bad_input("this is not text", Place{path});
  auto file = std::make_unique<SourceFile>();
  file->path = path;
  file->text = std::move(text);
  file->index = static_cast<int>(files_.size());
  KW_TRY(const std::string answer, ask("parse " + std::to_string(file->index) + " " + quoted(file->text)));
  auto body = read_module_json(answer);
  if (!body) {
    Error error = std::move(body).error();
    if (error.place) {
      error.place->file = path;
      error = with_source(std::move(error), file->text);
    }
    return tl::make_unexpected(std::move(error));
  }
  file->body = *std::move(body);
  files_.push_back(std::move(file));
  return by_path_[path] = files_.back().get();
}

Result<const Stmt*> SourceReader::definition(const SourceFile& file, const Stub& stub) {
  auto& slot = definitions_[{file.index, stub.index}];
  if (!slot) {
    KW_TRY(const std::string answer, ask("define " + std::to_string(file.index) + " " + std::to_string(stub.index)));
    auto statement = read_statement_json(answer);
    if (!statement) {
      Error error = std::move(statement).error();
      if (error.place) error.place->file = file.path;
      return tl::make_unexpected(std::move(error));
    }
    slot = std::make_unique<Stmt>(*std::move(statement));
  }
  return slot.get();
}

}  // namespace kw::understand::python
