#include "cli/commands.h"

namespace kw::cli {

Action add_dev(CLI::App& app);
Action add_understand(CLI::App& app);
Action add_review(CLI::App& app);
Action add_set(CLI::App& app);
Action add_diff(CLI::App& app);
Action add_approve(CLI::App& app);
Action add_act(CLI::App& app);
Action add_verify(CLI::App& app);
Action add_regen(CLI::App& app);
Action add_worth(CLI::App& app);
Action add_list(CLI::App& app);
Action add_status(CLI::App& app);
Action add_remove(CLI::App& app);
Action add_doctor(CLI::App& app);

namespace {

constexpr CommandRow kCommands[] = {
    {"dev", "from a source to a verified kernel, with a checkpoint after each stage", add_dev},
    {"understand", "reads an op and writes its profile", add_understand},
    {"review", "the profile on one page, to be judged in a minute", add_review},
    {"set", "changes a decision and what follows from it", add_set},
    {"diff", "what changed since the profile was approved", add_diff},
    {"approve", "records an approval", add_approve},
    {"act", "writes the kernels and their manifest from the approved profile", add_act},
    {"generate", "the same as act", add_act},
    {"verify", "proves kernels right, or says which gate they fail", add_verify},
    {"regen", "generates again from the same decisions, and shows what changed in code, gates and time", add_regen},
    {"worth", "what a kernel could gain on this machine, before one is written", add_worth},
    {"list", "the kernels of this workspace", add_list},
    {"status", "how far each kernel has come, and the command that is next", add_status},
    {"remove", "takes a kernel out of the workspace", add_remove},
    {"doctor", "what this machine has, and what it lacks", add_doctor},
};

}  // namespace

std::span<const CommandRow> commands() { return kCommands; }

}  // namespace kw::cli
