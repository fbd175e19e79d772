#include "server/routes/samples.h"

#include "base/text.h"
#include "job/job_file.h"
#include "server/http/embedded.h"

namespace souk::server {
namespace {

// A file that names paths or URLs, or packages to be built, is not for a server.
bool needs_files(std::string_view name, std::string_view text) {
  const auto refuse = [](const std::string& path) { return base::fail(base::Code::invalid, path); };
  const auto read = job::read_job_file(
      text, name, {},
      {.place = [&](const auto& path) -> base::Result<std::string> { return refuse(path); },
       .allow_url = [&](const auto& url) -> base::Result<> { return refuse(url); }});
  return !read || read->environment;
}

wire::Sample sample_of(std::string_view name, std::string_view text) {
  wire::Sample out{.name = std::string(name), .yaml = std::string(text)};
  for (const auto line : base::split(text, '\n')) {
    if (!line.starts_with('#')) break;
    const auto comment = base::trim(line.substr(1));
    auto& field = out.title.empty() ? out.title : out.description;
    if (!field.empty()) field += ' ';
    field += comment;
  }
  return out;
}

}  // namespace

const wire::Samples& samples() {
  static const auto all = [] {
    wire::Samples out;
    for (const auto& [name, text] : example_jobs())
      if (!needs_files(name, text)) out.items.push_back(sample_of(name, text));
    return out;
  }();
  return all;
}

}  // namespace souk::server
