#pragma once

#include <string>
#include <vector>

namespace souk::trainer {

// What main() chooses from. Each gives the exit status, and throws Error on what it cannot accept.

// Speaks the worker protocol on standard input and output until `bye` or the end of the input.
int run_worker();

// Trains on one shard without the protocol: the baseline that units are compared with.
int run_bare(const std::vector<std::string>& arguments);

// Applies a model to what comes on standard input, a line a sample.
int run_predict(const std::vector<std::string>& arguments);

}  // namespace souk::trainer
