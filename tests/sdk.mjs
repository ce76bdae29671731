// sdk.mjs: the official MCP clients complete sessions, over every transport.
//
//     N=$(tests/node) && "$N" tests/sdk.mjs      that installs what is imported
//
// @modelcontextprotocol/sdk 1.x and @modelcontextprotocol/client 2.x, each in
// every protocol version it speaks. They know nothing about pith: what they
// refuse to understand is a bug here.
import fs from 'node:fs'
import path from 'node:path'
import * as two from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { PITH, SLOW, leftBehind, makeHome, marked, removeHome, sanitizerReports } from './server.mjs'
import { serverEnv, startServer, stopped, tokens, until, waitReady } from './server.mjs'

const INITIALIZE = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const STATELESS = '2026-07-28'
const ME = { name: 'sdk-test', version: '1' }

// 1.x always asks for its latest version: another one is put in on the way out.
function asks1(transport, version) {
  const send = transport.send.bind(transport)
  const set = transport.setProtocolVersion?.bind(transport)
  transport.send = (m, options) =>
    send(m.method === 'initialize' ? { ...m, params: { ...m.params, protocolVersion: version } } : m, options)
  transport.setProtocolVersion = (v) => {
    transport.agreed = v
    set?.(v)
  }
  return transport
}

// The two packages under one face. `mode` is how 2.x finds out what to speak.
const sdk1 = (version) => ({
  name: `sdk 1.x speaks ${version}`,
  version,
  client: () => new Client1(ME),
  stdio: (how) => asks1(new Stdio1(how), version),
  http: (url, headers) => asks1(new Http1(url, { requestInit: { headers } }), version),
  sse: (url, headers) => asks1(new Sse1(url, { requestInit: { headers } }), version),
  agreed: (client, transport) => transport.agreed,
  call: (client, params, options) => client.callTool(params, undefined, options),
})
const sdk2 = (version, mode, words = '') => ({
  name: `client 2.x speaks ${version}${words}`,
  version,
  client: () => {
    const versions = mode === 'legacy' ? { supportedProtocolVersions: [version] } : {}
    return new two.Client(ME, { versionNegotiation: { mode }, ...versions })
  },
  stdio: (how) => new Stdio2(how),
  http: (url, headers) => new two.StreamableHTTPClientTransport(url, { requestInit: { headers } }),
  sse: (url, headers) => new two.SSEClientTransport(url, { requestInit: { headers } }),
  agreed: (client) => client.getNegotiatedProtocolVersion(),
  call: (client, params, options) => client.callTool(params, options),
})

function must(ok, what, got) {
  if (!ok) throw new Error(`${what}; got ${JSON.stringify(got)}`)
}

const text = (result) => result.content.map((c) => c.text).join('')

// What every profile must do for a client that knows nothing about it.
// `s`: { sdk, client, transport, over, profile, home, long }.
async function session(s) {
  const { client, sdk } = s
  const jeeves = s.profile === 'jeeves'
  const call = (name, args) => sdk.call(client, { name, arguments: args })
  must(sdk.agreed(client, s.transport) === sdk.version, 'the version', sdk.agreed(client, s.transport))
  const name = client.getServerVersion().name
  must(name === (jeeves ? '@jeeves/mcp-pruner' : 'pith'), 'server name', name)
  must(client.getServerCapabilities().tools, 'tools capability', client.getServerCapabilities())

  const { tools } = await client.listTools()
  const names = tools.map((t) => t.name)
  for (const tool of ['read', 'bash', 'grep']) must(names.includes(tool), `${tool} listed`, names)
  must(tools.every((t) => t.description && t.inputSchema.type === 'object'), 'schemas', tools)

  const read = await call('read', { path: 'a.txt' })
  must(text(read).includes('one\ntwo\n') && !read.isError, 'read', read)
  const bash = await call('bash', { cmd: 'echo out; echo err >&2; exit 3' })
  must(text(bash).includes('out\n') && text(bash).includes('err\n'), 'bash', bash)
  const grep = await call('grep', { pattern: 'tw.', paths: ['.'] })
  must(text(grep).includes('a.txt:2:two'), 'grep', grep)
  if (jeeves) {
    must(read.structuredContent.content === 'one\ntwo\n', 'structured read', read)
    must(bash.isError && bash.structuredContent.error.exit_code === 3, 'structured bash', bash)
    must(grep.structuredContent.matches.length === 1, 'structured grep', grep)
  } else {
    must(!bash.isError && !bash.structuredContent, 'plain bash', bash)
    must(text(bash).startsWith('exit 3'), 'the status line', bash)
  }
  await refused(call, jeeves)
  if (sdk.version === STATELESS) await listened(s)
  else await client.ping()
  if (sdk.version !== STATELESS && !jeeves) await client.setLoggingLevel('error')
  await cancelled(s)
  const again = await call('read', { path: 'a.txt' })
  must(text(again) === text(read), 'the same answer after a cancelled call', again)
}

// Missing fields: a JSON-RPC error in jeeves, an answer to mend elsewhere.
async function refused(call, jeeves) {
  const result = await call('read', { encoding: 7 }).catch((e) => e)
  if (jeeves) must(result.code === -32602 && result.data?.field_errors?.length === 2, '-32602', result)
  else must(result.isError && text(result).includes('path'), 'isError', result)
  const unknown = await call('nosuch', {}).catch((e) => e)
  must(unknown.code === -32602, 'an unknown tool', unknown)
}

// The stateless era's stream of changes opens, and closes.
async function listened({ client, profile }) {
  if (profile === 'jeeves') return // whose list never changes
  const subscription = await client.listen({ toolsListChanged: true })
  must(subscription.honoredFilter.toolsListChanged, 'a subscription', subscription.honoredFilter)
  await subscription.close()
}

// A command under way ends with its call, after word of its progress when the
// test is a long one. jeeves has no sessions: over HTTP nobody can say there
// whose call an `initialize` client means, so it is left to run out.
async function cancelled({ sdk, client, profile, home, over, long }) {
  const sleeping = () => marked(home.mark).some((p) => p.name === 'sleep')
  const alone = over === 'HTTP' && sdk.version !== STATELESS && profile === 'jeeves'
  const abort = new AbortController()
  const args = { cmd: `sleep ${alone ? 1 : 60}` }
  const heard = []
  const options = { signal: abort.signal, onprogress: (p) => heard.push(p.progress) }
  const end = sdk.call(client, { name: 'bash', arguments: args }, options).catch((e) => e)
  must(await until(5000 * SLOW, sleeping), 'a command under way', 'none')
  if (long) must(await until(10000 * SLOW, () => heard.length > 0), 'progress', heard)
  abort.abort('enough')
  must((await end) instanceof Error, 'a cancelled call fails at its client', await end)
  must(await until(5000 * SLOW, () => !sleeping()), 'its command gone', marked(home.mark))
}

// After DELETE the session is not there any more, for anybody.
async function terminated({ sdk, transport, profile, url, token }) {
  const id = transport.sessionId
  const sessions = profile !== 'jeeves' && sdk.version !== STATELESS
  must(!id === !sessions, `${sessions ? 'a' : 'no'} session`, id)
  if (!id) return
  await transport.terminateSession()
  must(transport.sessionId === undefined, 'no session after DELETE', transport.sessionId)
  const headers = { ...token, 'content-type': 'application/json', 'mcp-session-id': id }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const answer = await fetch(url, { method: 'POST', headers, body })
  must(answer.status === 404, '404 for a session that was deleted', answer.status)
}

async function overStdio(s) {
  const args = ['stdio', '--root', s.home.root, '--store', s.home.store, '--profile', s.profile]
  s.transport = s.sdk.stdio({ command: PITH, args, env: serverEnv(s.home), stderr: 'pipe' })
  try {
    await s.client.connect(s.transport)
    await session(s)
  } finally {
    await s.client.close()
  }
  const left = await leftBehind(s)
  must(left === '', 'nothing left behind', left)
}

// With the token, but in jeeves, which has none.
async function overHttp(s) {
  const locked = s.profile !== 'jeeves'
  const server = startServer('http', s.home, { flags: ['--profile', s.profile], locked })
  const sse = s.over === 'SSE'
  try {
    await waitReady(server)
    s.url = new URL(`http://127.0.0.1:${server.port}/${sse ? 'sse' : 'mcp'}`)
    s.token = locked ? { authorization: `Bearer ${tokens(s.home).get('default')}` } : {}
    s.transport = sse ? s.sdk.sse(s.url, s.token) : s.sdk.http(s.url, s.token)
    await s.client.connect(s.transport)
    await session(s)
    if (!sse) await terminated(s)
    await s.client.close()
  } finally {
    server.child.kill('SIGTERM')
    const wrong = await stopped(server)
    must(wrong === '', 'a clean stop', wrong)
  }
}

const [oldest, latest] = [INITIALIZE[0], INITIALIZE.at(-1)]
const both = (sdk, profile, long) => ['stdio', 'HTTP'].map((over) => ({ sdk, profile, over, long }))
const pinned = sdk2(STATELESS, { pin: STATELESS })
const runs = [
  ...INITIALIZE.flatMap((v) => both(sdk1(v), 'focus', v === latest)),
  ...INITIALIZE.flatMap((v) => both(sdk2(v, 'legacy'), 'focus', v === latest)),
  ...both(pinned, 'focus', true),
  ...both(sdk2(STATELESS, 'auto', ', found by a probe,'), 'focus'),
  ...[sdk1(oldest), sdk2(oldest, 'legacy')].map((sdk) => ({ sdk, profile: 'focus', over: 'SSE' })),
  ...[sdk1(latest), sdk2(latest, 'legacy'), pinned].flatMap((sdk) => both(sdk, 'jeeves')),
]
let failed = 0

async function one(s) {
  const sentence = `${s.sdk.name} over ${s.over} in profile ${s.profile}`
  s.home = makeHome()
  s.client = s.sdk.client()
  fs.writeFileSync(path.join(s.home.root, 'a.txt'), 'one\ntwo\n')
  try {
    await (s.over === 'stdio' ? overStdio : overHttp)(s)
    const reports = sanitizerReports(s.home)
    must(reports.length === 0, 'no sanitizer report', reports)
    console.log(`ok - ${sentence}`)
  } catch (e) {
    failed++
    console.log(`not ok - ${sentence}\n# ${String(e.stack).replaceAll('\n', '\n# ')}`)
  }
  removeHome(s.home)
}

const worker = async () => {
  for (let s; (s = runs.shift()); ) await one(s)
}
await Promise.all([worker(), worker(), worker(), worker()]) // mostly they wait
process.exit(failed ? 1 : 0) // a client of a failed session may still wait for something
