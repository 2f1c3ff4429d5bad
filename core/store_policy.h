// Whether sums of rows go through a weight store: by cost, or forced, for tests and benchmarks.
#pragma once
#include <string>

namespace kw {

enum class StorePolicy { kByCost, kAlways, kNever };

StorePolicy store_policy();
// name: "auto", "always" or "never".
void use_store(const std::string& name);

}  // namespace kw
