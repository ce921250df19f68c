// SPDX-License-Identifier: Apache-2.0
// What the page says, in both languages, and how it writes numbers. {} is filled in.
"use strict";

const LANGUAGE = (() => {
  const asked = new URLSearchParams(location.search).get("lang");
  if (asked === "en" || asked === "zh") return asked;
  const known = (navigator.languages || [navigator.language]).map((tag) => tag.slice(0, 2).toLowerCase());
  return known.find((tag) => tag === "en" || tag === "zh") || "en";
})();

const WORDS = {
  en: {
    gpu: "GPU {}", mig: "GPU {} MIG {}", gpus: "{} GPUs", one_gpu: "1 GPU",
    utilization: "Utilization", sm_active: "SM activity", memory: "Memory", power: "Power",
    temperature: "Temperature", processes: "Processes: {}", no_processes: "none",
    processes_unknown: "not known", memory_unknown: "memory not known", more: "and {} more",
    of: "{} of {}", age: "read {} ago", never: "no reading yet",
    old: "Old: nothing new for {}", old_data: "Data is old: the newest reading is {} old.",
    no_gpus: "No GPU found.", waiting: "Connecting…",
    gone: "No connection to Everywatt for {}. Values below are from before; trying again each second.",
    not_there: "No data yet: {}", milliseconds: "{} ms", seconds: "{} s", minutes: "{} min", hours: "{} h",
    compute: "compute", graphics: "graphics", mps: "MPS",
    demo: "Demo: simulated GPUs play recorded traces.", demo_trace: "demo: {}", replay: "Replay of {}",
  },
  zh: {
    gpu: "GPU {}", mig: "GPU {} MIG {}", gpus: "{} 块 GPU", one_gpu: "1 块 GPU",
    utilization: "利用率", sm_active: "SM 活跃度", memory: "显存", power: "功率",
    temperature: "温度", processes: "进程：{}", no_processes: "无",
    processes_unknown: "未知", memory_unknown: "显存未知", more: "另有 {} 个",
    of: "{} / {}", age: "{}前读取", never: "尚无读数",
    old: "数据陈旧：已 {}无新读数", old_data: "数据陈旧：最新读数已是 {}前的。",
    no_gpus: "未发现 GPU。", waiting: "正在连接…",
    gone: "与 Everywatt 的连接已中断 {}。下方为此前的数值；每秒重试一次。",
    not_there: "暂无数据：{}", milliseconds: "{} 毫秒", seconds: "{} 秒", minutes: "{} 分钟", hours: "{} 小时",
    compute: "计算", graphics: "图形", mps: "MPS",
    demo: "演示：模拟 GPU 播放录制的轨迹。", demo_trace: "演示：{}", replay: "回放 {}",
  },
}[LANGUAGE];

function say(word, ...values) {
  let next = 0;
  return WORDS[word].replaceAll("{}", () => String(values[next++]));
}

function formatDuration(seconds) {
  if (seconds < 1) return say("milliseconds", Math.max(0, Math.round(seconds * 1000)));
  if (seconds < 10) return say("seconds", seconds.toFixed(1));
  if (seconds < 120) return say("seconds", Math.round(seconds));
  if (seconds < 7200) return say("minutes", Math.round(seconds / 60));
  return say("hours", Math.round(seconds / 3600));
}

function formatBytes(bytes) {
  const gib = bytes / 2 ** 30;
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}

// "compute+mps" in the reader's language.
const formatProcessType = (type) => type.split("+").map((part) => WORDS[part] || part).join(" + ");

const formatRatio = (ratio) => `${Math.round(ratio * 100)} %`;
const formatWatts = (watts) => `${Math.round(watts)} W`;
const formatCelsius = (celsius) => `${Math.round(celsius)} °C`;
