// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serve/exporter/exposition.h"
#include "serve/web/access.h"
#include "serve/web/login_cache.h"
#include "serve/web/login_limits.h"
#include "serve/web/message.h"
#include "serve/web/password_checker.h"

namespace everywatt::web {

struct AuthenticationOptions {
  AccessFiles files = {};
  base::Clock clock = base::boottime_ns;
};

// What becomes of a request: it goes on, from whom, or is refused.
struct Judgement {
  Who who = Who::kAnybody;
  std::optional<Response> refusal = {};
};

// Who may ask what. Where nothing is configured, anybody may read. The files are read again when
// they change; what cannot be read is told once, and what was read before goes on.
// Belongs to one thread, but for passwords().run(), which wants one of its own.
class Authentication {
 public:
  // Errors: those of read_access().
  static base::Result<std::unique_ptr<Authentication>> open(AuthenticationOptions options);

  // Whether there is a way to prove who one is: then Request::who says who did.
  bool is_configured() const { return access_.can_authenticate(); }

  // Looks whether the files have changed, at most once a second.
  void refresh();
  // What a new connection is to speak; null: plain HTTP.
  const std::shared_ptr<const TlsContext>& tls() const { return access_.tls; }
  // What every answer is to say besides.
  std::span<const HeaderField> headers() const { return access_.config.headers; }

  // Paths that begin so have keys of their own: who does not prove who they are reaches the answer
  // all the same, as Who::kAnybody. What answers there limits how often one may guess.
  void leave_to_answer(std::string path) { own_door_ = std::move(path); }

  // Calls `done` once: at once, or from passwords().deliver(). REQUIRES: `request.who` is what the
  // connection knows.
  using Done = std::function<void(Judgement)>;
  void judge(const Request& request, Done done);

  PasswordChecker& passwords() { return *passwords_; }

  // Says once which files this process, as it is now, could not read again.
  void tell_unreadable() const;
  // Families of `self`: how many requests were refused, by reason.
  void append_counts(exporter::Exposition& out) const;

 private:
  enum class Refused : std::uint8_t { kNoLogin, kWrongLogin, kTooOften, kBusy };
  static constexpr std::size_t kRefusedKinds = 4;

  Authentication(AuthenticationOptions options, std::unique_ptr<PasswordChecker> passwords);

  void adopt(Access access, std::vector<FileStamp> stamps);
  base::Status read_again();
  void tell(base::Error error);
  void judge_login(const Request& request, const Done& done);
  void judge_token(const Request& request, const std::string& token, const Done& done);
  void judge_password(const Request& request, const std::string& user, const std::string& password,
                      const Done& done);
  void take_answer(const LoginKey& key, const std::string& client, bool is_right);
  bool is_own_door(const Request& request) const;
  Judgement refuse(Refused why, std::int64_t wait_ns = 0);
  void tell_limit(const std::string& client);

  const AuthenticationOptions options_;
  Access access_;
  std::vector<FileStamp> stamps_;
  std::int64_t looked_ns_;
  std::string told_;  // the last fault of the files; "": none

  std::string own_door_;
  LoginCache cache_;
  LoginLimits limits_;
  std::optional<TokenBucket> rate_;
  std::unordered_map<LoginKey, std::vector<Done>, HashOfLoginKey> waiting_;
  std::uint64_t refused_[kRefusedKinds] = {};
  std::int64_t told_limit_ns_;
  const std::unique_ptr<PasswordChecker> passwords_;
};

}  // namespace everywatt::web
