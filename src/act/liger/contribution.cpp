#include "act/liger/contribution.h"

#include <fmt/format.h>

#include "act/liger/insert.h"
#include "act/liger/python_files.h"

namespace kw::act::liger {
namespace {

constexpr std::string_view kUnused = "  # noqa: F401";  // a package's own imports are for others

Status edit(const LigerForm& form, Files& files) {
  for (const std::string& name : {form.autograd, form.op + "_backward", form.op + "_forward"}) {
    const std::string line = fmt::format("from liger_kernel.ops.{} import {}{}", form.op, name, kUnused);
    KW_TRY(files[kOps], insert_import(files[kOps], "from liger_kernel.ops.", line));
  }
  KW_TRY(files[kTransformers],
         insert_import(files[kTransformers], "from liger_kernel.transformers.",
                       fmt::format("from liger_kernel.transformers.{} import {}{}", form.op, form.module, kUnused)));
  KW_TRY(files[kTransformers], insert_name(files[kTransformers], "__all__ = [", form.module));
  KW_TRY(files[kFunctional], insert_import(files[kFunctional], "from liger_kernel.ops import ",
                                           "from liger_kernel.ops import " + form.autograd));
  KW_TRY(files[kFunctional], insert_function(files[kFunctional], "liger_", form.functional, functional_text(form)));
  return {};
}

}  // namespace

Paths paths_of(const std::string& op) {
  return {"src/liger_kernel/ops/" + op + ".py", "src/liger_kernel/transformers/" + op + ".py",
          "test/transformers/test_" + op + ".py", "benchmark/scripts/benchmark_" + op + ".py"};
}

std::vector<std::string> eight_files(const std::string& op) {
  const Paths paths = paths_of(op);
  return {paths.op, paths.module, paths.test, paths.benchmark, kOps, kTransformers, kFunctional, kBenchmarkData};
}

Result<Files> contribution(const Ingredients& kernel, const LigerForm& form, const Files& edited) {
  Files files = edited;
  if (const Status status = edit(form, files); !status) {
    Error error = status.error();
    error.hint = "this checkout is laid out in another way than kw knows";
    return tl::make_unexpected(std::move(error));
  }
  const Paths paths = paths_of(form.op);
  KW_TRY(files[paths.op], op_file(form, kernel.profile));
  KW_TRY(files[paths.module], module_file(form, kernel.profile));
  KW_TRY(files[paths.test], test_file(form, kernel));
  KW_TRY(files[paths.benchmark], benchmark_file(form, kernel));
  return files;
}

}  // namespace kw::act::liger
