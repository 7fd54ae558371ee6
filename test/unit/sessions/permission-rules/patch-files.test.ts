/** What `patch` and `git apply` really change is what rules see, or Parley asks. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { filesOfPatch } from '../../../../src/sessions/permission-rules/patch-files.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { RulesHarness, request } from './harness.ts'

const TEXT = 'one\ntwo\nthree\n'
const FILES = [
  'a.ts',
  'src/a.ts',
  'a/src/a.ts',
  'package.json',
  'src/package.json',
  'x/y/a.ts',
  '../outside/a.ts',
  'a.ts 1',
  'src/a b.ts',
  'src/a\tb.ts',
]
const HUNK = '@@ -1,2 +1,2 @@\n-one\n+ONE\n two'
const TRIES = scaledRuns(60)
/** At least how many patches that rules understand must have changed something, so that the test tests anything. */
const MIN_CHANGED = 10

describe('the files of a patch', () => {
  const diff = (header: string, hunk = HUNK) => `${header}\n${hunk}\n`
  const indent = (text: string, by: string) => text.replace(/^(?=.)/gm, by)
  const plain = diff('--- a/src/a.ts\n+++ b/src/a.ts')

  it('are read in every form that agents write', () => {
    for (const [patch, paths] of [
      [plain, ['src/a.ts']],
      [
        `diff --git a/src/a.ts b/src/b.ts\nrename from src/a.ts\nrename to src/b.ts\n${plain}`,
        ['src/a.ts', 'src/b.ts'],
      ],
      // older spellings that `git apply` still reads, and doesn't compare with the header
      [
        'diff --git a/src/a.ts b/src/a.ts\nsimilarity index 100%\nrename old src/a.ts\nrename new package.json\n',
        ['src/a.ts', 'package.json'],
      ],
      [
        `Index: src/a.ts\n${'='.repeat(67)}\n${diff('--- src/a.ts\t(revision 1)\n+++ src/a.ts\t(working copy)')}`,
        ['src/a.ts'],
      ],
      [diff('--- /dev/null\n+++ b/new.ts', '@@ -0,0 +1 @@\n+ --- Index: x\n'), ['new.ts']],
      [diff('--- a/a.md\n+++ b/a.md', '@@ -1,4 +1,3 @@\n   --- x\n-  *** y\n Index: z\n \n'), ['a.md']],
      ['@@ -1 +1 @@\n-a\n+b\n', []],
      ['*** Begin Patch\n*** Update File: a.md\n@@ x\n  *** c\n-  --- d\n+1d\n*** End Patch', ['a.md']],
      ['<<<<<<< SEARCH\n  --- a\n=======\n  +++ b\n>>>>>>> REPLACE\n', []],
    ] as const) {
      const read = filesOfPatch(patch)
      assert.equal(read.unsure, false, patch)
      assert.deepEqual([...read.paths], paths, patch)
    }
  })

  it('may be any part before a space, since programs remove dates of any form', () => {
    for (const [name, read] of [
      ['b/src/x y/package.json 2012-10-10', 'src/x y/package.json'],
      ['b/src/x y/package.json  10:00:00 +0100', 'src/x y/package.json'],
      ['b/src/x\ty/package.json 2012-10-10', 'src/x\ty/package.json'],
    ] as const) {
      const { possible, unsure } = filesOfPatch(diff(`--- a/src/a.ts\n+++ ${name}`))
      assert.ok(possible.has(read), name)
      assert.equal(unsure, false)
    }
    assert.equal(filesOfPatch(diff(`--- a/x\n+++ b/${'x '.repeat(1000)}`)).unsure, true)
    assert.equal(
      filesOfPatch(diff('--- a/x\t2012-10-10 10:00:00 +0100\n+++ b/x\t2012-10-10')).possible.size,
      3,
    )
  })

  it('are unsure if only some programs read them', () => {
    const evil = diff('--- package.json\n+++ package.json')
    for (const patch of [
      ...['  ', '\t', 'X', '- ', '- - ', '\uFEFF', ' \u00a0'].map(by => `${plain}${indent(evil, by)}`),
      `  Index: package.json\n${HUNK}\n`,
      `Prereq: 1\n${HUNK}\n`,
      `*** package.json\n--- package.json\n***************\n*** 1,2 ****\n! one\n  two\n--- 1,2 ----\n! ONE\n  two\n`,
      `  *** package.json\n  ***************\n  *** 1,2 ****\n! one\n`,
      `${plain}1c1\n< one\n---\n> ONE\n`,
      `Index: a.ts\n1d\n`,
      'Index: a.ts\n1s/a/b/\n',
      '1,2d\n',
      'diff --git a/a.ts b/a.ts\nnew file mode 120000\n--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1 @@\n+/etc\n',
      'diff --git a/a.ts b/a.ts\nindex 1234567..1234568 120000\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-b\n+/etc\n',
      `${plain}--- a/src/a.ts\r--- package.json\n`,
      ' a\u2028+++ package.json\n',
      '*** Begin Patch\n*** Delete File: src/b.ts\t/../../package.json\n*** End Patch',
      'diff --git a/x b/x\nrename from x\nrename to y\tz/package.json\n',
      diff('--- a/src/x y\n+++ b/src/x /../../package.json'),
      `${plain}  rename new package.json\n@@ -1 +1 @@\n-a\n+b\n`,
      // the hunk is shorter than it says, or longer
      diff('--- a/a.ts\n+++ b/a.ts', `@@ -1 +1 @@\n-one\n+ONE\n ${evil.replaceAll('\n', '\n ')}`),
      diff('--- a/a.ts\n+++ b/a.ts', `@@ -1,9 +1,9 @@\n-one\n+ONE\n@@ x\n ${evil.replaceAll('\n', '\n ')}`),
    ])
      assert.equal(filesOfPatch(patch).unsure, true, JSON.stringify(patch))
  })

  describe('for rules', () => {
    let harness: RulesHarness
    before(() => {
      harness = new RulesHarness()
      mkdirSync(join(harness.root, 'lib'))
      writeFileSync(join(harness.root, 'lib/known.ts'), '')
      writeFileSync(join(harness.root, 'known.ts'), '')
    })
    after(() => harness.dispose())
    const answer = (patch: string, path?: string, action = 'allow') =>
      harness.answer(
        [{ kind: 'edit', ...(path && { path }), action }],
        request({ kind: 'edit', title: 'Edit', locations: [{ path: 'lib/x.ts' }], rawInput: { patch } }),
      )

    it('may have other names for programs that remove more or less of their start', async () => {
      const of = (name: string) => diff(`--- ${name}\n+++ ${name}`)
      assert.equal(await answer(of('lib/x.ts'), 'lib/**'), 'allow once')
      assert.equal(await answer(of('lib/x.ts')), 'allow once')
      assert.equal(await answer(of('a/lib/x.ts'), 'lib/**'), 'allow once')
      // also a file of another folder
      assert.equal(await answer(of('lib/known.ts'), 'lib/**'), 'ask')
      assert.equal(await answer(of('a/lib/known.ts'), 'lib/**'), 'ask')
      // `git apply` removes the first folder
      assert.equal(await answer(of('lib/.git/hooks/x')), 'ask')
      assert.equal(await answer(of('lib/src/out/x')), 'ask')
      assert.equal(await answer(of('lib/x.ts known.ts'), 'lib/**'), 'allow once')
      assert.equal(await answer(of('src/out x'), '**'), 'ask')
      // it does so for a new file, too, which can't be there
      const create = (name: string, start = '--- /dev/null\n', hunk = '@@ -0,0 +1 @@') =>
        answer(diff(`${start}+++ ${name}`, `${hunk}\n+new`), 'lib/**')
      assert.equal(await create('b/lib/new.ts'), 'allow once')
      assert.equal(await create(join(harness.root, 'lib/new.ts')), 'allow once')
      assert.equal(await create('lib/lib/new.ts'), 'allow once')
      assert.equal(await create('lib/new.ts'), 'ask')
      assert.equal(await create('lib/new.ts', '--- lib/new.ts\n'), 'ask')
      assert.equal(await create('b/lib/../new.ts'), 'ask')
      assert.equal(await create('lib/new.ts', '--- /dev/null\n', '@@ -1 +1 @@'), 'ask')
      const empty = (name: string) => answer(`diff --git ${name} ${name}\nnew file mode 100644\n`, 'lib/**')
      assert.equal(await empty('lib/new.ts'), 'ask')
      assert.equal(await create('b/lib/x new.md'), 'allow once')
      assert.equal(await create('b/lib x/../lib/new.ts'), 'ask')
      assert.equal(await answer(of('lib/src/a.ts'), 'src/**', 'reject'), 'reject no')
    })
  })

  const exists = (program: string) =>
    (process.env.PATH ?? '').split(':').some(folder => existsSync(join(folder, program)))
  const test = process.platform === 'linux' && exists('patch') ? it : it.skip
  test('are what the real programs change', () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'parley-patch-')))
    try {
      tryOut(directory)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

const PROGRAMS: readonly (readonly string[])[] = [
  ...['', '-p0', '-p1'].map(strip => [
    'patch',
    '-f',
    '-s',
    '--no-backup-if-mismatch',
    '-r',
    '-',
    ...(strip ? [strip] : []),
  ]),
  ['git', 'apply'],
  ['git', 'apply', '-p0'],
]

function tryOut(directory: string): void {
  let changedSome = 0
  const root = join(directory, 'project')
  const reset = () => {
    rmSync(root, { recursive: true, force: true })
    for (const name of FILES) {
      const file = join(root, name)
      mkdirSync(join(file, '..'), { recursive: true })
      writeFileSync(file, TEXT)
    }
    symlinkSync('../outside', join(root, 'linked'))
    execFileSync('git', ['init', '-q'], { cwd: root })
  }
  reset()
  for (const patch of fc.sample(patches(), { numRuns: TRIES })) {
    const { paths, possible, unsure } = filesOfPatch(patch)
    if (unsure) continue
    const seen = new Set([...paths, ...possible].map(path => join(root, path)))
    let isChanged = false
    for (const [program = '', ...args] of PROGRAMS) {
      spawnSync(program, args, { cwd: root, input: patch, timeout: 10_000 })
      const changed = changesBelow(directory)
      if (changed.length === 0) continue
      isChanged = true
      for (const file of changed)
        assert.ok(seen.has(file), `${program} ${args.join(' ')} changes ${file}:\n${JSON.stringify(patch)}`)
      reset()
    }
    if (isChanged) changedSome += 1
  }
  assert.ok(changedSome >= MIN_CHANGED, `${changedSome} changed`)
}

/** Files that aren't as {@link FILES} says. */
function changesBelow(directory: string): string[] {
  const root = join(directory, 'project')
  const expected = new Set(FILES.map(name => join(root, name)))
  const changed: string[] = []
  const look = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const file = join(folder, entry.name)
      if (entry.name === '.git' || entry.name === 'linked') continue
      if (entry.isDirectory()) look(file)
      else if (!expected.delete(file) || !lstatSync(file).isFile() || readFileSync(file, 'utf8') !== TEXT)
        changed.push(file)
    }
  }
  look(directory)
  return [...changed, ...expected]
}

/** Patches of all forms with their names in all places, indented, cut and mixed. */
function patches(): fc.Arbitrary<string> {
  const name = fc.constantFrom(
    ...FILES,
    ...[
      'b/src/a.ts',
      'a/package.json',
      'b/package.json',
      '/dev/null',
      'src/new.ts',
      'linked/a.ts',
      'a.ts\t2026',
      'a.ts 2',
      ...['a.ts', 'src/a b.ts', 'b/src/a b.ts', 'b/src/a\tb.ts'].flatMap(one => [
        `${one} 2012-10-10`,
        `${one}  2012-10-10 10:00:00.5 +0100`,
      ]),
    ],
  )
  const header = fc.oneof(
    ...[
      '--- ',
      '+++ ',
      '*** ',
      'Index: ',
      'Index:',
      'rename from ',
      'rename to ',
      'rename old ',
      'rename new ',
      '---  ',
      '+++\t',
    ].map(start => name.map(one => start + one)),
    fc.tuple(name, name).map(([from, to]) => `--- ${from}\n+++ ${to}`),
    fc.tuple(name, name).map(([from, to]) => `diff --git ${from} ${to}`),
    name.map(one => `*** ${one}\n--- ${one}`),
    fc
      .tuple(name, name, fc.constantFrom(['from', 'to'], ['old', 'new']))
      .map(
        ([one, to, [from, into]]) =>
          `diff --git a/${one} b/${one}\nrename ${from} ${one}\nrename ${into} ${to}`,
      ),
    name.map(one => `*** Update File: ${one}`),
    fc.constantFrom(
      'Prereq: one',
      'new file mode 100644',
      'deleted file mode 100644',
      '*** Begin Patch',
      'text',
      '',
    ),
  )
  const body = fc.constantFrom(
    HUNK,
    HUNK,
    HUNK,
    '@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n three',
    '@@ -1,3 +1,3 @@\n-one\n+ONE\n two',
    '@@ -1 +1 @@\n-one\n+ONE',
    '@@ -0,0 +1 @@\n+new',
    '@@ -1,3 +0,0 @@\n-one\n-two\n-three',
    '@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n\n',
    '@@\n-one\n+ONE',
    '***************\n*** 1,2 ****\n! one\n  two\n--- 1,2 ----\n! ONE\n  two',
    '1c1\n< one\n---\n> ONE',
    '1c\nONE\n.',
    '1d',
    '',
  )
  const indentation = fc.constantFrom('', '', '', ' ', '  ', '\t', 'X', '- ', ' X ', '+', '-')
  const mixed = fc
    .tuple(fc.array(header, { maxLength: 3 }), body, indentation, indentation)
    .map(([headers, hunk, outer, inner]) =>
      [headers.join('\n').replace(/^/gm, inner), hunk].join('\n').replace(/^/gm, outer),
    )
  // what looks like another file is part of a hunk
  const hunk = fc
    .tuple(fc.array(fc.oneof(header, body), { maxLength: 2 }), indentation)
    .map(([texts, by]) => {
      const added = texts.flatMap(text => text.split('\n')).map(line => `+${by}${line}`)
      return [`@@ -1,2 +1,${added.length + 2} @@`, ' one', ...added, ' two'].join('\n')
    })
  const whole = fc
    .tuple(
      name,
      fc.constantFrom('', '', 'Index: $\n', 'diff --git $ $\n', 'diff --git a/$ b/$\n', 'text\n'),
      fc.oneof(hunk, body),
    )
    .map(([one, before, change]) => `${before.replaceAll('$', one)}--- ${one}\n+++ ${one}\n${change}`)
  const chunk = fc.oneof({ arbitrary: whole, weight: 2 }, { arbitrary: mixed, weight: 1 })
  return fc
    .tuple(
      fc.array(chunk, { minLength: 1, maxLength: 3 }),
      fc.option(fc.nat(12), { freq: 1 }),
      fc.constantFrom('\n', '\n', '\r\n'),
    )
    .map(([chunks, cut, end]) => {
      const lines = chunks.join('\n').split('\n')
      if (cut !== null) lines.splice(cut, 1)
      return `${lines.join('\n')}\n`.replaceAll('\n', end)
    })
}
