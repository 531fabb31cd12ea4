#include "verify/reach.h"

#include <algorithm>
#include <map>

#include "verify/cases.h"
#include "verify/trial.h"

namespace kw::verify {
namespace {

const char* const kPastMemory = ", past its shared memory";

// Entries that a call of these sizes runs, and the shared memory that each asks for.
using Launched = std::map<std::string, std::int64_t>;

Status add_launched(const Subject& subject, const kernel::Pass& pass, const kernel::Sizes& sizes,
                    const kernel::TypeBinding& types, const kernel::Machine& machine, Launched& all) {
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
  Launched here;
  for (const kernel::Step& step : pass.steps) {
    if (step.kind != kernel::Step::Kind::Kernel) continue;
    KW_TRY(const kernel::Entry* entry, kernel::choose(step, facts));
    here[entry->symbol] = 0;
    // Twice the sizes would get no more shared memory: what does not fit into it goes another way.
    if (entry->launch.shared_bytes == "0") continue;
    KW_TRY(const kernel::LaunchShape own, kernel::launch_of(*entry, facts));
    KW_TRY(const kernel::LaunchShape larger, kernel::launch_of(*entry, doubled));
    here[entry->symbol] = own.shared_bytes;
    if (own.shared_bytes > 0 && larger.shared_bytes <= own.shared_bytes) here[entry->symbol + kPastMemory] = 0;
  }
  all.merge(here);
  return {};
}

Launched launched(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                  const kernel::Machine& machine) {
  Launched all;
  for (const kernel::Pass& pass : subject.manifest.passes)
    static_cast<void>(add_launched(subject, pass, sizes, types, machine, all));  // a pass that serves them not has none
  return all;
}

// The largest size up to `most`, in steps, for which an entry runs with the memory that it has at `size`: there
// it is full. `size` itself where it is never full.
template <class At>
std::int64_t full(const At& at, const std::string& entry, std::int64_t size, std::int64_t most, std::int64_t step) {
  const std::int64_t bytes = at(size).at(entry);
  const auto same = [&](std::int64_t steps) {
    const Launched there = at(size + steps * step);
    const auto found = there.find(entry);
    return found != there.end() && found->second == bytes;
  };
  std::int64_t low = 0, high = (most - size) / step;
  if (high < 1 || same(high)) return size;
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (same(middle) ? low : high) = middle;
  }
  return size + low * step;
}

}  // namespace

std::set<std::string> reached(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine) {
  std::set<std::string> all;
  for (const auto& [entry, bytes] : launched(subject, sizes, types, machine)) all.insert(entry);
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
          if (rows_of(subject, sizes) > most / kElementsOfRow) continue;
          const std::int64_t size = sizes.at(symbol);
          const auto at = [&](std::int64_t n) {
            return launched(subject, fitted(subject, symbol, n, others), types, machine);
          };
          std::set<kernel::Sizes> more;
          for (const auto& [entry, bytes] : at(size)) {
            if (!known.insert(entry).second) continue;
            more.insert(sizes);
            if (entry.ends_with(kPastMemory)) continue;
            const std::int64_t most_of_it = full(at, entry, size, most, past.by == 8 ? 8 : 1);
            kernel::Sizes filled = fitted(subject, symbol, most_of_it, 1);
            if (most_of_it > size && rows_of(subject, filled) <= most / kElementsOfRow) more.insert(std::move(filled));
          }
          for (const kernel::Sizes& shape : more)
            if (admits(subject, shape, most) && std::find(found.begin(), found.end(), shape) == found.end())
              found.push_back(shape);
          break;
        }
  return found;
}

}  // namespace kw::verify
