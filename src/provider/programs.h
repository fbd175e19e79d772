#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace souk::provider {

struct ProgramOutput {
  int status = 0;
  std::string out;
  std::string err;
  bool timed_out = false;  // It was killed; what it did until then is done.
};

// Runs a program of the system with a bound on time and output. Handed in, as this folder starts no
// processes itself and tests answer for the programs. A program that is not there is
// Code::not_found.
using RunProgram = std::function<base::Result<ProgramOutput>(const std::vector<std::string>& argv)>;

}  // namespace souk::provider
