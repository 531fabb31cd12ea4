#include "device/request.h"

#include <nlohmann/json.hpp>

namespace kw::device {
namespace {

using nlohmann::json;

json to_object(const Program& program) {
  json calls = json::array();
  for (const Call& call : program.calls) {
    if (const auto* kernel = std::get_if<KernelCall>(&call)) {
      json slots = json::array();
      for (const Slot& slot : kernel->slots) {
        if (const auto* buffer = std::get_if<BufferSlot>(&slot)) {
          slots.push_back({"b", buffer->offset});
          if (kernel->python) slots.back().push_back(ir::info(buffer->dtype).name);
        }
        if (const auto* whole = std::get_if<std::int64_t>(&slot)) slots.push_back({"i", *whole});
        // As its bits: text has no infinity.
        if (const auto* real = std::get_if<double>(&slot)) slots.push_back({"r", std::bit_cast<std::uint64_t>(*real)});
        if (const auto* bits = std::get_if<BitsSlot>(&slot)) slots.push_back({"n", bits->bits});
      }
      json one = {{"library", kernel->library}, {"symbol", kernel->symbol}, {"slots", slots}};
      if (kernel->launch) one["launch"] = {kernel->launch->grid, kernel->launch->block, kernel->launch->shared_bytes};
      if (kernel->python) one.update({{"constants", kernel->python->constants}, {"warps", kernel->python->warps}});
      calls.push_back(std::move(one));
    } else {
      const FillCall& fill = std::get<FillCall>(call);
      calls.push_back({{"fill", {fill.offset, fill.count, fill.element_bytes, fill.pattern}}});
    }
  }
  json object = {{"calls", std::move(calls)}};
  if (!program.emulation) return object;
  json& emulation = object["emulation"] = {{"seed", program.emulation->seed}, {"buffers", json::array()}};
  for (const Emulation::Buffer& b : program.emulation->buffers)
    emulation["buffers"].push_back(
        {b.name, b.offset, b.bytes, b.element_bytes, b.shape, b.strides, b.input, b.output, b.writable});
  return object;
}

Program program_from(const json& object) {
  Program program;
  if (object.contains("emulation")) {
    Emulation& emulation = program.emulation.emplace();
    emulation.seed = object["emulation"]["seed"];
    for (const json& b : object["emulation"]["buffers"])
      emulation.buffers.push_back({b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8]});
  }
  for (const json& call : object["calls"]) {
    if (call.contains("fill")) {
      const json& fill = call["fill"];
      program.calls.emplace_back(FillCall{{}, fill[0], fill[1], fill[2], fill[3]});
      continue;
    }
    KernelCall kernel{call["library"], call["symbol"], {}, {}};
    for (const json& slot : call["slots"]) {
      if (slot[0] == "b") kernel.slots.emplace_back(BufferSlot{slot[1].get<std::uint64_t>()});
      if (slot[0] == "i") kernel.slots.emplace_back(slot[1].get<std::int64_t>());
      if (slot[0] == "r") kernel.slots.emplace_back(std::bit_cast<double>(slot[1].get<std::uint64_t>()));
      if (slot[0] == "n") kernel.slots.emplace_back(BitsSlot{slot[1].get<std::uint64_t>()});
    }
    if (call.contains("launch")) {
      const json& launch = call["launch"];
      kernel.launch = kernel::LaunchShape{launch[0], launch[1], launch[2]};
    }
    program.calls.emplace_back(std::move(kernel));
  }
  return program;
}

}  // namespace

std::string to_line(const Request& request) {
  json object = {{"arena", request.arena},
                 {"arena_bytes", request.arena_bytes},
                 {"gpu", request.gpu},
                 {"driver", request.driver},
                 {"exact", request.exact},
                 {"last", request.last},
                 {"from_outside", request.from_outside},
                 {"resident", request.timing.resident},
                 {"memory", request.memory},
                 {"cpu_seconds", request.cpu_seconds},
                 {"time_ms", request.time.count()},
                 {"timed", request.timed},
                 {"warm_up", request.timing.warm_up},
                 {"samples", request.timing.samples},
                 {"calls_per_sample", request.timing.calls_per_sample},
                 {"budget_ms", request.timing.budget.count()}};
  for (const Request::Range& range : request.ranges)
    object["ranges"].push_back({range.first, range.end, range.writable, range.at_start, range.offset, range.bytes});
  for (const Program& program : request.programs) object["programs"].push_back(to_object(program));
  if (request.timing.before) object["before"] = to_object(*request.timing.before);
  return object.dump();
}

Request request_from_line(std::string_view line) {
  const json object = json::parse(line);
  Request request;
  request.arena = object["arena"];
  request.arena_bytes = object["arena_bytes"];
  request.gpu = object["gpu"];
  request.driver = object["driver"];
  request.exact = object["exact"];
  request.last = object["last"];
  request.from_outside = object["from_outside"];
  request.timing.resident = object["resident"];
  request.memory = object["memory"];
  request.cpu_seconds = object["cpu_seconds"];
  request.time = std::chrono::milliseconds(object["time_ms"].get<std::int64_t>());
  request.timed = object["timed"];
  request.timing.warm_up = object["warm_up"];
  request.timing.samples = object["samples"];
  request.timing.calls_per_sample = object["calls_per_sample"];
  request.timing.budget = std::chrono::milliseconds(object["budget_ms"].get<std::int64_t>());
  if (object.contains("ranges"))
    for (const json& range : object["ranges"])
      request.ranges.push_back({range[0], range[1], range[2], range[3], range[4], range[5]});
  if (object.contains("programs"))
    for (const json& program : object["programs"]) request.programs.push_back(program_from(program));
  if (object.contains("before")) request.timing.before = program_from(object["before"]);
  return request;
}

std::string to_line(const Answer& answer) {
  json object = json::object();
  if (!answer.error.empty()) object["error"] = answer.error;
  if (!answer.unfit.empty()) object["unfit"] = answer.unfit;
  if (answer.stray) object["stray"] = *answer.stray;
  if (answer.gpu_fault) {
    object["gpu_fault"] = {{"code", answer.gpu_fault->code}, {"text", answer.gpu_fault->text}};
    object["program"] = answer.program;
    object["call"] = answer.call;
  }
  object["nanoseconds"] = answer.nanoseconds;
  if (!answer.wrong.empty()) {
    object["wrong"] = answer.wrong;
    object["program"] = answer.program;
    object["call"] = answer.call;
  }
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

// A kernel can write to any descriptor, so an answer is looked at as what a stranger sent.
std::optional<Answer> answer_from_line(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Answer answer;
  try {
    answer.error = object.value("error", "");
    answer.wrong = object.value("wrong", "");
    if (object.contains("nanoseconds")) answer.nanoseconds = object["nanoseconds"];
    if (object.contains("signal")) {
      answer.signal = object["signal"].get<int>();
      answer.address = object.at("address");
      answer.in_arena = object.at("in_arena").get<int>() != 0;
      answer.write = object.at("write").get<int>() != 0;
    }
    answer.unfit = object.value("unfit", "");
    if (object.contains("stray")) answer.stray = object["stray"].get<std::uint64_t>();
    if (object.contains("gpu_fault"))
      answer.gpu_fault = Answer::GpuFault{object["gpu_fault"].at("code"), object["gpu_fault"].at("text")};
    answer.program = object.value("program", -1);
    answer.call = object.value("call", -1);
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return answer;
}

}  // namespace kw::device
