import assert from 'node:assert/strict'
import type { SettingLayer } from '../../../../src/agents/setting-layers.ts'
import { describeProblem } from '../../../../src/agents/setting-problem.ts'
import { readPermissionRules } from '../../../../src/sessions/permission-rules/read-rules.ts'

const read = (value: unknown, more: SettingLayer[] = []) =>
  readPermissionRules([{ scope: 'user', value }, ...more], 'linux')
const problemsOf = (value: unknown) => read(value).problems.map(describeProblem)

describe('parley.permissionRules', () => {
  it('are read in order, nearest scope first', () => {
    const { rules, problems } = read(
      [
        { command: 'npm test *', action: 'allow' },
        { agent: '*', kind: ['edit', 'read'], path: './src/**', action: 'ask' },
      ],
      [
        { scope: 'workspace', value: [{ agent: 'one', action: 'reject' }] },
        { scope: 'folder', folder: 'api', value: [{ kind: 'fetch', action: 'allow' }] },
      ],
    )
    assert.deepEqual(problems, [])
    assert.deepEqual(
      rules.map(({ text, action, scope, folder, position }) => [text, action, scope, folder, position]),
      [
        ['fetch', 'allow', 'folder', 'api', 0],
        ['one', 'reject', 'workspace', undefined, 0],
        ['npm test *', 'allow', 'user', undefined, 0],
        ['edit, read ./src/**', 'ask', 'user', undefined, 1],
      ],
    )
  })

  it('are left out of a scope that has too many, and the others count', () => {
    const huge = Array.from({ length: 20_000 }, () => 5)
    const { rules, problems } = read(
      [{ command: 'npm test', action: 'ask' }],
      [{ scope: 'workspace', value: huge }],
    )
    assert.deepEqual([rules.length, problems.length], [1, 1])
    assert.match(
      describeProblem(problems[0]!),
      /^parley\.permissionRules \(workspace settings\): expected at most/,
    )
  })

  it('reject a rule without any condition', () => {
    for (const rule of [{ action: 'allow' }, { agent: '*', action: 'allow' }]) {
      const { rules, problems } = read([rule])
      assert.deepEqual(rules, [])
      assert.match(
        describeProblem(problems[0]!),
        /^parley\.permissionRules\[0\] \(user settings\): expected an agent/,
      )
    }
  })

  it('omit an invalid rule and report why', () => {
    assert.match(problemsOf({})[0]!, /expected an array of rules, found an object/)
    assert.match(problemsOf(['x'])[0]!, /expected an object with an "action", found a string/)
    assert.match(problemsOf([{ kind: 'edit' }])[0]!, /› action|\[0\].*action.*expected one of/)
    assert.match(
      problemsOf([{ kind: 'edit', action: 'maybe' }])[0]!,
      /expected one of "allow", "ask", "reject"/,
    )
    assert.match(problemsOf([{ comand: 'x', kind: 'edit', action: 'allow' }])[0]!, /unknown rule property/)
    assert.match(problemsOf([{ kind: 7, action: 'allow' }])[0]!, /kind/)
    assert.match(problemsOf([{ kind: [], action: 'allow' }])[0]!, /kind/)
    for (const command of ['a && b', 'a; b', 'a $(b)', 'a > b', 'X=1 a', 'a "', '']) {
      assert.equal(read([{ command, action: 'allow' }]).rules.length, 0, command)
    }
    for (const path of ['/etc/**', '../x', 'a/../../b', '~/x', '', 'C:\\x', '{..,a}/b']) {
      assert.equal(read([{ path, action: 'allow' }]).rules.length, 0, path)
    }
    const { rules } = read(['x', { command: 'ls', action: 'allow' }])
    assert.deepEqual([rules.length, rules[0]?.position], [1, 1])
  })

  it('match paths as the file systems of the platform usually do', () => {
    const layers: SettingLayer[] = [{ scope: 'user', value: [{ path: 'src/**', action: 'reject' }] }]
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const [rule] = readPermissionRules(layers, platform).rules
      assert.equal(rule?.path?.('src/a.ts'), true, platform)
      assert.equal(rule?.path?.('SRC/a.ts'), platform !== 'linux', platform)
    }
  })

  it('report an unknown kind of tool and keep the rule', () => {
    const { rules, problems } = read([{ kind: 'exeute', action: 'reject' }])
    assert.equal(rules.length, 1)
    assert.equal(problems[0]?.fatal, false)
  })
})
