// Writes how the kernels of an op are called, whoever calls: what a pass is called with, the entry whose guards hold,
// the memory that it works in. PyTorch's ops and a library for C++ differ in where tensors come from and how a GPU is
// reached.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "act/emit/lines.h"
#include "act/package/op_form.h"

namespace kw::act {

class CallWriter {
 public:
  // What a call knows of the place where it runs, and how many threads that has.
  struct Place {
    std::string type, name;  // a member of every call
    std::string threads;
  };
  CallWriter(const OpForm& form, Place place) : form_(form), place_(std::move(place)) {}
  virtual ~CallWriter() = default;

 protected:
  using Call = std::function<Status(const kernel::Entry&, Lines&)>;

  // Gives the kw_host::Tensors whose addresses are listed their memory.
  virtual std::string allocation(const std::string& tensors, bool on_gpu) const = 0;
  virtual std::string clear_on_gpu(const std::string& buffer) const = 0;

  static std::string struct_name(const OpPass& pass);  // Forward
  Status call_struct(const OpPass& pass);
  std::string members(const OpPass& pass) const;  // all of a call's, by their names
  static std::string scalar_member(const kernel::Scalar& scalar);
  Status workspace(const PassCode& code, bool on_gpu);
  Status steps(const PassCode& code, bool on_gpu, const Call& call);
  Status run_on_cpu(const OpPass& pass);
  // The launches of a pass by SPACE::launch; `kernel` says how the kernel of a symbol is spelled.
  Status launches(const PassCode& code, const std::string& space,
                  const std::function<std::string(std::size_t)>& kernel);
  Status tables(const OpPass& pass, kernel::Target target);
  // Rank and sizes of the inputs: a size is read where a dimension is just that size, and every other one is checked.
  // `given(size)` is where a size comes from that no input shows.
  Status read_sizes(const OpPass& pass, const std::function<std::string(const std::string&)>& given);

  const OpForm& form_;
  const Place place_;
  Lines out_;

 private:
  std::vector<std::string> sizes(const OpPass& pass) const;
  bool is_symbol(const std::string& size) const;
};

}  // namespace kw::act
