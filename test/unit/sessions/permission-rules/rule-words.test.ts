import assert from 'node:assert/strict'
import { ruleText, withAnyArguments } from '../../../../src/sessions/permission-rules/rule.ts'

describe('the description of a permission rule', () => {
  it('says what it matches', () => {
    assert.equal(ruleText({ command: 'npm test *' }), 'Commands that start with npm test')
    assert.equal(ruleText({ command: 'npm test' }), 'The command npm test')
    assert.equal(ruleText({ command: "grep '*' x" }), "The command grep '*' x")
    assert.equal(ruleText({ command: '*' }), 'All commands')
    const allow = { action: 'allow' } as const
    for (const [command, text] of [
      ['git log *', 'Commands that start with git log'],
      ['npm test **', 'Commands that start with npm test: anything npm can do'],
      ['git push **', 'Commands that start with git push: anything git can do'],
      ['npm test *', 'Nothing: write ** instead of * for anything npm can do'],
      ['git push *', 'Nothing: write ** instead of * for anything git can do'],
      ['npm run test:*', 'Nothing: write ** instead of * for anything npm can do'],
      ['*', 'Commands that only read'],
      ['**', 'Commands that only read'],
      ['make test', 'The command make test'],
    ] as const)
      assert.equal(ruleText({ command, ...allow }), text)
    assert.equal(ruleText({ command: 'make *', action: 'reject' }), 'Commands that start with make')
    assert.equal(ruleText({ command: 'make **', action: 'reject' }), 'Commands that start with make')
    assert.equal(ruleText({ kind: 'edit', path: 'src/**' }), 'Edits in the folder src')
    assert.equal(ruleText({ kind: 'edit', path: 'a/we\\[i\\]rd.ts' }), 'Edits: a/we[i]rd.ts')
    assert.equal(ruleText({ kind: 'edit', path: '**' }), "Edits in all of the session's folders")
    assert.equal(ruleText({ kind: ['read', 'search'] }), 'Reading files, Searches')
    assert.equal(ruleText({ agent: 'one' }), 'All tool calls')
    assert.equal(ruleText({ kind: 'new_kind' }), 'Other tool calls (new_kind)')
  })

  it('names the rule to write instead of one with * for a program whose arguments are not known', () => {
    const instead = (command: string) => withAnyArguments({ agent: 'one', command, action: 'allow' })
    for (const [command, next] of [
      ['npm test *', 'npm test **'],
      ['npm run test:*', 'npm run test:* **'],
      [' make  * ', 'make **'],
      ['git commit *', 'git commit **'],
      ['./cat *', './cat **'],
    ] as const)
      assert.deepEqual(instead(command), { agent: 'one', command: next, action: 'allow' })
    for (const command of [
      'git log *',
      'git *',
      'cat *',
      'npm test',
      'npm test **',
      '*',
      '*/cat *',
      "grep '*'",
    ])
      assert.equal(instead(command), undefined, command)
    assert.equal(withAnyArguments({ command: 'npm test *', action: 'reject' }), undefined)
    assert.equal(withAnyArguments({ kind: 'edit', action: 'allow' }), undefined)
  })
})
