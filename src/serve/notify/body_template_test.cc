// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/body_template.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

class BodyTemplateTest : public ::testing::Test {
 protected:
  std::string render(std::string_view text, const Notification& notification,
                     Escaping escaping = Escaping::kJson) {
    const auto parsed = BodyTemplate::parse(text);
    EXPECT_TRUE(parsed) << parsed.error().message;
    return parsed ? parsed->render(notification, options_, escaping) : "";
  }
  static std::string fault(std::string_view text) {
    const auto parsed = BodyTemplate::parse(text);
    if (parsed) return "";
    const base::Error& error = parsed.error();
    return error.hint.empty() ? error.message : error.message + "; " + error.hint;
  }

  Zone zone_;
  ChannelOptions options_ = make_options(ChannelType::kWebhook);
};

TEST_F(BodyTemplateTest, FillsPlacesAndRepeatsAlerts) {
  EXPECT_EQ(render(R"({"s":"{{status}}","n":{{ firing }},"a":[{{ each alerts }}{"n":"{{ name }}",)"
                   R"("g":"{{ label.gpu }}","t":"{{ annotation.summary }}"}{{ comma }}{{ end }}]})",
                   memory_notification()),
            R"({"s":"firing","n":1,"a":[{"n":"GpuHot","g":"1","t":"GPU 1 is at 91 °C"},)"
            R"({"n":"GpuMemoryHigh","g":"0","t":"GPU 0 of node-1:9400: memory nearly full"}]})");
}

TEST_F(BodyTemplateTest, KnowsEveryNameOfItsDocumentation) {
  for (const char* name : {"title", "text", "brief", "status", "firing", "resolved", "receiver",
                           "to", "external_url", "group_key", "label.job", "annotation.x"}) {
    EXPECT_EQ(fault(fmt::format("{{{{ {} }}}}", name)), "") << name;
  }
  for (const char* name : {"name", "status", "severity", "number", "gpu", "host", "summary",
                           "description", "brief", "starts_at", "ends_at", "generator_url",
                           "fingerprint", "comma", "label.gpu", "annotation.value"}) {
    EXPECT_EQ(fault(fmt::format("{{{{ each alerts }}}}{{{{ {} }}}}{{{{ end }}}}", name)), "");
  }
}

TEST_F(BodyTemplateTest, LetsNoValueEndTheBodyAroundIt) {
  Notification notification = memory_notification();
  notification.common_labels["x"] = "a\"b\\c</d>&e=f g";
  const std::string json_body = render(R"({"x":"{{ label.x }}"})", notification);
  EXPECT_EQ(nlohmann::json::parse(json_body)["x"], "a\"b\\c</d>&e=f g");
  EXPECT_EQ(render("x={{ label.x }}", notification, Escaping::kForm),
            "x=a%22b%5Cc%3C%2Fd%3E%26e%3Df%20g");
  EXPECT_EQ(render("<x>{{ label.x }}</x>", notification, Escaping::kXml),
            "<x>a&quot;b\\c&lt;/d&gt;&amp;e=f g</x>");
  EXPECT_EQ(render("{{ label.x }}", notification, Escaping::kNone), "a\"b\\c</d>&e=f g");
  // A value is never a template.
  notification.common_labels["x"] = "{{ receiver }}";
  EXPECT_EQ(render("{{ label.x }}", notification), "{{ receiver }}");
}

TEST_F(BodyTemplateTest, EndsAFormWithItsLastValueWhereTheFileEndsWithALine) {
  EXPECT_EQ(render("n={{ firing }}\r\n", memory_notification(), Escaping::kForm), "n=1");
  EXPECT_EQ(render("n={{ firing }}\n", memory_notification(), Escaping::kNone), "n=1\n");
}

TEST_F(BodyTemplateTest, CutsAtCharactersWithAMark) {
  Notification notification = memory_notification();
  notification.common_labels["x"] = "显卡显存告警";
  EXPECT_EQ(render("{{ label.x 6 }}", notification), "显卡显存告警");
  EXPECT_EQ(render("{{ label.x 4 }}", notification), "显卡显…");
  EXPECT_EQ(render("{{ label.x 1 }}", notification), "…");
}

TEST_F(BodyTemplateTest, NamesTheLineAndWhatIsWrongInIt) {
  EXPECT_EQ(fault("a\n{{ titel }}"), "line 2: there is no {{ titel }}; did you mean title?");
  EXPECT_EQ(fault("{{ each alerts }}{{ title }}{{ end }}"),
            "line 1: there is no {{ title }} of an alert");
  EXPECT_EQ(fault("{{ title"), "line 1: {{ is not closed by }}");
  EXPECT_EQ(fault("\n\n{{ each alerts }}"), "line 3: {{ each alerts }} without {{ end }}");
  EXPECT_EQ(fault("{{ end }}"), "line 1: {{ end }} without {{ each alerts }}");
  EXPECT_EQ(fault("{{ each alerts }}{{ each alerts }}"),
            "line 1: an {{ each alerts }} within another");
  EXPECT_EQ(fault("{{ }}"), "line 1: between {{ and }} stand a name and perhaps a number");
  EXPECT_EQ(fault("{{ title 0 }}"),
            "line 1: what follows a name is how many characters of it: 1 to 1000000");
  EXPECT_NE(fault("{{ label. }}"), "");
}

TEST_F(BodyTemplateTest, HoldsEveryAlertInItsText) {
  const std::string text = render("{{ text }}", storm(300), Escaping::kNone);
  for (const Alert& alert : storm(300).alerts) {
    EXPECT_NE(text.find(alert_name(alert)), std::string::npos);
  }
}

TEST_F(BodyTemplateTest, EscapesByTheContentType) {
  EXPECT_EQ(escaping_of("application/json; charset=utf-8"), Escaping::kJson);
  EXPECT_EQ(escaping_of("application/x-www-form-urlencoded"), Escaping::kForm);
  EXPECT_EQ(escaping_of("text/xml"), Escaping::kXml);
  EXPECT_EQ(escaping_of("text/plain"), Escaping::kNone);
}

}  // namespace
}  // namespace everywatt::notify
