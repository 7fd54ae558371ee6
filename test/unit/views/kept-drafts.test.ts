import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { silentLogger } from '../../../src/common/logger.ts'
import type { Attachment } from '../../../src/conversation/attachment.ts'
import { KeepFile } from '../../../src/views/storage/keep-file.ts'
import { KeepFolder } from '../../../src/views/storage/keep-folder.ts'
import { KeptDrafts } from '../../../src/views/storage/kept-drafts.ts'

describe('kept drafts', () => {
  let directory: string
  const open = () =>
    new KeptDrafts({
      texts: new KeepFile(join(directory, 'drafts.json'), silentLogger),
      items: new KeepFolder(join(directory, 'items'), silentLogger),
    })
  const itemFiles = () => readdirSync(join(directory, 'items'))
  const image = (id: string): Attachment => ({
    id,
    label: 'Image',
    icon: 'file-media',
    content: { type: 'image', data: 'AAAA', mimeType: 'image/png' },
  })
  const file = (id: string): Attachment => ({
    id,
    label: 'a.ts',
    icon: 'file-code',
    content: { type: 'file', uri: 'file:///a.ts' },
  })

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-drafts-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('come back whole, with their chips and pictures', () => {
    const drafts = open()
    const draft = { text: 'see @a.ts', marks: [{ from: 4, to: 9, id: 'x' }], items: [image('y'), file('x')] }
    drafts.set('one', draft)
    drafts.setText('two', 'plain', [])
    drafts.dispose()
    const again = open()
    assert.deepEqual(again.get('one'), draft)
    assert.deepEqual(again.get('two'), { text: 'plain', marks: [], items: [] })
    assert.deepEqual(again.get('three'), { text: '', marks: [], items: [] })
  })

  it('leave nothing behind when they are sent', () => {
    const drafts = open()
    drafts.set('one', { text: 'a', marks: [], items: [image('y')] })
    assert.equal(itemFiles().length, 1)
    drafts.set('one', { text: '', marks: [], items: [] })
    drafts.dispose()
    assert.deepEqual(itemFiles(), [])
    assert.deepEqual(open().get('one'), { text: '', marks: [], items: [] })
  })

  it('keep a picture without a word', () => {
    const drafts = open()
    drafts.setItems('one', [image('y')])
    drafts.setText('one', '', [])
    drafts.dispose()
    assert.deepEqual(
      open()
        .get('one')
        .items.map(({ id }) => id),
      ['y'],
    )
  })

  it('keep what was sent apart until it is dropped, on disk at once', () => {
    const drafts = open()
    const draft = { text: 'see @a.ts', marks: [{ from: 4, to: 9, id: 'x' }], items: [file('x'), image('y')] }
    drafts.set('one', draft)
    drafts.send('one', { id: 'p1', draft })
    assert.deepEqual(drafts.get('one'), { text: '', marks: [], items: [] })
    drafts.setText('one', 'typed on', [])
    assert.deepEqual(drafts.claim('one'), [], 'who sent it answers for it')
    // another window, which was not there when this one ended
    const crashed = open()
    assert.equal(crashed.get('one').text, '')
    assert.deepEqual(crashed.claim('one'), [{ id: 'p1', draft }])
    assert.deepEqual(crashed.claim('one'), [])
    crashed.moveSent('one', 'two', 'p1')
    assert.deepEqual(crashed.claim('two'), [])
    crashed.release('p1')
    assert.deepEqual(open().claim('two'), [{ id: 'p1', draft }])
    crashed.drop('two', 'p1')
    drafts.drop('one', 'p1')
    assert.deepEqual(open().claim('two'), [])
    assert.deepEqual(itemFiles(), [])
    drafts.dispose()
    assert.equal(open().get('one').text, 'typed on')
  })

  it('keep what waits in the order that it is given', () => {
    const drafts = open()
    for (const text of ['a', 'b', 'c'])
      drafts.hold('one', { id: text, draft: { text, marks: [], items: [] } })
    drafts.order('one', ['c', 'nobody', 'a'])
    drafts.order('two', ['c'])
    assert.deepEqual(
      open()
        .claim('one')
        .map(({ id }) => id),
      ['c', 'b', 'a'],
    )
  })

  it('know a draft with chips as it was kept before prompts were', () => {
    const drafts = open()
    drafts.set('one', { text: '@a.ts', marks: [{ from: 0, to: 5, id: 'x' }], items: [file('x')] })
    drafts.dispose()
    const old = {
      'parley.drafts': { one: { text: '@a.ts', marks: [{ from: 0, to: 5, id: 'x' }] }, two: 'plain' },
    }
    writeFileSync(join(directory, 'drafts.json'), JSON.stringify(old))
    assert.deepEqual(
      open()
        .get('one')
        .items.map(({ id }) => id),
      ['x'],
    )
    assert.equal(open().get('two').text, 'plain')
  })

  it('know how tall the composer was made, until it finds its height by itself again', () => {
    const drafts = open()
    drafts.height = 200
    assert.equal(open().height, 200)
    drafts.height = undefined
    assert.equal(open().height, undefined)
    drafts.dispose()
  })

  it('forget the oldest of more than a hundred, and their pictures', () => {
    const drafts = open()
    for (let i = 0; i <= 100; i++) drafts.set(`k${i}`, { text: `t${i}`, marks: [], items: [image('y')] })
    assert.equal(drafts.get('k0').text, '')
    assert.equal(drafts.get('k100').text, 't100')
    assert.equal(itemFiles().length, 100)
    drafts.dispose()
  })

  it('come back as text when their items are gone or broken', () => {
    const drafts = open()
    drafts.set('one', { text: 'see @a.ts', marks: [{ from: 4, to: 9, id: 'x' }], items: [file('x')] })
    drafts.dispose()
    for (const name of itemFiles()) writeFileSync(join(directory, 'items', name), '[{"id": 7}]')
    assert.deepEqual(open().get('one'), { text: 'see @a.ts', marks: [], items: [] })
  })

  it('survive any key and text', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (key, text) => {
        const drafts = open()
        drafts.set(key, { text, marks: [], items: [file('x')] })
        drafts.dispose()
        assert.equal(open().get(key).text, text)
      }),
      { numRuns: 30 },
    )
  })
})
