import assert from 'node:assert/strict'
import { AgentRequestError } from '../../../../src/acp/agent.ts'
import { PromptQueue, type PromptStorage } from '../../../../src/conversation/prompts/prompt-queue.ts'
import { Session } from '../../../../src/conversation/session.ts'
import { FakeAgent, settle } from '../fake-agent.ts'
import { idle, running } from '../updates.ts'

const text = (words: string) => ({ type: 'text' as const, text: words })

describe('PromptQueue', () => {
  let agent: FakeAgent
  let session: Session

  beforeEach(() => {
    agent = new FakeAgent()
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    session = new Session({ agent, sessionId: 's', setup, phase: 'ready' })
    agent.onUpdate(({ update }) => session.receive(update))
    for (const words of ['running', 'one', 'two', 'three']) void session.prompt([text(words)])
  })

  const waiting = () =>
    session.turns.queue.queued.map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''))
  const idOf = (words: string) => session.turns.queue.queued[waiting().indexOf(words)]!.id
  const sent = () => agent.prompts.map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''))

  it('moves a prompt', () => {
    session.turns.queue.move(idOf('three'), 0)
    assert.deepEqual(waiting(), ['three', 'one', 'two'])
    session.turns.queue.move(idOf('three'), 99)
    assert.deepEqual(waiting(), ['one', 'two', 'three'])
    session.turns.queue.move('gone', 0)
    assert.deepEqual(waiting(), ['one', 'two', 'three'])
  })

  it('can send a prompt now, which stops the turn and keeps the order of the others', async () => {
    session.turns.sendNow(idOf('two'))
    assert.equal(agent.cancels.length, 1)
    assert.deepEqual(sent(), ['running'])
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    assert.deepEqual(sent(), ['running', 'two'])
    agent.endTurn(agent.prompts[1]!)
    await settle()
    assert.deepEqual([sent(), session.turns.queue.isPaused], [['running', 'two', 'one'], false])
  })

  it('can send a prompt now even if the agent ends the stopped turn with an error', async () => {
    session.turns.sendNow(idOf('two'))
    agent.prompts[0]!.answer.reject(
      new AgentRequestError('session/prompt', 'cancelled', { code: -32800, message: 'cancelled' }),
    )
    await settle()
    assert.deepEqual(sent(), ['running', 'two'])
  })

  it('can send a prompt now from a paused queue without stopping anything', async () => {
    session.turns.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    assert.equal(session.turns.queue.isPaused, true)
    session.turns.sendNow(idOf('three'))
    assert.deepEqual([sent(), agent.cancels.length], [['running', 'three'], 1])
  })

  it('can send a prompt now by stopping what the agent does without a prompt', async () => {
    session.turns.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    agent.say('s', running)
    session.turns.sendNow(idOf('three'))
    assert.deepEqual([agent.cancels.length, sent().length], [2, 1])
    agent.say('s', idle('cancelled'))
    await settle()
    assert.equal(sent()[1], 'three')
  })

  it('sends a prompt that is written after a stop before the queued ones', async () => {
    session.turns.cancel()
    for (const words of ['no, this', 'and this']) void session.prompt([text(words)])
    assert.deepEqual(waiting(), ['no, this', 'and this', 'one', 'two', 'three'])
    for (const call of agent.prompts) {
      agent.endTurn(call)
      await settle()
      if (sent().length === 4) void session.prompt([text('last')])
    }
    assert.deepEqual(sent(), ['running', 'no, this', 'and this', 'one', 'two', 'three', 'last'])
  })

  it('sends a prompt that is written after a stop behind a queued one that the user has moved to the front', () => {
    session.turns.cancel()
    void session.prompt([text('no, this')])
    session.turns.queue.move(idOf('two'), 0)
    void session.prompt([text('and this')])
    assert.deepEqual(waiting(), ['two', 'no, this', 'and this', 'one', 'three'])
  })

  it('sends a prompt that is written after a failed turn first', async () => {
    agent.prompts[0]!.answer.reject(new Error('broken'))
    await settle()
    assert.equal(session.turns.queue.isPaused, true)
    void session.prompt([text('instead')])
    assert.deepEqual([sent().at(-1), waiting()], ['instead', ['one', 'two', 'three']])
  })

  it('pauses again if a prompt that was written after a stop is refused', async () => {
    session.turns.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    session.turns.queue.enqueue({ id: 'p', draft: { text: 'p', chips: [], items: [] } }, async () => {
      throw new Error('No images, please.')
    })
    await settle()
    assert.deepEqual(
      [sent(), waiting(), session.turns.queue.isPaused],
      [['running'], ['one', 'two', 'three'], true],
    )
    assert.deepEqual(
      session.turns.queue.returned.map(({ id, reason }) => [id, reason]),
      [['p', 'No images, please.']],
    )
  })

  it('stays paused if the user stops again after selecting a prompt to send next', async () => {
    session.turns.sendNow(idOf('two'))
    session.turns.cancel()
    agent.endTurn(agent.prompts[0]!, 'cancelled')
    await settle()
    assert.deepEqual([sent(), session.turns.queue.isPaused], [['running'], true])
  })

  it('returns a prompt to the composer, from which it can be sent again', async () => {
    assert.equal(session.turns.queue.edit(idOf('two')), true)
    assert.equal(session.turns.queue.edit('gone'), false)
    assert.deepEqual(waiting(), ['one', 'three'])
    const [{ id, draft, reason } = assert.fail()] = session.turns.queue.returned
    assert.deepEqual([draft.text, reason], ['two', undefined])
    session.turns.queue.movedToComposer([id], draft)
    assert.deepEqual(session.turns.queue.returned, [])
    session.turns.queue.enqueue({ id, draft }, async () => [text('two!')])
    await settle()
    assert.deepEqual(waiting(), ['one', 'three', 'two!'])
  })

  it('stores what an agent refused in the queue of the next session before it leaves this one', async () => {
    const stored = new Map<string, string[]>()
    const counts: number[] = []
    const storage: PromptStorage = {
      save(key, prompts) {
        stored.set(
          key,
          prompts.map(({ id }) => id),
        )
        counts.push(new Set([...stored.values()].flat()).size)
      },
      holds: () => true,
    }
    const [one, next] = [new PromptQueue('one', storage), new PromptQueue('next', storage)]
    one.add([text('refused')])
    const prompt = one.take()!
    one.requireSignIn(prompt, { message: 'Sign in' })
    await settle()
    counts.length = 0
    one.moveAwaitingTo(next)
    await settle()
    assert.deepEqual(Object.fromEntries(stored), { one: [], next: [prompt.id] })
    assert.deepEqual([...new Set(counts)], [1])
  })

  it('adds a prompt with the same id once', async () => {
    const queue = new PromptQueue()
    const prompt = { id: 'p', draft: { text: 'p', chips: [], items: [] } }
    const made: string[] = []
    for (const name of ['first', 'second']) {
      queue.enqueue(prompt, async () => {
        made.push(name)
        return [text(name)]
      })
    }
    await settle()
    assert.deepEqual([made, queue.prompts.length], [['first'], 1])
  })

  it('leaves its prompts to another window once they are stored for that window', async () => {
    const last = session.prompt([text('last')])
    session.turns.queue.handOver(() => false)
    assert.deepEqual(waiting(), ['one', 'two', 'three', 'last'])
    session.turns.queue.handOver(() => true)
    assert.deepEqual(waiting(), [])
    assert.deepEqual(await last, { type: 'withdrawn' })
  })

  it('notifies the session that was connected last, also after an earlier one was disconnected', () => {
    const queue = new PromptQueue()
    const ready: string[] = []
    const earlier = queue.connect(() => ready.push('earlier'))
    queue.connect(() => ready.push('later'))
    earlier.dispose()
    queue.add([text('go')])
    assert.deepEqual(ready, ['later'])
  })

  it('ignores a prompt that is no longer queued', () => {
    session.turns.sendNow('gone')
    assert.deepEqual([agent.cancels.length, sent()], [0, ['running']])
  })
})
