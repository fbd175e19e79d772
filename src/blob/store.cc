#include "blob/store.h"

#include "base/check.h"
#include "blob/disk_store.h"

namespace souk::blob {

Store::Pin::Pin(const Store* store, std::vector<Digest> names)
    : store_(store), names_(std::move(names)) {}

Store::Pin::Pin(Pin&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)), names_(std::move(other.names_)) {}

Store::Pin& Store::Pin::operator=(Pin&& other) noexcept {
  std::swap(store_, other.store_);
  std::swap(names_, other.names_);
  return *this;
}

Store::Pin::~Pin() {
  if (store_ != nullptr) store_->unpin_names(names_);
}

void Store::Pin::add(const Digest& name) {
  CHECK(store_ != nullptr);
  store_->pin_names({&name, 1});
  names_.push_back(name);
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const StoreOptions& options) {
  return DiskStore::open(path, options);
}

Result<bool> Store::put(const Digest& name, std::string_view encoded) {
  SOUK_TRY(verify(encoded, name));
  return keep(name, {encoded[0], encoded.substr(1)});
}

Result<Store::Added> Store::add(std::string_view content, Pin* pin) {
  const auto name = name_of(content);
  if (pin != nullptr) pin->add(name);
  // Before the work of compressing. What others wrote meanwhile is found when it is kept.
  if (knows(name) && has(name)) return Added{name, true};
  thread_local Bytes scratch;  // Kept, as fresh memory costs more than compressing into it.
  SOUK_ASSIGN(const bool is_new, keep(name, encode(content, scratch)));
  return Added{name, !is_new};
}

Store::Pin Store::pin(std::vector<Digest> names) const {
  pin_names(names);
  return Pin(this, std::move(names));
}

}  // namespace souk::blob
