// rpc_mutate.mjs: thousands of mutations of the transcripts' messages.
//
//     N=10000 SEED=1 PITH=build/pith node tests/fuzz/rpc_mutate.mjs
//
// Half of them are still valid JSON-RPC (values, types and fields changed
// inside a request): each must be answered exactly once, under its id. The
// others are broken bytes. They go to a live server over stdio and over HTTP,
// in profiles focus and jeeves; afterwards the server still answers, holds no
// more descriptors than before, has no command running, and ends with 0.
// Commands are only ever ours below: bash never gets one that does something.
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { SLOW, commands, killMarked, makeHome, removeHome, sanitizerReports } from '../server.mjs'
import { random, startServer, stopped, until, waitReady } from '../server.mjs'
import { parseTalk } from '../talk.mjs'

const N = +(process.env.N || 10000)
const SEED = +(process.env.SEED || 1)
const TALKS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../talk')
const WINDOW = 48 // requests under way at a time
const FD_SLACK = 4

// Every message that a transcript sends and that is small.
function messages() {
  const found = []
  for (const file of fs.readdirSync(TALKS).filter((f) => f.endsWith('.talk')).sort())
    for (const line of parseTalk(fs.readFileSync(path.join(TALKS, file), 'utf8')).lines) {
      if (line.word !== '>' || line.rest.includes('@{')) continue
      const message = JSON.parse(line.rest)
      if (message.method) found.push(message)
    }
  return found
}

const COMMANDS = ['true', 'echo x', 'exit 3']
const STRINGS = ['', ' ', 'a.txt', 'd', '../up', '/etc/passwd', '.', 'x'.repeat(1001), '\0', 'é€😀', '\ufffd',
  '(', '[a-', '(a+)+$', '^', '.*', '$ROOT', 'utf-8', 'tools/call', 'read', 'bash', 'grep', 'fifo', 'out', '-e', '--']
const NUMBERS = [0, 1, -1, 1.5, 99, 100, 1024, 5000, 300001, 1e308, -0, 2 ** 53, 9007199254740993]

function anyValue(rnd, depth = 0) {
  const pick = (list) => list[rnd(list.length)]
  switch (rnd(depth > 2 ? 4 : 7)) {
    case 0: return pick(STRINGS)
    case 1: return pick(NUMBERS)
    case 2: return pick([true, false])
    case 3: return null
    case 4: return Array.from({ length: rnd(4) }, () => anyValue(rnd, depth + 1))
    case 5: return Object.fromEntries(Array.from({ length: rnd(4) }, () => [pick(STRINGS), anyValue(rnd, depth + 1)]))
    default: return Array.from({ length: 101 }, () => pick(STRINGS))
  }
}

// Every object and array inside a value, to change one of them.
function places(value, list = []) {
  if (value !== null && typeof value === 'object') {
    list.push(value)
    for (const v of Object.values(value)) places(v, list)
  }
  return list
}

function changeInside(value, rnd) {
  const all = places(value)
  if (all.length === 0) return
  const at = all[rnd(all.length)]
  const keys = Object.keys(at)
  const key = keys[rnd(keys.length || 1)]
  if (Array.isArray(at) || rnd(4) === 0) at[Array.isArray(at) ? at.length : STRINGS[rnd(STRINGS.length)]] = anyValue(rnd)
  else if (key === undefined) at.more = anyValue(rnd)
  else if (rnd(4) === 0) delete at[key]
  else at[key] = anyValue(rnd)
}

// A command of ours in every place where there is one, and few of them: a
// shell costs more than a thousand parses.
function tame(message, rnd) {
  for (const at of places(message)) {
    if (typeof at.cmd !== 'string') continue
    if (rnd(8)) delete at.cmd
    else at.cmd = COMMANDS[rnd(COMMANDS.length)]
  }
}

function validMutation(base, rnd, id) {
  const message = structuredClone(base[rnd(base.length)])
  message.params ??= {}
  for (let n = rnd(4); n > 0; n--) changeInside(message.params, rnd)
  if (rnd(20) === 0) message.params = anyValue(rnd)
  if (rnd(25) === 0) message.method = STRINGS[rnd(STRINGS.length)]
  tame(message, rnd)
  message.jsonrpc = '2.0'
  delete message.id
  if (!message.method.startsWith('notifications/')) message.id = rnd(3) ? id : `s${id}`
  return message
}

// Start from a tame message: a changed byte must not make a command of others.
function brokenMutation(base, rnd) {
  const [message, another] = [0, 1].map(() => structuredClone(base[rnd(base.length)]))
  tame(message, rnd)
  tame(another, rnd)
  const other = Buffer.from(JSON.stringify(another))
  let bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  for (let n = 1 + rnd(4); n > 0; n--) {
    const at = rnd(bytes.length + 1)
    const len = 1 + rnd(16)
    const piece = [
      () => Buffer.of(rnd(256)),
      () => Buffer.from('{}[]",:\\'[rnd(8)].repeat(len)),
      () => Buffer.alloc(0),
      () => other.subarray(rnd(other.length), rnd(other.length)),
    ][rnd(4)]()
    bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + rnd(len))])
  }
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 10) bytes[i] = 11 // one line stays one line
  return bytes
}

// ---- the two ways to send --------------------------------------------------

// Gives { send(bytes), answers: Map id -> how many times, close }.
function stdioWay(server) {
  const answers = new Map()
  server.onLine = (line) => {
    const id = JSON.parse(line).id
    answers.set(id, (answers.get(id) ?? 0) + 1)
  }
  const send = (bytes) => {
    const more = server.child.stdin.write(Buffer.concat([bytes, Buffer.from('\n')]))
    return more ? null : new Promise((done) => server.child.stdin.once('drain', done))
  }
  return { answers, send, close: () => {} }
}

function httpWay(server) {
  const answers = new Map()
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  const send = (bytes) =>
    void http
      .request({ host: '127.0.0.1', port: server.port, path: '/mcp', method: 'POST', agent, headers }, (res) => {
        const parts = []
        res.on('data', (p) => parts.push(p))
        res.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const id = text ? JSON.parse(text).id : undefined
          answers.set(id, (answers.get(id) ?? 0) + 1)
        })
      })
      .on('error', (e) => answers.set(`HTTP ${e.message}`, 1))
      .end(bytes)
  return { answers, send, close: () => agent.destroy() }
}

// ---- one server under fire -------------------------------------------------

const fds = (server) => fs.readdirSync(`/proc/${server.pid}/fd`).length

function furnish(root) {
  fs.writeFileSync(path.join(root, 'a.txt'), 'one\ntwo\nkeep three\n')
  fs.mkdirSync(path.join(root, 'd'))
  fs.writeFileSync(path.join(root, 'd/b.txt'), 'two again\n')
  fs.writeFileSync(path.join(root, 'bin.dat'), Buffer.from([0, 1, 2, 255]))
  fs.symlinkSync('/etc', path.join(root, 'out'))
}

async function ask(way, message) {
  way.send(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
  return until(20000 * SLOW, () => way.answers.get(message.id))
}

// Every tool once, so that what is opened at first use is open before we count.
async function warmUp(way) {
  const calls = { read: { path: 'a.txt' }, bash: { cmd: 'true' }, grep: { pattern: 'two', paths: ['.'] } }
  for (const [name, args] of Object.entries(calls))
    if (!(await ask(way, { id: `warm ${name}`, method: 'tools/call', params: { name, arguments: args } })))
      throw new Error(`${name} does not answer`)
}

async function fire(server, way, base, rnd, count) {
  const awaited = new Set()
  const cancelled = new Set()
  for (let i = 0; i < count; i++) {
    if (i % 2) {
      await way.send(brokenMutation(base, rnd))
    } else {
      const message = validMutation(base, rnd, i + 1000)
      if (message.id !== undefined) awaited.add(message.id)
      else if (message.method === 'notifications/cancelled') {
        // of one that may be under way, sometimes; that one may stay unanswered
        const id = [...awaited].at(-1)
        message.params = { requestId: id }
        cancelled.add(id)
      }
      await way.send(Buffer.from(JSON.stringify(message)))
    }
    if (i % WINDOW === 0) {
      for (const id of awaited) if (way.answers.has(id)) awaited.delete(id)
      const enough = () => [...awaited].filter((id) => !way.answers.has(id)).length < WINDOW || server.end
      if (!(await until(60000 * SLOW, enough)) || server.end) break
    }
  }
  await until(60000 * SLOW, () => server.end || [...awaited].every((id) => way.answers.has(id) || cancelled.has(id)))
  return [...awaited].filter((id) => !way.answers.has(id) && !cancelled.has(id))
}

async function trial(kind, profile, count, seed) {
  const home = makeHome()
  const wrong = []
  furnish(home.root)
  const server = startServer(kind, home, { flags: ['--profile', profile] })
  try {
    if (kind === 'http') await waitReady(server)
    const way = kind === 'http' ? httpWay(server) : stdioWay(server)
    await warmUp(way)
    const before = fds(server)
    const unanswered = await fire(server, way, messages(), random(seed), count)
    if (unanswered.length) wrong.push(`${unanswered.length} valid requests unanswered, the first: ${unanswered[0]}`)
    for (const [id, times] of way.answers) {
      if (typeof id === 'number' && id >= 1000 && times > 1) wrong.push(`request ${id} was answered ${times} times`)
      if (String(id).startsWith('HTTP ')) wrong.push(id)
    }
    if (server.end) wrong.push(`the server died: ${JSON.stringify(server.end)} ${server.err.slice(-3000)}`)
    else {
      if (!(await ask(way, { id: 'alive', method: 'ping' }))) wrong.push('no answer to ping afterwards')
      if (!(await until(5000 * SLOW, () => commands(server).length === 0)))
        wrong.push(`still running: ${JSON.stringify(commands(server))}`)
      way.close()
      const quiet = await until(3000 * SLOW, () => fds(server) <= before + FD_SLACK)
      if (!quiet) wrong.push(`descriptors: ${before} before, ${fds(server)} after`)
    }
    if (kind === 'http') server.child.kill('SIGTERM')
    else server.child.stdin.end()
    const end = await stopped(server)
    if (end) wrong.push(end)
  } catch (e) {
    wrong.push(e.stack)
    killMarked(home.mark)
  }
  wrong.push(...sanitizerReports(home))
  removeHome(home)
  return wrong
}

let failed = 0
const trials = ['stdio', 'http'].flatMap((kind) => ['focus', 'jeeves'].map((profile) => ({ kind, profile })))
const results = await Promise.all(
  trials.map(({ kind, profile }, i) => trial(kind, profile, Math.ceil(N / trials.length), SEED * 1000 + i)),
)
results.forEach((wrong, i) => {
  const { kind, profile } = trials[i]
  const sentence = `${Math.ceil(N / trials.length)} mutations over ${kind} in ${profile} crash nothing and leave nothing`
  console.log(`${wrong.length ? 'not ok' : 'ok'} - ${sentence}`)
  if (wrong.length) console.log(wrong.join('\n').replace(/^/gm, '# '))
  failed += wrong.length > 0
})
process.exitCode = failed ? 1 : 0
