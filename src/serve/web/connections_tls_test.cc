// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <csignal>
#include <memory>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "serve/web/authentication.h"
#include "serve/web/connections.h"
#include "serve/web/listening_socket.h"
#include "serve/web/openssl_objects.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

std::string text_of(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return {text, static_cast<std::size_t>(size)};
}

// A certificate that nobody has signed but its own key, and that key, as PEM. Ends in `left_s`.
std::string make_identity(long left_s = 3600) {
  const Key key(::EVP_EC_gen("P-256"));
  const Certificate certificate(::X509_new());
  ::X509_set_version(certificate.get(), 2);
  ::X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -7200);
  ::X509_gmtime_adj(X509_getm_notAfter(certificate.get()), left_s);
  ::X509_set_pubkey(certificate.get(), key.get());
  EXPECT_GT(::X509_sign(certificate.get(), key.get(), ::EVP_sha256()), 0);
  const Bio bio(::BIO_new(::BIO_s_mem()));
  ::PEM_write_bio_X509(bio.get(), certificate.get());
  ::PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio.get());
}

// One connection under TLS, which believes any certificate.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        context_(::SSL_CTX_new(::TLS_client_method())),
        ssl_(::SSL_new(context_.get())) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ::SSL_set_fd(ssl_.get(), socket_.get());
    EXPECT_EQ(::SSL_connect(ssl_.get()), 1);
  }

  bool send(const std::string& bytes) {
    return ::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  // The first line of what comes.
  std::string read_line() {
    std::string line;
    char c = 0;
    while (!line.ends_with("\r\n") && ::SSL_read(ssl_.get(), &c, 1) == 1)
      line += c;
    return line;
  }

 private:
  base::UniqueFd socket_;
  std::unique_ptr<SSL_CTX, Freer<::SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freer<::SSL_free>> ssl_;
};

class ConnectionsTlsTest : public testing::Test {
 protected:
  ConnectionsTlsTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_TRUE(base::write_file_atomically(folder_.file("identity.pem"), make_identity(), 0600));
    EXPECT_TRUE(base::write_file_atomically(
        folder_.file("web.yml"),
        "tls_server_config: {cert_file: identity.pem, key_file: identity.pem}\n", 0600));
    auto opened = Authentication::open({.files = {.web_config = folder_.file("web.yml")}});
    EXPECT_TRUE(opened);
    authentication_ = *std::move(opened);
    auto listener = open_listening_socket("127.0.0.1", 0);
    port_ = address_of(listener->get())->port;
    connections_ = *Connections::open(
        *std::move(listener), {}, [](const Request& request) { return answer(request); },
        authentication_.get());
    thread_ = std::jthread([this](const std::stop_token& stop) { connections_->run(stop); });
  }

  // Takes bodies up to 1 MiB.
  static Response answer(const Request& request) {
    if (request.method != Method::kPost) return text_response(200, request.target);
    Response response;
    response.upload = std::make_shared<const Upload>(
        Upload{.limit_bytes = 1U << 20,
               .take = [](std::string, auto answer) { answer(text_response(202, "taken")); }});
    return response;
  }
  static std::string post(std::size_t bytes) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(bytes) +
           "\r\n\r\n" + std::string(bytes, 'x');
  }

  Folder folder_;
  std::unique_ptr<Authentication> authentication_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Connections> connections_;
  std::jthread thread_;
};

TEST_F(ConnectionsTlsTest, ABodyThatIsWantedIsTakenWhole) {
  TlsClient client(port_);
  ASSERT_TRUE(client.send(post(1U << 20)));
  EXPECT_EQ(client.read_line(), "HTTP/1.1 202 Accepted\r\n");
}

// Closed on what is still coming, the connection would break while the client sends, and take the
// answer with it.
TEST_F(ConnectionsTlsTest, WhoSendsTooLargeABodyHearsItOnceAllOfItIsSent) {
  TlsClient client(port_);
  EXPECT_TRUE(client.send(post(2'000'000)));
  EXPECT_EQ(client.read_line(), "HTTP/1.1 413 Content Too Large\r\n");
}

TEST_F(ConnectionsTlsTest, WhoAsksForCloseIsClosedAtOnce) {
  TlsClient client(port_);
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  std::string all;
  for (std::string line = client.read_line(); !line.empty(); line = client.read_line())
    all += line;
  EXPECT_TRUE(all.ends_with("\r\n/\n")) << all;
}

TEST(AuthenticationTls, ACertificateThatHasEndedIsSaidOfTheFileThatHoldsIt) {
  const Folder folder;
  const std::string identity = make_identity(-60);
  std::string block;
  for (const std::string_view line : base::split(identity, '\n'))
    block.append("    ").append(line).append("\n");
  const std::string file = folder.file("web.yml");
  ASSERT_TRUE(base::write_file_atomically(
      file, "tls_server_config:\n  cert: |\n" + block + "  key: |\n" + block, 0600));
  testing::internal::CaptureStderr();
  const auto opened = Authentication::open({.files = {.web_config = file}});
  const std::string told = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(told.starts_with("everywatt: warning: the certificate of " + file + " has ended on "))
      << told;
}

}  // namespace
}  // namespace everywatt::web
