// tokens.mjs: our counts of tokens are gpt-tokenizer's.
//
//     N=$(tests/node) && B=build "$N" tests/tokens.mjs [FILE...]
//
// Real files (those of the repository, headers and documents of the machine),
// and strings made to be odd: all planes of Unicode, marks, white space, long
// runs, emoji sequences. Our side is `tokens_test count`: it reads texts, each
// after its length, and prints a count a line. With files, only those.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

const B = path.resolve(process.env.B || 'build')
const root = path.resolve(import.meta.dirname, '..')
const MOST = 200_000 // bytes of a file; the reference takes square time on long runs

let state = 20260131
function draw(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}
const pick = (list) => list[draw(list.length)]

function ours(texts) {
  const parts = []
  for (const t of texts) {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(t.length)
    parts.push(length, t)
  }
  const out = execFileSync(path.join(B, 'unit/tokens_test'), ['count'], {
    input: Buffer.concat(parts),
    maxBuffer: 1 << 26,
  })
  return out.toString().trim().split('\n').map(Number)
}

// What is not UTF-8 becomes U+FFFD on the way into a string.
const decode = (bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
const theirs = (bytes) => countTokens(decode(bytes), { disallowedSpecial: new Set() })

// gpt-tokenizer loses U+FEFF where it starts a part (its TextDecoder takes it
// for a byte order mark) and counts a token too many: texts go without.
const BOM = Buffer.from('\ufeff')
function withoutBom(bytes) {
  for (let at; (at = bytes.indexOf(BOM)) >= 0; ) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 3)])
  return bytes
}

function compare(sentence, all, least = 1) {
  const texts = all.map(withoutBom)
  const mine = ours(texts)
  const bad = []
  texts.forEach((t, i) => {
    const want = theirs(t)
    if (mine[i] !== want) bad.push(`# ${mine[i]}, not ${want}: ${JSON.stringify(decode(t).slice(0, 120))}`)
  })
  if (texts.length < least) bad.push(`# only ${texts.length} texts`)
  console.log(`${bad.length ? 'not ok' : 'ok'} - ${sentence}`)
  for (const line of bad.slice(0, 10)) console.log(line)
  if (bad.length) {
    console.log(`# ${bad.length} of ${texts.length} differ`)
    process.exitCode = 1
  } else console.log(`# ${texts.length} texts, ${texts.reduce((a, t) => a + t.length, 0)} bytes`)
}

// --- files ---

const isFile = (f) => {
  try {
    return fs.statSync(f).isFile()
  } catch {
    return false
  }
}
const head = (f) => fs.readFileSync(f).subarray(0, MOST)
function below(dir, most) {
  const found = []
  const walk = (d) => {
    let entries = []
    try {
      entries = fs.readdirSync(d).sort()
    } catch {
      return
    }
    for (const e of entries) {
      const f = path.join(d, e)
      if (isFile(f)) found.push(f)
      else if (found.length < 5000 && !fs.lstatSync(f).isSymbolicLink()) walk(f)
    }
  }
  walk(dir)
  const step = Math.max(1, Math.floor(found.length / most))
  return found.filter((f, i) => i % step === 0).slice(0, most)
}
const tracked = () =>
  execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((f) => f && !f.startsWith('data/'))
    .map((f) => path.join(root, f))
    .filter(isFile)

// --- made ones ---

const chars = (from, to) => () => {
  const cp = from + draw(to - from + 1)
  return cp >= 0xd800 && cp < 0xe000 ? '\ufffd' : String.fromCodePoint(cp)
}
const of = (list) => () => pick(list)
const white = ['\t', '\n', '\v', '\f', '\r', '\r\n', ' ', '  ', '\u0085', '\u00a0', '\u1680', '\u2000', '\u2003']
  .concat(['\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\u180e', '\u200b'])
const emoji = ['😀', '👩‍💻', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇫🇷', '👍🏽', '❤️', '☃', '\u200d', '\ufe0f', '🏽']
const words = ['the', 'The', 'THE', 'iPhone', 'camelCaseWord', 'snake_case', "don't", "I'LL", "we've", "x'RE", "A'S"]
  .concat(["'s", "'", "''", 'McDonald', 'XMLHttpRequest', 'Ǆungla', 'ǅ', 'ﬁ', 'ſ', "it'ſ", 'straße', 'ΑΒΓ', 'αβγ', 'Привет'])
const marks = ['\u0301', '\u0308', '\u0903', '\u20dd', '\u0300\u0301\u0302', 'é', 'e\u0301', 'E\u0301', '\u0e31', '\u064b']
const signs = ['/', '//', '/*', '*/', '...', '--', '->', '=>', '::', '(', ')', '{}', '[];', '"', '`', '#', '\\', '\n/', '/\n', '$', '%', '。', '、', '·']
const numbers = ['0', '12', '123', '1234', '1234567', '3.14', '0x1f', '٣', '५६७८', '½', '²', 'Ⅷ', '〇', '1,000']
const letters = ['漢', '字', 'かな', 'カナ', '한국어', 'ไทย', 'हिन्दी', 'العربية', 'עברית', 'ʰ', 'ª', 'ƻ']

const kinds = {
  ascii: [chars(0, 127)],
  latin: [chars(32, 0x24f)],
  'the first plane': [chars(0, 0xffff)],
  'all planes': [chars(0, 0x10ffff)],
  'letters of many scripts': [chars(0x370, 0x1fff), of(letters)],
  'Chinese, Japanese, Korean': [chars(0x4e00, 0x9fff), chars(0x3040, 0x30ff), chars(0xac00, 0xd7a3), of(signs)],
  'white space': [of(white), of(white), of(white), of(words), of(signs), of(numbers)],
  'words and contractions': [of(words), of(words), of(['', ' ', '\n', "'"])],
  'combining marks': [of(marks), of(words), of(white), of(signs), of(letters), chars(65, 90)],
  'emoji sequences': [of(emoji), of(emoji), of(white), of(words)],
  'code': [of(signs), of(words), of(numbers), of([' ', '\n', '    ', '\t', '\r\n'])],
  'everything at once': [of(white), of(emoji), of(words), of(marks), of(signs), of(numbers), of(letters), chars(0, 0x1ffff)],
}
function made(parts, count) {
  return Array.from({ length: count }, () => {
    let s = ''
    for (let n = 1 + draw(draw(4) ? 12 : 80); n > 0; n--) s += pick(parts)()
    return Buffer.from(s)
  })
}
function runs() {
  const units = ['a', 'A', ' ', '\n', '\t', '0', '=', '-', '/', 'é', '漢', '😀', '👍🏽', '\u0301', 'ab', 'aB', ' \n', '\r\n', 'xy ', '\u00a0']
  const lengths = [1, 2, 3, 5, 8, 17, 63, 64, 96, 97, 127, 128, 129, 130, 255, 500, 1000, 2500]
  return units.flatMap((u) => lengths.flatMap((n) => [u.repeat(n), `x${u.repeat(n)}y`, `${u.repeat(n)} z`])).map((s) => Buffer.from(s))
}
const noise = (count) =>
  Array.from({ length: count }, () => Buffer.from(Array.from({ length: 1 + draw(60) }, () => (draw(3) ? draw(256) : 97 + draw(26)))))

// --- ---

if (process.argv.length > 2) {
  compare('the files given count the same', process.argv.slice(2).map((f) => fs.readFileSync(f)))
} else {
  compare('tokens: files of the repository', tracked().map(head), 100)
  compare('tokens: headers of the machine', below('/usr/include', 300).map(head), 50)
  compare('tokens: documents of the machine', below('/usr/share/doc', 300).map(head), 50)
  compare('tokens: long runs', runs(), 500)
  for (const [name, parts] of Object.entries(kinds)) compare(`tokens: ${name}`, made(parts, 600), 600)
  compare('tokens: what is not UTF-8 counts as U+FFFD', noise(600), 600)
}
