import assert from 'node:assert/strict'
import { ruleWords } from '../../../../src/sessions/permission-rules/rule.ts'

describe('the description of a permission rule', () => {
  it('says what it matches', () => {
    assert.equal(ruleWords({ command: 'npm test *' }), 'Commands that start with npm test')
    assert.equal(ruleWords({ command: 'npm test' }), 'The command npm test')
    assert.equal(ruleWords({ command: "grep '*' x" }), "The command grep '*' x")
    assert.equal(ruleWords({ command: '*' }), 'All commands')
    const allow = { action: 'allow' } as const
    assert.equal(ruleWords({ command: 'npm test *', ...allow }), 'Commands that start with npm test')
    assert.equal(
      ruleWords({ command: 'make -j4 *', ...allow }),
      'Commands that start with make -j4, with everything make can do',
    )
    assert.equal(
      ruleWords({ command: 'git push *', ...allow }),
      'Commands that start with git push, with everything git can do',
    )
    assert.equal(ruleWords({ command: 'make *', action: 'reject' }), 'Commands that start with make')
    assert.equal(ruleWords({ command: '*', ...allow }), 'All commands, with everything they can do')
    assert.equal(ruleWords({ command: 'make test', ...allow }), 'The command make test')
    assert.equal(ruleWords({ kind: 'edit', path: 'src/**' }), 'Edits in the folder src')
    assert.equal(ruleWords({ kind: 'edit', path: 'a/we\\[i\\]rd.ts' }), 'Edits: a/we[i]rd.ts')
    assert.equal(ruleWords({ kind: 'edit', path: '**' }), "Edits in all of the session's folders")
    assert.equal(ruleWords({ kind: ['read', 'search'] }), 'Reading files, Searches')
    assert.equal(ruleWords({ agent: 'one' }), 'All tool calls')
    assert.equal(ruleWords({ kind: 'new_kind' }), 'Other tool calls (new_kind)')
  })
})
