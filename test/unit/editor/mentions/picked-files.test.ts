import assert from 'node:assert/strict'
import { PickedFiles } from '../../../../src/editor/mentions/picked-files.ts'

describe('files that the user picked', () => {
  const stored = new Map<string, unknown>()
  const store = {
    get: <T>(key: string) => structuredClone(stored.get(key)) as T | undefined,
    set: (key: string, value: unknown) => void stored.set(key, value),
  }
  const reloaded = () => {
    const picked = new PickedFiles()
    picked.keepIn(store)
    return picked
  }

  it('stay picked after a reload, the latest of many', () => {
    const picked = reloaded()
    for (let i = 0; i < 600; i++) picked.add(`/a${i}`, `/b${i}`)
    picked.add('/a500', '/c')
    const after = reloaded()
    assert.deepEqual(
      ['/a99', '/a100', '/a500', '/a599'].map(file => after.targetOf(file)),
      [undefined, '/b100', '/c', '/b599'],
    )
    assert.equal((stored.get('pickedFiles') as unknown[]).length, 500)
  })

  it('are none of what is stored wrongly', () => {
    for (const wrong of [1, null, {}, [1], [['/a']], [['/a', 2]], 'x']) {
      stored.set('pickedFiles', wrong)
      assert.equal(reloaded().targetOf('/a'), undefined)
    }
  })
})
