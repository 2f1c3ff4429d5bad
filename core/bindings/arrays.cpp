// Arrays for results.
#include <algorithm>
#include <memory>

#include "bindings/bindings.h"
#include "system/recycled.h"

namespace nb = nanobind;

namespace kw {

Out make_array(std::vector<size_t> shape) {
  size_t size = 1;
  for (size_t extent : shape) size *= extent;
  auto buffer = std::make_unique<Buffer<double>>(std::max<size_t>(size, 1));
  double* data = buffer->data();
  nb::capsule owner(buffer.get(), [](void* p) noexcept { delete static_cast<Buffer<double>*>(p); });
  buffer.release();
  return Out(data, shape.size(), shape.data(), owner);
}

}  // namespace kw
