import assert from 'node:assert/strict'
import { OptionMemory } from '../../../src/app/storage/option-memory.ts'
import { sectionsOf } from '../../../src/common/option-sections.ts'

describe('OptionMemory', () => {
  const keepOf = (values: Map<string, unknown>) => ({
    get: <T>(key: string) => values.get(key) as T | undefined,
    set: (key: string, value: unknown) => void values.set(key, value),
  })

  it('stores favorites and the last five used values by agent and option', () => {
    const values = new Map<string, unknown>()
    const memory = new OptionMemory(keepOf(values))
    let reported = 0
    memory.onDidChange(() => reported++)
    memory.toggle('a', 'model', 'opus')
    memory.toggle('a', 'model', 'haiku')
    memory.toggle('a', 'model', 'opus')
    for (const value of ['1', '2', '3', '4', '5', '6', '2']) memory.used('a', 'model', value)
    memory.used('b', 'model', 'x')
    const again = new OptionMemory(keepOf(values))
    assert.deepEqual(again.of('a'), { model: { favorites: ['haiku'], recent: ['2', '6', '5', '4', '3'] } })
    assert.deepEqual(again.of('c'), {})
    assert.equal(reported, 11)
  })

  it('keeps values of options with any id', () => {
    const memory = new OptionMemory(keepOf(new Map()))
    for (const id of ['constructor', '__proto__', 'toString']) {
      memory.used(id, id, 'x')
      memory.toggle(id, id, 'y')
      const kept = new Map(Object.entries(memory.of(id)))
      assert.deepEqual([...kept], [[id, { favorites: ['y'], recent: ['x'] }]])
    }
  })

  it('starts over if the stored value is invalid', () => {
    for (const kept of [
      null,
      'x',
      [1],
      { a: 7 },
      { a: { model: [] } },
      { a: { model: { favorites: [1, 'y'] } } },
    ]) {
      const memory = new OptionMemory(keepOf(new Map([['parley.optionValues', kept]])))
      memory.used('a', 'model', 'z')
      assert.deepEqual(memory.of('a').model?.recent, ['z'])
    }
  })
})

describe('the sections of a config option', () => {
  const many = Array.from({ length: 20 }, (_, i) => ({ value: `m${i}`, group: i < 10 ? 'A' : 'B' }))
  const shape = (sections: ReturnType<typeof sectionsOf>) =>
    sections.map(({ section, choices }) => [section, choices.length])

  it("are the favorites, the recently used values, then the agent's groups", () => {
    const remembered = { favorites: ['m3', 'gone'], recent: ['m3', 'm15', 'gone'] }
    assert.deepEqual(shape(sectionsOf(many, remembered)), [
      ['favorites', 1],
      ['recent', 1],
      [{ group: 'A' }, 10],
      [{ group: 'B' }, 10],
    ])
  })

  it('include one for all values if there are no groups, and none for missing favorites', () => {
    const flat = many.map(({ value }) => ({ value }))
    assert.deepEqual(shape(sectionsOf(flat, { favorites: ['m1'], recent: [] })), [
      ['favorites', 1],
      ['all', 20],
    ])
    assert.deepEqual(shape(sectionsOf(flat, undefined)), [[undefined, 20]])
  })

  it("don't split a short list", () => {
    const few = many.slice(0, 4)
    assert.deepEqual(shape(sectionsOf(few, { favorites: ['m1'], recent: ['m2'] })), [[{ group: 'A' }, 4]])
  })
})
