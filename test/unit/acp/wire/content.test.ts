import assert from 'node:assert/strict'
import { readBlock } from '../../../../src/acp/wire/content.ts'
import { appendBlock } from '../../../../src/conversation/blocks.ts'

describe('the audience of content', () => {
  const text = (annotations?: unknown) => readBlock({ type: 'text', text: 'x', annotations })!

  it('is only the model if it contains the assistant without the user', () => {
    assert.deepEqual(text({ audience: ['assistant'] }), { type: 'text', text: 'x', agentOnly: true })
    for (const annotations of [
      undefined,
      null,
      {},
      { audience: [] },
      { audience: ['user'] },
      { audience: ['user', 'assistant'] },
      { audience: 'assistant' },
    ])
      assert.deepEqual(text(annotations), { type: 'text', text: 'x' })
  })

  it('separates content for the model from content for the user', () => {
    const blocks = [text()]
    assert.equal(appendBlock(blocks, text()), 0)
    assert.equal(appendBlock(blocks, text({ audience: ['assistant'] })), -1)
    assert.equal(appendBlock(blocks, text({ audience: ['assistant'] })), 1)
    assert.equal(appendBlock(blocks, text()), -1)
    assert.deepEqual(
      blocks.map(block => block.type === 'text' && block.text),
      ['xx', 'xx', 'x'],
    )
  })
})

describe('the annotations of a resource', () => {
  const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' }
  const annotated = (annotations: unknown) => readBlock({ ...link, annotations })
  const resource = { uri: 'file:///a', text: 'a' }
  const embedded = (annotations: unknown) => readBlock({ type: 'resource', resource, annotations })

  it('say when it was modified', () => {
    const lastModified = Date.UTC(2025, 0, 12, 15, 0, 58)
    assert.deepEqual(annotated({ lastModified: '2025-01-12T15:00:58Z' }), { ...link, lastModified })
    assert.deepEqual(embedded({ lastModified: '2025-01-12T15:00:58Z', audience: ['assistant'] }), {
      type: 'resource',
      ...resource,
      agentOnly: true,
      lastModified,
    })
    for (const invalid of [null, '', 'yesterday', '2025-13-41T15:00:58Z', {}, Number.NaN, 1e300])
      assert.deepEqual(annotated({ lastModified: invalid }), link)
  })

  it('say whether it is important: only the highest priority', () => {
    assert.deepEqual(embedded({ priority: 1 }), { type: 'resource', ...resource, isImportant: true })
    for (const priority of [0, 0.9, 2, -1, '1', null, true])
      assert.deepEqual(embedded({ priority }), { type: 'resource', ...resource })
    assert.deepEqual(annotated({ priority: 1 }), link)
  })
})

describe('the icons of a link', () => {
  const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' }
  const src = 'data:image/png;base64,AAAA'
  const icons = (...icons: unknown[]) => {
    const block = readBlock({ ...link, icons })
    return block?.type === 'resource_link' ? block.icons : undefined
  }

  it('are the first for each theme', () => {
    const dark = { src: 'data:image/svg+xml,%3Csvg/%3E', theme: 'dark' }
    assert.deepEqual(
      icons({ src, sizes: ['16x16'], mimeType: 'image/png' }, dark, { src: `${src}BB` }, { ...dark, src }),
      [{ src }, dark],
    )
    assert.deepEqual(icons({ src, theme: '_sepia' }), [{ src }])
  })

  it('are only images that are in the message, of a bounded size', () => {
    for (const other of [
      'https://example.com/a.png',
      'file:///a.png',
      'javascript:alert(1)',
      'data:text/html,<script>',
      ' data:image/png;base64,AAAA',
      `data:image/png;base64,${'A'.repeat(65_536)}`,
      5,
    ])
      assert.equal(icons({ src: other }), undefined, String(other).slice(0, 40))
    assert.equal(icons(null, 'x', {}), undefined)
    assert.deepEqual(icons(null, { src: 'file:///a.png' }, { src }), [{ src }])
    assert.equal(icons(...Array(50_000).fill({}), { src }), undefined)
    assert.deepEqual(readBlock({ ...link, icons: 'all' }), link)
  })
})
