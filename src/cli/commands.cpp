#include "cli/commands.h"

namespace kw::cli {

Action add_doctor(CLI::App& app);

namespace {

constexpr CommandRow kCommands[] = {
    {"doctor", "what this machine has, and what it lacks", add_doctor},
};

}  // namespace

std::span<const CommandRow> commands() { return kCommands; }

}  // namespace kw::cli
