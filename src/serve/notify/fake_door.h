// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/notify/delivery.h"

namespace everywatt::notify {

// Answers what it is told to, and remembers what it was sent and when.
struct Mailbox {
  std::vector<std::string> bodies;
  std::vector<std::int64_t> sent_ns;
  std::vector<outgoing::HttpRequest> requests;
  std::deque<outgoing::HttpOutcome> answers;  // then what `usual` says
  outgoing::HttpOutcome usual{.status = 200, .body = R"({"errcode":0,"errmsg":"ok","code":0})"};
  std::deque<outgoing::MailOutcome> mail_answers;
  base::Clock boottime_ns;
  std::function<void()> on_post = [] {};
};

class FakeDoor : public Door {
 public:
  explicit FakeDoor(Mailbox& mailbox) : mailbox_(mailbox) {}

  outgoing::HttpOutcome post(const outgoing::HttpRequest& request) override {
    mailbox_.requests.push_back(request);
    note(request.body);
    mailbox_.on_post();
    if (mailbox_.answers.empty()) return mailbox_.usual;
    outgoing::HttpOutcome answer = mailbox_.answers.front();
    mailbox_.answers.pop_front();
    return answer;
  }

  outgoing::MailOutcome send(const outgoing::MailRequest& request) override {
    note(request.message);
    if (mailbox_.mail_answers.empty()) return {.code = 250};
    outgoing::MailOutcome answer = mailbox_.mail_answers.front();
    mailbox_.mail_answers.pop_front();
    return answer;
  }

 private:
  void note(const std::string& body) {
    mailbox_.bodies.push_back(body);
    mailbox_.sent_ns.push_back(mailbox_.boottime_ns ? mailbox_.boottime_ns() : 0);
  }

  Mailbox& mailbox_;
};

}  // namespace everywatt::notify
