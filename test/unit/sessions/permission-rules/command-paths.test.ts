import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { PathGuard } from '../../../../src/editor/path-guard.ts'
import { PathRules } from '../../../../src/editor/path-rules.ts'
import { parseCommandLine } from '../../../../src/sessions/permission-rules/command-line.ts'
import { pathsInWord, pathsOfCommands } from '../../../../src/sessions/permission-rules/command-paths.ts'
import { scaledRuns } from '../../../support/property-tests.ts'
import { RulesHarness } from './harness.ts'

describe('the paths in a command', () => {
  it('are found in every part of a word', () => {
    assert.deepEqual(pathsInWord('--output=a/b'), ['a/b'])
    assert.deepEqual(pathsInWord('-la'), ['a'])
    assert.deepEqual(pathsInWord('--'), [])
    assert.deepEqual(pathsInWord('https://x/y'), ['https://x/y'])
    assert.ok(pathsInWord('F=@/etc/x').includes('/etc/x'))
    assert.ok(pathsInWord('-I/etc/x').includes('/etc/x'))
    assert.ok(pathsInWord('a:b:c').includes('b'))
  })

  const part = fc.constantFrom(
    ...['src', 'out', 'self', 'deep', 'etc', 'a.ts', 'passwd', 'name', '..', '.', '/', '/', '/', '/'],
    ...['*', '?', '[a-z]', '[!x]*', '**', '"', "'", '\\', '"*"', '-', '@', ':', '=', '~', '{', ' '],
  )
  const words = fc.array(part, { minLength: 1, maxLength: 9 }).map(parts => parts.join(''))

  const test = process.platform === 'linux' ? it : it.skip
  test('are all found if bash would use them to leave the folders', async () => {
    const harness = new RulesHarness()
    try {
      const { root, roots } = harness
      mkdirSync(join(root, 'src/deep'))
      writeFileSync(join(root, 'name'), '')
      symlinkSync('/etc', join(root, 'src/deep/etc'))
      symlinkSync(root, join(root, 'self'))
      symlinkSync('deep', join(root, 'src/self'))
      const rules = new PathRules()
      const guard = new PathGuard(roots(), { rules })
      const lines = fc.sample(words, { numRuns: scaledRuns(2000) }).filter(text => {
        const { commands, sure } = parseCommandLine(`aa ${text}`)
        return sure && commands.length === 1
      })

      assert.ok(lines.length > 250, `${lines.length}`)
      // the words of each command line after expansion, with all links resolved
      const script = lines.map(
        (text, i) => `set -- ${text}\nprintf '%s\\n' ${i}\nfor word; do realpath -m -- "$word"; done\n`,
      )
      const output = execFileSync('/bin/bash', ['-s'], {
        input: script.join(''),
        cwd: root,
        env: { PATH: process.env.PATH, HOME: '/root' },
        stdio: ['pipe', 'pipe', 'ignore'],
        encoding: 'utf8',
        maxBuffer: 1 << 26,
      })
      let current = -1
      let outside = 0
      const inside = new Map<number, boolean>()
      for (const one of output.split('\n')) {
        if (/^\d+$/.test(one)) current = Number(one)
        const leads =
          one.startsWith('/') &&
          !roots()
            .additionalDirectories.concat(root)
            .some(folder => rules.contains(folder, one))
        if (!leads) continue
        outside += 1
        const text = lines[current] ?? ''
        if (!inside.has(current)) {
          const found = await pathsOfCommands([parseCommandLine(`aa ${text}`)], undefined, {
            guard,
            rules,
            isProtected: async () => false,
          })
          inside.set(current, found.inside)
        }
        assert.equal(inside.get(current), false, `aa ${text} leads to ${one}`)
      }
      assert.ok(outside > 100, `${outside}`)
    } finally {
      harness.dispose()
    }
  })
})
