#pragma once

#include "server/tunnels/service_desk.h"
#include "wire/api/batch.h"

namespace souk::server {

[[nodiscard]] inline ServiceSpec spec_of(base::JobId job, const wire::BatchService& service) {
  return {.job = job, .port = service.port, .at_once = service.at_once, .timeout = service.timeout};
}

}  // namespace souk::server
