import assert from 'node:assert/strict'
import type { SentPrompt } from '../../../src/conversation/attachment.ts'
import { until } from '../../support/until.ts'
import { House } from './house.ts'

describe('Outbox', () => {
  let house: House

  beforeEach(() => {
    house = new House()
  })

  const prompt = (id: string, after?: string): SentPrompt => ({
    id,
    draft: { text: id, marks: [], items: [] },
    ...(after !== undefined && { after }),
  })
  const make = (text: string) => async () => [{ type: 'text' as const, text }]
  const received = () =>
    house.agent.prompts.map(({ content }) =>
      content.map(block => (block.type === 'text' ? block.text : '')).join(),
    )
  const begin = async (agentId: string, sessionId: string) => {
    const starting = house.controller.start(agentId)
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news.at(-1)?.resolve({ sessionId })
    await starting
  }

  it('begins a session with the first prompt, and hands over in their order what was sent meanwhile', async () => {
    const { outbox } = house.controller
    const first = outbox.send('new', prompt('p1'), make('one'))
    const second = outbox.send('new', prompt('p2', 'p1'), make('two'))
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    assert.deepEqual(
      outbox.waiting('new').map(({ id, refused }) => [id, refused]),
      [
        ['p1', undefined],
        ['p2', undefined],
      ],
    )
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await Promise.all([first, second])
    await until(() => house.agent.prompts.length === 1)
    assert.deepEqual(received(), ['one'])
    assert.deepEqual(
      house.controller.current?.session.queued.map(({ content }) => content),
      [[{ type: 'text', text: 'two' }]],
    )
    // the one in the queue is kept on, as one that waits there
    assert.deepEqual(
      house.drafts.sent.map(({ id, draft }) => [id === 'p2', draft.text]),
      [[false, 'two']],
    )
    assert.deepEqual(outbox.waiting('one/s1'), [])
  })

  it('refuses with a prompt all that were sent after it, and keeps them under the session that has begun', async () => {
    const { outbox } = house.controller
    const refuse = async () => {
      throw new Error('No images, please.')
    }
    const sending = [
      outbox.send('new', prompt('p1'), refuse),
      outbox.send('new', prompt('p2', 'p1'), make('two')),
    ]
    const refused = sending.map(one => assert.rejects(one, /No images/))
    await until(() => house.started.length > 0 && house.agent.news.length > 0)
    house.agent.news[0]?.resolve({ sessionId: 's1' })
    await Promise.all(refused)
    assert.deepEqual(
      outbox.waiting('one/s1').map(({ id, refused }) => [id, refused]),
      [
        ['p1', 'No images, please.'],
        ['p2', 'No images, please.'],
      ],
    )
    await assert.rejects(outbox.outcome('p2'), /No images/)
    outbox.takenBack('one/s1', ['p1', 'p2'])
    assert.deepEqual([house.drafts.sent, outbox.waiting('one/s1')], [[], []])
    assert.deepEqual(received(), [])
  })

  it('leaves to the conversation it was written for what was not sent before another one was shown', async () => {
    await begin('one', 's1')
    const { controller } = house
    const { outbox } = controller
    let go = () => {}
    const waits = new Promise<void>(resolve => {
      go = resolve
    })
    const sending = outbox.send('one/s1', prompt('p1'), async () => {
      await waits
      return [{ type: 'text', text: 'one' }]
    })
    const refused = assert.rejects(sending, /changed meanwhile/)
    const first = controller.current!
    controller.leave()
    go()
    await refused
    assert.deepEqual(outbox.waiting('new'), [])
    controller.show(first)
    assert.deepEqual(
      outbox.waiting('one/s1').map(({ id }) => id),
      ['p1'],
    )
  })

  it('does not hand over twice, nor what is of another conversation', async () => {
    await begin('one', 's1')
    const { outbox } = house.controller
    await outbox.send('one/s1', prompt('p1'), make('one'))
    await outbox.outcome('p1')
    await assert.rejects(outbox.send('two/s9', prompt('p2'), make('two')), /changed meanwhile/)
    await until(() => house.agent.prompts.length === 1)
    assert.deepEqual(received(), ['one'])
    assert.deepEqual(
      house.drafts.sent.map(({ id, key }) => [id, key]),
      [['p2', 'two/s9']],
    )
  })

  it('gives back what has nothing in it that could be sent', async () => {
    await begin('one', 's1')
    const { outbox } = house.controller
    await assert.rejects(outbox.send('one/s1', prompt('p1'), make('  \n')), /nothing in it/)
    assert.equal(outbox.waiting('one/s1').length, 1)
  })

  it('leaves what is on its way to whoever shows the conversation next, when its place is closed', async () => {
    const tab = house.place()
    const sending = tab.outbox.send('new', prompt('p1'), make('one'))
    void sending.catch(() => {})
    tab.dispose()
    assert.deepEqual(
      house.controller.outbox.waiting('new').map(({ id }) => id),
      ['p1'],
    )
  })
})
