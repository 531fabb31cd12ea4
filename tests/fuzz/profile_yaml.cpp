// Any bytes as profile.yaml: read or refused, never a crash; what is read writes back and reads back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/approval.h"
#include "profile/difference.h"
#include "profile/review.h"
#include "profile/schedules.h"
#include "profile/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kw::Result<kw::profile::Profile> profile = kw::profile::from_yaml(text, "profile.yaml");
  if (profile) {
    const kw::Result<kw::profile::Profile> again =
        kw::profile::from_yaml(kw::profile::to_yaml(*profile), "profile.yaml");
    if (!again || !(*again == *profile)) std::abort();
    if (!kw::profile::difference(*profile, *again).empty()) std::abort();
    kw::profile::review_page(*profile, kw::profile::ApprovalState::Missing, nullptr, {});
  } else {
    kw::render(profile.error());
  }
  // The other stored texts have no corpus of their own; mutations of profiles are as good a source of trouble.
  (void)kw::profile::schedules_from_yaml(text, "schedules.yaml");
  (void)kw::profile::read_approvals(text, "approvals.jsonl");
  return 0;
}
