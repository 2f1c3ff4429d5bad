#include "store_policy.h"

#include <atomic>
#include <stdexcept>

namespace kw {
namespace {

std::atomic<StorePolicy> policy{StorePolicy::kByCost};

}  // namespace

StorePolicy store_policy() { return policy; }

void use_store(const std::string& name) {
  if (name == "auto")
    policy = StorePolicy::kByCost;
  else if (name == "always")
    policy = StorePolicy::kAlways;
  else if (name == "never")
    policy = StorePolicy::kNever;
  else
    throw std::invalid_argument("use_store: accepted are auto, always and never, not " + name);
}

}  // namespace kw
