// seed001.mjs: the pruner's contract, its examples run as it writes them.
//
//     PITH=build/pith node tests/seed001.mjs
//
// The commands of section 10 are taken out of the seed's text and given to a
// shell, with curl and jq: only the port is put in, and in 10.3 the id. Schemas,
// the marker's form, names of fields are those of that text, too; where ../shared
// is not there, that much is skipped. Then what needs two programs: the settings
// that say where it listens, strace as the witness that profile pruner never
// calls out, and one pith as the pruner of another's tools.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPruner } from './pruner_server.mjs'
import { SAN, SLOW, behind, callRpc, killMarked, makeHome, marked, removeHome } from './server.mjs'
import { sanitizerReports, startServer, stopped, until, waitReady } from './server.mjs'

class Skip extends Error {}

const OPTIONS = { max_prune_ratio: 0.75, min_keep_lines: 1, timeout_ms: 1500, annotate_lines: true, include_markers: true }
const PRUNE = { text: 'L1\nL2\nL3\nL4', goal_hint: 'garder L1', source_type: 'docs', options: OPTIONS }

// ---- the seed's text ---------------------------------------------------------

const SEEDS = fileURLToPath(new URL('../../shared/seeds', import.meta.url))
const file = fs.existsSync(SEEDS) && fs.readdirSync(SEEDS).find((f) => f.startsWith('001_'))
const seed = file ? fs.readFileSync(path.join(SEEDS, file), 'utf8') : ''

// The fenced block number n below the heading that starts with `title`.
function block(title, n = 0) {
  if (!seed) throw new Skip('../shared/seeds is not there')
  const below = seed.slice(seed.search(new RegExp(`^#+ ${title}`, 'm'))).replace(/^#+ .*\n/, '')
  const blocks = [...below.split(/^#{1,3} /m)[0].matchAll(/^```\w*\n(.*?)^```$/gms)]
  assert(blocks[n], `the seed has a block ${n} below ${title}`)
  return blocks[n][1]
}

// One of its commands, as a shell runs it; gives what it prints. What is put in
// must be there.
function shell(server, command, put = {}) {
  for (const [from, to] of Object.entries({ ':8006/': `:${server.port}/`, ...put })) {
    assert.equal(command.split(from).length, 2, `${from} stands once in ${command}`)
    command = command.replace(from, to)
  }
  const got = spawnSync('sh', ['-c', command], { env: { PATH: process.env.PATH }, timeout: 20000 * SLOW, encoding: 'utf8' })
  assert.equal(got.status, 0, `${command}: ${got.stderr}`)
  assert.equal(got.stderr, '')
  return got.stdout
}

const json = (...args) => JSON.parse(shell(...args))

// The same fields, in all depths; of lists the first member's.
function sameFields(got, example, where) {
  if (Array.isArray(example)) return got.forEach((g, i) => sameFields(g, example[0], `${where}[${i}]`))
  assert.equal(typeof got, typeof example, where)
  if (example === null || typeof example !== 'object') return
  assert.deepEqual(Object.keys(got), Object.keys(example), where)
  for (const key of Object.keys(example)) sameFields(got[key], example[key], `${where}.${key}`)
}

// Kept lines are the text's with their numbers, gaps are markers that say what
// their annotations say, and nothing is missing.
function checkPruned(answer, { text, options }) {
  const lines = text.split('\n')
  const form = new RegExp(block('6.2', 1).trim())
  const gaps = [...answer.annotations]
  let next = 1
  for (const line of answer.pruned_text.split('\n')) {
    const m = form.exec(line)?.groups
    if (!m) {
      assert.equal(line, `${next}│ ${lines[next - 1]}`)
      next++
      continue
    }
    const gap = gaps.shift()
    assert.equal(line, gap.marker)
    assert.deepEqual([m.prune_id, +m.start, +m.end, +m.count, m.reason], [
      answer.prune_id, gap.original_start_line, gap.original_end_line, gap.pruned_line_count, gap.reason,
    ])
    assert.deepEqual([gap.kind, +m.start, +m.count], ['pruned_block', next, m.end - m.start + 1])
    next = +m.end + 1
  }
  assert.deepEqual([next, gaps], [lines.length + 1, []])
  const gone = answer.annotations.reduce((n, gap) => n + gap.pruned_line_count, 0)
  const { original_lines, kept_lines, pruned_lines, pruned_ratio, used_fallback } = answer.stats
  assert.deepEqual([original_lines, kept_lines, pruned_lines], [lines.length, lines.length - gone, gone])
  assert.equal(pruned_ratio, gone / lines.length)
  assert(pruned_ratio <= options.max_prune_ratio && kept_lines >= options.min_keep_lines)
  assert(!used_fallback && answer.warnings.length === 0)
}

// ---- servers -----------------------------------------------------------------

const freePort = () =>
  new Promise((done) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => done(port))
    })
  })

async function end(server, pid = server.pid) {
  if (server.kind === 'http') process.kill(pid, 'SIGTERM')
  else server.child.stdin.end()
  const wrong = await stopped(server)
  assert.equal(wrong, '')
  assert.deepEqual(sanitizerReports(server.home), [])
}

async function withHome(use) {
  const home = makeHome()
  try {
    await use(home)
  } finally {
    killMarked(home.mark)
    removeHome(home)
  }
}

// `pith serve --profile pruner` without a --port, and that environment.
async function startByEnv(home, env) {
  const server = startServer('stdio', home, { verb: 'serve', flags: ['--profile', 'pruner'], env })
  server.kind = 'http' // how it is ended
  await waitReady(server)
  return server
}

const startPort = async (home) => startByEnv(home, { MCP_PRUNER_PORT: `${await freePort()}` })

const get = (host, port) =>
  new Promise((done) => {
    const req = http.get({ host, port, path: '/health', agent: false }, (res) => {
      res.resume()
      res.on('end', () => done(res.statusCode))
    })
    req.on('error', (e) => done(e.code))
  })

// ---- strace ------------------------------------------------------------------

// Is this process allowed to trace another? Without strace that is a failure.
function mayTrace() {
  const got = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (got.error) throw got.error
  if (got.status !== 0) throw new Skip(`strace may not trace here: ${got.stderr.trim().split('\n')[0]}`)
}

// Run pith under strace; gives the calls by which it could reach a network, a
// line each. Without io_uring: libuv would then do some where strace is blind; it
// has one ring all the same, of 256 entries, that only takes epoll_ctl.
async function traced(kind, flags, use) {
  mayTrace()
  let calls
  await withHome(async (home) => {
    const trace = path.join(home.dir, 'trace')
    const exe = behind(home, `strace -f -e trace=network,io_uring_setup -o ${trace}`)
    const env = { UV_USE_IO_URING: '0' }
    if (SAN) env.ASAN_OPTIONS = `log_path=${home.dir}/san/report:exitcode=99:detect_leaks=0` // it would trace, too
    const server = startServer(kind, home, { exe, flags, env })
    if (kind === 'http') await waitReady(server)
    await use(server)
    const pith = marked(home.mark).find((p) => p.parent === server.pid)
    await end(server, pith.pid)
    const lines = fs.readFileSync(trace, 'utf8').split('\n')
    assert(lines.some((l) => new RegExp(`^${pith.pid} +\\+{3} exited with 0`).test(l)), `strace saw its end: ${lines.at(-2)}`)
    calls = lines.map((l) => l.replace(/^\d+ +/, '')).filter((l) => /^(\w+\(|<\.\.\. )/.test(l))
    calls = calls.filter((l) => !/^io_uring_setup\(256, \{flags=(0|IORING_SETUP_NO_SQARRAY),/.test(l))
  })
  return calls
}

// A tool over stdio; gives its result.
async function callStdio(server, id, name, args) {
  server.child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }) + '\n')
  const answer = () => server.out.map((line) => JSON.parse(line)).find((m) => m.id === id)
  const got = await until(10000 * SLOW, () => answer() || server.end)
  assert(got?.result, `${name}: ${JSON.stringify(got)} ${server.err}`)
  return got.result
}

const recovery = (prune_id) => ({ prune_id, ranges: [{ start_line: 1, end_line: 9 }], include_line_numbers: false })

// ---- one pith prunes for another ---------------------------------------------

function bigFile(home) {
  const functions = Array.from({ length: 120 }, (_, i) => `def step_${i}(queue):\n    item = queue.take(${i})\n    return item.size * ${i}\n`)
  functions[70] = 'def reconnect(socket):\n    # the retry delay doubles until it is a minute\n    delay = min(2 * socket.delay, 60)\n    return socket.open(delay)\n'
  fs.writeFileSync(path.join(home.root, 'big.py'), functions.join('\n'))
  return functions.join('\n')
}

// Lines of an answer stand in the text in that order; gives how many others, "~33", it counts.
function inOrder(answer, text) {
  const lines = text.split('\n')
  let gone = 0
  for (const line of answer.split('\n')) {
    const mark = /^~(\d+)$/.exec(line)
    gone += mark ? +mark[1] : 0
    lines.splice(0, mark ? +mark[1] : lines[0] === line ? 1 : lines.length + 1)
  }
  assert.equal(lines.length, 0, 'every line is there or counted')
  return gone
}

const QUESTION = { context_focus_question: 'how long is the retry delay of a reconnect?' }

async function asksIts(pruner, jeeves, text) {
  const call = async (id, name, args) => (await callStdio(jeeves, id, name, { ...args, ...QUESTION })).structuredContent
  const read = await call(1, 'read', { path: 'big.py' })
  assert(read.pruning.applied && read.pruning.pruned_bytes < text.length / 2, JSON.stringify(read.pruning))
  assert(read.content.includes('delay = min(2 * socket.delay, 60)') && inOrder(read.content, text) > 200, read.content)
  const bash = await call(2, 'bash', { cmd: 'cat big.py; echo "no delay" >&2' })
  assert(bash.pruning.applied && inOrder(bash.stdout, text) > 200 && bash.stderr === 'no delay\n', JSON.stringify(bash))
  const grep = await call(3, 'grep', { pattern: 'e', paths: ['big.py'] })
  const lines = text.split('\n')
  assert(grep.pruning.applied && grep.matches.length < grep.match_count / 2, JSON.stringify(grep.pruning))
  assert(grep.matches.every((m) => lines[m.line - 1] === m.text) && grep.matches.some((m) => m.text.includes('socket.delay')))
  await end(pruner)
  const raw = await call(4, 'read', { path: 'big.py' })
  assert(raw.content === text && raw.pruning.fallback && raw.pruning.reason === 'pruner_error', JSON.stringify(raw.pruning))
}

// ---- all ---------------------------------------------------------------------

const tests = {
  'the commands of section 10 print what the contract says, before a restart and after it': () =>
    withHome(async (home) => {
      const commands = ['10.1', '10.2', '10.3'].map((title) => block(title))
      const first = await startPort(home)
      const { tools } = json(first, commands[0]).result
      assert.deepEqual(tools.map((t) => t.name), ['prune_text', 'recover_text', 'health'])
      assert.deepEqual(tools[0].inputSchema, JSON.parse(block('.prune_text.inputSchema')))
      assert.deepEqual(tools[1].inputSchema, JSON.parse(block('.recover_text.inputSchema')))

      const printed = shell(first, commands[1])
      const answer = JSON.parse(printed)
      sameFields(answer, JSON.parse(block('4.1', 1)), 'prune_text')
      checkPruned(answer, PRUNE)
      assert(answer.pruned_text.startsWith('1│ L1\n⟦PRUNÉ: '), answer.pruned_text)

      const put = { 'prn_...': answer.prune_id }
      const recovered = json(first, commands[2], put)
      const metadata = { prune_id: answer.prune_id, ranges: [{ start_line: 1, end_line: 50 }], line_numbering: 'original' }
      assert.deepEqual(recovered, { raw_text: '1│ L1\n2│ L2\n3│ L3\n4│ L4', metadata })
      await end(first)

      const again = await startPort(home)
      assert.deepEqual(json(again, commands[2], put), recovered)
      const timeless = (text) => text.replace(/"elapsed_ms": \d+/, '')
      assert.equal(timeless(shell(again, commands[1])), timeless(printed))
      await end(again)
    }),
  'an id that is none and GET /health are answered as the examples of the contract': () =>
    withHome(async (home) => {
      const server = await startPort(home)
      const { error } = json(server, block('10.3').split('| jq')[0])
      const example = JSON.parse(block('8.2')).error
      delete error.data.detail // ours beyond that
      assert.deepEqual(error, example)
      const health = json(server, 'curl -sS http://127.0.0.1:8006/health')
      sameFields(health, JSON.parse(block('4.3')), 'health')
      assert.deepEqual(health.capabilities, JSON.parse(block('4.3')).capabilities)
      await end(server)
    }),
  'MCP_PRUNER_HOST and MCP_PRUNER_PORT say where it listens, and without them it is 127.0.0.1, port 8006': () =>
    withHome(async (home) => {
      const port = await freePort()
      const server = await startByEnv(home, { MCP_PRUNER_HOST: '127.0.0.2', MCP_PRUNER_PORT: `${port}` })
      assert.equal(server.port, port)
      assert.equal(await get('127.0.0.2', port), 200)
      assert.equal(await get('127.0.0.1', port), 'ECONNREFUSED')
      await end(server)

      const taken = (await get('127.0.0.1', 8006)) !== 'ECONNREFUSED'
      const plain = startServer('stdio', home, { verb: 'serve', flags: ['--profile', 'pruner'] })
      plain.kind = 'http'
      if (taken) {
        await plain.exited // somebody else's: it must have wanted that one
        assert.match(plain.err, /port 8006 on 127\.0\.0\.1 is taken/)
      } else {
        await waitReady(plain)
        assert.deepEqual([plain.port, await get('127.0.0.1', 8006)], [8006, 200])
        await end(plain)
      }
    }),
  'profile pruner makes no socket over stdio': async () => {
    const calls = await traced('stdio', ['--profile', 'pruner'], async (server) => {
      const text = (result) => JSON.parse(result.content[0].text)
      const pruned = text(await callStdio(server, 1, 'prune_text', PRUNE))
      const back = text(await callStdio(server, 2, 'recover_text', recovery(pruned.prune_id)))
      assert.equal(back.raw_text, PRUNE.text)
      await callStdio(server, 3, 'health')
    })
    assert.deepEqual(calls, [])
  },
  'profile pruner has one socket over HTTP, its listener, and takes connections but makes none': async () => {
    const calls = await traced('http', ['--profile', 'pruner'], async (server) => {
      const { answer } = await callRpc(server, undefined, 'prune_text', PRUNE)
      const back = await callRpc(server, undefined, 'recover_text', recovery(answer.prune_id))
      assert.equal(back.answer.raw_text, PRUNE.text)
      await callRpc(server, undefined, 'health')
      assert.equal(await get('127.0.0.1', server.port), 200)
    })
    const served = ['bind', 'listen', 'accept', 'accept4', 'getsockname', 'getpeername', 'setsockopt', 'getsockopt']
    const allowed = ['socket', ...served, 'recvfrom', 'recvmsg', 'sendto', 'sendmsg', 'shutdown']
    const name = (call) => /^(?:<\.\.\. )?(\w+)/.exec(call)[1]
    assert.deepEqual(calls.filter((c) => !allowed.includes(name(c))), [])
    const sockets = calls.filter((c) => c.startsWith('socket('))
    assert(sockets.length === 1 && sockets[0].startsWith('socket(AF_INET, SOCK_STREAM'), sockets.join('\n'))
    assert(calls.some((c) => /^bind\(.*"127\.0\.0\.1"/.test(c)) && calls.some((c) => name(c).startsWith('accept')), calls.join('\n'))
    const named = calls.filter((c) => /sa_family=/.test(c)) // an address in send… would be somebody to call
    assert.deepEqual(named.filter((c) => !served.includes(name(c)) || !/AF_INET.*"127\.0\.0\.1"/.test(c)), [])
  },
  'a profile that is told to ask a pruner is seen to connect': async () => {
    const pruner = await startPruner('ok')
    try {
      const calls = await traced('stdio', ['--profile', 'focus', '--pruner', pruner.url], async (server) => {
        fs.writeFileSync(path.join(server.home.root, 'a.txt'), 'keep this\nnot that\n')
        await callStdio(server, 1, 'read', { path: 'a.txt', context_focus_question: 'what is kept?' })
      })
      assert(calls.some((c) => c.startsWith('connect(')), calls.join('\n'))
    } finally {
      await pruner.close()
    }
  },
  'a Jeeves installation whose JEEVES_PRUNER_ENDPOINT is the /prune of pith has its outputs pruned there': () =>
    withHome((home) =>
      withHome(async (other) => {
        const text = bigFile(home)
        for (const byFlag of [false, true]) {
          const pruner = startServer('http', other, { flags: ['--profile', 'pruner'] })
          await waitReady(pruner)
          const url = `http://127.0.0.1:${pruner.port}/prune`
          const flags = ['--profile', 'jeeves', ...(byFlag ? ['--pruner', url] : [])]
          const jeeves = startServer('stdio', home, { flags, env: byFlag ? {} : { JEEVES_PRUNER_ENDPOINT: url } })
          await asksIts(pruner, jeeves, text)
          await end(jeeves)
        }
      }),
    ),
}

for (const [sentence, test] of Object.entries(tests)) {
  try {
    await test()
    console.log(`ok - seed001: ${sentence}`)
  } catch (e) {
    if (e instanceof Skip) {
      console.log(`skip - seed001: ${sentence} (${e.message})`)
      continue
    }
    console.log(`not ok - seed001: ${sentence}`)
    console.log(`${e.stack}`.replace(/^/gm, '#   '))
    process.exitCode = 1
  }
}
