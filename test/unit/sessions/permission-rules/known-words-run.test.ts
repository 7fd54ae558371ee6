/** Runs random command lines that rules allow, with the real programs of this machine. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { toolCallOf } from '../../../../src/conversation/entries/tool-call.ts'
import { createSessionState } from '../../../../src/conversation/reducer/reducing-state.ts'
import { type KnownWords, tableOf } from '../../../../src/sessions/permission-rules/command-table.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { command, RulesHarness } from './harness.ts'

/** In a file outside of the folders, and in the name of another one. */
const CANARY = 'canary-7d1f'
/** How many command lines are tried, and at least how many of them have to be allowed, so that the test tests anything. */
const TRIES = 80
const MIN_ALLOWED = 5

interface Case {
  program: string
  /** the subcommand, in the rule as well */
  rest?: string
  tries?: number
}

const READ_ONLY: Case[] = [
  ...'ls cat head tail wc cut sort echo basename dirname realpath stat du diff cmp jq grep rg find'
    .split(' ')
    .map(program => ({ program })),
  ...'status diff log show blame ls-files ls-tree rev-parse rev-list describe shortlog show-ref merge-base grep cat-file for-each-ref branch tag config'
    .split(' ')
    .map(rest => ({ program: 'git', rest })),
  { program: 'sed', tries: 400 },
  { program: 'awk', tries: 400 },
  { program: 'git', tries: 300 },
  { program: 'git', rest: 'stash list' },
  { program: 'git', rest: 'stash show' },
]
const WRITING: Case[] = [
  { program: 'tar' },
  { program: 'cp' },
  { program: 'git', rest: 'add' },
  { program: 'git', rest: 'commit' },
  { program: 'git', tries: 150 },
]

describe('command lines that rules allow', () => {
  const exists = (program: string) =>
    (process.env.PATH ?? '').split(':').some(folder => existsSync(join(folder, program)))
  const cases = (title: string, all: readonly Case[], run: (one: Case, name: string) => Promise<void>) => {
    for (const one of all) {
      const name = [one.program, one.rest].filter(Boolean).join(' ')
      const test = process.platform === 'linux' && exists(one.program) ? it : it.skip
      test(`${title}: ${name}`, () => run(one, name))
    }
  }

  describe('that only read', () => {
    /** One for all, since each test proves that nothing in it changed. */
    let project: Project | undefined
    after(() => project?.harness.dispose())

    cases('read and write nothing else, and run nothing', READ_ONLY, async (one, name) => {
      project ??= new Project()
      const used = project
      project = undefined
      try {
        await tryReading(one, name, used)
        used.clearHome()
        project = used
      } finally {
        if (!project) used.harness.dispose()
      }
    })
  })

  cases("write nothing outside of the session's folders, and run nothing", WRITING, async (one, name) => {
    const project = new Project()
    try {
      await tryWriting(one, name, project)
    } finally {
      project.harness.dispose()
    }
  })
})

/** Runs all lines in one shell. What they do can't depend on the order, as none may change anything. */
async function tryReading(one: Case, name: string, project: Project): Promise<void> {
  const lines: string[] = []
  const isAllowed = allowedIn(project, { command: `${name} *` })
  for (const line of randomLines(one, name)) if (await isAllowed(line)) lines.push(line)
  const problem = await problemOf([...new Set(lines)], project, false)
  if (problem !== undefined) assert.fail(`${await culprit(lines)}: ${problem}`)
  assert.ok(lines.length >= MIN_ALLOWED, `${lines.length} allowed`)
}

/** What a line writes may decide what the next one may do, so they run one by one. */
async function tryWriting(one: Case, name: string, project: Project): Promise<void> {
  const isAllowed = allowedIn(project, { kind: 'execute' })
  let ran = 0
  for (const line of randomLines(one, name)) {
    if (!(await isAllowed(line))) continue
    ran += 1
    const problem = await problemOf([line], project, true)
    assert.equal(problem, undefined, line)
  }
  assert.ok(ran >= MIN_ALLOWED, `${ran} allowed`)
}

const randomLines = (one: Case, name: string) =>
  fc
    .sample(wordsOf(one, name), { numRuns: scaledRuns(one.tries ?? TRIES) })
    .map(words => `${name} ${words.join(' ')}`)

function allowedIn({ harness }: Project, rule: object): (line: string) => Promise<boolean> {
  const rules = harness.rules([{ ...rule, action: 'allow' }])
  const answers = rules.answersFor('one', harness.place)
  return async line => {
    const asked = command(line)
    const tool = toolCallOf(createSessionState(), asked)
    const answer = await answers(asked, tool, new AbortController().signal)
    return answer !== undefined && 'rule' in answer
  }
}

/** What lines did that they must not do. */
async function problemOf(
  lines: readonly string[],
  project: Project,
  writes: boolean,
): Promise<string | undefined> {
  const before = project.snapshot(writes)
  const output = await project.run(lines)
  if (output.includes(CANARY)) return `reads outside: ${output.slice(0, 2000)}`
  if (existsSync(project.marker)) return 'runs a program'
  const now = project.snapshot(writes)
  const changed = Object.keys({ ...before, ...now }).filter(path => before[path] !== now[path])
  return changed.length > 0 ? `writes ${changed.join(', ')}` : undefined
}

/** The first of the lines that does something on its own; all of them if none does. */
async function culprit(lines: readonly string[]): Promise<string> {
  for (const line of lines) {
    const project = new Project()
    try {
      if ((await problemOf([line], project, false)) !== undefined) return line
    } finally {
      project.harness.dispose()
    }
  }
  return lines.join('\n')
}

/** Words of random command lines: known options, all options that the program itself lists, and what an attacker tries. */
function wordsOf({ program, rest }: Case, name: string): fc.Arbitrary<string[]> {
  const table = tableOf(program)!
  const known: KnownWords[] = table.words
    ? [table.words]
    : rest
      ? [table.subcommands.get(rest)!]
      : [...table.subcommands.values()]
  const dash = (option: string, oneDash: boolean) =>
    option.length > 1 && !oneDash ? `--${option}` : `-${option}`
  const flags = known.flatMap(one => [...one.flags].map(option => dash(option, one.oneDash)))
  const values = known.flatMap(one => [...one.values, ...one.joined].map(option => dash(option, one.oneDash)))
  const operand = fc.constantFrom(
    ...[
      '.',
      'src',
      'src/a.ts',
      'src/deep',
      'data.json',
      'x.tar',
      'x.zip',
      'linked',
      'linked/a.ts',
      'src/out',
      'sub',
      './evil',
    ],
    ...[
      'HEAD',
      'HEAD~1',
      'main',
      'HEAD:src/a.ts',
      'HEAD..main',
      '1',
      '2',
      '1,2',
      '3k',
      "'s/a/b/'",
      "'%H %s'",
      "'%(refname) %G?'",
      "'{print $1}'",
      '1,2p',
      'new-file',
      'evil.patch',
    ],
    ...[
      "'*'",
      'src/*',
      "'.*'",
      'f',
      'd',
      "'!'",
      'inside',
      '-',
      '--',
      "''",
      "'[.]'",
      "'%p %l'",
      '..',
      '/etc/passwd',
      '~',
      'sub/*',
    ],
  )
  const listed = optionsOf(name)
  const pieces: fc.Arbitrary<string[]>[] = [
    operand.map(word => [word]),
    fc
      .constantFrom(
        ...'./evil new-file package.json outside ext::sh @x.tar file:///etc/passwd -C sub --output=new-file -onew-file -o --checkpoint=1 --checkpoint-action=exec=./evil --to-command=./evil --use-compress-program=./evil -I./evil -O./evil --open-files-in-pager=./evil --pre=./evil --compress-program=./evil -L --follow --dereference -fprint -delete --ext-diff -x --extract -f --script-shell=./evil --import=data:text/javascript,x -rL --files0-from=x.tar'.split(
          ' ',
        ),
      )
      .map(word => [word]),
    fc
      .string({ unit: fc.constantFrom(...'abcdefgilnoprstvxzCDILOPRTX0'), minLength: 1, maxLength: 3 })
      .map(letters => [`-${letters}`]),
  ]
  if (flags.length > 0) pieces.push(fc.constantFrom(...flags).map(word => [word]))
  if (values.length > 0)
    pieces.push(
      fc
        .tuple(fc.constantFrom(...values), operand, fc.boolean())
        .map(([option, value, joined]) =>
          joined ? [`${option}${option.startsWith('--') ? '=' : ''}${value}`] : [option, value],
        ),
    )
  if (listed.length > 0) {
    const withValue = fc.constantFrom('', '', '=./evil', '=new-file', ' ./evil', ' new-file', ' src')
    pieces.push(
      fc
        .tuple(fc.constantFrom(...listed), withValue, fc.nat(12))
        .map(([option, value, cut]) => [
          `${option.slice(0, cut < 3 ? -cut || undefined : undefined)}${value}`,
        ]),
    )
  }
  const weighted = pieces.map((arbitrary, at) => ({
    arbitrary,
    weight: at === 0 ? 5 : at === 3 || at === 4 ? 4 : at === 1 ? 2 : 1,
  }))
  const words = fc.array(fc.oneof(...weighted), { minLength: 1, maxLength: 5 }).map(all => all.flat())
  if (table.words || rest) return words
  const subcommands = fc.constantFrom(...table.subcommands.keys(), 'apply', 'checkout', 'push')
  return fc.tuple(subcommands, words).map(([subcommand, more]) => [subcommand, ...more])
}

/** All long options that the program's help names. */
function optionsOf(name: string): string[] {
  const [program = '', ...rest] = name.split(' ')
  const help = (option: string) => {
    try {
      return execFileSync(program, [...rest, option], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 10_000,
      })
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string }
      return `${stdout ?? ''}${stderr ?? ''}`
    }
  }
  const text = help(program === 'git' ? '-h' : '--help')
  return [...new Set(text.match(/(?<![\w-])--?[a-z][\w-]+/gi) ?? [])]
}

/** A project with links that lead out of it, and a program that must not run. */
class Project {
  readonly harness = new RulesHarness()
  readonly marker = join(this.harness.directory, 'ran')
  readonly #root = this.harness.root
  readonly #home = join(this.harness.directory, 'home')

  constructor() {
    const { directory } = this.harness
    const root = this.#root
    const write = (name: string, text: string) => writeFileSync(join(root, name), text)
    for (const folder of ['outside/deep', 'home']) mkdirSync(join(directory, folder), { recursive: true })
    writeFileSync(join(directory, 'outside/a.ts'), CANARY)
    writeFileSync(join(directory, `outside/deep/${CANARY}`), CANARY)
    for (const folder of ['src/deep', 'linked', 'sub']) mkdirSync(join(root, folder), { recursive: true })
    write('src/a.ts', 'inside\nlines\n')
    write('src/deep/b.ts', 'inside\n')
    write('data.json', '{"inside": [1, 2]}')
    write('evil', `#!/bin/sh\necho ran > '${this.marker}'\n`)
    chmodSync(join(root, 'evil'), 0o755)
    symlinkSync(join(directory, 'outside'), join(root, 'linked/folder'))
    symlinkSync(join(directory, 'outside/a.ts'), join(root, 'linked/a.ts'))
    write('package.json', '{}')
    write('evil.patch', `--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n-inside\n+evil\n lines\n`)
    const inRoot = (program: string, ...args: string[]) =>
      execFileSync(program, args, { cwd: root, env: this.#environment(), stdio: 'ignore' })
    inRoot('tar', '-cf', 'x.tar', 'src/a.ts')
    try {
      inRoot('python3', '-m', 'zipfile', '-c', 'x.zip', 'src/a.ts')
    } catch {
      write('x.zip', '')
    }
    inRoot('git', 'init', '-q', '-b', 'main')
    inRoot('git', 'add', 'src/a.ts', 'data.json')
    inRoot('git', 'commit', '-q', '-m', 'one')
    write('src/a.ts', 'inside\nother\n')
    inRoot('git', 'stash')
    inRoot('git', 'commit', '-q', '--allow-empty', '-m', 'two')
    write('data.json', '{"inside": [1, 2, 3]}')
  }

  /** All output of command lines, each of which runs in its own shell. */
  async run(lines: readonly string[]): Promise<string> {
    const shell = 'for line; do ( eval "$line" ); done'
    const { output, ended } = await this.#execute(['-c', shell, 'bash', ...lines])
    if (ended || lines.length === 1) return output
    // one took too long or printed too much
    const all: string[] = []
    for (const line of lines) all.push(await this.run([line]))
    return all.join('\n')
  }

  #execute(words: readonly string[]): Promise<{ output: string; ended: boolean }> {
    return new Promise(resolve => {
      const options = { cwd: this.#root, env: this.#environment(), timeout: 10_000, maxBuffer: 1 << 24 }
      const child = execFile('/bin/bash', words, options, (error, stdout, stderr) =>
        resolve({ output: stdout + stderr, ended: typeof (error?.code ?? 0) === 'number' && !error?.killed }),
      )
      child.stdin?.end()
    })
  }

  /** Programs keep their caches and logs there. */
  clearHome(): void {
    rmSync(this.#home, { recursive: true, force: true })
    mkdirSync(this.#home)
  }

  /**
   * All files and folders: outside of the project, and in it unless those may change. The time of the last change is one
   * that no program can set, so also what is undone again is seen.
   */
  snapshot(outsideOnly: boolean): Record<string, string> {
    const found: Record<string, string> = {}
    const walk = (folder: string) => {
      for (const entry of readdirSync(folder)) {
        const path = join(folder, entry)
        // Git stores there what it knows about the files, and programs their caches and logs
        if (
          path === this.#home ||
          /\/\.git\/index(?:\.lock)?$/.test(path) ||
          (outsideOnly && path === this.#root)
        )
          continue
        const file = lstatSync(path, { bigint: true })
        if (file.isDirectory()) walk(path)
        // Git replaces its index in this folder
        found[path] = entry === '.git' ? 'folder' : `${file.mode} ${file.ino} ${file.ctimeNs}`
      }
    }
    walk(this.harness.directory)
    return found
  }

  #environment(): NodeJS.ProcessEnv {
    const author = {
      GIT_AUTHOR_NAME: 'x',
      GIT_AUTHOR_EMAIL: 'x@y',
      GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x@y',
    }
    return {
      PATH: process.env.PATH,
      HOME: this.#home,
      GIT_EDITOR: 'true',
      GIT_PAGER: 'cat',
      TERM: 'dumb',
      NO_UPDATE_NOTIFIER: '1',
      npm_config_offline: 'true',
      ...author,
    }
  }
}
