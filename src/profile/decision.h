// What can be decided, in the order in which a person reviews it: first what changes numbers, then memory, then the
// interface, then the engine's own choices. The table ties each decision's id to the field of the profile that it
// decides, so that the two cannot drift apart unseen.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace kw::profile {

enum class Weight { Numbers, Memory, Interface, Engine };

struct DecisionKind {
  std::string_view id;  // "casting"; "type.*" stands for one per type parameter
  Weight weight;
  std::string_view title;  // what is decided, for the review page
  bool settable;           // by `kw set`; the others follow from the math alone
  // The decided field as text; nothing if the profile has no such field ("type.U" without a U). `name` is the part
  // behind the dot of a "*" row.
  std::optional<std::string> (*field)(const Profile& profile, std::string_view name);
};

std::span<const DecisionKind> decision_kinds();
const DecisionKind* find_kind(std::string_view id);
std::string_view to_text(Weight weight);  // "numbers"
std::string_view to_text(SetBy set_by);   // "engine", "assumption", "user"
std::optional<SetBy> set_by_from_text(std::string_view text);

// Decisions as text: "none" for an empty list.
std::string list_text(const std::vector<std::string>& items);
std::string plan_text(const PassPlan& plan);  // "row, then column"
std::string shape_text(const Shape& shape);   // "rows=4 cols=8"
std::string shapes_text(const std::vector<Shape>& shapes);

// The decision ids that this profile should have: every kind that its fields answer to, in the table's order.
std::vector<std::string> expected_decisions(const Profile& profile);

// The id that a user's word means: itself, or the only id that ends with it ("T" → "type.T"). Nothing if none or
// several.
std::optional<std::string> resolve_decision(const Profile& profile, std::string_view word);

}  // namespace kw::profile
