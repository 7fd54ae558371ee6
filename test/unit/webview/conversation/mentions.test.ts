import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MAX_IMAGE_SIDE } from '../../../../src/common/image-info.ts'
import { isLargePaste } from '../../../../src/webview/conversation/composer/attach.ts'
import { mentionQuery } from '../../../../src/webview/conversation/composer/completion.ts'
import { fitted, mustShrink } from '../../../../src/webview/conversation/composer/images.ts'

describe('composer: the query after @', () => {
  const at = (text: string, caret = text.length) => mentionQuery(text, caret, [])?.text

  it('is the text between an @ at the start of a word and the cursor', () => {
    assert.equal(at('@'), '')
    assert.equal(at('look at @src/a'), 'src/a')
    assert.equal(at('look at @src/a', 10), 's')
    assert.equal(at('(@a'), 'a')
    assert.equal(at('first\n@a'), 'a')
    assert.equal(at('@https://a.b/c?d=1'), 'https://a.b/c?d=1')
  })

  it('is empty in a URL, after a space, and on another line', () => {
    assert.equal(at('me@home'), undefined)
    assert.equal(at('@a b'), undefined)
    assert.equal(at('@a\nb'), undefined)
    assert.equal(at('a@@b'), undefined)
  })

  it('never contains a chip', () => {
    const chips = [{ from: 4, to: 8, id: 'x' }]
    assert.equal(mentionQuery('see @a.b', 8, chips), undefined)
    assert.equal(mentionQuery('see @a.b', 6, chips), undefined)
    assert.deepEqual(mentionQuery('see @a.b @c', 11, chips), { from: 9, to: 11, text: 'c' })
  })

  it('has its range in the text', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (text, n) => {
        const caret = Math.min(n, text.length)
        const query = mentionQuery(text, caret, [])
        if (query) assert.equal(text.slice(query.from, query.to), `@${query.text}`)
      }),
    )
  })
})

describe('composer: pasted content', () => {
  it('becomes a chip with more than 40 lines or 4,000 characters', () => {
    assert.equal(isLargePaste('a\n'.repeat(39)), false)
    assert.equal(isLargePaste('a\n'.repeat(40)), true)
    assert.equal(isLargePaste('a'.repeat(4000)), false)
    assert.equal(isLargePaste('a'.repeat(4001)), true)
  })

  it('keeps the aspect ratio of an image that is scaled down', () => {
    assert.deepEqual(fitted(4000, 1000), { width: 1568, height: 392 })
    assert.deepEqual(fitted(10, 20), { width: 10, height: 20 })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50_000 }),
        fc.integer({ min: 1, max: 50_000 }),
        (width, height) => {
          const size = fitted(width, height)
          assert.ok(Math.max(size.width, size.height) <= MAX_IMAGE_SIDE)
          assert.ok(Math.min(size.width, size.height) >= 1)
        },
      ),
    )
    assert.equal(mustShrink(100, 100, 1000, 'image/png'), false)
    assert.equal(mustShrink(2000, 100, 1000, 'image/png'), true)
    assert.equal(mustShrink(100, 100, 9_000_000, 'image/png'), true)
    assert.equal(mustShrink(100, 100, 1000, 'image/bmp'), true)
  })
})
