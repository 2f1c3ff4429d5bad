// A persistent team of threads. It survives fork (a child starts a new team) and serves one caller
// at a time: a second caller works alone instead of waiting. The caller can be interrupted.
#pragma once
#include <cstdint>
#include <functional>

namespace kw {

struct Interrupted {};  // thrown if the interrupt hook returned true

// Runs task(index, worker) for index in [0, count) on up to `threads` threads, including the
// caller; 0 <= worker < threads. Exceptions of tasks are rethrown in the caller.
void run_team(int threads, int64_t count, const std::function<void(int64_t, int)>& task);

// Long tasks call check_interrupt regularly. The hook is called at most about twenty times a
// second, and only in the calling thread; other workers stop once the job has failed.
void set_interrupt_hook(bool (*hook)());
void check_interrupt();

}  // namespace kw
