// talk.mjs: runs transcripts, conversations with a server, line by line.
//
//     PITH=build/pith node tests/talk.mjs [FILE…]     T=word chooses
//
// Each transcript runs twice, unchanged: over stdio (`pith stdio`) and over
// HTTP (`pith serve`, POST /mcp), each with its own server, temp root and port.
// talk/README.md lists every line a transcript may have. Prints one line a
// test: "ok - …" or "not ok - …" with what was wanted and what came below it.
// At the end of every transcript, asked for or not: the server stops within
// 6 s with exit 0, no process of it is left in /proc, no reply was left over,
// nothing but JSON was on stdout, and no sanitizer had anything to say.
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPruner } from './pruner_server.mjs'
import { PITH, SAN, SLOW, behind, commands, killMarked, leftBehind, makeHome, removeHome, tokens } from './server.mjs'
import { sanitizerReports, serverEnv, sleep, startServer, stopped, until, waitReady, within } from './server.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const REPLY_MS = 10000 * SLOW
const VERSION = '2025-11-25'
const META = 'io.modelcontextprotocol/'
const META_VERSION = `${META}protocolVersion`

// ---- comparing -------------------------------------------------------------

const wild = {
  $ANY: (v) => v !== undefined,
  $INT: (v) => Number.isInteger(v),
  $STR: (v) => typeof v === 'string',
  $TIME: (v) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(v),
  $NONE: (v) => v === undefined,
}

const show = (v) => {
  const text = v === undefined ? 'nothing' : JSON.stringify(v)
  return text.length > 600 ? `${text.slice(0, 400)} … ${text.slice(-150)} (${text.length})` : text
}

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v)

// Add to `bad` a line for every place where got is not what want says. With
// `subset`, objects may have more keys and "~regex" strings are patterns.
function compare(want, got, subset, where, bad) {
  if (typeof want === 'string' && wild[want]) {
    if (!wild[want](got)) bad.push(`${where}: want ${want}, got ${show(got)}`)
  } else if (subset && typeof want === 'string' && want[0] === '~') {
    if (typeof got !== 'string' || !new RegExp(want.slice(1), 's').test(got))
      bad.push(`${where}: want ${want}, got ${show(got)}`)
  } else if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length)
      bad.push(`${where}: want ${want.length} items ${show(want)}, got ${show(got)}`)
    else want.forEach((w, i) => compare(w, got[i], subset, `${where}[${i}]`, bad))
  } else if (isObject(want)) {
    if (!isObject(got)) return void bad.push(`${where}: want ${show(want)}, got ${show(got)}`)
    for (const key of Object.keys(want)) compare(want[key], got[key], subset, `${where}.${key}`, bad)
    if (!subset)
      for (const key of Object.keys(got))
        if (!(key in want)) bad.push(`${where}.${key}: not wanted, got ${show(got[key])}`)
  } else if (want !== got) {
    bad.push(`${where}: want ${show(want)}, got ${show(got)}`)
  }
  return bad
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

class Wrong extends Error {}

// ---- the text of a transcript ----------------------------------------------

// @{"x" * 513} is that text so many times.
const repeat = (text) =>
  text.replace(/@\{("(?:[^"\\]|\\.)*") \* (\d+)\}/g, (_, t, n) => JSON.parse(t).repeat(+n))

// "…" with JSON escapes and \xHH (one byte) to bytes.
function bytes(text) {
  const parts = text.slice(1, -1).split(/(\\x[0-9a-fA-F]{2})/)
  return Buffer.concat(
    parts.map((p) => (p.startsWith('\\x') ? Buffer.from(p.slice(2), 'hex') : Buffer.from(JSON.parse(`"${p}"`)))),
  )
}

export function parseTalk(text) {
  const talk = { sentences: [], lines: [], only: null }
  text.split('\n').forEach((raw, i) => {
    const line = raw.trimEnd()
    if (line.startsWith('#')) talk.sentences.push(line.slice(1).trim())
    else if (line.startsWith('|')) talk.lines.at(-1).block.push(raw.slice(raw[1] === ' ' ? 2 : 1))
    else if (line.startsWith('only ')) talk.only = line.slice(5).trim()
    else if (line) {
      const [, word, rest] = /^(\S+)\s?(.*)$/s.exec(line)
      talk.lines.push({ no: i + 1, word, rest, block: [] })
    }
  })
  return talk
}

// Flags as a shell would split them, without the shell.
const words = (text) => (text.match(/"[^"]*"|\S+/g) ?? []).map((w) => w.replace(/^"(.*)"$/, '$1'))

// ---- server-sent events ----------------------------------------------------

// One answer that goes on for a while, and what was seen of it. A stream that is
// resumed goes on in the same object.
class Stream {
  constructor(onEvent) {
    this.onEvent = onEvent
    this.facts = { status: 0, ids: [], events: 0, comments: 0, primed: false, inRow: true, ended: false, cut: false }
    this.part = ''
  }

  read(req, res) {
    Object.assign(this, { req, res, part: '' })
    Object.assign(this.facts, { status: res.statusCode, ended: false, cut: false })
    res.setEncoding('utf8')
    res.on('data', (text) => {
      const blocks = (this.part + text).split('\n\n')
      this.part = blocks.pop()
      for (const block of blocks) this.take(block)
    })
  }

  take(block) {
    const event = { data: [] }
    for (const line of block.split('\n')) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line)
      if (field === 'data') event.data.push(value)
      else if (field === '') this.facts.comments++
      else event[field] = value
    }
    if (event.retry) this.facts.retry = +event.retry
    if (event.id) this.seen(event.id)
    if (event.id && event.data.join('') === '') this.facts.primed = true
    else if (event.data.length) {
      this.facts.events++
      this.onEvent(event.event ?? 'message', event.data.join('\n'), this)
    }
  }

  // Nothing twice, nothing left out: "7-12" is followed by "7-13".
  seen(id) {
    const [last, next] = [this.facts.ids.at(-1), id].map((i) => i?.split('-').map(Number))
    if (last && (last[0] !== next[0] || last[1] + 1 !== next[1])) this.facts.inRow = false
    this.facts.ids.push(id)
  }
}

// ---- one run of one transcript ---------------------------------------------

class Run {
  constructor(kind) {
    this.kind = kind
    this.home = makeHome()
    this.env = {}
    this.headers = {}
    this.path = '/mcp'
    this.replies = [] // not yet asked for: { json, status }
    this.waiting = new Map() // id -> http request
    this.status = 0
    this.inorder = false
    this.agent = new http.Agent({ keepAlive: true })
    this.exe = { exe: PITH }
    this.sessions = {} // name -> Mcp-Session-Id
    this.streams = {} // id of the request, or name -> Stream
    this.kept = {}
    this.statuses = {} // id of the request -> HTTP status
  }

  text(raw) {
    const plain = repeat(raw).replaceAll('$ROOT', this.home.root).replaceAll('$HOME', this.home.dir)
    return plain
      .replace(/\$TOKEN(?::([a-z]+))?/g, (_, name) => tokens(this.home).get(name ?? 'default'))
      .replace(/\$SESSION:([a-z]+)/g, (_, name) => this.sessions[name])
      .replaceAll('$SESSION', this.newest) // that any answer named
      .replace(/\$\((\w+)\)/g, (_, name) => this.kept[name])
  }

  json(raw) {
    try {
      return JSON.parse(this.text(raw))
    } catch (e) {
      throw new Wrong(`the transcript's own JSON is wrong: ${e.message}`)
    }
  }

  inRoot(name) {
    const file = path.join(this.home.root, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    return file
  }

  // -- the server

  start(flags) {
    this.flags = words(this.text(flags))
    if (this.exe.profile && !this.flags.includes('--profile')) this.flags.push('--profile', this.exe.profile)
    const how = { flags: this.flags, env: this.env, locked: this.locked, ...this.exe }
    this.server = startServer(this.kind, this.home, how)
    if (this.kind === 'stdio') this.server.onLine = (line) => this.take(line, 0)
  }

  async ready() {
    if (this.kind === 'http') await waitReady(this.server)
  }

  take(line, status) {
    try {
      this.replies.push({ json: JSON.parse(line), status })
    } catch {
      this.trouble ??= `not JSON: ${show(line)}`
    }
  }

  async handshake(capabilities = {}, protocolVersion = VERSION) {
    const clientInfo = { name: 'talk', version: '1' }
    await this.send({ id: 'handshake', method: 'initialize', params: { protocolVersion, capabilities, clientInfo } })
    const reply = await this.reply({ id: 'handshake' })
    this.version = reply.json.result?.protocolVersion
    if (!this.version) throw new Wrong(`no handshake: ${show(reply.json)}`)
    await this.send({ method: 'notifications/initialized' })
  }

  // From now on all is said in a session of its own (over stdio there is one anyway).
  async openSession(name, capabilities, version) {
    this.session = this.answer = undefined
    const initialize = this.handshake(capabilities, version)
    if (this.kind === 'http') {
      await until(REPLY_MS, () => this.answer?.headers['mcp-session-id'] || this.trouble)
      this.session = this.sessions[name] = this.answer?.headers['mcp-session-id']
      this.answer = undefined
      if (!this.session) throw new Wrong('no Mcp-Session-Id came')
    }
    await initialize
  }

  // -- sending

  async send(message) {
    if (this.meta && message.id !== undefined && message.method) {
      const params = message.params ?? {}
      message.params = { ...params, _meta: { ...this.meta, ...params._meta } }
    }
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const meta = message.params?._meta?.[META_VERSION]
    const headers = {}
    if (this.kind === 'http' && typeof meta === 'string') {
      headers['MCP-Protocol-Version'] = meta
      headers['Mcp-Method'] = message.method
      if (message.params.name) headers['Mcp-Name'] = message.params.name
      if (message.method === 'resources/read') headers['Mcp-Name'] = message.params.uri
    } else if (this.version && message.method !== 'initialize') {
      headers['MCP-Protocol-Version'] = this.version
    }
    if (this.session && !headers['Mcp-Method']) headers['Mcp-Session-Id'] = this.session
    await this.sendBytes(body, headers, message.method ? message.id : undefined)
  }

  async sendBytes(body, headers = {}, id) {
    if (this.kind === 'stdio') {
      this.server.child.stdin.write(Buffer.concat([body, Buffer.from('\n')]))
      return
    }
    const fixed = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    const done = this.http('POST', this.path, body, { ...fixed, ...headers }, id)
    if (id === undefined) await done // what has no answer is over before the next line
  }

  // One HTTP exchange; its answer, if it has a body, becomes a reply.
  http(method, where, body, headers, id) {
    const all = { ...headers }
    for (const [name, value] of Object.entries(this.headers)) {
      for (const key of Object.keys(all)) if (key.toLowerCase() === name.toLowerCase()) delete all[key]
      if (value !== '') all[name] = value
    }
    if (body) all['Content-Length'] = body.length
    const opts = { host: '127.0.0.1', port: this.server.port, method, path: where, headers: all, agent: this.agent }
    return new Promise((done) => {
      const req = http.request(opts, (res) => {
        if (res.headers['content-type'] === 'text/event-stream') {
          this.readStream(req, res, id)
          if (method === 'GET') done()
          return void res.on('close', done)
        }
        const parts = []
        res.on('data', (part) => parts.push(part))
        res.on('error', () => done())
        res.on('end', () => {
          this.waiting.delete(id)
          this.status = this.statuses[id] = res.statusCode
          this.newest = res.headers['mcp-session-id'] ?? this.newest
          this.answer = { status: res.statusCode, headers: res.headers, body: Buffer.concat(parts) }
          const plain = res.headers['content-type'] === 'text/plain' // /messages: Accepted
          if (this.answer.body.length && !plain) this.take(this.answer.body.toString('utf8'), res.statusCode)
          done()
        })
      })
      req.on('error', (e) => {
        if (this.waiting.delete(id) && !this.ending) this.trouble ??= `HTTP: ${e.message}`
        done()
      })
      this.waiting.set(id, req)
      req.end(body)
    })
  }

  // -- streams

  readStream(req, res, id) {
    const stream = (this.streams[id] ??= new Stream((name, data) => {
      if (name === 'endpoint') this.path = data
      else this.take(data, 200)
    }))
    this.status = res.statusCode
    this.answer = { status: res.statusCode, headers: res.headers, body: Buffer.alloc(0) }
    stream.read(req, res)
    res.on('error', () => (stream.facts.cut = true))
    res.on('end', () => (stream.facts.ended = true))
    res.on('close', () => this.waiting.get(id) === req && this.waiting.delete(id))
  }

  // GET, as a stream of that name; what is refused becomes a reply.
  async listen(name, last, where = this.path) {
    const headers = { Accept: 'text/event-stream' }
    if (this.session) headers['Mcp-Session-Id'] = this.session
    if (this.version) headers['MCP-Protocol-Version'] = this.version
    if (last) headers['Last-Event-ID'] = last
    await this.http('GET', where, undefined, headers, name)
  }

  stream(name) {
    const stream = this.streams[name]
    if (!stream) throw new Wrong(`there is no stream ${name}, but ${show(Object.keys(this.streams))}`)
    return stream
  }

  // -- receiving

  // A request or notification by its method, an answer by its id, else the next.
  async reply({ id, method }) {
    const find = () => {
      if ((id === undefined && !method) || this.inorder) return this.replies.length ? 0 : -1
      const fits = (r) => r.json.method === method && (id === undefined || same(r.json.id, id))
      return this.replies.findIndex(fits)
    }
    const at = () => find() >= 0 || this.trouble || !this.server || this.server.end
    await until(REPLY_MS, at)
    if (find() < 0) {
      const seen = this.replies.map((r) => show(r.json)).join('\n') || 'nothing'
      throw new Wrong(this.trouble ?? `no reply${id === undefined ? '' : ` to ${show(id)}`}; came: ${seen}`)
    }
    return this.replies.splice(find(), 1)[0]
  }

  async expect(rest, subset) {
    const [, status, text] = /^(?:(\d{3})(?: |$))?(.*)$/s.exec(rest)
    if (status && text === '') return this.expectStatus(+status)
    const want = this.json(text)
    if (('id' in want || 'method' in want) && !subset) want.jsonrpc ??= '2.0'
    const reply = await this.reply({ id: want.id === '$ANY' ? undefined : want.id, method: want.method })
    this.status = reply.status
    this.last = reply.json
    const bad = compare(want, reply.json, subset, 'reply', [])
    if (bad.length) throw new Wrong(bad.join('\n') + `\nwhole: ${show(reply.json)}`)
    if (status) this.expectStatus(+status)
  }

  expectStatus(want) {
    if (this.kind === 'http' && this.status !== want)
      throw new Wrong(`want HTTP status ${want}, got ${this.status}`)
  }

  // -- log lines

  events() {
    const text = this.kind === 'http' ? this.server.out : this.server.err.split('\n')
    return text.filter((l) => l.startsWith('{')).map((l) => JSON.parse(l))
  }

  async expectLog(rest) {
    const [, event, text] = /^(\S+)\s*(.*)$/s.exec(rest)
    const want = text ? this.json(text) : {}
    const warns = ['warn', 'error'].includes(want.level) // stdio says no more than that by itself
    if (this.kind === 'stdio' && !warns && !this.flags.includes('--log-level')) return
    const fits = (e) => e.event === event && compare(want, e, true, '', []).length === 0
    if (!(await until(REPLY_MS, () => this.events().some(fits)))) {
      const seen = this.events().filter((e) => e.event === event)
      throw new Wrong(`no event ${event} ${show(want)}; seen: ${show(seen.length ? seen : this.events())}`)
    }
  }

  // -- the end

  async stop() {
    if (!this.server) return ''
    this.ending = true
    if (!this.server.end && !this.termed) {
      if (this.kind === 'stdio') this.server.child.stdin.end()
      else this.server.child.kill('SIGTERM')
    }
    const wrong = this.killed ? await leftBehind(this.server) : await stopped(this.server)
    await until(1000, () => this.waiting.size === 0) // an answer may be on its way still
    this.mustKeepSecrets(this.server.out.join('\n') + this.server.err)
    if (this.kind === 'http' && this.server.out.some((l) => !isJson(l)))
      this.trouble ??= `stdout is not only JSON lines: ${show(this.server.out.find((l) => !isJson(l)))}`
    this.server = null
    this.killed = this.ending = this.termed = false
    return (wrong + (this.trouble ? `\n${this.trouble}` : '')).trim()
  }

  // A token, also one from before a change, is in nothing that a server writes.
  mustKeepSecrets(text) {
    for (const token of [...tokens(this.home).values(), ...(this.oldTokens ?? [])])
      if (token && text.includes(token)) this.trouble ??= 'the server wrote a token to its log'
  }

  leftOver() {
    return this.replies.map((r) => `nobody asked for ${show(r.json)}`).join('\n')
  }

  async close() {
    this.agent.destroy()
    await this.pruner?.close()
    killMarked(this.home.mark)
    const reports = sanitizerReports(this.home)
    removeHome(this.home)
    return reports.join('\n')
  }
}

function isJson(line) {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

// ---- what each line does ---------------------------------------------------

const milliseconds = (text) => parseFloat(text) * (/\ds$/.test(text) ? 1000 : 1)

async function mustStop(run) {
  const wrong = await run.stop()
  if (wrong) throw new Wrong(wrong)
}

const actions = {
  file: (run, { rest, block }) => fs.writeFileSync(run.inRoot(rest), block.map((l) => l + '\n').join('')),
  dir: (run, { rest }) => fs.mkdirSync(run.inRoot(rest), { recursive: true }),
  link: (run, { rest }) => {
    const [name, target] = words(run.text(rest))
    fs.symlinkSync(target, run.inRoot(name))
  },
  fifo: (run, { rest }) => execFileSync('mkfifo', [run.inRoot(rest)]),
  mode: (run, { rest }) => fs.chmodSync(run.inRoot(words(rest)[1]), parseInt(words(rest)[0], 8)),
  bytes: (run, { rest }) => {
    const [, name, text] = /^(\S+) (".*")$/.exec(run.text(rest))
    fs.writeFileSync(run.inRoot(name), bytes(text))
  },
  big: (run, { rest }) => {
    const [, name, count, text] = /^(\S+) (\d+) (".*")$/.exec(rest)
    const line = JSON.parse(text)
    const lines = Array.from({ length: +count }, (_, i) => line.replaceAll('%d', i + 1) + '\n')
    fs.writeFileSync(run.inRoot(name), lines.join(''))
  },
  env: (run, { rest }) => {
    const at = rest.indexOf('=')
    run.env[rest.slice(0, at)] = run.text(rest.slice(at + 1))
  },
  as: (run, { rest }) => {
    const exe = path.join(run.home.dir, 'bin', rest)
    fs.symlinkSync(PITH, exe)
    run.exe = { exe, verb: '' }
  },
  // File modes hold for the program, even where root runs the tests.
  bounded: (run) => {
    const drop = process.getuid() === 0 ? 'setpriv --bounding-set=-dac_override' : ''
    run.exe = { exe: behind(run.home, drop) }
  },
  // `poke FILE AT "bytes"`: these bytes there, in a file that exists.
  poke: (run, { rest }) => {
    const [, name, at, text] = /^(\S+) (\d+) (".*")$/.exec(rest)
    const fd = fs.openSync(run.inRoot(name), 'r+')
    fs.writeSync(fd, bytes(text), 0, undefined, +at)
    fs.closeSync(fd)
  },
  // As on a full disk: no file of the server may grow, until `disk free`. Only
  // SQLite's -shm, which reading needs, may be made: it has 32 KB.
  disk: (run, { rest }) => {
    const most = { full: '32768:', free: 'unlimited:' }[rest] // the soft limit
    execFileSync('prlimit', ['--pid', run.server.pid, `--fsize=${most}`])
  },
  // pith-conformance: tools that ask, log, report progress, let go, change lists.
  conformance: (run) => void (run.exe = { exe: path.join(path.dirname(PITH), 'pith-conformance'), profile: 'talk' }),
  pruner: async (run, { rest }) => {
    run.pruner = await startPruner(rest)
    run.env.JEEVES_PRUNER_ENDPOINT = run.pruner.url
  },
  pruned: (run, { rest }) => {
    const want = run.json(rest)
    const seen = run.pruner.requests.filter((r) => r.url === '/prune')
    const fits = (r) => compare(want, r.body, true, '', []).length === 0
    if (!seen.some((r) => r.method === 'POST' && r.type === 'application/json' && fits(r)))
      throw new Wrong(`the pruner was not asked ${show(want)}; it was asked ${show(seen)}`)
  },
  unpruned: (run) => {
    if (run.pruner.requests.length) throw new Wrong(`the pruner was asked ${show(run.pruner.requests)}`)
  },
  straight: (run) => {
    if (run.pruner.elsewhere) throw new Wrong('the redirect was followed')
  },
  serve: async (run, { rest }) => {
    run.start(rest)
    await run.ready()
    await run.handshake()
  },
  start: async (run, { rest }) => {
    run.start(rest)
    await run.ready()
  },
  fails: async (run, { rest }) => {
    const [code, why, ...flags] = words(run.text(rest))
    run.start(flags.join(' '))
    const how = await within(REPLY_MS, run.server.exited)
    const err = run.server.err
    run.mustKeepSecrets(run.server.out.join('\n') + err)
    if (!how) run.server.child.kill('SIGKILL')
    run.server = null
    if (how?.code !== +code || !err.includes(why))
      throw new Wrong(`want exit ${code} and '${why}', got ${show(how)} and ${show(err)}`)
  },
  // `session NAME [VERSION] [CAPABILITIES]`: a session from here on; `in NAME` goes back to one.
  session: (run, { rest }) => {
    const [, name, version, capabilities] = /^(\S+)(?: (\d\S+))?(?: (.*))?$/.exec(rest)
    return run.openSession(name, capabilities && run.json(capabilities), version)
  },
  in: (run, { rest }) => void (run.session = run.sessions[rest]),
  // The stateless era from here on: every request gets its _meta.
  stateless: (run, { rest }) => {
    const capabilities = rest ? run.json(rest) : {}
    run.meta = { [META_VERSION]: '2026-07-28', [`${META}clientCapabilities`]: capabilities }
  },
  delete: (run) => run.http('DELETE', run.path, undefined, run.session ? { 'Mcp-Session-Id': run.session } : {}),
  // `listen NAME` is a GET stream; `resume NAME [EVENT]` goes on with a stream that was lost.
  listen: (run, { rest }) => (run.kind === 'http' ? run.listen(rest) : undefined), // stdio has one stream for all
  resume: (run, { rest }) => {
    const [name, event] = rest.split(' ')
    return run.listen(name, event ?? run.stream(name).facts.ids.at(-1))
  },
  // The 2024 transport: the stream `sse`, and what is sent goes where its first event says.
  sse: async (run) => {
    run.version = undefined
    await run.listen('sse', undefined, '/sse')
    await until(REPLY_MS, () => run.path.startsWith('/messages'))
  },
  // What was seen of a stream, once it is so.
  stream: async (run, { rest }) => {
    const [, name, text] = /^(\S+) (.*)$/.exec(rest)
    const want = run.json(text)
    const wrong = () => compare(want, run.stream(name).facts, true, name, [])
    await until(REPLY_MS, () => run.streams[name] && wrong().length === 0)
    if (wrong().length) throw new Wrong(`${wrong().join('\n')}\nwhole: ${show(run.stream(name).facts)}`)
  },
  // The wire is cut: by a stream's name or a request's id.
  drop: async (run, { rest }) => {
    const req = run.waiting.get(rest) ?? run.waiting.get(JSON.parse(rest))
    if (!req) throw new Wrong(`nothing is open for ${rest}`)
    for (const [id, r] of run.waiting) if (r === req) run.waiting.delete(id)
    req.destroy()
    await sleep(50) // the server hears of it
  },
  stall: (run, { rest }) => void run.stream(rest).res.socket.pause(),
  unstall: (run, { rest }) => void run.stream(rest).res.socket.resume(),
  // Whatever notifications of that method came are passed over.
  skip: (run, { rest }) => void (run.replies = run.replies.filter((r) => r.json.method !== rest)),
  // `keep NAME PATH`: a part of the last reply, as $(NAME) from here on.
  keep: (run, { rest }) => {
    const [name, where] = words(rest)
    run.kept[name] = where.split('.').reduce((v, key) => v?.[key], run.last)
    if (run.kept[name] === undefined) throw new Wrong(`no ${where} in ${show(run.last)}`)
  },
  '>': (run, { rest }) => run.send(run.json(rest)),
  '>>': (run, { rest }) => {
    const text = run.text(rest)
    const headers = run.session ? { 'Mcp-Session-Id': run.session } : {}
    return run.sendBytes(text.startsWith('"') ? bytes(text) : Buffer.from(text), headers)
  },
  '<': (run, { rest }) => run.expect(rest, false),
  '<~': (run, { rest }) => run.expect(rest, true),
  // `status 204` is the last one's; `status 204 7` the one of request 7, once it is over.
  status: async (run, { rest }) => {
    const [status, id] = rest.split(' ')
    if (!id || run.kind === 'stdio') return run.expectStatus(+status)
    await until(REPLY_MS, () => run.statuses[id])
    run.status = run.statuses[id]
    run.expectStatus(+status)
  },
  header: (run, { rest }) => {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(rest)
    run.headers[name] = run.text(value)
  },
  path: (run, { rest }) => void (run.path = run.text(rest)),
  http: (run, { rest }) => {
    const [, method, where, body] = /^(\S+) (\S+)\s?(.*)$/s.exec(run.text(rest))
    return run.http(method, where, body ? Buffer.from(body) : undefined, {})
  },
  get: (run, { rest }) => run.http('GET', run.text(rest), undefined, {}),
  answered: (run, { rest }) => {
    // a header of the last HTTP answer
    const [, name, want] = /^([^:]+):\s*(.*)$/.exec(run.text(rest))
    const got = run.answer.headers[name.toLowerCase()]
    if (!new RegExp(`^${want}$`).test(got)) throw new Wrong(`want ${name}: ${want}, got ${show(got)}`)
  },
  // This server wants a token: $TOKEN is `default`, $TOKEN:ci another.
  locked: (run) => void (run.locked = true),
  signal: (run, { rest }) => void run.server.child.kill(rest),
  // The server as `make run` starts it; the curl line of its banner is run as a
  // shell would, and what it prints is the answer. The block is in the banner.
  paste: async (run, { rest, block }) => {
    run.start(`--log-format text ${rest}`)
    const said = () => run.server.out.join('\n')
    await until(REPLY_MS, () => said().includes('Ctrl-C') || run.server.end)
    const line = run.server.out.find((l) => l.includes('curl '))
    for (const want of block) if (!said().includes(want)) throw new Wrong(`no '${want}' in ${said()}`)
    run.mustKeepSecrets(said())
    const got = spawnSync('sh', ['-c', line ?? 'false'], { env: { PATH: process.env.PATH }, encoding: 'utf8' })
    run.take(got.stdout, 200)
    run.server.out = [] // a banner is not JSON
  },
  nobody: (run) => {
    if (run.answer.body.length) throw new Wrong(`want no body, got ${show(run.answer.body.toString())}`)
  },
  inorder: (run) => void (run.inorder = true),
  cancel: async (run, { rest }) => {
    const id = JSON.parse(rest)
    if (run.kind === 'stdio') return run.send({ method: 'notifications/cancelled', params: { requestId: id } })
    const req = run.waiting.get(id)
    if (!req) throw new Wrong(`nothing waits for ${rest}`)
    run.waiting.delete(id)
    req.destroy()
  },
  silent: async (run, { rest }) => {
    await sleep(milliseconds(rest))
    if (run.replies.length) throw new Wrong(`not silent: ${show(run.replies[0].json)}`)
  },
  children: async (run, { rest }) => {
    const want = parseInt(rest)
    const enough = (n) => (rest.endsWith('+') ? n >= want : n === want)
    if (!(await until(3000 * SLOW, () => enough(commands(run.server).length))))
      throw new Wrong(`want ${rest} children, got ${show(commands(run.server))}`)
  },
  log: (run, { rest }) => run.expectLog(rest),
  term: async (run) => {
    run.termed = true // a second signal would mean: at once
    run.server.child.kill('SIGTERM')
    await mustStop(run)
  },
  kill: async (run) => {
    run.killed = run.ending = true
    run.server.child.kill('SIGKILL')
    await run.server.exited
    await mustStop(run)
  },
  eof: async (run) => mustStop(run),
  exists: (run, { rest }) => {
    if (!fs.existsSync(run.inRoot(rest))) throw new Wrong(`no ${rest} in the root`)
  },
  absent: (run, { rest }) => {
    if (fs.existsSync(run.inRoot(rest))) throw new Wrong(`${rest} is in the root`)
  },
  // `$ call bash "cmd=echo hi"` runs the program itself; the block is what it prints.
  $: (run, { rest, block }) => {
    run.oldTokens = [...(run.oldTokens ?? []), ...tokens(run.home).values()]
    const got = spawnSync(run.exe.exe, words(run.text(rest)), {
      cwd: run.home.root,
      env: serverEnv(run.home, run.env),
      timeout: REPLY_MS,
      encoding: 'utf8',
    })
    run.exit = got.status
    run.stderr = got.stderr
    const want = block.map((l) => run.text(l))
    const lines = got.stdout.split('\n')
    if (lines.at(-1) === '') lines.pop()
    const fits = (w, g) => (w.startsWith('~') ? new RegExp(w.slice(1)).test(g) : w === g)
    if (block.length && !(want.length === lines.length && want.every((w, i) => fits(w, lines[i]))))
      throw new Wrong(`want ${show(want)}\ngot  ${show(lines)}\nstderr ${show(got.stderr)}`)
  },
  exit: (run, { rest }) => {
    const [code, why] = words(rest)
    if (run.exit !== +code || (why && !run.stderr.includes(why)))
      throw new Wrong(`want exit ${rest}, got ${run.exit} ${show(run.stderr)}`)
  },
}

export const LINES = Object.keys(actions)

// Gives '' or what was wrong.
async function runTalk(talk, kind) {
  const run = new Run(kind)
  let wrong = ''
  for (const line of talk.lines) {
    try {
      if (!actions[line.word]) throw new Wrong(`no such line: '${line.word}'`)
      await actions[line.word](run, line)
      if (run.trouble) throw new Wrong(run.trouble)
    } catch (e) {
      const text = `${line.word} ${line.rest}`
      wrong = `line ${line.no}: ${text.length > 200 ? text.slice(0, 200) + ' …' : text}\n`
      wrong += e instanceof Wrong ? e.message : e.stack
      if (run.server?.err) wrong += `\nstderr: ${run.server.err.slice(-2000)}`
      break
    }
  }
  const end = (await run.stop()) || run.leftOver()
  const reports = await run.close()
  if (end && !wrong) wrong = `at the end: ${end}`
  return wrong + (reports && `\nsanitizer: ${reports}`)
}

// ---- all of them -----------------------------------------------------------

function collect(files, word) {
  const tests = []
  for (const file of files) {
    const talk = parseTalk(fs.readFileSync(file, 'utf8'))
    const kinds = talk.only ? [talk.only] : ['stdio', 'http']
    const name = path.basename(file, '.talk')
    for (const kind of kinds) {
      const title = `${name}: ${talk.sentences[0] ?? '(no sentence)'} (${kind})`
      const chosen = !word || `${title} ${talk.sentences.join(' ')}`.includes(word)
      if (chosen) tests.push({ title, talk, kind })
    }
  }
  return tests
}

async function main() {
  const dir = path.join(HERE, 'talk')
  const all = fs.readdirSync(dir).filter((f) => f.endsWith('.talk'))
  const files = process.argv.length > 2 ? process.argv.slice(2) : all.sort().map((f) => path.join(dir, f))
  const tests = collect(files, process.env.T)
  let failed = 0
  const worker = async () => {
    for (let test; (test = tests.shift()); ) {
      const wrong = await runTalk(test.talk, test.kind)
      failed += wrong !== ''
      console.log(`${wrong ? 'not ok' : 'ok'} - ${test.title}`)
      if (wrong) console.log(wrong.replace(/^/gm, '#   '))
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, os.cpus().length * (SAN ? 1 : 2)) }, worker))
  process.exitCode = failed ? 1 : 0
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main()
