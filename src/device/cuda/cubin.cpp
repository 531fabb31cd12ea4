#include "device/cuda/cubin.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace kw::device::cuda {
namespace {

template <class T>
std::optional<T> read(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::string_view text_at(std::string_view bytes, const Elf64_Shdr& strings, std::uint64_t at) {
  const std::uint64_t begin = strings.sh_offset + at;
  if (begin >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(begin);
  return rest.substr(0, rest.find('\0'));
}

struct Cubin {
  std::string_view bytes;
  Elf64_Ehdr header;
  std::optional<Elf64_Shdr> section(std::uint64_t index) const {
    if (index >= header.e_shnum) return std::nullopt;
    return read<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr));
  }
  // ".nv.global", ".nv.global.init"; ".nv.constant3" has __constant__, other banks have a kernel's own numbers.
  bool is_memory(std::uint64_t index) const {
    const auto names = section(header.e_shstrndx), found = section(index);
    if (!names || !found) return false;
    const std::string_view name = text_at(bytes, *names, found->sh_name);
    return name.starts_with(".nv.global") || name.starts_with(".nv.constant3");
  }
};

}  // namespace

bool has_variables(std::string_view bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return true;
  const Cubin cubin{bytes, *header};
  bool symbols = false;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto table = cubin.section(i);
    if (!table) return true;
    if (table->sh_type != SHT_SYMTAB) continue;
    const auto names = cubin.section(table->sh_link);
    if (!names) return true;
    symbols = true;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(bytes, table->sh_offset + at);
      if (!symbol) return true;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !cubin.is_memory(symbol->st_shndx)) continue;
      if (!text_at(bytes, *names, symbol->st_name).starts_with("_ZN2kw")) return true;
    }
  }
  return !symbols;
}

}  // namespace kw::device::cuda
