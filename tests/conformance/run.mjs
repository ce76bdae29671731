// run.mjs: the official conformance suites against pith-conformance.
//
//     $(tests/node) tests/conformance/run.mjs        (what `make test` does)
//     $(tests/node) tests/conformance/run.mjs 0.1    only suites whose name has it
//
// Each suite has a server of its own, so all run at once. A scenario is one
// test, and passes when every check of it was made and succeeded: a warning is
// a failure, and so is a check that the suite left out because the server did
// not give it the occasion, unless `excused` says why that is right.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { SLOW, makeHome, removeHome, sanitizerReports, startServer, stopped, waitReady, within } from '../server.mjs'

const EXE = path.resolve(process.env.B || 'build', 'pith-conformance')
const LIMIT = 40000 * SLOW
const require = createRequire(import.meta.url)

// `scenarios`: how many there are, so that none gets lost.
const suites = [
  { name: '0.1.16, all', from: 'conformance-0.1', args: ['--suite', 'all'], scenarios: 32 },
  { name: '0.2.0-alpha.12, 2025-11-25', from: 'conformance-0.2', args: ['--requirements', '2025-11-25'], scenarios: 33 },
  { name: '0.2.0-alpha.12, 2026-07-28', from: 'conformance-0.2', args: ['--requirements', '2026-07-28'], scenarios: 50 },
]

// Scenarios not scored by the suite that are not aimed at: told, not counted.
const later = [[/^tasks-/, 'the tasks extension (io.modelcontextprotocol/tasks) is not spoken yet']]

// Checks that may be left out.
const excused = {
  'server-sse-streams-functional': 'tools/list is answered at once, as JSON: a stream is optional',
}

const cut = (text) => (text.length > 700 ? `${text.slice(0, 700)} …` : text)

// What is wrong with a check; undefined: nothing. A trace of what happened on
// the wire is no check: it refers to no part of the specification.
function fault(check) {
  const { id, status } = check
  if (status === 'SUCCESS' || (status === 'INFO' && !check.specReferences) || id in excused) return
  const why = check.errorMessage ?? check.details?.message ?? check.details?.note ?? check.description
  return `${id}: ${status}: ${cut(String(why))}`
}

// The results of each scenario are checks.json in a folder named after it.
function readResults(dir) {
  const results = new Map()
  for (const folder of fs.readdirSync(dir).sort()) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1] ?? folder
    results.set(scenario, JSON.parse(fs.readFileSync(path.join(dir, folder, 'checks.json'), 'utf8')))
  }
  return results
}

const comment = (text) => `# ${text.trim().replaceAll('\n', '\n# ')}`

// What is wrong with a scenario, a line each.
function faultsOf(checks) {
  const faults = checks.map(fault).filter(Boolean)
  if (!checks.some((c) => c.status === 'SUCCESS')) faults.push('nothing was checked')
  return faults
}

function report(suite, results) {
  for (const [which, why] of later) {
    const names = [...results.keys()].filter((scenario) => which.test(scenario))
    const failing = names.filter((scenario) => faultsOf(results.get(scenario)).length > 0)
    for (const scenario of names) results.delete(scenario)
    if (names.length) console.log(`note: conformance ${suite.name}: not counted, ${failing.length} of ${names.length} fail: ${why}: ${names.join(', ')}`)
  }
  for (const [scenario, checks] of results) {
    const faults = faultsOf(checks)
    console.log(`${faults.length ? 'not ok' : 'ok'} - conformance ${suite.name}: ${scenario}`)
    for (const f of faults) console.log(comment(f))
  }
}

// Run the suite; gives what it wrote, and how it ended if that was not by itself.
async function runSuite(suite, port, dir) {
  const script = path.join(path.dirname(require.resolve(`${suite.from}/package.json`)), 'dist/index.js')
  const args = [script, 'server', '--url', `http://127.0.0.1:${port}/mcp`, ...suite.args, '-o', dir]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (t) => (out += t))
  child.stderr.setEncoding('utf8').on('data', (t) => (out += t))
  const ended = new Promise((done) => child.on('close', (code, signal) => done({ code, signal })))
  const how = await within(LIMIT, ended)
  if (!how) {
    child.kill('SIGKILL')
    await ended
  }
  return { out, wrong: how ? '' : `the suite took longer than ${LIMIT / 1000} s\n` }
}

async function run(suite) {
  const home = makeHome()
  const server = startServer('http', home, { exe: EXE, flags: ['--profile', 'conformance'] })
  const dir = path.join(home.dir, 'results')
  let wrong = ''
  try {
    fs.mkdirSync(dir)
    await waitReady(server)
    const ran = await runSuite(suite, server.port, dir)
    const results = readResults(dir)
    wrong += ran.wrong
    if (results.size !== suite.scenarios)
      wrong += `${results.size} scenarios were run, not ${suite.scenarios}\n${ran.out.split('\n').slice(-10).join('\n')}\n`
    report(suite, results)
  } catch (e) {
    wrong += `${e.message}\n`
  }
  server.child.kill('SIGTERM')
  wrong += await stopped(server)
  wrong += sanitizerReports(home).join('\n')
  removeHome(home)
  console.log(`${wrong ? 'not ok' : 'ok'} - conformance ${suite.name}: all scenarios run, and the server ends well`)
  if (wrong) console.log(comment(wrong))
}

const word = process.argv[2] ?? ''
await Promise.all(suites.filter((s) => s.name.includes(word)).map(run))
