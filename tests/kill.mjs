// kill.mjs: a pruner that is killed with -9, again and again, on one store.
//
//     SEED=1 PITH=build/pith node tests/kill.mjs
//
// Each round starts `pith serve --profile pruner`, asks for the texts that the
// last one promised, has several clients prune others over /rpc, and kills it
// at a moment of chance: while it starts, opens its store, prunes, commits or
// answers. An id counts as given out as soon as its letters arrived, even if
// the answer was cut short behind them. At the end all of them are asked for
// once more. The texts and the waits before a kill are those of the seed.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import { PITH, SAN, SLOW, callRpc, killMarked, makeHome, random, removeHome } from './server.mjs'
import { sanitizerReports, serverEnv, sleep, startServer, stopped, waitReady } from './server.mjs'

const SEED = +(process.env.SEED || 1)
const ROUNDS = SAN ? 40 : 200
const CLIENTS = 6
const OPTIONS = { max_prune_ratio: 0.7, min_keep_lines: 1, timeout_ms: 5000, annotate_lines: true, include_markers: true }
const WORDS = 'disk full retry timeout é€😀 "quoted" back\\slash tab\there return\r null ⟦PRUNÉ⟧ 120│ ok'.split(' ')

const rnd = random(SEED)
const promised = new Map() // id -> text, of every answer
const wrong = []
let late = [] // ids of the round that was killed last
let texts = 0
let cut = 0 // calls that a kill ended

// Text n: from a line to some 60 KB, the same for the same n; each fifth is one
// that was sent a moment ago.
function makeText(n) {
  const which = n % 5 === 4 ? n - 4 : n
  const one = random(which)
  const lines = 1 + one(one(10) === 0 ? 1200 : 60)
  const line = () => Array.from({ length: 1 + one(9) }, () => WORDS[one(WORDS.length)] + one(1000)).join(' ')
  return `text ${which}\n` + Array.from({ length: lines }, line).join('\n') + (one(2) ? '\n' : '')
}

async function prune(server, agent) {
  const text = makeText(texts++)
  const args = { text, goal_hint: 'why is the disk full', source_type: 'logs', options: OPTIONS }
  const got = await callRpc(server, agent, 'prune_text', args)
  const id = /"prune_id\\":\\"(prn_[a-z2-7]{26})/.exec(got.text)?.[1]
  if (got.error || got.answer?.warnings.length) wrong.push(`no pruning: ${got.text.slice(0, 300)}`)
  if (id) {
    promised.set(id, text)
    late.push(id)
  }
  return got.answer !== undefined
}

// Each of these ids, several at once.
async function recover(server, agent, ids) {
  const todo = [...ids]
  const client = async () => {
    for (let id; (id = todo.pop()); ) {
      const args = { prune_id: id, ranges: [{ start_line: 1, end_line: 1e6 }], include_line_numbers: false }
      const got = await callRpc(server, agent, 'recover_text', args)
      if (got.answer?.raw_text !== promised.get(id)) wrong.push(`${id} is lost: ${got.text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

function start(home) {
  const server = startServer('http', home, { flags: ['--profile', 'pruner'] })
  return { server, agent: new http.Agent({ keepAlive: true }) }
}

async function killRound(home, round) {
  const { server, agent } = start(home)
  let clients = []
  let dying = false
  if (round % 10 === 0) {
    await sleep(rnd(6)) // it may not even listen yet
  } else {
    await waitReady(server)
    await recover(server, agent, late)
    late = []
    clients = Array.from({ length: CLIENTS }, async () => {
      while (await prune(server, agent));
      cut++
      if (!dying) wrong.push(`round ${round}: a call had no answer before the kill`)
    })
    await sleep(rnd(50 * SLOW))
  }
  dying = true
  server.child.kill('SIGKILL')
  const how = await server.exited
  if (how.signal !== 'SIGKILL') wrong.push(`round ${round}: it ended with ${JSON.stringify(how)} ${server.err}`)
  await Promise.all(clients)
  agent.destroy()
}

async function killRounds(home) {
  for (let round = 1; round <= ROUNDS && wrong.length === 0; round++) await killRound(home, round)
  const { server, agent } = start(home)
  await waitReady(server)
  await recover(server, agent, promised.keys())
  agent.destroy()
  if (promised.size < 2 * ROUNDS || cut < ROUNDS) wrong.push(`only ${promised.size} ids, ${cut} calls cut`)
  say(wrong, `after each of ${ROUNDS} kill -9 every id that was given out brings its text back byte for byte`)
  console.log(`note: kill: ${promised.size} ids, ${cut} calls cut, in ${ROUNDS} rounds${SAN ? ' (200 without sanitizers)' : ''}`)
  return server
}

async function wayOut(server, home) {
  server.child.kill('SIGTERM')
  const bad = [await stopped(server), ...sanitizerReports(home)]
  const files = fs.readdirSync(home.store).join()
  if (files !== 'store.db') bad.push(`in the store: ${files}`)
  const shown = spawnSync(PITH, ['store', '--store', home.store], { env: serverEnv(home), encoding: 'utf8' })
  if (shown.status !== 0 || !(/under (\d+) ids/.exec(shown.stdout)?.[1] >= promised.size))
    bad.push(`${promised.size} ids were given out, but pith store: ${shown.stdout}${shown.stderr}`)
  say(bad.filter(Boolean), 'no process or file of the killed is left, and their store opens')
}

function say(bad, sentence) {
  console.log(`${bad.length ? 'not ok' : 'ok'} - kill: ${sentence}`)
  for (const w of bad.slice(0, 20)) console.log(w.replace(/^/gm, '#   '))
  if (bad.length) process.exitCode = 1
}

const home = makeHome()
try {
  await wayOut(await killRounds(home), home)
} finally {
  killMarked(home.mark)
  removeHome(home)
}
