#include "hub/arriving_update.h"

#include <exception>
#include <utility>

#include "hub/shared_bytes.h"

namespace souk::hub {

using base::Code;
using base::Result;

ArrivingUpdate::ArrivingUpdate(std::shared_ptr<const train::Codec> codec,
                               std::shared_ptr<ServiceJob> job, std::size_t floats,
                               std::shared_ptr<base::Buffer> body)
    : codec_(std::move(codec)),
      job_(std::move(job)),
      floats_(floats),
      reader_(std::make_shared<BytesInBuffer>(std::move(body)), *codec_, floats) {
  ++job_->arriving;
}

ArrivingUpdate::~ArrivingUpdate() { --job_->arriving; }

void ArrivingUpdate::arrived(std::size_t bytes) noexcept {
  if (refused_) return;
  try {
    if (auto good = read(bytes); !good) refused_ = std::move(good).error();
  } catch (const std::exception& e) {
    refused_ = {Code::exhausted, "the hub has no room to read the update", e.what()};
  }
}

Result<> ArrivingUpdate::read(std::size_t bytes) {
  SOUK_TRY(reader_.arrived(bytes));
  for (; measured_ < reader_.ready(); ++measured_) {
    sum_.add(reader_.update(), measured_);
    // What is not finite is refused: nothing is prepared of it.
    if (prepared_ && !prepared_->useless && sum_.stats().finite)
      job_->prepare(*prepared_, reader_.update());
    else
      prepared_.reset();
  }
  return {};
}

Result<std::optional<ArrivingUpdate::ReadUpdate>> ArrivingUpdate::finish(std::size_t floats) {
  if (floats != floats_) return std::nullopt;
  if (refused_) return std::unexpected(*refused_);
  ReadUpdate out{.codec = codec_};
  SOUK_ASSIGN(out.update, reader_.finish());
  for (; measured_ < out.update.count(); ++measured_) sum_.add(out.update, measured_);
  const auto stats = sum_.stats();
  if (!stats.finite) return base::fail(Code::invalid, "the update has numbers that are not finite");
  out.update.norm = stats.norm;
  if (prepared_ && prepared_->blocks.size() == out.update.count())
    out.prepared = std::move(prepared_);
  return out;
}

}  // namespace souk::hub
