import assert from 'node:assert/strict'
import { entryCommands } from '../../../src/app/commands/entry-commands.ts'
import {
  type ConversationSurface,
  ConversationSurfaces,
} from '../../../src/app/conversation/conversation-surface.ts'
import { CommandId } from '../../../src/app/ids.ts'
import type { Workbench } from '../../../src/app/workbench.ts'
import { SessionsFixture } from '../sessions/sessions-fixture.ts'

describe('commands for a conversation whose end is shown while the rest of it is read', () => {
  const reference = { agentId: 'one', sessionId: 'long', cwd: '/w/a' }
  let fixture: SessionsFixture
  let exported: string[]
  let commands: ReturnType<typeof entryCommands>

  beforeEach(() => {
    fixture = new SessionsFixture()
    exported = []
    fixture.transcripts.write('one', 'long', {
      replace: true,
      entries: Array.from({ length: 1000 }, (_, position) => ({
        position,
        entry: {
          ...{ kind: 'message' as const, id: `e${position}`, turn: 1 + position },
          role: 'user' as const,
          blocks: [{ type: 'text' as const, text: `Prompt ${position}` }],
        },
      })),
      terminals: [],
    })
    const surface = { controller: fixture.controller } as ConversationSurface
    const exporter = {
      exportSession: async ({ sessionId }: { sessionId: string }) => void exported.push(sessionId),
    }
    const surfaces = new ConversationSurfaces()
    surfaces.add(surface)
    commands = entryCommands(surfaces, {} as Workbench, exporter)
    void fixture.controller.opener.reopen('load', reference).catch(() => {})
    assert.ok(fixture.controller.opener.end)
  })

  it('wait for the rest', async () => {
    const exporting = commands[CommandId.exportConversation]()
    fixture.controller.opener.end?.drawn.resolve()
    await exporting
    assert.deepEqual(exported, ['long'])
  })

  it('do nothing if the user goes to another conversation meanwhile', async () => {
    const exporting = commands[CommandId.exportConversation]()
    fixture.controller.leave()
    await assert.rejects(exporting, /No conversation is open/)
    assert.deepEqual(exported, [])
  })
})
