// Two hashes that give the same value on every machine: Hash64, fast, for hash-consing and keys in memory; SHA-256, for
// what is stored and compared later (sources, approvals, generated files).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kw {

// A running 64-bit hash of a sequence of values. A string is hashed with its length, so {"ab", "c"} and {"a", "bc"}
// differ; a double by its bits, so 0.0 and -0.0 differ.
class Hash64 {
 public:
  Hash64& add(std::uint64_t value);
  Hash64& add(std::string_view text);
  Hash64& add(double value);
  std::uint64_t value() const;

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3;  // digits of pi
  std::uint64_t count_ = 0;
};

std::uint64_t hash64(std::string_view text);

class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  std::string hex();  // 64 lower-case digits; ends the stream

 private:
  void absorb(const unsigned char* block);

  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace kw
