// sdk.mjs: the official MCP client completes sessions, over stdio and HTTP.
//
// Run it by `$(tests/node) tests/sdk.mjs`: that installs what is imported here.
import fs from 'node:fs'
import path from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { PITH, leftBehind, makeHome, removeHome, sanitizerReports, serverEnv } from './server.mjs'
import { startServer, stopped, waitReady } from './server.mjs'

function must(ok, what, got) {
  if (!ok) throw new Error(`${what}; got ${JSON.stringify(got)}`)
}

const text = (result) => result.content.map((c) => c.text).join('')

// What both profiles must do for a client that knows nothing about them.
async function session(client, profile) {
  const jeeves = profile === 'jeeves'
  const name = client.getServerVersion().name
  must(name === (jeeves ? '@jeeves/mcp-pruner' : 'pith'), 'server name', name)
  must(client.getServerCapabilities().tools, 'tools capability', client.getServerCapabilities())

  const { tools } = await client.listTools()
  const names = tools.map((t) => t.name)
  for (const tool of ['read', 'bash', 'grep']) must(names.includes(tool), `${tool} listed`, names)
  must(tools.every((t) => t.description && t.inputSchema.type === 'object'), 'schemas', tools)

  const read = await client.callTool({ name: 'read', arguments: { path: 'a.txt' } })
  must(text(read).includes('one\ntwo\n') && !read.isError, 'read', read)
  const bash = await client.callTool({ name: 'bash', arguments: { cmd: 'echo out; echo err >&2; exit 3' } })
  must(text(bash).includes('out\n') && text(bash).includes('err\n'), 'bash', bash)
  const grep = await client.callTool({ name: 'grep', arguments: { pattern: 'tw.', paths: ['.'] } })
  must(text(grep).includes('a.txt:2:two'), 'grep', grep)
  if (jeeves) {
    must(read.structuredContent.content === 'one\ntwo\n', 'structured read', read)
    must(bash.isError && bash.structuredContent.error.exit_code === 3, 'structured bash', bash)
    must(grep.structuredContent.matches.length === 1, 'structured grep', grep)
  } else {
    must(!bash.isError && !bash.structuredContent, 'plain bash', bash)
    must(text(bash).startsWith('exit 3'), 'the status line', bash)
  }
  await client.ping()
  await refused(client, jeeves)
}

// Missing fields: a JSON-RPC error in jeeves, an answer to mend elsewhere.
async function refused(client, jeeves) {
  const call = client.callTool({ name: 'read', arguments: { encoding: 7 } })
  const result = await call.catch((e) => e)
  if (jeeves) must(result.code === -32602 && result.data?.field_errors?.length === 2, '-32602', result)
  else must(result.isError && text(result).includes('path'), 'isError', result)
  const unknown = await client.callTool({ name: 'nosuch', arguments: {} }).catch((e) => e)
  must(unknown.code === -32602, 'an unknown tool', unknown)
}

async function overStdio(home, profile) {
  const transport = new StdioClientTransport({
    command: PITH,
    args: ['stdio', '--root', home.root, '--store', home.store, '--profile', profile],
    env: serverEnv(home),
    stderr: 'pipe',
  })
  const client = new Client({ name: 'sdk-test', version: '1' })
  await client.connect(transport)
  await session(client, profile)
  await client.close()
  const left = await leftBehind({ home })
  must(left === '', 'nothing left behind', left)
}

async function overHttp(home, profile) {
  const server = startServer('http', home, { flags: ['--profile', profile] })
  try {
    await waitReady(server)
    const url = new URL(`http://127.0.0.1:${server.port}/mcp`)
    const client = new Client({ name: 'sdk-test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(url))
    await session(client, profile)
    await client.close()
  } finally {
    server.child.kill('SIGTERM')
    const wrong = await stopped(server)
    must(wrong === '', 'a clean stop', wrong)
  }
}

let failed = 0
for (const [way, run] of [['stdio', overStdio], ['HTTP', overHttp]]) {
  for (const profile of ['focus', 'jeeves']) {
    const home = makeHome()
    fs.writeFileSync(path.join(home.root, 'a.txt'), 'one\ntwo\n')
    const sentence = `the official SDK client completes a session over ${way} in profile ${profile}`
    try {
      await run(home, profile)
      const reports = sanitizerReports(home)
      must(reports.length === 0, 'no sanitizer report', reports)
      console.log(`ok - ${sentence}`)
    } catch (e) {
      failed++
      console.log(`not ok - ${sentence}\n# ${String(e.stack).replaceAll('\n', '\n# ')}`)
    }
    removeHome(home)
  }
}
process.exitCode = failed ? 1 : 0
