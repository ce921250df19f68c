// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/words.h"

namespace everywatt::notify {
namespace {

constexpr Words kEnglish{
    .firing = "FIRING",
    .resolved = "RESOLVED",
    .gpu = "GPU",
    .host = "Host",
    .summary = "Summary",
    .description = "Description",
    .value = "Value",
    .since = "Since",
    .from = "From",
    .until = "Until",
    .lasted = "Lasted",
    .labels = "Labels",
    .source = "Source",
    .runbook = "Runbook",
    .dashboard = "Dashboard",
    .other_names = "{} other kinds",
    .digest = "digest of {} notifications",
    .digest_note = "The channel's budget was used up; these came together.",
    .truncated = "Alertmanager itself left out {} more (its max_alerts).",
    .and_more = "… and {} more: {}",
    .and_names = "{} other names",
    .comma = ", ",
    .sample_summary = "A test of this channel",
    .sample_description = "Nothing is wrong: somebody tried whether messages arrive here.",
};

constexpr Words kChinese{
    .firing = "告警",
    .resolved = "恢复",
    .gpu = "GPU",
    .host = "主机",
    .summary = "摘要",
    .description = "说明",
    .value = "当前值",
    .since = "开始时间",
    .from = "开始时间",
    .until = "恢复时间",
    .lasted = "持续",
    .labels = "标签",
    .source = "来源",
    .runbook = "处理手册",
    .dashboard = "仪表盘",
    .other_names = "另 {} 种",
    .digest = "{} 条通知汇总",
    .digest_note = "渠道的发送额度已用完，以下内容合并发送。",
    .truncated = "Alertmanager 自身另略去 {} 条（其 max_alerts 限制）。",
    .and_more = "… 另有 {} 条：{}",
    .and_names = "另 {} 个名称",
    .comma = "，",
    .sample_summary = "渠道测试",
    .sample_description = "一切正常：有人在测试消息能否送达。",
};

}  // namespace

const Words& words_of(Language language) {
  return language == Language::kEnglish ? kEnglish : kChinese;
}

}  // namespace everywatt::notify
