// SPDX-License-Identifier: Apache-2.0
#include "serve/web/router.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "read/view/device.h"
#include "serve/web/page_files.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

using catalog::Lane;
using catalog::MetricId;
using nlohmann::json;
using view::kMs;
using view::kSecond;
using view::Machine;

constexpr std::string_view kReadable =
    "# HELP everywatt_recorder_readable 1: the server reads the recorder file.\n"
    "# TYPE everywatt_recorder_readable gauge\n";

// A router over the file of a machine, with an encoder that counts.
class RouterTest : public testing::Test {
 protected:
  RouterTest() { start({}); }

  void start(RouterOptions options) {
    options.view = {.recorder_path = folder_.file("recorder"),
                    .identities_path = {},
                    .clock = [this] { return now_ns_; }};
    options.encode = [this](const view::View& view, const exporter::Wish& wish,
                            exporter::Exposition& out) {
      ++encoded_;
      out.remark("names " + std::to_string(wish.names) + " gpus " +
                 std::to_string(view::gpus(view).size()) + " of " +
                 std::to_string(wish.gpus.size()));
    };
    router_ = std::make_unique<Router>(std::move(options));
  }
  void add_machine(unsigned gpus = 1) {
    machine_ = std::make_unique<Machine>(
        view::MachineShape{.gpus = gpus, .migs_per_gpu = 0, .path = folder_.file("recorder")});
  }
  void add_host_row() {
    machine_->add(machine_->first(catalog::Scope::kNode), catalog::Scope::kNode, Lane::kHost,
                  now_ns_,
                  [](catalog::Row& row) { row.set(MetricId::host_cpu_user_seconds_total, 0.5); });
  }
  Response ask(const std::string& target) { return router_->answer(get(target)); }
  std::string text(const std::string& target) { return std::string(ask(target).body.bytes); }

  Folder folder_;
  std::int64_t now_ns_ = 100 * kSecond;
  int encoded_ = 0;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Router> router_;
};

TEST_F(RouterTest, WithoutAFileItSaysSo) {
  const Response ready = ask("/readyz");
  EXPECT_EQ(ready.status, 503U);
  EXPECT_TRUE(ready.body.bytes.starts_with("recorder: ")) << ready.body.bytes;
  EXPECT_NE(ready.body.bytes.find(folder_.file("recorder")), std::string_view::npos);
  EXPECT_EQ(ask("/healthz").status, 200U);
  EXPECT_EQ(ask("/metrics").status, 200U);
  EXPECT_EQ(text("/metrics"), std::string(kReadable) + "everywatt_recorder_readable 0\n");
  EXPECT_EQ(text("/metrics?names=native"), "");
  EXPECT_EQ(ask("/api/v1/gpus").status, 503U);
  EXPECT_TRUE(json::parse(text("/api/v1/series?metric=gpu_power_watts")).contains("error"));
  add_machine();
  EXPECT_EQ(text("/metrics"),
            "# names 7 gpus 1 of 0\n" + std::string(kReadable) + "everywatt_recorder_readable 1\n");
}

TEST_F(RouterTest, MetricsHaveExactlyTheirTypeAndVary) {
  add_machine();
  const Response plain = ask("/metrics");
  EXPECT_EQ(plain.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(plain.vary, "Accept, Accept-Encoding");
  EXPECT_EQ(plain.content_encoding, "");
  Request request = get("/metrics");
  request.accept_encoding = "gzip";
  const Response packed = router_->answer(request);
  EXPECT_EQ(packed.content_encoding, "gzip");
  EXPECT_EQ(packed.vary, "Accept, Accept-Encoding");
  EXPECT_EQ(gunzip(packed.body.bytes), plain.body.bytes);
  EXPECT_EQ(encoded_, 1);
}

TEST_F(RouterTest, AnExpositionIsEncodedOnceATickAndNameSet) {
  add_machine();
  machine_->add_power(0, now_ns_, 700);
  ask("/metrics");
  now_ns_ += 60 * kMs;
  ask("/metrics");
  EXPECT_EQ(encoded_, 1);
  EXPECT_TRUE(text("/metrics?names=dcgm").starts_with("# names 2 "));
  EXPECT_EQ(encoded_, 2);
  now_ns_ += 60 * kMs;
  machine_->add_power(0, now_ns_, 701);
  ask("/metrics");
  ask("/metrics");
  EXPECT_EQ(encoded_, 3);
}

TEST_F(RouterTest, AfterAnEventTheExpositionIsEncodedAtOnce) {
  add_machine();
  ask("/metrics");
  machine_->add(machine_->first(catalog::Scope::kPart), catalog::Scope::kPart, Lane::kEvent,
                now_ns_,
                [](catalog::Row& row) { row.set(MetricId::event_kind, std::uint64_t{1}); });
  ask("/metrics");
  ask("/metrics");
  EXPECT_EQ(encoded_, 2);
}

TEST_F(RouterTest, AReplacedFileIsFollowed) {
  add_machine(1);
  EXPECT_TRUE(text("/metrics").starts_with("# names 7 gpus 1 "));
  const auto before = std::move(machine_);
  add_machine(3);
  EXPECT_TRUE(text("/metrics").starts_with("# names 7 gpus 3 "));
}

TEST_F(RouterTest, AScrapeMayAskForGpusMetricsAndAFormat) {
  add_machine(3);
  EXPECT_TRUE(text("/metrics?gpu=0&gpu=2").starts_with("# names 7 gpus 3 of 2\n"));
  EXPECT_TRUE(text("/metrics?names=dcgm&names=self").starts_with("# names 6 "));
  EXPECT_TRUE(text("/metrics?metric=everywatt_rec*,gpu_up").find("_readable 1\n") != text("").npos);
  EXPECT_EQ(text("/metrics?metric=gpu_up"), "# names 7 gpus 3 of 0\n");
  for (const auto& [target, complaint] :
       std::map<std::string, std::string>{{"/metrics?gpu=7", "GPU"},
                                          {"/metrics?metric=", "metric"},
                                          {"/metrics?metric=a{b}", "metric"},
                                          {"/metrics?metric=*a", "metric"},
                                          {"/metrics?name=dcgm", "no parameter 'name'"},
                                          {"/metrics?names=dcgm&names=x", "no names 'x'"}}) {
    EXPECT_EQ(ask(target).status, 400U) << target;
    EXPECT_NE(text(target).find(complaint), std::string::npos) << text(target);
  }
  Request request = get("/metrics?metric=everywatt_recorder_readable");
  request.accept = "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5";
  const Response response = router_->answer(request);
  EXPECT_EQ(response.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(response.body.bytes,
            "# TYPE everywatt_recorder_readable gauge\n"
            "# HELP everywatt_recorder_readable 1: the server reads the recorder file.\n"
            "everywatt_recorder_readable 1\n"
            "# EOF\n");
}

TEST_F(RouterTest, AFileThatWentAndCameAgainIsFollowedToo) {
  add_machine(1);
  EXPECT_TRUE(text("/metrics").starts_with("# names 7 gpus 1 "));
  std::filesystem::remove(folder_.file("recorder"));
  EXPECT_TRUE(text("/metrics").starts_with("# names 7 gpus 1 "));
  const auto before = std::move(machine_);
  add_machine(2);
  EXPECT_TRUE(text("/metrics").starts_with("# names 7 gpus 2 "));
}

TEST_F(RouterTest, ReadyWhenEveryGpuIsFreshElseALineAReason) {
  add_machine(2);
  machine_->add_power(0, now_ns_, 700);
  machine_->add_power(1, now_ns_, 700);
  add_host_row();
  EXPECT_EQ(ask("/readyz").status, 200U);
  EXPECT_EQ(text("/readyz"), "ready\n");
  machine_->file().set_status(machine_->gpu(1), recorder::DeviceStatus::kTimedOut, now_ns_);
  now_ns_ += 2 * kSecond;
  EXPECT_EQ(ask("/readyz").status, 503U);
  EXPECT_EQ(text("/readyz"), "GPU 0: no good gauge reading for 2.0 s\nGPU 1: timed_out\n");
}

TEST_F(RouterTest, ReadyThoughDrainedAndSaysSo) {
  add_machine(2);
  machine_->add_power(0, now_ns_, 700);
  machine_->file().set_status(machine_->gpu(1), recorder::DeviceStatus::kDrained, now_ns_);
  add_host_row();
  EXPECT_EQ(ask("/readyz").status, 200U);
  EXPECT_EQ(text("/readyz"), "ready\nGPU 1: drained\n");
}

TEST_F(RouterTest, MoreMetricsAreTheServersOwn) {
  router_->add_more_metrics([](exporter::Exposition& out) {
    out.begin_family("more", "gauge", "More.");
    out.sample().value(std::uint64_t{7});
  });
  add_machine(1);
  EXPECT_TRUE(text("/metrics").ends_with("more 7\n"));
  EXPECT_EQ(text("/metrics?names=native").find("more"), std::string::npos);
}

TEST_F(RouterTest, ANoteIsOnEveryAnswer) {
  start({.view = {}, .note = "replay of night.rec", .encode = {}});
  add_machine();
  EXPECT_TRUE(text("/metrics").ends_with("# replay of night.rec\n"));
  EXPECT_EQ(text("/healthz"), "alive\n(replay of night.rec)\n");
  EXPECT_TRUE(text("/readyz").ends_with("\n(replay of night.rec)\n"));
  EXPECT_EQ(json::parse(text("/api/v1/gpus"))["note"], "replay of night.rec");
  EXPECT_EQ(json::parse(text("/api/v1/series?metric=gpu_power_watts"))["note"],
            "replay of night.rec");
}

TEST_F(RouterTest, AForeignHostIsSentAwayAndSeveralAreNone) {
  start({.view = {}, .host_names = {"gpu7.example"}, .encode = {}});
  Request request = get("/healthz");
  request.host = "evil.example";
  EXPECT_EQ(router_->answer(request).status, 421U);
  request.host = "gpu7.example:9400";
  EXPECT_EQ(router_->answer(request).status, 200U);
  request.target = "http://evil.example/healthz";
  EXPECT_EQ(router_->answer(request).status, 421U);
  request.target = "http://gpu7.example/healthz";
  EXPECT_EQ(router_->answer(request).status, 200U);
  request.host_fields = 2;
  EXPECT_EQ(router_->answer(request).status, 400U);
  request.host_fields = 0;
  EXPECT_EQ(router_->answer(request).status, 400U);
  request.version = Version::kHttp10;
  EXPECT_EQ(router_->answer(request).status, 200U);
}

TEST_F(RouterTest, OtherMethodsPathsAndNamesAreRefused) {
  Request request = get("/metrics");
  request.method = Method::kOther;
  const Response refused = router_->answer(request);
  EXPECT_EQ(refused.status, 405U);
  // As OPTIONS and CONNECT write what they ask for.
  for (const char* target : {"*", "gpu7.example:443"}) {
    request.target = target;
    EXPECT_EQ(router_->answer(request).status, 405U) << target;
  }
  EXPECT_EQ(refused.allow, "GET, HEAD");
  EXPECT_EQ(ask("/nothing").status, 404U);
  EXPECT_EQ(std::ranges::count(ask("/nothing").body.bytes, '\n'), 1);
  EXPECT_EQ(text("/api/v2/gpus"), "{\"error\":\"no such path\"}\n");
  EXPECT_EQ(ask("/metrics?names=prometheus").status, 400U);
  EXPECT_EQ(ask("/metrics?names=%").status, 400U);
  EXPECT_EQ(ask("*").status, 400U);
}

TEST_F(RouterTest, ThePageComesWithItsPolicy) {
  const Response page = ask("/?lang=zh");
  EXPECT_EQ(page.status, 200U);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page.content_security_policy, kPagePolicy);
  EXPECT_EQ(ask("/page.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask("/index.html").status, 404U);
  EXPECT_EQ(ask("/../page.js").status, 404U);
  EXPECT_EQ(ask("/healthz").content_security_policy, "default-src 'none'; frame-ancestors 'none'");
}

}  // namespace
}  // namespace everywatt::web
