#pragma once

#include <spdlog/spdlog.h>

#include <exception>
#include <string_view>

namespace souk::server {

// Runs fn(). What it throws is logged and goes no further: a request that was being served answers
// 500 as it is unwound (ApiReply), and whoever called goes on. True: nothing was thrown.
template <class Fn>
bool contain(std::string_view what, Fn&& fn) {
  try {
    fn();
    return true;
  } catch (const std::exception& e) {
    spdlog::error("{} failed: {}", what, e.what());
  } catch (...) {
    spdlog::error("{} failed", what);
  }
  return false;
}

}  // namespace souk::server
