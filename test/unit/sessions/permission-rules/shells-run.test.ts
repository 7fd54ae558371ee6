/** What real shells make of command lines that a rule allows is no more than the rule says. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { refusedWord } from '../../../../src/sessions/permission-rules/known-words.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { command, RulesHarness } from './harness.ts'

/** For each rule, how what it allows starts, and whether it allows anything after that. */
const RULES = {
  'git log *': { start: ['git', 'log'], anything: false },
  'git branch *': { start: ['git', 'branch'], anything: false },
  'sort *': { start: ['sort'], anything: false },
  'find *': { start: ['find'], anything: false },
  'grep *': { start: ['grep'], anything: false },
  'sed *': { start: ['sed'], anything: false },
  '*': { start: [], anything: false },
  'npm test *': undefined,
  'npm test **': { start: ['npm', 'test'], anything: true },
  'make test': { start: ['make', 'test'], anything: undefined },
  "make '*'": { start: ['make', '*'], anything: undefined },
}
type Pattern = keyof typeof RULES
/** How many lines are tried in each folder, and at least how many of them are different and allowed, and so run in each shell. */
const TRIES = 2000
const MIN_ALLOWED = 250
const PROGRAMS = ['git', 'sort', 'find', 'grep', 'sed', 'npm', 'make', 'rm', 'sh-like']
const FILES = ['-delete', '-oq', '--output=q', 'a.ts', 'b c', '--ext-diff', 'new', 'HEAD']

const START = fc.constantFrom(
  'git log',
  'git branch',
  'git log',
  'sort',
  'find .',
  'find',
  'grep x',
  'sed -n',
  'npm test',
  'make test',
  'make',
  'git',
  'gi\\t log',
  '"git" log',
  "g''it log",
)
const PIECE = fc.oneof(
  { weight: 3, arbitrary: fc.constant(' ') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...' -n; --oneline; --list; -r; --format=%h; -p; -name; -type f; a.ts; src; x; -k1; HEAD; -e x; 1p; -i'.split(
        ';',
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...' --output=q; -oq; -o; --outp=q; -delete; -exec rm {} +; --ext-diff; --format=%G?; --format=%+G?; new; -D; -f a.ts; -iq; w/q; && rm a.ts;; rm x; | sh-like; -- -oq; --'.split(
        ';',
      ),
      ';rm x',
      '\nrm x',
      '&rm x',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[
        '*',
        '?',
        '[-]*',
        '-*',
        "'*'",
        '\\*',
        '"',
        "'",
        '\\',
        '\\-',
        "''",
        '""',
        '~',
        '^x',
        '~x',
        '{-oq,x}',
        '=',
        '%',
        '!',
        '^',
      ],
      ...[
        '$x',
        '$(rm x)',
        '`rm x`',
        '#',
        '>q',
        '2>&1',
        '>/dev/null',
        '<a.ts',
        "$'-oq'",
        '\t',
        '\n',
        '\r',
        '\\\n',
        '-',
        'o',
        'q',
      ],
    ),
  },
)
const LINE = fc
  .tuple(START, fc.array(PIECE, { maxLength: 5 }))
  .map(([start, pieces]) => start + (pieces.length > 0 ? ' ' : '') + pieces.join(''))

describe('command lines in real shells', function () {
  this.timeout(240_000)
  let harness: RulesHarness
  /** by folder, the lines that some rules allow, with these */
  const allowed = new Map<string, Map<string, Pattern[]>>()
  before(async () => {
    harness = new RulesHarness()
    const { directory, root } = harness
    mkdirSync(join(directory, 'bin'))
    for (const name of PROGRAMS) {
      const file = join(directory, 'bin', name)
      writeFileSync(file, `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" > "$LOG.$$"\n`)
      chmodSync(file, 0o755)
    }
    mkdirSync(join(root, 'odd'))
    for (const folder of [root, join(root, 'odd')])
      for (const name of folder === root ? ['a.ts', 'new', 'HEAD'] : FILES)
        writeFileSync(join(folder, name), '')
    symlinkSync('/etc', join(root, 'odd/exit'))
    for (const folder of ['.', 'odd']) {
      const lines = new Map<string, Pattern[]>()
      for (const line of new Set(fc.sample(LINE, { numRuns: scaledRuns(TRIES) }))) {
        const program = line.replace(/["'\\]/g, '').split(' ')[0] ?? ''
        for (const pattern of Object.keys(RULES) as Pattern[]) {
          if (pattern !== '*' && !pattern.startsWith(program)) continue
          const rule = [{ command: pattern, action: 'allow' }]
          const answer = await harness.answer(rule, command(line, { cwd: folder }))
          if (answer !== 'ask') lines.set(line, [...(lines.get(line) ?? []), pattern])
        }
      }
      assert.ok(lines.size >= scaledRuns(MIN_ALLOWED), `${lines.size} allowed`)
      allowed.set(folder, lines)
    }
  })
  after(() => harness.dispose())

  for (const shell of ['/bin/bash', '/bin/dash', '/bin/zsh', '/bin/sh']) {
    const isCovered = shell === '/bin/sh' && ['/bin/dash', '/bin/bash'].includes(safeReal(shell))
    const test = existsSync(shell) && !isCovered ? it : it.skip
    test(`do no more in ${shell} than the rule that allows them says`, async () => {
      for (const [folder, lines] of allowed) {
        const ran = runAll(shell, harness, folder, [...lines.keys()])
        assert.ok(ran.flat().length >= lines.size / 2, `${ran.flat().length} programs ran`)
        for (const [i, [line, patterns]] of [...lines].entries())
          for (const words of ran[i] ?? [])
            for (const pattern of patterns)
              assert.ok(
                isAllowed(words, pattern),
                `${pattern}: ${JSON.stringify(line)} ran ${JSON.stringify(words)}`,
              )
      }
    })
  }
})

function isAllowed(words: readonly string[], pattern: Pattern): boolean {
  const rule = RULES[pattern]
  if (!rule?.start.every((word, at) => words[at] === word)) return false
  if (rule.anything === undefined) return words.length === rule.start.length
  const open = words.map((_, at) => at >= rule.start.length)
  return rule.anything || refusedWord(words, open) === undefined
}

function safeReal(file: string): string {
  return existsSync(file) ? join('/bin', realpathSync(file).split('/').at(-1) ?? '') : ''
}

/** The words with which each line runs programs, which record them. */
function runAll(
  shell: string,
  { directory, root }: RulesHarness,
  folder: string,
  lines: readonly string[],
): string[][][] {
  const logs = join(directory, `logs-${shell.slice(5)}-${folder === '.' ? 'root' : folder}`)
  mkdirSync(logs)
  for (const [i, text] of lines.entries()) writeFileSync(join(logs, `line.${i}`), text)
  // more characters are special then
  const options = shell.endsWith('zsh') ? '-o extendedglob' : ''
  const driver = `i=0; while [ $i -lt ${lines.length} ]; do LOG="$D/log.$i"; export LOG; (PATH="$BIN" exec ${shell} ${options} "$D/line.$i") </dev/null >/dev/null 2>&1; i=$((i+1)); done; wait`
  const env = { D: logs, BIN: join(directory, 'bin') }
  const { status } = spawnSync('/bin/sh', ['-c', driver], { env, cwd: join(root, folder), timeout: 100_000 })
  assert.equal(status, 0)
  const ran: string[][][] = lines.map(() => [])
  for (const name of readdirSync(logs)) {
    const line = /^log\.(\d+)\.\d+$/.exec(name)?.[1]
    // a background command may not have written yet
    const words = line === undefined ? [] : readFileSync(join(logs, name), 'utf8').split('\0').slice(0, -1)
    if (words.length > 0) ran[Number(line)]?.push(words)
  }
  return ran
}
