// pruner_server.mjs: a pruning service that misbehaves in one chosen way.
//
//     node tests/pruner_server.mjs MODE      prints its URL, serves until killed
//
// It speaks seed 000's outbound contract: { output, output_bytes } for
// { request_id, tool, focus_question, input, input_bytes, max_output_bytes? }.
// Where it answers well, it keeps the lines that hold the word "keep".
import http from 'node:http'
import { pathToFileURL } from 'node:url'

const JSON_TYPE = { 'Content-Type': 'application/json' }

function pruned(body) {
  const lines = body.input.split('\n').filter((line) => line.includes('keep'))
  return lines.length ? lines.join('\n') + '\n' : ''
}

function answer(output) {
  return JSON.stringify({ output, output_bytes: Buffer.byteLength(output) })
}

// One function a mode: (body of the request, response).
const modes = {
  ok: (body, res) => res.writeHead(200, JSON_TYPE).end(answer(pruned(body))),
  chunked: (body, res) => {
    res.writeHead(200, JSON_TYPE)
    for (const c of Buffer.from(answer(pruned(body)))) res.write(Buffer.of(c))
    res.end()
  },
  slow: (body, res) => setTimeout(() => modes.ok(body, res), 20000).unref(),
  trickle: (body, res) => {
    res.writeHead(200, JSON_TYPE)
    const timer = setInterval(() => res.write(' '), 30)
    res.on('close', () => clearInterval(timer))
  },
  half: (body, res) => {
    const text = answer(pruned(body))
    res.writeHead(200, { ...JSON_TYPE, 'Content-Length': Buffer.byteLength(text) })
    res.write(text.slice(0, text.length / 2), () => res.socket.destroy())
  },
  hangup: (body, res) => res.socket.destroy(),
  status500: (body, res) => res.writeHead(500, JSON_TYPE).end(answer(pruned(body))),
  notjson: (body, res) => res.writeHead(200, JSON_TYPE).end('keep calm'),
  array: (body, res) => res.writeHead(200, JSON_TYPE).end('[]'),
  empty: (body, res) => res.writeHead(200, JSON_TYPE).end(),
  missing: (body, res) => res.writeHead(200, JSON_TYPE).end('{"output_bytes":4}'),
  types: (body, res) => res.writeHead(200, JSON_TYPE).end('{"output":7,"output_bytes":"7"}'),
  larger: (body, res) => res.writeHead(200, JSON_TYPE).end(answer(body.input + 'keep me too\n')),
  foreign: (body, res) => res.writeHead(200, JSON_TYPE).end(answer('z:1:x\n')),
  nothing: (body, res) => res.writeHead(200, JSON_TYPE).end(answer('')),
  huge: (body, res) => {
    const piece = Buffer.alloc(1 << 20, 'x')
    res.writeHead(200, JSON_TYPE).write('{"output":"')
    const more = () => {
      while (!res.destroyed && res.write(piece));
      if (!res.destroyed) res.once('drain', more)
    }
    more()
  },
  redirect: (body, res) => res.writeHead(307, { Location: '/elsewhere' }).end(),
}

export const MODES = [...Object.keys(modes), 'gone', 'nottls']

// Start one; gives { url, requests, elsewhere, close }.
export async function startPruner(mode) {
  if (!MODES.includes(mode)) throw new Error(`no pruner mode '${mode}': ${MODES.join(' ')}`)
  const pruner = { requests: [], elsewhere: 0 }
  const server = http.createServer(async (req, res) => {
    const parts = []
    res.on('error', () => {})
    for await (const part of req) parts.push(part)
    const text = Buffer.concat(parts).toString('utf8')
    let body
    try {
      body = JSON.parse(text)
    } catch {}
    if (req.url === '/elsewhere') pruner.elsewhere++
    pruner.requests.push({ method: req.method, url: req.url, type: req.headers['content-type'], body, text })
    if (req.url === '/elsewhere') modes.ok(body, res)
    else modes[mode](body, res)
  })
  server.on('clientError', (e, socket) => socket.destroy())
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  pruner.url = `${mode === 'nottls' ? 'https' : 'http'}://127.0.0.1:${server.address().port}/prune`
  pruner.close = () => {
    server.closeAllConnections?.()
    return new Promise((done) => server.close(done))
  }
  if (mode === 'gone') await pruner.close() // nobody listens there
  return pruner
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const pruner = await startPruner(process.argv[2] ?? 'ok')
  console.log(pruner.url)
}
