// How C++ spells a pointwise primitive on values of the type that it computes in.
#pragma once

#include "ir/op.h"

namespace kw::act::cpp {

// Binding strength of a C++ expression, strongest first.
enum class Binding : uint8_t { Primary, Unary, Product, Sum, Shift, Order, Equality, And, Xor, Or, Choice };

struct Spelling {
  enum class Form : uint8_t {
    None,     // not a pointwise primitive
    Special,  // written out by expressions.cpp
    Prefix,
    Infix,
    Call,
  } form = Form::None;
  const char* text = "";
  Binding binding = Binding::Primary;
  // The result is one of the operands, or a whole number that their type holds: rounding would not change it.
  bool exact = false;
};

const Spelling& spelling_of(ir::Op op);

}  // namespace kw::act::cpp
