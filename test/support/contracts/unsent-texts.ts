import assert from 'node:assert/strict'
import type { UnsentText, UnsentTexts } from '../../../src/history/unsent-texts.ts'

/** What the tests need of the place where windows store unsent texts. */
export interface UnsentTextsWorld {
  /** Opens a window, which is there from its first write on. */
  open(workspace?: string): UnsentTexts
  /** The window ends without closing. */
  kill(window: UnsentTexts): void
}

/** What holds for the unsent texts of windows, wherever they are. */
export function unsentTextsContract(create: () => UnsentTextsWorld): void {
  let world: UnsentTextsWorld
  beforeEach(() => {
    world = create()
  })
  const none = new Map<string, string>()
  const text = (id: string, more: Partial<UnsentText> = {}): UnsentText => ({
    id,
    kind: 'prompt',
    conversation: 'a/1',
    text: JSON.stringify({ text: `text of ${id}`, chips: [] }),
    ...more,
  })
  const ids = (texts: readonly UnsentText[]) => texts.map(({ id }) => id)

  it('are taken over as they were, in their order, once, when their window has closed', () => {
    const one = world.open()
    const texts = [
      text('b', { items: 'i', conversation: 'a/\ud800' }),
      text('a', { kind: 'draft', entryId: 'e1' }),
      text('c'),
    ]
    assert.equal(one.write(texts, new Map([['i', '[1]']])), true)
    const two = world.open()
    assert.deepEqual([two.takeOver(), two.hasOthers], [[], true])
    one.dispose()
    assert.deepEqual(two.takeOver(), texts)
    assert.equal(two.hasOthers, false)
    assert.equal(two.items('i'), '[1]')
    assert.deepEqual(world.open().takeOver(), [])
  })

  it('are lost to a window that was killed and yet goes on, which writes new ones', () => {
    const one = world.open()
    one.write([text('a'), text('b')], none)
    assert.equal(one.takeLoss(), false)
    world.kill(one)
    const two = world.open()
    assert.deepEqual(ids(two.takeOver()), ['a', 'b'])
    two.write([text('b')], none)
    // it doesn't take back what it doesn't know to be lost
    assert.deepEqual(
      [one.write([text('a'), text('b')], none), one.handOver([text('b')], none)],
      [false, false],
    )
    assert.deepEqual([one.takeLoss(), one.takeLoss()], [true, false])
    one.write([text('c')], none)
    assert.equal(one.takeLoss(), false)
    two.dispose()
    one.dispose()
    assert.deepEqual(ids(world.open().takeOver()).sort(), ['b', 'c'])
  })

  it('belong to their workspace', () => {
    const one = world.open('one')
    one.write([text('a')], none)
    one.dispose()
    assert.deepEqual(world.open('two').takeOver(), [])
    assert.deepEqual(ids(world.open('one').takeOver()), ['a'])
  })

  it('are handed over with their conversation to the next window that has it, in any workspace, after those of before', () => {
    const one = world.open('one')
    one.write([text('a', { items: 'i' }), text('b'), text('c')], new Map([['i', '[1]']]))
    assert.equal(one.handOver([text('a', { items: 'i' })], none), true)
    one.write([text('b'), text('c')], none)
    assert.equal(one.handOver([text('b')], none), true)
    one.write([text('c')], none)
    assert.deepEqual(world.open('one').takeOver(), [])
    const two = world.open('two')
    assert.deepEqual(two.arrive('a/2'), [])
    assert.deepEqual(ids(two.arrive('a/1')), ['a', 'b'])
    assert.deepEqual(two.arrive('a/1'), [])
    assert.equal(two.items('i'), '[1]')
    one.dispose()
    assert.deepEqual(ids(world.open('one').takeOver()), ['c'])
    world.kill(two)
    assert.deepEqual(ids(world.open('two').takeOver()), ['a', 'b'])
  })

  it('are removed with their items, and with their conversation unless another window has them', () => {
    const one = world.open()
    const items = new Map([
      ['i', '[1]'],
      ['j', '[2]'],
    ])
    one.write([text('a', { items: 'i' }), text('b', { items: 'j' })], items)
    one.write([text('a', { items: 'i', kind: 'draft' })], none)
    assert.deepEqual([one.items('i'), one.items('j')], ['[1]', undefined])
    one.write([text('a')], none)
    assert.equal(one.items('i'), undefined)
    one.write([text('a'), text('c', { conversation: 'a/2' })], none)
    one.handOver([text('d')], none)
    world.open().forget('a/1')
    one.forget('a/2')
    assert.deepEqual(one.arrive('a/1'), [])
    assert.equal(one.write([text('a')], none), true)
    world.kill(one)
    world.open('other').forget('a/1')
    assert.deepEqual(ids(world.open().takeOver()), [])
  })
}
