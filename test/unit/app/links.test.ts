import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ConversationSurfaces } from '../../../src/app/conversation/conversation-surface.ts'
import { HiddenCommandId } from '../../../src/app/ids.ts'
import { type LinkOptions, linkCommands, readLink, sessionPath } from '../../../src/app/links.ts'
import { UnavailableError } from '../../../src/common/errors.ts'
import { hasHidden } from '../../../src/common/visible.ts'

describe('links into Parley', () => {
  it('lead to the session that they were made for', () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }).filter(text => !hasHidden(text))
    fc.assert(
      fc.property(id, id, (agentId, sessionId) => {
        // VS Code decodes a path once
        const path = decodeURIComponent(sessionPath({ agentId, sessionId }))
        assert.deepEqual(readLink(path, ''), { type: 'session', agentId, sessionId })
      }),
    )
  })

  it('have an agent and a prompt, which may contain anything that can be seen', () => {
    const read = (query: string) => readLink('/new', query)
    assert.deepEqual(read(''), { type: 'new', agentId: undefined, prompt: '' })
    assert.deepEqual(read('agent=codex'), { type: 'new', agentId: 'codex', prompt: '' })
    assert.deepEqual(read('prompt=a & b=c\r\n\td'), {
      type: 'new',
      agentId: undefined,
      prompt: 'a & b=c\n\td',
    })
    assert.deepEqual(read('agent=a b&prompt=x&agent=y'), {
      type: 'new',
      agentId: 'a b',
      prompt: 'x&agent=y',
    })
    assert.deepEqual(read('prompt=👩‍💻 می‌خواهم'), { type: 'new', agentId: undefined, prompt: '👩‍💻 می‌خواهم' })
  })

  it("aren't opened if they're malformed, too long, or have text that can't be seen", () => {
    const refused: Array<[path: unknown, query: unknown]> = [
      [undefined, undefined],
      ['', ''],
      ['/', ''],
      ['/session/', ''],
      ['/session/agent', ''],
      ['/session/agent/', ''],
      ['/session/%E0%A4%A/s', ''],
      ['/session/a\u0000/s', ''],
      ['/session/%00/s', ''],
      [`/session/a/${'s'.repeat(5000)}`, ''],
      ['/newer', 'prompt=x'],
      ['/new', 'x=y'],
      ['/new', 'prompt=a\u001b[31m'],
      ['/new', 'prompt=a\u202eb'],
      ['/new', 'prompt=a\u{e0041}'],
      ['/new', 'agent=a\u200bb'],
      ['/new', `agent=${'a'.repeat(5000)}`],
      ['/new', `prompt=${'a'.repeat(20_001)}`],
    ]
    for (const [path, query] of refused)
      assert.throws(
        () => readLink(path, query),
        UnavailableError,
        JSON.stringify([path, query])?.slice(0, 80),
      )
  })

  describe('when opened', () => {
    let done: string[] = []
    /** what is displayed once `start` is over */
    let after: { current?: object; keyBefore?: string } = {}
    beforeEach(() => {
      after = { current: {}, keyBefore: 'new' }
    })
    const options = (isTrusted = true) => {
      done = []
      const active = {
        reveal: async () => void done.push('reveal'),
        controller: {
          current: undefined,
          opener: {
            start: async (agentId?: string) => {
              done.push(`start ${agentId}`)
              Object.assign(active.controller, after)
            },
          },
        },
        write: (text: string) => void done.push(`write ${text}`),
      }
      return {
        workbench: { isTrusted },
        surfaces: { active, open: ConversationSurfaces.prototype.open },
        agents: { ready: async () => {}, get: (agentId: string) => (agentId === 'codex' ? {} : undefined) },
        history: { find: (_agent: string, sessionId: string) => (sessionId === 's' ? {} : undefined) },
        historyView: { open: async (...ids: string[]) => void done.push(`open ${ids}`) },
      } as unknown as LinkOptions
    }
    const open = (path: string, query: string, isTrusted?: boolean) =>
      linkCommands(options(isTrusted))[HiddenCommandId.openLink](path, query)

    it('show a known session, or fill the input', async () => {
      await open('/session/codex/s', '')
      assert.deepEqual(done, ['open codex,s'])
      await open('/new', 'agent=codex&prompt=Hello')
      assert.deepEqual(done, ['start codex', 'reveal', 'write Hello'])
      await open('/new', 'prompt=Hello')
      assert.deepEqual(done, ['start undefined', 'reveal', 'write Hello'])
    })

    it('fill the input of no session that the user opened while one was started', async () => {
      after = { current: {} }
      await open('/new', 'prompt=Hello')
      assert.deepEqual(done, ['start undefined', 'reveal'])
      after = {}
      await open('/new', 'prompt=Hello')
      assert.equal(done.at(-1), 'write Hello')
    })

    it('do nothing in Restricted Mode, and say what they lack', async () => {
      for (const [path, query] of [
        ['/session/codex/s', ''],
        ['/new', 'agent=codex&prompt=Hello'],
      ] as const) {
        await assert.rejects(open(path, query, false), /Restricted Mode/)
        assert.deepEqual(done, [])
      }
      await assert.rejects(open('/session/codex/other', ''), /wasn't found/)
      await assert.rejects(open('/new', 'agent=other&prompt=Hello'), /“other”/)
      assert.deepEqual(done, [])
    })
  })
})
