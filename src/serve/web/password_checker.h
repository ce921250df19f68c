// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/web/login_cache.h"

namespace everywatt::web {

struct PasswordQuestion {
  std::string password;
  std::string hash;   // "": there is no such user
  unsigned cost = 4;  // of what a check takes
};

// Checks passwords, one after the other, on a thread of its own: run(). All the rest belongs to one
// other thread. Bounded, also for each client, so that none fills it up for all.
class PasswordChecker {
 public:
  using Done = std::function<void(bool is_right)>;

  static base::Result<std::unique_ptr<PasswordChecker>> open();

  // Until the token stops it; a check that has begun is ended first.
  void run(const std::stop_token& stop);

  // False: too many wait already. Else `done` is called by deliver() once. What is equal by its
  // key to what waits or is under way is not computed twice.
  bool try_ask(const LoginKey& key, const std::string& client, PasswordQuestion question,
               Done done);

  // Is readable while there is something to deliver.
  int descriptor() const { return ready_.get(); }
  void deliver();

 private:
  struct Asked {
    std::string client;
    std::vector<Done> done;
  };
  struct Waiting {
    LoginKey key;
    PasswordQuestion question;
  };
  struct Answer {
    LoginKey key;
    bool is_right = false;
  };

  explicit PasswordChecker(base::UniqueFd ready) : ready_(std::move(ready)) {}

  const base::UniqueFd ready_;

  // Of the asking thread.
  std::unordered_map<LoginKey, Asked, HashOfLoginKey> asked_;
  std::unordered_map<std::string, std::size_t> asked_by_client_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_;  // guarded by mutex_
  std::vector<Answer> answers_;  // guarded by mutex_
};

}  // namespace everywatt::web
