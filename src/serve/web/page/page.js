// SPDX-License-Identifier: Apache-2.0
// Asks for the GPUs' latest values each second and shows them. Says when they are old or nobody
// answers, and goes on by itself.
"use strict";

const PERIOD_MS = 1000;
const PATIENCE_MS = 3000;

const byId = (id) => document.getElementById(id);
const cards = new Map();
let receivedAt = null; // when the last good answer came
let silentSince = performance.now();
let missing = ""; // why the server has no data

function showBanner(text) {
  byId("banner").hidden = text === "";
  setText(byId("banner"), text);
}

// The server's note in the reader's language, and the trace that each GPU of a demo plays.
function readNote(note) {
  const [demo, replay] = ["demo: ", "replay of "];
  if (note.startsWith(demo)) return { text: say("demo"), traces: note.slice(demo.length).split(", ") };
  if (note.startsWith(replay)) return { text: say("replay", note.slice(replay.length)), traces: [] };
  return { text: note, traces: [] };
}

function showGpus(answer) {
  const note = readNote(answer.note);
  const seen = new Set();
  for (const gpu of answer.gpus) {
    const key = `${gpu.uuid} ${gpu.gpu} ${gpu.mig}`;
    seen.add(key);
    if (!cards.has(key)) cards.set(key, new Card(byId("gpus")));
    cards.get(key).show(gpu, note.traces[gpu.gpu]);
  }
  for (const [key, card] of cards) {
    if (seen.has(key)) continue;
    card.root.remove();
    cards.delete(key);
  }
  const count = answer.gpus.length;
  setText(byId("summary"), count === 0 ? say("no_gpus") : count === 1 ? say("one_gpu") : say("gpus", count));
  byId("note").hidden = answer.note === "";
  setText(byId("note"), note.text);
}

// What is wrong with what is shown; "" when nothing is.
function complaint() {
  const now = performance.now();
  const since = receivedAt === null ? 0 : (now - receivedAt) / 1000;
  if (missing !== "") return say("not_there", missing);
  if (silentSince !== null) {
    const silence = (now - silentSince) / 1000;
    return silence > 1.5 ? say("gone", formatDuration(silence)) : receivedAt === null ? say("waiting") : "";
  }
  const ages = [...cards.values()].map((card) => card.dataAge).filter((age) => age !== null);
  const newest = Math.min(...ages) + since;
  return ages.length > 0 && newest > OLD_SECONDS ? say("old_data", formatDuration(newest)) : "";
}

function showState() {
  const since = receivedAt === null ? 0 : (performance.now() - receivedAt) / 1000;
  for (const card of cards.values()) card.showAge(since);
  const text = complaint();
  showBanner(text);
  byId("gpus").classList.toggle("old", text !== "");
}

async function ask() {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), PATIENCE_MS);
  try {
    const question = `api/v1/gpus?metric=${METRICS.join(",")}&lang=${LANGUAGE}`;
    const response = await fetch(question, { cache: "no-store", signal: giveUp.signal });
    const answer = await response.json();
    if (response.ok) {
      showGpus(answer);
      receivedAt = performance.now();
      missing = "";
    } else {
      missing = answer.error;
    }
    silentSince = null;
  } catch {
    if (silentSince === null) silentSince = performance.now();
    missing = "";
  } finally {
    clearTimeout(timer);
  }
}

async function askForEver() {
  for (;;) {
    const next = performance.now() + PERIOD_MS;
    if (!document.hidden) await ask();
    showState();
    await new Promise((resume) => setTimeout(resume, Math.max(50, next - performance.now())));
  }
}

document.documentElement.lang = LANGUAGE === "zh" ? "zh-CN" : "en";
byId(`lang-${LANGUAGE}`).setAttribute("aria-current", "true");
setInterval(showState, PERIOD_MS);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) ask().then(showState);
});
askForEver();
