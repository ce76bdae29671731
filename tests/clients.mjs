// clients.mjs: the agents that people use call read and bash, over both doors.
//
//     make test-clients                     CLIENTS='claude codex': only those
//     TAP=1 make test-clients               keeps the bytes on the wire as well
//
// Eight real clients, in the versions that ../shared/clients pins, are installed
// and driven by that harness; a script on loopback answers in the model's place.
// What each of them shows its model is checked, and what pith leaves behind.
// HTTP is tried as it is used: with the token that `pith token` prints.
// The table goes to $B/clients.md, every client's own logs to $B/clients.
// It takes minutes and needs ../shared, so it is no part of `make test`.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { fileURLToPath } from 'node:url'
import { PITH, SLOW, commands, killMarked, makeHome, marked, removeHome } from './server.mjs'
import { sanitizerReports, serverEnv, startServer, stopped, until, waitReady } from './server.mjs'

const B = path.resolve(process.env.B || 'build')
const HARNESS = fileURLToPath(new URL('../../shared/clients', import.meta.url))
const LOGS = path.join(B, 'clients')
const TABLE = path.join(B, 'clients.md')
const CLIENTS = ['claude', 'claude-sdk', 'codex', 'codex-sdk', 'gemini', 'opencode', 'inspector', 'mcporter']
const FULL = { 'claude-sdk': 'claude-agent-sdk' }
const PROGRAMS = ['inspector', 'mcporter'] // no model: one call a run
const chosen = CLIENTS.filter((c) => !process.env.CLIENTS || process.env.CLIENTS.split(/\s+/).includes(c))

// What is called, and what must stand in the answer.
const FILE = 'zuerst: grüße\nthen: two\n'
const CALLS = [
  { check: 'read', tool: 'read', args: { path: 'a.txt' }, want: FILE },
  { check: 'bash', tool: 'bash', args: { cmd: 'echo out; echo err >&2' }, want: /^exit 0\n(?=(.|\n)*^out$)(?=(.|\n)*^err$)/m },
  { check: 'exit 3', tool: 'bash', args: { cmd: 'echo half; exit 3' }, want: /^exit 3\nhalf$/m },
]
const CHECKS = ['listed', ...CALLS.map((c) => c.check), 'client', 'gone', 'log']

const lines = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
const right = (want, text) => (want instanceof RegExp ? want.test(text) : text.includes(want))
const verdict = (want, text) => (text === undefined ? 'no answer' : right(want, text) ? 'ok' : `got ${JSON.stringify(text)}`)

// One run of the harness; gives its exit code. Its words go to a file in `run`.
function drive(client, target, { run, bearer, script, tool = '-', args = {} }) {
  fs.mkdirSync(run, { recursive: true })
  const env = { ...process.env, RUN: run, BEARER: bearer, SCRIPT: script ?? '' }
  const out = fs.openSync(path.join(run, 'harness.out'), 'w')
  const words = [client, target, tool, JSON.stringify(args)]
  const child = spawn(path.join(HARNESS, 'run_client.sh'), words, { env, stdio: ['ignore', out, out] })
  return new Promise((done) => child.on('close', (code) => done(code ?? -1)))
}

// An agent: one conversation, whose model makes all the calls in turn. Agents
// have tools of their own called read and bash, hence the server's name.
async function agent(client, target, bearer, dir) {
  const script = path.join(dir, 'script.json')
  const search = 'read a file, bash: run a shell command'
  const steps = CALLS.map((c) => ({ calls: [{ tool: `srv_+${c.tool}$`, args: c.args, search }] }))
  fs.mkdirSync(dir, { recursive: true })
  fs.writeFileSync(script, JSON.stringify({ steps: [...steps, { text: 'done' }] }))
  const code = await drive(client, target, { run: dir, bearer, script })
  const asked = lines(path.join(dir, 'model.jsonl')).map((l) => JSON.parse(l)).filter((q) => q.api)
  const searched = (r) => /^fm_search/.test(r.id ?? '')
  const last = asked.map((q) => q.results).reduce((a, b) => (b.length > a.length ? b : a), [])
  const texts = last.filter((r) => !searched(r)).map((r) => r.text)
  return { code, tools: asked.flatMap((q) => q.tools), search: last.some(searched), texts }
}

// A program that calls tools by command line: a run for each call.
async function program(client, target, bearer, dir) {
  const seen = { code: 0, tools: [], texts: [] }
  for (const call of CALLS) {
    const run = path.join(dir, call.check.replace(' ', '-'))
    seen.code ||= await drive(client, target, { run, bearer, tool: call.tool, args: call.args })
    try {
      const listed = JSON.parse(fs.readFileSync(path.join(run, 'client.out'), 'utf8'))
      seen.tools = (listed.tools ?? listed.result?.tools).map((t) => `srv_${t.name}`)
      // JSON of the one, a JavaScript literal of the other
      const answer = vm.runInNewContext(`(${fs.readFileSync(path.join(run, 'call.out'), 'utf8')})`)
      seen.texts.push((answer.result ?? answer).content.map((c) => c.text).join(''))
    } catch {
      seen.texts.push(undefined)
    }
  }
  return seen
}

function judge(seen) {
  const row = {}
  const missing = ['read', 'bash'].filter((t) => !seen.tools.some((name) => RegExp(`srv(_+|::)${t}\\b`).test(name)))
  row.listed = missing.length ? `${missing} not listed` : seen.search ? 'ok (found by search)' : 'ok'
  CALLS.forEach((c, i) => (row[c.check] = verdict(c.want, seen.texts[i])))
  row.client = seen.code === 0 ? 'ok' : `exit ${seen.code}`
  return row
}

// The lines at level error, and what a sanitizer wrote.
function logged(home, log) {
  const bad = log.filter((l) => /"level":"error"/.test(l)).concat(sanitizerReports(home))
  return bad.length ? bad.join(' ') : 'ok'
}

const names = (left) => (left.length ? `left: ${left.map((p) => p.name).join(' ')}` : 'ok')
const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`

async function overStdio(client, home, dir) {
  const log = path.join(home.dir, 'log')
  const env = serverEnv(home)
  delete env.HOME // these two are the client's affair
  delete env.PATH
  const words = ['env', ...Object.entries(env).map(([k, v]) => `${k}=${v}`), PITH, 'stdio', '--profile', 'focus']
  words.push('--root', home.root, '--store', home.store, '--log-format', 'json')
  const target = `${words.map(quote).join(' ')} 2>>${quote(log)}`
  const seen = await (PROGRAMS.includes(client) ? program : agent)(client, target, '', dir)
  await until(5000 * SLOW, () => marked(home.mark).length === 0)
  const row = judge(seen)
  row.gone = names(killMarked(home.mark))
  row.log = fs.existsSync(log) ? logged(home, lines(log)) : 'never started'
  return row
}

async function overHttp(client, home, dir) {
  const flags = ['--host', '127.0.0.1', '--profile', 'focus']
  const server = startServer('http', home, { flags, locked: true })
  let row
  try {
    await waitReady(server)
    const url = `http://127.0.0.1:${server.port}/mcp`
    const bearer = execFileSync(PITH, ['token'], { env: serverEnv(home), encoding: 'utf8' }).trim()
    row = judge(await (PROGRAMS.includes(client) ? program : agent)(client, url, bearer, dir))
    await until(5000 * SLOW, () => commands(server).length === 0)
    row.gone = names(commands(server))
  } finally {
    server.child.kill('SIGTERM')
    const wrong = await stopped(server)
    if (row?.gone === 'ok' && wrong) row.gone = wrong.trim()
  }
  row.log = logged(home, [...server.out, ...server.err.split('\n')])
  return row
}

function write(text) {
  fs.mkdirSync(B, { recursive: true })
  fs.writeFileSync(TABLE, text)
  console.log(`\n${text}`)
}

const cell = (text) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 160)
const good = (text) => /^ok\b/.test(text)

async function main() {
  if (!fs.existsSync(path.join(HARNESS, 'run_client.sh')))
    return write('No client was run: ../shared/clients, the harness that drives them, is not there.\n')
  spawnSync(path.join(HARNESS, 'install.sh'), { stdio: 'inherit' }) // what fails here fails below
  fs.rmSync(LOGS, { recursive: true, force: true })
  const table = [['client', 'transport', ...CHECKS], Array(CHECKS.length + 2).fill('---')]
  let failed = 0
  for (const client of chosen) {
    for (const [way, run] of [['stdio', overStdio], ['HTTP', overHttp]]) {
      const home = makeHome()
      fs.writeFileSync(path.join(home.root, 'a.txt'), FILE)
      const row = await run(client, home, path.join(LOGS, `${client}-${way}`)).catch((e) => ({ listed: e.message }))
      removeHome(home)
      const cells = CHECKS.map((c) => row[c] ?? 'not tried')
      if (!cells.every(good)) failed++
      table.push([FULL[client] ?? client, way, ...cells.map(cell)])
      console.log(`${cells.every(good) ? 'ok' : 'NOT OK'} - ${client} over ${way}`)
    }
  }
  const rows = table.length - 2
  const count = `${rows - failed} of ${rows} rows pass${failed ? `; logs in ${path.relative('.', LOGS)}` : ''}.`
  write(`${table.map((r) => `| ${r.join(' | ')} |`).join('\n')}\n\n${count}\n`)
  process.exitCode = failed || !rows ? 1 : 0
}

await main()
