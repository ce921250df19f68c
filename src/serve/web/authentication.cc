// SPDX-License-Identifier: Apache-2.0
#include "serve/web/authentication.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "serve/web/credentials.h"
#include "serve/web/target.h"

namespace everywatt::web {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kTellLimitEveryNs = 60 * kSecond;
constexpr std::string_view kBasic = "Basic realm=\"everywatt\", charset=\"UTF-8\"";
constexpr std::string_view kBearer = "Bearer realm=\"everywatt\"";

std::string in_one_line(const base::Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint);
}

// All that is in force, and how its files looked before it was read.
struct Reading {
  Access access;
  std::vector<FileStamp> stamps;
};

base::Result<Reading> read_files(const AccessFiles& files) {
  // The first reading tells which files there are.
  auto access = read_access(files);
  if (!access) return std::unexpected(std::move(access.error()));
  auto stamps = stamp_files(files_of(files, access->config));
  access = read_access(files);
  if (!access) return std::unexpected(std::move(access.error()));
  return Reading{.access = *std::move(access), .stamps = std::move(stamps)};
}

void warn_of_end(const Access& access, const std::string& web_config) {
  if (access.tls == nullptr) return;
  const std::int64_t now_s = base::walltime_ns() / kSecond;
  if (access.tls->expires_at() > now_s) return;
  const std::string& file = access.config.tls->certificate.file;
  base::log(
      base::LogLevel::kWarning,
      fmt::format("the certificate of {} has ended on {}: clients will not take it",
                  file.empty() ? web_config : file, format_http_date(access.tls->expires_at())));
}

}  // namespace

Authentication::Authentication(AuthenticationOptions options,
                               std::unique_ptr<PasswordChecker> passwords)
    : options_(std::move(options)),
      looked_ns_(options_.clock()),
      told_limit_ns_(looked_ns_ - kTellLimitEveryNs),
      passwords_(std::move(passwords)) {}

base::Result<std::unique_ptr<Authentication>> Authentication::open(AuthenticationOptions options) {
  auto read = read_files(options.files);
  if (!read) return std::unexpected(std::move(read.error()));
  auto passwords = PasswordChecker::open();
  if (!passwords) return std::unexpected(std::move(passwords.error()));
  auto opened = std::unique_ptr<Authentication>(
      new Authentication(std::move(options), *std::move(passwords)));
  opened->adopt(std::move(read->access), std::move(read->stamps));
  return opened;
}

void Authentication::adopt(Access access, std::vector<FileStamp> stamps) {
  access_ = std::move(access);
  stamps_ = std::move(stamps);
  cache_.clear();
  rate_.reset();
  if (const auto& limit = access_.config.rate_limit) {
    rate_.emplace(limit->interval_ns, limit->burst);
  }
  warn_of_end(access_, options_.files.web_config);
}

void Authentication::refresh() {
  const std::int64_t now_ns = options_.clock();
  if (now_ns - looked_ns_ < kSecond) return;
  looked_ns_ = now_ns;
  const auto stamps = stamp_files(files_of(options_.files, access_.config));
  // What could not be read is tried again even so: what it names may have changed.
  if (stamps == stamps_ && told_.empty()) return;
  if (const auto read = read_again(); !read) {
    stamps_ = stamps;
    tell(read.error());
    return;
  }
  told_.clear();
  base::log(base::LogLevel::kNotice, "who may ask was read again");
}

base::Status Authentication::read_again() {
  auto read = read_files(options_.files);
  if (!read) return std::unexpected(std::move(read.error()));
  if ((read->access.tls == nullptr) != (access_.tls == nullptr)) {
    return base::fail(
        base::Code::kInvalidArgument,
        fmt::format("{}: TLS is switched on and off at a start alone", options_.files.web_config));
  }
  const bool was_configured = is_configured();
  adopt(std::move(read->access), std::move(read->stamps));
  if (was_configured && !is_configured()) {
    base::log(base::LogLevel::kWarning, "anybody may ask now: no password and no token is left");
  }
  return {};
}

void Authentication::tell(base::Error error) {
  if (error.code == base::Code::kNoPermission) {
    error.hint = fmt::format("let user {} read it: chgrp, and chmod 0640", ::geteuid());
  }
  std::string fault = in_one_line(error);
  if (fault == told_) return;
  told_ = std::move(fault);
  base::log(base::LogLevel::kWarning, fmt::format("{}; what was read before goes on", told_));
}

void Authentication::tell_unreadable() const {
  for (const std::string& name : files_of(options_.files, access_.config)) {
    if (::access(name.c_str(), R_OK) == 0) continue;
    base::log(base::LogLevel::kNotice,
              fmt::format("{} was read, but changes of it are not seen until the next start: user "
                          "{} may not read it",
                          name, ::geteuid()));
  }
}

bool Authentication::is_own_door(const Request& request) const {
  if (own_door_.empty()) return false;
  const auto target = parse_target(request.target);
  return target && target->path.starts_with(own_door_);
}

void Authentication::judge(const Request& request, Done done) {
  refresh();
  if (rate_) {
    if (const auto wait_ns = rate_->try_take(options_.clock())) {
      done(refuse(Refused::kTooOften, *wait_ns));
      return;
    }
  }
  if (!access_.wants_login()) {
    done({.who = request.who});
    return;
  }
  if (request.authorization_fields == 0) {
    // A certificate alone is not enough where a password is wanted, as with the toolkit.
    done(is_own_door(request) ? Judgement{} : refuse(Refused::kNoLogin));
    return;
  }
  judge_login(request, done);
}

void Authentication::judge_login(const Request& request, const Done& done) {
  const Credentials credentials = request.authorization_fields == 1
                                      ? parse_authorization(request.authorization)
                                      : Credentials{};
  switch (credentials.kind) {
    case Credentials::Kind::kToken:
      return judge_token(request, credentials.secret, done);
    case Credentials::Kind::kPassword:
      return judge_password(request, credentials.user, credentials.secret, done);
    case Credentials::Kind::kUnreadable:
      return done(refuse(Refused::kNoLogin));
  }
}

void Authentication::judge_token(const Request& request, const std::string& token,
                                 const Done& done) {
  const LoginKey key = cache_.key_of({request.client, "token", token});
  if (cache_.contains(key)) return done({.who = Who::kAuthenticated});
  const std::int64_t now_ns = options_.clock();
  if (is_own_door(request)) {
    // It may well be a key of that door, which counts failures itself (Receiver): not to know it
    // here is none.
    return done({.who = is_one_of(access_.tokens, token) ? Who::kAuthenticated : Who::kAnybody});
  }
  if (const auto wait_ns = limits_.try_fail(request.client, now_ns)) {
    tell_limit(request.client);
    return done(refuse(Refused::kTooOften, *wait_ns));
  }
  if (!is_one_of(access_.tokens, token)) return done(refuse(Refused::kWrongLogin));
  limits_.forgive(request.client, now_ns);
  cache_.add(key);
  done({.who = Who::kAuthenticated});
}

// The client is part of the key: what the cache knows of others is of no use for guessing. So is
// the hash: what is under way by the files of before is no answer by those of now.
void Authentication::judge_password(const Request& request, const std::string& user,
                                    const std::string& password, const Done& done) {
  const auto known = access_.config.users.find(user);
  const std::string hash = known == access_.config.users.end() ? std::string() : known->second;
  const LoginKey key = cache_.key_of({request.client, "password", user, password, hash});
  if (cache_.contains(key)) return done({.who = Who::kAuthenticated});
  if (const auto equal = waiting_.find(key); equal != waiting_.end()) {
    equal->second.push_back(done);
    return;
  }
  const std::int64_t now_ns = options_.clock();
  if (const auto wait_ns = limits_.try_fail(request.client, now_ns)) {
    tell_limit(request.client);
    return done(refuse(Refused::kTooOften, *wait_ns));
  }
  const bool is_taken = passwords_->try_ask(
      cache_.key_of({"password", user, password, hash}), request.client,
      {.password = password, .hash = hash, .cost = access_.password_cost},
      [this, key, client = request.client](bool is_right) { take_answer(key, client, is_right); });
  if (!is_taken) {
    limits_.forgive(request.client, now_ns);
    return done(refuse(Refused::kBusy, kSecond));
  }
  waiting_[key].push_back(done);
}

void Authentication::take_answer(const LoginKey& key, const std::string& client, bool is_right) {
  if (is_right) {
    limits_.forgive(client, options_.clock());
    cache_.add(key);
  }
  const auto waited = waiting_.extract(key);
  for (const Done& done : waited.mapped())
    done(is_right ? Judgement{.who = Who::kAuthenticated} : refuse(Refused::kWrongLogin));
}

Judgement Authentication::refuse(Refused why, std::int64_t wait_ns) {
  ++refused_[static_cast<std::size_t>(why)];
  Response response;
  switch (why) {
    case Refused::kNoLogin:
      response = text_response(401, "a name and a password or a token is wanted");
      break;
    case Refused::kWrongLogin:
      response = text_response(401, "a name, a password or a token that is not right");
      break;
    case Refused::kTooOften:
      response = text_response(429, "too often: try again later");
      break;
    case Refused::kBusy:
      response = text_response(503, "too many log in at once: try again");
      break;
  }
  if (response.status == 401) response.challenge = access_.config.users.empty() ? kBearer : kBasic;
  constexpr std::int64_t kLongest = 3600;
  response.retry_after_s =
      static_cast<unsigned>(std::min((wait_ns + kSecond - 1) / kSecond, kLongest));
  return {.who = Who::kAnybody, .refusal = std::move(response)};
}

void Authentication::tell_limit(const std::string& client) {
  const std::int64_t now_ns = options_.clock();
  if (now_ns - told_limit_ns_ < kTellLimitEveryNs) return;
  told_limit_ns_ = now_ns;
  base::log(base::LogLevel::kWarning,
            fmt::format("{} fails to log in too often and must wait", client));
}

void Authentication::append_counts(exporter::Exposition& out) const {
  constexpr std::array<std::string_view, kRefusedKinds> kReasons = {"no_login", "wrong_login",
                                                                    "too_often", "busy"};
  out.begin_family("everywatt_web_requests_refused_total", "counter",
                   "Requests that were not let in, by why.");
  for (std::size_t i = 0; i < kRefusedKinds; ++i)
    out.sample().label("reason", kReasons[i]).value(refused_[i]);
}

}  // namespace everywatt::web
