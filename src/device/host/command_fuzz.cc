// SPDX-License-Identifier: Apache-2.0
#include "device/host/command.h"

#include <array>
#include <string>
#include <string_view>

#include "base/fuzz_target.h"

namespace everywatt::host {
namespace {

// Made of characters that nothing else of the command line has: none of them may be in the result.
constexpr std::string_view kSecretLetters = "QZ07";

// How secrets come onto command lines, with @ for the secret and a zero byte between arguments.
using namespace std::string_view_literals;
constexpr std::array kForms = {
    "--password=@"sv,
    "--password\0@"sv,
    "--api-key=@"sv,
    "--api-key\0@"sv,
    "--wandb_token\0@"sv,
    "-token\0@"sv,
    "AWS_SECRET_ACCESS_KEY=@"sv,
    "--set=login.token=@"sv,
    "-H\0Authorization: Bearer @"sv,
    "-u\0user:@"sv,
    "--user\0user:@"sv,
    "https://user:@\x40host/path"sv,
    "postgres://user:@\x40host:5432/name"sv,
    "user:@\x40tcp(host)/name"sv,
    "{\"password\": \"@\"}"sv,
    "hf_@@@@"sv,
    "ghp_@@@@"sv,
    "AKIA@@@@"sv,
    "prefix/sk-@@@@"sv,
};

// The noise that a fuzzer thinks up, without letters of a secret.
std::string without_letters(std::string_view noise) {
  std::string text(noise);
  for (char& c : text) {
    if (kSecretLetters.find(c) != std::string_view::npos) c = 'x';
  }
  return text;
}

std::string make_secret(base::FuzzInput& input) {
  std::string secret;
  // Shorter ones are taken for words: no service gives those out.
  const std::size_t size = 12 + input.byte() % 24;
  for (std::size_t i = 0; i < size; ++i) {
    secret += kSecretLetters[input.byte() % kSecretLetters.size()];
  }
  return secret;
}

// The sign for the secret is the first '@' of a form, and all further ones that follow it at once;
// a real one is written \x40 behind it.
std::string put_in(std::string_view form, std::string_view secret) {
  const std::size_t place = form.find('@');
  std::size_t end = place + 1;
  const bool repeats = form.substr(place).starts_with("@@@@");
  if (repeats) end = place + 4;
  return std::string(form.substr(0, place)).append(secret).append(form.substr(end));
}

}  // namespace

// Bytes: a form, a secret, then arguments that stand before and, from the next separator, behind
// it.
FUZZ_TARGET(command) {
  base::FuzzInput input(bytes);
  const std::string_view form = kForms[input.byte() % kForms.size()];
  const std::string secret = make_secret(input);
  std::string before = without_letters(input.part());
  const std::string behind = without_letters(input.part());
  // An argument of its own, behind a program's name; the one before says that it is no value.
  if (before.empty()) before = "program";
  std::string cmdline = before + '\0' + "run" + '\0' + put_in(form, secret);
  if (!behind.empty()) cmdline += '\0' + behind;
  const std::string shown = format_command(cmdline, CommandStyle::kRedacted);
  CHECK(shown.find_first_of(kSecretLetters) == std::string::npos);
  CHECK(shown.size() <= kCommandBytes);
  CHECK(base::is_clean(shown));
  const std::string full = format_command(cmdline, CommandStyle::kFull);
  CHECK(full.find_first_of(kSecretLetters) == std::string::npos);
  CHECK(full.size() <= kCommandBytes);
  CHECK(base::is_clean(full));
  const std::string name = format_command(cmdline, CommandStyle::kName);
  CHECK(name.find_first_of(kSecretLetters) == std::string::npos);
  CHECK(base::is_clean(name));
}

}  // namespace everywatt::host
