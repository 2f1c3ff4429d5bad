// A persistent team of threads. It survives fork (a child starts a new team), serves one caller at
// a time (a second caller works alone rather than wait), and lets the caller be interrupted.
#pragma once
#include <cstdint>
#include <functional>

namespace kw {

struct Interrupted {};  // thrown when the interrupt hook returned true

// Runs task(index, worker) for index in [0, count) on up to `threads` threads, the caller included;
// worker < threads identifies them. Exceptions of tasks reach the caller.
void run_team(int threads, int64_t count, const std::function<void(int64_t, int)>& task);

// Long tasks call check_interrupt now and then. The hook is called at most about twenty times a
// second, only in the calling thread; its helpers stop when their job has failed.
void set_interrupt_hook(bool (*hook)());
void check_interrupt();

}  // namespace kw
