// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/unique_fd.h"
#include "read/view/view_fixture.h"
#include "serve/web/message.h"

namespace everywatt::web {

// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "web_test.XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline Request get(std::string target) {
  Request request;
  request.target = std::move(target);
  request.host = "127.0.0.1:9400";
  request.host_fields = 1;
  return request;
}

inline std::string gunzip(std::string_view packed) {
  z_stream zlib{};
  CHECK(::inflateInit2(&zlib, 15 + 16) == Z_OK);
  std::string text(1 << 22, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  zlib.avail_in = static_cast<uInt>(packed.size());
  zlib.next_out = reinterpret_cast<Bytef*>(text.data());
  zlib.avail_out = static_cast<uInt>(text.size());
  CHECK(::inflate(&zlib, Z_FINISH) == Z_STREAM_END);
  text.resize(zlib.total_out);
  ::inflateEnd(&zlib);
  return text;
}

struct Answer {
  unsigned status = 0;  // 0: the connection ended before one came
  std::string head;
  std::string body;

  // The value of a header field; "" without it.
  std::string field(std::string_view name) const {
    for (const std::string_view line : base::split(head, '\n')) {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      if (base::to_lower(line.substr(0, colon)) == base::to_lower(name)) {
        std::string_view value = base::trim(line.substr(colon + 1));
        if (value.ends_with('\r')) value.remove_suffix(1);
        return std::string(value);
      }
    }
    return {};
  }
};

// The other end of a connection, byte by byte. Waits at most 10 s.
class Client {
 public:
  // `host` is the last byte of its own address, 127.0.0.`host`.
  explicit Client(std::uint16_t port, std::uint8_t host = 1)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl((127U << 24) + host);
    CHECK(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }

  void send(std::string_view text) {
    ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  void get(std::string_view path) { ask("GET", path); }
  void ask(std::string_view method, std::string_view path, std::string_view fields = {}) {
    send(std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
         std::string(fields) + "\r\n");
  }
  void close_sending() { ::shutdown(socket_.get(), SHUT_WR); }

  enum class Expect : std::uint8_t { kBody, kNoBody };
  Answer read(Expect expect = Expect::kBody) {
    Answer answer;
    while (buffer_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return answer;
    }
    const std::size_t end = buffer_.find("\r\n\r\n") + 4;
    answer.head = buffer_.substr(0, end);
    buffer_.erase(0, end);
    answer.status = static_cast<unsigned>(base::parse_u64(answer.head.substr(9, 3)).value_or(0));
    const std::size_t length = base::parse_u64(answer.field("Content-Length")).value_or(0);
    if (expect == Expect::kNoBody) return answer;
    while (buffer_.size() < length && receive()) {
    }
    answer.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return answer;
  }
  // True when the server has closed, and nothing else came.
  bool is_closed() { return buffer_.empty() && !receive() && is_ended_; }

 private:
  bool receive() {
    char bytes[16384];
    const ssize_t got = ::recv(socket_.get(), bytes, sizeof(bytes), 0);
    is_ended_ = got == 0 || (got < 0 && errno == ECONNRESET);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  base::UniqueFd socket_;
  std::string buffer_;
  bool is_ended_ = false;
};

}  // namespace everywatt::web
