// SPDX-License-Identifier: Apache-2.0
#include "serve/web/connections.h"

#include <atomic>
#include <thread>

#include "serve/web/listening_socket.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

// Connections on a free port of loopback that answer with what they were asked.
class ConnectionsTest : public testing::Test {
 protected:
  void start(const Limits& limits = {}) {
    auto listener = open_listening_socket("127.0.0.1", 0);
    ASSERT_TRUE(listener);
    port_ = address_of(listener->get())->port;
    auto opened = Connections::open(std::move(*listener), limits, [this](const Request& request) {
      ++answered_;
      if (request.method == Method::kPost && request.target == "/taken") return wants_body();
      const bool is_read = request.method == Method::kGet || request.method == Method::kHead;
      return text_response(is_read ? 200 : 405, request.target);
    });
    ASSERT_TRUE(opened);
    connections_ = std::move(*opened);
    thread_ = std::jthread([this](const std::stop_token& stop) { connections_->run(stop); });
  }

  // Bodies up to 1 MiB; what is sent as "later" is answered with the next body, "never" not at all.
  Response wants_body() {
    Response response;
    response.upload = std::make_shared<const Upload>(
        Upload{.limit_bytes = 1U << 20,
               .take =
                   [this](std::string body, std::function<void(Response)> answer) {
                     if (body == "never") return;
                     if (body == "later") {
                       later_ = std::move(answer);
                       has_later_ = true;
                       return;
                     }
                     if (later_) later_(text_response(202, "later"));
                     answer(text_response(202, std::to_string(body.size())));
                   },
               .patience = patience_});
    return response;
  }

  std::chrono::milliseconds patience_{5'000};
  std::function<void(Response)> later_;
  std::atomic<bool> has_later_ = false;
  std::uint16_t port_ = 0;
  std::atomic<int> answered_ = 0;
  std::unique_ptr<Connections> connections_;
  std::jthread thread_;
};

TEST_F(ConnectionsTest, AConnectionIsKeptForTheNextRequest) {
  start();
  Client client(port_);
  for (const char* path : {"/one", "/two"}) {
    client.get(path);
    const Answer answer = client.read();
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(answer.body, std::string(path) + "\n");
    EXPECT_EQ(answer.field("Connection"), "");
    EXPECT_TRUE(answer.field("Date").ends_with(" GMT"));
  }
}

TEST_F(ConnectionsTest, RequestsThatAreSentTogetherAreAnsweredInOrder) {
  start();
  Client client(port_);
  std::string requests;
  for (int request = 0; request < 200; ++request) {
    requests += "GET /" + std::to_string(request) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  client.send(requests);
  for (int request = 0; request < 200; ++request) {
    EXPECT_EQ(client.read().body, "/" + std::to_string(request) + "\n");
  }
}

TEST_F(ConnectionsTest, HeadHasTheHeaderOfGetAndNoBody) {
  start();
  Client client(port_);
  client.ask("HEAD", "/metrics");
  const Answer head = client.read(Client::Expect::kNoBody);
  EXPECT_EQ(head.status, 200U);
  EXPECT_EQ(head.field("Content-Length"), "9");
  client.get("/next");  // nothing of a body lies in between
  EXPECT_EQ(client.read().body, "/next\n");
}

TEST_F(ConnectionsTest, WhoAsksForCloseIsClosed) {
  start();
  Client client(port_);
  client.ask("GET", "/", "Connection: close\r\n");
  EXPECT_EQ(client.read().field("Connection"), "close");
  EXPECT_TRUE(client.is_closed());
  Client old(port_);
  old.send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.read().body, "/old\n");
  EXPECT_TRUE(old.is_closed());
}

TEST_F(ConnectionsTest, WhatIsNoHttpIsBad) {
  start();
  for (const char* text :
       {"hello\r\n\r\n", "GET / HTTP/3.7\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "\x16\x03\x01\x02\x00\r\n"}) {
    Client client(port_);
    client.send(text);
    const Answer answer = client.read();
    EXPECT_EQ(answer.status, 400U) << text;
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_TRUE(client.is_closed());
  }
  EXPECT_EQ(answered_, 0);
}

TEST_F(ConnectionsTest, ATooLargeHeaderIsRefused) {
  start();
  Client client(port_);
  client.ask("GET", "/", "Cookie: " + std::string(100'000, 'x') + "\r\n");
  EXPECT_EQ(client.read().status, 431U);
  Client fits(port_);
  fits.ask("GET", "/", "Cookie: " + std::string(7000, 'x') + "\r\n");
  EXPECT_EQ(fits.read().status, 200U);
}

std::string post(std::string_view body, const std::string& more = {}) {
  return "POST /taken HTTP/1.1\r\nHost: localhost\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

TEST_F(ConnectionsTest, ABodyThatIsWantedIsTakenWholeAndTheConnectionKept) {
  start();
  Client client(port_);
  client.send(post("hello") + post(std::string(1U << 20, 'x')) + post(""));
  EXPECT_EQ(client.read().body, "5\n");
  EXPECT_EQ(client.read().body, "1048576\n");
  EXPECT_EQ(client.read().body, "0\n");
  client.send(
      "POST /taken HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6\r\n again\r\n0\r\n\r\n");
  const Answer chunked = client.read();
  EXPECT_EQ(chunked.status, 202U);
  EXPECT_EQ(chunked.body, "11\n");
  client.get("/next");
  EXPECT_EQ(client.read().body, "/next\n");
}

TEST_F(ConnectionsTest, WhoAsksWhetherToGoOnIsTold) {
  start();
  Client client(port_);
  client.send(post("", "Expect: 100-continue\r\n"));
  EXPECT_EQ(client.read(Client::Expect::kNoBody).status, 100U);
  EXPECT_EQ(client.read().body, "0\n");
}

TEST_F(ConnectionsTest, ATooLargeBodyIsRefusedHoweverItComes) {
  start();
  Client announced(port_);
  announced.send("POST /taken HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n");
  EXPECT_EQ(announced.read().status, 413U);
  EXPECT_TRUE(announced.is_closed());
  Client whole(port_);
  whole.send(post(std::string((1U << 20) + 1, 'x')));
  EXPECT_EQ(whole.read().status, 413U);
  EXPECT_TRUE(whole.is_closed());
  Client huge(port_);
  huge.send(
      "POST /taken HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n");
  EXPECT_EQ(huge.read().status, 413U);
  Client chunked(port_);
  chunked.send(
      "POST /taken HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "ffffffff\r\nx");
  EXPECT_EQ(chunked.read().status, 413U);
  Client unknown(port_);
  unknown.send("POST /taken HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: rot13\r\n\r\nx");
  EXPECT_EQ(unknown.read().status, 400U);
}

TEST_F(ConnectionsTest, AnAnswerThatComesLaterHoldsUpNobodyElse) {
  start();
  Client waits(port_);
  waits.send(post("later"));
  while (!has_later_)
    std::this_thread::yield();
  Client other(port_);
  other.get("/other");
  EXPECT_EQ(other.read().body, "/other\n");
  other.send(post("now"));
  EXPECT_EQ(other.read().body, "3\n");
  EXPECT_EQ(waits.read().body, "later\n");
}

TEST_F(ConnectionsTest, AnAnswerThatDoesNotComeIsUnavailable) {
  patience_ = std::chrono::milliseconds(1);
  start();
  Client client(port_);
  client.send(post("never"));
  EXPECT_EQ(client.read().status, 503U);
  client.get("/next");
  EXPECT_EQ(client.read().body, "/next\n");
}

TEST_F(ConnectionsTest, NoRequestHasABody) {
  start();
  Client get(port_);
  get.ask("GET", "/", "Content-Length: 5\r\n");
  get.send("hello");
  EXPECT_EQ(get.read().status, 413U);
  EXPECT_TRUE(get.is_closed());
  Client post(port_);
  post.ask("POST", "/", "Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(post.read().status, 405U);
}

// A proxy before us may take what follows for the body: it must never be answered as a request.
TEST_F(ConnectionsTest, ATransferCodingOfAnyNameIsABody) {
  start();
  for (const char* coding : {"gzip", "identity", "xchunked", "chunked, gzip"}) {
    Client client(port_);
    client.ask("GET", "/", std::string("Transfer-Encoding: ") + coding + "\r\n");
    client.get("/smuggled");
    EXPECT_EQ(client.read().status, 413U) << coding;
    EXPECT_TRUE(client.is_closed()) << coding;
  }
}

TEST_F(ConnectionsTest, HalfARequestHoldsUpNobodyAndIsClosedInTheEnd) {
  start({.request = std::chrono::milliseconds(200)});
  Client silent(port_);
  Client slow(port_);
  slow.send("GET /slow HTTP/1.1\r\nHo");
  Client halved(port_);
  halved.send("GET /half");
  halved.close_sending();
  Client quick(port_);
  quick.get("/quick");
  EXPECT_EQ(quick.read().body, "/quick\n");
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(slow.is_closed());
  EXPECT_TRUE(halved.is_closed());
  EXPECT_EQ(answered_, 1);
}

TEST_F(ConnectionsTest, AnIdleConnectionIsClosed) {
  start({.idle = std::chrono::milliseconds(50)});
  Client client(port_);
  client.get("/");
  EXPECT_EQ(client.read().status, 200U);
  EXPECT_TRUE(client.is_closed());
}

TEST_F(ConnectionsTest, WhoFinishedSendingStillGetsAnAnswer) {
  start();
  Client client(port_);
  client.get("/last");
  client.close_sending();
  EXPECT_EQ(client.read().body, "/last\n");
  EXPECT_TRUE(client.is_closed());
}

TEST_F(ConnectionsTest, BeyondTheLimitConnectionsAreClosedAtOnce) {
  start({.connections = 2});
  Client first(port_);
  first.get("/1");
  EXPECT_EQ(first.read().status, 200U);
  Client second(port_);
  second.ask("GET", "/2", "Connection: close\r\n");
  EXPECT_EQ(second.read().status, 200U);
  Client third(port_);
  EXPECT_TRUE(third.is_closed());
  first.get("/3");
  EXPECT_EQ(first.read().status, 200U);
}

TEST_F(ConnectionsTest, WhoHoldsAllGivesOneUpToAnotherClient) {
  start({.connections = 3});
  Client first(port_);
  first.get("/1");
  EXPECT_EQ(first.read().status, 200U);
  Client slow(port_);
  slow.send("GET /slow HTTP/1.1\r\nHo");
  Client third(port_);
  third.get("/3");
  EXPECT_EQ(third.read().status, 200U);
  first.get("/1");
  EXPECT_EQ(first.read().status, 200U);
  Client other(port_, 2);
  other.get("/other");
  EXPECT_EQ(other.read().body, "/other\n");
  EXPECT_TRUE(slow.is_closed());
  first.get("/1");
  EXPECT_EQ(first.read().status, 200U);
  EXPECT_TRUE(Client(port_).is_closed());
}

TEST_F(ConnectionsTest, StopsWhileConnectionsAreOpen) {
  start();
  Client client(port_);
  client.get("/");
  EXPECT_EQ(client.read().status, 200U);
  thread_.request_stop();
  thread_.join();
  connections_ = nullptr;
  EXPECT_TRUE(client.is_closed());
}

}  // namespace
}  // namespace everywatt::web
