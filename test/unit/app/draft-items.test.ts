import assert from 'node:assert/strict'
import { DraftItems } from '../../../src/app/storage/draft-items.ts'
import type { Attachment } from '../../../src/conversation/attachment.ts'

describe('the items of drafts', () => {
  const image: Attachment = {
    id: 'a',
    label: 'Image',
    icon: 'file-media',
    content: { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  }

  it('are stored once, and read from the store from then on', () => {
    const stored = new Map<string, string>()
    const items = new DraftItems({ items: name => stored.get(name) })
    const name = items.add([image])
    assert.deepEqual(items.get(name), [image])
    const toStore = items.toStore([{}, { items: name }, { items: name }, { items: 'stored before' }])
    assert.deepEqual([...toStore.keys()], [name])
    for (const [one, json] of toStore) stored.set(one, json)
    items.stored()
    assert.deepEqual(items.get(name), [image])
    assert.equal(items.toStore([{ items: name }]).size, 0)
  })

  it('are none if what is stored is damaged or missing', () => {
    const items = new DraftItems({ items: name => ({ torn: '[{"id"', other: '{}' })[name] })
    for (const name of ['torn', 'other', 'missing', undefined]) assert.deepEqual(items.get(name), [])
  })
})
