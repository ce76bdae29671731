// doors.mjs: the flags that say where a server waits: --socket, --tls-cert and
// --tls-key, --allow-host. What each does on the wire is in the unit tests; here
// the whole program is asked, as a client would, and hears its signals.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { makeHome, removeHome, sanitizerReports, startServer, stopped, until, waitReady } from './server.mjs'

function must(ok, what, got) {
  if (!ok) throw new Error(`${what}; got ${JSON.stringify(got)}`)
}

// GET by http or https, on TCP or a socket; gives { status, text, serial }.
const get = (module, options) =>
  new Promise((done, failed) => {
    const request = module.get({ path: '/healthz', agent: false, timeout: 5000, ...options }, (r) => {
      const serial = r.socket.getPeerCertificate?.().serialNumber
      let text = ''
      r.setEncoding('utf8').on('data', (t) => (text += t))
      r.on('end', () => done({ status: r.statusCode, text, serial }))
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', failed)
  })

const secure = (server, more) => get(https, { host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...more })

function certificate(home, serial) {
  const [cert, key] = ['cert.pem', 'key.pem'].map((f) => path.join(home.dir, f))
  const how = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=localhost', '-days', '1']
  execFileSync('openssl', ['req', '-x509', ...how, '-set_serial', `0x${serial}`, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { cert, key, flags: ['--tls-cert', cert, '--tls-key', key] }
}

// An event of the log, awaited.
const logged = (server, event) =>
  until(5000, () => server.out.map((line) => JSON.parse(line)).find((e) => e.event === event))

async function withServer(flags, ask) {
  const home = makeHome()
  const server = startServer('http', home, { flags: flags(home) })
  try {
    await waitReady(server)
    await ask(server, home)
    server.child.kill('SIGTERM')
    const wrong = await stopped(server)
    must(!wrong, 'a clean end', wrong)
    must(sanitizerReports(home).length === 0, 'no report', sanitizerReports(home)[0])
  } finally {
    server.child.kill('SIGKILL')
    await server.exited
    removeHome(home)
  }
}

// --port 0 and --root are given by startServer; a wrong start must end with 2.
async function refusedStart(flags, why) {
  const home = makeHome()
  const server = startServer('http', home, { flags })
  const { code } = await server.exited
  must(code === 2 && server.err.includes(why), `2 and '${why}'`, [code, server.err])
  removeHome(home)
}

const tests = {
  'pith serves https, and SIGHUP reads the certificate anew': () => {
    let files
    return withServer(
      (home) => (files = certificate(home, 'a1')).flags,
      async (server, home) => {
        must(JSON.parse(server.out[0]).data.tls === true, 'tls in the ready line', server.out[0])
        const first = await secure(server)
        must(first.status === 200 && first.serial === 'A1', 'https', first)
        const plain = await get(http, { host: '127.0.0.1', port: server.port }).catch((e) => e)
        must(plain instanceof Error, 'no plain http', plain)

        certificate(home, 'b2')
        server.child.kill('SIGHUP')
        must(await logged(server, 'tls.reloaded'), 'tls.reloaded', server.out)
        must((await secure(server)).serial === 'B2', 'the new one', '')
        fs.writeFileSync(files.key, 'nothing')
        server.child.kill('SIGHUP')
        const event = await logged(server, 'tls.reload_failed')
        must(event?.level === 'error' && event.data.message.includes('--tls-key'), 'tls.reload_failed', event)
        must((await secure(server)).serial === 'B2', 'still the old one', '')
      },
    )
  },
  'pith serves a unix socket beside TCP, private and gone at the end': async () => {
    let socket
    await withServer(
      (home) => ['--socket', (socket = path.join(home.dir, 'sock'))],
      async (server) => {
        must(JSON.parse(server.out[0]).data.socket === socket, 'socket in the ready line', server.out[0])
        must((fs.statSync(socket).mode & 0o777) === 0o600, 'mode 0600', fs.statSync(socket).mode)
        must((await get(http, { socketPath: socket })).status === 200, 'by the socket', '')
        must((await get(http, { host: '127.0.0.1', port: server.port })).status === 200, 'by TCP', '')
      },
    )
    must(!fs.existsSync(socket), 'no file left', socket)
  },
  'pith serves a unix socket alone': () =>
    withServer(
      (home) => ['--host', 'none', '--socket', path.join(home.dir, 'sock')],
      async (server, home) => {
        must(server.port === 0, 'no port', server.port)
        must((await get(http, { socketPath: path.join(home.dir, 'sock') })).status === 200, 'by the socket', '')
      },
    ),
  'pith takes the names of --allow-host and no others': () =>
    withServer(
      () => ['--allow-host', 'pith.example,other.example'],
      async (server) => {
        const ask = (host, origin) =>
          get(http, { host: '127.0.0.1', port: server.port, headers: { host, ...(origin && { origin }) } })
        must((await ask('other.example:80', 'https://pith.example')).status === 200, 'a name', '')
        must((await ask('evil.example')).status === 403, 'another name', '')
        must((await ask('localhost', 'https://evil.example')).status === 403, 'another origin', '')
        must((await ask('10.0.0.1')).status === 403, 'an address', '')
      },
    ),
  'the banner says where: https, the socket': async () => {
    const home = makeHome()
    const { flags } = certificate(home, 'c3')
    const socket = path.join(home.dir, 'sock')
    const server = startServer('http', home, { flags: ['--log-format', 'text', '--socket', socket, ...flags] })
    await until(5000, () => server.out.some((line) => line.includes('Ctrl-C')) || server.end)
    must(/at https:\/\/127\.0\.0\.1:\d+\/mcp and the socket /.test(server.out[0]), 'the first line', server.out)
    server.child.kill('SIGTERM')
    must(!(await stopped(server)), 'a clean end', '')
    removeHome(home)
  },
  'pith does not start with half of these flags': async () => {
    await refusedStart(['--tls-cert', '/dev/null'], 'go together')
    await refusedStart(['--tls-cert', '/dev/null', '--tls-key', '/nonexistent'], '--tls-key')
    await refusedStart(['--host', 'none'], '--socket')
    await refusedStart(['--host', '0.0.0.0', '--socket', 'x'], 'invalid_host')
  },
}

let bad = 0
for (const [sentence, test] of Object.entries(tests)) {
  try {
    await test()
    console.log(`ok - ${sentence}`)
  } catch (e) {
    bad++
    console.log(`not ok - ${sentence}`)
    for (const line of `${e.message}`.split('\n')) console.log(`# ${line}`)
  }
}
process.exit(bad ? 1 : 0)
