// SPDX-License-Identifier: Apache-2.0
// The card of one GPU. Made once and filled each second, so that nothing jumps or loses its focus.
// Text from the recorder is only ever set as text.
"use strict";

const OLD_SECONDS = 3;
const SHOWN_PROCESSES = 8;

// The lines of a card: which reading, of which other one it is a share, how it is written.
const LINES = [
  { word: "utilization", metric: "gpu_utilization_ratio", format: formatRatio },
  { word: "sm_active", metric: "gpu_sm_active_ratio", format: formatRatio },
  { word: "memory", metric: "gpu_memory_used_bytes", of: "gpu_memory_total_bytes", format: formatBytes },
  { word: "power", metric: "gpu_power_watts", of: "gpu_power_limit_enforced_watts", format: formatWatts },
  { word: "temperature", metric: "gpu_temperature_celsius", format: formatCelsius, hasNoBar: true },
];
const METRICS = LINES.flatMap((line) => (line.of ? [line.metric, line.of] : [line.metric]));

function make(parent, tag, className) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  parent.append(element);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

class Card {
  constructor(parent) {
    this.root = make(parent, "article");
    const heading = make(this.root, "h2");
    this.label = make(heading, "span");
    this.model = make(heading, "span", "model");
    this.state = make(heading, "span", "state");
    this.trace = make(this.root, "p");
    const address = make(this.root, "p", "address");
    this.pci = make(address, "span");
    this.uuid = make(address, "span");
    const list = make(this.root, "dl");
    this.lines = LINES.map((line) => {
      const name = make(list, "dt");
      setText(name, say(line.word));
      const value = make(list, "dd");
      const bar = line.hasNoBar ? null : make(make(list, "div", "bar"), "span");
      return { line, name, value, bar };
    });
    this.processesTitle = make(this.root, "h3");
    this.processes = make(this.root, "table");
    this.age = make(this.root, "p", "age");
  }

  // `trace`: what a GPU of a demo plays.
  show(gpu, trace) {
    this.trace.hidden = !trace;
    setText(this.trace, trace ? say("demo_trace", trace) : "");
    setText(this.label, gpu.mig === undefined ? say("gpu", gpu.gpu) : say("mig", gpu.gpu, gpu.mig));
    setText(this.model, gpu.name);
    this.model.title = gpu.name;
    setText(this.state, gpu.status_text);
    this.state.classList.toggle("bad", gpu.status !== "ok");
    setText(this.pci, gpu.pci_address);
    setText(this.uuid, gpu.uuid);
    for (const shown of this.lines) showLine(shown, gpu.readings);
    this.showProcesses(gpu.processes);
    this.dataAge = gpu.age_seconds;
    this.showAge(0);
  }

  // `since`: seconds since the readings came.
  showAge(since) {
    const isNever = this.dataAge === null;
    const age = isNever ? 0 : this.dataAge + since;
    const isOld = age > OLD_SECONDS;
    this.root.classList.toggle("old", isOld || isNever);
    this.age.classList.toggle("old", isOld);
    setText(this.age, isNever ? say("never") : say(isOld ? "old" : "age", formatDuration(age)));
  }

  showProcesses(processes) {
    const list = processes ? processes.list : [];
    const count = processes ? String(list.length || say("no_processes")) : say("processes_unknown");
    setText(this.processesTitle, say("processes", count));
    const rows = list.slice(0, SHOWN_PROCESSES).map((process) => [
      `PID ${process.pid}`,
      formatProcessType(process.type),
      process.memory_bytes === null ? say("memory_unknown") : formatBytes(process.memory_bytes),
    ]);
    if (list.length > rows.length) rows.push([say("more", list.length - rows.length), "", ""]);
    while (this.processes.rows.length > rows.length) this.processes.deleteRow(-1);
    rows.forEach((texts, index) => {
      const row = this.processes.rows[index] || this.processes.insertRow();
      texts.forEach((text, column) => setText(row.cells[column] || row.insertCell(), text));
    });
  }
}

function showLine({ line, value, bar }, readings) {
  const reading = readings[line.metric];
  const whole = line.of ? readings[line.of] : null;
  const isPresent = reading.value !== null;
  value.classList.toggle("absent", !isPresent);
  let text = isPresent ? line.format(reading.value) : reading.word;
  if (isPresent && whole && whole.value !== null) text = say("of", text, line.format(whole.value));
  setText(value, text);
  if (!bar) return;
  const share = !isPresent ? 0 : !line.of ? reading.value : whole.value ? reading.value / whole.value : 0;
  bar.style.width = `${Math.min(1, Math.max(0, share)) * 100}%`;
}
