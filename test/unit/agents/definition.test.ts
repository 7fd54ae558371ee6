import assert from 'node:assert/strict'
import { chooseSystemPrompt, planSystemPrompt } from '../../../src/agents/definition.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'

describe("the user's system prompt", () => {
  const can = (override?: boolean) => ({
    ...new FakeAgent().capabilities,
    ...(override !== undefined && { systemPrompt: { override } }),
  })
  const append = { text: 'Be brief.', mode: 'append' } as const

  it('is only sent to an agent that supports it, in a supported way', () => {
    const given = { mode: 'append', content: [{ type: 'text', text: 'Be brief.' }] }
    assert.deepEqual(planSystemPrompt(append, can(false)), { given, systemPrompt: 'appended' })
    assert.deepEqual(planSystemPrompt(append, can()), { systemPrompt: 'not-taken' })
    const override = { ...append, mode: 'override' } as const
    assert.deepEqual(planSystemPrompt(override, can(false)), { systemPrompt: 'not-taken' })
    assert.deepEqual(planSystemPrompt(override, can(true)), {
      given: { ...given, mode: 'override' },
      systemPrompt: 'overrides',
    })
    assert.deepEqual(planSystemPrompt(undefined, can(true)), {})
  })

  it("is the agent's own if that isn't blank, else the common one", () => {
    assert.deepEqual(chooseSystemPrompt(undefined, 'Be brief.'), append)
    assert.equal(chooseSystemPrompt({ text: ' ', mode: 'append' }, 'Be brief.'), undefined)
    for (const nothing of ['', ' \n', undefined, 5])
      assert.equal(chooseSystemPrompt(undefined, nothing), undefined)
  })
})
