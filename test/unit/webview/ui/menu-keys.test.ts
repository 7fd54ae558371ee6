import assert from 'node:assert/strict'
import { rowAfter } from '../../../../src/webview/ui/menu.tsx'

describe('the keys of a menu', () => {
  const names = ['Ask', 'Code', 'Default', 'Agent', ...Array.from({ length: 20 }, (_, i) => `Model ${i}`)]
  const choices = names.map(name => ({ value: name, name }))
  const to = (key: string, active: number, searchable = false, modifiers = {}) =>
    rowAfter(
      { key, ctrlKey: false, metaKey: false, altKey: false, ...modifiers },
      choices,
      active,
      searchable,
    )

  it('go around the ends one by one, but not by pages', () => {
    assert.deepEqual([to('ArrowDown', 23), to('ArrowUp', 0)], [0, 23])
    assert.deepEqual([to('PageDown', 20), to('PageUp', 3), to('PageDown', 2)], [23, 0, 10])
    assert.deepEqual([to('Home', 5), to('End', 5)], [0, 23])
  })

  it('find the next row with a letter, unless there is a search field or a modifier', () => {
    assert.deepEqual([to('a', 0), to('A', 3), to('x', 0)], [3, 0, undefined])
    assert.deepEqual([to('a', 0, true), to('Home', 5, true)], [undefined, undefined])
    assert.equal(to('a', 0, false, { ctrlKey: true }), undefined)
  })
})
