// SPDX-License-Identifier: Apache-2.0
#pragma once

// Beast's headers: for connections.cc alone.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "serve/web/tls_context.h"

namespace everywatt::web {

// One connection, plain or under TLS: a stream of Boost's, so that all above it is the same code.
// Belongs to one thread.
class Stream {
 public:
  using Tcp = boost::beast::tcp_stream;
  using executor_type = Tcp::executor_type;

  explicit Stream(boost::asio::ip::tcp::socket socket) : tcp_(std::move(socket)) {}

  executor_type get_executor() { return tcp_.get_executor(); }
  // The connection itself: its deadline, and what goes over it without TLS.
  Tcp& tcp() { return tcp_; }

  // Becomes the server's end of TLS. `first` is what the client has sent already.
  template <typename Token>
  auto async_start_tls(std::shared_ptr<const TlsContext> context, boost::asio::const_buffer first,
                       Token&& token) {
    context_ = std::move(context);
    tls_.emplace(tcp_, context_->make_connection());
    return tls_->async_handshake(boost::asio::ssl::stream_base::server,
                                 boost::asio::const_buffers_1(first), std::forward<Token>(token));
  }
  bool has_tls() const { return tls_.has_value(); }
  // REQUIRES: has_tls()
  template <typename Token>
  auto async_end_tls(Token&& token) {
    return tls_->async_shutdown(std::forward<Token>(token));
  }
  bool has_verified_client() {
    return tls_ && context_->has_verified_client(tls_->native_handle());
  }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return tls_ ? tls_->async_read_some(buffers, std::forward<Token>(token))
                : tcp_.async_read_some(buffers, std::forward<Token>(token));
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return tls_ ? tls_->async_write_some(buffers, std::forward<Token>(token))
                : tcp_.async_write_some(buffers, std::forward<Token>(token));
  }

 private:
  Tcp tcp_;
  std::shared_ptr<const TlsContext> context_;  // of tls_: it goes after it
  std::optional<boost::asio::ssl::stream<Tcp&>> tls_;
};

}  // namespace everywatt::web
