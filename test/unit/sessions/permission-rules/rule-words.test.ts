import assert from 'node:assert/strict'
import { ruleText } from '../../../../src/sessions/permission-rules/rule.ts'

describe('the description of a permission rule', () => {
  it('says what it matches', () => {
    assert.equal(ruleText({ command: 'npm test *' }), 'Commands that start with npm test')
    assert.equal(ruleText({ command: 'npm test' }), 'The command npm test')
    assert.equal(ruleText({ command: "grep '*' x" }), "The command grep '*' x")
    assert.equal(ruleText({ command: '*' }), 'All commands')
    const allow = { action: 'allow' } as const
    assert.equal(ruleText({ command: 'npm test *', ...allow }), 'Commands that start with npm test')
    assert.equal(
      ruleText({ command: 'make -j4 *', ...allow }),
      'Commands that start with make -j4, with everything make can do',
    )
    assert.equal(
      ruleText({ command: 'git push *', ...allow }),
      'Commands that start with git push, with everything git can do',
    )
    assert.equal(ruleText({ command: 'make *', action: 'reject' }), 'Commands that start with make')
    assert.equal(ruleText({ command: '*', ...allow }), 'All commands, with everything they can do')
    assert.equal(ruleText({ command: 'make test', ...allow }), 'The command make test')
    assert.equal(ruleText({ kind: 'edit', path: 'src/**' }), 'Edits in the folder src')
    assert.equal(ruleText({ kind: 'edit', path: 'a/we\\[i\\]rd.ts' }), 'Edits: a/we[i]rd.ts')
    assert.equal(ruleText({ kind: 'edit', path: '**' }), "Edits in all of the session's folders")
    assert.equal(ruleText({ kind: ['read', 'search'] }), 'Reading files, Searches')
    assert.equal(ruleText({ agent: 'one' }), 'All tool calls')
    assert.equal(ruleText({ kind: 'new_kind' }), 'Other tool calls (new_kind)')
  })
})
