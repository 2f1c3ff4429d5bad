// Releases the global interpreter lock, and takes it again.
//
// When a process ends, Python ends its other threads as soon as they request the lock, by unwinding
// their stacks. C++ ends the process if a frame on the stack may not be unwound (noexcept). So such
// a thread waits here until the process has ended. Python does the same from version 3.14 on.
#pragma once
#include <Python.h>

#include <concepts>
#if defined(__GLIBCXX__) && !defined(_WIN32)
#include <cxxabi.h>
#include <unistd.h>
#endif

namespace kw {

template <std::invocable Take>
void take_lock(Take&& take) noexcept {
#if defined(__GLIBCXX__) && !defined(_WIN32)
  try {
    take();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  take();
#endif
}

class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    take_lock([this] { PyEval_RestoreThread(state_); });
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

class WithLock {
 public:
  WithLock() {
    take_lock([this] { state_ = PyGILState_Ensure(); });
  }
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace kw
