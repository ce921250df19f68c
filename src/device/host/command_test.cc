// SPDX-License-Identifier: Apache-2.0
#include "device/host/command.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace everywatt::host {
namespace {

std::string cmdline(std::initializer_list<std::string_view> arguments) {
  std::string text;
  for (const std::string_view argument : arguments) {
    text += argument;
    text += '\0';
  }
  return text;
}

std::string name(std::initializer_list<std::string_view> arguments) {
  return format_command(cmdline(arguments), CommandStyle::kName);
}

TEST(Command, IsProgramAndScriptByDefault) {
  EXPECT_EQ(name({"/usr/bin/python3.11", "/home/anna/train.py", "--lr", "0.1"}),
            "python3.11 train.py");
  EXPECT_EQ(name({"python", "-u", "-X", "dev", "train.py"}), "python train.py");
  EXPECT_EQ(name({"python", "-m", "torch.distributed.run", "--nproc", "8", "train.py"}),
            "python -m torch.distributed.run");
  EXPECT_EQ(name({"/opt/app/server", "--model", "llama"}), "server");
  EXPECT_EQ(name({"bash", "/etc/run.sh", "x"}), "bash run.sh");
  EXPECT_EQ(name({"python"}), "python");
  EXPECT_EQ(name({"julia", "fit.jl"}), "julia fit.jl");
}

TEST(Command, NeverKeepsCodeOrArgumentsByDefault) {
  EXPECT_EQ(name({"python", "-c", "import os; token='abc'"}), "python -c");
  EXPECT_EQ(name({"bash", "-lc", "curl https://x/abc"}), "bash -c");
  EXPECT_EQ(name({"python", "TOKEN=abc"}), "python");
  EXPECT_EQ(name({"python", "not a script --token=abc"}), "python");
  EXPECT_EQ(name({"trainer", "--token=abc", "PASSWORD=hunter2"}), "trainer");
}

TEST(Command, NeverTakesAnArgumentForTheScript) {
  // From the shell's or the interpreter's input: what follows are the script's own arguments.
  EXPECT_EQ(name({"bash", "-s", "hf_abcdefghijkl"}), "bash");
  EXPECT_EQ(name({"sh", "-es", "--", "hf_abcdefghijkl"}), "sh");
  EXPECT_EQ(name({"python3", "-", "hf_abcdefghijkl"}), "python3");
  EXPECT_EQ(name({"python", "-mhttp.server", "hf_abcdefghijkl"}), "python -m http.server");
  EXPECT_EQ(name({"python", "-Im", "pip", "hf_abcdefghijkl"}), "python -m pip");
  EXPECT_EQ(name({"node", "--eval", "token_abc"}), "node --eval");
  EXPECT_EQ(name({"perl", "-E", "token_abc"}), "perl -E");
  EXPECT_EQ(name({"julia", "-t", "8", "fit.jl"}), "julia fit.jl");
  EXPECT_EQ(name({"bash", "-euo", "pipefail", "run.sh"}), "bash run.sh");
  EXPECT_EQ(name({"bash", "-e", "run.sh"}), "bash run.sh");
  EXPECT_EQ(name({"python", "-s", "train.py"}), "python train.py");
  EXPECT_EQ(name({"python", "-Wignore", "train.py"}), "python train.py");
  EXPECT_EQ(name({"python", "--", "train.py"}), "python train.py");
  EXPECT_EQ(name({"python", "-m"}), "python");
  EXPECT_EQ(name({"python", ""}), "python");
}

TEST(Command, OfATitleShowsNoPartOfAnArgument) {
  EXPECT_EQ(name({"serve --key abcd/efgh"}), "serve");
  EXPECT_EQ(name({"TOKEN=abcdef"}), "TOKEN");
  EXPECT_EQ(name({"/opt/x/serve?token=abc"}), "serve");
}

TEST(Command, OfAProcessThatRenamedItselfIsItsFirstWord) {
  EXPECT_EQ(name({"ray::Worker.train --token=abc", "", ""}), "ray::Worker.train");
  EXPECT_EQ(name({"postgres: anna secret_db 10.0.0.1 idle"}), "postgres:");
}

TEST(Command, HidesWhatLooksSecretAlsoWhenAllIsKept) {
  const auto full = [](std::initializer_list<std::string_view> arguments) {
    return format_command(cmdline(arguments), CommandStyle::kFull);
  };
  EXPECT_EQ(full({"train", "--lr", "0.1", "--api-key", "abc", "--epochs=3"}),
            "train --lr 0.1 --api-key *** --epochs=3");
  EXPECT_EQ(full({"train", "--token=abc", "PASSWORD=hunter2", "AWS_SECRET_ACCESS_KEY=x/y="}),
            "train --token=*** PASSWORD=*** AWS_SECRET_ACCESS_KEY=***");
  EXPECT_EQ(full({"curl", "-H", "Authorization: Bearer abc", "https://u:p@host/x"}),
            "curl -H Authorization:*** https://***@host/x");
  EXPECT_EQ(full({"x", "AKIAIOSFODNN7EXAMPLE", "hf_abcdefghijkl", "id=ghp_abcdefghijkl"}),
            "x *** *** id=***");
}

TEST(Command, HidesSecretsWhereverTheyStand) {
  const auto full = [](std::initializer_list<std::string_view> arguments) {
    return format_command(cmdline(arguments), CommandStyle::kFull);
  };
  EXPECT_EQ(full({"x", "--env=API_KEY=abc", "--header=Authorization: Bearer abc"}),
            "x --env=API_KEY=*** --header=Authorization:***");
  EXPECT_EQ(full({"x", "{\"user\": 1, \"password\": \"abc\"}"}),
            "x {\"user\": 1, \"password\":***");
  EXPECT_EQ(full({"x", "https://host/?a=1&token=abc", "s3://hf_abcdefghijkl/x"}),
            "x https://host/?a=1&token=*** s3://***");
  EXPECT_EQ(full({"x", "https://u:p@ss@host/?key=abc", "u:p@tcp(db)/x", "anna@host"}),
            "x https://***@host/?key=*** ***@tcp(db)/x anna@host");
  EXPECT_EQ(full({"x", "--api-key", "-abc", "-u", "anna:abc", "--auth", "--verbose", "-v"}),
            "x --api-key *** -u anna:*** --auth --verbose -v");
  EXPECT_EQ(full({"serve --token abc --port 80"}), "serve --token *** --port 80");
}

TEST(Command, HidesTheFormsOfWellKnownPrograms) {
  const auto full = [](std::initializer_list<std::string_view> arguments) {
    return format_command(cmdline(arguments), CommandStyle::kFull);
  };
  EXPECT_EQ(full({"/usr/bin/mysql", "-uanna", "-phunter2", "-h", "db"}),
            "/usr/bin/mysql -uanna -p*** -h db");
  EXPECT_EQ(full({"sshpass", "-p", "hunter2", "ssh", "host"}), "sshpass -p *** ssh host");
  EXPECT_EQ(full({"redis-cli", "-a", "hunter2", "ping"}), "redis-cli -a *** ping");
  EXPECT_EQ(full({"x", "Bearer abc", "--passphrase", "abc", "--pass=abc"}),
            "x Bearer *** --passphrase *** --pass=***");
  EXPECT_EQ(full({"x", "https://hooks.slack.com/services/T0/B0/abc", "https://b/c?sv=1&sig=abc"}),
            "x https://hooks.slack.com/*** https://b/c?sv=1&sig=***");
}

TEST(Command, KeepsAllElseWhenAllIsAskedFor) {
  EXPECT_EQ(format_command(cmdline({"/bin/train", "--lr", "0.1", "a b"}), CommandStyle::kFull),
            "/bin/train --lr 0.1 a b");
}

TEST(Command, RedactedHasTheNamesOfOptionsAndNoValue) {
  const auto redacted = [](std::initializer_list<std::string_view> arguments) {
    return format_command(cmdline(arguments), CommandStyle::kRedacted);
  };
  EXPECT_EQ(
      redacted({"/usr/bin/python3", "-u", "/home/anna/train.py", "--lr", "0.1", "--epochs=3"}),
      "python3 train.py --lr *** --epochs=***");
  EXPECT_EQ(redacted({"/opt/train", "anna", "-v", "-phunter2", "RANK=3", "-0.5", "--"}),
            "train *** -v -p*** RANK=*** *** --");
  EXPECT_EQ(redacted({"python", "-c", "print(1)", "abc"}), "python -c ***");
  EXPECT_EQ(redacted({"python", "-m", "torch.distributed.run", "--nproc", "8"}),
            "python -m torch.distributed.run --nproc ***");
  EXPECT_EQ(redacted({"bash", "-s", "hf_abcdefghijkl"}), "bash ***");
  EXPECT_EQ(redacted({"x", "--api-key", "-abc", "--hf_abcdefghijkl", "ghp_abcdefghijkl=1"}),
            "x --api-key *** *** ***");
  EXPECT_EQ(redacted({"serve --token abc --port 80"}), "serve --token *** --port ***");
  EXPECT_EQ(redacted({"train"}), "train");
}

TEST(Command, IsCleanedInEveryStyle) {
  for (const CommandStyle style :
       {CommandStyle::kName, CommandStyle::kRedacted, CommandStyle::kFull}) {
    const std::string command =
        format_command(cmdline({"py\x1b[31mthon\n", "x\"}\nforged 1\n", "\xff\xfe"}), style);
    EXPECT_EQ(command.find_first_of("\n\x1b"), std::string::npos);
    EXPECT_EQ(command.find('\xff'), std::string::npos);
    EXPECT_LE(format_command(std::string(100'000, 'x'), style).size(), kCommandBytes);
    EXPECT_EQ(format_command("", style), "");
    EXPECT_EQ(format_command(std::string(10, '\0'), style), "");
  }
}

}  // namespace
}  // namespace everywatt::host
