#include "net/aws/key.h"

#include <fmt/format.h>

#include <map>

#include "base/file.h"
#include "base/text.h"

namespace souk::net {
namespace {

// The values of one section of an INI file, as AWS's tools write them.
std::map<std::string, std::string> section_of(std::string_view text, std::string_view section) {
  std::map<std::string, std::string> out;
  bool inside = false;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with('['))
      inside = line == fmt::format("[{}]", section);
    else if (const auto equals = line.find('='); inside && equals != line.npos)
      out.emplace(base::trim(line.substr(0, equals)), base::trim(line.substr(equals + 1)));
  }
  return out;
}

}  // namespace

base::Result<AwsKey> aws_key(
    const std::function<std::optional<std::string>(const char* name)>& env) {
  AwsKey out{env("AWS_ACCESS_KEY_ID").value_or(""), env("AWS_SECRET_ACCESS_KEY").value_or(""),
             env("AWS_SESSION_TOKEN").value_or("")};
  if (!out.id.empty() && !out.secret.empty()) return out;
  const auto path =
      env("AWS_SHARED_CREDENTIALS_FILE").value_or(env("HOME").value_or("") + "/.aws/credentials");
  if (const auto text = base::read_file(path, "")) {
    auto values = section_of(*text, env("AWS_PROFILE").value_or("default"));
    out = {values["aws_access_key_id"], values["aws_secret_access_key"],
           values["aws_session_token"]};
    if (!out.id.empty() && !out.secret.empty()) return out;
  }
  return base::fail(base::Code::not_found, "there is no key of an AWS account",
                    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write " + path);
}

}  // namespace souk::net
