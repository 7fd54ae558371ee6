import assert from 'node:assert/strict'
import type { PermissionOption, ToolKind } from '../../../src/acp/model.ts'
import { PlanDocuments } from '../../../src/app/conversation/plan-documents.ts'
import { Emitter } from '../../../src/common/event.ts'
import { planUri } from '../../../src/common/plan-uri.ts'
import { Session } from '../../../src/conversation/session.ts'
import type { OpenSession } from '../../../src/sessions/open-session.ts'
import { FakeAgent } from '../conversation/fake-agent.ts'
import { permissionRequest } from '../conversation/updates.ts'

const options: PermissionOption[] = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]

describe('the document of a plan', () => {
  const session = new Session({
    agent: new FakeAgent(),
    sessionId: 's',
    setup: { cwd: '/', additionalDirectories: [], mcpServers: [] },
    phase: 'ready',
  })
  const open = { key: 'k', agentName: 'Agent', session } as OpenSession
  const changes = new Emitter<unknown>()
  const plans = new PlanDocuments({
    sessions: { withKey: () => open, onDidChange: changes.event },
  } as unknown as ConstructorParameters<typeof PlanDocuments>[0])
  after(() => {
    plans.dispose()
    changes.dispose()
    session.dispose()
  })
  function ask(toolCallId: string, patch: { title: string; kind: ToolKind; rawInput: object }): string {
    const toolCall = { toolCallId, status: 'pending' as const, ...patch }
    const request = permissionRequest({ sessionId: 's', options, subject: { type: 'tool_call', toolCall } })
    void session.requests.requestPermission(request, new AbortController().signal)
    return session.requests.open.at(-1)!.requestId
  }
  const plan = { title: 'Plan', kind: 'switch_mode', rawInput: { plan: '# Plan' } } as const

  it("doesn't answer the question about another tool call that has the id of the plan's", async () => {
    const uri = planUri({ key: 'k', toolCallId: 'p' })!
    const first = ask('p', plan)
    assert.equal(plans.plan(uri).pending?.requestId, first)
    await plans.accept(uri, 'accept')
    const second = ask('p', { title: 'rm', kind: 'execute', rawInput: { command: 'rm -rf .' } })
    assert.equal(plans.plan(uri).pending, undefined)
    await assert.rejects(plans.accept(uri, 'accept'), /already answered/)
    assert.deepEqual(
      session.requests.open.map(({ requestId }) => requestId),
      [second],
    )
  })

  it('says why it is not opened if the ids are too long for its address', () => {
    const id = ask('p'.repeat(9000), plan)
    assert.throws(() => plans.open(open, id), /too long/)
  })
})
