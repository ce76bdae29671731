// make-tokens.mjs: writes o200k.bin and unicode.bin beside this file.
//
//     N=$(tests/node) && "$N" data/make-tokens.mjs
//
// o200k.bin: the ranks of gpt-tokenizer (tests/package.json pins it) behind a
// perfect hash: of any bytes it is known with one probe whether they are a
// token, and which. struct table in src/tokens/table.h is its layout.
//
// unicode.bin: the class of every code point, as the pattern of o200k_base
// tells them apart, from the Unicode data of the node that runs this.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const require = createRequire(path.join(here, '../tests/'))
const BUCKETS = 49152
const BLOCK = 14
const SLOTS = 14600 * BLOCK

// --- tokens ---

function readRanks() {
  const folder = path.dirname(path.dirname(require.resolve('gpt-tokenizer')))
  const lines = fs.readFileSync(path.join(folder, 'data/o200k_base.tiktoken'), 'utf8').trim().split('\n')
  return lines.map((line, i) => {
    const [bytes, rank] = line.split(' ')
    if (Number(rank) !== i) throw new Error(`rank ${rank} in line ${i + 1}`)
    return Buffer.from(bytes, 'base64')
  })
}

// The same as hash() in src/tokens/table.h.
const u64 = (x) => BigInt.asUintN(64, x)
function hash(bytes) {
  const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8)
  bytes.copy(padded)
  let h = u64(BigInt(bytes.length) * 0x9e3779b97f4a7c15n)
  for (let at = 0; at < padded.length; at += 8) {
    h = u64((h ^ padded.readBigUInt64LE(at)) * 0xd6e8feb86659fd93n)
    h ^= h >> 32n
  }
  h = u64(h * 0xff51afd7ed558ccdn)
  return h ^ (h >> 29n)
}

// A token's bucket, what a pilot makes its slot from, its tag.
function place(bytes, rank) {
  const h = hash(bytes)
  return {
    rank,
    bucket: Number(((h >> 48n) * BigInt(BUCKETS)) >> 16n),
    base: Number((h >> 16n) & 0xffffffffn),
    tag: Number(h & 255n),
  }
}
function slotOf(p, pilot) {
  const x = Math.imul(p.base ^ Math.imul(pilot, 0x9e3779b1), 0x85ebca6b) >>> 0
  return Math.floor((x * SLOTS) / 0x100000000) // less than 2^53: exact
}

// Pilots, the largest buckets first: each gets the first one that moves all of
// its tokens to places still free.
function findPilots(tokens) {
  const buckets = Array.from({ length: BUCKETS }, () => [])
  tokens.forEach((bytes, rank) => {
    const p = place(bytes, rank)
    buckets[p.bucket].push(p)
  })
  const order = buckets.map((_, i) => i).sort((a, b) => buckets[b].length - buckets[a].length || a - b)
  const slots = new Array(SLOTS).fill(null)
  const pilots = new Uint16Array(BUCKETS)
  for (const b of order) {
    if (buckets[b].length === 0) continue
    let pilot = 0
    for (; pilot < 65536; pilot++) {
      const at = buckets[b].map((p) => slotOf(p, pilot))
      if (at.every((s) => !slots[s]) && new Set(at).size === at.length) break
    }
    if (pilot === 65536) throw new Error(`no pilot for bucket ${b}`)
    pilots[b] = pilot
    for (const p of buckets[b]) slots[slotOf(p, pilot)] = p
  }
  return { pilots, slots }
}

function makeTokens() {
  const tokens = readRanks()
  const { pilots, slots } = findPilots(tokens)
  const blocks = Buffer.alloc((SLOTS / BLOCK) * 32)
  const records = []
  let bytes = 0
  slots.forEach((p, i) => {
    const at = Math.floor(i / BLOCK) * 32
    if (i % BLOCK === 0) blocks.writeUInt32LE(bytes, at)
    const rank = Buffer.alloc(3)
    const token = p ? tokens[p.rank] : Buffer.alloc(0)
    if (p) {
      blocks[at + 4 + (i % BLOCK)] = token.length
      blocks[at + 18 + (i % BLOCK)] = p.tag
      rank.writeUIntLE(p.rank, 0, 3)
    }
    records.push(rank, token)
    bytes += 3 + token.length
  })
  const all = Buffer.concat([Buffer.from(pilots.buffer), blocks, ...records, Buffer.alloc(8)])
  fs.writeFileSync(path.join(here, 'o200k.bin'), all)
  console.log(`o200k.bin: ${tokens.length} tokens, ${bytes} bytes of records, ${all.length} in all, pilots to ${Math.max(...pilots)}`)
}

// --- classes; the order is that of enum class in src/tokens/split.c ---
//
// U+FEFF is white space for JavaScript alone, not for Unicode and OpenAI.

const classes = [/[\p{Lu}\p{Lt}]/u, /\p{Ll}/u, /[\p{Lm}\p{Lo}]/u, /\p{M}/u, /\p{N}/u, /[^\S\r\n\ufeff]/u, /[\r\n]/u]
const classOf = (cp) => {
  if (cp >= 0xd800 && cp < 0xe000) return 0
  return classes.findIndex((re) => re.test(String.fromCodePoint(cp))) + 1
}

function makeUnicode() {
  const index = Buffer.alloc(0x110000 / 128)
  const blocks = new Map()
  for (let b = 0; b < index.length; b++) {
    const block = Buffer.alloc(64)
    for (let i = 0; i < 128; i++) block[i >> 1] |= classOf(b * 128 + i) << (4 * (i & 1))
    const key = block.toString('latin1')
    if (!blocks.has(key)) blocks.set(key, { n: blocks.size, block })
    index[b] = blocks.get(key).n
  }
  if (blocks.size > 256) throw new Error(`${blocks.size} blocks`)
  const filled = Array.from({ length: 256 - blocks.size }, () => Buffer.alloc(64))
  const all = Buffer.concat([index, ...[...blocks.values()].map((b) => b.block), ...filled])
  fs.writeFileSync(path.join(here, 'unicode.bin'), all)
  console.log(`unicode.bin: Unicode ${process.versions.unicode}, ${blocks.size} blocks, ${all.length} bytes`)
}

makeTokens()
makeUnicode()
