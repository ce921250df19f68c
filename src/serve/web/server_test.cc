// SPDX-License-Identifier: Apache-2.0
#include "serve/web/server.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "serve/web/listening_socket.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

using view::kSecond;
using view::Machine;

// The whole server over the file of a machine.
class ServerTest : public testing::Test {
 protected:
  ServerTest() : machine_({.gpus = 2, .migs_per_gpu = 0, .path = folder_.file("recorder")}) {
    machine_.name_gpu(0, now_ns_ - kSecond, "GPU-aaaa", "00000000:06:00.0");
    machine_.add_power(0, now_ns_, 678.5);
  }
  void start() {
    auto opened = Server::open({.address = "127.0.0.1",
                                .port = 0,
                                .recorder_path = folder_.file("recorder"),
                                .clock = [this] { return now_ns_; }});
    ASSERT_TRUE(opened) << opened.error().message;
    server_ = std::move(*opened);
    thread_ =
        std::jthread([this](const std::stop_token& stop) { EXPECT_TRUE(server_->run(stop)); });
  }

  Folder folder_;
  const std::int64_t now_ns_ = 100 * kSecond;
  Machine machine_;
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

TEST_F(ServerTest, ServesMetricsPlainAndPacked) {
  start();
  Client client(server_->port());
  client.get("/metrics");
  const Answer plain = client.read();
  EXPECT_EQ(plain.status, 200U);
  EXPECT_EQ(plain.field("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(plain.field("Vary"), "Accept, Accept-Encoding");
  EXPECT_EQ(plain.field("Content-Encoding"), "");
  EXPECT_EQ(plain.field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(plain.field("Access-Control-Allow-Origin"), "");
  EXPECT_NE(plain.body.find("gpu_power_watts{"), std::string::npos);
  EXPECT_NE(plain.body.find(" 678.5\n"), std::string::npos);
  client.ask("GET", "/metrics", "Accept-Encoding: gzip\r\n");
  const Answer packed = client.read();
  EXPECT_EQ(packed.field("Content-Encoding"), "gzip");
  EXPECT_EQ(gunzip(packed.body), plain.body);
}

TEST_F(ServerTest, ServesThePageItsQuestionAndRefusesForeignNames) {
  start();
  Client client(server_->port());
  client.get("/");
  EXPECT_TRUE(client.read().body.starts_with("<!doctype html>"));
  client.get("/api/v1/gpus?metric=gpu_power_watts");
  const auto answer = nlohmann::json::parse(client.read().body);
  EXPECT_EQ(answer["gpus"][0]["readings"]["gpu_power_watts"]["value"], 678.5);
  client.send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.read().status, 421U);
  client.send("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read().field("Allow"), "GET, HEAD");
}

TEST_F(ServerTest, APortInUseIsOneClearLine) {
  start();
  const auto second = Server::open(
      {.address = "127.0.0.1", .port = server_->port(), .recorder_path = folder_.file("recorder")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::kUnavailable);
  EXPECT_EQ(second.error().message, "127.0.0.1:" + std::to_string(server_->port()) + " is in use");
  EXPECT_EQ(second.error().hint, "stop what listens there, or choose another with --listen");
  EXPECT_EQ(server_->url(), "http://127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(ServerTest, ASocketThatWasMadeForItIsTaken) {
  auto listener = open_listening_socket("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  const std::uint16_t port = address_of(listener->get())->port;
  const auto server = Server::open({.address = "192.0.2.1",
                                    .port = 1,
                                    .listener = std::move(*listener),
                                    .recorder_path = folder_.file("recorder")});
  ASSERT_TRUE(server);
  EXPECT_EQ((*server)->port(), port);
}

TEST(ListeningSocket, WhatIsNoAddressIsRefused) {
  for (const char* address : {"", "localhost", "256.0.0.1", "127.0.0.1:9400", "[::1]", "gpu7"}) {
    const auto listener = open_listening_socket(address, 0);
    ASSERT_FALSE(listener) << address;
    EXPECT_EQ(listener.error().code, base::Code::kInvalidArgument);
  }
}

TEST(ListeningSocket, UrlsAreForPeopleOnThisMachine) {
  EXPECT_EQ(format_url({.address = "0.0.0.0", .port = 9400}), "http://127.0.0.1:9400");
  EXPECT_EQ(format_url({.address = "::", .port = 80}), "http://127.0.0.1:80");
  EXPECT_EQ(format_url({.address = "::1", .port = 9400}), "http://[::1]:9400");
}

}  // namespace
}  // namespace everywatt::web
