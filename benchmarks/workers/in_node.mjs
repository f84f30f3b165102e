// The contestant of peers.py and keywords.py that runs in Node: node in_node.mjs DIR, where
// DIR/node_modules/@elizaos/core is the peer. Reads one JSON question a line, answers with one JSON line.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const WARM_NS = 400e6; // until the compiler has settled
const BLOCK_NS = 4e6;
const BLOCKS = 5;

const answer = process.stdout.write.bind(process.stdout);
const say = (what) => answer(JSON.stringify(what) + "\n");
const folder = path.resolve(process.argv[2], "node_modules/@elizaos/core");
const { version } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
const core = await import(pathToFileURL(path.join(folder, "dist/node/index.node.js")));

const wallNow = () => Number(process.hrtime.bigint());
// Of the whole process: Linux brings the time of a thread up to date only with its ticks. The helpers of V8 count
// too, which is why the smallest block is taken.
const cpuNow = () => {
  const used = process.cpuUsage();
  return (used.user + used.system) * 1e3;
};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function runtimeOf(count, waitMs, data) {
  const runtime = new core.AgentRuntime({ character: { name: "bench", bio: "bench" }, settings: {} });
  for (let i = 0; i < count; i++) {
    const [text, key] = [`provider ${i} says hello`, `k${i}`];
    const atOnce = async () => ({ text, values: { [key]: i }, data: { i } });
    const withoutData = async () => ({ text, values: { [key]: i } });
    const later = async () => {
      await sleep(waitMs);
      return { text, values: { [key]: i }, data: { i } };
    };
    runtime.registerProvider({ name: `P${String(i).padStart(4, "0")}`, get: waitMs ? later : data ? atOnce : withoutData });
  }
  return runtime;
}

const room = randomUUID();
const message = () => ({ id: randomUUID(), roomId: room, entityId: room, content: { text: "hello" } });
const compose = (runtime, made) => runtime.composeState(made, null, false, true); // no list, and nothing kept

async function block(runtime, calls) {
  const messages = Array.from({ length: calls }, message);
  const [wall, cpu] = [wallNow(), cpuNow()];
  for (const made of messages) await compose(runtime, made);
  const spent = [(cpuNow() - cpu) / calls, (wallNow() - wall) / calls];
  runtime.stateCache.clear();
  return spent;
}

async function callsOf(runtime) {
  let one = (await block(runtime, 1))[1];
  const end = wallNow() + WARM_NS;
  while (wallNow() < end) one = Math.min(one, (await block(runtime, one < 1e6 ? 50 : 1))[1]);
  return Math.max(1, Math.min(20000, Math.round(BLOCK_NS / one)));
}

const ready = new Map();

async function composed({ count, wait_ms: waitMs, data = true }) {
  const key = `${count} ${waitMs} ${data}`;
  if (!ready.has(key)) {
    const runtime = runtimeOf(count, waitMs, data);
    const state = await compose(runtime, message());
    const values = Object.keys(state.values).filter((name) => /^k\d+$/.test(name)).length;
    const lines = state.text.split("\n").length;
    if (values !== count || lines !== count)
      throw new Error(`${count} providers left ${values} values and ${lines} lines of text`);
    ready.set(key, { runtime, calls: waitMs ? 1 : await callsOf(runtime) });
  }
  const { runtime, calls } = ready.get(key);
  const times = [];
  for (let i = 0; i < (waitMs ? 1 : BLOCKS); i++) times.push(await block(runtime, calls));
  return { cpu: Math.min(...times.map((t) => t[0])), wall: Math.min(...times.map((t) => t[1])) };
}

// One call of the peer's helper a provider, as its own providers do.
function woken({ keywords, text, repeat }) {
  const made = { content: { text } };
  const [wall, cpu] = [wallNow(), cpuNow()];
  let hits = 0;
  for (let i = 0; i < repeat; i++) {
    hits = 0;
    for (const list of keywords) if (core.validateActionKeywords(made, [], list)) hits++;
  }
  return { cpu: (cpuNow() - cpu) / repeat, wall: (wallNow() - wall) / repeat, hits };
}

say({ package: `@elizaos/core ${version}`, runs_on: `Node ${process.version.slice(1)}` });
for await (const line of readline.createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  say(question.keywords ? woken(question) : await composed(question));
}
process.exit(0);
