// cut.mjs: the wire is cut after every single message of a long exchange.
//
//     PITH=build/pith node tests/cut.mjs
//
// An exchange has everything that can be under way: a command that runs, a
// stream, a question, a subscription, a call that let go of its client. It is
// run again and again, each time with its wires cut one message later (sent or
// received), in one of three ways. Windows are a second or two. When they are
// over nothing may be left: no command, no session, no open file, and not more
// memory from round to round. Over stdio the server itself must be gone.
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { PITH, SLOW, commands, leftBehind, makeHome, removeHome, sanitizerReports } from './server.mjs'
import { SAN, sleep, startServer, stopped, until, waitReady } from './server.mjs'

const exe = path.join(path.dirname(PITH), 'pith-conformance')
const PROFILE = ['--profile', 'talk', '--ask-timeout-s', '30']
const WINDOWS = ['--session-idle-s', '2', '--resume-window-s', '1', '--heartbeat-s', '1']
const META = 'io.modelcontextprotocol/'
const AT_ONCE = SAN ? 6 : 16
const WAIT_MS = 10000 * SLOW

class Cut extends Error {}

// ---- clients ---------------------------------------------------------------

// What is the same over every wire. A subclass has post(message), cutWires()
// and what its wire can do beyond that.
class Client {
  constructor(cutAfter = Infinity) {
    Object.assign(this, { cutAfter, count: 0, inbox: [], ids: 0, isCut: false, trouble: '' })
  }

  // A message went by; this may have been the last.
  passed() {
    if (++this.count === this.cutAfter) this.cutNow()
  }

  cutNow() {
    if (!this.isCut && this.cutAfter < Infinity) this.cutWires()
    this.isCut = this.cutAfter < Infinity
  }

  took(message) {
    this.inbox.push(message)
    this.passed()
  }

  async wait(what, ask) {
    const got = await until(WAIT_MS, () => this.isCut || this.trouble || ask())
    if (this.isCut) throw new Cut()
    if (!got || this.trouble) throw new Error(`${this.trouble || 'nothing came'}, waiting for ${what}`)
    return got
  }

  async take(what, fits) {
    await this.wait(what, () => this.inbox.some(fits))
    return this.inbox.splice(this.inbox.findIndex(fits), 1)[0]
  }

  async send(message) {
    if (this.isCut) throw new Cut()
    await this.post({ jsonrpc: '2.0', ...message })
    this.passed()
    if (this.isCut) throw new Cut()
  }

  async start(method, params = {}) {
    const id = ++this.ids
    if (this.meta) params = { ...params, _meta: { ...this.meta, ...params._meta } }
    await this.send({ id, method, params })
    return id
  }

  answer(id) {
    return this.take(`the answer to ${id}`, (m) => m.id === id && !m.method)
  }

  async ask(method, params) {
    const { result, error } = await this.answer(await this.start(method, params))
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  call = (name, args = {}, more = {}) => this.ask('tools/call', { name, arguments: args, ...more })
  startCall = (name, args = {}, more = {}) => this.start('tools/call', { name, arguments: args, ...more })
  hear = (method) => this.take(method, (m) => m.method === method)
  tell = (method, params = {}) => this.send({ method, params })
  reply = (id, result) => this.send({ id, result })

  async open() {}
  async listen() {}
  async resume() {}
  async bye() {}
  drop = (id) => this.tell('notifications/cancelled', { requestId: id })
}

class HttpClient extends Client {
  constructor(server, cutAfter, way) {
    super(cutAfter)
    Object.assign(this, { server, way, path: '/mcp', sockets: new Set(), reqs: {}, last: {}, ended: new Set() })
    this.agent = new http.Agent({ keepAlive: true })
  }

  cutWires() {
    for (const socket of this.sockets) this.way(socket)
    setTimeout(() => this.close(), 1500).unref() // who only half-closed is gone a little later
  }

  close() {
    this.agent.destroy()
    for (const socket of this.sockets) socket.destroy()
  }

  // Gives the response once its head is here; `name` is what a stream is called.
  request(method, where, headers, body, name) {
    const opts = { host: '127.0.0.1', port: this.server.port, method, path: where, headers, agent: this.agent }
    return new Promise((done) => {
      const req = http.request(opts, (res) => {
        if (res.statusCode === 404) this.cutNow() // a machine so busy that the session is over
        if (res.headers['content-type'] === 'text/event-stream') this.readEvents(res, name)
        else this.readJson(res)
        res.on('close', () => this.ended.add(name))
        done(res)
      })
      req.on('socket', (s) => this.sockets.add(s))
      req.on('error', (e) => {
        if (!this.isCut && !req.dropped) this.trouble ||= e.message
        done()
      })
      this.reqs[name] = req
      req.end(body)
    })
  }

  readJson(res) {
    let text = ''
    res.setEncoding('utf8').on('data', (t) => (text += t))
    res.on('error', () => {})
    res.on('end', () => {
      if (res.headers['content-type'] === 'application/json') this.took(JSON.parse(text))
    })
  }

  readEvents(res, name) {
    let part = ''
    res.on('error', () => {})
    res.setEncoding('utf8').on('data', (text) => {
      const blocks = (part + text).split('\n\n')
      part = blocks.pop()
      for (const block of blocks) {
        if (this.isCut) return
        this.last[name] = /^id: (.*)$/m.exec(block)?.[1] ?? this.last[name]
        const data = /^data: (.+)$/m.exec(block)?.[1]
        if (/^event: endpoint$/m.test(block)) this.path = data
        else if (data) this.took(JSON.parse(data))
      }
    })
  }

  headers() {
    return this.session ? { 'Mcp-Session-Id': this.session, 'MCP-Protocol-Version': '2025-11-25' } : {}
  }

  async post(message) {
    const headers = { ...this.headers(), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    if (this.meta && message.method) {
      Object.assign(headers, { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': message.method })
      if (message.params.name) headers['Mcp-Name'] = message.params.name
    }
    const res = this.request('POST', this.path, headers, JSON.stringify(message), message.method ? message.id : undefined)
    if (message.method === 'initialize') this.session = (await res)?.headers['mcp-session-id']
    else if (message.id === undefined || !message.method) await res // 202 before the next
    else await sleep(2)
  }

  listen = () => this.request('GET', this.path, { ...this.headers(), Accept: 'text/event-stream' }, undefined, 'aside')

  // Its stream ends before the answer; the rest comes by another.
  async resume(id) {
    await this.wait('a stream that lets go', () => this.ended.has(id))
    const headers = { ...this.headers(), Accept: 'text/event-stream', 'Last-Event-ID': this.last[id] }
    await this.request('GET', this.path, headers, undefined, id)
  }

  // The stream's connection goes, the client stays.
  lose(id) {
    this.reqs[id].dropped = true
    this.reqs[id].destroy()
  }

  async bye() {
    if (this.session) await this.request('DELETE', this.path, this.headers())
    this.passed()
  }

  drop = async (id) => {
    if (this.session) await this.tell('notifications/cancelled', { requestId: id })
    else this.lose(id)
  }
}

// The transport of 2024: all answers come on one stream.
class OldClient extends HttpClient {
  async open() {
    await this.request('GET', '/sse', { Accept: 'text/event-stream' }, undefined, 'sse')
    await this.wait('an endpoint', () => this.path !== '/mcp')
  }
  headers = () => ({})
  listen = async () => {}
  resume = async () => {}
  bye = async () => this.passed()
  drop = (id) => this.tell('notifications/cancelled', { requestId: id })
}

class StdioClient extends Client {
  constructor(server, cutAfter, way) {
    super(cutAfter)
    Object.assign(this, { server, way })
    server.onLine = (line) => !this.isCut && this.took(JSON.parse(line))
  }

  async post(message) {
    await new Promise((done) => this.server.child.stdin.write(JSON.stringify(message) + '\n', done))
  }

  cutWires = () => this.way(this.server.child)
  close() {}
}

// ---- exchanges -------------------------------------------------------------

const form = { action: 'accept', content: { username: 'ada', email: 'a@b.c' } }
const endless = { cmd: 'setsid sleep 600 & sleep 601' }

async function initializeEra(c) {
  await c.open()
  await c.ask('initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } })
  await c.tell('notifications/initialized')
  await c.listen()
  await c.ask('tools/list')
  const long = await c.startCall('bash', endless, { _meta: { progressToken: 'long' } })
  await c.call('test_tool_with_progress', {}, { _meta: { progressToken: 'short' } })
  const asked = await c.startCall('test_elicitation', { message: 'Who?' })
  await c.reply((await c.hear('elicitation/create')).id, form)
  await c.answer(asked)
  const letGo = await c.startCall('test_reconnection')
  await c.resume(letGo)
  await c.answer(letGo)
  await c.ask('resources/subscribe', { uri: 'test://watched-resource' })
  await c.call('test_resource_update', { uri: 'test://watched-resource' })
  await c.hear('notifications/resources/updated')
  await c.call('test_levels')
  const left = await c.startCall('test_elicitation', { message: 'Anybody?' })
  await c.hear('elicitation/create')
  await c.drop(left)
  await c.hear('notifications/cancelled')
  await c.startCall('test_elicitation', { message: 'Never answered' })
  await c.hear('elicitation/create')
  await c.drop(long)
  await c.bye()
}

// A command whose stream was lost once, and found again.
async function streamedCommand(c) {
  await c.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  const long = await c.startCall('bash', endless)
  await c.wait('its stream', () => c.last[long])
  await c.ask('ping')
  c.lose(long)
  await c.resume(long)
  await c.ask('ping')
  await c.ask('ping')
}

async function statelessEra(c) {
  c.meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: { elicitation: {} } }
  await c.ask('server/discover')
  await c.ask('tools/list')
  const ear = await c.start('subscriptions/listen', { notifications: { toolsListChanged: true } })
  await c.hear('notifications/subscriptions/acknowledged')
  await c.call('test_trigger_tool_change')
  await c.hear('notifications/tools/list_changed')
  const long = await c.startCall('bash', endless)
  await c.call('test_levels', {}, { _meta: { [`${META}logLevel`]: 'error' } })
  await c.call('test_tool_with_progress', {}, { _meta: { progressToken: 1 } })
  const { requestState } = await c.call('test_elicitation', { message: 'Who?' })
  await c.call('test_elicitation', { message: 'Who?' }, { requestState, inputResponses: { user: form } })
  await c.drop(ear)
  await c.drop(long)
  await c.startCall('bash', endless)
  c.passed()
}

async function bothEras(c) {
  await initializeEra(c)
  await statelessEra(c)
}

// Gives how many messages went by; throws what was wrong.
async function run(exchange, client) {
  try {
    await exchange(client)
  } catch (e) {
    if (!(e instanceof Cut)) throw new Error(`after message ${client.count}: ${e.message}`)
  } finally {
    if (!client.isCut) client.cutWires()
  }
  return client.count
}

// All of them, so many at once; gives what went wrong.
async function each(jobs, width) {
  const wrong = []
  const worker = async () => {
    for (let job; (job = jobs.shift()); ) await job().catch((e) => wrong.push(e.message))
  }
  await Promise.all(Array.from({ length: width }, worker))
  return wrong
}

// ---- over HTTP: one server, many rounds ------------------------------------

const cuts = {
  'is closed': (socket) => socket.destroy(),
  'is reset': (socket) => socket.resetAndDestroy(),
  'is half closed': (socket) => socket.end(),
}

const fdsOf = (server) => fs.readdirSync(`/proc/${server.pid}/fd`).length
const kbOf = (server) => +/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]

// A session that is still there after its time; asking is using, so not often.
async function leftSession(server, ids) {
  let left = []
  for (let i = 0; i < 3; i++) {
    const client = new HttpClient(server)
    left = []
    for (const id of ids) {
      client.session = id
      const res = await client.request('POST', '/mcp', { ...client.headers(), 'Content-Type': 'application/json' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}', 1)
      if (res?.statusCode !== 404) left.push(id)
    }
    client.close()
    if (left.length === 0) return ''
    await sleep(2500 * SLOW)
  }
  return `${left.length} sessions are left`
}

// What is not as it was, once the windows are over.
async function isClean(server, fds, ids) {
  const wrong = []
  if (!(await until(4000 * SLOW, () => commands(server).length === 0)))
    wrong.push(`commands are left: ${JSON.stringify(commands(server))}`)
  await sleep(3200)
  wrong.push(await leftSession(server, ids))
  if (!(await until(4000 * SLOW, () => fdsOf(server) <= fds)))
    wrong.push(`${fdsOf(server)} files are open, ${fds} before`)
  return wrong.filter(Boolean)
}

async function roundOf(server, way, exchanges) {
  const ids = []
  const jobs = exchanges.flatMap(({ exchange, Kind, total }) =>
    Array.from({ length: total }, (_, i) => async () => {
      const client = new Kind(server, i + 1, way)
      await run(exchange, client)
      if (client.session) ids.push(client.session)
    }),
  )
  return { ids, wrong: await each(jobs, AT_ONCE) }
}

async function overHttp(say) {
  const home = makeHome()
  const server = startServer('http', home, { exe, flags: [...PROFILE, ...WINDOWS] })
  await waitReady(server)
  const exchanges = [
    { exchange: initializeEra, Kind: HttpClient },
    { exchange: statelessEra, Kind: HttpClient },
    { exchange: streamedCommand, Kind: HttpClient },
    { exchange: initializeEra, Kind: OldClient },
  ]
  for (const e of exchanges) {
    const client = new e.Kind(server, Infinity, cuts['is closed'])
    e.total = await run(e.exchange, client)
    client.close()
  }
  await isClean(server, Infinity, [])
  const fds = fdsOf(server)
  const sizes = []
  for (const [words, way] of Object.entries(cuts)) {
    const { ids, wrong } = await roundOf(server, way, exchanges)
    wrong.push(...(await isClean(server, fds, ids)))
    sizes.push(kbOf(server))
    const total = exchanges.reduce((n, e) => n + e.total, 0)
    say(wrong, `a wire that ${words} after any of ${total} messages leaves nothing behind (http)`)
  }
  const grown = sizes.at(-1) - sizes[0]
  say(!SAN && grown > 2048 ? [`${sizes.join(', ')} KB`] : [], 'memory does not grow from round to round of cut wires (http)')
  server.child.kill('SIGTERM')
  say([await stopped(server), ...sanitizerReports(home)].filter(Boolean), 'after all those cuts the server stops with 0 (http)')
  removeHome(home)
}

// ---- over stdio: a server for each cut -------------------------------------

const pipeCuts = {
  'of a client that dies': (child) => {
    child.stdin.destroy()
    child.stdout.destroy()
  },
  'of a client that says goodbye': (child) => child.stdin.end(),
}

async function stdioOnce(cutAfter, way) {
  const home = makeHome()
  const server = startServer('stdio', home, { exe, flags: PROFILE })
  const client = new StdioClient(server, cutAfter, way)
  const wrong = []
  let count = 0
  try {
    count = await run(bothEras, client)
  } catch (e) {
    wrong.push(e.message)
    server.child.stdin.destroy()
  }
  wrong.push((await stopped(server, 15000 * SLOW)) || (await leftBehind(server)), ...sanitizerReports(home))
  removeHome(home)
  if (wrong.some(Boolean)) throw new Error(`cut after ${cutAfter}: ${wrong.filter(Boolean).join('\n')}`)
  return count
}

async function overStdio(say) {
  const total = await stdioOnce(Infinity, pipeCuts['of a client that dies'])
  for (const [words, way] of Object.entries(pipeCuts)) {
    const jobs = Array.from({ length: total }, (_, i) => () => stdioOnce(i + 1, way))
    say(await each(jobs, 2 * AT_ONCE), `the pipes ${words} after any of ${total} messages leave no process behind (stdio)`)
  }
}

// ---- all -------------------------------------------------------------------

function say(wrong, sentence) {
  console.log(`${wrong.length ? 'not ok' : 'ok'} - cut: ${sentence}`)
  for (const w of wrong.slice(0, 20)) console.log(w.replace(/^/gm, '#   '))
  if (wrong.length) process.exitCode = 1
}

await Promise.all([overHttp(say), overStdio(say)])
