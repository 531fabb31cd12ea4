// What can go wrong for a user, as a value. A function that may fail for reasons outside the program returns Result<T>;
// the error says what, where in the user's own text, and what to do. Only a bug aborts (KW_ASSERT).
//
//   Result<Graph> read(const std::string& path) {
//     KW_TRY(auto text, read_text(path));                      // returns the error early
//     if (text.empty()) return bad_input("the file is empty", Place{path}, "write an op into it");
//     return parse(text);
//   }
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace kw {

// The value of each kind is the exit code of the command that ends with it.
enum class ErrorKind {
  GateFailed = 1,     // a hard gate said no
  BadInput = 2,       // the user's text, file or option cannot be used
  NeedsApproval = 3,  // a decision or an approval is missing
  MissingTool = 4,    // this machine lacks a compiler, Python, a GPU, ...
  Internal = 70,      // a bug of ours that could be reported instead of aborting
};

// A span of the user's own text. Lines and columns count from 1, columns in characters (code points); 0 means unknown.
// `end_column` is one past the last character of the span, on the same line.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int end_column = 0;
  bool operator==(const Place&) const = default;
};

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;
  std::optional<Place> place;
  std::string source_line;  // the text of place->line, without its newline
  std::string hint;         // what to do about it
};

// The error as a person reads it:
//
//   norm.py:3:9: error: unknown call torch.rsqr
//       return torch.rsqr(x)
//              ^~~~~~~~~~
//   hint: did you mean torch.rsqrt?
std::string render(const Error& error);

// Fills `source_line` from the whole text that `place` points into.
Error with_source(Error error, std::string_view text);

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;
using Failure = tl::unexpected<Error>;

Failure fail(ErrorKind kind, std::string message, std::string hint = {});
Failure bad_input(std::string message, std::optional<Place> place = {}, std::string hint = {});
Failure missing_tool(std::string message, std::string hint);

[[noreturn]] void assertion_failed(const char* file, int line, const char* condition, std::string_view reason);

}  // namespace kw

#define KW_JOIN_(a, b) a##b
#define KW_JOIN(a, b) KW_JOIN_(a, b)

// KW_TRY(auto x, f()) or KW_TRY(x, f()): takes the value of a Result, or returns its error from this function.
#define KW_TRY(target, ...) KW_TRY_(KW_JOIN(kw_result_, __LINE__), target, __VA_ARGS__)
#define KW_TRY_(result, target, ...)                                    \
  auto result = (__VA_ARGS__);                                          \
  if (!result) return ::tl::make_unexpected(std::move(result).error()); \
  target = *std::move(result)

// KW_CHECK(f()): goes on if the Status (or any Result) is good, returns its error otherwise.
#define KW_CHECK(...)                                                                                           \
  do {                                                                                                          \
    if (auto kw_status = (__VA_ARGS__); !kw_status) return ::tl::make_unexpected(std::move(kw_status).error()); \
  } while (false)

// For what only a bug can cause. It stays on in release builds.
#define KW_ASSERT(condition, reason) \
  ((condition) ? void() : ::kw::assertion_failed(__FILE_NAME__, __LINE__, #condition, (reason)))
