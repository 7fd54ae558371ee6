import assert from 'node:assert/strict'
import type { ContentBlock } from '../../../src/acp/model.ts'
import { contextFullHandlers } from '../../../src/app/conversation/context-full.ts'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { promptOf, type ReturnedPrompt } from '../../../src/conversation/attachment.ts'
import { until } from '../../support/until.ts'
import { chunk } from '../conversation/updates.ts'
import { SessionsFixture } from '../sessions/sessions-fixture.ts'

describe('the prompt for which the context was full', () => {
  it('goes to the input of the new session, or stays where it is if the user opens another one meanwhile', async () => {
    const fixture = new SessionsFixture()
    const { controller } = fixture
    const begin = async () => {
      void controller.opener.start('one')
      const asked = () => fixture.started.length > 0 && fixture.agent.newSessions.length
      const count = (asked() || 0) + 1
      await until(() => asked() === count)
    }
    const answer = async (sessionId: string) => {
      fixture.agent.newSessions.at(-1)?.resolve({ sessionId })
      await until(() => controller.current?.session.sessionId === sessionId && controller.phase === 'ready')
      return controller.current!
    }
    await begin()
    const other = await answer('other')
    await begin()
    const full = await answer('full')
    void full.session.prompt([{ type: 'text', text: 'begin' }])
    fixture.agent.say('full', chunk('agent', 'Begun.'))
    fixture.agent.endTurn(fixture.agent.prompts[0]!)
    await until(() => !full.session.turns.isWorking)
    void full.session.prompt([{ type: 'text', text: 'go' }])
    fixture.agent.say('full', chunk('agent', '{"error": {"code": "context_length_exceeded"}}'))
    fixture.agent.endTurn(fixture.agent.prompts[1]!)
    await until(() => full.session.state.entries.at(-1)?.kind === 'turn_end')

    const handlers = contextFullHandlers(controller, async () => undefined)
    const go = () => {
      const count = fixture.agent.newSessions.length + 1
      const done = handlers['conversation/contextFull']({
        key: full.key,
        entryId: full.session.state.entries.at(-1)!.id,
        next: 'continue',
      })
      return until(() => fixture.agent.newSessions.length === count).then(() => ({ done }))
    }
    const returned = () =>
      [other.key, full.key, controller.key].map(key =>
        fixture.queues.of(key).returned.map(({ draft }) => draft.text),
      )

    const { done: first } = await go()
    controller.show(other)
    await first
    assert.deepEqual(returned(), [[], [], []])

    controller.show(full)
    const { done: second } = await go()
    await answer('new')
    await second
    assert.deepEqual(returned(), [[], [], ['go']])
    await fixture.close()
  })
  it('goes on with less of the conversation each time, and not at all where only the prompt is left', async () => {
    const fixture = new SessionsFixture()
    const { controller } = fixture
    const omittedTexts: string[] = []
    const handlers = contextFullHandlers(controller, async (_agentId, text) => {
      omittedTexts.push(text)
      return omittedTexts.length === 1 ? 'It was about planets.' : undefined
    })
    let sessions = 0
    const answerNew = async (started: Promise<unknown>) => {
      const sessionId = `s${++sessions}`
      const asked = () => (fixture.started.length > 0 ? fixture.agent.newSessions.length : 0)
      const answered = asked()
      void started
      await until(() => asked() > answered)
      fixture.agent.newSessions.at(-1)?.resolve({ sessionId })
      await until(() => controller.current?.session.sessionId === sessionId && controller.phase === 'ready')
    }
    const had = new Map<string, number>()
    /** An agent whose model has this context, in characters. */
    const run = async (content: ContentBlock[], size: number) => {
      const { session } = controller.current!
      const { sessionId } = session
      const count = fixture.agent.prompts.length
      void session.prompt(content)
      await until(() => fixture.agent.prompts.length > count)
      had.set(
        sessionId,
        (had.get(sessionId) ?? 0) + JSON.stringify(fixture.agent.prompts.at(-1)!.content).length,
      )
      const isFull = had.get(sessionId)! > size
      if (!isFull) had.set(sessionId, had.get(sessionId)! + 3000)
      fixture.agent.say(
        sessionId,
        chunk('agent', isFull ? '{"error": {"code": "context_length_exceeded"}}' : 'x'.repeat(3000)),
      )
      fixture.agent.endTurn(fixture.agent.prompts.at(-1)!)
      await until(() => !session.turns.isWorking)
      return isFull
    }
    const next = () => {
      const { key, session } = controller.current!
      return handlers['conversation/contextFull']({
        key,
        entryId: session.state.entries.at(-1)!.id,
        next: 'continue',
      })
    }
    const text = (one: string): ContentBlock => ({ type: 'text', text: one })
    const takeReturned = () => {
      const returned = fixture.queues.of(controller.key).returned
      fixture.queues.of(controller.key).movedToComposer(
        returned.map(({ id }) => id),
        EMPTY_DRAFT,
      )
      return returned
    }

    for (const size of [100_000, 20_000, 8000]) {
      sessions += 10
      await answerNew(controller.opener.start('one'))
      for (let turn = 0; !(await run([text(`prompt ${turn}`)], size)); turn++);
      let isFull = true
      for (let tries = 0; isFull; tries++) {
        assert.ok(tries < 4, `${size}: still too long`)
        await answerNew(next())
        await until(() => fixture.queues.of(controller.key).returned.length > 0)
        isFull = await run(
          takeReturned().flatMap(({ draft }) => promptOf(draft) as ContentBlock[]),
          size,
        )
      }
      const [, context] = fixture.agent.prompts.at(-1)!.content as [ContentBlock, { text: string }?]
      assert.ok(context || size < 10_000)
      if (size === 100_000) {
        assert.ok(omittedTexts.length === 1 && omittedTexts[0]!.length < size)
        assert.match(
          context!.text,
          /only its last turns.*\n\n## Summary of the Earlier Turns\n\nIt was about planets\.\n/,
        )
      }
    }

    // a prompt that alone is too long
    sessions += 10
    await answerNew(controller.opener.start('one'))
    await run([text('y'.repeat(9000))], 8000)
    const before = fixture.agent.newSessions.length
    await next()
    const [{ reason, draft }] = takeReturned() as [ReturnedPrompt]
    assert.deepEqual([fixture.agent.newSessions.length, draft.text.length], [before, 9000])
    assert.match(reason ?? '', /would fail in the same way/)
    await fixture.close()
  })
})
