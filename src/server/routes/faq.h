#pragma once

#include "wire/api/feedback.h"

namespace souk::server {

// What newcomers ask, and the answers: `souk faq`.
[[nodiscard]] const wire::Faq& faq();

}  // namespace souk::server
