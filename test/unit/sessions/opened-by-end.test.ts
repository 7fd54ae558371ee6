import { strict as assert } from 'node:assert'
import { EMPTY_DRAFT } from '../../../src/common/draft.ts'
import { until } from '../../support/until.ts'
import { type SessionsFixture, sendPrompt, twoWindows } from './sessions-fixture.ts'

const COUNT = 1000
const reference = { agentId: 'one', sessionId: 'long', cwd: '/w/a', title: 'Long' }
const KEY = 'one/long'

describe('a long conversation that is opened by its end', () => {
  let first: SessionsFixture
  let second: SessionsFixture
  const count = ({ controller }: SessionsFixture) => controller.current?.session.state.entries.length
  const asked = ({ started }: SessionsFixture) =>
    started.flatMap(({ agent }) => [...agent.loads, ...agent.resumes])
  const sent = ({ started }: SessionsFixture) =>
    started.flatMap(({ agent }) =>
      agent.prompts.map(({ content: [block] }) => block?.type === 'text' && block.text),
    )
  const failure = ({ controller }: SessionsFixture) =>
    [...controller.failures].map(([id, one]) => ({ id, ...one }))[0]

  function entry(position: number) {
    return {
      position,
      entry: {
        ...{ kind: 'message' as const, id: `e${position}`, turn: 1 + position },
        role: 'user' as const,
        blocks: [{ type: 'text' as const, text: `Prompt ${position}` }],
      },
    }
  }

  /** Opens it, up to where its end is shown. */
  function open(fixture: SessionsFixture): Promise<void> {
    const opening = fixture.controller.opener.reopen('load', reference)
    assert.equal(fixture.controller.opener.end?.conversation.entries.length, 50)
    assert.equal(fixture.controller.key, KEY)
    return opening
  }

  /** The page has drawn the end, and the agent answers. */
  async function goOn(fixture: SessionsFixture): Promise<void> {
    fixture.controller.opener.end?.drawn.resolve()
    await until(() => asked(fixture).length > 0)
    for (const one of asked(fixture)) one.resolve({ sessionId: 'long' })
  }

  beforeEach(() => {
    ;[first, second] = twoWindows()
    const entries = Array.from({ length: COUNT }, (_, position) => entry(position))
    first.transcripts.write('one', 'long', { replace: true, entries, terminals: [] })
  })

  it("is opened by one of two windows at the same time; the other window's prompt returns to its composer", async () => {
    const opening = [open(first), open(second)]
    const [mine, theirs] = [sendPrompt(first.controller, 'mine'), sendPrompt(second.controller, 'theirs')]
    const refused = assert.rejects(theirs)
    await goOn(first)
    second.controller.opener.end?.drawn.resolve()
    await Promise.all([...opening, mine, refused])
    await until(() => sent(first).length === 1)
    assert.deepEqual([sent(first), sent(second), asked(second).length], [['mine'], [], 0])
    assert.deepEqual([first.controller.phase, second.controller.phase], ['ready', 'ended'])
    assert.equal(second.drafts.get(KEY).text, 'theirs')

    // and is sent once this window has taken the session over
    const reported = failure(second)
    assert.ok(reported?.type === 'elsewhere')
    first.agent.endTurn(first.agent.prompts[0]!)
    const taking = second.controller.opener.takeOver(reported.id)
    await goOn(second)
    await taking
    await sendPrompt(second.controller, second.drafts.get(KEY).text)
    await until(() => sent(second).length === 1)
    assert.deepEqual([sent(first), sent(second)], [['mine'], ['theirs']])
  })

  it('has what another window added before the rest of it was read', async () => {
    const opening = open(first)
    second.transcripts.write('one', 'long', { replace: false, entries: [entry(COUNT)], terminals: [] })
    await goOn(first)
    await opening
    assert.equal(count(first), COUNT + 1)
  })

  it('is followed in the other window if that has it and works in it meanwhile', async () => {
    const having = open(second)
    await goOn(second)
    await having
    const opening = open(first)
    await sendPrompt(second.controller, 'and more')
    const saved = () => second.transcripts.read('one', 'long')!.entries.length
    await until(() => saved() > COUNT)
    first.controller.opener.end?.drawn.resolve()
    await opening
    assert.equal(failure(first)?.type, 'elsewhere')
    await until(() => count(first) === saved())
    first.controller.dispose()
  })

  for (const isDrawn of [false, true])
    it(`keeps prompts and the draft if the window is killed ${isDrawn ? 'while its agent starts' : 'before the rest of it was read'}`, async () => {
      first.onStart = () => new Promise(() => {})
      void open(first)
      const id = 'written-before-the-crash'
      const draft = { ...EMPTY_DRAFT, text: 'mine' }
      first.controller.prompts.enqueue(KEY, { id, draft }, { composer: EMPTY_DRAFT })
      if (isDrawn) {
        first.controller.opener.end?.drawn.resolve()
        await until(() => first.controller.current !== undefined)
      }
      first.kill()
      const { queues } = first.nextWindow()
      assert.deepEqual(
        queues.of(KEY).returned.map(one => [one.id, one.draft.text]),
        [[id, 'mine']],
      )
      // another window can have it at once, with all of it
      const opening = open(second)
      await goOn(second)
      await opening
      assert.deepEqual([count(second), second.controller.phase], [COUNT, 'ready'])
    })
})
