#include "verify/reach.h"

#include <algorithm>
#include <map>

#include "device/program.h"
#include "verify/shapes.h"
#include "verify/trial.h"

namespace kw::verify {
namespace {

const char* const kPastMemory = ", past its shared memory";
const char* const kSeveralParts = ", of several parts";
const char* const kManyParts = ", of many parts";
const char* const kThreads = ", threads";  // how many, where sizes decide; nothing that is reached
const char* const kFullBlock = ", of a full block";
const char* const kSeveralTurns = ", in several turns of several warps";
constexpr std::int64_t kElementsOfRow = 8;  // many rows keep many blocks busy, which costs as much as these
// More than these, and no thread finishes a sum alone; or no warp, where it reads them one by one.
constexpr std::int64_t kPartsOfAThread = 32, kPartsOfAWarp = 128;

// Entries that a call of these sizes runs, and the shared memory that each asks for; of many parts, how many.
using Launched = std::map<std::string, std::int64_t>;

bool is_of_the_math(const Subject& subject, const kernel::Pass& pass, const kernel::Buffer& buffer) {
  return subject.math().find_input(tensor_of(subject, pass, buffer)) != nullptr;
}

// The tensors of a call, as a trial places them.
Status place_tensors(const Subject& subject, const kernel::Pass& pass, const kernel::TypeBinding& types, Layout layout,
                     kernel::Facts& facts) {
  std::size_t inputs = 0;
  for (const kernel::Buffer& buffer : pass.buffers) {
    KW_TRY(kernel::Tensor tensor, kernel::describe(buffer, types, facts));
    if (buffer.role == kernel::Role::Input && is_of_the_math(subject, pass, buffer))
      tensor.strides = strides_in(layout, tensor.shape, inputs);
    if (buffer.role == kernel::Role::Input) ++inputs;
    if (layout == Layout::Misaligned) tensor.address = static_cast<std::uint64_t>(ir::info(tensor.dtype).bytes);
    facts.tensors[buffer.name] = std::move(tensor);
  }
  return {};
}

// All that guards and launches of a pass may ask about a call of these sizes.
Result<kernel::Facts> facts_of(const Subject& subject, const kernel::Pass& pass, const kernel::Sizes& sizes,
                               const kernel::TypeBinding& types, const kernel::Machine& machine, Layout layout) {
  kernel::Facts facts;
  facts.sizes = sizes;
  facts.machine = machine;
  for (const kernel::Scalar& scalar : subject.manifest.scalars) {
    KW_TRY(facts.scalars[scalar.name], default_of(subject, scalar));
  }
  KW_CHECK(place_tensors(subject, pass, types, layout, facts));
  return facts;
}

// Of what an entry reads: the most that a machine's blocks leave in a dimension of a workspace, or as many as it is
// told that they were. 1 where none does.
std::int64_t parts_of(const kernel::Pass& pass, const kernel::Entry& entry, const kernel::Facts& facts) {
  std::int64_t most = 1;
  for (const kernel::Argument& argument : entry.arguments)
    if (argument.kind == kernel::Argument::Kind::Size && argument.of.find("blocks(") != std::string::npos)
      if (const auto blocks = kernel::evaluate_size(argument.of, facts)) return *blocks;
  for (const kernel::Argument& argument : entry.arguments) {
    const kernel::Buffer* buffer = argument.kind == kernel::Argument::Kind::Read ? pass.find(argument.of) : nullptr;
    if (buffer == nullptr || buffer->role != kernel::Role::Workspace) continue;
    for (std::size_t d = 0; d < buffer->shape.size(); ++d)
      if (buffer->shape[d].find("multiprocessors") != std::string::npos)
        most = std::max(most, facts.tensors.at(buffer->name).shape[d]);
  }
  return most;
}

// Are there more rows, or whatever it goes by, than a machine of these multiprocessors gets blocks, each of several
// warps?
Result<bool> takes_turns(const kernel::Entry& entry, const kernel::Facts& facts) {
  if (entry.launch.grid[0].find("multiprocessors") == std::string::npos) return false;
  kernel::Facts larger = facts;
  larger.machine.multiprocessors *= 2;
  KW_TRY(const kernel::LaunchShape own, kernel::launch_of(entry, facts));
  KW_TRY(const kernel::LaunchShape other, kernel::launch_of(entry, larger));
  constexpr std::int64_t kWarp = 32;
  return other.grid[0] > own.grid[0] && own.block[0] > kWarp;
}

Status add_launched(const Subject& subject, const kernel::Pass& pass, const kernel::Sizes& sizes,
                    const kernel::TypeBinding& types, const kernel::Machine& machine, Layout layout, Launched& all) {
  KW_TRY(kernel::Facts facts, facts_of(subject, pass, sizes, types, machine, layout));
  kernel::Facts doubled = facts;
  for (auto& [name, size] : doubled.sizes) size *= 2;
  Launched here;
  for (const kernel::Step& step : pass.steps) {
    KW_TRY(const kernel::Entry* entry, kernel::choose_next(step, facts));
    doubled.blocks = facts.blocks;
    if (entry == nullptr) continue;
    here[entry->symbol] = 0;
    const std::int64_t parts = parts_of(pass, *entry, facts);
    if (parts > 1) here[entry->symbol + kSeveralParts] = 0;
    if (parts > (layout == Layout::Misaligned ? kPartsOfAWarp : kPartsOfAThread))
      here[entry->symbol + kManyParts] = parts;
    if (entry->launch.block[0].find_first_not_of("0123456789*") != std::string::npos) {
      KW_TRY(const kernel::LaunchShape own, kernel::launch_of(*entry, facts));
      here[entry->symbol + kThreads] = own.block[0];
    }
    KW_TRY(const bool turns, takes_turns(*entry, facts));
    if (turns) here[entry->symbol + kSeveralTurns] = 0;
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
                  const kernel::Machine& machine, Layout layout) {
  Launched all;
  for (const kernel::Pass& pass : subject.manifest.passes)
    static_cast<void>(
        add_launched(subject, pass, sizes, types, machine, layout, all));  // a pass that serves them not has none
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

// The last number up to `most` for which a condition holds that holds up to some number; 0 where it holds for none.
template <class Condition>
std::int64_t last_for_which(std::int64_t most, const Condition& holds) {
  std::int64_t low = 0, high = most + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

// Blocks of several warps that were as large for a few elements less: what is more, a thread has in a second round.
void mark_full_blocks(Launched& here, const Launched& with_fewer) {
  constexpr std::int64_t kWarp = 32;
  const Launched all = here;
  for (const auto& [entry, threads] : all) {
    const auto before = with_fewer.find(entry);
    if (entry.ends_with(kThreads) && before != with_fewer.end() && before->second == threads && threads > kWarp)
      here[entry.substr(0, entry.size() - std::string_view(kThreads).size()) + kFullBlock] = 0;
  }
}

bool is_small(const Subject& subject, const kernel::Sizes& sizes, std::int64_t most) {
  return admits(subject, sizes, most) && rows_of(subject, sizes) <= most / kElementsOfRow;
}

}  // namespace

std::set<std::string> reached(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine, Layout layout) {
  std::set<std::string> all;
  for (const auto& [entry, bytes] : launched(subject, sizes, types, machine, layout))
    if (!entry.ends_with(kThreads)) all.insert(entry);
  return all;
}

std::vector<kernel::Sizes> shapes_that_reach(const Subject& subject, const std::vector<kernel::Sizes>& tried,
                                             const kernel::TypeBinding& types, const kernel::Machine& machine,
                                             std::int64_t most, Layout layout) {
  std::set<std::string> known;
  for (const kernel::Sizes& sizes : tried) known.merge(reached(subject, sizes, types, machine, layout));
  std::vector<kernel::Sizes> found;
  // Past a power of two, since what a block, a warp or a register file holds is one; in steps that any vector has, and
  // in none. Where there are more rows than blocks, a block has several. What no such shape reaches wants vectors of
  // the others.
  struct Past {
    std::int64_t by;
    std::vector<std::int64_t> others;
  };
  struct Step {
    std::int64_t power;
    std::vector<Past> pasts;
  };
  std::vector<Step> steps;
  for (std::int64_t power = 16; power <= most; power *= 2)
    steps.push_back({power, {Past{8, {29, 11, 5, 3, 2, 1}}, Past{5, {3, 2, 1}}}});
  for (std::int64_t power = 16; power <= most; power *= 2) steps.push_back({power, {Past{8, {8, 4}}}});
  for (const auto& [power, pasts] : steps)
    for (const std::string& symbol : symbols_of_shapes(subject))
      for (const Past& past : pasts)
        for (const std::int64_t others : past.others) {
          kernel::Sizes sizes = fitted(subject, symbol, power + past.by, others);
          if (!is_small(subject, sizes, most)) continue;
          if (layout == Layout::Gaps && rows_of(subject, sizes) == 1) continue;  // there are none
          const std::int64_t size = sizes.at(symbol);
          const auto at = [&](std::int64_t n) {
            return launched(subject, fitted(subject, symbol, n, others), types, machine, layout);
          };
          std::set<kernel::Sizes> more;
          Launched here = at(size);
          if (layout == Layout::Dense) mark_full_blocks(here, at(size - past.by));
          for (const auto& [entry, bytes] : here) {
            if (entry.ends_with(kThreads) || !known.insert(entry).second) continue;
            more.insert(sizes);
            if (entry.find(", ") != std::string::npos || layout != Layout::Dense) continue;
            const std::int64_t most_of_it = full(at, entry, size, most, past.by == 8 ? 8 : 1);
            kernel::Sizes filled = fitted(subject, symbol, most_of_it, 1);
            if (most_of_it > size && is_small(subject, filled, most)) more.insert(std::move(filled));
          }
          for (const kernel::Sizes& shape : more)
            if (std::find(found.begin(), found.end(), shape) == found.end()) found.push_back(shape);
          break;
        }
  return found;
}

std::vector<kernel::Sizes> shapes_of_many_parts(const Subject& subject, const kernel::TypeBinding& types,
                                                std::int64_t most, Layout layout) {
  const kernel::Machine machine{1, kManyMultiprocessors};
  const std::vector<std::string> symbols = symbols_of_shapes(subject);
  std::vector<kernel::Sizes> found;
  std::set<std::string> known;
  // Rows that are long, of which a block has few, so that every block has some; and rows that are short: as many as
  // give all the parts that there can be.
  for (const std::int64_t length : {1031, 517, 29, 1})
    for (const std::string& symbol : symbols) {
      const auto at = [&](std::int64_t size) {
        kernel::Sizes sizes = fitted(subject, symbol, size, 1);
        if (symbol != symbols.back())
          sizes[symbols.back()] = fitted(subject, symbols.back(), length, 1).at(symbols.back());
        return sizes;
      };
      const auto parts = [&](std::int64_t size) {
        std::int64_t all = 0;
        for (const auto& [entry, count] : launched(subject, at(size), types, machine, layout))
          if (entry.ends_with(kManyParts)) all = std::max(all, count);
        return all;
      };
      const std::int64_t largest = last_for_which(most, [&](auto size) { return is_small(subject, at(size), most); });
      const std::int64_t wanted = length > 29 ? std::min<std::int64_t>(1, parts(largest)) : parts(largest);
      if (wanted == 0 || largest == 0) continue;
      const std::int64_t size = last_for_which(largest, [&](auto n) { return parts(n) < wanted; }) + 1;
      bool more = false;
      for (const auto& [entry, count] : launched(subject, at(size), types, machine, layout))
        if (entry.ends_with(kManyParts)) more |= known.insert(entry + (length > 29 ? ", long" : "")).second;
      if (more) found.push_back(at(size));
    }
  return found;
}

namespace {

Result<std::vector<PlannedLaunch>> plan_launches(const Subject& subject, const kernel::Pass& pass,
                                                 const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                                                 const kernel::Machine& machine) {
  KW_CHECK(kernel::check_constraints(subject.manifest, sizes));
  KW_TRY(kernel::Facts facts, facts_of(subject, pass, sizes, types, machine, Layout::Dense));
  std::vector<PlannedLaunch> launches;
  for (const kernel::Step& step : pass.steps) {
    KW_TRY(const kernel::Entry* entry, kernel::choose_next(step, facts));
    if (entry != nullptr) launches.push_back({entry, kernel::launch_of(*entry, facts)});
  }
  return launches;
}

}  // namespace

std::vector<PlannedLaunch> planned_launches(const Subject& subject, const kernel::Pass& pass,
                                            const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                                            const kernel::Machine& machine) {
  return plan_launches(subject, pass, sizes, types, machine).value_or(std::vector<PlannedLaunch>());
}

std::int64_t threads_launched(const Subject& subject, const kernel::Sizes& sizes, const kernel::TypeBinding& types,
                              const kernel::Machine& machine) {
  std::int64_t threads = 0;
  for (const kernel::Pass& pass : subject.manifest.passes)
    for (const PlannedLaunch& planned : planned_launches(subject, pass, sizes, types, machine)) {
      if (!planned.shape || !device::check_launch(*planned.entry, *planned.shape)) continue;
      const auto& [grid, block] = std::pair(planned.shape->grid, planned.shape->block);
      threads += grid[0] * grid[1] * grid[2] * (block[0] * block[1] * block[2]);
    }
  return threads;
}

std::vector<kernel::Sizes> shapes_at_edges(const Subject& subject, const kernel::TypeBinding& types,
                                           const kernel::Machine& machine, std::int64_t most) {
  constexpr std::int64_t kShortest = 512, kOthers = 3, kBefore = kVector + 2;
  std::set<std::string> known;
  std::vector<kernel::Sizes> found;
  for (std::int64_t power = kShortest; power <= most; power *= 2)
    for (const std::string& symbol : symbols_of_shapes(subject))
      for (const kernel::Pass& pass : subject.manifest.passes) {
        Launched before;
        std::set<std::string> steady;  // those that had as many blocks for one element less
        for (std::int64_t size = power - kBefore; size <= power + 1; ++size) {
          const kernel::Sizes sizes = fitted(subject, symbol, size, kOthers);
          if (sizes.at(symbol) != size || !is_small(subject, sizes, most)) continue;
          const std::vector<PlannedLaunch> launches = planned_launches(subject, pass, sizes, types, machine);
          if (launches.empty()) continue;
          Launched here;  // blocks, where rows or the like are cut into pieces
          for (const PlannedLaunch& planned : launches)
            if (planned.shape && planned.entry->launch.grid[0].find("ceil_div") != std::string::npos)
              here[planned.entry->symbol] = planned.shape->grid[0];
          std::set<std::string> same;
          for (const auto& [entry, blocks] : here) {
            const auto last = before.find(entry);
            if (last != before.end() && last->second == blocks) same.insert(entry);
            if (last != before.end() && last->second < blocks && steady.contains(entry) && known.insert(entry).second)
              found.push_back(sizes);
          }
          before = here;
          steady = std::move(same);
        }
      }
  return found;
}

}  // namespace kw::verify
