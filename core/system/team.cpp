#include "system/team.h"

#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kw {
namespace {

int process_id() {
#if defined(_WIN32)
  return _getpid();
#else
  return getpid();
#endif
}

using Clock = std::chrono::steady_clock;
using Task = std::function<void(int64_t, int)>;

constexpr auto kCallAgain = std::chrono::milliseconds(100);

bool (*interrupt_hook)() = nullptr;

class Job {
 public:
  Job(int64_t count, const Task& task) : count_(count), task_(task) {}

  // Runs tasks until none is left.
  void work(int worker) {
    try {
      for (int64_t i; (i = next_.fetch_add(1)) < count_;) {
        task_(i, worker);
        check_interrupt();
      }
    } catch (...) {
      next_ = count_;
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }

  bool failed() const { return failed_; }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const int64_t count_;
  const Task& task_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

// The job of another thread on which this worker is working.
thread_local const Job* helping = nullptr;

class Team {
 public:
  void run(int threads, Job& job) {
    const int helpers = grow(threads - 1);
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      wanted_ = running_ = helpers;
      ++generation_;
    }
    wake_.notify_all();
    job.work(0);
    std::unique_lock lock(mutex_);
    // older versions of glibc can lose a wake-up (bug 25847): waiting threads are notified again
    while (!done_.wait_for(lock, kCallAgain, [&] { return running_ == 0; })) wake_.notify_all();
    job_ = nullptr;
  }

  const int owner = process_id();
  std::atomic<bool> busy{false};  // true while the team works for a caller

 private:
  // Starts workers up to the requested number, and returns how many there are. If the system has no
  // more threads, the caller works with fewer.
  int grow(int workers) {
    try {
      threads_.reserve(workers);
      while (int(threads_.size()) < workers) {
        const int worker = int(threads_.size()) + 1;
        threads_.emplace_back([this, worker, seen = generation_]() mutable { loop(worker, seen); });
      }
    } catch (const std::exception&) {  // no thread, or no memory for one
    }
    return std::min(int(threads_.size()), workers);
  }

  void loop(int worker, uint64_t seen) {
    while (true) {
      Job* job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return generation_ != seen; });
        seen = generation_;
        if (worker > wanted_) continue;
        job = job_;
      }
      helping = job;
      job->work(worker);
      std::lock_guard lock(mutex_);
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  int wanted_ = 0, running_ = 0;
  uint64_t generation_ = 0;
};

// The team lives until the process ends and is never joined: its threads only wait. A forked child
// has none of the threads, so it abandons the team of its parent and starts a new one. The pointer
// is atomic and not guarded by a lock, since a fork could copy the lock in its locked state.
std::atomic<Team*> current = nullptr;

Team& team() {
  Team* seen = current;
  while (!seen || seen->owner != process_id()) {
    auto fresh = std::make_unique<Team>();
    if (current.compare_exchange_strong(seen, fresh.get())) return *fresh.release();
  }
  return *seen;
}

}  // namespace

void set_interrupt_hook(bool (*hook)()) { interrupt_hook = hook; }

void check_interrupt() {
  if (helping) {
    if (helping->failed()) throw Interrupted{};
    return;
  }
  thread_local Clock::time_point last = Clock::now();
  const auto now = Clock::now();
  if (!interrupt_hook || now - last < std::chrono::milliseconds(50)) return;
  last = now;
  if (interrupt_hook()) throw Interrupted{};
}

void run_team(int threads, int64_t count, const Task& task) {
  Job job(count, task);
  threads = int(std::min<int64_t>(threads, count));
  if (threads > 1) {
    Team& crew = team();
    if (!crew.busy.exchange(true)) {
      crew.run(threads, job);
      crew.busy = false;
      return job.rethrow();
    }
  }
  job.work(0);
  job.rethrow();
}

}  // namespace kw
