// SPDX-License-Identifier: Apache-2.0
#include "serve/web/password_checker.h"

#include <sys/eventfd.h>

#include <utility>

#include "serve/web/password_hash.h"

namespace everywatt::web {
namespace {

// At the usual cost of 10, the last one waits for some 4 s.
constexpr std::size_t kMostAsked = 64;
constexpr std::size_t kMostOfAClient = 4;

}  // namespace

base::Result<std::unique_ptr<PasswordChecker>> PasswordChecker::open() {
  base::UniqueFd ready(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ready.is_open()) return base::fail_errno("make", "an event descriptor");
  return std::unique_ptr<PasswordChecker>(new PasswordChecker(std::move(ready)));
}

void PasswordChecker::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    if (stop.stop_requested()) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const bool is_right =
        check_password(next.question.password, next.question.hash, next.question.cost);
    lock.lock();
    answers_.push_back({.key = next.key, .is_right = is_right});
    ::eventfd_write(ready_.get(), 1);
  }
}

bool PasswordChecker::try_ask(const LoginKey& key, const std::string& client,
                              PasswordQuestion question, Done done) {
  if (const auto found = asked_.find(key); found != asked_.end()) {
    found->second.done.push_back(std::move(done));
    return true;
  }
  if (asked_.size() >= kMostAsked) return false;
  std::size_t& of_client = asked_by_client_[client];
  if (of_client >= kMostOfAClient) return false;
  ++of_client;
  Asked& asked = asked_[key];
  asked.client = client;
  asked.done.push_back(std::move(done));
  const std::lock_guard lock(mutex_);
  waiting_.push_back({.key = key, .question = std::move(question)});
  changed_.notify_one();
  return true;
}

void PasswordChecker::deliver() {
  eventfd_t ignored = 0;
  ::eventfd_read(ready_.get(), &ignored);
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (const Answer& answer : answers) {
    auto asked = asked_.extract(answer.key);
    const auto of_client = asked_by_client_.find(asked.mapped().client);
    if (--of_client->second == 0) asked_by_client_.erase(of_client);
    for (const Done& done : asked.mapped().done)
      done(answer.is_right);
  }
}

}  // namespace everywatt::web
