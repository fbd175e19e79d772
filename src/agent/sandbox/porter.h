#pragma once

#include <sys/types.h>

#include <cstdint>

#include "agent/sandbox/sandbox_keep.h"

// The way between the agent and the network namespace of a program that has one of its own: a small
// process of the keeper's that stays in it. It makes the device of a gang's network there and gives
// it to the agent, lets the program begin when the agent says so, and connects to the program's
// ports for the agent. What it makes belongs to the namespace, wherever the descriptor goes.
//
// They talk over a socket of whole messages: the agent sends a PorterOrder, the porter answers with
// a PorterReport, and a descriptor where there is one. As in sandbox_keep.h, it was forked from a
// program with threads: system calls only.

namespace souk::agent {

// 'g': let the program begin (no answer). 'c': connect to a port of the program.
struct PorterOrder {
  char what = 'c';
  std::uint16_t port = 0;
  std::uint32_t number = 0;  // Its report has the same, so that a late one is known.
};

struct PorterReport {
  // 'n': the network is there (with the device, if one was asked for). 'c': of 'c'.
  char what = 'n';
  Step step = Step::none;
  int error = 0;  // An errno; 0: well.
  std::uint32_t number = 0;
};

// The porter's whole life, in the forked child. `program` has announced its namespace; `go` lets it
// begin.
[[noreturn]] void porter(const KeepPlan& plan, pid_t program, int go);

}  // namespace souk::agent
