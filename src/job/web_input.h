#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/api/batch.h"

// Inputs that are known by an address and a hash: the borrower fetches them and sends them like any
// other, or (`fetch: lender`) each lender fetches them for itself, from hosts that it allows.

namespace souk::job {

// The address of `url` by http or https. Others that people use are put in those terms:
//   s3://BUCKET/KEY                       what anybody may read of a bucket at AWS
//   hf://[datasets/]OWNER/NAME[@REVISION]/FILE   a file of a model or data set at Hugging Face
[[nodiscard]] base::Result<std::string> web_url(std::string_view url);

// "files.example:8080" of "https://files.example:8080/x"; nothing: it is no such address.
[[nodiscard]] std::string host_of(std::string_view url);

// 64 digits, as sha256sum prints them.
[[nodiscard]] bool is_sha256(std::string_view text);

// An input that lenders fetch has an address and a hash; any other has a blob.
[[nodiscard]] base::Result<> check_input(const wire::BatchInput& input);

// What such inputs demand of machines, each once.
[[nodiscard]] std::vector<std::string> fetch_demands(const wire::Batch& work);

}  // namespace souk::job
