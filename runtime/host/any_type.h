// A kernel of the CPU without the element types of its pointers, so that one table has it for every mixture of types.
#pragma once

#include <type_traits>

namespace kw_host {

template <class Parameter>
using AnyType = std::conditional_t<std::is_pointer_v<Parameter>, void*, Parameter>;

template <auto kKernel, class... Parameters>
constexpr auto any_type_of(void (*)(Parameters...)) {
  return +[](AnyType<Parameters>... arguments) { kKernel(static_cast<Parameters>(arguments)...); };
}

template <auto kKernel>
inline constexpr auto any_type = any_type_of<kKernel>(kKernel);

}  // namespace kw_host
