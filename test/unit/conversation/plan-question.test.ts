import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { planPlace, planUri } from '../../../src/common/plan-uri.ts'
import { planOf, planOptions } from '../../../src/conversation/plan-question.ts'
import type { ToolCallEntry } from '../../../src/conversation/state.ts'
import { text } from './updates.ts'

const tool = (patch: Partial<ToolCallEntry>) =>
  planOf({
    ...{
      kind: 'tool_call',
      id: 'e1',
      turn: 1,
      toolCallId: 't',
      title: 'Approve Plan',
      toolKind: 'switch_mode',
    },
    ...{ status: 'pending', content: [], locations: [], canCancel: false },
    ...patch,
  })
const said = (value: string) => [{ type: 'content' as const, content: text(value) }]

describe('the plan of a question', () => {
  it('is in the input or the content of a tool call that leaves the planning', () => {
    assert.equal(
      tool({ rawInput: { plan: '# Do it', planFilePath: '/x' }, content: said('other') }),
      '# Do it',
    )
    assert.equal(tool({ content: said('# Do it') }), '# Do it')
    assert.equal(tool({ toolKind: 'other', toolName: 'exit_plan_mode', rawInput: { plan: '# X' } }), '# X')
  })

  it('is nothing for other tool calls, and for one that only switches the mode', () => {
    assert.equal(tool({ title: 'EnterPlanMode', rawInput: {} }), undefined)
    assert.equal(tool({ rawInput: { plan: ' \n' }, content: said('') }), undefined)
    assert.equal(tool({ rawInput: { plan: { hostile: true } } }), undefined)
    assert.equal(tool({ toolKind: 'edit', title: 'Write', rawInput: { plan: '# X' } }), undefined)
    assert.equal(tool({ toolKind: 'other', toolName: 'exit_plan_mode', content: said('# X') }), undefined)
  })
})

describe('the answers to a plan', () => {
  const option = (optionId: string, name: string, kind: string) => ({ optionId, name, kind })

  it('are found among those of Claude Code', () => {
    const options = [
      option('exit-plan-clear-auto', 'Yes, clear context (41% used) and use auto mode', 'allow_always'),
      option('exit-plan-auto', 'Yes, and use auto mode', 'allow_always'),
      option('exit-plan-default', 'Yes, manually approve edits', 'allow_once'),
      option('reject', 'No, keep planning', 'reject_once'),
    ]
    const { accept, acceptCleared, reject } = planOptions({ options })
    assert.deepEqual(
      [accept?.optionId, acceptCleared?.optionId, reject?.optionId],
      ['exit-plan-default', 'exit-plan-clear-auto', 'reject'],
    )
  })

  it('are found among those of Codex, and lack what an agent does not offer', () => {
    const implement = option('implement_plan', 'Yes, implement this plan', 'allow_once')
    const revise = option('revise_plan', 'No, and tell Codex what to do differently', 'reject_once')
    assert.deepEqual(planOptions({ options: [implement, revise] }), { accept: implement, reject: revise })
    assert.deepEqual(planOptions({ options: [] }), {})
    const cleared = option('c', 'Accept in a fresh context', 'allow_once')
    assert.deepEqual(planOptions({ options: [cleared] }), { acceptCleared: cleared })
  })
})

describe('the URI of a plan', () => {
  it('names its conversation and tool call, whatever their ids are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (key, toolCallId) => {
        const uri = planUri({ key, toolCallId })
        assert.deepEqual(uri === undefined ? { key, toolCallId } : planPlace(uri), { key, toolCallId })
      }),
    )
  })

  it('is not made of ids that are too long, and not read from anything else', () => {
    assert.equal(planUri({ key: 'k', toolCallId: 'x'.repeat(10_000) }), undefined)
    for (const uri of [
      'file:///a',
      'parley-plan:/Plan.md',
      'parley-plan:/Plan.md?%',
      'parley-plan:/Plan.md?[1,2]',
    ])
      assert.equal(planPlace(uri), undefined)
  })
})
