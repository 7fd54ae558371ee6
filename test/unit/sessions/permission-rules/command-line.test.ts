import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { parseCommandLine, possibleCommands } from '../../../../src/sessions/permission-rules/command-line.ts'
import { scaledRuns } from '../../../support/property-tests.ts'

const words = (line: string, platform: NodeJS.Platform = 'linux') => {
  const { commands, sure } = parseCommandLine(line, platform)
  return sure ? commands.map(command => command.words.map(({ text }) => text)) : 'unsure'
}
const may = (line: string) =>
  possibleCommands(parseCommandLine(line, 'linux'), 'linux').map(one => one.join(' '))

describe('parsing a command line', () => {
  it('finds all commands, however they are joined', () => {
    assert.deepEqual(words('npm test'), [['npm', 'test']])
    assert.deepEqual(words('npm test && rm -rf /'), [
      ['npm', 'test'],
      ['rm', '-rf', '/'],
    ])
    assert.deepEqual(words('a; b | c || d & e |& f\ng'), [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g']])
    assert.deepEqual(words('sleep 1 &'), [['sleep', '1']])
  })

  it('reads quotes and backslashes like shells', () => {
    assert.deepEqual(words(`git commit -m "a && b" 'c; d' e\\ f`), [
      ['git', 'commit', '-m', 'a && b', 'c; d', 'e f'],
    ])
    assert.deepEqual(words(`a "" ''b"c"`), [['a', '', 'bc']])
    assert.deepEqual(words(`a "x\\"y" "\\n"`), [['a', 'x"y', '\\n']])
  })

  it('ignores redirects that affect no file', () => {
    assert.deepEqual(words('npm test 2>&1 >/dev/null'), [['npm', 'test']])
    assert.deepEqual(words('npm test > /dev/null; b </dev/null'), [['npm', 'test'], ['b']])
  })

  for (const line of [
    'npm test > ~/.bashrc',
    'npm test >> x',
    'npm test < x',
    'npm test &>/dev/null rm -rf x',
    'npm test 2>/dev/null.sh',
    'npm test <<EOF\nx\nEOF',
    'npm test $(rm -rf /)',
    'npm test `rm -rf /`',
    'npm test "$(rm -rf /)"',
    'npm test "`rm -rf /`"',
    'npm test $HOME',
    `npm test ${'$'}{IFS}`,
    "npm test $'x'",
    'npm test <(rm x)',
    '(npm test)',
    '{ npm test; }',
    'npm {test,publish}',
    'FOO=bar npm test',
    'PATH=/tmp/evil:$PATH npm test',
    'A+=b npm test',
    'if npm test; then rm x; fi',
    '! npm test',
    'time npm test',
    'npm() { rm -rf /; }',
    "npm test # '\nrm -rf /\n'",
    'npm test "unclosed',
    "npm test 'unclosed",
    'npm test \\',
    'npm test \\\nrm',
    'npm test &&',
    'npm test |',
    '&& npm test',
    'a ;; b',
    'npm\u00a0test',
    'npm test \u202e',
    'npm test \r rm',
    'npm test\u0000rm',
    '~/bin/npm test',
    '=npm test',
    '*/npm test',
    '',
    '   ',
    `npm ${'x'.repeat(30_000)}`,
  ]) {
    it(`is unsure about ${JSON.stringify(line.slice(0, 40))}`, () => assert.equal(words(line), 'unsure'))
  }

  it('is unsure about what the shells of Windows parse differently', () => {
    assert.deepEqual(words('npm test', 'win32'), [['npm', 'test']])
    assert.deepEqual(words('dir src\\lib', 'win32'), [['dir', 'src\\lib']])
    for (const line of ["npm 'a && b'", 'npm ^& b', 'npm %PATH%', 'npm; b', 'npm > NUL', 'npm "a\\"b']) {
      assert.equal(words(line, 'win32'), 'unsure', line)
    }
  })

  it('returns every command that an unsure line may run', () => {
    for (const line of [
      'npm test $(rm -rf /)',
      'echo "$HOME" && rm -rf /',
      'echo "`rm -rf /`"',
      'X=1 rm -rf /',
      'if true; then rm -rf /; fi',
      'sudo -n rm -rf /',
      'bash -lc "cd x && rm -rf /"',
      '/bin/rm -rf /',
      'find . -exec rm -rf / ;',
      'a > b; rm -rf /',
    ]) {
      assert.ok(
        may(line).some(command => command.startsWith('rm -rf /')),
        `${line}: ${may(line)}`,
      )
    }
  })
})

/** Parts of command lines that shells parse in unexpected ways. */
const piece = fc.constantFrom(
  ...[
    'aa',
    'bb',
    'cc',
    ' ',
    ' ',
    ' ',
    '  ',
    '\t',
    '\n',
    ';',
    '&',
    '&&',
    '||',
    '|',
    '|&',
    '#',
    '\\',
    '"',
    "'",
    '""',
  ],
  ...[
    '$',
    '$(',
    ')',
    '(',
    '`',
    '{',
    '}',
    ',',
    '>',
    '>>',
    '<',
    '<<',
    '2>&1',
    '>/dev/null',
    '&>/dev/null',
    '>&',
    '1',
  ],
  ...[
    'x=',
    'x=1 ',
    '!',
    'if',
    'then',
    'fi',
    '*',
    '?',
    '[',
    ']',
    '~',
    '-',
    '=',
    '\\\n',
    '\r',
    'é',
    '%',
    '^',
    '$x',
    "$'",
  ],
)
const line = fc.array(piece, { minLength: 1, maxLength: 14 }).map(parts => parts.join(''))
const likely = fc.tuple(fc.constantFrom('aa ', 'bb ', 'cc aa '), line).map(([start, rest]) => start + rest)

describe('random command lines', () => {
  it('never cause an exception', () => {
    fc.assert(
      fc.property(fc.oneof(line, fc.string({ unit: 'binary', maxLength: 60 })), text => {
        for (const platform of ['linux', 'win32'] as const) {
          possibleCommands(parseCommandLine(text, platform), platform)
        }
      }),
    )
  })

  for (const shell of ['/bin/sh', '/bin/bash', '/bin/zsh', '/bin/dash']) {
    // dash works the same with any name
    const met = shell === '/bin/dash' && existsSync(shell) && realpathSync('/bin/sh') === realpathSync(shell)
    const test = existsSync(shell) && !met ? it : it.skip
    test(`are run by ${shell} as they were parsed, unless the parser was unsure`, () => {
      const lines = fc
        .sample(likely, { numRuns: scaledRuns(2000) })
        .filter(text => parseCommandLine(text, 'linux').sure)

      assert.ok(lines.length > 100, `${lines.length}`)
      const ran = runAll(shell, lines)
      for (const [i, text] of lines.entries()) {
        const read = words(text)
        assert.notEqual(read, 'unsure')
        for (const command of ran[i] ?? []) {
          // a background command may not have written yet
          if (command.length === 0) continue
          assert.ok(
            (read as string[][]).some(one => sameWords(one, command)),
            `${JSON.stringify(text)} ran ${JSON.stringify(command)}, read ${JSON.stringify(read)}`,
          )
        }
      }
    })
  }
})

/** Whether a shell may replace a word with file names: an unquoted pattern, or a home directory. */
function sameWords(read: readonly string[], ran: readonly string[]): boolean {
  if (read.some(word => /[*?[~]/.test(word))) return read[0] === ran[0]
  return read.length === ran.length && read.every((word, at) => word === ran[at])
}

/** Runs each command line with programs that record their own arguments. */
function runAll(shell: string, lines: readonly string[]): string[][][] {
  const directory = mkdtempSync(join(tmpdir(), 'parley-shell-'))
  try {
    const bin = join(directory, 'bin')
    mkdirSync(bin)
    for (const name of ['aa', 'bb', 'cc']) {
      const file = join(bin, name)
      // each program writes its own file, since those of a command line run concurrently
      writeFileSync(file, `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" > "$LOG.$$"\n`)
      chmodSync(file, 0o755)
    }
    const scripts = join(directory, 'scripts')
    mkdirSync(scripts)
    for (const [i, text] of lines.entries()) writeFileSync(join(scripts, String(i)), text)
    const driver = join(directory, 'driver.sh')
    writeFileSync(
      driver,
      `i=0; while [ $i -lt ${lines.length} ]; do LOG="$D/log.$i"; export LOG; (cd "$D/cwd" && PATH="$D/bin" exec ${shell} "$D/scripts/$i") </dev/null >/dev/null 2>&1; i=$((i+1)); done; wait\n`,
    )
    mkdirSync(join(directory, 'cwd'))
    spawnSync('/bin/sh', [driver], { env: { D: directory }, timeout: 100_000 })
    const ran: string[][][] = lines.map(() => [])
    for (const name of readdirSync(directory)) {
      const line = /^log\.(\d+)\.\d+$/.exec(name)?.[1]
      if (line !== undefined) {
        ran[Number(line)]?.push(readFileSync(join(directory, name), 'utf8').split('\0').slice(0, -1))
      }
    }
    return ran
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}
