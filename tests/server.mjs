// server.mjs: one pith under test, and everything that lives because of it.
//
// Every server gets a temp folder of its own (root, store, home, reports of the
// sanitizers) and a mark in its environment, which its children inherit: so
// what is left behind is found in /proc even after its parent is gone.
// Knows nothing about tests; talk.mjs, sdk.mjs, clients.mjs and
// fuzz/rpc_mutate.mjs do.
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'

export const PITH = path.resolve(process.env.PITH || 'build/pith')
export const SAN = !!process.env.SAN
export const SLOW = SAN ? 4 : 1 // sanitizers make everything slower
export const READY = 'mcp_pruner.ready'

let count = 0

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

// Ask again until it is so, or the time is over; gives the last answer.
export async function until(ms, ask) {
  const end = Date.now() + ms
  for (;;) {
    const answer = await ask()
    if (answer || Date.now() > end) return answer
    await sleep(15)
  }
}

// What the promise gives, or undefined when it takes longer.
export async function within(ms, promise) {
  let timer
  const late = new Promise((done) => (timer = setTimeout(done, ms)))
  const first = await Promise.race([promise, late])
  clearTimeout(timer) // or it would keep us running
  return first
}

// The same numbers for the same seed (mulberry32): random(1)(6) is from 0 to 5.
export function random(seed) {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

// A temp folder with the parts a server needs; tools see only `root`.
export function makeHome() {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'pith-test-')))
  for (const part of ['root', 'store', 'home', 'san', 'bin']) fs.mkdirSync(path.join(dir, part))
  const mark = `pith-test-${process.pid}-${++count}`
  return { dir, mark, root: path.join(dir, 'root'), store: path.join(dir, 'store') }
}

export function removeHome(home) {
  // A test may have taken away its own right to look into a folder.
  execFileSync('chmod', ['-R', 'u+rwX', home.root], { stdio: 'ignore' })
  fs.rmSync(home.dir, { recursive: true, force: true })
}

// What a server inherits: nothing of whoever runs the tests but the way to
// programs.
export function serverEnv(home, extra = {}) {
  const san = `log_path=${home.dir}/san/report:exitcode=99:abort_on_error=0`
  return {
    PATH: process.env.PATH,
    HOME: path.join(home.dir, 'home'),
    PITH_HOME: path.join(home.dir, 'settings'),
    LANG: 'C.UTF-8',
    TEST_MARK: home.mark,
    ...(SAN && {
      ASAN_OPTIONS: `${san}:detect_leaks=1`,
      UBSAN_OPTIONS: `${san}:print_stacktrace=1`,
    }),
    ...extra,
  }
}

// name -> token, of the settings folder; empty before the first is made.
export function tokens(home) {
  const file = path.join(home.dir, 'settings', 'tokens')
  if (!fs.existsSync(file)) return new Map()
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return new Map(lines.map((line) => line.split(' ')))
}

// Every report a sanitizer wrote, of the server or of a process it started.
export function sanitizerReports(home) {
  const dir = path.join(home.dir, 'san')
  return fs.readdirSync(dir).map((f) => fs.readFileSync(path.join(dir, f), 'latin1'))
}

// Live processes (no zombies) that carry the mark.
export function marked(mark) {
  const found = []
  const needle = Buffer.from(`TEST_MARK=${mark}\0`)
  for (const pid of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    try {
      if (!fs.readFileSync(`/proc/${pid}/environ`).includes(needle)) continue
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state === 'Z' || state === 'X') continue
      const name = fs.readFileSync(`/proc/${pid}/comm`, 'latin1').trim()
      found.push({ pid: +pid, parent: +parent, name })
    } catch {
      // gone meanwhile, or somebody else's
    }
  }
  return found
}

// Kill what carries the mark; gives what there was.
export function killMarked(mark) {
  const left = marked(mark)
  for (const p of left) {
    try {
      process.kill(p.pid, 'SIGKILL')
    } catch {
      // gone meanwhile
    }
  }
  return left
}

// What commands left running: the server, its warden and idle keepers are not
// commands.
export function commands(server) {
  const ours = new Set(['pith-warden', 'pith-keeper'])
  return marked(server.home.mark).filter((p) => p.pid !== server.pid && !ours.has(p.name))
}

// Start `pith stdio` or `pith serve` (or another name of the binary: `exe`),
// over HTTP without a token unless `locked`.
// Gives the running server; .exited resolves to { code, signal }.
export function startServer(kind, home, { flags = [], env = {}, exe = PITH, verb, locked } = {}) {
  const own = ['--root', home.root]
  if (verb !== '') own.unshift(verb || (kind === 'http' ? 'serve' : 'stdio'), '--store', home.store)
  if (kind === 'http') own.push('--port', '0')
  if (kind === 'http' && verb !== '' && !locked) own.push('--no-auth')
  own.push('--log-format', 'json', ...flags)
  const child = spawn(exe, own, { cwd: home.dir, env: serverEnv(home, env) })
  const server = { kind, home, child, pid: child.pid, out: [], err: '', port: 0, onLine: null }
  let part = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (part + text).split('\n')
    part = lines.pop()
    for (const line of lines) {
      server.out.push(line)
      server.onLine?.(line)
    }
  })
  child.stderr.setEncoding('utf8').on('data', (text) => (server.err += text))
  child.stdin.on('error', () => {}) // it may have ended already
  server.exited = new Promise((done) => {
    child.on('error', (e) => done({ code: -1, signal: null, error: e.message }))
    child.on('close', (code, signal) => done({ code, signal }))
  })
  server.exited.then((how) => (server.end = how))
  return server
}

// PITH, started by another program; an `exe` for startServer.
export function behind(home, program) {
  const exe = path.join(home.dir, 'bin', 'behind')
  fs.writeFileSync(exe, `#!/bin/sh\nexec ${program} '${PITH}' "$@"\n`, { mode: 0o755 })
  return exe
}

// A tool of /rpc. Gives { text, answer, error }: what came, even if its server
// died meanwhile; the object that the answer carries; the error of JSON-RPC.
export function callRpc(server, agent, name, args) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  const headers = { 'Content-Type': 'application/json' }
  const where = { host: '127.0.0.1', port: server.port, method: 'POST', path: '/rpc', headers, agent }
  return new Promise((done) => {
    let text = ''
    const req = http.request(where, (res) => {
      res.setEncoding('utf8').on('data', (t) => (text += t))
      res.on('error', () => {}) // cut short: it closes, too
      res.on('close', () => {
        const { result, error } = res.complete ? JSON.parse(text) : {}
        done({ text, error, answer: result && JSON.parse(result.content[0].text) })
      })
    })
    req.on('error', () => done({ text }))
    req.end(body)
  })
}

// Wait for the ready line, the first that a server writes; sets .port.
export async function waitReady(server, ms = 10000 * SLOW) {
  await until(ms, () => server.out.length > 0 || server.end)
  let first
  try {
    first = JSON.parse(server.out[0])
  } catch {}
  if (first?.event !== READY)
    throw new Error(`no ready line, but ${JSON.stringify(server.out[0] ?? server.err)}`)
  server.port = first.data.port
}

// Wait for the end; gives what was wrong with it, or ''. What is left is killed.
export async function stopped(server, ms = 6000 * SLOW) {
  const how = await within(ms, server.exited)
  let wrong = ''
  if (!how) {
    wrong = `still running ${ms} ms after it was asked to stop`
    server.child.kill('SIGKILL')
    await server.exited
  } else if (how.code !== 0) {
    wrong = `ended with ${how.signal ?? how.code}, not 0`
  }
  return wrong + (await leftBehind(server))
}

export async function leftBehind(server) {
  await until(3000 * SLOW, () => marked(server.home.mark).length === 0)
  const left = killMarked(server.home.mark)
  return left.length ? `\nleft behind: ${left.map((p) => `${p.name} (${p.pid})`).join(', ')}` : ''
}
