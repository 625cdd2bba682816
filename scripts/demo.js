/**
 * `npm run demo`: the main job from outside. Boots the server on a free port with an embedded PostgreSQL in a
 * temporary folder, installs the example workflows, creates a run with an uploaded document through /api/v1, starts
 * it, shows its live event stream, then the result, one node's log and the files of its workspace. Ends with 0 only
 * if the run succeeded and left its report.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createParser } from 'eventsource-parser';
import { buildWhenStale } from './build.js';
import { zipEntryNames } from './zip-entry-names.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const WORKFLOW = 'report-pipeline';
const DOCUMENT = { path: '资料/大语言模型调研.md', file: path.join(ROOT, 'examples/大语言模型调研.md') };

function show(title) {
  console.log(`\n── ${title} ${'─'.repeat(Math.max(0, 70 - title.length))}`);
}

/** Starts the built server; gives its address once it says that it listens. */
async function startServer(dataDir) {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/main.js')], {
    env: {
      ...process.env,
      NODE_ENV: 'development',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      DATABASE_URL: '',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const listening = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, url] = /^listening on (\S+)/.exec(line) ?? [];
      if (url) resolve(url);
    });
  });
  const base = await Promise.race([listening, exited]);
  if (typeof base !== 'string') throw new Error(`the server ended with ${base}`);
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { base, stop };
}

/** One call in the envelope of both APIs; gives its `data`, throws its error. */
async function call(url, { headers, ...init } = {}) {
  const answer = await fetch(url, {
    ...init,
    headers: { 'X-API-Key': 'demo-key', 'X-Admin-Key': 'demo-admin-key', ...headers },
  });
  const { code, message, data } = await answer.json();
  if (code !== 'OK') throw new Error(`${url}: ${code} ${message}`);
  return data;
}

async function installExamples(base) {
  for (const name of readdirSync(path.join(ROOT, 'examples')).filter((file) => file.endsWith('.json'))) {
    const body = readFileSync(path.join(ROOT, 'examples', name), 'utf8');
    const headers = { 'Content-Type': 'application/json' };
    const { displayName } = await call(`${base}/admin/v1/workflows/import`, {
      method: 'POST',
      headers,
      body,
    });
    console.log(`installed ${path.basename(name, '.json')} (${displayName})`);
  }
}

/** The part header X-Relative-Path keeps the folder; FormData cannot set it, so the body is made by hand. */
function multipart(payload, document) {
  const boundary = `demo-${process.pid}-${Date.now()}`;
  const parts = [
    `--${boundary}\r\nContent-Disposition: form-data; name="payload"\r\nContent-Type: application/json\r\n\r\n`,
    `${JSON.stringify(payload)}\r\n--${boundary}\r\n`,
    `Content-Disposition: form-data; name="files"; filename="${path.basename(document.path)}"\r\n`,
    `X-Relative-Path: ${document.path}\r\nContent-Type: text/markdown\r\n\r\n`,
    readFileSync(document.file),
    `\r\n--${boundary}--\r\n`,
  ];
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat(parts.map((part) => Buffer.from(part))),
  };
}

function shorten(text, length = 100) {
  const line = text.replaceAll('\n', '⏎');
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

function describe(event, data) {
  const where = data.label ? `${data.label} (${data.nodeId})` : '';
  if (event === 'node_status') return `${where} ${data.status}`;
  if (event === 'node_stream') {
    return `${where} ${data.kind}${data.toolName ? ` ${data.toolName}` : ''}: ${shorten(data.content)}`;
  }
  return data.error ?? '';
}

/** Prints the live stream until the server closes it; gives the terminal event's name. */
async function follow(url) {
  const answer = await fetch(url, { headers: { 'X-API-Key': 'demo-key', Accept: 'text/event-stream' } });
  let last = '';
  const parser = createParser({
    onEvent: ({ id, event = '', data }) => {
      last = event;
      console.log(`${String(id).padStart(3)} ${event.padEnd(17)} ${describe(event, JSON.parse(data))}`);
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) parser.feed(decoder.decode(chunk, { stream: true }));
  return last;
}

async function main(base) {
  show('example workflows');
  await installExamples(base);

  show(`a run of ${WORKFLOW} with ${DOCUMENT.path}`);
  const variables = { topic: '大语言模型在企业中的应用', document: DOCUMENT.path };
  const run = await call(`${base}/api/v1/workflows/${WORKFLOW}/runs`, {
    method: 'POST',
    ...multipart({ variables, async: true }, DOCUMENT),
  });
  console.log(`${run.runId} ${run.status}`);

  show('live events');
  await call(base + run.links.start, { method: 'POST' });
  const last = await follow(base + run.links.stream);

  show('result');
  const result = await call(base + run.links.result);
  console.log(JSON.stringify({ status: result.status, outputs: result.outputs }, null, 2));

  show('log of the node write');
  const { items } = await call(`${base}${run.links.result}/nodes/write/logs`);
  for (const { seq, type, message, detail } of items) {
    console.log(`${String(seq).padStart(3)} ${type.padEnd(12)} ${shorten(message || (detail ?? ''), 80)}`);
  }

  show('workspace.zip');
  const zip = await fetch(base + run.links.workspace, { headers: { 'X-API-Key': 'demo-key' } });
  const names = await zipEntryNames(Buffer.from(await zip.arrayBuffer()));
  for (const name of names) console.log(name);
  return last === 'workflow_complete' && names.includes('report.md') && names.includes(DOCUMENT.path);
}

buildWhenStale();
const dataDir = mkdtempSync(path.join(tmpdir(), 'agent-management-demo-'));
// As root, PostgreSQL runs as another user, who has to get there.
chmodSync(dataDir, 0o711);
const server = await startServer(path.join(dataDir, 'data'));
try {
  process.exitCode = (await main(server.base)) ? 0 : 1;
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
