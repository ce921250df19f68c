// SPDX-License-Identifier: Apache-2.0
#include "serve/web/connections.h"

#include <fcntl.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "serve/web/authentication.h"
#include "serve/web/listening_socket.h"
#include "serve/web/places.h"
#include "serve/web/stream.h"

namespace everywatt::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Parser = http::request_parser<http::empty_body>;
using BodyParser = http::request_parser<http::string_body>;

// Errors are values here too: nothing throws.
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// Beside the header there is room for the beginning of a next request.
constexpr std::size_t kSpareBytes = 1024;
constexpr std::size_t kReadBytes = 2048;
// How a client of TLS begins, and none of HTTP.
constexpr char kTlsHandshake = 0x16;
// How much of an unwanted rest is taken, and how long, before a connection is closed on it: closed
// at once, the answer would be lost on the way.
constexpr std::size_t kDrainBytes = 64 * 1024;
constexpr std::chrono::seconds kDrainTime{1};
// No descriptor left for a new connection: the old ones will give some back.
constexpr std::chrono::milliseconds kAcceptPause{50};

// What counts as one client: an IPv4 address, or the half of an IPv6 address that a network hands
// out as a whole.
std::string client_of(const tcp::endpoint& peer) {
  const asio::ip::address address = peer.address();
  if (address.is_v4()) return address.to_string();
  const asio::ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), 0);
  return asio::ip::make_address_v6(bytes).to_string() + "/64";
}

// A field that is given several times is one list.
std::string all_values(const Parser::value_type& message, http::field name) {
  std::string values;
  const auto [begin, end] = message.equal_range(name);
  for (auto field = begin; field != end; ++field) {
    if (!values.empty()) values += ',';
    values += field->value();
  }
  return values;
}

Request request_of(const Parser::value_type& message) {
  Request request;
  request.method = message.method() == http::verb::get    ? Method::kGet
                   : message.method() == http::verb::head ? Method::kHead
                   : message.method() == http::verb::post ? Method::kPost
                                                          : Method::kOther;
  request.version = message.version() >= 11 ? Version::kHttp11 : Version::kHttp10;
  request.target = message.target();
  request.host = message[http::field::host];
  request.host_fields = message.count(http::field::host);
  request.accept = all_values(message, http::field::accept);
  request.accept_encoding = all_values(message, http::field::accept_encoding);
  request.authorization = message[http::field::authorization];
  request.authorization_fields = message.count(http::field::authorization);
  request.content_type = all_values(message, http::field::content_type);
  request.origin = all_values(message, http::field::origin);
  return request;
}

// What a request that Beast could not read is answered; nothing to say to who is gone or too slow.
std::optional<Response> complaint_on(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return text_response(431, "the request's header is too large");
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return std::nullopt;
  }
  const bool is_malformed =
      error.category() == http::make_error_code(http::error::bad_method).category();
  if (!is_malformed) return std::nullopt;
  return text_response(400, "not a request in HTTP/1: " + error.message());
}

// Of a coding that Beast does not know it takes the body for the next request, and a proxy before
// us may not: with any coding there is one.
bool has_body(const Parser& parser) {
  return parser.get().count(http::field::transfer_encoding) > 0 ||
         parser.content_length().value_or(0) > 0;
}

// Whether its end can be told.
bool has_known_end(const Parser& parser) {
  return parser.chunked() || parser.get().count(http::field::transfer_encoding) == 0;
}

// An answer that comes later, and who waits for it.
template <typename Answer>
class Waiting {
 public:
  explicit Waiting(asio::io_context& io) : timer_(io) {}

  void give(Answer answer) {
    if (answer_) return;
    answer_ = std::move(answer);
    timer_.cancel();
  }
  // Nothing: it did not come in time. `waiting` keeps it for so long.
  static asio::awaitable<std::optional<Answer>> take(std::shared_ptr<Waiting> waiting,
                                                     std::chrono::milliseconds patience) {
    waiting->timer_.expires_after(patience);
    if (!waiting->answer_) co_await waiting->timer_.async_wait(kAwait);
    co_return std::move(waiting->answer_);
  }

 private:
  asio::steady_timer timer_;
  std::optional<Answer> answer_;
};

}  // namespace

struct Connections::Loop {
  Loop(const Limits& its_limits, Answer its_answer, Authentication* its_authentication)
      : limits(its_limits),
        answer(std::move(its_answer)),
        authentication(its_authentication),
        places(its_limits.connections) {}

  asio::awaitable<void> accept_all();
  static asio::awaitable<void> watch(asio::posix::stream_descriptor descriptor, Readiness readiness,
                                     std::function<Watching()> act);
  asio::awaitable<void> serve(tcp::socket socket, Places::Id id, std::string client);
  asio::awaitable<bool> start(Stream& stream);
  asio::awaitable<void> serve_requests(Stream& stream, Places::Id id, const std::string& client);
  static asio::awaitable<bool> wait_for_request(Stream& stream, beast::flat_buffer& buffer);
  asio::awaitable<std::optional<Response>> read_body(Stream& stream, beast::flat_buffer& buffer,
                                                     Parser& header, std::size_t limit_bytes,
                                                     std::string& body);
  asio::awaitable<Response> hand_over(std::string body, const Upload& upload);
  asio::awaitable<Judgement> judge(const Request& request);
  asio::awaitable<bool> write(Stream& stream, const Response& response, const Request& request,
                              Connection connection);
  static asio::awaitable<void> drain(Stream& stream, std::size_t most_bytes);
  std::string_view date();

  const Limits limits;
  const Answer answer;
  Authentication* const authentication;  // null: anybody may ask, and all is plain
  Places places;
  std::unordered_map<Places::Id, Stream*> streams;  // those that have a place
  std::int64_t date_seconds = 0;
  std::string date_text;
  asio::io_context io{1};  // one thread
  tcp::acceptor acceptor{io};
};

asio::awaitable<void> Connections::Loop::accept_all() {
  asio::steady_timer pause(io);
  for (;;) {
    tcp::endpoint peer;
    auto [error, socket] = co_await acceptor.async_accept(peer, kAwait);
    if (error) {
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(kAwait);
      continue;
    }
    std::string client = client_of(peer);
    const auto admission = places.try_admit(client);
    if (!admission) continue;  // closes it
    if (admission->gives_up) {
      if (const auto stream = streams.find(*admission->gives_up); stream != streams.end()) {
        stream->second->tcp().close();
      }
    }
    asio::co_spawn(io, serve(std::move(socket), admission->id, std::move(client)), asio::detached);
  }
}

asio::awaitable<void> Connections::Loop::watch(asio::posix::stream_descriptor descriptor,
                                               Readiness readiness, std::function<Watching()> act) {
  const auto awaited = readiness == Readiness::kToRead ? asio::posix::stream_descriptor::wait_read
                                                       : asio::posix::stream_descriptor::wait_write;
  for (;;) {
    const auto [error] = co_await descriptor.async_wait(awaited, kAwait);
    if (error || act() == Watching::kEnd) co_return;
  }
}

asio::awaitable<void> Connections::Loop::serve(tcp::socket socket, Places::Id id,
                                               std::string client) {
  error_code ignored;
  std::ignore = socket.set_option(tcp::no_delay(true), ignored);
  Stream stream(std::move(socket));
  streams.emplace(id, &stream);
  // For the first request to begin, and for TLS to be agreed upon before it.
  stream.tcp().expires_after(limits.request);
  if (co_await start(stream)) co_await serve_requests(stream, id, client);
  streams.erase(id);
  places.leave(id);
}

// False: it is no connection to serve requests on.
asio::awaitable<bool> Connections::Loop::start(Stream& stream) {
  if (authentication != nullptr) authentication->refresh();
  const auto context = authentication == nullptr ? nullptr : authentication->tls();
  if (context == nullptr) co_return true;
  std::array<char, kReadBytes> first{};
  const auto [error, bytes] = co_await stream.async_read_some(asio::buffer(first), kAwait);
  if (error) co_return false;
  if (first[0] != kTlsHandshake) {
    const Request unread;
    const Response complaint = text_response(400, "this port speaks TLS: ask it as https://");
    if (co_await write(stream, complaint, unread, Connection::kClose)) {
      co_await drain(stream, kDrainBytes);
    }
    co_return false;
  }
  const auto [failure, taken] =
      co_await stream.async_start_tls(context, asio::const_buffer(first.data(), bytes), kAwait);
  if (failure) base::log(base::LogLevel::kDebug, "no TLS with a client: " + failure.message());
  co_return !failure;
}

asio::awaitable<void> Connections::Loop::serve_requests(Stream& stream, Places::Id id,
                                                        const std::string& client) {
  beast::flat_buffer buffer(limits.header_bytes + kSpareBytes);
  while (co_await wait_for_request(stream, buffer)) {
    Parser parser;
    parser.header_limit(limits.header_bytes);
    parser.body_limit(boost::none);  // who asks for a body says how large it may be
    stream.tcp().expires_after(limits.request);
    const auto [error, bytes] = co_await http::async_read_header(stream, buffer, parser, kAwait);
    if (error) {
      const auto complaint = complaint_on(error);
      if (!complaint) co_return;
      const Request unread;  // named: gcc 12 destroys a temporary in a co_await twice
      if (co_await write(stream, *complaint, unread, Connection::kClose)) {
        co_await drain(stream, kDrainBytes);
      }
      co_return;
    }
    Request request = request_of(parser.get());
    request.client = client;
    if (stream.has_verified_client()) request.who = Who::kAuthenticated;
    Judgement judgement = co_await judge(request);
    request.who = judgement.who;
    Response response = judgement.refusal ? *std::move(judgement.refusal) : answer(request);
    auto connection = parser.keep_alive() ? Connection::kKeep : Connection::kClose;
    // Who speaks TLS waits for its end, and without a body has nothing more to say.
    std::size_t rest_bytes = stream.has_tls() ? 0 : kDrainBytes;
    if (response.upload) {
      const std::shared_ptr<const Upload> upload = response.upload;
      std::string body;
      auto complaint = co_await read_body(stream, buffer, parser, upload->limit_bytes, body);
      if (complaint) {
        response = *std::move(complaint);
        connection = Connection::kClose;
        // Who may send a body hears why it is not taken once all of it is sent.
        rest_bytes = 2 * upload->limit_bytes;
      } else {
        response = co_await hand_over(std::move(body), *upload);
      }
    } else if (has_body(parser)) {
      // The rest on the wire is not read, so it cannot be told from a next request.
      connection = Connection::kClose;
      rest_bytes = kDrainBytes;
      const bool can_have_body =
          request.method == Method::kPost || request.method == Method::kOther;
      if (!can_have_body) response = text_response(413, "no such request has a body");
    }
    if (!co_await write(stream, response, request, connection)) co_return;
    places.note_served(id);
    if (connection == Connection::kClose) {
      co_await drain(stream, rest_bytes);
      co_return;
    }
    stream.tcp().expires_after(limits.idle);
  }
}

// An answer: why there is no body. It is whole otherwise, and a next request may follow.
asio::awaitable<std::optional<Response>> Connections::Loop::read_body(Stream& stream,
                                                                      beast::flat_buffer& buffer,
                                                                      Parser& header,
                                                                      std::size_t limit_bytes,
                                                                      std::string& body) {
  const bool is_too_large = header.content_length().value_or(0) > limit_bytes;
  if (is_too_large) co_return text_response(413, "the body is too large");
  if (!has_known_end(header)) co_return text_response(400, "a coding that is not known");
  stream.tcp().expires_after(limits.request);
  if (beast::iequals(header.get()[http::field::expect], "100-continue")) {
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    const asio::const_buffer line(kGoOn.data(), kGoOn.size());
    const auto [error, bytes] = co_await asio::async_write(stream, line, kAwait);
    if (error) co_return text_response(400, "gone");
  }
  BodyParser parser(std::move(header));
  parser.body_limit(limit_bytes);
  const auto [error, bytes] = co_await http::async_read(stream, buffer, parser, kAwait);
  if (error == http::error::body_limit) co_return text_response(413, "the body is too large");
  if (error) co_return text_response(400, "the body did not come whole");
  body = std::move(parser.get().body());
  co_return std::nullopt;
}

asio::awaitable<Response> Connections::Loop::hand_over(std::string body, const Upload& upload) {
  const auto waiting = std::make_shared<Waiting<Response>>(io);
  upload.take(std::move(body),
              [waiting](Response response) { waiting->give(std::move(response)); });
  auto answer = co_await Waiting<Response>::take(waiting, upload.patience);
  co_return answer ? *std::move(answer) : json_error(503, "no answer in time: try again");
}

asio::awaitable<Judgement> Connections::Loop::judge(const Request& request) {
  if (authentication == nullptr) co_return Judgement{};
  const auto waiting = std::make_shared<Waiting<Judgement>>(io);
  authentication->judge(request,
                        [waiting](Judgement judgement) { waiting->give(std::move(judgement)); });
  auto judgement = co_await Waiting<Judgement>::take(waiting, limits.request);
  if (judgement) co_return *std::move(judgement);
  co_return Judgement{.refusal = text_response(503, "too many log in at once: try again")};
}

// False: nothing came in the time that is set, or it is gone.
asio::awaitable<bool> Connections::Loop::wait_for_request(Stream& stream,
                                                          beast::flat_buffer& buffer) {
  if (buffer.size() > 0) co_return true;
  buffer.shrink_to_fit();
  const auto [error, bytes] = co_await stream.async_read_some(buffer.prepare(kReadBytes), kAwait);
  if (error) co_return false;
  buffer.commit(bytes);
  co_return true;
}

asio::awaitable<bool> Connections::Loop::write(Stream& stream, const Response& response,
                                               const Request& request, Connection connection) {
  const auto configured =
      authentication == nullptr ? std::span<const HeaderField>() : authentication->headers();
  const std::string head = format_head(response, request.version, connection, date(), configured);
  const std::string_view body =
      request.method == Method::kHead ? std::string_view() : response.body.bytes;
  stream.tcp().expires_after(limits.answer);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head),
                                                     asio::buffer(body.data(), body.size())};
  const auto [error, bytes] = co_await asio::async_write(stream, buffers, kAwait);
  co_return !error;
}

asio::awaitable<void> Connections::Loop::drain(Stream& stream, std::size_t most_bytes) {
  stream.tcp().expires_after(kDrainTime);
  error_code ignored;
  // Of TLS the end is the same for both ways: it comes behind the rest.
  if (!stream.has_tls()) {
    std::ignore = stream.tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
  }
  std::array<char, kReadBytes> rest{};
  for (std::size_t taken = 0; taken < most_bytes;) {
    const auto [error, bytes] = co_await stream.async_read_some(asio::buffer(rest), kAwait);
    if (error) break;
    taken += bytes;
  }
  if (stream.has_tls()) co_await stream.async_end_tls(kAwait);
}

std::string_view Connections::Loop::date() {
  const std::int64_t now = base::walltime_ns() / 1'000'000'000;
  if (now != date_seconds) {
    date_seconds = now;
    date_text = format_http_date(now);
  }
  return date_text;
}

Connections::Connections(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Connections::~Connections() = default;

base::Result<std::unique_ptr<Connections>> Connections::open(base::UniqueFd listener,
                                                             const Limits& limits, Answer answer,
                                                             Authentication* authentication) {
  const auto address = address_of(listener.get());
  if (!address) return std::unexpected(address.error());
  const bool is_v6 = address->address.find(':') != std::string::npos;
  auto loop = std::make_unique<Loop>(limits, std::move(answer), authentication);
  error_code error;
  if (loop->acceptor.assign(is_v6 ? tcp::v6() : tcp::v4(), listener.get(), error)) {
    return base::fail(base::Code::kIo, "cannot wait for connections: " + error.message());
  }
  listener.release();
  return std::unique_ptr<Connections>(new Connections(std::move(loop)));
}

base::Status Connections::watch(int descriptor, Readiness readiness,
                                std::function<Watching()> act) {
  base::UniqueFd copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return base::fail_errno("copy", "a descriptor to watch");
  asio::posix::stream_descriptor watched(loop_->io);
  error_code error;
  if (watched.assign(copy.get(), error)) {
    return base::fail(base::Code::kIo, "cannot wait for a descriptor: " + error.message());
  }
  copy.release();
  asio::co_spawn(loop_->io, loop_->watch(std::move(watched), readiness, std::move(act)),
                 asio::detached);
  return {};
}

void Connections::run(const std::stop_token& stop) {
  asio::co_spawn(loop_->io, loop_->accept_all(), asio::detached);
  const std::stop_callback end(stop, [this] { loop_->io.stop(); });
  loop_->io.run();
}

void serve_connection(base::UniqueFd socket, const Limits& limits, Connections::Answer answer) {
  Connections::Loop loop(limits, std::move(answer), nullptr);
  tcp::socket stream(loop.io);
  error_code error;
  if (stream.assign(tcp::v4(), socket.get(), error)) return;
  socket.release();
  asio::co_spawn(loop.io, loop.serve(std::move(stream), loop.places.try_admit("")->id, ""),
                 asio::detached);
  loop.io.run();
}

}  // namespace everywatt::web
