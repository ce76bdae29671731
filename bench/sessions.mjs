// sessions.mjs: what sessions and their streams cost a server, in KB of its RSS.
//
//     node sessions.mjs streams URL PID TOKEN 500        idle GET streams, one a session
//     node sessions.mjs abandon URL PID TOKEN 10000 10   sessions that nobody comes back to, and
//                                                        that expire after 10 s
//
// Prints one JSON object; {"error":…} where the server has none of that. The
// server is warmed up first, so that what it makes once is not counted.
import fs from 'node:fs'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , what, url, pid, token, count, idle_s] = process.argv
const WARM = 32
const SETTLE_MS = 500
const BACK_MS = 5000 // until expired sessions must have given back their memory
const headers = {
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
}

const rss = () => +/^Rss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]

// Gives the response; its body is read unless `leave`.
function ask(method, agent, more, body, leave = false) {
  return new Promise((done, fail) => {
    const req = http.request(url, { method, agent, headers: { ...headers, ...more } }, (res) => {
      if (leave) return done(res)
      res.resume().on('end', () => done(res))
    })
    req.on('error', fail)
    req.end(body && JSON.stringify({ jsonrpc: '2.0', ...body }))
  })
}

async function openSession(agent) {
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const res = await ask('POST', agent, {}, { id: 0, method: 'initialize', params })
  const id = res.headers['mcp-session-id']
  if (!id) throw new Error(`initialize gave ${res.statusCode} and no Mcp-Session-Id`)
  const more = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': '2025-11-25' }
  await ask('POST', agent, more, { method: 'notifications/initialized' })
  return more
}

// n sessions over a few connections, which are closed afterwards.
async function openSessions(n) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
  const all = []
  const worker = async () => {
    while (all.length < n) {
      const slot = all.push(null) - 1
      all[slot] = await openSession(agent)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  agent.destroy()
  return all
}

// The session's own stream, on a connection of its own.
async function openStream(session) {
  const res = await ask('GET', new http.Agent(), session, undefined, true)
  if (res.statusCode !== 200) throw new Error(`GET gave ${res.statusCode}`)
  res.on('data', () => {}).on('error', () => {})
  return res
}

async function openStreams(sessions) {
  const streams = []
  for (const s of sessions) streams.push(await openStream(s))
  return streams
}

async function warmUp() {
  const sessions = await openSessions(WARM)
  if (what === 'streams') for (const s of await openStreams(sessions)) s.destroy()
  for (const s of sessions) await ask('DELETE', undefined, s)
  await sleep(SETTLE_MS)
  return rss()
}

async function streams(n) {
  const before = await warmUp()
  const sessions = await openSessions(n)
  await sleep(SETTLE_MS)
  const between = rss()
  const open = await openStreams(sessions)
  await sleep(SETTLE_MS)
  const after = rss()
  const alive = open.filter((s) => !s.destroyed).length
  if (alive !== n) throw new Error(`only ${alive} of ${n} streams are still open`)
  return { stream_kb: (after - between) / n, both_kb: (after - before) / n }
}

async function abandon(n) {
  const before = await warmUp()
  const sessions = await openSessions(n)
  const peak = rss()
  const first = await ask('POST', undefined, sessions[0], { id: 1, method: 'ping' })
  if (first.statusCode !== 200) throw new Error('the first had expired before the last was open')
  await sleep(idle_s * 1500)
  const late = Date.now() + BACK_MS
  while (rss() > before * 1.1 && Date.now() < late) await sleep(500)
  const after = rss()
  const gone = await ask('POST', undefined, sessions[n - 1], { id: 1, method: 'ping' })
  if (gone.statusCode !== 404) throw new Error(`an abandoned session answers ${gone.statusCode}`)
  return { before_kb: before, peak_kb: peak, after_kb: after }
}

try {
  console.log(JSON.stringify(await (what === 'streams' ? streams : abandon)(+count)))
} catch (e) {
  console.log(JSON.stringify({ error: e.message }))
}
process.exit()
