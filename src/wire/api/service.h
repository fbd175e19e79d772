#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "wire/api/batch.h"

// Services: programs behind ports, at addresses of the market.

namespace souk::wire {

struct ServiceRow {
  std::string name;  // As in /v1/services/NAME/: "bob.hello".
  base::JobId job;
  std::string owner;
  Callers callers = Callers::owner;
  std::optional<std::string> model;  // Of a language model.
  std::int32_t workers = 0;          // That can be talked to now.
  std::int64_t in_work = 0;          // Requests,
  std::int64_t queued = 0;           // and those that wait.
  SOUK_FIELDS(ServiceRow, name, job, owner, callers, model, workers, in_work, queued)
};

struct ServiceList {
  std::vector<ServiceRow> items;
  SOUK_FIELDS(ServiceList, items)
};

// As clients of OpenAI's API want it.
struct ModelRow {
  std::string id;
  std::string object = "model";
  std::string owned_by;
  SOUK_FIELDS(ModelRow, id, object, owned_by)
};

struct ModelList {
  std::string object = "list";
  std::vector<ModelRow> data;
  SOUK_FIELDS(ModelList, object, data)
};

}  // namespace souk::wire
