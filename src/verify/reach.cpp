#include "verify/reach.h"

#include "verify/cases.h"
#include "verify/trial.h"

namespace kw::verify {
namespace {

const char* const kPastMemory = ", past its shared memory";

Result<std::set<std::string>> entries_of(const Subject& subject, const kernel::Pass& pass, const kernel::Sizes& sizes,
                                         const kernel::TypeBinding& types, const kernel::Machine& machine) {
  kernel::Facts facts;
  facts.sizes = sizes;
  facts.machine = machine;
  for (const kernel::Scalar& scalar : subject.manifest.scalars) {
    KW_TRY(facts.scalars[scalar.name], default_of(subject, scalar));
  }
  for (const kernel::Buffer& buffer : pass.buffers) {
    KW_TRY(facts.tensors[buffer.name], kernel::describe(buffer, types, facts));
  }
  kernel::Facts doubled = facts;
  for (auto& [name, size] : doubled.sizes) size *= 2;
  std::set<std::string> symbols;
  for (const kernel::Step& step : pass.steps) {
    if (step.kind != kernel::Step::Kind::Kernel) continue;
    KW_TRY(const kernel::Entry* entry, kernel::choose(step, facts));
    symbols.insert(entry->symbol);
    // Twice the sizes would get no more shared memory: what does not fit into it goes another way.
    if (entry->launch.shared_bytes == "0") continue;
    KW_TRY(const kernel::LaunchShape own, kernel::launch_of(*entry, facts));
    KW_TRY(const kernel::LaunchShape larger, kernel::launch_of(*entry, doubled));
    if (own.shared_bytes > 0 && larger.shared_bytes <= own.shared_bytes) symbols.insert(entry->symbol + kPastMemory);
  }
  return symbols;
}

}  // namespace

std::set<std::string> reached(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine) {
  std::set<std::string> all;
  for (const kernel::Pass& pass : subject.manifest.passes)
    if (auto symbols = entries_of(subject, pass, sizes, types, machine)) all.merge(*symbols);
  return all;
}

std::vector<kernel::Sizes> shapes_that_reach(const Subject& subject, const std::vector<kernel::Sizes>& tried,
                                             const kernel::TypeBinding& types, const kernel::Machine& machine,
                                             std::int64_t most) {
  constexpr std::int64_t kElementsOfRow = 8;
  std::set<std::string> known;
  for (const kernel::Sizes& sizes : tried) known.merge(reached(subject, sizes, types, machine));
  std::vector<kernel::Sizes> found;
  // Past a power of two, since what a block, a warp or a register file holds is one; in steps that any vector has, and
  // in none. Where there are more rows than blocks, a block has several.
  struct Past {
    std::int64_t by;
    std::vector<std::int64_t> others;
  };
  for (std::int64_t power = 16; power <= most; power *= 2)
    for (const std::string& symbol : symbols_of_shapes(subject))
      for (const Past& past : {Past{8, {29, 11, 5, 3, 2, 1}}, Past{5, {3, 2, 1}}})
        for (const std::int64_t others : past.others) {
          kernel::Sizes sizes = fitted(subject, symbol, power + past.by, others);
          if (!admits(subject, sizes, most)) continue;
          // Many rows keep many blocks busy, which costs more than as many elements.
          if (most_elements(subject, sizes) / last_size(subject, sizes) > most / kElementsOfRow) continue;
          std::set<std::string> here = reached(subject, sizes, types, machine);
          const std::size_t before = known.size();
          known.merge(here);
          if (known.size() > before) found.push_back(std::move(sizes));
          break;
        }
  return found;
}

}  // namespace kw::verify
