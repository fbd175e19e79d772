#include "job/file_keys.h"

namespace souk::job {

base::Error at(base::Error error, std::string field) {
  error.message = field + ": " + error.message;
  error.field = std::move(field);
  return error;
}

std::string plain(const wire::AnyJson& json) {
  if (const auto text = wire::from_json<std::string>(json.text)) return *text;
  return json.text;
}

std::vector<std::string> one_or_several(const wire::AnyJson& json) {
  if (auto one = wire::from_json<std::string>(json.text)) return {*std::move(one)};
  if (auto many = wire::from_json<std::vector<std::string>>(json.text)) return *std::move(many);
  return {};
}

base::Result<std::string> placed(const PathRules& rules, const std::string& path,
                                 std::string field) {
  if (!rules.place) return path;
  auto place = rules.place(path);
  if (!place) return std::unexpected(at(std::move(place).error(), std::move(field)));
  return place;
}

base::Result<NamedWithOptions> read_named(const wire::AnyJson& json, std::string field) {
  if (auto name = wire::from_json<std::string>(json.text))
    return NamedWithOptions{.name = *std::move(name)};
  auto all = wire::from_json<std::map<std::string, wire::AnyJson>>(json.text);
  if (!all || !all->contains("name"))
    return std::unexpected(
        at({base::Code::invalid, "it has no name", "give a name, or {name: NAME, ...}"},
           std::move(field)));
  NamedWithOptions out{.name = plain(all->extract("name").mapped())};
  out.options = *std::move(all);
  return out;
}

}  // namespace souk::job
