#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/probe/environments.h"
#include "agent/probe/probe.h"
#include "agent/probe/score.h"
#include "base/fields.h"
#include "base/time.h"
#include "cli/shell/terminal.h"
#include "net/client.h"
#include "wire/api/earnings.h"

// `souk doctor`: can this machine lend, how fast is it, and what would make it better. The parts
// are here so that the page can be tested without a machine.

namespace souk::cli {

// One thing that keeps jobs apart from the owner's files, or from each other.
struct SandboxFinding {
  std::string name;
  bool works = false;
  std::string text;       // What it is good for, or what is lost without it.
  std::string fix;        // What to type; empty when there is nothing to do.
  bool required = false;  // Without it this machine cannot lend.
  SOUK_FIELDS(SandboxFinding, name, works, text, fix, required)
};

struct NetworkCheck {
  std::string server;
  std::optional<double> round_trip_ms;  // The median.
  std::optional<double> download_mbs;   // A lower bound: one small document again and again.
  std::string text;                     // What is missing, and why.
  std::string fix;
  SOUK_FIELDS(NetworkCheck, server, round_trip_ms, download_mbs, text, fix)
};

struct Diagnosis {
  agent::Machine machine;
  std::optional<agent::Score> score;
  NetworkCheck network;
  std::vector<SandboxFinding> sandboxes;
  bool can_lend = false;
  std::string reason;                      // Why not.
  std::string fix;                         // What to do about it.
  std::optional<wire::Earnings> earnings;  // By lending all of it, says the market; if it answered.
  std::vector<agent::LentEnvironment> environments;  // That could be lent, too.
  SOUK_FIELDS(Diagnosis, machine, score, network, sandboxes, can_lend, reason, fix, earnings,
              environments)
};

// Sets can_lend, reason and fix from the rest.
void conclude(Diagnosis& diagnosis);

// The page. Ends with the verdict when it is a good one: a bad one is the command's error, which
// comes last of all.
std::string render(const Diagnosis& diagnosis, bool all_packages, const Terminal& terminal);

// GETs a path on one connection.
using Get = std::function<base::Result<net::Response>(std::string_view path)>;
// Ten round trips of /healthz after one that connects, then, when `download_time` is not zero,
// /v1/openapi.json until it has passed. Never fails: an unreachable server is a text and a fix.
NetworkCheck check_network(const std::string& server, const Get& get, base::Duration download_time);

// Uses options.root, search_path and the bounds of programs.
std::vector<SandboxFinding> sandbox_findings(const agent::ProbeOptions& options);

}  // namespace souk::cli
